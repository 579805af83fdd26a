/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * operations - a program whose operations are known, to be sampled
 *
 * operations CPU ROUNDS goes to that CPU and goes through the same instructions so many
 * times there; ROUNDS 0: for ever. Section .expected tells of each one, in which order
 * they stand, what a record of it must say: see struct expected in sperecords.c.
 * Without a C library, so that nothing else is there.
 */

/* As the payload of SPE's operation type packet, with the class in the second byte. */
#define OTHER		0x000
#define SELECT		0x001	/* conditional */
#define LOAD		0x100
#define STORE		0x101
#define LOAD_SIMD	0x104
#define STORE_SIMD	0x105
#define LOAD_EXCLUSIVE	0x10a
#define STORE_EXCLUSIVE	0x10b
#define LOAD_ACQUIRE	0x112
#define STORE_RELEASE	0x113
#define BRANCH		0x200
#define BRANCH_COND	0x201
#define BRANCH_INDIRECT	0x202

/* What the next instruction is, and where it reads, writes or goes to. */
.macro is type, address=0, size=0
8888:	.pushsection .expected, "a"
	.quad	8888b, \type, \address, \size
	.popsection
.endm

.equ SIZE, 4096

	.bss
	.balign	4096
source:	.skip	SIZE
target:	.skip	SIZE
cell:	.skip	64

	.text
	.globl	_start
_start:
	ldr	x20, [sp]		/* argc */
	cmp	x20, #3
	b.ne	usage
	ldr	x0, [sp, #16]
	bl	number
	mov	x1, #1
	lsl	x1, x1, x0
	str	x1, [sp, #-16]!
	mov	x0, #0			/* sched_setaffinity(0, 8, &mask) */
	mov	x1, #8
	mov	x2, sp
	mov	x8, #122
	svc	#0
	add	sp, sp, #16
	tbnz	x0, #63, failed
	ldr	x0, [sp, #24]
	bl	number
	mov	x19, x0			/* rounds; */
	mov	x21, #0			/* so many are done, ... */
	mov	x22, #0			/* ... and here in the arrays */
	adrp	x23, source
	add	x23, x23, :lo12:source
	adrp	x24, target
	add	x24, x24, :lo12:target
	adrp	x25, cell
	add	x25, x25, :lo12:cell
	adr	x26, callee
	b	round

	/* From here to the exit each instruction is in .expected. */
round:
	is	OTHER
	add	x22, x22, #64
	is	OTHER
	and	x22, x22, #(SIZE - 64)
	is	LOAD, source, SIZE
	ldr	x1, [x23, x22]
	is	OTHER
	add	x10, x23, x22
	is	LOAD, source, SIZE
	ldp	x2, x3, [x10, #16]
	is	LOAD, source, SIZE
	ldrb	w4, [x10, #63]
	is	OTHER
	eor	x1, x1, x2
	is	OTHER
	mul	x1, x1, x3
	is	OTHER
	add	x11, x24, x22
	is	STORE, target, SIZE
	str	x1, [x11]
	is	STORE, target, SIZE
	stp	x2, x3, [x11, #16]
	is	LOAD_SIMD, source, SIZE
	ldr	q0, [x10, #32]
	is	OTHER
	add	v0.4s, v0.4s, v0.4s
	is	STORE_SIMD, target, SIZE
	str	q0, [x11, #32]
retry:
	is	LOAD_EXCLUSIVE, cell, 8
	ldxr	x5, [x25]
	is	OTHER
	add	x5, x5, #1
	is	STORE_EXCLUSIVE, cell, 8
	stxr	w6, x5, [x25]
	is	BRANCH_COND, retry, 1
	cbnz	w6, retry
	is	LOAD_ACQUIRE, cell, 8
	ldar	x7, [x25]
	is	OTHER
	add	x9, x25, #8
	is	STORE_RELEASE, (cell + 8), 8
	stlr	x7, [x9]
	is	OTHER
	tst	x21, #1
	is	SELECT
	csel	x12, x1, x2, eq
	is	BRANCH_COND, odd, 1
	b.ne	odd
	is	BRANCH, callee, 1
	bl	callee
	is	BRANCH, joined, 1
	b	joined
odd:
	is	BRANCH_INDIRECT, callee, 1
	blr	x26
joined:
	is	OTHER
	add	x21, x21, #1
	is	OTHER
	cmp	x21, x19
	is	BRANCH_COND, round, 1
	b.ne	round
	is	BRANCH, leave, 1
	b	leave
callee:
	is	OTHER
	add	x13, x13, x12
	is	BRANCH_INDIRECT, round, (callee - round)
	ret

leave:
	mov	x0, #0
	b	exit
usage:
	mov	x0, #2
	b	exit
failed:
	mov	x0, #1
exit:
	mov	x8, #94			/* exit_group() */
	svc	#0

	/* The decimal number at x0 */
number:
	mov	x1, x0
	mov	x0, #0
	mov	x3, #10
1:	ldrb	w2, [x1], #1
	cbz	w2, 2f
	sub	w2, w2, #48
	madd	x0, x0, x3, x2
	b	1b
2:	ret
