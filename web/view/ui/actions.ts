// SPDX-License-Identifier: MIT
// What can be done with the selected function: one list for keys, menu and help, and the words of crumbs.

import type { Session } from "../core/session";
import { Stage } from "../core/stage";
import type { State } from "../core/state";
import { applied, Transform, TransformKey } from "../core/transform";
import { pathOfRow, treeOf } from "../core/tree";

export interface Action {
	readonly key: string;
	readonly label: string;
	readonly transform: (session: Session) => Transform | undefined;
}

function ofFunction(key: TransformKey): Action["transform"] {
	return ({ state: { func } }) => (func < 0 ? undefined : { key, func });
}

function ofKind({ state, recording }: Session): Transform | undefined {
	return state.func < 0 ? undefined : { key: "fk", kind: recording.kindOf(state.func) };
}

function ofObject({ state, recording }: Session): Transform | undefined {
	const object = recording.functions.object[state.func] ?? 0;
	return object === 0 ? undefined : { key: "co", object };
}

function ofPath(key: "fs" | "mn"): Action["transform"] {
	return ({ state: { path, invert } }) => {
		if (path.length === 0 || (invert && key === "mn")) return undefined;
		return { key: invert ? "fi" : key, path };
	};
}

export const ACTIONS: readonly Action[] = [
	{ key: "f", label: "Focus on function", transform: ofFunction("ff") },
	{ key: "F", label: "Focus on subtree", transform: ofPath("fs") },
	{ key: "S", label: "Focus on self", transform: ofFunction("fo") },
	{ key: "g", label: "Focus on kind", transform: ofKind },
	{ key: "m", label: "Merge function into callers", transform: ofFunction("mf") },
	{ key: "M", label: "Merge this node only", transform: ofPath("mn") },
	{ key: "x", label: "Drop samples with function", transform: ofFunction("df") },
	{ key: "c", label: "Collapse function", transform: ofFunction("cf") },
	{ key: "C", label: "Collapse object", transform: ofObject },
	{ key: "R", label: "Collapse direct recursion", transform: ofFunction("rd") },
	{ key: "r", label: "Collapse recursion", transform: ofFunction("rr") },
];

const LABELS: Readonly<Record<TransformKey, string>> = {
	ff: "Focus", fs: "Focus subtree", fi: "Focus subtree", fo: "Focus self", fk: "Focus kind", hk: "Hide", mf: "Merge", mn: "Merge node",
	df: "Drop", co: "Collapse", rd: "Collapse direct recursion", rr: "Collapse recursion", cf: "Collapse",
};

export function labelOf(session: Session, transform: Transform): string {
	const { recording } = session;
	const last = transform.path?.[transform.path.length - 1];
	let name = "";
	if (transform.object !== undefined) name = recording.string(recording.objectName[transform.object] ?? 0);
	else if (transform.func !== undefined) name = recording.name(transform.func);
	else if (last !== undefined) name = recording.name(last);
	else if (transform.kind !== undefined) name = recording.header.kinds[transform.kind]?.name ?? "";
	return `${LABELS[transform.key]}: ${name}`;
}

// The selected path after a transform; nothing if it is gone.
function pathAfter(session: Session, transform: Transform, path: readonly number[]): number[] {
	if (path.length === 0 || session.state.invert) return [];
	const parent = Int32Array.from({ length: path.length + 1 }, (_, row) => row - 1);
	const func = Int32Array.from([-1, ...path]);
	const stage = new Stage(treeOf(parent, func, new Uint8Array(func.length)), Int32Array.of(path.length));
	const after = applied(stage, transform, session.recording.functions);
	return pathOfRow(after.tree, after.leafRow[0]);
}

// The change of state that adds a transform.
export function added(session: Session, transform: Transform): Partial<State> {
	const { state } = session;
	const path = pathAfter(session, transform, state.path);
	return { transforms: [...state.transforms, transform], path, zoom: [], func: path[path.length - 1] ?? state.func };
}

// Takes the kernel away, or gives it back.
export function hideKernel(session: Session): Partial<State> {
	const { transforms } = session.state;
	const others = transforms.filter((one) => one.key !== "hk");
	if (others.length < transforms.length) return { transforms: others, path: [], zoom: [] };
	return { ...added(session, { key: "hk", kind: session.recording.kernelKind }), zoom: [] };
}
