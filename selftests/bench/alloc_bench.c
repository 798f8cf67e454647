// SPDX-License-Identifier: GPL-2.0
/*
 * How long does it take to solve FAFC's problem? bfc_alloc.h beside the simplex
 * method of the GNU Linear Programming Kit, which the paper's switches use, on the
 * same problems, in turn.
 *
 *   alloc_bench [ROUNDS]
 *
 *   bench fafc-solve ports=N ns=A glpk_ns=B ratio=B/A
 *
 * A round is all problems, one after the other, so that no branch has been learnt;
 * printed is the least of all rounds, per problem. They are hard ones for us: no two
 * ports alike, and demands that pause any part of the ports. Both begin with the
 * numbers in place: for GLPK that leaves out the building of the problem (as long
 * again), for us adding the ports is in it. Both results are compared.
 */
#include <glpk.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <linux/types.h>
#include "bfc_alloc.h"

#define PROBLEMS	200
#define ROUNDS		50
#define T_HOP		1000	/* ns */
#define LINE		3200000	/* 100 Gbit/s: amount per T_hop */
#define TOLERANCE	(1 / 1e9)	/* of doubles */
#define SIZES		3

struct problem {
	u64 rate[BFC_ALLOC_PORTS];
	u64 other[BFC_ALLOC_PORTS];
	s64 demand;
	glp_prob *glpk;
	double cost;	/* objective */
	double best;	/* GLPK's */
};

static struct problem problem[PROBLEMS];

static u64 random_below(u64 n)
{
	static u64 seed = 1;

	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545f4914f6cdd1dULL % n;
}

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void build(struct problem *p, unsigned int ports)
{
	int index[BFC_ALLOC_PORTS + 1];
	double rate[BFC_ALLOC_PORTS + 1];
	unsigned int i;
	u64 sum = 0;

	p->glpk = glp_create_prob();
	glp_set_obj_dir(p->glpk, GLP_MIN);
	glp_add_rows(p->glpk, 1);
	glp_add_cols(p->glpk, ports);
	for (i = 0; i < ports; i++) {
		p->rate[i] = 1 + random_below(LINE);
		p->other[i] = random_below(LINE + 1 - p->rate[i]);
		sum += p->rate[i];
		index[i + 1] = i + 1;
		rate[i + 1] = p->rate[i];
		glp_set_obj_coef(p->glpk, i + 1, p->other[i]);
		glp_set_col_bnds(p->glpk, i + 1, GLP_DB, 0, 1);
	}
	p->demand = 1 + random_below(sum);
	glp_set_mat_row(p->glpk, 1, ports, index, rate);
	glp_set_row_bnds(p->glpk, 1, GLP_LO, p->demand, 0);
}

static u64 solve(struct bfc_alloc *a, const struct problem *p, unsigned int ports)
{
	unsigned int i;

	bfc_alloc_clear(a);
	for (i = 0; i < ports; i++)
		bfc_alloc_add(a, p->rate[i], p->other[i]);
	return bfc_alloc_solve(a, p->demand, T_HOP);
}

/* Return: ns per problem. */
static double run_ours(unsigned int ports)
{
	static struct bfc_alloc a;
	u64 start, ns, left = 0;
	unsigned int i, k;

	start = now_ns();
	for (k = 0; k < PROBLEMS; k++)
		left += solve(&a, &problem[k], ports);
	ns = now_ns() - start;
	if (left) {
		fprintf(stderr, "alloc_bench: infeasible\n");
		exit(1);
	}
	for (k = 0; k < PROBLEMS; k++) {
		solve(&a, &problem[k], ports);
		problem[k].cost = 0;
		for (i = 0; i < ports; i++)
			problem[k].cost += (double)a.port[i].other *
					   a.port[i].pause / T_HOP;
	}
	return (double)ns / PROBLEMS;
}

static double run_glpk(void)
{
	unsigned int k;
	u64 start, ns;
	glp_smcp how;
	int bad = 0;

	glp_init_smcp(&how);
	how.msg_lev = GLP_MSG_OFF;
	for (k = 0; k < PROBLEMS; k++)
		glp_std_basis(problem[k].glpk);
	start = now_ns();
	for (k = 0; k < PROBLEMS; k++)
		bad |= glp_simplex(problem[k].glpk, &how);
	ns = now_ns() - start;
	for (k = 0; k < PROBLEMS; k++) {
		problem[k].best = glp_get_obj_val(problem[k].glpk);
		bad |= glp_get_status(problem[k].glpk) != GLP_OPT;
	}
	if (bad) {
		fprintf(stderr, "alloc_bench: no optimum from GLPK\n");
		exit(1);
	}
	return (double)ns / PROBLEMS;
}

/* Whole ns may cost a ns of one port at most. */
static void compare(void)
{
	unsigned int k;

	for (k = 0; k < PROBLEMS; k++) {
		const struct problem *p = &problem[k];

		if (p->cost >= p->best * (1 - TOLERANCE) &&
		    p->cost <= p->best * (1 + TOLERANCE) + LINE / T_HOP)
			continue;
		fprintf(stderr, "alloc_bench: %g, GLPK has %g\n", p->cost,
			p->best);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static const unsigned int sizes[SIZES] = { 8, 48, 64 };
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : ROUNDS;
	unsigned int size, i, round;

	glp_term_out(GLP_OFF);
	for (size = 0; size < SIZES; size++) {
		double ns = 1e9, glpk_ns = 1e9, t;

		for (i = 0; i < PROBLEMS; i++)
			build(&problem[i], sizes[size]);
		for (round = 0; round < rounds; round++) {
			t = run_ours(sizes[size]);
			ns = t < ns ? t : ns;
			t = run_glpk();
			glpk_ns = t < glpk_ns ? t : glpk_ns;
			compare();
		}
		for (i = 0; i < PROBLEMS; i++)
			glp_delete_prob(problem[i].glpk);
		printf("bench fafc-solve ports=%u ns=%.0f glpk_ns=%.0f ratio=%.1f\n",
		       sizes[size], ns, glpk_ns, glpk_ns / ns);
	}
	glp_free_env();
	return 0;
}
