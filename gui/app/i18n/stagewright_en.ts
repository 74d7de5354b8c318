<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_US">
<context>
    <name>stagewright::gui::ParetoView</name>
    <message numerus="yes">
        <source>%1
%2 a step, %3, %n device(s)</source>
        <translation>
            <numerusform>%1
%2 a step, %3, %n device</numerusform>
            <numerusform>%1
%2 a step, %3, %n devices</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n device(s)</source>
        <translation>
            <numerusform>%n device</numerusform>
            <numerusform>%n devices</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::gui::RunPanel</name>
    <message numerus="yes">
        <source>%n step(s) done.</source>
        <translation>
            <numerusform>%n step done.</numerusform>
            <numerusform>%n steps done.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::gui::SearchBar</name>
    <message numerus="yes">
        <source>%n found</source>
        <translation>
            <numerusform>%n found</numerusform>
            <numerusform>%n found</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::gui::StageBalance</name>
    <message numerus="yes">
        <source>Move %n layer(s) from stage %1 to stage %2</source>
        <translation>
            <numerusform>Move %n layer from stage %1 to stage %2</numerusform>
            <numerusform>Move %n layers from stage %1 to stage %2</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s)</source>
        <translation>
            <numerusform>%n layer</numerusform>
            <numerusform>%n layers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>stage %1, %n layer(s)</source>
        <translation>
            <numerusform>stage %1, %n layer</numerusform>
            <numerusform>stage %1, %n layers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::gui::StatisticsPanel</name>
    <message numerus="yes">
        <source>&lt;b&gt;%1&lt;/b&gt;: %2 on %n rank(s), %3 % idle</source>
        <translation>
            <numerusform>&lt;b&gt;%1&lt;/b&gt;: %2 on %n rank, %3 % idle</numerusform>
            <numerusform>&lt;b&gt;%1&lt;/b&gt;: %2 on %n ranks, %3 % idle</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::gui::TimelineView</name>
    <message numerus="yes">
        <source>%n action(s)</source>
        <translation>
            <numerusform>%n action</numerusform>
            <numerusform>%n actions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::gui::TopologyView</name>
    <message numerus="yes">
        <source>%n node(s)</source>
        <translation>
            <numerusform>%n node</numerusform>
            <numerusform>%n nodes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n device(s)</source>
        <translation>
            <numerusform>%n device</numerusform>
            <numerusform>%n devices</numerusform>
        </translation>
    </message>
</context>
</TS>
