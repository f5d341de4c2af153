// SPDX-License-Identifier: MIT
// Makes one tree of another: rows get merged into nodes, one for each parent and function. Subtrees that nothing happens to
// are one node until the end, when they are copied as they are.

import { takeColumn } from "./columns";
import { Stage } from "./stage";
import { NONE, ROOT, Tree } from "./tree";

const FEW = 8; // children that are searched one after the other; more are in a hash table
const FIRST_SLOTS = 65536; // a power of two
const COPIED = -2; // and less: this row is row COPIED - node of the new tree

// What builders work with. It is kept, since memory that is asked for anew costs more than the work that is done in it.
interface Scratch {
	readonly size: number;
	readonly node: Int32Array;
	readonly parent: Int32Array;
	readonly func: Int32Array;
	readonly inlined: Uint8Array;
	readonly first: Int32Array;
	readonly next: Int32Array;
	readonly origin: Int32Array;
	readonly sizes: Int32Array;
	readonly children: Uint8Array;
	readonly shared: Uint8Array;
	slots: Int32Array;
}

let scratch: Scratch | undefined;
let newest: TreeBuilder | undefined;

// Memory for trees of so many rows.
export function scratchOf(size: number): Scratch {
	if (scratch && scratch.size >= size) return scratch;
	const ints = (count = size) => new Int32Array(count).fill(1); // so that the memory is there
	return (scratch = {
		size, node: ints(), parent: ints(), func: ints(), inlined: new Uint8Array(size), first: ints(), next: ints(), origin: ints(),
		sizes: ints(), children: new Uint8Array(size), shared: new Uint8Array(size), slots: ints(FIRST_SLOTS),
	});
}

// Only nodes that stand for several rows need a search, since the children of one row differ anyway. One builder is used
// at a time.
export class TreeBuilder {
	private readonly own: Scratch;
	readonly node: Int32Array; // of each row: set it before the rows below; NONE: it is gone
	private readonly parent: Int32Array;
	private readonly func: Int32Array;
	private readonly inlined: Uint8Array;
	private readonly first: Int32Array;
	private readonly next: Int32Array;
	private readonly origin: Int32Array; // the row whose whole subtree a node is; 0: it is one frame
	private readonly sizes: Int32Array;
	private readonly children: Uint8Array; // up to one more than a few
	private readonly shared: Uint8Array; // several rows are this node
	private slots: Int32Array;
	private mask = FIRST_SLOTS - 1;
	private used = 0; // slots
	private count = 0;

	constructor(private readonly source: Tree) {
		const own = (this.own = scratchOf(source.count));
		({ node: this.node, parent: this.parent, func: this.func, inlined: this.inlined, origin: this.origin } = own);
		({ first: this.first, next: this.next, children: this.children, shared: this.shared, slots: this.slots, sizes: this.sizes } = own);
		this.slots.fill(0, 0, FIRST_SLOTS);
		this.node[ROOT] = this.append(ROOT, NONE, 0, 0);
		this.first[ROOT] = this.children[ROOT] = 0;
		this.shared[ROOT] = 1;
		newest = this;
	}

	// Until there is another one, which works in the same memory.
	get isUsable(): boolean {
		return newest === this;
	}

	private append(parent: number, func: number, inlined: number, origin: number): number {
		const node = this.count++;
		this.parent[node] = parent;
		this.func[node] = func;
		this.inlined[node] = inlined;
		this.origin[node] = origin;
		this.first[node] = this.children[node] = this.shared[node] = 0;
		this.next[node] = this.first[parent];
		this.first[parent] = node;
		if (this.children[parent] <= FEW) this.children[parent]++;
		return node;
	}

	private slot(parent: number, func: number): number {
		const { slots, mask, parent: parents, func: funcs } = this;
		const mixed = Math.imul(parent, 0x1e3779b1) ^ Math.imul(func, 0x05ebca6b);
		let at = (mixed ^ (mixed >>> 15)) & mask;
		for (let node = slots[at]; node !== 0; node = slots[at]) {
			if (funcs[node] === func && parents[node] === parent) break;
			at = (at + 1) & mask;
		}
		return at;
	}

	private put(node: number): void {
		if (2 * ++this.used > this.mask) this.grow();
		this.slots[this.slot(this.parent[node], this.func[node])] = node;
	}

	// Small tables stay near, so they grow as they are filled.
	private grow(): void {
		const nodes = this.slots.slice(0, this.mask + 1).filter((node) => node !== 0);
		const size = 4 * (this.mask + 1);
		if (this.slots.length < size) this.slots = this.own.slots = new Int32Array(size);
		else this.slots.fill(0, 0, size);
		this.mask = size - 1;
		for (const node of nodes) this.slots[this.slot(this.parent[node], this.func[node])] = node;
	}

	private putChildren(node: number): void {
		for (let child = this.first[node]; child !== 0; child = this.next[child]) this.put(child);
	}

	// The child of a shared node; 0 if there is none.
	private found(parent: number, func: number): number {
		if (this.children[parent] > FEW) return this.slots[this.slot(parent, func)];
		let child = this.first[parent];
		while (child !== 0 && this.func[child] !== func) child = this.next[child];
		return child;
	}

	private appendShared(parent: number, func: number, inlined: number, origin: number): number {
		const before = this.children[parent];
		const node = this.append(parent, func, inlined, origin);
		if (before > FEW) this.put(node);
		else if (before === FEW) this.putChildren(parent);
		return node;
	}

	// Another row is this node as well.
	share(node: number): void {
		if (this.shared[node] !== 0) return;
		if (this.origin[node] !== 0) this.open(node);
		this.shared[node] = 1;
		if (this.children[node] > FEW) this.putChildren(node);
	}

	// A subtree becomes a node with subtrees.
	private open(node: number): void {
		const { end, func, inlined } = this.source;
		const row = this.origin[node];
		this.origin[node] = 0;
		for (let child = row + 1; child < end[row]; child = end[child])
			this.node[child] = this.append(node, func[child], inlined[child], end[child] > child + 1 ? child : 0);
	}

	child(parent: number, func: number, inlined: number): number {
		if (this.shared[parent] === 0) return this.append(parent, func, inlined, 0);
		const found = this.found(parent, func);
		if (found === 0) return this.appendShared(parent, func, inlined, 0);
		this.share(found);
		return found;
	}

	// Puts a row with all below it under a node. Returns the row to go on with, which is the next one if the node has such a
	// child already.
	subtree(parent: number, row: number): number {
		const { end, func, inlined } = this.source;
		const origin = end[row] > row + 1 ? row : 0;
		if (this.shared[parent] === 0) {
			this.node[row] = this.append(parent, func[row], inlined[row], origin);
			return end[row];
		}
		const found = this.found(parent, func[row]);
		this.node[row] = found || this.appendShared(parent, func[row], inlined[row], origin);
		if (found === 0) return end[row];
		this.share(found);
		return row + 1;
	}

	// How many rows each node with all below it becomes; children have larger numbers than their parents.
	private measure(): void {
		const { sizes, origin, parent, count } = this;
		const { end } = this.source;
		sizes.fill(0, 0, count);
		for (let node = count - 1; node > ROOT; node--) {
			sizes[node] += origin[node] === 0 ? 1 : end[origin[node]] - origin[node];
			sizes[parent[node]] += sizes[node];
		}
		sizes[ROOT]++;
	}

	// The tree depth first, and the rows in it of a stage's leaves.
	finish({ leafRow, standing: { order } }: Stage): Stage {
		newest = undefined; // else it keeps the source
		this.measure();
		const { count, source, sizes, origin, first: place, next: cursor } = this;
		const rows = sizes[ROOT];
		const tree = new Tree(takeColumn(rows), source.plain ? source.inlined.subarray(0, rows) : new Uint8Array(rows), takeColumn(rows), source.plain);
		const { func, inlined, end } = tree;
		func[ROOT] = NONE;
		end[ROOT] = rows;
		place[ROOT] = 0;
		cursor[ROOT] = 1;
		for (let node = 1; node < count; node++) {
			const above = this.parent[node];
			const at = cursor[above];
			cursor[above] = at + sizes[node];
			cursor[node] = at + 1;
			place[node] = at;
			func[at] = this.func[node];
			if (!tree.plain) inlined[at] = this.inlined[node];
			end[at] = at + sizes[node];
			if (origin[node] !== 0) this.copy(tree, origin[node], at);
		}
		return new Stage(tree, this.leaves(leafRow, order), order);
	}

	// What is below a row.
	private copy(tree: Tree, row: number, at: number): void {
		const { node, source: { func, inlined, end } } = this;
		const { func: toFunc, end: toEnd } = tree;
		const last = end[row];
		const moved = at - row;
		if (!tree.plain) tree.inlined.set(inlined.subarray(row + 1, last), at + 1);
		for (let from = row + 1; from < last; from++) {
			const to = from + moved;
			toFunc[to] = func[from];
			toEnd[to] = end[from] + moved;
			node[from] = COPIED - to;
		}
	}

	private leaves(leafRow: Int32Array, order: Int32Array): Int32Array {
		const { node, first: place } = this;
		const rows = new Int32Array(leafRow.length);
		for (const leaf of order) {
			const at = node[leafRow[leaf]];
			rows[leaf] = at >= 0 ? place[at] : at === NONE ? ROOT : COPIED - at;
		}
		return rows;
	}
}
