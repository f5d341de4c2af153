// SPDX-License-Identifier: MIT
// What flame graphs and call trees show: nodes with children, from the roots or, inverted, from the leaves. Children are
// made when they are asked for.

import type { Sums } from "./sums";
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
		return this.sums.total[node];
	}

	self(node: number): number {
		return this.sums.self[node];
	}

	parent(node: number): number {
		return this.sums.tree.parent[node];
	}

	hasChildren(node: number): boolean {
		return this.sums.total[node] > this.sums.self[node];
	}

	children(node: number): readonly number[] {
		const { tree, total } = this.sums;
		const found: number[] = [];
		for (let child = node + 1; child < tree.end[node]; child = tree.end[child])
			if (total[child] > 0) found.push(child);
		return largestFirst(found, (one) => total[one]);
	}

	wide(node: number, least: number): Wide {
		const { tree: { end }, total } = this.sums;
		const found: number[] = [];
		let rest = 0;
		let value = 0;
		for (let child = node + 1; child < end[node]; child = end[child]) {
			const own = total[child];
			if (own >= least && own > 0) {
				found.push(child);
			} else if (own > 0) {
				rest++;
				value += own;
			}
		}
		return { nodes: largestFirst(found, (one) => total[one]), rest, value };
	}
}

interface InvertedNode {
	readonly func: number;
	readonly parent: number;
	readonly value: number;
	readonly inlined: boolean;
	readonly rows: Int32Array; // from first to end: where the stacks stand at this level
	readonly weights: Float64Array;
	readonly first: number;
	readonly end: number;
	children: number[] | undefined;
}

// Callers as children. What begins at the root is given as rows and their weights: those of leaves for a tree that is
// inverted, those of one function for its callers.
export class InvertedNodes implements Nodes {
	private readonly nodes: InvertedNode[];
	private readonly group: Int32Array; // of each function, in the list that is grouped; -1 between lists

	constructor(private readonly sums: Sums, functions: number, rows: Int32Array, weights: Float64Array, private readonly isSelf: boolean) {
		this.group = new Int32Array(functions).fill(NONE);
		let value = 0;
		for (let index = 0; index < weights.length; index++) value += weights[index];
		const root: InvertedNode = { func: NONE, parent: NONE, value, inlined: false, rows, weights, first: 0, end: 0, children: undefined };
		this.nodes = [root];
		root.children = this.grouped(ROOT, rows, weights);
	}

	// Sorts rows by their function, and makes a node for each.
	private grouped(parent: number, rows: Int32Array, weights: Float64Array): number[] {
		const { func: funcOf, inlined } = this.sums.tree;
		const { group } = this;
		const funcs: number[] = [];
		const counts: number[] = [];
		for (let index = 0; index < rows.length; index++) {
			const func = funcOf[rows[index]];
			if (group[func] === NONE) {
				group[func] = funcs.length;
				funcs.push(func);
				counts.push(0);
			}
			counts[group[func]]++;
		}
		const next = new Int32Array(funcs.length);
		for (let index = 1; index < next.length; index++) next[index] = next[index - 1] + counts[index - 1];
		const sorted = new Int32Array(rows.length);
		const sortedWeights = new Float64Array(rows.length);
		const values = new Float64Array(funcs.length);
		for (let index = 0; index < rows.length; index++) {
			const own = group[funcOf[rows[index]]];
			sorted[next[own]] = rows[index];
			sortedWeights[next[own]++] = weights[index];
			values[own] += weights[index];
		}
		for (const func of funcs) group[func] = NONE;
		const made = funcs.map((func, index) => this.nodes.push({
			func, parent, value: values[index], inlined: inlined[sorted[next[index] - 1]] !== 0, children: undefined,
			rows: sorted, weights: sortedWeights, first: next[index] - counts[index], end: next[index],
		}) - 1);
		return largestFirst(made, (one) => this.nodes[one].value);
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

	// Only the sampled functions have their own time.
	self(node: number): number {
		return this.isSelf && this.nodes[node].parent === ROOT ? this.nodes[node].value : 0;
	}

	parent(node: number): number {
		return this.nodes[node].parent;
	}

	hasChildren(node: number): boolean {
		const one = this.nodes[node];
		if (one.children) return one.children.length > 0;
		for (let at = one.first; at < one.end; at++) if (this.sums.tree.parent[one.rows[at]] !== ROOT) return true;
		return false;
	}

	children(node: number): readonly number[] {
		const one = this.nodes[node];
		if (one.children) return one.children;
		const rows = new Int32Array(one.end - one.first);
		const weights = new Float64Array(one.end - one.first);
		let used = 0;
		for (let index = one.first; index < one.end; index++) {
			const above = this.sums.tree.parent[one.rows[index]];
			if (above === ROOT) continue;
			rows[used] = above;
			weights[used++] = one.weights[index];
		}
		return (one.children = this.grouped(node, rows.subarray(0, used), weights.subarray(0, used)));
	}

	wide(node: number, least: number): Wide {
		const all = this.children(node);
		let count = 0;
		while (count < all.length && this.value(all[count]) >= least) count++;
		let value = 0;
		for (let index = count; index < all.length; index++) value += this.value(all[index]);
		return { nodes: all.slice(0, count), rest: all.length - count, value };
	}
}

export function invertedNodes(sums: Sums, functions: number): InvertedNodes {
	const { tree, self } = sums;
	let count = 0;
	for (let row = 1; row < tree.count; row++) if (self[row] !== 0) count++;
	const rows = new Int32Array(count);
	const weights = new Float64Array(count);
	for (let row = tree.count - 1; row > 0; row--) {
		if (self[row] === 0) continue;
		rows[--count] = row;
		weights[count] = self[row];
	}
	return new InvertedNodes(sums, functions, rows, weights, true);
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
