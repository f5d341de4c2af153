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

	// leafRow: row of each leaf; ROOT: it is gone.
	constructor(readonly tree: Tree, readonly leafRow: Int32Array) {}

	get standing(): Standing {
		return (this.made ??= standingOf(this.tree.count, this.leafRow));
	}

	// Gives its memory to others: to be called when nobody looks at it, or at another one with its tree, any more.
	release(): void {
		this.tree.release();
		if (this.made) giveColumn(this.made.before);
		this.made = undefined;
	}
}

function standingOf(count: number, leafRow: Int32Array): Standing {
	const ends = takeColumn(count + 2).fill(0); // of the row before each; at first where it begins
	for (let leaf = 0; leaf < leafRow.length; leaf++) ends[leafRow[leaf] + 2]++;
	for (let at = 2, sum = 0; at < ends.length; at++) ends[at] = sum += ends[at];
	const order = new Int32Array(leafRow.length);
	for (let leaf = 0; leaf < leafRow.length; leaf++) order[ends[leafRow[leaf] + 1]++] = leaf;
	return { order, before: ends.subarray(0, count + 1) };
}
