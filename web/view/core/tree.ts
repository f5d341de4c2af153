// SPDX-License-Identifier: MIT
// Stacks as a prefix table, depth first: the subtree of row r is r up to end[r], and parents come before their children.
//
// Row 0 stands above all stacks and is no frame. Everything here is a pass over the rows; nothing recurses.

import { giveColumn, takeColumn } from "./columns";

export class Tree {
	readonly count: number;
	private isReleased = false;

	// func: -1 for row 0; plain: nothing is inlined.
	constructor(readonly func: Int32Array, readonly inlined: Uint8Array, readonly end: Int32Array, readonly plain: boolean, private above?: Int32Array) {
		this.count = func.length;
	}

	// -1 for row 0. It is made when it is asked for, since ends say the same.
	get parent(): Int32Array {
		return (this.above ??= parentsOf(this.end));
	}

	// Gives its memory to others: to be called when nobody looks at it any more.
	release(): void {
		if (this.isReleased) return;
		this.isReleased = true;
		for (const column of [this.func, this.end, this.above]) if (column) giveColumn(column);
	}
}

export const ROOT = 0;
export const NONE = -1;

function parentsOf(end: Int32Array): Int32Array {
	const parent = takeColumn(end.length);
	parent[ROOT] = NONE;
	for (let row = 1, above = ROOT; row < end.length; row++) {
		while (row >= end[above]) above = parent[above];
		parent[row] = above;
		if (end[row] > row + 1) above = row;
	}
	return parent;
}

// The tree of rows that are in depth-first order already.
export function treeOf(parent: Int32Array, func: Int32Array, inlined: Uint8Array): Tree {
	const count = parent.length;
	const end = new Int32Array(count);
	for (let row = count - 1; row >= 0; row--) {
		if (end[row] === 0) end[row] = row + 1;
		if (row > 0 && end[row] > end[parent[row]]) end[parent[row]] = end[row];
	}
	return new Tree(func, inlined, end, !inlined.includes(1), parent);
}

// Row of a path of functions from the root; NONE if there is none.
export function rowOfPath(tree: Tree, path: readonly number[]): number {
	let row = ROOT;
	for (const func of path) {
		let child = row + 1;
		while (child < tree.end[row] && tree.func[child] !== func) child = tree.end[child];
		if (child >= tree.end[row]) return NONE;
		row = child;
	}
	return row;
}

export function depthOf(tree: Tree, row: number): number {
	let depth = 0;
	for (; row > ROOT; row = tree.parent[row]) depth++;
	return depth;
}

export function pathOfRow(tree: Tree, row: number): number[] {
	const path: number[] = [];
	for (; row > ROOT; row = tree.parent[row]) path.push(tree.func[row]);
	return path.reverse();
}
