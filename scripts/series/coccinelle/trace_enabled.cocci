// SPDX-License-Identifier: GPL-2.0
///
/// An event looks up by itself whether it is on. To ask trace_NAME_enabled() before
/// it is for what has to be computed for the event alone: without that, there are
/// two branches to patch instead of one.
///
// Confidence: High
// Comments: an argument that calls a function is taken for what has to be computed.
// Options: --no-includes --include-headers

virtual report
virtual org

// What has to be computed.
@computed@
identifier enabled =~ "^trace_.*_enabled$";
identifier event, called;
position p;
@@

 if (enabled@p(...))
(
	event(..., <+... called(...) ...+>, ...);
|
	{ event(..., <+... called(...) ...+>, ...); }
)

@twice@
identifier enabled =~ "^trace_.*_enabled$";
identifier event =~ "^trace_";
position p != computed.p;
@@

 if (enabled@p(...))
(
	event(...);
|
	{ event(...); }
)

@script:python depends on report@
enabled << twice.enabled;
event << twice.event;
p << twice.p;
@@

if enabled == event + "_enabled":
	coccilib.report.print_report(p[0], "WARNING: %s() itself looks whether it is on" % event)

@script:python depends on org@
enabled << twice.enabled;
event << twice.event;
p << twice.p;
@@

if enabled == event + "_enabled":
	coccilib.org.print_todo(p[0], "WARNING: %s() itself looks whether it is on" % event)
