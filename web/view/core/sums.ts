// SPDX-License-Identifier: MIT
// From counts by leaf to sums by row and by function.
//
// Rows are depth first, so what is below a row is what rows have up to the end of its subtree, less what they have before it:
// one pass in order is all that is needed, and sums of single rows are made when they are asked for.

import type { Stage } from "./transform";
import { ROOT, Tree } from "./tree";

export class Sums {
	readonly all: number; // of all samples that still have a stack

	// before: what the rows before each one have, and at the end what all of them have.
	constructor(readonly tree: Tree, readonly before: Float64Array) {
		this.all = before[tree.count];
	}

	self(row: number): number {
		return this.before[row + 1] - this.before[row];
	}

	total(row: number): number {
		return this.before[this.tree.end[row]] - this.before[row];
	}
}

export function sumsOf({ tree, leafRow }: Stage, byLeaf: ArrayLike<number>): Sums {
	const { count } = tree;
	const before = new Float64Array(count + 1);
	for (let leaf = 0; leaf < leafRow.length; leaf++) before[leafRow[leaf]] += byLeaf[leaf];
	before[ROOT] = 0;
	let sum = 0;
	for (let row = 0; row < count; row++) {
		const own = before[row];
		before[row] = sum;
		sum += own;
	}
	before[count] = sum;
	return new Sums(tree, before);
}

// What of a selection is in no total after each stage.
export function gone(stage: Stage, byLeaf: ArrayLike<number>): number {
	let sum = 0;
	for (let leaf = 0; leaf < stage.leafRow.length; leaf++)
		if (stage.leafRow[leaf] === ROOT) sum += byLeaf[leaf];
	return sum;
}

// What samples of each function are, those that it was sampled in and those that it is on the stack of.
export class FunctionSums {
	private readonly made: { self?: Float64Array; total?: Float64Array } = {};

	// self: if it is known.
	constructor(private readonly sums: Sums, private readonly count: number, self?: Float64Array) {
		if (self) this.made.self = self;
	}

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

function selfOf({ tree: { count, func }, before }: Sums, functions: number): Float64Array {
	const self = new Float64Array(functions);
	for (let row = 1; row < count; row++) {
		const own = before[row + 1] - before[row];
		if (own !== 0) self[func[row]] += own;
	}
	return self;
}

// What samples of each function are, by leaves, which are fewer than rows.
export function selfByLeaf({ tree: { func }, leafRow }: Stage, byLeaf: ArrayLike<number>, functions: number): Float64Array {
	const self = new Float64Array(functions);
	for (let leaf = 0; leaf < leafRow.length; leaf++) if (leafRow[leaf] !== ROOT) self[func[leafRow[leaf]]] += byLeaf[leaf];
	return self;
}

const PART = 8192; // rows

// In parts: browsers forget the code of what is not called for a while, and compile it sooner for the next call than for a loop that runs.
function totalOf({ tree, before }: Sums, functions: number): Float64Array {
	const total = new Float64Array(functions);
	const until = new Int32Array(functions); // end of the outermost row of each function that is open
	for (let from = 1; from < tree.count; from += PART) addTotals(tree, before, total, until, from, Math.min(from + PART, tree.count));
	return total;
}

function addTotals({ func, end }: Tree, before: Float64Array, total: Float64Array, until: Int32Array, from: number, to: number): void {
	for (let row = from; row < to; row++) {
		const one = func[row];
		if (row < until[one]) continue;
		const last = end[row];
		total[one] += before[last] - before[row];
		until[one] = last;
	}
}

// What stacks with any function of a mask are together, and how many of the functions are there.
export function matchedIn({ tree: { count, func, end }, before }: Sums, mask: Uint8Array): { samples: number; functions: number } {
	const seen = new Uint8Array(mask.length);
	let samples = 0;
	let functions = 0;
	let until = 0;
	for (let row = 1; row < count; row++) {
		const one = func[row];
		if (mask[one] === 0) continue;
		const own = before[end[row]] - before[row];
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
export function outermost({ tree: { count, func, end }, before }: Sums, wanted: number): { rows: number[]; sum: number } {
	const rows: number[] = [];
	let sum = 0;
	for (let row = 1; row < count;) {
		const own = func[row] === wanted ? before[end[row]] - before[row] : 0;
		if (own === 0) {
			row++;
			continue;
		}
		rows.push(row);
		sum += own;
		row = end[row];
	}
	return { rows, sum };
}
