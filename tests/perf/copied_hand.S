// SPDX-License-Identifier: MIT
/*
 * Functions by hand for x86-64, with rules that compilers do not make: each calls its argument.
 *
 *	hand_register	the return address is in a register
 *	hand_expression	the frame is found by an expression that reads memory
 *	hand_value	the caller's stack pointer is the value of an expression
 *	hand_tail	jumps to its argument, and so has no frame
 */
	.text

	.globl hand_register
	.type hand_register, @function
hand_register:
	.cfi_startproc
	pushq %r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	movq 8(%rsp), %r12
	.cfi_register %rip, %r12
	movq $0, 8(%rsp)
	subq $16, %rsp
	.cfi_adjust_cfa_offset 16
	call *%rdi
	addq $16, %rsp
	.cfi_adjust_cfa_offset -16
	movq %r12, 8(%rsp)
	.cfi_offset %rip, -8
	popq %r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	ret
	.cfi_endproc
	.size hand_register, .-hand_register

	.globl hand_expression
	.type hand_expression, @function
hand_expression:
	.cfi_startproc
	leaq 8(%rsp), %rax
	subq $120, %rsp
	.cfi_adjust_cfa_offset 120
	andq $-64, %rsp
	movq %rax, 32(%rsp)
	// def_cfa_expression: breg7 32, deref
	.cfi_escape 0x0f, 3, 0x77, 32, 0x06
	call *%rdi
	movq 32(%rsp), %rsp
	.cfi_def_cfa %rsp, 0
	jmp *-8(%rsp)
	.cfi_endproc
	.size hand_expression, .-hand_expression

	.globl hand_value
	.type hand_value, @function
hand_value:
	.cfi_startproc
	pushq %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	movq %rsp, %rbx
	.cfi_def_cfa_register %rbx
	subq $1040, %rsp
	// val_expression of rsp: breg3 8, plus_uconst 8; the return address by expression: breg3 8
	.cfi_escape 0x16, 7, 4, 0x73, 8, 0x23, 8
	.cfi_escape 0x10, 16, 2, 0x73, 8
	call *%rdi
	movq %rbx, %rsp
	popq %rbx
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbx
	.cfi_offset %rip, -8
	.cfi_restore %rsp
	ret
	.cfi_endproc
	.size hand_value, .-hand_value

	.globl hand_tail
	.type hand_tail, @function
hand_tail:
	.cfi_startproc
	jmp *%rdi
	.cfi_endproc
	.size hand_tail, .-hand_tail

	.section .note.GNU-stack, "", @progbits
