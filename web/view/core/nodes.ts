// SPDX-License-Identifier: MIT
// What flame graphs and call trees show: nodes with children, from the roots or, inverted, from the leaves. Children are
// made when they are asked for.

import { eachOwn, outermost, Sums } from "./sums";
import { NONE, ROOT } from "./tree";

export interface Nodes {
	func(node: number): number;
	inlined(node: number): boolean;
	value(node: number): number;
	self(node: number): number;
	parent(node: number): number;
	hasChildren(node: number): boolean;
	children(node: number): readonly number[]; // the largest first, none of 0
	wide(node: number, least: number): Wide;
}

// The children that are at least so large, the largest first, and what the others are together.
export interface Wide {
	readonly nodes: readonly number[];
	readonly rest: number;
	readonly value: number; // of the rest
}

// Nodes in rising order by their values, the largest first.
function largestFirst(nodes: number[], values: readonly number[]): number[] {
	if (nodes.length < 2) return nodes;
	const order = Uint32Array.from(nodes.keys()).sort((one, other) => values[other] - values[one] || one - other);
	return Array.from(order, (at) => nodes[at]);
}

export class DownwardNodes implements Nodes {
	private readonly kept = new Map<number, readonly number[]>(); // children of what was opened

	constructor(readonly sums: Sums) {}

	func(node: number): number {
		return this.sums.tree.func[node];
	}

	inlined(node: number): boolean {
		return this.sums.tree.inlined[node] !== 0;
	}

	value(node: number): number {
		return this.sums.total(node);
	}

	self(node: number): number {
		return this.sums.self(node);
	}

	parent(node: number): number {
		return this.sums.tree.parent[node];
	}

	hasChildren(node: number): boolean {
		return this.sums.total(node) > this.sums.self(node);
	}

	children(node: number): readonly number[] {
		let found = this.kept.get(node);
		if (!found) this.kept.set(node, (found = this.wide(node, 0).nodes));
		return found;
	}

	wide(node: number, least: number): Wide {
		const { tree: { end }, at, upTo } = this.sums;
		const found: number[] = [];
		const foundValues: number[] = [];
		const last = end[node];
		let rest = 0;
		let value = 0;
		for (let child = node + 1, low = upTo[at[child]]; child < last;) {
			const next = end[child];
			const high = upTo[at[next]];
			const own = high - low;
			if (own >= least && own > 0) {
				found.push(child);
				foundValues.push(own);
			} else if (own > 0) {
				rest++;
				value += own;
			}
			child = next;
			low = high;
		}
		return { nodes: largestFirst(found, foundValues), rest, value };
	}
}

// Rows where stacks stand, and what each has.
class Places {
	rows: Int32Array;
	weights: Float64Array;
	used = 0;

	constructor(size: number) {
		this.rows = new Int32Array(size);
		this.weights = new Float64Array(size);
	}

	reserve(count: number): void {
		const size = this.used + count;
		if (size <= this.rows.length) return;
		const { rows, weights } = this;
		this.rows = new Int32Array(2 * size);
		this.weights = new Float64Array(2 * size);
		this.rows.set(rows);
		this.weights.set(weights);
	}

	put(row: number, weight: number): void {
		if (this.used === this.rows.length) this.reserve(1);
		this.rows[this.used] = row;
		this.weights[this.used++] = weight;
	}
}

const COLUMNS = 5; // of a node: its function, its parent, its first place and the one after its last, and its first child, or -1 if it is not known
const [FUNC, PARENT, FIRST, END, CHILD] = [0, 1, 2, 3, 4];

// Nodes that stand for several rows each: what is next to these, inwards or outwards, is grouped by its function when it is
// asked for. Outwards it is from sampled functions, or from one function to its callers. Children of a node are numbered one after
// another; all lies in a few large columns, since many small ones take longer than what is done with them.
export class GroupedNodes implements Nodes {
	private readonly places: Places; // sorted by node
	private readonly next = new Places(1024); // what is to be sorted
	private readonly group: Int32Array; // of each function, while places are grouped; else -1
	private nodes = new Int32Array(1024 * COLUMNS);
	private values = new Float64Array(1024);
	private count = 0;

	constructor(private readonly sums: Sums, functions: number, places: Places, private readonly way: "self" | "callers" | "callees") {
		this.group = new Int32Array(functions).fill(NONE);
		this.places = new Places(2 * places.used);
		let value = 0;
		for (let at = 0; at < places.used; at++) value += places.weights[at];
		this.append(NONE, NONE);
		this.values[ROOT] = value;
		this.nodes[CHILD] = 1;
		this.grouped(ROOT, places);
	}

	private append(func: number, parent: number): number {
		const node = this.count++;
		if (node === this.values.length) {
			const { nodes, values } = this;
			this.nodes = new Int32Array(2 * nodes.length);
			this.values = new Float64Array(2 * values.length);
			this.nodes.set(nodes);
			this.values.set(values);
		}
		const at = node * COLUMNS;
		this.nodes[at + FUNC] = func;
		this.nodes[at + PARENT] = parent;
		this.nodes[at + CHILD] = NONE;
		return node;
	}

	// Sorts places by their function, and makes a node for each.
	private grouped(parent: number, { rows, weights, used }: Places): void {
		const { places, group } = this;
		const from = this.sumUp(parent, rows, weights, used);
		const { nodes, count } = this;
		places.reserve(used);
		for (let node = from; node < count; node++) {
			const at = node * COLUMNS;
			nodes[at + FIRST] = places.used;
			places.used += nodes[at + END];
			nodes[at + END] = nodes[at + FIRST];
		}
		const { func: funcOf } = this.sums.tree;
		const { rows: toRows, weights: toWeights } = places;
		for (let index = 0; index < used; index++) {
			const to = nodes[group[funcOf[rows[index]]] * COLUMNS + END]++;
			toRows[to] = rows[index];
			toWeights[to] = weights[index];
		}
		for (let node = from; node < count; node++) group[nodes[node * COLUMNS + FUNC]] = NONE;
	}

	// Nodes for the functions in the order in which they come first, each with the sum of its places and, as its end, their number.
	private sumUp(parent: number, rows: Int32Array, weights: Float64Array, used: number): number {
		const { func: funcOf } = this.sums.tree;
		const { group } = this;
		const from = this.count;
		for (let index = 0; index < used; index++) {
			const func = funcOf[rows[index]];
			let node = group[func];
			if (node === NONE) {
				node = group[func] = this.append(func, parent);
				this.nodes[node * COLUMNS + END] = this.values[node] = 0;
			}
			this.nodes[node * COLUMNS + END]++;
			this.values[node] += weights[index];
		}
		return from;
	}

	// The first child of a node; the one after the last has another parent.
	private childOf(node: number): number {
		const at = node * COLUMNS;
		if (this.nodes[at + CHILD] === NONE) {
			const first = this.count;
			this.next.used = 0;
			if (this.way === "callees") this.goIn(this.nodes[at + FIRST], this.nodes[at + END]);
			else this.goOut(this.nodes[at + FIRST], this.nodes[at + END]);
			this.grouped(node, this.next);
			this.nodes[at + CHILD] = first;
		}
		return this.nodes[at + CHILD];
	}

	private goOut(first: number, end: number): void {
		const { next, places: { rows, weights }, sums: { tree: { parent } } } = this;
		for (let at = first; at < end; at++) {
			const above = parent[rows[at]];
			if (above !== ROOT) next.put(above, weights[at]);
		}
	}

	private goIn(first: number, last: number): void {
		const { next, places: { rows }, sums, sums: { tree: { end } } } = this;
		for (let at = first; at < last; at++) {
			const below = end[rows[at]];
			for (let child = rows[at] + 1; child < below; child = end[child]) {
				const own = sums.total(child);
				if (own !== 0) next.put(child, own);
			}
		}
	}

	func(node: number): number {
		return this.nodes[node * COLUMNS + FUNC];
	}

	inlined(node: number): boolean {
		return node !== ROOT && this.sums.tree.inlined[this.places.rows[this.nodes[node * COLUMNS + END] - 1]] !== 0;
	}

	value(node: number): number {
		return this.values[node];
	}

	// Outwards only the sampled functions have their own time.
	self(node: number): number {
		const at = node * COLUMNS;
		if (this.way !== "callees") return this.way === "self" && this.nodes[at + PARENT] === ROOT ? this.values[node] : 0;
		let sum = 0;
		if (node !== ROOT) for (let place = this.nodes[at + FIRST]; place < this.nodes[at + END]; place++) sum += this.sums.self(this.places.rows[place]);
		return sum;
	}

	parent(node: number): number {
		return this.nodes[node * COLUMNS + PARENT];
	}

	hasChildren(node: number): boolean {
		const at = node * COLUMNS;
		if (node === ROOT) return this.count > 1;
		if (this.way === "callees") return this.values[node] > this.self(node);
		for (let place = this.nodes[at + FIRST]; place < this.nodes[at + END]; place++) if (this.sums.tree.parent[this.places.rows[place]] !== ROOT) return true;
		return false;
	}

	children(node: number): readonly number[] {
		return this.wide(node, 0).nodes;
	}

	wide(node: number, least: number): Wide {
		const found: number[] = [];
		const foundValues: number[] = [];
		let rest = 0;
		let value = 0;
		const first = this.childOf(node);
		const { nodes, values, count } = this;
		for (let child = first; child < count && nodes[child * COLUMNS + PARENT] === node; child++) {
			if (values[child] >= least) {
				found.push(child);
				foundValues.push(values[child]);
			} else {
				rest++;
				value += values[child];
			}
		}
		return { nodes: largestFirst(found, foundValues), rest, value };
	}
}

export function invertedNodes(sums: Sums, functions: number): GroupedNodes {
	const places = new Places(sums.stage.leafRow.length);
	eachOwn(sums, (row, own) => places.put(row, own));
	return new GroupedNodes(sums, functions, places, "self");
}

// From a function to its callers, or to what it calls: of its outermost calls, so that each sample counts once.
export function nodesAround(sums: Sums, functions: number, func: number, way: "callers" | "callees"): GroupedNodes {
	const places = new Places(1024);
	for (const row of outermost(sums, func).rows) places.put(row, sums.total(row));
	return new GroupedNodes(sums, functions, places, way);
}

export function pathOf(nodes: Nodes, node: number): number[] {
	const path: number[] = [];
	for (; node > ROOT; node = nodes.parent(node)) path.push(nodes.func(node));
	return path.reverse();
}

// The node of a path of functions; NONE if there is none.
export function nodeOf(nodes: Nodes, path: readonly number[]): number {
	let node = ROOT;
	for (const func of path) {
		const child = nodes.children(node).find((one) => nodes.func(one) === func);
		if (child === undefined) return NONE;
		node = child;
	}
	return node;
}

// The nodes of other sums that have the same paths, found as they are asked for.
export class Twin {
	private readonly found = new Map<number, number>([[ROOT, ROOT]]);

	// funcOf: the same function in the other nodes; NONE: there is none.
	constructor(private readonly nodes: Nodes, readonly other: Nodes, private readonly funcOf: (func: number) => number = (func) => func) {}

	of(node: number): number {
		const { nodes, other } = this;
		if (nodes instanceof DownwardNodes && other instanceof DownwardNodes && nodes.sums.tree === other.sums.tree) return node;
		let found = this.found.get(node);
		if (found !== undefined) return found;
		const above = this.of(nodes.parent(node));
		const func = this.funcOf(nodes.func(node));
		found = above === NONE || func === NONE ? NONE : other.children(above).find((one) => other.func(one) === func) ?? NONE;
		this.found.set(node, found);
		return found;
	}

	value(node: number): number {
		const other = this.of(node);
		return other === NONE ? 0 : this.other.value(other);
	}
}

export interface Box {
	node: number; // NONE: what is too narrow to be drawn, of `rest` nodes
	parent: number;
	depth: number;
	x: number;
	value: number;
	rest: number;
}

// Nodes of at least `least` below one node, and for each parent what is narrower as one box.
export function boxesOf(nodes: Nodes, top: number, least: number): Box[] {
	const boxes: Box[] = [{ node: top, parent: NONE, depth: 0, x: 0, value: nodes.value(top), rest: 0 }];
	for (let index = 0; index < boxes.length; index++) {
		const box = boxes[index];
		if (box.node === NONE) continue;
		if (!nodes.hasChildren(box.node)) continue;
		let { x } = box;
		const { nodes: wide, rest, value } = nodes.wide(box.node, least);
		for (const child of wide) {
			const own = nodes.value(child);
			boxes.push({ node: child, parent: box.node, depth: box.depth + 1, x, value: own, rest: 0 });
			x += own;
		}
		if (value >= least) boxes.push({ node: NONE, parent: box.node, depth: box.depth + 1, x, value, rest });
	}
	return boxes;
}
