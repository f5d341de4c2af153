// SPDX-License-Identifier: MIT
// Stacks as a prefix table, depth first: the subtree of row r is r up to end[r], and parents come before their children.
//
// Row 0 stands above all stacks and is no frame. Everything here is a pass over the rows; nothing recurses.

export interface Tree {
	readonly count: number;
	readonly parent: Int32Array; // -1 for row 0
	readonly func: Int32Array; // -1 for row 0
	readonly inlined: Uint8Array;
	readonly end: Int32Array;
}

export const ROOT = 0;
export const NONE = -1;

// The tree of rows that are in depth-first order already.
export function treeOf(parent: Int32Array, func: Int32Array, inlined: Uint8Array): Tree {
	const count = parent.length;
	const end = new Int32Array(count);
	for (let row = count - 1; row >= 0; row--) {
		if (end[row] === 0) end[row] = row + 1;
		if (row > 0 && end[row] > end[parent[row]]) end[parent[row]] = end[row];
	}
	return { count, parent, func, inlined, end };
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
