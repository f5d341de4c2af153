// SPDX-License-Identifier: MIT
// Transforms: from a tree of stacks and the row of each leaf to another tree and other rows. They change neither times nor
// weights. A leaf that comes to lie on row 0 has no stack any more, and its samples are in no total.

import { NONE, ROOT, Tree, TreeBuilder } from "./tree";

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

// Stacks and leaves after some transforms.
export interface Stage {
	readonly tree: Tree;
	readonly leafRow: Int32Array; // of each leaf; ROOT: it is gone
}

// Decides where a row goes: on a node (which is ROOT for none), or NONE if whatever ends at or below it is gone.
type Place = (row: number, func: number, above: number, builder: TreeBuilder) => number;

function child(tree: Tree, row: number, above: number, builder: TreeBuilder): number {
	return builder.child(above, tree.func[row], tree.inlined[row]);
}

function rebuilt(stage: Stage, place: Place): Stage {
	const { tree, leafRow } = stage;
	const builder = new TreeBuilder(tree.count);
	const node = new Int32Array(tree.count);
	for (let row = 1; row < tree.count; row++) {
		const above = node[tree.parent[row]];
		if (above === NONE) {
			node[row] = NONE;
			continue;
		}
		const at = place(row, tree.func[row], above, builder);
		// The children of several rows come together below one node, so they may be alike.
		if (at === above) builder.share(at);
		node[row] = at;
	}
	const done = builder.finish();
	const rows = new Int32Array(leafRow.length);
	for (let leaf = 0; leaf < rows.length; leaf++) {
		const at = node[leafRow[leaf]];
		rows[leaf] = at > 0 ? done.row[at] : ROOT;
	}
	return { tree: done.tree, leafRow: rows };
}

// Rows of functions go away; what was below them goes to their callers.
function without(stage: Stage, removed: (func: number) => boolean): Stage {
	const { tree } = stage;
	return rebuilt(stage, (row, func, above, builder) => (removed(func) ? above : child(tree, row, above, builder)));
}

function focusFunction(stage: Stage, wanted: number): Stage {
	const { tree } = stage;
	return rebuilt(stage, (row, func, above, builder) =>
		above !== ROOT || func === wanted ? child(tree, row, above, builder) : ROOT);
}

// How many functions of a path a row and its callers are; 0 if they are not the beginning of it.
function matched(tree: Tree, path: readonly number[]): Int32Array {
	const length = new Int32Array(tree.count);
	for (let row = 1; row < tree.count; row++) {
		const above = length[tree.parent[row]];
		const fits = above === tree.depth[row] - 1 && above < path.length && tree.func[row] === path[above];
		length[row] = fits ? above + 1 : 0;
	}
	return length;
}

function focusSubtree(stage: Stage, path: readonly number[]): Stage {
	const { tree } = stage;
	const length = matched(tree, path);
	return rebuilt(stage, (row, _func, above, builder) => {
		if (above !== ROOT || length[row] === path.length) return child(tree, row, above, builder);
		return length[row] === 0 ? NONE : ROOT;
	});
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
	return { tree, leafRow: rows };
}

// Samples whose innermost frame is the function, or whose innermost of one kind is.
function focusSelf(stage: Stage, wanted: number, kind: number | undefined, functions: Functions): Stage {
	const { tree } = stage;
	return rebuilt(stage, (row, func, above, builder) => {
		if (kind !== undefined && functions.kind[func] !== kind) return above === ROOT ? ROOT : child(tree, row, above, builder);
		return func === wanted ? child(tree, row, ROOT, builder) : ROOT;
	});
}

function mergeNode(stage: Stage, path: readonly number[]): Stage {
	const { tree } = stage;
	const length = matched(tree, path);
	return rebuilt(stage, (row, _func, above, builder) =>
		length[row] === path.length ? above : child(tree, row, above, builder));
}

function dropFunction(stage: Stage, dropped: number): Stage {
	const { tree } = stage;
	return rebuilt(stage, (row, func, above, builder) => (func === dropped ? NONE : child(tree, row, above, builder)));
}

function collapseObject(stage: Stage, object: number, functions: Functions): Stage {
	const { tree } = stage;
	const pseudo = functions.ofObject[object];
	const inside = new Uint8Array(tree.count);
	for (let row = 1; row < tree.count; row++) inside[row] = functions.object[tree.func[row]] === object ? 1 : 0;
	return rebuilt(stage, (row, _func, above, builder) => {
		if (inside[row] === 0) return child(tree, row, above, builder);
		return inside[tree.parent[row]] !== 0 ? above : builder.child(above, pseudo, 0);
	});
}

function collapseDirect(stage: Stage, folded: number): Stage {
	const { tree } = stage;
	return rebuilt(stage, (row, func, above, builder) =>
		func === folded && tree.func[tree.parent[row]] === folded ? above : child(tree, row, above, builder));
}

// From the outermost call of a function to the innermost one.
function collapseRecursion(stage: Stage, folded: number): Stage {
	const { tree } = stage;
	const outermost = new Int32Array(tree.count);
	return rebuilt(stage, (row, func, above, builder) => {
		const outer = outermost[tree.parent[row]];
		if (func === folded && outer !== 0) {
			builder.share(outer);
			return (outermost[row] = outer);
		}
		const node = child(tree, row, above, builder);
		outermost[row] = func === folded ? node : outer;
		return node;
	});
}

// Everything below a function becomes its own.
function collapseFunction(stage: Stage, folded: number): Stage {
	const { tree } = stage;
	const inside = new Uint8Array(tree.count);
	return rebuilt(stage, (row, func, above, builder) => {
		inside[row] = inside[tree.parent[row]] | (func === folded ? 1 : 0);
		return inside[tree.parent[row]] !== 0 ? above : child(tree, row, above, builder);
	});
}

export function applied(stage: Stage, transform: Transform, functions: Functions): Stage {
	const { func = NONE, path = [], object = NONE, kind } = transform;
	switch (transform.key) {
	case "ff": return focusFunction(stage, func);
	case "fs": return focusSubtree(stage, path);
	case "fi": return focusInverted(stage, path);
	case "fo": return focusSelf(stage, func, kind, functions);
	case "fk": return without(stage, (one) => functions.kind[one] !== kind);
	case "hk": return without(stage, (one) => functions.kind[one] === kind);
	case "mf": return without(stage, (one) => one === func);
	case "mn": return mergeNode(stage, path);
	case "df": return dropFunction(stage, func);
	case "co": return collapseObject(stage, object, functions);
	case "rd": return collapseDirect(stage, func);
	case "rr": return collapseRecursion(stage, func);
	case "cf": return collapseFunction(stage, func);
	}
}
