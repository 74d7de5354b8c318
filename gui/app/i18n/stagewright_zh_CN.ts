<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
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
    <name>stagewright::gui::Document</name>
    <message>
        <source>Reading %1</source>
        <translation>正在读取 %1</translation>
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
        <source>Schedules (*.schedule.json)</source>
        <translation>调度 (*.schedule.json)</translation>
    </message>
    <message>
        <source>Plans (*.plan.json)</source>
        <translation>计划 (*.plan.json)</translation>
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
        <source>Pictures (*.png)</source>
        <translation>图片 (*.png)</translation>
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
        <source>Picture of the timeline</source>
        <translation>时间线图片</translation>
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
        <source>&lt;b&gt;%1&lt;/b&gt; a step (%2), %3 tokens/s</source>
        <translation>每步 &lt;b&gt;%1&lt;/b&gt;（%2），%3 token/秒</translation>
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
        <source>text file, folder of texts, or tokens (.bin)</source>
        <translation>文本文件、文本文件夹或 token 文件 (.bin)</translation>
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
    <message>
        <source>Time of a micro-batch; the slowest stage takes %1 % more than the mean</source>
        <translation>一个微批的时间；最慢的阶段比平均值多 %1 %</translation>
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
</context>
</TS>
