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
