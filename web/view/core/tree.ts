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
	readonly depth: Int32Array;
}

export const ROOT = 0;
export const NONE = -1;

// The tree of rows that are in depth-first order already.
export function treeOf(parent: Int32Array, func: Int32Array, inlined: Uint8Array): Tree {
	const count = parent.length;
	const end = new Int32Array(count);
	const depth = new Int32Array(count);
	for (let row = 1; row < count; row++) depth[row] = depth[parent[row]] + 1;
	for (let row = count - 1; row >= 0; row--) {
		if (end[row] === 0) end[row] = row + 1;
		if (row > 0 && end[row] > end[parent[row]]) end[parent[row]] = end[row];
	}
	return { count, parent, func, inlined, end, depth };
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

export function pathOfRow(tree: Tree, row: number): number[] {
	const path: number[] = [];
	for (; row > ROOT; row = tree.parent[row]) path.push(tree.func[row]);
	return path.reverse();
}

// What builders work with. It is kept, since memory that is asked for anew costs more than the work that is done in it.
interface Scratch {
	readonly size: number;
	readonly parent: Int32Array;
	readonly func: Int32Array;
	readonly inlined: Uint8Array;
	readonly first: Int32Array;
	readonly next: Int32Array;
	readonly shared: Uint8Array;
	readonly slots: Int32Array;
}

let scratch: Scratch | undefined;

function scratchOf(most: number): Scratch {
	let size = 16;
	while (size < most) size *= 2;
	if (scratch && scratch.size >= size) {
		scratch.first.fill(0, 0, most);
		scratch.shared.fill(0, 0, most);
		scratch.slots.fill(0, 0, 2 * size); // as far as the mask of this size reaches
		return scratch;
	}
	const ints = () => new Int32Array(size);
	return (scratch = {
		size, parent: ints(), func: ints(), inlined: new Uint8Array(size), first: ints(), next: ints(), shared: new Uint8Array(size),
		slots: new Int32Array(2 * size),
	});
}

// Rows get merged into nodes here: one node for each parent and function. Only nodes that stand for several rows need a
// hash table, since the children of one row differ anyway. One builder is used at a time.
export class TreeBuilder {
	private readonly parent: Int32Array;
	private readonly func: Int32Array;
	private readonly inlined: Uint8Array;
	private readonly first: Int32Array;
	private readonly next: Int32Array;
	private readonly shared: Uint8Array; // several rows are this node
	private readonly slots: Int32Array;
	private readonly mask: number;
	private count = 1;

	constructor(most: number) {
		const own = scratchOf(most);
		({ parent: this.parent, func: this.func, inlined: this.inlined } = own);
		({ first: this.first, next: this.next, shared: this.shared, slots: this.slots } = own);
		let size = 16;
		while (size < 2 * most) size *= 2;
		this.mask = size - 1;
		this.parent[0] = this.func[0] = NONE;
		this.next[0] = 0;
		this.shared[0] = 1;
	}

	private slot(parent: number, func: number): number {
		let at = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(func + 1, 0x85ebca6b)) >>> 0;
		at = (at ^ (at >>> 15)) & this.mask;
		for (let node = this.slots[at]; node !== 0; node = this.slots[at]) {
			if (this.parent[node] === parent && this.func[node] === func) break;
			at = (at + 1) & this.mask;
		}
		return at;
	}

	private append(parent: number, func: number, inlined: number): number {
		const node = this.count++;
		this.parent[node] = parent;
		this.func[node] = func;
		this.inlined[node] = inlined;
		this.next[node] = this.first[parent];
		this.first[parent] = node;
		return node;
	}

	// Another row is this node as well.
	share(node: number): void {
		if (this.shared[node] !== 0) return;
		this.shared[node] = 1;
		for (let child = this.first[node]; child !== 0; child = this.next[child])
			this.slots[this.slot(node, this.func[child])] = child;
	}

	child(parent: number, func: number, inlined: number): number {
		if (this.shared[parent] === 0) return this.append(parent, func, inlined);
		const at = this.slot(parent, func);
		const found = this.slots[at];
		if (found === 0) return (this.slots[at] = this.append(parent, func, inlined));
		this.share(found);
		return found;
	}

	// The tree, and for each node the row that it became.
	finish(): { tree: Tree; row: Int32Array } {
		const { count } = this;
		const row = new Int32Array(count);
		const parent = new Int32Array(count);
		const func = new Int32Array(count);
		const inlined = new Uint8Array(count);
		let used = 0;
		for (let node = 0; node !== NONE;) {
			const at = used++;
			row[node] = at;
			parent[at] = node === 0 ? NONE : row[this.parent[node]];
			func[at] = this.func[node];
			inlined[at] = this.inlined[node];
			node = this.after(node);
		}
		return { tree: treeOf(parent, func, inlined), row };
	}

	// The next node depth first.
	private after(node: number): number {
		if (this.first[node] !== 0) return this.first[node];
		while (node > 0 && this.next[node] === 0) node = this.parent[node];
		return node === 0 ? NONE : this.next[node];
	}
}
