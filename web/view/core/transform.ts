// SPDX-License-Identifier: MIT
// Transforms: from a tree of stacks and the row of each leaf to another tree and other rows. They change neither times nor
// weights. A leaf that comes to lie on row 0 has no stack any more, and its samples are in no total.

import { scratchOf, TreeBuilder } from "./builder";
import { giveColumn, takeColumn } from "./columns";
import { Stage } from "./stage";
import { NONE, ROOT, rowOfPath, Tree } from "./tree";

export type TransformKey = "ff" | "fs" | "fi" | "fo" | "fk" | "mf" | "mn" | "df" | "co" | "rd" | "rr" | "cf" | "hk";

export interface Transform {
	readonly key: TransformKey;
	readonly func?: number;
	readonly path?: readonly number[]; // functions from the root; of fi from the leaf
	readonly object?: number;
	readonly kind?: number;
}

// What transforms have to know of functions. There is a function for each object, which stands for it when it is collapsed.
export interface Functions {
	readonly object: Int32Array; // of each function
	readonly kind: Uint8Array;
	readonly ofObject: Int32Array; // function of each object
}

// What happens at a row where something happens; returns the row to go on with.
type Step = (row: number, builder: TreeBuilder) => number;

// All but some rows, in their order, stay where they are.
function rebuilding(tree: Tree, special: Int32Array, step: Step): TreeBuilder {
	const { count, parent, func, inlined, end } = tree;
	const builder = new TreeBuilder(tree);
	const { node } = builder;
	let at = 0;
	for (let row = 1; row < count;) {
		while (at < special.length && special[at] < row) at++;
		const next = at < special.length ? special[at] : count;
		if (row === next) {
			row = step(row, builder);
		} else if (end[row] <= next) {
			row = builder.subtree(node[parent[row]], row);
		} else {
			node[row] = builder.child(node[parent[row]], func[row], inlined[row]);
			row++;
		}
	}
	return builder;
}

function rebuilt(stage: Stage, special: Int32Array, step: Step): Stage {
	return rebuilding(stage.tree, special, step).finish(stage);
}

// Rows of which something holds for their function.
function rowsOf(tree: Tree, functions: Functions, wanted: (func: number) => boolean): Int32Array {
	const isWanted = new Uint8Array(functions.object.length);
	for (let func = 0; func < isWanted.length; func++) isWanted[func] = wanted(func) ? 1 : 0;
	const { count, func } = tree;
	const rows = scratchOf(count).sizes; // until these are measured
	let used = 0;
	for (let row = 1; row < count; row++) if (isWanted[func[row]] !== 0) rows[used++] = row;
	return rows.subarray(0, used);
}

function keep(tree: Tree, row: number, builder: TreeBuilder): number {
	const { node } = builder;
	node[row] = builder.child(node[tree.parent[row]], tree.func[row], tree.inlined[row]);
	return row + 1;
}

// A row is what a node is already: the children of several rows come together there, so they may be alike.
function join(row: number, node: number, builder: TreeBuilder): number {
	builder.node[row] = node;
	builder.share(node);
	return row + 1;
}

// The same rows with another function in some of them, which is not inlined.
function renamed(tree: Tree, rows: Int32Array, to: number): Tree {
	const func = takeColumn(tree.count);
	func.set(tree.func);
	const inlined = tree.plain ? tree.inlined : tree.inlined.slice();
	for (let at = 0; at < rows.length; at++) func[rows[at]] = to;
	if (!tree.plain) for (let at = 0; at < rows.length; at++) inlined[rows[at]] = 0;
	return new Tree(func, inlined, tree.end, tree.plain, tree.parent);
}

// Rows go away; what was below them goes to their callers.
function removing(stage: Stage, removed: Int32Array): TreeBuilder {
	const { parent } = stage.tree;
	return rebuilding(stage.tree, removed, (row, builder) => join(row, builder.node[parent[row]], builder));
}

function without(stage: Stage, removed: Int32Array): Stage {
	return removing(stage, removed).finish(stage);
}

// Functions of one kind go away; the caller ends it.
export function hiding(stage: Stage, kind: number, functions: Functions): TreeBuilder {
	return removing(stage, rowsOf(stage.tree, functions, (one) => functions.kind[one] === kind));
}

// Only some subtrees stay, none of which is in another.
function focused(stage: Stage, tops: Int32Array): Stage {
	const { end, count } = stage.tree;
	const gaps = new Int32Array(tops.length + 1);
	gaps[0] = 1;
	tops.forEach((top, index) => (gaps[index + 1] = end[top]));
	let at = 0;
	return rebuilt(stage, gaps, (row, builder) => {
		while (at < tops.length && tops[at] < row) at++;
		const next = at < tops.length ? tops[at] : count;
		builder.node.fill(ROOT, row, next);
		return next === row ? builder.subtree(ROOT, row) : next;
	});
}

// Those of some rows that are in the subtree of no other one.
function outermostOf(tree: Tree, rows: Int32Array): Int32Array {
	let until = 0;
	return rows.filter((row) => {
		if (row < until) return false;
		until = tree.end[row];
		return true;
	});
}

function focusSubtree(stage: Stage, path: readonly number[]): Stage {
	const row = rowOfPath(stage.tree, path);
	if (row === ROOT) return stage;
	return focused(stage, row === NONE ? new Int32Array(0) : Int32Array.of(row));
}

function mergeNode(stage: Stage, path: readonly number[]): Stage {
	const row = rowOfPath(stage.tree, path);
	return row <= ROOT ? stage : without(stage, Int32Array.of(row));
}

// The same with a path from the leaf: what was below its last function is cut off.
function focusInverted(stage: Stage, path: readonly number[]): Stage {
	const { tree, leafRow } = stage;
	const rows = new Int32Array(leafRow.length);
	for (let leaf = 0; leaf < rows.length; leaf++) {
		let row = leafRow[leaf];
		for (let step = 0; row > ROOT && step < path.length; step++) {
			if (tree.func[row] !== path[step]) row = ROOT;
			else if (step === path.length - 1) rows[leaf] = row;
			row = row > ROOT ? tree.parent[row] : ROOT;
		}
	}
	return new Stage(tree, rows);
}

// Samples whose innermost frame is the function, or whose innermost of one kind is.
function focusSelf(stage: Stage, wanted: number, kind: number | undefined, functions: Functions): Stage {
	const { tree } = stage;
	return rebuilt(stage, rowsOf(tree, functions, () => true), (row, builder) => {
		const { node } = builder;
		const func = tree.func[row];
		if (func === wanted && (kind === undefined || functions.kind[func] === kind)) {
			node[row] = builder.child(ROOT, func, tree.inlined[row]);
			return row + 1;
		}
		if (kind !== undefined && functions.kind[func] !== kind && node[tree.parent[row]] !== ROOT) return keep(tree, row, builder);
		node[row] = ROOT;
		return row + 1;
	});
}

function dropFunction(stage: Stage, dropped: Int32Array): Stage {
	const { end } = stage.tree;
	return rebuilt(stage, dropped, (row, builder) => {
		builder.node.fill(NONE, row, end[row]);
		return end[row];
	});
}

// All functions of an object become one. Few rows change their places: those that such a function called itself, and where a caller
// has several.
function collapseObject(stage: Stage, object: number, functions: Functions): Stage {
	const { tree, tree: { parent } } = stage;
	const pseudo = functions.ofObject[object];
	const inside = rowsOf(tree, functions, (func) => functions.object[func] === object);
	const named = renamed(tree, inside, pseudo);
	const isCaller = scratchOf(tree.count).shared.fill(0); // until there are nodes
	const moving = inside.filter((row) => {
		const isFirst = isCaller[parent[row]] === 0;
		isCaller[parent[row]] = 1;
		return !isFirst || named.func[parent[row]] === pseudo;
	});
	const builder = rebuilding(named, moving, (row, one) => {
		const above = one.node[parent[row]];
		if (named.func[parent[row]] === pseudo) return join(row, above, one);
		one.share(above); // its other children of the object become the same one
		return join(row, one.child(above, pseudo, 0), one);
	});
	const made = builder.finish(stage);
	giveColumn(named.func);
	return made;
}

function collapseDirect(stage: Stage, folded: Int32Array): Stage {
	const { tree } = stage;
	return without(stage, folded.filter((row) => tree.func[row] === tree.func[tree.parent[row]]));
}

// From the outermost call of a function to the innermost one.
function collapseRecursion(stage: Stage, folded: Int32Array): Stage {
	const { tree } = stage;
	let outer = ROOT;
	return rebuilt(stage, folded, (row, builder) => {
		if (outer !== ROOT && row < tree.end[outer]) return join(row, builder.node[outer], builder);
		outer = row;
		return keep(tree, row, builder);
	});
}

// Everything below a function becomes its own.
function collapseFunction(stage: Stage, folded: Int32Array): Stage {
	const { tree } = stage;
	return rebuilt(stage, folded, (row, builder) => {
		keep(tree, row, builder);
		builder.node.fill(builder.node[row], row + 1, tree.end[row]);
		return tree.end[row];
	});
}

export function applied(stage: Stage, transform: Transform, functions: Functions): Stage {
	const { func = NONE, path = [], object = NONE, kind } = transform;
	const { tree } = stage;
	const own = () => rowsOf(tree, functions, (one) => one === func);
	switch (transform.key) {
	case "ff": return focused(stage, outermostOf(tree, own()));
	case "fs": return focusSubtree(stage, path);
	case "fi": return focusInverted(stage, path);
	case "fo": return focusSelf(stage, func, kind, functions);
	case "fk": return without(stage, rowsOf(tree, functions, (one) => functions.kind[one] !== kind));
	case "hk": return hiding(stage, kind ?? NONE, functions).finish(stage);
	case "mf": return without(stage, own());
	case "mn": return mergeNode(stage, path);
	case "df": return dropFunction(stage, own());
	case "co": return collapseObject(stage, object, functions);
	case "rd": return collapseDirect(stage, own());
	case "rr": return collapseRecursion(stage, own());
	case "cf": return collapseFunction(stage, own());
	}
}
