// SPDX-License-Identifier: MIT
// From counts by leaf to sums by row and by function.
//
// Leaves in the order of their rows have sums up to each of them. Rows are depth first, so what is below a row is a difference of two
// of these, and sums of single rows are made when they are asked for.

import type { Stage } from "./stage";
import { ROOT, Tree } from "./tree";

export class Sums {
	readonly tree: Tree;
	readonly all: number; // of all samples that still have a stack
	readonly at: Int32Array; // of each row, and of the end: how many leaves are before it

	// upTo: what so many of the leaves have.
	constructor(readonly stage: Stage, readonly upTo: Float64Array) {
		this.tree = stage.tree;
		this.at = stage.standing.before;
		this.all = upTo[upTo.length - 1];
	}

	self(row: number): number {
		return this.upTo[this.at[row + 1]] - this.upTo[this.at[row]];
	}

	total(row: number): number {
		return this.upTo[this.at[this.tree.end[row]]] - this.upTo[this.at[row]];
	}
}

// Leaves without a stack are the first ones.
export function sumsOf(stage: Stage, byLeaf: ArrayLike<number>): Sums {
	const { order, before } = stage.standing;
	const upTo = new Float64Array(order.length + 1);
	let sum = 0;
	for (let at = before[ROOT + 1]; at < order.length; at++) upTo[at + 1] = sum += byLeaf[order[at]];
	return new Sums(stage, upTo);
}

// What of a selection is in no total after each stage.
export function gone({ standing: { order, before } }: Stage, byLeaf: ArrayLike<number>): number {
	let sum = 0;
	for (let at = 0; at < before[ROOT + 1]; at++) sum += byLeaf[order[at]];
	return sum;
}

// Calls a function with each row that has samples, in order, and with what it has itself.
export function eachOwn({ stage: { leafRow, standing: { order } }, at: before, upTo }: Sums, visit: (row: number, own: number) => void): void {
	for (let at = before[ROOT + 1]; at < order.length;) {
		const row = leafRow[order[at]];
		const next = before[row + 1];
		const own = upTo[next] - upTo[at];
		if (own !== 0) visit(row, own);
		at = next;
	}
}

// What samples of each function are, those that it was sampled in and those that it is on the stack of.
export class FunctionSums {
	private readonly made: { self?: Float64Array; total?: Float64Array } = {};

	constructor(private readonly sums: Sums, private readonly count: number) {}

	get self(): Float64Array {
		return (this.made.self ??= selfOf(this.sums, this.count));
	}

	// A sample counts once, however often the function recurses.
	get total(): Float64Array {
		return (this.made.total ??= totalOf(this.sums, this.count));
	}

	// The same of one function, for which the others are not summed up.
	totalOf(func: number): number {
		return this.made.total ? this.made.total[func] : outermost(this.sums, func).sum;
	}
}

function selfOf(sums: Sums, functions: number): Float64Array {
	const self = new Float64Array(functions);
	const { stage: { functions: func }, at: before, upTo } = sums;
	for (let at = before[ROOT + 1]; at < func.length; at++) self[func[at]] += upTo[at + 1] - upTo[at];
	return self;
}

const PART = 8192; // rows

// In parts: browsers forget the code of what is not called for a while, and compile it sooner for the next call than for a loop that runs.
function totalOf(sums: Sums, functions: number): Float64Array {
	const total = new Float64Array(functions);
	const until = new Int32Array(functions); // end of the outermost row of each function that is open
	const { count } = sums.tree;
	for (let from = 1; from < count; from += PART) addTotals(sums, total, until, from, Math.min(from + PART, count));
	return total;
}

function addTotals({ tree: { func, end }, at, upTo }: Sums, total: Float64Array, until: Int32Array, from: number, to: number): void {
	for (let row = from; row < to; row++) {
		const one = func[row];
		if (row < until[one]) continue;
		const last = end[row];
		total[one] += upTo[at[last]] - upTo[at[row]];
		until[one] = last;
	}
}

// What stacks with any function of a mask are together, and how many of the functions are there.
export function matchedIn({ tree: { count, func, end }, at, upTo }: Sums, mask: Uint8Array): { samples: number; functions: number } {
	const seen = new Uint8Array(mask.length);
	let samples = 0;
	let functions = 0;
	let until = 0;
	for (let row = 1; row < count; row++) {
		const one = func[row];
		if (mask[one] === 0) continue;
		const own = upTo[at[end[row]]] - upTo[at[row]];
		if (own === 0) continue;
		if (row >= until) {
			samples += own;
			until = end[row];
		}
		functions += 1 - seen[one];
		seen[one] = 1;
	}
	return { samples, functions };
}

// Rows of the outermost calls of a function that have samples, and what these are together, each once.
export function outermost({ tree: { count, func, end }, at, upTo }: Sums, wanted: number): { rows: number[]; sum: number } {
	const rows: number[] = [];
	let sum = 0;
	for (let row = func.indexOf(wanted, 1); row >= 0 && row < count; row = func.indexOf(wanted, row)) {
		const own = upTo[at[end[row]]] - upTo[at[row]];
		if (own !== 0) rows.push(row);
		sum += own;
		row = own === 0 ? row + 1 : end[row];
	}
	return { rows, sum };
}
