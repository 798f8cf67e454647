// SPDX-License-Identifier: GPL-2.0
/*
 * Pause times, compared with the GNU Linear Programming Kit's: what the paper's
 * switches run (FAFC §IV).
 *
 *   glpk_alloc [INSTANCES [SEED]]
 *
 * The problem goes to GLPK with x_i = T_i/T_hop in [0, 1]: then all its numbers
 * are whole ones below 2^53, and a double holds them exactly. It is solved by the
 * simplex method in doubles (glp_simplex), and from the basis found by the one in
 * rational numbers (glp_exact), which ends at a true optimum or proves that there
 * is none: no tolerance of a solver is in what follows. (The one in doubles must
 * have been within 1e-9 of it as well, unless numbers are as wide as they may be:
 * then it often ends elsewhere, or nowhere.)
 *
 *  - feasible or not: the same verdict
 *  - the constraint: holds exactly (128 bits)
 *  - the objective: that found is not below GLPK's, and above it by less than 1 ns
 *    times the R of the ports that have the largest R/r of those paused: all
 *    others have no rounded time. The optimum comes as doubles x_i, of which all
 *    but one are 0 or 1, and that one is rounded by a share of 2^-53; so their
 *    sum, made in long doubles, is off by a share of 2^-52 at most, which is
 *    allowed for on both sides.
 */
#include <glpk.h>
#include "unit.h"
#include "bfc_alloc.h"

typedef unsigned __int128 u128;

#define INSTANCES	100000
#define SEED		20240607	/* and so in the Makefile */
#define ROUNDED		(1 / (long double)(1ULL << 52))
#define DOUBLES		(1 / 1e9L)
#define KINDS		8
#define WIDE		5	/* kinds from here on are too much for doubles */
#define ITERATIONS	1000	/* a column enters and leaves a few times */

static struct bfc_alloc a;
static unsigned int kind;	/* of numbers, see any_ports() */

static struct {
	unsigned long all;
	unsigned long infeasible;
	unsigned long tied;		/* more than one port in the last group */
	unsigned long simplex_off;	/* glp_simplex was not at the optimum */
} seen;

/* Up to 2^bits, each power of two as likely as the others. */
static u64 spread(u64 *seed, unsigned int bits)
{
	u64 v = unit_random(seed) >> (64 - bits);

	return v >> (unit_random(seed) % (bits + 1));
}

/* Half of them have eight ports at most. */
static void any_ports(u64 *seed)
{
	u64 random = unit_random(seed);
	unsigned int n = 1 + (random & 1 ? (random >> 8) % 8 :
					   (random >> 8) % BFC_ALLOC_PORTS);
	unsigned int i;
	const u64 line = 3200000;	/* 100 Gbit/s, T_hop 1 us */
	u64 base = 1 + spread(seed, 44);

	kind = (random >> 32) % KINDS;
	bfc_alloc_clear(&a);
	for (i = 0; i < n; i++) {
		u64 x = unit_random(seed), y = unit_random(seed);
		u64 rate, other;

		switch (kind) {
		case 0:		/* what a switch may see */
			rate = x % (line + 1);
			other = y % (line + 1 - rate);
			break;
		case 1:		/* incast: most ports have no victims */
			rate = x % (line + 1);
			other = y % 8 ? 0 : y % (line + 1 - rate);
			break;
		case 2:		/* ties and zeros */
			rate = x % 4;
			other = y % 4;
			break;
		case 3:		/* next to each other */
			rate = base + x % 3;
			other = base + y % 3;
			break;
		case 4:		/* all the same */
			rate = base;
			other = base / 2;
			break;
		case WIDE:	/* ties of different numbers */
			rate = (x % 3) << (x >> 8) % 43;
			other = (y % 3) << (x >> 8) % 43;
			break;
		case WIDE + 1:	/* as far from each other as can be */
			rate = x & 1 ? BFC_AMOUNT_MAX : x >> 1 & 1;
			other = y & 1 ? BFC_AMOUNT_MAX : y >> 1 & 1;
			break;
		default:
			rate = spread(seed, 45);
			other = spread(seed, 45);
		}
		bfc_alloc_add(&a, rate, other);
	}
}

static s64 any_demand(u64 *seed)
{
	u64 random = unit_random(seed), sum = 0;
	unsigned int i;

	for (i = 0; i < a.ports; i++)
		sum += a.port[i].rate;
	switch (random % 16) {
	case 0:
		return sum;
	case 1:
		return sum + 1;
	case 2:
		return sum ? sum - 1 : 0;
	case 3:
		return sum + (random >> 8) % (sum + 1);
	case 4:
		return 1;
	case 5:
		return a.port[0].rate;
	case 6:		/* nearly all */
		return sum - (sum >> (8 + (random >> 8) % 40));
	default:
		return (random >> 8) % (sum + 1);
	}
}

static bool glpk_solve(s64 demand, long double *optimum, bool *simplex_good)
{
	long double first = 0;
	static int index[BFC_ALLOC_PORTS + 1];
	static double rate[BFC_ALLOC_PORTS + 1];
	glp_prob *problem = glp_create_prob();
	glp_smcp how;
	unsigned int i;
	bool feasible;

	glp_set_obj_dir(problem, GLP_MIN);
	glp_add_rows(problem, 1);
	glp_add_cols(problem, a.ports);
	for (i = 1; i <= a.ports; i++) {
		index[i] = i;
		rate[i] = a.port[i - 1].rate;
		glp_set_obj_coef(problem, i, a.port[i - 1].other);
		glp_set_col_bnds(problem, i, GLP_DB, 0, 1);
	}
	glp_set_mat_row(problem, 1, a.ports, index, rate);
	glp_set_row_bnds(problem, 1, GLP_LO, demand, 0);

	glp_init_smcp(&how);
	how.msg_lev = GLP_MSG_OFF;
	how.it_lim = ITERATIONS;
	*simplex_good = !glp_simplex(problem, &how);
	if (*simplex_good && glp_get_status(problem) == GLP_OPT)
		for (i = 1; i <= a.ports; i++)
			first += a.port[i - 1].other *
				 (long double)glp_get_col_prim(problem, i);
	else
		first = -1;
	if (!*simplex_good)
		glp_std_basis(problem);
	CHECK(!glp_exact(problem, &how));
	feasible = glp_get_status(problem) == GLP_OPT;
	CHECK(feasible || glp_get_status(problem) == GLP_NOFEAS);
	*optimum = 0;
	for (i = 1; feasible && i <= a.ports; i++)
		*optimum += a.port[i - 1].other *
			    (long double)glp_get_col_prim(problem, i);
	*simplex_good = feasible ? first >= *optimum * (1 - DOUBLES) &&
				   first <= *optimum * (1 + DOUBLES) :
				   first == -1;
	glp_delete_prob(problem);
	return feasible;
}

/* Negative, 0, positive: R/r of x is smaller, the same, larger. */
static int compare(const struct bfc_alloc_port *x,
		   const struct bfc_alloc_port *y)
{
	u128 left = (u128)x->other * y->rate, right = (u128)y->other * x->rate;

	return (left > right) - (left < right);
}

static bool agree(s64 demand, u32 t_hop)
{
	long double optimum, found, slack = 0;
	u64 left = bfc_alloc_solve(&a, demand, t_hop), sum = 0;
	unsigned int i, last = a.ports, group = 0;
	bool feasible, simplex_good, good = true;
	u128 kept = 0, cost = 0;

	feasible = glpk_solve(demand, &optimum, &simplex_good);
	seen.all++;
	seen.infeasible += !feasible;
	seen.simplex_off += !simplex_good;
	good &= CHECK(simplex_good || kind >= WIDE, "simplex in doubles");
	good &= CHECK(feasible == !left, "%llu left", left);
	for (i = 0; i < a.ports; i++) {
		const struct bfc_alloc_port *p = &a.port[i];

		good &= CHECK(p->pause <= t_hop);
		sum += p->rate;
		kept += (u128)p->rate * p->pause;
		cost += (u128)p->other * p->pause;
		if (p->pause &&
		    (last == a.ports || compare(p, &a.port[last]) > 0))
			last = i;
	}
	if (!feasible)
		return good & CHECK(kept == (u128)sum * t_hop) &
		       CHECK(left == demand - sum);
	good &= CHECK(kept >= (u128)(demand > 0 ? demand : 0) * t_hop);
	for (i = 0; i < a.ports && last < a.ports; i++) {
		if (!a.port[i].rate ||
		    compare(&a.port[i], &a.port[last]))
			continue;
		slack += a.port[i].other;
		group++;
	}
	seen.tied += group > 1;
	found = cost;
	optimum *= t_hop;
	good &= CHECK(found >= optimum * (1 - ROUNDED), "%Lg, not %Lg", found,
		      optimum);
	good &= CHECK(found <= optimum * (1 + ROUNDED) + slack,
		      "%Lg, not %Lg to %Lg", found, optimum, optimum + slack);
	return good;
}

static unsigned long instances = INSTANCES;
static u64 first_seed = SEED;

static void test_glpk(void)
{
	u64 seed = first_seed;
	unsigned long i;
	unsigned int k;

	glp_term_out(GLP_OFF);
	for (i = 0; i < instances; i++) {
		u32 t_hop = unit_random(&seed) & 1 ? 1000 :
			    BFC_THOP_MIN + spread(&seed, 29);
		s64 demand;

		any_ports(&seed);
		demand = any_demand(&seed);
		if (agree(demand, t_hop))
			continue;
		printf("# instance %lu of seed %llu: demand %lld, T_hop %u\n", i,
		       first_seed, demand, t_hop);
		for (k = 0; k < a.ports; k++)
			printf("#   r %llu R %llu T %u\n", a.port[k].rate,
			       a.port[k].other, a.port[k].pause);
		break;
	}
	glp_free_env();
	printf("# seed %llu: %lu instances, %lu infeasible, %lu with ties; glp_simplex off by over 1e-9 in %lu\n",
	       first_seed, seen.all, seen.infeasible, seen.tied,
	       seen.simplex_off);
	/* Else it has compared something else. */
	CHECK(seen.all == instances);
	CHECK(seen.infeasible > instances / 20);
	CHECK(seen.tied > instances / 20);
}

static const struct unit_case cases[] = {
	{ "alloc: the same optimum as GLPK's", test_glpk },
};

#define main unit_main
#include "unit_main.h"
#undef main

int main(int argc, char **argv)
{
	if (argc > 1)
		instances = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 0);
	if (argc > 3 || !instances || !first_seed) {
		fprintf(stderr, "usage: glpk_alloc [INSTANCES [SEED]]\n");
		return 2;
	}
	return unit_main();
}
