// SPDX-License-Identifier: GPL-2.0
/*
 * The shared buffer: against a reference written from its definition, in any
 * history of packets; its dynamic threshold against Choudhury and Hahne's
 * formula; and the steps of several processors in all orders.
 */
#include "unit.h"
#include "bfc_pool.c"	/* its steps are static */

#define CELLS		6
#define PACKETS		4000U	/* held at once by the random histories */
#define HISTORY		200000U

static u64 below(u64 *seed, u64 n)
{
	return unit_random(seed) % n;
}

/* ---- the reference: three numbers a cell ---- */

struct ref_cell {
	u64 reserve;
	u64 shared;
	u64 headroom;
};

static u64 ref_sum(const struct ref_cell *c, unsigned int n)
{
	u64 sum = 0;

	while (n--)
		sum += c[n].shared;
	return sum;
}

static enum bfc_pool_where ref_charge(struct ref_cell *cells, unsigned int i,
				      const struct bfc_cell_cfg *cfg, u64 size,
				      u64 len)
{
	u64 sum = ref_sum(cells, CELLS), free = sum < size ? size - sum : 0;
	struct ref_cell *c = &cells[i];
	u64 to_reserve = cfg->reserve - c->reserve, to_shared;

	if (to_reserve > len)
		to_reserve = len;
	to_shared = len - to_reserve;
	if (!to_shared) {
		c->reserve += len;
		return BFC_POOL_RESERVE;
	}
	if (to_shared <= free && c->shared + to_shared <= cfg->limit &&
	    (!cfg->alpha ||
	     c->shared + to_shared <= free * cfg->alpha / 1000000)) {
		c->reserve += to_reserve;
		c->shared += to_shared;
		return BFC_POOL_SHARED;
	}
	if (c->headroom + len <= cfg->headroom) {
		c->headroom += len;
		return BFC_POOL_HEADROOM;
	}
	return BFC_POOL_REFUSED;
}

/* Byte by byte, in spirit: headroom, then pool, then reserve. */
static enum bfc_pool_where ref_uncharge(struct ref_cell *c, u64 len)
{
	u64 *from[] = { &c->headroom, &c->shared, &c->reserve };
	static const enum bfc_pool_where name[] = {
		BFC_POOL_HEADROOM, BFC_POOL_SHARED, BFC_POOL_RESERVE,
	};
	enum bfc_pool_where where = BFC_POOL_HEADROOM;
	bool any = false;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		u64 part = *from[i] < len ? *from[i] : len;

		*from[i] -= part;
		len -= part;
		/* the pool's counter changed, or it was all the reserve's */
		if (part && !(any && i == 2 && where == BFC_POOL_SHARED))
			where = name[i];
		any |= part;
	}
	return len ? BFC_POOL_REFUSED : where;
}

static bool same(const struct bfc_cell *cell, const struct bfc_cell_cfg *cfg,
		 const struct ref_cell *c, u64 word)
{
	return (u64)atomic64_read(&cell->word) == word &&
	       bfc_cell_headroom(word) == c->headroom &&
	       bfc_cell_base(word) == c->reserve + c->shared &&
	       bfc_cell_shared(word, cfg->reserve) == c->shared &&
	       bfc_cell_held(word) == c->reserve + c->shared + c->headroom;
}

static struct {
	u8 cell;
	u32 len;
} held[PACKETS];

static void random_cfg(u64 *seed, struct bfc_cell_cfg *cfg)
{
	cfg->reserve = below(seed, 4) ? below(seed, 20000) : 0;
	cfg->limit = below(seed, 2) ? below(seed, 200000) : BFC_LIMIT_NONE;
	cfg->alpha = below(seed, 3) ? 1 + (below(seed, BFC_ALPHA_MAX) >>
					   below(seed, 20)) : 0;
	cfg->headroom = below(seed, 2) ? below(seed, 30000) : 0;
}

/* Packets of all sizes come and go, in any order; the size changes as well. */
static void test_history(void)
{
	struct bfc_cell_cfg cfg[CELLS];
	struct ref_cell ref[CELLS] = {};
	struct bfc_cell cell[CELLS];
	u64 seed = 31, word, seen[4] = {};
	struct bfc_pool pool = {};
	unsigned int i, n = 0;

	for (i = 0; i < CELLS; i++) {
		atomic64_set(&cell[i].word, 0);
		random_cfg(&seed, &cfg[i]);
	}
	for (i = 0; i < HISTORY; i++) {
		enum bfc_pool_where got, want;
		unsigned int k;

		if (i % 5000 == 0)
			pool.size = below(&seed, 4) ? below(&seed, 1000000) :
				    below(&seed, 3000);
		if (n < PACKETS && below(&seed, 100) < (i / 20000 % 2 ? 40 : 60)) {
			u32 len = below(&seed, 20) ? 1 + below(&seed, 9000) :
				  below(&seed, 2) ? 0 : BFC_POOL_MAX;

			k = below(&seed, CELLS);
			got = bfc_pool_charge(&pool, &cell[k], &cfg[k], len,
					      &word);
			want = ref_charge(ref, k, &cfg[k], pool.size, len);
			seen[got]++;
			if (got != BFC_POOL_REFUSED) {
				held[n].cell = k;
				held[n++].len = len;
			}
		} else if (n) {
			unsigned int p = below(&seed, n);

			k = held[p].cell;
			got = bfc_pool_uncharge(&pool, &cell[k], &cfg[k],
						held[p].len, &word);
			want = ref_uncharge(&ref[k], held[p].len);
			held[p] = held[--n];
		} else {
			continue;
		}
		if (!CHECK(got == want, "step %u: %u, not %u", i, got, want) ||
		    !CHECK(same(&cell[k], &cfg[k], &ref[k], word),
			   "step %u: cell %u", i, k) ||
		    !CHECK((u64)atomic_long_read(&pool.shared) ==
			   ref_sum(ref, CELLS), "step %u", i))
			return;
	}
	while (n--)
		bfc_pool_uncharge(&pool, &cell[held[n].cell],
				  &cfg[held[n].cell], held[n].len, &word);
	for (i = 0; i < CELLS; i++)
		CHECK(!atomic64_read(&cell[i].word));
	CHECK(!atomic_long_read(&pool.shared));
	for (i = 0; i < 4; i++)
		CHECK(seen[i] > 2000, "where %u: %llu", i, seen[i]);
}

/* Reserve, pool and headroom of one cell, to the byte. */
static void test_edges(void)
{
	const struct bfc_cell_cfg cfg = {
		.reserve = 1000, .limit = 500, .headroom = 300,
	};
	static const struct {
		s32 len;	/* negative: out */
		enum bfc_pool_where where;
		u32 base, headroom, shared;
	} step[] = {
		{ 1000, BFC_POOL_RESERVE, 1000, 0, 0 },
		{ 501, BFC_POOL_REFUSED, 1000, 0, 0 },
		{ 300, BFC_POOL_SHARED, 1300, 0, 300 },
		{ 201, BFC_POOL_HEADROOM, 1300, 201, 300 },
		{ 200, BFC_POOL_SHARED, 1500, 201, 500 },
		{ 100, BFC_POOL_REFUSED, 1500, 201, 500 },
		{ 99, BFC_POOL_HEADROOM, 1500, 300, 500 },
		{ 1, BFC_POOL_REFUSED, 1500, 300, 500 },
		{ 0, BFC_POOL_RESERVE, 1500, 300, 500 },
		{ -300, BFC_POOL_HEADROOM, 1500, 0, 500 },
		{ 300, BFC_POOL_HEADROOM, 1500, 300, 500 },
		{ -301, BFC_POOL_SHARED, 1499, 0, 499 },
		{ -500, BFC_POOL_SHARED, 999, 0, 0 },
		{ 1, BFC_POOL_RESERVE, 1000, 0, 0 },
		{ 1, BFC_POOL_SHARED, 1001, 0, 1 },
		{ -1, BFC_POOL_SHARED, 1000, 0, 0 },
		{ -1, BFC_POOL_RESERVE, 999, 0, 0 },
		{ -999, BFC_POOL_RESERVE, 0, 0, 0 },
		{ -1, BFC_POOL_REFUSED, 0, 0, 0 },
	};
	struct bfc_pool pool = { .size = 800 };
	struct bfc_cell cell = {};
	unsigned int i;
	u64 word;

	for (i = 0; i < UNIT_SIZE(step); i++) {
		enum bfc_pool_where where = step[i].len < 0 ?
			bfc_pool_uncharge(&pool, &cell, &cfg, -step[i].len,
					  &word) :
			bfc_pool_charge(&pool, &cell, &cfg, step[i].len, &word);

		CHECK(where == step[i].where, "step %u: %u", i, where);
		CHECK(bfc_cell_base(word) == step[i].base &&
		      bfc_cell_headroom(word) == step[i].headroom &&
		      bfc_cell_shared(word, cfg.reserve) == step[i].shared &&
		      (u32)atomic_long_read(&pool.shared) == step[i].shared,
		      "step %u: %llx", i, word);
	}
}

/* What comes when the headroom is full: pool beyond XOFF, up to a bound, and up to what is left
 * free.
 */
static void test_beyond(void)
{
	struct bfc_cell_cfg cfg = {
		.reserve = 10, .limit = 500, .headroom = 300, .beyond = 400,
	};
	struct bfc_pool pool = { .size = 10000 };
	struct bfc_cell a = {}, b = {};
	u64 word;

	CHECK(bfc_pool_charge(&pool, &a, &cfg, 510, &word) == BFC_POOL_SHARED);
	CHECK(bfc_pool_charge(&pool, &a, &cfg, 300, &word) == BFC_POOL_HEADROOM);
	CHECK(!bfc_pool_charge(&pool, &a, &cfg, 1, &word));
	CHECK(!bfc_pool_charge_beyond(&pool, &a, &cfg, 401, 0, &word), "over the bound");
	CHECK(!bfc_pool_charge_beyond(&pool, &a, &cfg, 101, 300, &word), "with another cell");
	CHECK(bfc_pool_charge_beyond(&pool, &a, &cfg, 100, 300, &word) == BFC_POOL_SHARED);
	CHECK(bfc_cell_shared(word, 10) == 600 && bfc_cell_headroom(word) == 300);
	/* The headroom is free again first, and is used first. */
	CHECK(bfc_pool_uncharge(&pool, &a, &cfg, 300, &word) == BFC_POOL_HEADROOM);
	CHECK(bfc_pool_charge(&pool, &a, &cfg, 300, &word) == BFC_POOL_HEADROOM);
	CHECK(bfc_pool_uncharge(&pool, &a, &cfg, 300, &word) == BFC_POOL_HEADROOM);
	/* It was freed since it was refused, so that the pool is not needed. */
	CHECK(bfc_pool_charge_beyond(&pool, &a, &cfg, 300, 400, &word) == BFC_POOL_HEADROOM);
	CHECK(bfc_pool_uncharge(&pool, &a, &cfg, 910, &word) == BFC_POOL_SHARED && !word);
	CHECK(!atomic_long_read(&pool.shared));
	CHECK(bfc_pool_charge_beyond(&pool, &a, &cfg, 10, 400, &word) == BFC_POOL_RESERVE);
	CHECK(bfc_pool_uncharge(&pool, &a, &cfg, 10, &word) == BFC_POOL_RESERVE);

	/* A port alone gets half of the pool, the next one half of the rest. */
	pool.size = 10010;
	cfg = (struct bfc_cell_cfg){ .limit = 2000, .beyond = BFC_POOL_MAX };
	CHECK(bfc_pool_charge(&pool, &a, &cfg, 2000, &word));
	while (bfc_pool_charge_beyond(&pool, &a, &cfg, 10, bfc_cell_held(word) - 2000, &word))
		;
	CHECK(bfc_cell_held(word) == 6010, "%u", bfc_cell_held(word));
	while (bfc_pool_charge_beyond(&pool, &b, &cfg, 10, bfc_cell_held(b.word.counter), &word))
		;
	CHECK(bfc_cell_held(word) == 2000, "%u", bfc_cell_held(word));
	/* What others may have of the rest is as ever. */
	atomic64_set(&b.word, 0);
	cfg = (struct bfc_cell_cfg){ .limit = BFC_LIMIT_NONE, .alpha = BFC_ALPHA_ONE };
	while (bfc_pool_charge(&pool, &b, &cfg, 10, &word))
		;
	CHECK(bfc_cell_held(word) == 1000, "%u", bfc_cell_held(word));
}

/* The pool itself is the limit, for packets that would go over it by a byte. */
static void test_full(void)
{
	const struct bfc_cell_cfg cfg = { .limit = BFC_LIMIT_NONE };
	struct bfc_pool pool = { .size = 3000 };
	struct bfc_cell a = {}, b = {};
	u64 word;

	CHECK(bfc_pool_charge(&pool, &a, &cfg, 2000, &word) == BFC_POOL_SHARED);
	CHECK(bfc_pool_charge(&pool, &b, &cfg, 1001, &word) ==
	      BFC_POOL_REFUSED);
	CHECK(word == 0);
	CHECK(bfc_pool_charge(&pool, &b, &cfg, 1000, &word) == BFC_POOL_SHARED);
	CHECK(bfc_pool_charge(&pool, &b, &cfg, 1, &word) == BFC_POOL_REFUSED);
	/* a smaller pool: what is there stays, nothing comes */
	pool.size = 100;
	CHECK(bfc_pool_charge(&pool, &b, &cfg, 1, &word) == BFC_POOL_REFUSED);
	CHECK(bfc_pool_uncharge(&pool, &a, &cfg, 2000, &word) ==
	      BFC_POOL_SHARED);
	CHECK(bfc_pool_charge(&pool, &b, &cfg, 1, &word) == BFC_POOL_REFUSED);
	CHECK(bfc_pool_uncharge(&pool, &b, &cfg, 1000, &word) ==
	      BFC_POOL_SHARED);
	CHECK(bfc_pool_charge(&pool, &b, &cfg, 100, &word) == BFC_POOL_SHARED);
	/* no packet is larger than any pool */
	CHECK(bfc_pool_charge(&pool, &a, &cfg, 0xffffffff, &word) ==
	      BFC_POOL_REFUSED);
	CHECK(bfc_pool_charge(&pool, &a, &cfg, BFC_POOL_MAX + 1, &word) ==
	      BFC_POOL_REFUSED);
	CHECK(bfc_pool_free(100, -5) == 100);
	CHECK(bfc_pool_free(100, 0) == 100);
	CHECK(bfc_pool_free(100, 99) == 1);
	CHECK(bfc_pool_free(100, 100) == 0);
	CHECK(bfc_pool_free(100, 101) == 0);
}

/* The largest numbers there are do not overflow into the other half. */
static void test_large(void)
{
	const struct bfc_cell_cfg cfg = {
		.reserve = BFC_POOL_MAX, .limit = BFC_LIMIT_NONE,
		.headroom = BFC_POOL_MAX, .alpha = BFC_ALPHA_MAX,
	};
	struct bfc_pool pool = { .size = BFC_POOL_MAX };
	struct bfc_cell cell = {};
	unsigned int i;
	u64 word;

	CHECK(bfc_pool_charge(&pool, &cell, &cfg, BFC_POOL_MAX, &word) ==
	      BFC_POOL_RESERVE);
	CHECK(bfc_pool_charge(&pool, &cell, &cfg, BFC_POOL_MAX, &word) ==
	      BFC_POOL_SHARED);
	CHECK(bfc_pool_charge(&pool, &cell, &cfg, BFC_POOL_MAX, &word) ==
	      BFC_POOL_HEADROOM);
	CHECK(bfc_pool_charge(&pool, &cell, &cfg, BFC_POOL_MAX, &word) ==
	      BFC_POOL_REFUSED);
	CHECK(bfc_cell_held(word) == 3U << 30);
	for (i = 0; i < 3; i++)
		CHECK(bfc_pool_uncharge(&pool, &cell, &cfg, BFC_POOL_MAX,
					&word));
	CHECK(!word && !atomic_long_read(&pool.shared));

	/* what is absurdly long does not wrap around into the reserve */
	CHECK(bfc_pool_charge(&pool, &cell, &cfg, 500, &word));
	CHECK(!bfc_pool_charge(&pool, &cell, &cfg, 0xffffffff, &word));
	CHECK(word == 500);
}

/* Headroom that is made smaller than what is in it: it has to drain first. */
static void test_less_headroom(void)
{
	struct bfc_cell_cfg cfg = { .headroom = 5000 };
	struct bfc_pool pool = {};
	struct bfc_cell cell = {};
	u64 word;

	CHECK(bfc_pool_charge(&pool, &cell, &cfg, 4000, &word) ==
	      BFC_POOL_HEADROOM);
	cfg.headroom = 3000;
	CHECK(!bfc_pool_charge(&pool, &cell, &cfg, 100, &word));
	CHECK(bfc_pool_uncharge(&pool, &cell, &cfg, 1001, &word) ==
	      BFC_POOL_HEADROOM);
	CHECK(!bfc_pool_charge(&pool, &cell, &cfg, 2, &word));
	CHECK(bfc_pool_charge(&pool, &cell, &cfg, 1, &word) ==
	      BFC_POOL_HEADROOM);
}

/* The steps that one processor takes, as digits; other words cost nothing. */
static unsigned int steps(struct bfc_pool *pool, struct bfc_cell *cell,
			  const struct bfc_cell_cfg *cfg, s32 len)
{
	struct bfc_pool_op op;
	unsigned int n = 0;

	bfc_pool_begin(&op, len < 0 ? -len : len, BFC_POOL_WITHIN);
	do {
		n = 10 * n + op.step;
	} while (len < 0 ? bfc_pool_uncharge_step(&op, pool, cell, cfg) :
		 bfc_pool_charge_step(&op, pool, cell, cfg));
	return n;
}

/* No operation writes to the pool, which all share, without need. */
static void test_steps(void)
{
	const struct bfc_cell_cfg cfg = {
		.reserve = 100, .limit = BFC_LIMIT_NONE, .headroom = 300,
	};
	struct bfc_pool pool = { .size = 1000 };
	struct bfc_cell cell = {};
	unsigned int n;

	CHECK(BFC_POOL_LOOK == 1 && BFC_POOL_ASK == 2 && BFC_POOL_TAKE == 3 &&
	      BFC_POOL_STORE == 5 && BFC_POOL_GIVE == 7);
	n = steps(&pool, &cell, &cfg, 100);
	CHECK(n == 15, "reserve: %u", n);
	n = steps(&pool, &cell, &cfg, 1000);
	CHECK(n == 1235, "pool: %u", n);
	n = steps(&pool, &cell, &cfg, 300);
	CHECK(n == 125, "headroom: %u", n);
	n = steps(&pool, &cell, &cfg, 300);
	CHECK(n == 12, "refused: %u", n);
	n = steps(&pool, &cell, &cfg, -300);
	CHECK(n == 15, "headroom: %u", n);
	n = steps(&pool, &cell, &cfg, -1000);
	CHECK(n == 157, "pool: %u", n);
	n = steps(&pool, &cell, &cfg, -100);
	CHECK(n == 15, "reserve: %u", n);
}

/*
 * Choudhury and Hahne: n queues that take all they get hold T = alpha x B /
 * (1 + n x alpha) each, and B / (1 + n x alpha) stays free for the next one.
 */
static void test_steady(void)
{
	static const u32 alphas[] = {
		7813, BFC_ALPHA_ONE / 8, 110000, 500000, BFC_ALPHA_ONE,
		2000000, 8000000,
	};
	const u64 size = 10000000;
	unsigned int i, n, k;

	for (i = 0; i < UNIT_SIZE(alphas); i++) {
		for (n = 1; n <= CELLS; n++) {
			const struct bfc_cell_cfg cfg = {
				.limit = BFC_LIMIT_NONE, .alpha = alphas[i],
			};
			u64 whole = 1000000 + (u64)n * alphas[i], word = 0;
			u64 share = size * alphas[i] / whole, rest;
			struct bfc_pool pool = { .size = size };
			struct bfc_cell cell[CELLS] = {};
			unsigned int refused = 0, tries = 0;

			for (k = 0; refused < n && tries < 300000;
			     k = (k + 1) % n, tries++) {
				if (bfc_pool_charge(&pool, &cell[k], &cfg, 100,
						    &word))
					refused = 0;
				else
					refused++;
			}
			for (k = 0; k < n; k++) {
				word = atomic64_read(&cell[k].word);
				CHECK(bfc_cell_held(word) <= share + 100 &&
				      bfc_cell_held(word) + 200 >= share,
				      "alpha %u, %u cells: %u, not %llu",
				      alphas[i], n, bfc_cell_held(word), share);
			}
			rest = size - atomic_long_read(&pool.shared);
			CHECK(rest + n * 200 >= size * 1000000 / whole &&
			      rest <= size * 1000000 / whole + n * 200 + 1,
			      "alpha %u, %u cells: %llu free", alphas[i], n,
			      rest);
		}
	}
}

/* A cell that was there first gives way to one that comes later. */
static void test_give_way(void)
{
	const struct bfc_cell_cfg cfg = {
		.limit = BFC_LIMIT_NONE, .alpha = BFC_ALPHA_ONE,
	};
	struct bfc_pool pool = { .size = 900000 };
	struct bfc_cell a = {}, b = {};
	unsigned int i;
	u64 word = 0;

	for (i = 0; i < 2000; i++)
		bfc_pool_charge(&pool, &a, &cfg, 1000, &word);
	CHECK(bfc_cell_held(word) == 450000, "%u", bfc_cell_held(word));
	for (i = 0; i < 10000; i++) {	/* a drains, both take */
		bfc_pool_uncharge(&pool, &a, &cfg, 1000, &word);
		if (i % 2)
			bfc_pool_charge(&pool, &a, &cfg, 1000, &word);
		bfc_pool_charge(&pool, &b, &cfg, 1000, &word);
		bfc_pool_charge(&pool, &a, &cfg, 1000, &word);
	}
	word = atomic64_read(&a.word);
	CHECK(bfc_cell_held(word) >= 298000 && bfc_cell_held(word) <= 302000,
	      "%u", bfc_cell_held(word));
	word = atomic64_read(&b.word);
	CHECK(bfc_cell_held(word) >= 298000 && bfc_cell_held(word) <= 302000,
	      "%u", bfc_cell_held(word));
}

/* ---- several processors ---- */

#define THREADS		3
#define MOVES		4
#define DEPTH		256	/* steps of all of them, and more */
#define VISITED		(1U << 20)

/* A processor: its packets come and go. Moves are bytes: in, or out. */
struct thread {
	struct bfc_pool_op op;
	u8 at;		/* move */
	bool busy;
	u8 held[MOVES];	/* charged by move n */
};

struct model {
	struct bfc_pool pool;
	struct bfc_cell cell[2];
	struct thread thread[THREADS];
};

/* A state on the way to the present one. */
struct frame {
	struct model m;
	u8 tried;	/* processors that have been given a step */
	bool moved;	/* one of them had one to take */
};

struct scene {
	struct bfc_cell_cfg cfg[2];
	u32 size;
	u8 cell[THREADS];		/* whose packets they are */
	s8 move[THREADS][MOVES];	/* -n: what move n - 1 charged leaves */
};

static const struct scene *scene;
static u64 *visited;
static u64 model_states, model_ends, model_over, model_seen[4];

/* A collision would hide a state: of 2^19 states and 2^64 hashes, hardly one. */
static u64 model_hash(const struct model *m)
{
	u64 h = 0xcbf29ce484222325ULL, v[4 + THREADS * 5];
	unsigned int i, k, n = 0;

	v[n++] = atomic_long_read(&m->pool.shared);
	v[n++] = atomic64_read(&m->cell[0].word);
	v[n++] = atomic64_read(&m->cell[1].word);
	for (i = 0; i < THREADS; i++) {
		const struct thread *t = &m->thread[i];
		u64 mix = 0;

		for (k = 0; k < MOVES; k++)
			mix = mix << 8 | t->held[k];
		v[n++] = mix;
		v[n++] = t->op.word;
		v[n++] = t->op.next;
		v[n++] = (u64)t->op.pool << 32 | t->op.len;
		v[n++] = t->op.step << 24 | t->op.where << 16 | t->at << 8 |
			 t->busy;
	}
	for (i = 0; i < n; i++)
		h = (h ^ v[i] ^ v[i] >> 29) * 0x9e3779b97f4a7c15ULL ^ h >> 31;
	return h ? h : 1;
}

/* Return: whether it is new. */
static bool model_visit(u64 hash)
{
	u64 i;

	for (i = hash % VISITED; visited[i]; i = (i + 1) % VISITED)
		if (visited[i] == hash)
			return false;
	visited[i] = hash;
	return true;
}

/* What is claimed at the top of bfc_pool.h, between any two steps. */
static bool model_check(const struct model *m)
{
	long shared = atomic_long_read(&m->pool.shared), sum = 0, pending = 0;
	bool good = true;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		u64 word = atomic64_read(&m->cell[i].word);
		const struct bfc_cell_cfg *cfg = &scene->cfg[i];

		sum += bfc_cell_shared(word, cfg->reserve);
		good &= bfc_cell_headroom(word) <= cfg->headroom &&
			(cfg->beyond || bfc_cell_shared(word, cfg->reserve) <= cfg->limit);
	}
	for (i = 0; i < THREADS; i++)
		if (m->thread[i].op.step == BFC_POOL_UNDO)
			pending += m->thread[i].op.pool;
	if (shared > (long)scene->size)
		model_over++;
	return CHECK(good && sum <= (long)scene->size && sum <= shared &&
		     shared - pending <= (long)scene->size,
		     "%ld in cells, %ld taken, %ld of it being refused", sum,
		     shared, pending);
}

/* All packets have gone: nothing may be left. */
static bool model_check_end(const struct model *m)
{
	u64 left[2] = {}, word;
	bool good = true;
	unsigned int i, k;
	long sum = 0;

	model_ends++;
	for (i = 0; i < THREADS; i++)
		for (k = 0; k < MOVES; k++)
			left[scene->cell[i]] += m->thread[i].held[k];
	for (i = 0; i < 2; i++) {
		word = atomic64_read(&m->cell[i].word);
		good &= bfc_cell_held(word) == left[i];
		sum += bfc_cell_shared(word, scene->cfg[i].reserve);
	}
	return CHECK(good && sum == atomic_long_read(&m->pool.shared));
}

/* One step of a processor. Return: false if it has nothing to do. */
static bool model_step(struct model *m, unsigned int i)
{
	struct thread *t = &m->thread[i];
	unsigned int c = scene->cell[i];
	int move;

	if (t->at == MOVES || !scene->move[i][t->at])
		return false;
	move = scene->move[i][t->at];
	if (!t->busy) {
		bfc_pool_begin(&t->op, move > 0 ? move : t->held[-move - 1],
			       scene->cfg[c].beyond ? 0 : BFC_POOL_WITHIN);
		t->busy = true;
	}
	if (move > 0) {
		if (bfc_pool_charge_step(&t->op, &m->pool, &m->cell[c],
					 &scene->cfg[c]))
			return true;
		model_seen[t->op.where]++;
		if (t->op.where != BFC_POOL_REFUSED)
			t->held[t->at] = move;
	} else {
		if (bfc_pool_uncharge_step(&t->op, &m->pool, &m->cell[c],
					   &scene->cfg[c]))
			return true;
		if (!CHECK(t->op.where != BFC_POOL_REFUSED))
			return false;
		t->held[-move - 1] = 0;
	}
	/* not what this is about: fewer states */
	memset(&t->op, 0, sizeof(t->op));
	t->busy = false;
	t->at++;
	return true;
}

/* All orders, depth first; an own stack, since the kernel's is small. */
static bool model_run(void)
{
	struct frame *f = calloc(DEPTH, sizeof(*f));
	unsigned int d = 0;
	bool good = true;

	if (!f)
		abort();
	f[0].m.pool.size = scene->size;
	while (good) {
		if (f[d].tried == THREADS) {
			if (!f[d].moved)
				good = model_check_end(&f[d].m);
			if (!d--)
				break;
			continue;
		}
		f[d + 1].m = f[d].m;
		if (!model_step(&f[d + 1].m, f[d].tried++))
			continue;
		f[d].moved = true;
		if (!model_visit(model_hash(&f[d + 1].m)))
			continue;
		d++;
		f[d].tried = 0;
		f[d].moved = false;
		good = CHECK(++model_states < VISITED / 2 && d < DEPTH - 1,
			     "too many states") && model_check(&f[d].m);
	}
	free(f);
	return good;
}

static const struct scene scenes[] = {
	/* one cell, all of it */
	{ .cfg = { { 2, BFC_LIMIT_NONE, 0, 3 } }, .size = 5,
	  .move = { { 3, 2, -1, -2 }, { 2, 2, -2, -1 }, { 3, -1, 2, -3 } } },
	/* two cells that want the same bytes of the pool */
	{ .cfg = { { 0, BFC_LIMIT_NONE, 0, 0 }, { 1, BFC_LIMIT_NONE, 0, 2 } },
	  .size = 4, .cell = { 0, 1, 1 },
	  .move = { { 3, -1, 2, 2 }, { 3, 2, -1, -2 }, { 2, -1, 3, -3 } } },
	/* a static limit, and packets that stay */
	{ .cfg = { { 1, 3, 0, 4 }, { 0, 2, 0, 0 } }, .size = 4,
	  .cell = { 0, 0, 1 },
	  .move = { { 2, 2, -1, 3 }, { 3, 1, -2, -1 }, { 2, -1, 1, 1 } } },
	/* dynamic thresholds */
	{ .cfg = { { 0, BFC_LIMIT_NONE, 500000, 2 },
		   { 1, BFC_LIMIT_NONE, 2000000, 0 } },
	  .size = 9, .cell = { 0, 1, 0 },
	  .move = { { 2, 2, -2, -1 }, { 4, 3, -1, 3 }, { 1, 2, -1, -2 } } },
	/* beyond limits, as if the port held nothing there yet */
	{ .cfg = { { 0, 1, 0, 1, 3 }, { 1, 2, 0, 2, 0 } },
	  .size = 5, .cell = { 0, 1, 0 },
	  .move = { { 2, 3, -2, -1 }, { 3, 2, -1, -2 }, { 2, 1, -1, -2 } } },
	/* no pool at all */
	{ .cfg = { { 2, BFC_LIMIT_NONE, 0, 2 }, { 3, BFC_LIMIT_NONE, 0, 1 } },
	  .size = 0, .cell = { 0, 0, 1 },
	  .move = { { 2, -1, 1, -3 }, { 1, 2, -2, -1 }, { 3, -1, 2, -3 } } },
};

static void test_processors(void)
{
	unsigned int i;

	visited = malloc(VISITED * sizeof(*visited));
	if (!visited)
		abort();
	model_ends = 0;
	model_over = 0;
	memset(model_seen, 0, sizeof(model_seen));
	for (i = 0; i < UNIT_SIZE(scenes); i++) {
		model_states = 0;
		memset(visited, 0, VISITED * sizeof(*visited));
		scene = &scenes[i];
		if (!model_run())
			break;
		CHECK(model_states > 1000, "scene %u: %llu", i, model_states);
	}
	free(visited);
	CHECK(model_ends > 10 && model_over > 0);
	for (i = 0; i < 4; i++)
		CHECK(model_seen[i] > 0, "where %u", i);
}

static const struct unit_case cases[] = {
	{ "pool: reserve, pool and headroom to the byte", test_edges },
	{ "pool: beyond XOFF when the headroom is full", test_beyond },
	{ "pool: never over its size", test_full },
	{ "pool: largest sizes", test_large },
	{ "pool: less headroom than is taken", test_less_headroom },
	{ "pool: no needless steps", test_steps },
	{ "pool: any history of packets, against the definition",
	  test_history },
	{ "pool: shares of Choudhury and Hahne's threshold", test_steady },
	{ "pool: who came first gives way", test_give_way },
	{ "pool: several processors, all orders of their steps",
	  test_processors },
};

#include "unit_main.h"
