/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Etch's ring buffer as kernel/etch/ring/ring.c and ring_read.c do it, for SPIN.
 *
 * One CPU whose writers nest (task 0 < interrupt 1 < NMI 2: a level runs only while
 * none above it is in progress), in this file; the reader, on another CPU, in
 * reader.pml. Each STEP is one access to shared memory, of which any number of the
 * other side's may lie between two. The order of accesses is sequentially
 * consistent: barriers are not tried here, but in ../litmus.
 *
 * A block is S units: one of header, then records of one or two units, so that both
 * an exact fill and an unused end occur. Each unit of a record holds its time, and
 * the clock gives no time twice. (tools/testing/selftests/etch/ring/step_test.c shows that a
 * clock which goes back does no harm.)
 *
 * The assertions claim, for each way to take turns:
 *
 *	- a reader gets whole records, each once, in order of time, none before its
 *	  block's begin, none that its writer has not handed in;
 *	- nobody writes to a block in the reader's hand;
 *	- the records counted in a block are those in it; a record lost before a block
 *	  counts as lost at the block's begin; and a reader does not get a record
 *	  that a view has reported as missed;
 *	- in the end		written = read + overwritten + still there
 *				tried = written + lost + lost while off
 *	- in discard mode nothing is overwritten;
 *	- a writer goes round at most 3 times for itself and 4 for each writer nested
 *	  in it, and waits for nothing: a STEP has no condition but that it is its
 *	  level's turn;
 *	- whenever all CPUs stop for good, at any place, a dump can see each record that
 *	  was committed and not read, except in a block that the reader was just taking;
 *	- when a flush is done, unless no block was free, each record with a place before
 *	  the flush lies in a block that was left, and one of these blocks reports the
 *	  loss. A flush loses nothing and waits for nothing, as a writer;
 *	- a closed block takes no record, except while the closing, or a writer that the
 *	  closing interrupted, is in flight: such a record is of now.
 *
 * check.py runs it in several sizes, and mutations.py takes out one rule after the
 * other. By hand:
 *
 *	spin -a -DOVERWRITE=1 -DS=3 -DR0=3 -DR1=1 -DR2=0 ring.pml
 *	gcc -O2 -DSAFETY -DCOLLAPSE -DMEMLIM=6000 -o pan pan.c && ./pan -m500000
 *
 *	-DPEEK			the reader peeks, too
 *	-DSTATS			the reader asks for the figures
 *	-DRESIZE=3		the ring gets 3 slots
 *	-DLOOK			a dying kernel may look at any time
 *	-DPART			the reader may take only the first record of a view
 *	-DNOBODY_READS		there is no reader
 *	-DF1=1 -DF2=1		the interrupt, the NMI flush once, at any time but beside control
 *	-DC0=1 -DC1=1 -DC2=1	the task, the interrupt, the NMI close the block, likewise
 */
#ifndef N
#define N 2			/* slots in the ring */
#endif
#ifndef OVERWRITE
#define OVERWRITE 1
#endif
#ifndef R0			/* records tried by each level */
#define R0 3
#define R1 1
#define R2 1
#endif
#ifndef S
#define S 4			/* units in a block, one of them header */
#endif
#ifdef SHORT_FIRST		/* so that the first block has two, the others one */
#define LEN (lv == 0 && i < 2 -> 1 : 2)
#elif defined(LONG_FIRST)	/* so that blocks end elsewhere than before */
#define LEN (i == 0 -> 2 : 1 + (i & 1))
#else
#define LEN (S == 2 -> 1 : 1 + ((i + lv) & 1))
#endif
#ifndef MAX_NEST
#define MAX_NEST 3
#endif
#ifndef F1			/* flushes tried by each level */
#define F1 0
#endif
#ifndef F2
#define F2 0
#endif
#if F1 + F2
#define FLUSH			/* a writer whose record has no length: ln is 0 */
#define FITS (ln && off + ln <= S)
#else
#define FITS (off + ln <= S)
#endif

#ifndef C0			/* closings tried by each level */
#define C0 0
#endif
#ifndef C1
#define C1 0
#endif
#ifndef C2
#define C2 0
#endif
#if C0 + C1 + C2
#define CLOSE
#define SHUT shut
#else
#define SHUT false
#endif

#ifdef RESIZE
#define SLOTS 4
byte nr = N;
#else
#define SLOTS N
#define nr N
#endif

#define NB (SLOTS + 1)		/* blocks: the slots' and the reader's spare */
#define CHANGING 255
#define FAR 254			/* an invalid pair that nobody is changing */
#define NOT_CLOSED 255
#define BLOCK_AT(p) (((p) - 1) / S)

/* Two halves of one word are changed, or read, in one step. */
byte pos = SLOTS * S, pos_n;		/* bytes and count */
byte committed = SLOTS * S, committed_n;
byte nest, consumed = SLOTS * S;
byte slot_gen[SLOTS], slot_block[SLOTS];	/* and slot_taken */
bit slot_taken[SLOTS];
byte pair_start, pair_block;		/* where the records of the current block start */
bit on = 1;
#ifdef CLOSE
byte closed = NOT_CLOSED;		/* the block that takes no more records */
#endif

byte end_of[NB], records_of[NB], begin_of[NB], lost_of[NB];	/* the descriptors */
byte data[NB * S];

byte clock = 1;
byte counted, overwritten, lost, lost_off;	/* the ring's figures */
#ifdef FLUSH
byte left_lost;				/* lost, as the last block that was left reports */
#endif
byte spare = N;				/* the reader's, and looked at by assertions */

/* The truth, for the assertions: no writer or reader looks at it. */
byte before[16];			/* records in front of a block, by its number */
byte lost_by[16];			/* lost when it was claimed */
#ifdef FLUSH
byte told_by[16];			/* lost, as the block will report it */
#endif
#ifdef CLOSE
byte closing;				/* closings under way */
bit interrupted[3];			/* in flight since a closing interrupted them */
#define MAY_BE_IN(g) assert(closed != (g) || closing || interrupted[0] || interrupted[1])
#define NO_MORE interrupted[lv] = 0;
#else
#define MAY_BE_IN(g) skip
#define NO_MORE
#endif
byte flying[3];				/* the record that a level has not handed in */
byte started;				/* records tried */
byte finished;
bit still;				/* control works on a ring without writers */
bit running[3];

#define SEQ(p, n) (before[BLOCK_AT(p)] + (n))

#define MAY(l) ((l == 2) || (l == 1 && !running[2]) || (l == 0 && !running[1] && !running[2]))
#define STEP(x) d_step { MAY(lv) -> x }
#define LABELLED_STEP(x) atomic { MAY(lv) -> x }	/* SPIN wants no jump to a d_step */

/* Once more round. The number of nested writers bounds the rounds. */
#define TURN turns++; assert(turns <= 3 + 4 * (started - mine))

/* Try to move pos from p, pn. */
#define MOVE_POS(to, n, truth)						\
	STEP(won = (pos == p && pos_n == pn);				\
	     if								\
	     :: won -> assert(!still); truth; pos = to; pos_n = n	\
	     :: else -> p = pos; pn = pos_n				\
	     fi)

/* Move pos as a switch of blocks does. */
#define LEAVE_BLOCK MOVE_POS(g * S + 1, 0, before[g] = SEQ(p, pn))
#define IS_ITS_BLOCK assert(slot_gen[BLOCK_AT(p) % nr] == BLOCK_AT(p) && slot_block[BLOCK_AT(p) % nr] == b)
#define RESERVE MOVE_POS(p + ln, pn + 1, flying[lv] = ts; MAY_BE_IN(BLOCK_AT(p)); IS_ITS_BLOCK)

/* The end of a change of the pair, which a closing may have interrupted. */
#ifdef CLOSE
inline look_if_closed(g) {
	STEP(shut = (closed == (g)));
	if
	:: shut -> STEP(pair_start = FAR)
	:: else
	fi
}

inline close_block() {
	STEP(p = pos; closing++);
	g = BLOCK_AT(p);
	STEP(wg = slot_gen[g % nr]; wt = slot_taken[g % nr]);
	if
	:: wg == g && !wt ->
	   STEP(closed = g);
	   STEP(st = pair_start);
	   if
	   :: st != CHANGING -> STEP(pair_start = FAR)
	   :: else
	   fi
	:: else
	fi;
	STEP(closing--; interrupted[0] = running[0] && lv > 0; interrupted[1] = running[1] && lv > 1)
}
#else
#define look_if_closed(g) skip
#endif

inline refresh_pair(b, g) {
	STEP(st = pair_start);
	if
	:: st != CHANGING && st != (g) * S + 1 ->
	   STEP(pair_start = CHANGING);
	   STEP(pair_block = b);
	   STEP(pair_start = (g) * S + 1);
	   look_if_closed(g)
	:: else
	fi
}

inline commit() {
	STEP(nn = nest; flying[lv] = 0);
	if
	:: nn == 1 ->
	   do
	   :: STEP(p = pos; pn = pos_n);
	      STEP(committed = p; committed_n = pn);
	      STEP(nest = 0);
	      STEP(won = (pos == p && pos_n == pn));
	      if
	      :: won -> break
	      :: else -> STEP(nest = 1; TURN)
	      fi
	   od
	:: else -> STEP(nest = nn - 1)
	fi
}

#ifdef FLUSH
#define TELL ; told_by[g] = ls
#else
#define TELL
#endif

/* Claim the slot of block g, if that is still to do. */
inline claim() {
#if !OVERWRITE
	STEP(dr = consumed);
	if :: (g + 1) * S > dr + nr * S -> goto lose :: else fi;
#endif
	STEP(dr = committed);
	if :: (g + 1) * S >= dr + nr * S -> goto lose :: else fi;
	STEP(wg = slot_gen[g % nr]; b = slot_block[g % nr]; wt = slot_taken[g % nr]);
	if
	:: wg < g ->
	   STEP(bt = clock; ls = lost);
	   STEP(dr = (wt -> 0 : records_of[b]));
	   STEP(won = (slot_gen[g % nr] == wg && slot_block[g % nr] == b && slot_taken[g % nr] == wt);
		if
		:: won -> slot_gen[g % nr] = g; slot_taken[g % nr] = 0; lost_by[g] = lost TELL
		:: else
		fi);
	   if
	   :: won ->
	      STEP(begin_of[b] = bt; lost_of[b] = ls);
	      STEP(overwritten = overwritten + dr)
	   :: else
	   fi
	:: else
	fi
}

#ifdef FLUSH
/*
 * Would a reader learn nothing if a writer left the block of p? Then each record with a
 * place when the flush began is in a block that was left, and these blocks report the loss.
 */
inline nothing_to_leave() {
	won = 0;
	if
	:: pn == 0 -> STEP(ls = lost); STEP(won = (ls == left_lost))
	:: else
	fi;
	assert(!won || (before[g] >= had && (had_lost == 0 || told_by[g - 1] >= had_lost)))
}
#endif

inline write_one() {
#ifdef FLUSH
	if
	:: ln == 0 ->
	   STEP(nn = nest + 1; had = SEQ(pos, pos_n); had_lost = lost);
	   if :: nn > MAX_NEST -> goto done :: else fi;
	   STEP(nest = nn);
	   goto more
	:: else
	fi;
#endif
	STEP(lim = on; nn = nest + 1);
	STEP(p = pos; pn = pos_n);
again:
	LABELLED_STEP(st = pair_start);
	if
	:: !lim || nn > MAX_NEST || st == CHANGING || p < st || p - st + ln > S - 1 -> goto slow
	:: else
	fi;
	STEP(b = pair_block; off = p - st + 1);
	STEP(nest = nn);
	STEP(ts = clock; clock++);
	RESERVE;
	if :: won -> goto store :: else -> STEP(TURN); goto again fi;
slow:
	LABELLED_STEP(won = (nest == nn); lim = on);
	if
	:: !won && !lim -> STEP(lost_off++); goto done
	:: !won && lim && nn > MAX_NEST -> STEP(lost++); goto done
	:: else
	fi;
	STEP(nest = nn);
more:
	LABELLED_STEP(p = pos; pn = pos_n; TURN);
	g = BLOCK_AT(p); off = p - g * S;
#ifdef FLUSH
	if
	:: ln == 0 -> nothing_to_leave(); if :: won -> goto flushed :: else fi
	:: else
	fi;
#endif
#ifdef CLOSE
	STEP(shut = (closed == g));
#endif
	if
	:: FITS && !SHUT ->
	   /* That it is the slot's block needs no look: committed has not moved since. */
	   STEP(b = slot_block[g % nr]; assert(slot_gen[g % nr] == g && !slot_taken[g % nr]));
	   refresh_pair(b, g);
	   STEP(ts = clock; clock++);
	   RESERVE;
	   if :: won -> goto store :: else -> goto more fi
	:: else
	fi;
	g++;
	claim();
	/* switch */
	STEP(wg = slot_gen[g % nr]; b = slot_block[g % nr]);
	if :: wg != g -> goto more :: else fi;
	refresh_pair(b, g);
	LEAVE_BLOCK;
	if :: !won -> goto more :: else fi;
	STEP(b = slot_block[(g - 1) % nr]);
	STEP(end_of[b] = p - (g - 1) * S);
	STEP(records_of[b] = pn);
#ifdef FLUSH
	STEP(ls = lost_of[b]);
	STEP(left_lost = ls);
#endif
	STEP(counted = counted + pn);
	goto more;
lose:
#ifdef FLUSH
	if :: ln == 0 -> goto flushed :: else fi;
#endif
	LABELLED_STEP(lost++);
	commit();
	goto done;
store:
	LABELLED_STEP(assert(b != spare); data[b * S + off] = 0);
	if :: ln == 2 -> STEP(data[b * S + off + 1] = ts) :: else fi;
	STEP(assert(b != spare); data[b * S + off] = ts);
flushed:
	commit();
done:
	skip
}

#ifdef FLUSH
#define FLUSHES (lv == 0 -> 0 : (lv == 1 -> F1 : F2))
#define ALL_FLUSHED flushes == FLUSHES
#else
#define ALL_FLUSHED true
#endif
#ifdef CLOSE
#define CLOSES (lv == 0 -> C0 : (lv == 1 -> C1 : C2))
#define ALL_CLOSED closes == CLOSES
#define FORGET shut = 0;
#else
#define ALL_CLOSED true
#define FORGET
#endif

proctype Writer(byte lv; byte n) {
	byte p, pn, st, b, off, ts, g, wg, i, ln, nn, dr, bt, ls, turns, mine;
	bit lim, won, wt;
#ifdef FLUSH
	byte flushes, had, had_lost;
#endif
#ifdef CLOSE
	byte closes;
	bit shut;
#endif
	do
	:: i < n ->
	   atomic { MAY(lv) && !running[lv] -> running[lv] = 1; started++; mine = started }
	   ln = LEN;
	   write_one();
	   d_step { running[lv] = 0; NO_MORE FORGET i++; p = 0; pn = 0; st = 0; b = 0; off = 0; ts = 0; g = 0;
		wg = 0; ln = 0; nn = 0; dr = 0; bt = 0; ls = 0; turns = 0; mine = 0; lim = 0; wt = 0; won = 0 }
#ifdef FLUSH
	/* At any time, but not beside control: the caller of a flush has the mutex. */
	:: flushes < FLUSHES ->
	   atomic { MAY(lv) && !running[lv] && !still -> running[lv] = 1; started++; mine = started }
	   write_one();
	   d_step { running[lv] = 0; NO_MORE FORGET flushes++; p = 0; pn = 0; st = 0; b = 0; off = 0; g = 0;
		wg = 0; nn = 0; dr = 0; bt = 0; ls = 0; turns = 0; mine = 0; wt = 0; won = 0;
		had = 0; had_lost = 0 }
#endif
#ifdef CLOSE
	/* As a flush. */
	:: closes < CLOSES ->
	   atomic { MAY(lv) && !running[lv] && !still -> running[lv] = 1; started++ }
	   close_block();
	   d_step { running[lv] = 0; closes++; p = 0; st = 0; g = 0; wg = 0; wt = 0 }
#endif
	:: i >= n && ALL_FLUSHED && ALL_CLOSED -> break
	od;
	finished++
}

#include "reader.pml"

#ifdef LOOK
#define RUN_LOOKER ; run Looker()
#else
#define RUN_LOOKER
#endif

init {
	byte i, g;
	short there;
	d_step {
		do
		:: i < N ->
		   g = SLOTS - 1 - i;
		   slot_gen[g % N] = g; slot_block[g % N] = i; slot_taken[g % N] = 1; i++
		:: else -> break
		od;
		i = 0; g = 0
	}
	atomic { run Writer(0, R0); run Writer(1, R1); run Writer(2, R2); run Reader() RUN_LOOKER }
	finished == 4;
	d_step {
		assert(nest == 0 && pos == committed && pos_n == committed_n);
		assert(counted + pos_n == SEQ(pos, pos_n));
		assert(counted + pos_n + lost + lost_off == R0 + R1 + R2);
		assert(OVERWRITE || resized || overwritten == 0);
		/* The records still there, block by block: in the reader's hand, and in the slots. */
		there = (held -> records_of[spare] - rd_n : 0);
		g = rd_block + held;
		do
		:: g <= BLOCK_AT(pos) && slot_gen[g % nr] != g -> g = OLDEST(slot_gen[g % nr])
		:: else -> break
		od;
		if
		:: !held && g == rd_block -> there = there - rd_n
		:: !held && g != rd_block -> reread = reread + rd_n
		:: else
		fi;
		do
		:: g < BLOCK_AT(pos) ->
		   assert(slot_gen[g % nr] == g && (!slot_taken[g % nr] || resized));
		   there = there + (slot_taken[g % nr] -> 0 : records_of[slot_block[g % nr]]); g++
		:: g == BLOCK_AT(pos) -> there = there + pos_n; g++
		:: g > BLOCK_AT(pos) -> break
		od;
		assert(counted + pos_n == read + (overwritten - reread) + there)
	}
}
