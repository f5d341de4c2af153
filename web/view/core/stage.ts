// SPDX-License-Identifier: MIT
// Stacks and leaves after some transforms.

import { giveColumn, takeColumn } from "./columns";
import type { Tree } from "./tree";

// Leaves in the order of their rows. What rows have is a difference of two sums over them, and leaves are much fewer than rows.
export interface Standing {
	readonly order: Int32Array;
	readonly before: Int32Array; // how many leaves the rows before each one have, and at the end how many there are
}

export class Stage {
	private made: Standing | undefined;
	private sampled: Int32Array | undefined;

	// leafRow: row of each leaf; ROOT: it is gone. like: leaves in an order that is much like that of their rows, if there is one.
	constructor(readonly tree: Tree, readonly leafRow: Int32Array, private readonly like?: Int32Array) {}

	get standing(): Standing {
		return (this.made ??= standingOf(this.tree.count, this.leafRow, this.like ?? Int32Array.from(this.leafRow.keys())));
	}

	// The functions that samples of the leaves are of, in the order of their rows; -1 for those that are gone.
	get functions(): Int32Array {
		return (this.sampled ??= functionsOf(this));
	}

	// Gives its memory to others: to be called when nobody looks at it, or at another one with its tree, any more.
	release(): void {
		this.tree.release();
		if (this.made) giveColumn(this.made.before);
		this.made = undefined;
	}
}

function functionsOf({ tree: { func }, leafRow, standing: { order } }: Stage): Int32Array {
	const functions = new Int32Array(order.length);
	for (let at = 0; at < order.length; at++) functions[at] = func[leafRow[order[at]]];
	return functions;
}

// In rising order the memory is read and written in its order, too, which is faster.
function standingOf(count: number, leafRow: Int32Array, like: Int32Array): Standing {
	const ends = takeColumn(count + 2).fill(0); // of the row before each; at first where it begins
	for (let at = 0; at < like.length; at++) ends[leafRow[like[at]] + 2]++;
	for (let at = 2, sum = 0; at < ends.length; at++) ends[at] = sum += ends[at];
	const order = new Int32Array(leafRow.length);
	for (let at = 0; at < like.length; at++) order[ends[leafRow[like[at]] + 1]++] = like[at];
	return { order, before: ends.subarray(0, count + 1) };
}
