<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>stagewright::gui::Autosave</name>
    <message>
        <source>Changes cannot be kept for a crash: %1</source>
        <translation>无法为崩溃保留更改：%1</translation>
    </message>
    <message>
        <source>The program ended before changes were saved. They are open again; save the plan to keep them.</source>
        <translation>程序在保存更改之前结束。更改已重新打开；请保存方案以保留。</translation>
    </message>
    <message>
        <source>The program ended before changes were saved. They are open again, but for actions that were moved by hand. Save the plan to keep it.</source>
        <translation>程序在更改保存之前结束。这些更改已重新打开，但手动移动的动作除外。请保存计划以保留它。</translation>
    </message>
    <message>
        <source>The program ended before changes were saved. They are in %1.</source>
        <translation>程序在更改保存之前结束。更改在 %1 中。</translation>
    </message>
    <message>
        <source>The program ended before changes were saved, and its copy of them cannot be read; it is kept as %1. %2</source>
        <translation>程序在更改保存之前结束，且其副本无法读取；副本保留为 %1。%2</translation>
    </message>
    <message>
        <source>The moved actions are in %1.</source>
        <translation>移动过的动作在 %1 中。</translation>
    </message>
    <message>
        <source>Not opened: %1.</source>
        <translation>未打开：%1。</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::CandidatesModel</name>
    <message>
        <source>Rejected: %1</source>
        <translation>已排除：%1</translation>
    </message>
    <message>
        <source>Closed form alone: cannot be simulated or run yet</source>
        <translation>仅有解析估算：尚不能仿真或运行</translation>
    </message>
    <message>
        <source>Best</source>
        <translation>最优</translation>
    </message>
    <message>
        <source>None beats it in time, memory and devices at once</source>
        <translation>没有方案在时间、显存和设备数上同时优于它</translation>
    </message>
    <message>
        <source>#</source>
        <translation>#</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>方案</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>每步时间</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>词元/秒</translation>
    </message>
    <message>
        <source>MFU</source>
        <translation>MFU</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>Idle</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>Exposed</source>
        <translation>未掩盖通信</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>原因</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::CandidatesPanel</name>
    <message>
        <source>&amp;Stop</source>
        <translation>停止(&amp;S)</translation>
    </message>
    <message>
        <source>Save the &amp;plan...</source>
        <translation>保存方案(&amp;P)...</translation>
    </message>
    <message>
        <source>Filter: tp=8 pp=4..16 schedule=zb-* memory</source>
        <translation>筛选：tp=8 pp=4..16 schedule=zb-* memory</translation>
    </message>
    <message>
        <source>Filter of the plans</source>
        <translation>筛选方案</translation>
    </message>
    <message>
        <source>Which plans are shown</source>
        <translation>显示哪些方案</translation>
    </message>
    <message>
        <source>All</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Usable</source>
        <translation>可用</translation>
    </message>
    <message>
        <source>Unbeaten</source>
        <translation>帕累托最优</translation>
    </message>
    <message>
        <source>Rejected</source>
        <translation>已排除</translation>
    </message>
    <message>
        <source>Progress of the search</source>
        <translation>搜索进度</translation>
    </message>
    <message>
        <source>State of the search</source>
        <translation>搜索状态</translation>
    </message>
    <message>
        <source>Plans</source>
        <translation>方案</translation>
    </message>
    <message>
        <source>Say what is to be planned, then search: plans appear here as they are found.</source>
        <translation>先说明要规划什么，再开始搜索：找到的方案会立即出现在这里。</translation>
    </message>
    <message>
        <source>%1 of %2 points, %3 simulated</source>
        <translation>%1 / %2 个点，已仿真 %3 个</translation>
    </message>
    <message>
        <source>No plan: %1</source>
        <translation>没有方案：%1</translation>
    </message>
    <message>
        <source>Stopped before a plan was found.</source>
        <translation>在找到方案之前已停止。</translation>
    </message>
    <message>
        <source>Stopped: the best until then. </source>
        <translation>已停止：以下是此前找到的最优方案。</translation>
    </message>
    <message>
        <source>%1 points, %2 simulated; no plan can be more than %3 % better than the first.</source>
        <translation>共 %1 个点，仿真了 %2 个；没有方案能比第一个好 %3 % 以上。</translation>
    </message>
    <message>
        <source>%1 too slow even at peak rate</source>
        <translation>%1 个即使按峰值速率也太慢</translation>
    </message>
    <message>
        <source>%1 slower than what was found</source>
        <translation>%1 个慢于已找到的方案</translation>
    </message>
    <message>
        <source>%1 whose parameters and optimizer do not fit</source>
        <translation>%1 个的参数和优化器放不下</translation>
    </message>
    <message>
        <source>%1 whose activations do not fit</source>
        <translation>%1 个的激活放不下</translation>
    </message>
    <message>
        <source>%1 that cannot be lowered</source>
        <translation>%1 个无法下降为调度</translation>
    </message>
    <message>
        <source>%1 that equal another</source>
        <translation>%1 个与其他相同</translation>
    </message>
    <message>
        <source>%1 not looked at</source>
        <translation>%1 个未查看</translation>
    </message>
    <message>
        <source> Left out: %1.</source>
        <translation> 未采用：%1。</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::CauseBars</name>
    <message>
        <source>Idle time by cause</source>
        <translation>按原因划分的空闲时间</translation>
    </message>
    <message>
        <source>No file is open.</source>
        <translation>没有打开的文件。</translation>
    </message>
    <message>
        <source>Finding out why ranks are idle ...</source>
        <translation>正在分析各 rank 空闲的原因……</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>%1 % busy</source>
        <translation>%1 % 忙碌</translation>
    </message>
    <message>
        <source>%1 %2 %</source>
        <translation>%1 %2 %</translation>
    </message>
    <message>
        <source>rank %1: idle %2</source>
        <translation>rank %1：空闲 %2</translation>
    </message>
    <message>
        <source>Idle time is shown for one file at a time: stop comparing.</source>
        <translation>空闲时间一次只显示一个文件的：请停止比较。</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::ClusterForm</name>
    <message>
        <source>Nodes</source>
        <translation>节点</translation>
    </message>
    <message>
        <source>Devices of a node</source>
        <translation>每节点设备数</translation>
    </message>
    <message>
        <source>Nodes of one kind</source>
        <translation>同类节点</translation>
    </message>
    <message>
        <source>Kind of device</source>
        <translation>设备型号</translation>
    </message>
    <message>
        <source>O&amp;pen...</source>
        <translation>打开(&amp;P)...</translation>
    </message>
    <message>
        <source>C&amp;luster</source>
        <translation>集群(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Nodes</source>
        <translation>节点(&amp;N)</translation>
    </message>
    <message>
        <source>De&amp;vices a node</source>
        <translation>每节点设备(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Kind</source>
        <translation>型号(&amp;K)</translation>
    </message>
    <message>
        <source>Links in a node</source>
        <translation>节点内链路</translation>
    </message>
    <message>
        <source> GB/s</source>
        <translation> GB/s</translation>
    </message>
    <message>
        <source>Network rate</source>
        <translation>网络带宽</translation>
    </message>
    <message>
        <source>Network latency</source>
        <translation>网络延迟</translation>
    </message>
    <message>
        <source> us</source>
        <translation> us</translation>
    </message>
    <message>
        <source>as its file says</source>
        <translation>按其文件</translation>
    </message>
    <message>
        <source>Open a cluster</source>
        <translation>打开集群</translation>
    </message>
    <message>
        <source>Clusters (*.json);;All files (*)</source>
        <translation>集群 (*.json);;所有文件 (*)</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::CommandPalette</name>
    <message>
        <source>Type what you want to do</source>
        <translation>输入想做的事</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source> (on)</source>
        <translation>（已开启）</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::ComparePanel</name>
    <message>
        <source>Compare with...</source>
        <translation>与...对比</translation>
    </message>
    <message>
        <source>Stop comparing</source>
        <translation>停止对比</translation>
    </message>
    <message>
        <source>Begin together</source>
        <translation>起点对齐</translation>
    </message>
    <message>
        <source>End together</source>
        <translation>终点对齐</translation>
    </message>
    <message>
        <source>How the steps are laid side by side</source>
        <translation>两个步骤的对齐方式</translation>
    </message>
    <message>
        <source>Actions that differ most</source>
        <translation>差异最大的动作</translation>
    </message>
    <message>
        <source>Set a second file beside this one: what was measured beside what was predicted, or one plan beside another.</source>
        <translation>在当前文件旁放置第二个文件：实测与预测，或一个计划与另一个计划。</translation>
    </message>
    <message>
        <source>First: %1, %2&lt;br&gt;Second: %3, %4</source>
        <translation>第一个：%1，%2&lt;br&gt;第二个：%3，%4</translation>
    </message>
    <message>
        <source>&lt;tr&gt;&lt;td&gt;%1&lt;/td&gt;&lt;td align=&quot;right&quot;&gt;%2&lt;/td&gt;&lt;td&gt;mean error %3 %&lt;/td&gt;&lt;/tr&gt;</source>
        <translation>&lt;tr&gt;&lt;td&gt;%1&lt;/td&gt;&lt;td align=&quot;right&quot;&gt;%2&lt;/td&gt;&lt;td&gt;平均误差 %3 %&lt;/td&gt;&lt;/tr&gt;</translation>
    </message>
    <message>
        <source>Only in the first: %1 actions; only in the second: %2.</source>
        <translation>仅在第一个中：%1 个动作；仅在第二个中：%2 个。</translation>
    </message>
    <message>
        <source>&lt;br&gt;&lt;b&gt;%1 ranks beside %2&lt;/b&gt;: those of the same number are set side by side.</source>
        <translation>&lt;br&gt;&lt;b&gt;%1 个 rank 与 %2 个 rank&lt;/b&gt;：编号相同的并排放置。</translation>
    </message>
    <message>
        <source>Idle: %1 % beside %2 %.&lt;br&gt;</source>
        <translation>空闲：%1 % 对 %2 %。&lt;br&gt;</translation>
    </message>
    <message>
        <source>Tensors of the fullest rank: %1 beside %2.&lt;br&gt;</source>
        <translation>占用最多的 rank 的张量：%1 对 %2。&lt;br&gt;</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::ComparisonModel</name>
    <message>
        <source>Action</source>
        <translation>动作</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>First</source>
        <translation>第一个</translation>
    </message>
    <message>
        <source>Second</source>
        <translation>第二个</translation>
    </message>
    <message>
        <source>Own</source>
        <translation>自身</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::ConstraintForm</name>
    <message>
        <source>Empty fields are searched. Write 8, or 2,4, or 4..16, or names such as zb-*.</source>
        <translation>空白项由搜索决定。可写 8、2,4、4..16，或 zb-* 之类的名称。</translation>
    </message>
    <message>
        <source>What is wrong with the constraints</source>
        <translation>约束的问题</translation>
    </message>
    <message>
        <source>any</source>
        <translation>任意</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::Document</name>
    <message>
        <source>Reading %1</source>
        <translation>正在读取 %1</translation>
    </message>
    <message>
        <source>Simulating %1</source>
        <translation>正在仿真 %1</translation>
    </message>
    <message>
        <source>Comparing</source>
        <translation>正在比较</translation>
    </message>
    <message>
        <source>Laying out step %1</source>
        <translation>正在排布第 %1 步</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::EditCommands</name>
    <message>
        <source>Plan</source>
        <translation>计划</translation>
    </message>
    <message>
        <source>Stages</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>&amp;Undo the change of the plan</source>
        <translation>撤销计划的更改(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Redo the change of the plan</source>
        <translation>重做计划的更改(&amp;R)</translation>
    </message>
    <message>
        <source>Move the action &amp;earlier in its rank</source>
        <translation>在所属 rank 中前移该动作(&amp;E)</translation>
    </message>
    <message>
        <source>Move the action &amp;later in its rank</source>
        <translation>在所属 rank 中后移该动作(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Save the schedule...</source>
        <translation>保存调度(&amp;S)...</translation>
    </message>
    <message>
        <source>Save the &amp;plan...</source>
        <translation>保存计划(&amp;P)...</translation>
    </message>
    <message>
        <source>Move %1 earlier</source>
        <translation>前移 %1</translation>
    </message>
    <message>
        <source>Move %1 later</source>
        <translation>后移 %1</translation>
    </message>
    <message>
        <source>Only actions of a plan can be moved; open one.</source>
        <translation>只能移动计划中的动作；请先打开一个计划。</translation>
    </message>
    <message>
        <source>Move %1</source>
        <translation>移动 %1</translation>
    </message>
    <message>
        <source>Save the schedule</source>
        <translation>保存调度</translation>
    </message>
    <message>
        <source>Save the plan</source>
        <translation>保存计划</translation>
    </message>
    <message>
        <source>Changes that are in no file</source>
        <translation>未保存到文件的更改</translation>
    </message>
    <message>
        <source>The plan was changed, and the changes are in no file.</source>
        <translation>方案已更改，更改尚未保存到任何文件。</translation>
    </message>
    <message>
        <source>Actions were moved by hand: a schedule file keeps them.</source>
        <translation>手动移动过操作：调度文件会保留它们。</translation>
    </message>
    <message>
        <source>A plan file keeps them.</source>
        <translation>方案文件会保留它们。</translation>
    </message>
    <message>
        <source>Schedules</source>
        <translation>调度</translation>
    </message>
    <message>
        <source>Plans</source>
        <translation>计划</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::ExploreCommands</name>
    <message>
        <source>Setup</source>
        <translation>设定</translation>
    </message>
    <message>
        <source>Plans</source>
        <translation>方案</translation>
    </message>
    <message>
        <source>Time and memory</source>
        <translation>时间与显存</translation>
    </message>
    <message>
        <source>&amp;Plan a model...</source>
        <translation>规划模型(&amp;P)...</translation>
    </message>
    <message>
        <source>&amp;Search plans</source>
        <translation>搜索方案(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Stop the search</source>
        <translation>停止搜索(&amp;S)</translation>
    </message>
    <message>
        <source>The plan &amp;above in the table</source>
        <translation>表中上一个方案(&amp;A)</translation>
    </message>
    <message>
        <source>The plan &amp;below in the table</source>
        <translation>表中下一个方案(&amp;B)</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::KeysDialog</name>
    <message>
        <source>Keys</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>按键</translation>
    </message>
    <message>
        <source>Commands and their keys</source>
        <translation>命令及其快捷键</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>全部恢复默认</translation>
    </message>
    <message>
        <source>%1 already does: %2</source>
        <translation>%1 已用于：%2</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::LayerTreeModel</name>
    <message>
        <source>Layers that are equal stand in one row; their operations below it are of one</source>
        <translation>相同的层合为一行；其下的算子属于其中一层</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>层</translation>
    </message>
    <message>
        <source>Trainable numbers</source>
        <translation>可训练的参数个数</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>Floating-point operations of one sequence, forward and backward</source>
        <translation>一条序列前向和反向的浮点运算次数</translation>
    </message>
    <message>
        <source>FLOP</source>
        <translation>FLOP</translation>
    </message>
    <message>
        <source>One sequence on one device that holds the layers whole</source>
        <translation>一条序列在完整持有这些层的单个设备上</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>Backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>Activations of one sequence, from its forward to its backward</source>
        <translation>一条序列从前向到反向保留的激活</translation>
    </message>
    <message>
        <source>Kept</source>
        <translation>保留</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::LayoutCommands</name>
    <message>
        <source>Layout: &amp;explore plans</source>
        <translation>布局：探索方案(&amp;E)</translation>
    </message>
    <message>
        <source>Layout: &amp;analyse a step</source>
        <translation>布局：分析一步(&amp;A)</translation>
    </message>
    <message>
        <source>Layout: &amp;change a plan</source>
        <translation>布局：修改方案(&amp;C)</translation>
    </message>
    <message>
        <source>Layout: c&amp;ompare</source>
        <translation>布局：比较(&amp;O)</translation>
    </message>
    <message>
        <source>Layout: &amp;run</source>
        <translation>布局：运行(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Save this layout...</source>
        <translation>保存当前布局(&amp;S)...</translation>
    </message>
    <message>
        <source>Save this layout</source>
        <translation>保存当前布局</translation>
    </message>
    <message>
        <source>Name:</source>
        <translation>名称：</translation>
    </message>
    <message>
        <source>Nothing yet</source>
        <translation>尚无</translation>
    </message>
    <message>
        <source>&amp;Forget</source>
        <translation>删除(&amp;F)</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::MainWindow</name>
    <message>
        <source>Stagewright</source>
        <translation>Stagewright</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Statistics</source>
        <translation>统计</translation>
    </message>
    <message>
        <source>Idle time</source>
        <translation>空闲时间</translation>
    </message>
    <message>
        <source>%1[*] - Stagewright</source>
        <translation>%1[*] - Stagewright</translation>
    </message>
    <message>
        <source>step %1 of %2   </source>
        <translation>第 %1 步，共 %2 步   </translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 至 %2</translation>
    </message>
    <message>
        <source>Only files of this machine can be opened; save it first.</source>
        <translation>只能打开本机上的文件；请先保存。</translation>
    </message>
    <message>
        <source>&amp;Open...</source>
        <translation>打开(&amp;O)...</translation>
    </message>
    <message>
        <source>Open the &amp;example</source>
        <translation>打开示例(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Close</source>
        <translation>关闭(&amp;C)</translation>
    </message>
    <message>
        <source>Save the timeline as a &amp;picture...</source>
        <translation>将时间线保存为图片(&amp;P)...</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>退出(&amp;Q)</translation>
    </message>
    <message>
        <source>Find a &amp;command...</source>
        <translation>查找命令(&amp;C)...</translation>
    </message>
    <message>
        <source>&amp;Keys...</source>
        <translation>快捷键(&amp;K)...</translation>
    </message>
    <message>
        <source>F&amp;ull screen</source>
        <translation>全屏(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Reset the layout</source>
        <translation>恢复默认布局(&amp;R)</translation>
    </message>
    <message>
        <source>Go to the &amp;next view</source>
        <translation>转到下一个视图(&amp;N)</translation>
    </message>
    <message>
        <source>Show %1</source>
        <translation>显示%1</translation>
    </message>
    <message>
        <source>Memory: &amp;fullest ranks first</source>
        <translation>内存：占用最多的 rank 在前(&amp;F)</translation>
    </message>
    <message>
        <source>Theme: like the &amp;desktop</source>
        <translation>主题：跟随桌面(&amp;D)</translation>
    </message>
    <message>
        <source>Theme: &amp;light</source>
        <translation>主题：浅色(&amp;L)</translation>
    </message>
    <message>
        <source>Theme: d&amp;ark</source>
        <translation>主题：深色(&amp;A)</translation>
    </message>
    <message>
        <source>Theme: high &amp;contrast</source>
        <translation>主题：高对比度(&amp;C)</translation>
    </message>
    <message>
        <source>Colour by &amp;action</source>
        <translation>按动作着色(&amp;A)</translation>
    </message>
    <message>
        <source>Colour by &amp;micro-batch</source>
        <translation>按微批次着色(&amp;M)</translation>
    </message>
    <message>
        <source>Colour by &amp;stage</source>
        <translation>按阶段着色(&amp;S)</translation>
    </message>
    <message>
        <source>Colour by sl&amp;ack</source>
        <translation>按余量着色(&amp;A)</translation>
    </message>
    <message>
        <source>Tint &amp;idle time by cause</source>
        <translation>按原因为空闲时间着色(&amp;I)</translation>
    </message>
    <message>
        <source>Show the critical &amp;path</source>
        <translation>显示关键路径(&amp;P)</translation>
    </message>
    <message>
        <source>Zoom &amp;in</source>
        <translation>放大(&amp;I)</translation>
    </message>
    <message>
        <source>Zoom &amp;out</source>
        <translation>缩小(&amp;O)</translation>
    </message>
    <message>
        <source>Move &amp;left</source>
        <translation>左移(&amp;L)</translation>
    </message>
    <message>
        <source>Move &amp;right</source>
        <translation>右移(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Fit the step</source>
        <translation>显示整个步骤(&amp;F)</translation>
    </message>
    <message>
        <source>Zoom to the &amp;selection</source>
        <translation>缩放到选区(&amp;S)</translation>
    </message>
    <message>
        <source>View &amp;back</source>
        <translation>后退视图(&amp;B)</translation>
    </message>
    <message>
        <source>View for&amp;ward</source>
        <translation>前进视图(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Next action</source>
        <translation>下一个动作(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Previous action</source>
        <translation>上一个动作(&amp;P)</translation>
    </message>
    <message>
        <source>Same time, row below</source>
        <translation>同一时刻，下一行</translation>
    </message>
    <message>
        <source>Same time, row above</source>
        <translation>同一时刻，上一行</translation>
    </message>
    <message>
        <source>Next action of the micro-batch</source>
        <translation>该微批次的下一个动作</translation>
    </message>
    <message>
        <source>Previous action of the micro-batch</source>
        <translation>该微批次的上一个动作</translation>
    </message>
    <message>
        <source>What it waited for</source>
        <translation>它所等待的动作</translation>
    </message>
    <message>
        <source>All that it waited for</source>
        <translation>它所等待的整条链</translation>
    </message>
    <message>
        <source>What it held up</source>
        <translation>它所阻塞的动作</translation>
    </message>
    <message>
        <source>Fo&amp;llow the micro-batch</source>
        <translation>跟随微批次(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Mark</source>
        <translation>标记(&amp;M)</translation>
    </message>
    <message>
        <source>Mark and &amp;keep</source>
        <translation>标记并保留(&amp;K)</translation>
    </message>
    <message>
        <source>Next mark</source>
        <translation>下一个标记</translation>
    </message>
    <message>
        <source>Select nothing</source>
        <translation>取消选择</translation>
    </message>
    <message>
        <source>&amp;Search actions...</source>
        <translation>搜索动作(&amp;S)...</translation>
    </message>
    <message>
        <source>Search actions here</source>
        <translation>在此搜索动作</translation>
    </message>
    <message>
        <source>Next found action</source>
        <translation>下一个搜索结果</translation>
    </message>
    <message>
        <source>Previous found action</source>
        <translation>上一个搜索结果</translation>
    </message>
    <message>
        <source>Rows &amp;higher</source>
        <translation>增大行高(&amp;H)</translation>
    </message>
    <message>
        <source>Rows &amp;lower</source>
        <translation>减小行高(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Fit all rows</source>
        <translation>显示所有行(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Pin the rank</source>
        <translation>固定该 rank(&amp;P)</translation>
    </message>
    <message>
        <source>H&amp;ide the rank</source>
        <translation>隐藏该 rank(&amp;I)</translation>
    </message>
    <message>
        <source>&amp;Show all ranks</source>
        <translation>显示所有 rank(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Group rows by the next axis</source>
        <translation>按下一维度分组(&amp;G)</translation>
    </message>
    <message>
        <source>Rows of &amp;communication</source>
        <translation>通信行(&amp;C)</translation>
    </message>
    <message>
        <source>Next optimizer step</source>
        <translation>下一个优化器步骤</translation>
    </message>
    <message>
        <source>Previous optimizer step</source>
        <translation>上一个优化器步骤</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Recent</source>
        <translation>最近打开(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Go</source>
        <translation>转到(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;Rows</source>
        <translation>行(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Window</source>
        <translation>窗口(&amp;W)</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Plans, schedules and traces (*.json *.swtrace *.csv);;All files (*)</source>
        <translation>计划、调度与轨迹 (*.json *.swtrace *.csv);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Nothing yet</source>
        <translation>暂无</translation>
    </message>
    <message>
        <source>Save the timeline as a picture</source>
        <translation>将时间线保存为图片</translation>
    </message>
    <message>
        <source>%1 could not be written; choose another folder.</source>
        <translation>无法写入 %1；请选择其他文件夹。</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>对比</translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation>%1 与 %2</translation>
    </message>
    <message>
        <source>Compare &amp;with another, or stop</source>
        <translation>与另一个文件对比或停止(&amp;W)</translation>
    </message>
    <message>
        <source>Compare with</source>
        <translation>对比文件</translation>
    </message>
    <message>
        <source>&amp;Export...</source>
        <translation>导出(&amp;E)...</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Trace for Perfetto and Chrome</source>
        <translation>用于 Perfetto 和 Chrome 的轨迹</translation>
    </message>
    <message>
        <source>Compact trace</source>
        <translation>紧凑轨迹</translation>
    </message>
    <message>
        <source>Table of actions</source>
        <translation>动作表</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>计划</translation>
    </message>
    <message>
        <source>Schedule that &apos;stagewright run&apos; executes</source>
        <translation>可由 stagewright run 执行的调度</translation>
    </message>
    <message>
        <source>Order for torch.distributed.pipelining</source>
        <translation>用于 torch.distributed.pipelining 的顺序</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>R&amp;un</source>
        <translation>运行(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Plan</source>
        <translation>方案(&amp;P)</translation>
    </message>
    <message>
        <source>Saved &amp;layouts</source>
        <translation>已保存的布局(&amp;L)</translation>
    </message>
    <message>
        <source>%1 is written</source>
        <translation>已写入 %1</translation>
    </message>
    <message>
        <source>Writing %1</source>
        <translation>正在写入 %1</translation>
    </message>
    <message>
        <source>Pictures</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Picture of the timeline (vector)</source>
        <translation>时间线图片（矢量）</translation>
    </message>
    <message>
        <source>Picture of the timeline (pixels)</source>
        <translation>时间线图片（像素）</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::MemoryView</name>
    <message>
        <source>Memory over time</source>
        <translation>内存随时间的变化</translation>
    </message>
    <message>
        <source>This file says nothing about memory. Plans and traces of runs do.</source>
        <translation>此文件不含内存信息；计划和运行轨迹包含。</translation>
    </message>
    <message>
        <source>No file is open.</source>
        <translation>没有打开的文件。</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>peak %1</source>
        <translation>峰值 %1</translation>
    </message>
    <message>
        <source>peak %1: too much</source>
        <translation>峰值 %1：超出上限</translation>
    </message>
    <message>
        <source>limit %1</source>
        <translation>上限 %1</translation>
    </message>
    <message>
        <source>rank %1 at %2: %3</source>
        <translation>rank %1，%2：%3</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::MessageBar</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::MetricsModel</name>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>token/秒</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::ModelChooser</name>
    <message>
        <source>Layers of the model</source>
        <translation>模型的层</translation>
    </message>
    <message>
        <source>&amp;Open...</source>
        <translation>打开(&amp;O)...</translation>
    </message>
    <message>
        <source>A config.json of Hugging Face, or a model file</source>
        <translation>Hugging Face 的 config.json，或模型文件</translation>
    </message>
    <message>
        <source>%1 parameters; a sequence of %2 tokens takes %3FLOP, forward and backward</source>
        <translation>%1 个参数；一条 %2 个词元的序列前向加反向需要 %3FLOP</translation>
    </message>
    <message>
        <source>Open a model</source>
        <translation>打开模型</translation>
    </message>
    <message>
        <source>Configurations (*.json);;All files (*)</source>
        <translation>配置 (*.json);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Mo&amp;del</source>
        <translation>模型(&amp;D)</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::OverviewStrip</name>
    <message>
        <source>Overview of the step</source>
        <translation>步骤概览</translation>
    </message>
    <message>
        <source>whole step</source>
        <translation>整个步骤</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::ParetoView</name>
    <message>
        <source>Step time against memory</source>
        <translation>每步时间与显存</translation>
    </message>
    <message>
        <source>No plan is chosen.</source>
        <translation>未选择方案。</translation>
    </message>
    <message numerus="yes">
        <source>%1
%2 a step, %3, %n device(s)</source>
        <translation>
            <numerusform>%1
每步 %2，%3，%n 个设备</numerusform>
        </translation>
    </message>
    <message>
        <source>No plan was simulated yet ...</source>
        <translation>尚未仿真任何方案……</translation>
    </message>
    <message>
        <source>No plans yet.</source>
        <translation>尚无方案。</translation>
    </message>
    <message>
        <source>GiB a device</source>
        <translation>每设备 GiB</translation>
    </message>
    <message>
        <source>step time</source>
        <translation>每步时间</translation>
    </message>
    <message>
        <source>closed form alone</source>
        <translation>仅解析估算</translation>
    </message>
    <message numerus="yes">
        <source>%n device(s)</source>
        <translation>
            <numerusform>%n 个设备</numerusform>
        </translation>
    </message>
    <message>
        <source>%1
No place in this plot: rejected before it had a time. %2</source>
        <translation>%1
不在此图中：得出时间之前已被排除。%2</translation>
    </message>
    <message>
        <source>The chosen plan has no place here: %1</source>
        <translation>所选方案不在此图中：%1</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::PlanControls</name>
    <message>
        <source>Links in a node ×</source>
        <translation>节点内链路 ×</translation>
    </message>
    <message>
        <source>Network rate ×</source>
        <translation>网络带宽 ×</translation>
    </message>
    <message>
        <source>Network latency ×</source>
        <translation>网络延迟 ×</translation>
    </message>
    <message>
        <source>Device memory ×</source>
        <translation>设备显存 ×</translation>
    </message>
    <message>
        <source>What the plan comes to</source>
        <translation>计划的结果</translation>
    </message>
    <message>
        <source>Why the change was not made</source>
        <translation>未作更改的原因</translation>
    </message>
    <message>
        <source>&amp;Schedule</source>
        <translation>调度(&amp;S)</translation>
    </message>
    <message>
        <source>Schedule %1</source>
        <translation>调度 %1</translation>
    </message>
    <message>
        <source>Stages a &amp;rank</source>
        <translation>每个 rank 的阶段数(&amp;R)</translation>
    </message>
    <message>
        <source>Stages a rank</source>
        <translation>每个 rank 的阶段数</translation>
    </message>
    <message>
        <source>Micro-&amp;batches</source>
        <translation>微批数(&amp;B)</translation>
    </message>
    <message>
        <source>Number of micro-batches</source>
        <translation>微批数量</translation>
    </message>
    <message>
        <source>Micro-batch si&amp;ze</source>
        <translation>微批大小(&amp;Z)</translation>
    </message>
    <message>
        <source>Size of a micro-batch</source>
        <translation>一个微批的大小</translation>
    </message>
    <message>
        <source>R&amp;ecompute</source>
        <translation>重计算(&amp;E)</translation>
    </message>
    <message>
        <source>Recompute %1</source>
        <translation>重计算 %1</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>by the schedule</source>
        <translation>由调度决定</translation>
    </message>
    <message>
        <source>Parameter %1</source>
        <translation>参数 %1</translation>
    </message>
    <message>
        <source>Open a plan to change it.</source>
        <translation>打开一个计划以更改它。</translation>
    </message>
    <message>
        <source>, MFU %1 %</source>
        <translation>，MFU %1 %</translation>
    </message>
    <message>
        <source>&lt;br&gt;idle %1 %, memory %2</source>
        <translation>&lt;br&gt;空闲 %1 %，显存 %2</translation>
    </message>
    <message>
        <source> &lt;b&gt;&lt;font color=&quot;%1&quot;&gt;does not fit&lt;/font&gt;&lt;/b&gt;</source>
        <translation> &lt;b&gt;&lt;font color=&quot;%1&quot;&gt;放不下&lt;/font&gt;&lt;/b&gt;</translation>
    </message>
    <message>
        <source>&lt;br&gt;Actions were moved by hand; a schedule file keeps them.</source>
        <translation>&lt;br&gt;有动作被手动移动；调度文件会保留它们。</translation>
    </message>
    <message>
        <source>Not changed: %1</source>
        <translation>未更改：%1</translation>
    </message>
    <message>
        <source>&lt;b&gt;%1&lt;/b&gt; a step (%2), %3 tokens/s (%4)</source>
        <translation>每步 &lt;b&gt;%1&lt;/b&gt;（%2），%3 token/秒（%4）</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::PlanEditor</name>
    <message>
        <source>Only a plan can be changed; open one.</source>
        <translation>只能更改计划；请先打开一个计划。</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::RankTreeModel</name>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Busy</source>
        <translation>忙碌</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::RowsPanel</name>
    <message>
        <source>Group rows by</source>
        <translation>行分组方式</translation>
    </message>
    <message>
        <source>Rows of the timeline</source>
        <translation>时间线的行</translation>
    </message>
    <message>
        <source>&amp;Group by</source>
        <translation>分组(&amp;G)</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>不分组</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::RunCommands</name>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>&amp;Run the plan on this machine</source>
        <translation>在本机运行该计划(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Stop the run</source>
        <translation>停止运行(&amp;S)</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::RunPanel</name>
    <message>
        <source>&amp;Run</source>
        <translation>运行(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Stop</source>
        <translation>停止(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Open its trace</source>
        <translation>打开其轨迹(&amp;O)</translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) done.</source>
        <translation>
            <numerusform>已完成 %n 步。</numerusform>
        </translation>
    </message>
    <message>
        <source>State of the run</source>
        <translation>运行状态</translation>
    </message>
    <message>
        <source>&amp;Choose...</source>
        <translation>选择(&amp;C)...</translation>
    </message>
    <message>
        <source>&amp;Data</source>
        <translation>数据(&amp;D)</translation>
    </message>
    <message>
        <source>S&amp;teps</source>
        <translation>步数(&amp;T)</translation>
    </message>
    <message>
        <source>Steps of the run</source>
        <translation>运行的步数</translation>
    </message>
    <message>
        <source>Data to train on</source>
        <translation>训练数据</translation>
    </message>
    <message>
        <source>Open a plan to run it with ranks as threads of this machine.</source>
        <translation>打开一个计划，即可在本机以线程作为 rank 运行。</translation>
    </message>
    <message>
        <source>The data &quot;%1&quot; do not exist; choose a text file.</source>
        <translation>数据“%1”不存在；请选择一个文本文件。</translation>
    </message>
    <message>
        <source>The command stagewright is not installed beside this program, nor in the search path; install it, or add its folder to PATH.</source>
        <translation>命令 stagewright 既不在本程序旁，也不在搜索路径中；请安装它，或将其文件夹加入 PATH。</translation>
    </message>
    <message>
        <source>Starting ...</source>
        <translation>正在启动……</translation>
    </message>
    <message>
        <source>Stopping after this step; press again to end it at once.</source>
        <translation>本步结束后停止；再按一次立即终止。</translation>
    </message>
    <message>
        <source>Step %1 of %2</source>
        <translation>第 %1 步，共 %2 步</translation>
    </message>
    <message>
        <source>&amp;Compare with the prediction</source>
        <translation>与预测比较(&amp;C)</translation>
    </message>
    <message>
        <source>Last step of the run</source>
        <translation>运行的最近一步</translation>
    </message>
    <message>
        <source>Runs the plan with ranks as threads of this machine.</source>
        <translation>以本机线程作为各 rank 运行方案。</translation>
    </message>
    <message>
        <source>Step %1: %2</source>
        <translation>第 %1 步：%2</translation>
    </message>
    <message>
        <source>Another plan was run than the one that is open.</source>
        <translation>运行的计划不是当前打开的计划。</translation>
    </message>
    <message>
        <source>As if every rank had a &amp;core of its own</source>
        <translation>如同每个 rank 独占一个核心(&amp;C)</translation>
    </message>
    <message>
        <source>text file, folder of texts, or tokens (.bin); empty: a sample text</source>
        <translation>文本文件、文本文件夹或词元文件 (.bin)；留空：示例文本</translation>
    </message>
    <message>
        <source>Times are those that the threads computed, put together as if they had not shared cores: for more ranks than this machine has cores (--clock virtual).</source>
        <translation>时间取各线程实际计算的时间，按不共享核心拼合：用于 rank 数多于本机核心数的情况 (--clock virtual)。</translation>
    </message>
    <message>
        <source>Times</source>
        <translation>时间</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::RunProcess</name>
    <message>
        <source>%1 could not be started: %2</source>
        <translation>无法启动 %1：%2</translation>
    </message>
    <message>
        <source>The run was ended before it left a trace.</source>
        <translation>运行在留下轨迹之前已被终止。</translation>
    </message>
    <message>
        <source>The run ended with code %1 and left no trace.</source>
        <translation>运行以代码 %1 结束，没有留下轨迹。</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::SaveDialog</name>
    <message>
        <source>Replace the file?</source>
        <translation>替换该文件？</translation>
    </message>
    <message>
        <source>%1 exists already. What is in it will be lost.</source>
        <translation>%1 已存在，其中的内容将丢失。</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::SearchBar</name>
    <message>
        <source>F12, or kind:B mb:12 rank:3-5 stage:1 dur&gt;2ms</source>
        <translation>F12，或 kind:B mb:12 rank:3-5 stage:1 dur&gt;2ms</translation>
    </message>
    <message>
        <source>Find actions</source>
        <translation>查找动作</translation>
    </message>
    <message>
        <source>Close the search</source>
        <translation>关闭搜索</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>查找</translation>
    </message>
    <message numerus="yes">
        <source>%n found</source>
        <translation>
            <numerusform>找到 %n 个</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::gui::SetupPanel</name>
    <message>
        <source>Shortest step</source>
        <translation>每步最短</translation>
    </message>
    <message>
        <source>Most tokens a second</source>
        <translation>每秒词元最多</translation>
    </message>
    <message>
        <source>Fewest devices</source>
        <translation>设备最少</translation>
    </message>
    <message>
        <source>Lowest cost of a token</source>
        <translation>每词元成本最低</translation>
    </message>
    <message>
        <source>Least energy of a token</source>
        <translation>每词元能耗最低</translation>
    </message>
    <message>
        <source>Most memory left</source>
        <translation>剩余显存最多</translation>
    </message>
    <message>
        <source>Shortest step under jitter</source>
        <translation>抖动下每步最短</translation>
    </message>
    <message>
        <source>&amp;Model</source>
        <translation>模型(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Cluster</source>
        <translation>集群(&amp;C)</translation>
    </message>
    <message>
        <source>Cons&amp;traints</source>
        <translation>约束(&amp;T)</translation>
    </message>
    <message>
        <source>What stands in the way of a search</source>
        <translation>阻碍搜索的问题</translation>
    </message>
    <message>
        <source> sequences</source>
        <translation> 条序列</translation>
    </message>
    <message>
        <source>the model&apos;s longest</source>
        <translation>模型的最大长度</translation>
    </message>
    <message>
        <source> tokens</source>
        <translation> 个词元</translation>
    </message>
    <message>
        <source>&amp;Batch</source>
        <translation>批量(&amp;B)</translation>
    </message>
    <message>
        <source>Se&amp;quence</source>
        <translation>序列(&amp;Q)</translation>
    </message>
    <message>
        <source>Best &amp;at</source>
        <translation>目标(&amp;A)</translation>
    </message>
    <message>
        <source>Price of a device-hour</source>
        <translation>每设备小时价格</translation>
    </message>
    <message>
        <source>Watts of a device</source>
        <translation>每设备瓦数</translation>
    </message>
    <message>
        <source>S&amp;top the search</source>
        <translation>停止搜索(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Search plans</source>
        <translation>搜索方案(&amp;S)</translation>
    </message>
    <message>
        <source>Say what a device costs an hour.</source>
        <translation>请填写每设备每小时的价格。</translation>
    </message>
    <message>
        <source>Say how many watts a device draws.</source>
        <translation>请填写每设备的瓦数。</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::StageBalance</name>
    <message>
        <source>Stage balance</source>
        <translation>阶段均衡</translation>
    </message>
    <message numerus="yes">
        <source>Move %n layer(s) from stage %1 to stage %2</source>
        <translation>
            <numerusform>将 %n 层从阶段 %1 移到阶段 %2</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s)</source>
        <translation>
            <numerusform>%n 层</numerusform>
        </translation>
    </message>
    <message>
        <source>forward %1</source>
        <translation>前向 %1</translation>
    </message>
    <message>
        <source>backward %1</source>
        <translation>反向 %1</translation>
    </message>
    <message>
        <source>recomputing %1</source>
        <translation>重计算 %1</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1，共 %2</translation>
    </message>
    <message>
        <source>stage %1: %2</source>
        <translation>阶段 %1：%2</translation>
    </message>
    <message>
        <source>Nothing that has stages is open.</source>
        <translation>没有打开任何含阶段的内容。</translation>
    </message>
    <message numerus="yes">
        <source>stage %1, %n layer(s)</source>
        <translation>
            <numerusform>阶段 %1，%n 层</numerusform>
        </translation>
    </message>
    <message>
        <source>stage %1</source>
        <translation>阶段 %1</translation>
    </message>
    <message>
        <source>Slowest stage: %1 % above the mean</source>
        <translation>最慢阶段比平均值高 %1 %</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::StartPage</name>
    <message>
        <source>Stagewright</source>
        <translation>Stagewright</translation>
    </message>
    <message>
        <source>Shows what every device does during a training step: of a plan, a schedule, or a run.</source>
        <translation>展示训练步骤中每个设备的工作：来自计划、调度或运行。</translation>
    </message>
    <message>
        <source>Open a file</source>
        <translation>打开文件</translation>
    </message>
    <message>
        <source>A plan, a schedule, a pipeline order or a trace</source>
        <translation>计划、调度、流水线顺序或轨迹</translation>
    </message>
    <message>
        <source>Look at an example</source>
        <translation>查看示例</translation>
    </message>
    <message>
        <source>Llama 3 70B on 128 H100, simulated</source>
        <translation>Llama 3 70B，128 块 H100，模拟结果</translation>
    </message>
    <message>
        <source>Opened lately</source>
        <translation>最近打开</translation>
    </message>
    <message>
        <source>Or drop a file anywhere on this window.</source>
        <translation>也可将文件拖放到窗口中。</translation>
    </message>
    <message>
        <source>Plan a model</source>
        <translation>规划模型</translation>
    </message>
    <message>
        <source>Search how to train it on a cluster</source>
        <translation>搜索如何在集群上训练它</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::StatisticsModel</name>
    <message>
        <source>Action</source>
        <translation>动作</translation>
    </message>
    <message>
        <source>Count</source>
        <translation>次数</translation>
    </message>
    <message>
        <source>Total</source>
        <translation>总计</translation>
    </message>
    <message>
        <source>Mean</source>
        <translation>平均</translation>
    </message>
    <message>
        <source>Least</source>
        <translation>最短</translation>
    </message>
    <message>
        <source>Most</source>
        <translation>最长</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::StatisticsPanel</name>
    <message>
        <source>Kinds of action in the selection</source>
        <translation>选区中的动作种类</translation>
    </message>
    <message>
        <source>No file is open.</source>
        <translation>没有打开的文件。</translation>
    </message>
    <message numerus="yes">
        <source>&lt;b&gt;%1&lt;/b&gt;: %2 on %n rank(s), %3 % idle</source>
        <translation>
            <numerusform>&lt;b&gt;%1&lt;/b&gt;：%2，%n 个 rank，空闲 %3 %</numerusform>
        </translation>
    </message>
    <message>
        <source>Selection</source>
        <translation>选区</translation>
    </message>
    <message>
        <source>Whole step</source>
        <translation>整个步骤</translation>
    </message>
    <message>
        <source>Click an action, or press an arrow key in the timeline.</source>
        <translation>点击一个动作，或在时间线中按方向键。</translation>
    </message>
    <message>
        <source>&lt;br&gt;Waited for: %1</source>
        <translation>&lt;br&gt;等待：%1</translation>
    </message>
    <message>
        <source>&lt;br&gt;Held up: %1</source>
        <translation>&lt;br&gt;阻塞了：%1</translation>
    </message>
    <message>
        <source>&lt;br&gt;On the critical path.</source>
        <translation>&lt;br&gt;位于关键路径上。</translation>
    </message>
    <message>
        <source>&lt;br&gt;Could take %1 longer without making the step longer.</source>
        <translation>&lt;br&gt;可再延长 %1 而不影响步骤时长。</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::TimelineView</name>
    <message numerus="yes">
        <source>%n action(s)</source>
        <translation>
            <numerusform>%n 个动作</numerusform>
        </translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>时间线</translation>
    </message>
    <message>
        <source>transfers</source>
        <translation>传输</translation>
    </message>
    <message>
        <source>collectives</source>
        <translation>集合通信</translation>
    </message>
    <message>
        <source>compared</source>
        <translation>对比</translation>
    </message>
    <message>
        <source>error</source>
        <translation>误差</translation>
    </message>
    <message>
        <source>This machine&apos;s memory does not hold a picture of that size; make the window smaller, or close other programs.</source>
        <translation>本机内存放不下这么大的图片；请缩小窗口或关闭其他程序。</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::TopologyView</name>
    <message>
        <source>%1 %2, %3</source>
        <translation>%1 %2，%3</translation>
    </message>
    <message>
        <source>Picture of the cluster</source>
        <translation>集群示意图</translation>
    </message>
    <message>
        <source>No cluster.</source>
        <translation>没有集群。</translation>
    </message>
    <message numerus="yes">
        <source>%n node(s)</source>
        <translation>
            <numerusform>%n 个节点</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n device(s)</source>
        <translation>
            <numerusform>%n 个设备</numerusform>
        </translation>
    </message>
    <message>
        <source>, %1 with %2 each</source>
        <translation>，%1，每个 %2</translation>
    </message>
    <message>
        <source>
In a node: %1</source>
        <translation>
节点内：%1</translation>
    </message>
    <message>
        <source>
Network: %1</source>
        <translation>
网络：%1</translation>
    </message>
    <message>
        <source>network, %1 a device</source>
        <translation>网络，每设备 %1</translation>
    </message>
    <message>
        <source>one node, no network</source>
        <translation>单节点，无网络</translation>
    </message>
    <message>
        <source>%1: %2 nodes a switch, %3 : 1</source>
        <translation>%1：每台交换机 %2 个节点，%3 : 1</translation>
    </message>
    <message>
        <source>... and
%1 more</source>
        <translation>……另有
%1 个</translation>
    </message>
</context>
<context>
    <name>stagewright::gui::Words</name>
    <message>
        <source>%1 of micro-batch %2</source>
        <translation>微批次 %2 的%1</translation>
    </message>
    <message>
        <source>load-micro-batch</source>
        <translation>加载微批次</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>backward-input</source>
        <translation>反向（输入梯度）</translation>
    </message>
    <message>
        <source>backward-weight</source>
        <translation>反向（权重梯度）</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>重计算</translation>
    </message>
    <message>
        <source>send-activation</source>
        <translation>发送激活</translation>
    </message>
    <message>
        <source>recv-activation</source>
        <translation>接收激活</translation>
    </message>
    <message>
        <source>send-gradient</source>
        <translation>发送梯度</translation>
    </message>
    <message>
        <source>recv-gradient</source>
        <translation>接收梯度</translation>
    </message>
    <message>
        <source>reduce-gradients</source>
        <translation>归约梯度</translation>
    </message>
    <message>
        <source>gather-parameters</source>
        <translation>收集参数</translation>
    </message>
    <message>
        <source>optimizer-step</source>
        <translation>优化器步骤</translation>
    </message>
    <message>
        <source>update-parameters</source>
        <translation>更新参数</translation>
    </message>
    <message>
        <source>warm-up</source>
        <translation>预热</translation>
    </message>
    <message>
        <source>cool-down</source>
        <translation>收尾</translation>
    </message>
    <message>
        <source>order</source>
        <translation>调度顺序</translation>
    </message>
    <message>
        <source>imbalance</source>
        <translation>负载不均</translation>
    </message>
    <message>
        <source>transfer</source>
        <translation>传输</translation>
    </message>
    <message>
        <source>collective</source>
        <translation>集合通信</translation>
    </message>
    <message>
        <source>optimizer</source>
        <comment>cause of idle time</comment>
        <translation>优化器</translation>
    </message>
    <message>
        <source>peer</source>
        <translation>等待其他 rank</translation>
    </message>
    <message>
        <source>parameter</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>gradient</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>optimizer</source>
        <comment>part of memory</comment>
        <translation>优化器</translation>
    </message>
    <message>
        <source>activation</source>
        <translation>激活</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>工作区</translation>
    </message>
    <message>
        <source>communication</source>
        <translation>通信缓冲</translation>
    </message>
    <message>
        <source>input</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>trace</source>
        <translation>轨迹</translation>
    </message>
    <message>
        <source>plan</source>
        <translation>方案</translation>
    </message>
    <message>
        <source>schedule</source>
        <translation>调度</translation>
    </message>
    <message>
        <source>pipeline order</source>
        <translation>流水线顺序</translation>
    </message>
    <message>
        <source>context</source>
        <translation>上下文（驱动与库）</translation>
    </message>
    <message>
        <source>, %1 % of the first</source>
        <translation>，为第一个的 %1 %</translation>
    </message>
    <message>
        <source>rank %1 stage %2: %3, %4 to %5 (%6)</source>
        <translation>rank %1 阶段 %2：%3，%4 至 %5（%6）</translation>
    </message>
</context>
</TS>
