// SPDX-License-Identifier: GPL-2.0
///
/// A site computes an event's arguments before it looks whether the event is on. An
/// argument with a side effect costs its time with the event off, and the side effect
/// is lost when a later change removes the event.
///
// Confidence: Moderate
// Comments: functions that are no events, but begin with trace_, are known by their names.
// Options: --no-includes --include-headers

virtual report
virtual org

@effect depends on report || org@
identifier event =~ "^(etch_mark$|trace_(?!seq_|array_|print|puts|buffer_|event_|parser_|probe_))";
expression e, with;
assignment operator assign;
position p;
@@

event@p(...,
	<+... \( e++ \| e-- \| ++e \| --e \| e assign with \) ...+>
	, ...);

@script:python depends on report@
event << effect.event;
p << effect.p;
@@

coccilib.report.print_report(p[0], "WARNING: an argument of %s() has a side effect" % event)

@script:python depends on org@
event << effect.event;
p << effect.p;
@@

coccilib.org.print_todo(p[0], "WARNING: an argument of %s() has a side effect" % event)
