/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Etch's ring buffer as kernel/etch/ring.c and ring_read.c do it, for SPIN.
 *
 * One CPU whose writers nest (task 0 < interrupt 1 < NMI 2: a level runs only while
 * none above it is in progress) and the taking reader on another. Each STEP is one
 * access to shared memory; the order of accesses is sequentially consistent, so the
 * barriers are not tried here. A block is S units: one of header, then records of one
 * or two units, so that both an exact fill and an unused end occur. A record's
 * first unit is its number.
 *
 * What is claimed, by assertions: what the reader gets is whole, in order of time, not
 * before its block's begin time, and comes once; nobody writes to a block in the reader's hand; the
 * records counted in a block are those in it; and in the end
 *
 *	written = read + overwritten + still there
 *
 * for each way that the writers and the reader can take turns. Compiling with one of
 * the BUG_ macros takes out one rule; check.sh shows that each is missed.
 *
 *	spin -a -DOVERWRITE=1 -DS=3 -DR0=3 -DR1=1 -DR2=0 ring.pml
 *	gcc -O2 -DSAFETY -DCOLLAPSE -DMEMLIM=6000 -o pan pan.c && ./pan -m200000
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
#define NB (N + 1)		/* blocks: the slots' and the reader's spare */
#define CHANGING 255
#define BLOCK_AT(p) (((p) - 1) / S)

/* Two halves of one word are changed, or read, in one step. */
byte pos = N * S, pos_n;		/* bytes and count */
byte committed = N * S, committed_n;
byte nest, consumed = N * S;
byte slot_gen[N], slot_block[N];	/* and slot_taken */
bit slot_taken[N];
byte pair_start, pair_block;		/* where the records of the current block start */

byte end_of[NB], records_of[NB], begin_of[NB];	/* the descriptors */
byte data[NB * S], stamp[NB * S];

byte clock = 1, next_id = 1;
byte counted, overwritten, lost;	/* the ring's figures */
byte written;				/* the truth */
byte finished;
bit running[3], seen[16];

/* The reader's: global, so that writers and the end can look. */
byte rd_block = N, rd_off, rd_n, read, reread, spare = N;

#define MAY(l) ((l == 2) || (l == 1 && !running[2]) || (l == 0 && !running[1] && !running[2]))
#define STEP(x) atomic { MAY(lv) -> x }
#define STEP_IF(c, x) atomic { MAY(lv) && (c) -> x }

inline refresh_pair(b, g) {
	STEP(st = pair_start);
	if
#ifdef BUG_CHANGE_A_CHANGING_PAIR
	:: st != (g) * S + 1 ->
#else
	:: st != CHANGING && st != (g) * S + 1 ->
#endif
#ifndef BUG_DO_NOT_INVALIDATE
	   STEP(pair_start = CHANGING);
#endif
	   STEP(pair_block = b); STEP(pair_start = (g) * S + 1)
	:: else
	fi
}

/* Try to move pos from p, pn. */
#define CAS_POS(to, n) atomic { MAY(lv) && pos == p && pos_n == pn -> pos = to; pos_n = n }
#define POS_MOVED STEP_IF(pos != p || pos_n != pn, skip)

inline commit() {
	if
	:: STEP_IF(nest == 1, skip);
	   do
	   :: STEP(cc = pos; cn = pos_n); STEP(committed = cc; committed_n = cn); STEP(nest = 0);
#ifdef BUG_NO_SECOND_LOOK
	      break
#else
	      if
	      :: STEP_IF(pos == cc && pos_n == cn, skip); break
	      :: STEP_IF(pos != cc || pos_n != cn, nest = 1)
	      fi
#endif
	   od
	:: STEP_IF(nest > 1, nest--)
	fi
}

inline write_one() {
	ok = 0;
	STEP(nn = nest + 1);
again:
	STEP(p = pos; pn = pos_n);
	STEP(st = pair_start);
	if
	:: (st == CHANGING || p < st || p - st + ln > S - 1) -> goto slow
	:: else
	fi;
	STEP(b = pair_block);
	off = p - st + 1;
	STEP(nest = nn);
	STEP(ts = clock; clock++);
	if
	:: CAS_POS(p + ln, pn + 1); goto store
	:: POS_MOVED; goto again
	fi;
slow:
	STEP(nest = nn);
more:
	STEP(p = pos; pn = pos_n);
	g = BLOCK_AT(p); off = p - g * S;
	if
	:: off + ln <= S ->
	   STEP(b = slot_block[g % N]; wg = slot_gen[g % N]);
	   if :: wg != g -> goto more :: else fi;
	   refresh_pair(b, g);
	   STEP(ts = clock; clock++);
	   if
	   :: CAS_POS(p + ln, pn + 1); goto store
	   :: POS_MOVED; goto more
	   fi
	:: else
	fi;
	g++;
	/* claim */
	if
	:: OVERWRITE == 0 ->
	   STEP(dr = consumed);
	   if :: (g + 1) * S > dr + N * S -> goto out :: else fi
	:: else
	fi;
#ifndef BUG_CLAIM_UNCOMMITTED
	STEP(dr = committed);
#ifdef BUG_CLAIM_WHAT_IS_JUST_COMMITTED
	if :: (g + 1) * S > dr + N * S -> goto out :: else fi;
#else
	if :: (g + 1) * S >= dr + N * S -> goto out :: else fi;
#endif
#endif
	STEP(wg = slot_gen[g % N]; b = slot_block[g % N]; wt = slot_taken[g % N]);
	if
	:: wg < g ->
	   STEP(bt = clock);
	   STEP(dr = (wt -> 0 : records_of[b]));
	   if
	   :: atomic { MAY(lv) && slot_gen[g % N] == wg && slot_block[g % N] == b && slot_taken[g % N] == wt ->
		slot_gen[g % N] = g; slot_taken[g % N] = 0 }
	   :: STEP_IF(!(slot_gen[g % N] == wg && slot_block[g % N] == b && slot_taken[g % N] == wt), skip);
	      goto more
	   fi;
	   STEP(begin_of[b] = bt);
	   STEP(overwritten = overwritten + dr)
	:: else
	fi;
	/* switch */
	STEP(wg = slot_gen[g % N]; b = slot_block[g % N]);
	if :: wg != g -> goto more :: else fi;
	refresh_pair(b, g);
	if
	:: CAS_POS(g * S + 1, 0)		/* behind the header */
	:: POS_MOVED; goto more
	fi;
	STEP(b = slot_block[(g - 1) % N]);
	STEP(end_of[b] = p - (g - 1) * S);
	STEP(records_of[b] = pn);
	STEP(counted = counted + pn);
	goto more;
store:
	STEP(assert(b != spare); data[b * S + off] = 0);
	if :: ln == 2 -> STEP(data[b * S + off + 1] = id) :: else fi;
	STEP(assert(b != spare); data[b * S + off] = id; stamp[b * S + off] = ts);
	ok = 1;
out:
	commit();
	if :: ok -> atomic { MAY(lv) -> written++ } :: else -> atomic { MAY(lv) -> lost++ } fi
}

proctype Writer(byte lv; byte n) {
	byte p, pn, st, b, off, ts, g, cc, cn, wg, i, ln, nn, dr, bt, id;
	bit ok, wt;
	do
	:: i < n ->
	   atomic { MAY(lv) && !running[lv] -> running[lv] = 1; id = next_id; next_id++ }
	   ln = 1 + ((i + lv) & 1);
	   write_one();
	   atomic { running[lv] = 0; i++; p = 0; pn = 0; st = 0; b = 0; off = 0; ts = 0; g = 0; cc = 0;
		cn = 0; wg = 0; ln = 0; nn = 0; dr = 0; bt = 0; id = 0; wt = 0; ok = 0 }
	:: i >= n -> break
	od;
	finished++
}

/* Check the records from k to e, of a block begun at bt, and count them in m. */
#define CHECK_RECORDS(ID, STAMP)						\
	m = 0; prev = bt;							\
	do									\
	:: k < e ->								\
	   assert(ID(k) != 0);							\
	   assert(STAMP(k) >= prev && STAMP(k) > last_stamp);			\
	   prev = STAMP(k);							\
	   last_stamp = prev;							\
	   assert(!seen[ID(k)]);						\
	   seen[ID(k)] = 1;							\
	   m++;									\
	   if									\
	   :: k + 1 < e && ID(k + 1) == ID(k) -> k = k + 2			\
	   :: else -> k++							\
	   fi									\
	:: else -> break							\
	od

#define COPIED_ID(k)	copy[k]
#define COPIED_STAMP(k)	copy_stamp[k]
#define TAKEN_ID(k)	data[b * S + k]
#define TAKEN_STAMP(k)	stamp[b * S + k]
#define FIRST(off) (off > 1 -> off : 1)

proctype Reader() {
	byte b, k, e, c, cn, g, m, prev, bt, last_stamp;
	byte copy[S], copy_stamp[S];
	bit t;
	do
	:: /* catch up */
	   c = committed;
	   do
	   :: rd_block == BLOCK_AT(c) + 1 -> break
	   :: rd_block != BLOCK_AT(c) + 1 ->
	      atomic {
		g = slot_gen[rd_block % N];
		if
		:: g != rd_block ->
#ifndef BUG_FORGET_WHAT_WAS_COPIED
		   reread = reread + rd_n;
#endif
		   rd_block = g - (N - 1); rd_off = 0; rd_n = 0
		:: else -> g = 0; break
		fi
	      }
	   od;
	   g = 0;
	   consumed = rd_block * S;
	   atomic { c = committed; cn = committed_n }
	   if
	   :: c == rd_block * S + rd_off ->
	      if :: finished == 3 -> break :: finished < 3 fi
	   :: c != rd_block * S + rd_off && BLOCK_AT(c) == rd_block ->
	      /* copy from the open block, then check that it is still there */
	      atomic { g = slot_gen[rd_block % N]; b = slot_block[rd_block % N] }
	      if
	      :: g == rd_block ->
		 k = FIRST(rd_off); e = c - rd_block * S;
		 bt = begin_of[b];
		 do
		 :: k < e -> atomic { copy[k] = data[b * S + k]; copy_stamp[k] = stamp[b * S + k]; k++ }
		 :: k >= e -> break
		 od;
		 atomic {
			if
#ifdef BUG_TRUST_THE_COPY
			:: true ->
#else
			:: slot_gen[rd_block % N] == rd_block && slot_block[rd_block % N] == b ->
#endif
			   k = FIRST(rd_off);
			   CHECK_RECORDS(COPIED_ID, COPIED_STAMP);
			   assert(m == cn - rd_n);
			   read = read + m; rd_n = cn; rd_off = e
			:: else
			fi;
			k = 0; do :: k < S -> copy[k] = 0; copy_stamp[k] = 0; k++ :: else -> break od
		 }
	      :: else
	      fi
	   :: else ->
	      /* take the full block */
	      atomic { g = slot_gen[rd_block % N]; b = slot_block[rd_block % N]; t = slot_taken[rd_block % N] }
	      if
	      :: g == rd_block ->
		 assert(!t);
		 if
		 :: atomic { slot_gen[rd_block % N] == rd_block && slot_block[rd_block % N] == b ->
			slot_block[rd_block % N] = spare; slot_taken[rd_block % N] = 1; spare = b }
		    consumed = (rd_block + 1) * S;
		    atomic {
			k = FIRST(rd_off); e = end_of[b]; bt = begin_of[b];
			CHECK_RECORDS(TAKEN_ID, TAKEN_STAMP);
			assert(m == records_of[b] - rd_n);
			read = read + m; rd_block++; rd_off = 0; rd_n = 0
		    }
		 :: atomic { !(slot_gen[rd_block % N] == rd_block && slot_block[rd_block % N] == b) -> skip }
		 fi
	      :: else
	      fi
	   fi;
	   atomic { b = 0; k = 0; e = 0; c = 0; cn = 0; g = 0; m = 0; prev = 0; bt = 0; t = 0 }
	:: true -> break			/* or does not care to go on */
	od;
	finished++
}

init {
	byte i, there, g;
	atomic {
		do :: i < N -> slot_gen[i] = i; slot_block[i] = i; slot_taken[i] = 1; i++ :: else -> break od;
		run Writer(0, R0); run Writer(1, R1); run Writer(2, R2); run Reader()
	}
	finished == 4;
	atomic {
		assert(nest == 0 && pos == committed && pos_n == committed_n);
		assert(written + lost == R0 + R1 + R2);
		assert(written == counted + pos_n);
		/* The reader catches up, then counts block by block. */
		do
		:: rd_block <= BLOCK_AT(pos) && slot_gen[rd_block % N] != rd_block ->
#ifndef BUG_FORGET_WHAT_WAS_COPIED
		   reread = reread + rd_n;
#endif
		   rd_block = slot_gen[rd_block % N] - (N - 1); rd_n = 0
		:: else -> break
		od;
		g = rd_block;
		do
		:: g < BLOCK_AT(pos) ->
		   assert(slot_gen[g % N] == g && !slot_taken[g % N]);
		   there = there + records_of[slot_block[g % N]]; g++
		:: g == BLOCK_AT(pos) -> there = there + pos_n; g++
		:: g > BLOCK_AT(pos) -> break
		od;
		assert(written == read + (overwritten - reread) + (there - rd_n))
	}
}
