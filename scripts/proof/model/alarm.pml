/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The alarm of a reader that waits (ring/ring_alarm.c, instance/wait.c), for SPIN.
 *
 * A task writes TASK records on the ring's CPU, and interrupts write IRQ, at any step of the
 * task. A reader on another CPU reads all there is, sets the alarm and waits. Control turns the
 * ring off and on again beside them, and a dump may turn it off for good, without the mutex.
 * Each step of a writer or of the reader is one access to a word that others access.
 *
 * The alarm and the look may leave it to a timer to wake the reader, because the reader was
 * woken in the same tick before. There is no clock here: each wake-up may be the first of a
 * tick, or be put off.
 *
 * Asserted: when nothing moves any more, the reader has read everything (nobody sleeps beside
 * a record), and a ring that was turned off is off.
 *
 * Memory is sequentially consistent here. What a writer in flight may see late is what the
 * look after a grace period is for, and that is modelled: it waits for the writers that were
 * in flight when it was asked for.
 */
#ifndef TASK
#define TASK 2
#endif
#ifndef IRQ
#define IRQ 1
#endif
#ifndef WAITS
#define WAITS 1
#endif

#define OFF	0
#define ALARM	1
#define USUAL	2

byte quick = USUAL, limit = USUAL;
byte pos, committed, rd;
byte nest;
bool irq;			/* the interrupt runs, so the task does not */
bool woken;
bool later;			/* the timer that wakes the reader in the next tick is pending */
bool mutex;			/* the instance's read_mutex */
bool off;			/* turned off, and on again */
bool dumped;			/* turned off for good */
byte epoch_task, epoch_irq;	/* odd: in flight */
bool pending, again;		/* the look after a grace period */

#define CPU(me) (me || !irq)	/* the task's steps wait for the interrupt's end */

/* Now, if nobody was woken in this tick, or else in the next one. */
inline wake()
{
	if
	:: woken = true
	:: later = true
	fi
}

/* One record. @me: this is the interrupt. */
inline write(me, q, l, raised)
{
	atomic { CPU(me) -> q = quick };
	if
	:: q == USUAL -> goto store		/* the quick path */
	:: skip					/* it is not the quick one's case, or a full block */
	fi;
	atomic { CPU(me) -> l = limit };
	if
	:: l == OFF -> goto done
	:: l == USUAL -> goto store
	:: l != OFF -> skip			/* does not fit */
	fi;
	atomic { CPU(me) -> nest++ };
	atomic { CPU(me) -> raised = (limit == ALARM || quick == ALARM) };
	if
	:: raised ->
		raised = false;
		atomic { CPU(me) -> if :: quick == ALARM -> quick = USUAL; raised = true :: else fi };
		atomic { CPU(me) -> if :: limit == ALARM -> limit = USUAL; raised = true :: else fi };
		atomic { CPU(me) -> if :: raised -> wake() :: else fi }
	:: else
	fi;
	atomic { CPU(me) -> nest-- };
store:
	atomic { CPU(me) -> nest++ };
	atomic { CPU(me) -> pos++ };
	if
	:: atomic { CPU(me) && nest > 1 -> nest-- }
	:: atomic { CPU(me) && nest == 1 -> committed = pos };
publish:
		atomic { CPU(me) -> nest = 0 };
		if
		:: atomic { CPU(me) && pos != committed -> nest = 1 };
			atomic { CPU(me) -> committed = pos };
			goto publish
		:: atomic { CPU(me) && pos == committed -> skip }
		fi
	fi;
done:
	skip
}

active proctype Task()
{
	byte n, q, l;
	bool raised;

	do
	:: n < TASK ->
		atomic { CPU(false) -> epoch_task++ };
		write(false, q, l, raised);
		atomic { CPU(false) -> epoch_task++ };
		n++
	:: n == TASK -> break
	od
}

active proctype Interrupt()
{
	byte n, q, l;
	bool raised;

	do
	:: n < IRQ ->
		atomic { irq = true; epoch_irq++ };
		write(true, q, l, raised);
		atomic { epoch_irq++; irq = false };
		n++
	:: n == IRQ -> break
	od
}

inline lock()
{
	atomic { !mutex -> mutex = true }
}

inline unlock()
{
	mutex = false
}

/* Queue the look, unless it is queued already. Under the mutex. */
inline ask_again()
{
	atomic {
		if
		:: !pending -> pending = true; again = false
		:: else -> again = true
		fi
	}
}

inline set_alarm()
{
	lock();
	atomic { if :: quick == USUAL -> quick = ALARM :: else fi };
	atomic { if :: limit == USUAL -> limit = ALARM :: else fi };
	ask_again();
	unlock()
}

active proctype Reader()
{
	byte waits;

	do
	:: waits < WAITS ->
		set_alarm();
		if
		:: committed != rd -> rd = committed
		:: committed == rd ->
end_wait:
			atomic { woken -> woken = false };
			waits++
		fi
	/* It does not wait for ever: the last time it reads what comes. */
	:: waits == WAITS ->
		set_alarm();
		if
		:: committed != rd -> rd = committed
		:: committed == rd ->
end_last:
			atomic { woken -> woken = false }
		fi
	od
}

/* The work item: it begins to wait when it is queued, and looks under the mutex. */
active proctype Look()
{
	byte task, intr;

end_idle:
	do
	:: atomic { pending -> task = epoch_task; intr = epoch_irq };
		(task % 2 == 0 || epoch_task != task) && (intr % 2 == 0 || epoch_irq != intr);
		pending = false;
		lock();
		if
		:: again -> ask_again()
		:: else
		fi;
		if
		:: atomic { committed != rd || off -> wake() }
		:: else
		fi;
		unlock()
	od
}

/* The timer is not pending any more when it wakes the reader. */
active proctype Timer()
{
end_timer:
	do
	:: atomic { later -> later = false };
		woken = true
	od
}

#ifdef CONTROL
/* Turns the ring off, waits for writers, and turns it on again. */
active proctype Control()
{
	byte task, intr;

	lock();
	off = true;
	limit = OFF;
	quick = OFF;
	atomic { task = epoch_task; intr = epoch_irq };
	(task % 2 == 0 || epoch_task != task) && (intr % 2 == 0 || epoch_irq != intr);
	assert(limit == OFF && quick == OFF);
	off = false;
	limit = USUAL;
	quick = USUAL;
	woken = true;
	unlock()
}
#endif

#ifdef DUMP
/* Turns the ring off for good, in any context, without the mutex. */
active proctype Dump()
{
	limit = OFF;
	quick = OFF;
	dumped = true;
	woken = true
}
#endif

active proctype Monitor()
{
end_monitor:
	timeout ->
		assert(committed == pos && rd == committed);
		assert(!dumped || (limit == OFF && quick == OFF))
}
