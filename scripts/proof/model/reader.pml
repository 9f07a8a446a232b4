/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reader, and control: part of ring.pml. They are one process, since the ring's owner
 * serialises them by a mutex. The mutex is free between two operations, so any other one may
 * come next: a peek between a take and its advance.
 */
byte rd_block = SLOTS, rd_off, rd_n;	/* where the taking reader is */
bit held;				/* the block rd_block is the spare */
byte read, reread, told;
bit resized;

#define NOTHING 0
#define A_COPY 1
#define A_BLOCK 2

#define FIRST(off) (off > 1 -> off : 1)
#define SLOT(at) g = slot_gen[(at) % nr]; b = slot_block[(at) % nr]; t = slot_taken[(at) % nr]
#define SLOT_IS_STILL(at) (slot_gen[(at) % nr] == g && slot_block[(at) % nr] == b && slot_taken[(at) % nr] == t)
#define OLDEST(gen) ((gen) - (nr - 1))

/*
 * Check the records from k to e, and count them in m. The times grow from record to
 * record, so none can come twice.
 */
#define CHECK_RECORDS(UNIT, last)						\
	m = 0; assert(k >= e || UNIT(k) >= bt);					\
	do									\
	:: k < e && m < want ->							\
	   assert(UNIT(k) > last);						\
	   assert(UNIT(k) != flying[0] && UNIT(k) != flying[1] && UNIT(k) != flying[2]); \
	   last = UNIT(k);							\
	   m++; k++;								\
	   if									\
	   :: k < e && UNIT(k) == last -> k++					\
	   :: else								\
	   fi									\
	:: else -> break							\
	od

#define COPY_UNIT(k) copy[k]
#define LOOK_UNIT(k) look[k]
#define HELD_UNIT(k) data[spare * S + k]
#define LOOK_AT_UNIT(k) data[b * S + k]

/* The reader's words about the block in its hand, as a dump reads them. */
#ifdef LOOK
byte noted_spare = N;
bit noted_held;
#define NOTE_HAND(b)							\
	if								\
	:: noted_spare = b; noted_held = 1				\
	:: noted_held = 1; noted_spare = b				\
	fi
#define DROP_HAND if :: noted_held && !held -> noted_held = 0 :: else fi
#else
#define NOTE_HAND(b) skip
#define DROP_HAND skip
#endif

inline catch_up() {
	c = committed;
	do
	:: held || rd_block == BLOCK_AT(c) + 1 -> break
	:: else ->
	   d_step {
		g = slot_gen[rd_block % nr];
		ok = (g == rd_block);
		if
		:: ok
		:: else ->
		   reread = reread + rd_n;
		   rd_block = OLDEST(g); rd_off = 0; rd_n = 0; fresh = 0
		fi
	   };
	   if :: ok -> break :: else fi
	od;
#if !OVERWRITE
	consumed = (rd_block + held) * S;
#endif
	g = 0
}

/* Copy the units k to e of block b, one by one. */
#define COPY_BLOCK(UNIT)						\
	i = k;								\
	do								\
	:: i < e -> d_step { UNIT(i) = data[b * S + i]; i++ }		\
	:: else -> break						\
	od;								\
	i = 0

/* What the last view told. */
inline tell() {
	if :: ov > told -> told = ov :: else fi;
	assert(told <= before[rd_block] + rd_n - read);
	assert(ls >= last_lost && ls <= lost_by[rd_block]);
	last_lost = ls
}

inline take() {
	if
	:: held ->			/* only part of it was read */
	   d_step {
		view = A_BLOCK; view_from = FIRST(rd_off); view_end = end_of[spare];
		view_n = records_of[spare] - rd_n; view_begin = begin_of[spare]
	   };
	   goto taken
	:: else
	fi;
	catch_up();
	d_step { c = committed; cn = committed_n };
	ov = overwritten - reread;
	if
	:: c == rd_block * S + rd_off
	:: c != rd_block * S + rd_off && BLOCK_AT(c) == rd_block ->
	   /* copy from the open block, then check that it is still there */
	   d_step { SLOT(rd_block) };
	   if
	   :: g == rd_block ->
	      k = FIRST(rd_off); e = c - rd_block * S;
	      COPY_BLOCK(COPY_UNIT);
	      d_step { bt = begin_of[b]; ls = lost_of[b] };
	      d_step {
		ok = SLOT_IS_STILL(rd_block);
		if
		:: ok -> view = A_COPY; view_from = k; view_end = e; view_n = cn - rd_n; view_begin = bt; fresh = 1; tell()
		:: else -> i = 0; do :: i < S -> copy[i] = 0; i++ :: else -> break od
		fi
	      }
	   :: else
	   fi
	:: else ->
	   /* take the full block */
	   d_step { SLOT(rd_block) };
	   if
	   :: g == rd_block ->
	      /* Resize may leave a free slot of that number, if its block is gone. */
	      assert(!t || (resized && end_of[b] == 0));
	      d_step {
		ok = SLOT_IS_STILL(rd_block);
		if
		:: ok -> slot_block[rd_block % nr] = spare; slot_taken[rd_block % nr] = 1
		:: else
		fi;
		if :: ok -> spare = b :: else fi
	      };
	      if
	      :: ok ->
		 NOTE_HAND(b);
#if !OVERWRITE
		 consumed = (rd_block + 1) * S;
#endif
		 if
		 :: FIRST(rd_off) >= end_of[b] -> d_step { rd_block++; rd_off = 0; rd_n = 0; fresh = 0 }; DROP_HAND; goto taken
		 :: else
		 fi;
		 d_step {
			held = 1; view = A_BLOCK; view_from = FIRST(rd_off); view_end = end_of[b]; view_n = records_of[b] - rd_n;
			view_begin = begin_of[b]; ls = lost_of[b]; tell()
		 }
	      :: else
	      fi
	   :: else
	   fi
	fi;
taken:
	skip
}

/* The view is read: all of it, or only the first record. */
inline advance() {
	want = 255;
#ifdef PART
	if :: want = 1 :: skip fi;
#endif
	d_step {
		k = view_from; e = view_end; bt = view_begin;
		if
		:: view == A_COPY ->
		   CHECK_RECORDS(COPY_UNIT, last_time);
		   i = 0; do :: i < S -> copy[i] = 0; i++ :: else -> break od
		:: view == A_BLOCK -> CHECK_RECORDS(HELD_UNIT, last_time)
		fi;
		assert(m == (view_n < want -> view_n : want));
		read = read + m;
		if
		:: view == A_COPY && !fresh -> reread = reread + m	/* it was dropped since */
		:: else -> rd_n = rd_n + m; rd_off = k
		fi;
		if
		:: held && k >= e -> held = 0; rd_block++; rd_off = 0; rd_n = 0; fresh = 0
		:: else
		fi;
		view = NOTHING; view_end = 0; view_n = 0; view_begin = 0; view_from = 0
	};
	DROP_HAND
}

/* Count in cnt the records from block "first" on; if it is dropped meanwhile, from the oldest. */
inline count_records(first, end, end_n) {
	cnt = 0; at = first;
	do
	:: at > BLOCK_AT(end) -> break
	:: else ->
	   hand = held && at == rd_block;
	   d_step { SLOT(at) };
	   if
	   :: at == BLOCK_AT(end) -> n = end_n
	   :: at != BLOCK_AT(end) && hand -> n = records_of[spare]
	   :: else -> n = records_of[b]
	   fi;
	   d_step {
		ok = hand || (g == at && SLOT_IS_STILL(at));
		if
		:: ok && (hand || !t) -> cnt = cnt + n; at++
		:: ok && !hand && t -> at++
		:: else
		fi
	   };
	   if
	   :: ok -> skip
	   :: else -> d_step { first = OLDEST(slot_gen[at % nr]); at = first; cnt = 0 }
	   fi
	od;
	at = 0
}

/* What a cursor at block k, with n records behind it, has before it. */
#define LEFT_FROM(k, n) ((k) > BLOCK_AT(cur_end) -> 0 : SEQ(cur_end, cur_end_n) - before[k] - (n))

inline peek_begin() {
	catch_up();
	d_step { cur_end = committed; cur_end_n = committed_n };
	m = rd_block + held;
	count_records(m, cur_end, cur_end_n);
	d_step {
		cur = rd_block; cur_off = rd_off; cur_n = rd_n;
		if
		:: held -> left = cnt + records_of[spare] - rd_n
		:: !held && m == rd_block -> left = cnt - rd_n
		:: else -> cur = m; cur_off = 0; cur_n = 0; left = cnt
		fi;
		/* Behind a block in hand some may be gone already. */
		assert(left <= LEFT_FROM(cur, cur_n) && (held || left == LEFT_FROM(cur, cur_n)));
		peeking = 1; last_peeked = 0
	}
}

/* Go on at block m, and count what is gone before it as missed. */
inline peek_skip() {
	count_records(m, cur_end, cur_end_n);
	d_step {
		cur = m; cur_off = 0; cur_n = 0;
		assert(cnt <= left);
		left = cnt
	}
}

inline peek_next() {
	do
	:: cur > BLOCK_AT(cur_end) ->
	   d_step { assert(left == 0); peeking = 0; cur = 0; cur_end = 0; cur_end_n = 0; last_peeked = 0 };
	   break
	:: else ->
	   h = held && cur == rd_block;
	   d_step { SLOT(cur) };
	   if
	   :: !h && g != cur -> m = OLDEST(g); peek_skip()
	   :: !h && g == cur && t -> m = cur + 1; peek_skip()
	   :: else ->
	      b = (h -> spare : b);
	      e = (cur == BLOCK_AT(cur_end) -> cur_end - cur * S : end_of[b]);
	      n = (cur == BLOCK_AT(cur_end) -> cur_end_n : records_of[b]);
	      k = FIRST(cur_off);
	      e = (e < k || e > S -> k : e);
	      COPY_BLOCK(LOOK_UNIT);
	      bt = begin_of[b];
	      d_step {
		ok = h || SLOT_IS_STILL(cur);
		want = 255;
		if
		:: ok ->
		   CHECK_RECORDS(LOOK_UNIT, last_peeked);
		   assert(m == n - cur_n && m <= left);
		   left = left - m; cur++; cur_off = 0; cur_n = 0
		:: else -> m = 0
		fi;
		i = 0; do :: i < S -> look[i] = 0; i++ :: else -> break od
	      };
	      if :: m > 0 -> break :: else fi
	   fi
	od
}

/* Are the figures those of one moment? */
inline stats() {
	catch_up();
	do
	:: d_step { c = committed; cn = committed_n };
	   n = counted;
	   if :: BLOCK_AT(pos) == BLOCK_AT(c) -> break :: else fi
	od;
	assert(n + cn == SEQ(c, cn));
	m = rd_block + held;
	count_records(m, c, cn);
	d_step {
		if
		:: m > BLOCK_AT(c) -> assert(cnt == 0)
		:: else -> assert(cnt == SEQ(c, cn) - before[m])
		fi
	}
}

#ifdef RESIZE
/* Off, wait for the writers in flight, lay the slots out anew, on. */
inline resize() {
	on = 0;
	atomic { !running[0] && !running[1] && !running[2] -> still = 1 }	/* synchronize_rcu() */
	catch_up();
	d_step {
		e = BLOCK_AT(pos) + 1;
		k = rd_block + held;
		k = (e > k + nr -> e - nr : k);	/* what catch_up() left, for it has one in hand */
		do
		:: e > k + RESIZE ->
		   overwritten = overwritten + records_of[slot_block[k % nr]];
		   k++;
		   if
		   :: held
		   :: else -> reread = reread + rd_n; rd_block = k; rd_off = 0; rd_n = 0
		   fi
		:: else -> break
		od;
		m = k;
		used[spare] = 1;
		do
		:: k < e ->
		   new_gen[k % RESIZE] = k; new_block[k % RESIZE] = slot_block[k % nr]; new_taken[k % RESIZE] = 0;
		   used[slot_block[k % nr]] = 1; k++
		:: else -> break
		od;
		i = 0;
		do
		:: k < m + RESIZE ->
		   do :: used[i] -> i++ :: else -> break od;
		   new_gen[k % RESIZE] = k - RESIZE; new_block[k % RESIZE] = i; new_taken[k % RESIZE] = 1;
		   used[i] = 1; k++
		:: else -> break
		od;
		i = 0;
		do
		:: i < SLOTS ->
		   slot_gen[i] = new_gen[i]; slot_block[i] = new_block[i]; slot_taken[i] = new_taken[i];
		   new_gen[i] = 0; new_block[i] = 0; new_taken[i] = 0; i++
		:: else -> break
		od;
		i = 0; do :: i < NB -> used[i] = 0; i++ :: else -> break od;
		nr = RESIZE;
		consumed = m * S;
		resized = 1;
		/* The views are void; the unread records are not. */
		view = NOTHING; view_from = 0; view_end = 0; view_n = 0; view_begin = 0;
		i = 0; do :: i < S -> copy[i] = 0; i++ :: else -> break od
	};
	still = 0;
	on = 1
}
#endif

#ifdef LOOK
/*
 * A kernel that dies, with all other CPUs stopped at any place: it looks for the records that
 * were committed and not read. The look changes nothing, so it is a claim about each state.
 * It cannot see the block that the reader was just taking.
 */
proctype Looker() {
	byte b, k, e, g, m, n, bt, want, last, seen, first;
	bit t, ok;
	do
	:: d_step {
		want = 255; last = 0; seen = 0; first = 255;
		g = rd_block;
		do
		:: g > BLOCK_AT(committed) -> break
		:: else ->
		   b = slot_block[g % nr]; t = slot_taken[g % nr];
		   ok = (slot_gen[g % nr] == g && (!t || (noted_held && g == rd_block && noted_spare != b)));
		   b = (t -> noted_spare : b);
		   if
		   :: ok ->
		      k = (g == rd_block -> FIRST(rd_off) : 1);
		      e = (g == BLOCK_AT(committed) -> committed - g * S : end_of[b]);
		      n = (g == BLOCK_AT(committed) -> committed_n : records_of[b]);
		      bt = begin_of[b];
		      CHECK_RECORDS(LOOK_AT_UNIT, last);
		      assert(m == n - (g == rd_block -> rd_n : 0));
		      seen = seen + m;
		      first = (first == 255 -> g : first)
		   :: else
		      /* Gone, or just being taken; a taken block is behind rd_block. */
		      assert(first == 255);
		      assert(slot_gen[g % nr] != g || !noted_held || noted_spare == slot_block[g % nr] || resized)
		   fi;
		   g++
		od;
		assert(first == 255 || seen == SEQ(committed, committed_n) - before[first] - (first == rd_block -> rd_n : 0));
		b = 0; k = 0; e = 0; g = 0; m = 0; n = 0; bt = 0; want = 0; last = 0; seen = 0; first = 0; t = 0; ok = 0
	   }
	:: finished == 4 -> break
	od
}
#endif

proctype Reader() {
	byte b, k, e, c, cn, g, m, n, i, bt, ls, want, last_time, last_lost;
	byte view, view_from, view_end, view_n, view_begin;
	byte copy[S];
	bit t, ok, fresh;
	short ov;
#if defined(PEEK) || defined(STATS)
	byte at, cnt;
	bit hand;
#endif
#ifdef PEEK
	byte look[S];
	byte cur, cur_off, cur_n, cur_end, cur_end_n, left, last_peeked;
	bit h, peeking;
#endif
#ifdef RESIZE
	byte new_gen[SLOTS], new_block[SLOTS];
	bit new_taken[SLOTS], used[NB];
#endif
	do
	:: d_step {
		b = 0; k = 0; e = 0; c = 0; cn = 0; g = 0; m = 0; n = 0; i = 0; bt = 0; ls = 0; want = 255;
		t = 0; ok = 0; ov = 0
#if defined(PEEK) || defined(STATS)
		; at = 0; cnt = 0; hand = 0
#endif
#ifdef PEEK
		; h = 0
#endif
	   };
	   if
#ifndef NOBODY_READS
	   :: view == NOTHING -> take()
	   :: view != NOTHING -> advance()
#endif
#ifdef PEEK
	   :: !peeking -> peek_begin()
	   :: peeking -> peek_next()
#endif
#ifdef STATS
	   :: stats()
#endif
#ifdef RESIZE
	   :: !resized -> resize()
#endif
	   :: true -> break			/* or does not care to go on */
	   fi
	od;
	finished++
}
