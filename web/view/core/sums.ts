// SPDX-License-Identifier: MIT
// From counts by leaf to sums by row and by function.

import type { Stage } from "./transform";
import { ROOT, Tree } from "./tree";

export interface Sums {
	readonly tree: Tree;
	readonly self: Float64Array;
	readonly total: Float64Array; // total[0]: of all samples that still have a stack
}

export function sumsOf(stage: Stage, byLeaf: ArrayLike<number>): Sums {
	const { tree, leafRow } = stage;
	const self = new Float64Array(tree.count);
	for (let leaf = 0; leaf < leafRow.length; leaf++) self[leafRow[leaf]] += byLeaf[leaf];
	self[ROOT] = 0;
	const total = self.slice();
	for (let row = tree.count - 1; row > 0; row--) total[tree.parent[row]] += total[row];
	return { tree, self, total };
}

// What of a selection is in no total after each stage.
export function gone(stage: Stage, byLeaf: ArrayLike<number>): number {
	let sum = 0;
	for (let leaf = 0; leaf < stage.leafRow.length; leaf++)
		if (stage.leafRow[leaf] === ROOT) sum += byLeaf[leaf];
	return sum;
}

export interface FunctionSums {
	readonly self: Float64Array;
	readonly total: Float64Array; // a sample counts once, however often the function recurses
}

export function functionSums(sums: Sums, functions: number): FunctionSums {
	const { tree } = sums;
	const self = new Float64Array(functions);
	const total = new Float64Array(functions);
	const until = new Int32Array(functions); // end of the outermost row of each function that is open
	for (let row = 1; row < tree.count; row++) {
		const func = tree.func[row];
		self[func] += sums.self[row];
		if (row >= until[func]) {
			total[func] += sums.total[row];
			until[func] = tree.end[row];
		}
	}
	return { self, total };
}

// What stacks with any function of a mask are together, and how many of the functions are there.
export function matchedIn({ tree: { count, func, end }, total }: Sums, mask: Uint8Array): { samples: number; functions: number } {
	const seen = new Uint8Array(mask.length);
	let samples = 0;
	let functions = 0;
	let until = 0;
	for (let row = 1; row < count; row++) {
		if (mask[func[row]] === 0 || total[row] === 0) continue;
		if (row >= until) {
			samples += total[row];
			until = end[row];
		}
		functions += 1 - seen[func[row]];
		seen[func[row]] = 1;
	}
	return { samples, functions };
}

// Rows of the outermost calls of functions, and what samples with any of them are together, each once.
export function outermost(sums: Sums, wanted: (func: number) => boolean): { rows: number[]; sum: number } {
	const { tree } = sums;
	const rows: number[] = [];
	let sum = 0;
	for (let row = 1; row < tree.count;) {
		if (sums.total[row] !== 0 && wanted(tree.func[row])) {
			rows.push(row);
			sum += sums.total[row];
			row = tree.end[row];
		} else {
			row++;
		}
	}
	return { rows, sum };
}
