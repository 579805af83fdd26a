// SPDX-License-Identifier: GPL-2.0-only
/*
 * branches - a program whose control flow is known, to be traced
 *
 * branches CPU ROUNDS goes to that CPU and does so many rounds of calls, returns,
 * loops, conditional and indirect branches there; ROUNDS 0: for ever. Always the
 * same way, and leaf() is called BRANCHES_LEAVES times in each round. Without a C
 * library, so that these are all its branches; nothing else is mapped executable.
 */
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>

/* leaves of the tree, one in each link of the chain, and those by table */
#define DEPTH		6
#define CHAIN		20
#define INDIRECT	25
#define BRANCHES_LEAVES ((1 << DEPTH) + CHAIN + INDIRECT)

static unsigned int state = 1;

static long call(long number, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

__attribute__((noinline)) static unsigned int leaf(unsigned int n)
{
	/* Either way, as the bits fall. */
	if (n & 1)
		return n * 3 + 1;
	return n >> 1;
}

__attribute__((noinline)) static unsigned int tree(int depth)
{
	if (!depth) {
		state = leaf(state * 1103515245 + 12345);
		return state;
	}
	return tree(depth - 1) + tree(depth - 1);
}

__attribute__((noinline)) static unsigned int odd(unsigned int n)
{
	return leaf(n | 1);
}

__attribute__((noinline)) static unsigned int even(unsigned int n)
{
	return leaf(n & ~1U);
}

__attribute__((noinline)) static unsigned int third(unsigned int n)
{
	unsigned int i, sum = 0;

	for (i = 0; i < n % 7; i++)
		sum += i ^ n;
	return leaf(sum);
}

static unsigned int (*const table[])(unsigned int) = { odd, even, third };

__attribute__((noinline)) static void round_once(void)
{
	volatile unsigned int sink;
	int i;

	sink = tree(DEPTH);
	for (i = 0; i < CHAIN; i++)
		sink = leaf(sink ^ i);
	for (i = 0; i < INDIRECT; i++) {
		state = state * 1103515245 + 12345;
		sink = table[(state >> 16) % 3](state >> 8);
	}
	call(SYS_getpid, 0, 0, 0);
}

static unsigned int number(const char *text)
{
	unsigned int n = 0;

	while (*text)
		n = n * 10 + *text++ - '0';
	return n;
}

__attribute__((used)) static void run(long *stack)
{
	char **argv = (char **)(stack + 1);
	unsigned long mask;
	unsigned int i, rounds;

	if (stack[0] != 3)
		call(SYS_exit_group, 2, 0, 0);
	mask = 1UL << number(argv[1]);
	rounds = number(argv[2]);
	if (call(SYS_sched_setaffinity, 0, sizeof(mask), (long)&mask) < 0)
		call(SYS_exit_group, 1, 0, 0);
	for (i = 0; !rounds || i < rounds; i++)
		round_once();
	call(SYS_exit_group, 0, 0, 0);
}

__attribute__((naked, used)) void _start(void)
{
	__asm__("mov %rsp, %rdi\n\tand $-16, %rsp\n\tcall run\n\thlt");
}
