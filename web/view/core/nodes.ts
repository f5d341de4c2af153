// SPDX-License-Identifier: MIT
// What flame graphs and call trees show: nodes with children, from the roots or, inverted, from the leaves. Children are
// made when they are asked for.

import { outermost, Sums } from "./sums";
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

function largestFirst(nodes: number[], value: (node: number) => number): number[] {
	return nodes.length < 2 ? nodes : nodes.sort((one, other) => value(other) - value(one) || one - other);
}

export class DownwardNodes implements Nodes {
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
		return this.wide(node, 0).nodes;
	}

	wide(node: number, least: number): Wide {
		const { sums, sums: { tree: { end }, before } } = this;
		const found: number[] = [];
		const last = end[node];
		let rest = 0;
		let value = 0;
		for (let child = node + 1; child < last;) {
			const next = end[child];
			const own = before[next] - before[child];
			if (own >= least && own > 0) {
				found.push(child);
			} else if (own > 0) {
				rest++;
				value += own;
			}
			child = next;
		}
		return { nodes: largestFirst(found, (one) => sums.total(one)), rest, value };
	}
}

// Rows where stacks stand, and what each has.
interface Places {
	readonly rows: Int32Array;
	readonly weights: Float64Array;
}

// Places sorted by their function, in the order in which the functions come first. Nodes are made of those that are asked for.
interface Groups extends Places {
	readonly funcs: Int32Array;
	readonly values: Float64Array;
	readonly first: Int32Array; // place of each, and one more
	readonly nodes: Int32Array; // 0: not made
}

interface GroupNode {
	readonly func: number;
	readonly parent: number;
	readonly value: number;
	readonly inlined: boolean;
	readonly places: Places; // from first to end
	readonly first: number;
	readonly end: number;
	groups: Groups | undefined; // of what is next
}

// Nodes that stand for several rows each: what is next to these, inwards or outwards, is grouped by its function when it is
// asked for. Outwards it is from sampled functions, or from one function to its callers.
export class GroupedNodes implements Nodes {
	private readonly nodes: GroupNode[];
	private readonly group: Int32Array; // of each function, while places are grouped; else -1
	private readonly funcs: Int32Array; // what groups are made in
	private readonly counts: Int32Array;
	private readonly values: Float64Array;

	constructor(private readonly sums: Sums, functions: number, places: Places, private readonly way: "self" | "callers" | "callees") {
		this.group = new Int32Array(functions).fill(NONE);
		this.funcs = new Int32Array(functions);
		this.counts = new Int32Array(functions);
		this.values = new Float64Array(functions);
		let value = 0;
		for (let index = 0; index < places.weights.length; index++) value += places.weights[index];
		this.nodes = [{ func: NONE, parent: NONE, value, inlined: false, places, first: 0, end: 0, groups: this.grouped(places) }];
	}

	private grouped({ rows, weights }: Places): Groups {
		const { func: funcOf } = this.sums.tree;
		const { group, counts } = this;
		const count = this.sumUp(rows, weights);
		const first = new Int32Array(count + 1);
		for (let one = 0; one < count; one++) {
			first[one + 1] = first[one] + counts[one];
			counts[one] = first[one];
		}
		const sorted = { rows: new Int32Array(rows.length), weights: new Float64Array(rows.length) };
		for (let index = 0; index < rows.length; index++) {
			const at = counts[group[funcOf[rows[index]]]]++;
			sorted.rows[at] = rows[index];
			sorted.weights[at] = weights[index];
		}
		const funcs = this.funcs.slice(0, count);
		for (let one = 0; one < count; one++) group[funcs[one]] = NONE;
		return { ...sorted, funcs, first, values: this.values.slice(0, count), nodes: new Int32Array(count) };
	}

	// How many functions there are, each with the number and the sum of its places.
	private sumUp(rows: Int32Array, weights: Float64Array): number {
		const { func: funcOf } = this.sums.tree;
		const { group, funcs, counts, values } = this;
		let count = 0;
		for (let index = 0; index < rows.length; index++) {
			const func = funcOf[rows[index]];
			let own = group[func];
			if (own === NONE) {
				own = group[func] = count++;
				funcs[own] = func;
				counts[own] = values[own] = 0;
			}
			counts[own]++;
			values[own] += weights[index];
		}
		return count;
	}

	private groupsOf(node: number): Groups {
		const one = this.nodes[node];
		return (one.groups ??= this.grouped(this.way === "callees" ? this.below(one) : this.above(one)));
	}

	private above({ places: { rows, weights }, first, end }: GroupNode): Places {
		const { parent } = this.sums.tree;
		const above = { rows: new Int32Array(end - first), weights: new Float64Array(end - first) };
		let used = 0;
		for (let at = first; at < end; at++) {
			const row = parent[rows[at]];
			if (row === ROOT) continue;
			above.rows[used] = row;
			above.weights[used++] = weights[at];
		}
		return { rows: above.rows.subarray(0, used), weights: above.weights.subarray(0, used) };
	}

	private below({ places: { rows }, first, end }: GroupNode): Places {
		const { tree, before } = this.sums;
		const found: number[] = [];
		for (let at = first; at < end; at++)
			for (let child = rows[at] + 1; child < tree.end[rows[at]]; child = tree.end[child])
				if (before[tree.end[child]] > before[child]) found.push(child);
		return { rows: Int32Array.from(found), weights: Float64Array.from(found, (row) => this.sums.total(row)) };
	}

	private nodeOf(parent: number, groups: Groups, group: number): number {
		const { nodes, funcs, values, first, rows } = groups;
		if (nodes[group] === 0)
			nodes[group] = this.nodes.push({ func: funcs[group], parent, value: values[group], groups: undefined, places: groups, first: first[group],
				end: first[group + 1], inlined: this.sums.tree.inlined[rows[first[group + 1] - 1]] !== 0 }) - 1;
		return nodes[group];
	}

	func(node: number): number {
		return this.nodes[node].func;
	}

	inlined(node: number): boolean {
		return this.nodes[node].inlined;
	}

	value(node: number): number {
		return this.nodes[node].value;
	}

	// Outwards only the sampled functions have their own time.
	self(node: number): number {
		const { parent, value, places: { rows }, first, end } = this.nodes[node];
		if (this.way !== "callees") return this.way === "self" && parent === ROOT ? value : 0;
		let sum = 0;
		for (let at = first; at < end; at++) sum += this.sums.self(rows[at]);
		return sum;
	}

	parent(node: number): number {
		return this.nodes[node].parent;
	}

	hasChildren(node: number): boolean {
		const { value, groups, places: { rows }, first, end } = this.nodes[node];
		if (groups) return groups.funcs.length > 0;
		if (this.way === "callees") return value > this.self(node);
		for (let at = first; at < end; at++) if (this.sums.tree.parent[rows[at]] !== ROOT) return true;
		return false;
	}

	children(node: number): readonly number[] {
		return this.wide(node, 0).nodes;
	}

	wide(node: number, least: number): Wide {
		const groups = this.groupsOf(node);
		const { values } = groups;
		const found: number[] = [];
		let rest = 0;
		let value = 0;
		for (let group = 0; group < values.length; group++) {
			if (values[group] >= least) {
				found.push(group);
			} else {
				rest++;
				value += values[group];
			}
		}
		return { nodes: largestFirst(found, (one) => values[one]).map((group) => this.nodeOf(node, groups, group)), rest, value };
	}
}

export function invertedNodes(sums: Sums, functions: number): GroupedNodes {
	const { tree: { count }, before } = sums;
	let used = 0;
	for (let row = 1; row < count; row++) if (before[row + 1] !== before[row]) used++;
	const rows = new Int32Array(used);
	const weights = new Float64Array(used);
	used = 0;
	for (let row = 1; row < count; row++) {
		const own = before[row + 1] - before[row];
		if (own === 0) continue;
		rows[used] = row;
		weights[used++] = own;
	}
	return new GroupedNodes(sums, functions, { rows, weights }, "self");
}

// From a function to its callers, or to what it calls: of its outermost calls, so that each sample counts once.
export function nodesAround(sums: Sums, functions: number, func: number, way: "callers" | "callees"): GroupedNodes {
	const rows = Int32Array.from(outermost(sums, func).rows);
	return new GroupedNodes(sums, functions, { rows, weights: Float64Array.from(rows, (row) => sums.total(row)) }, way);
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
