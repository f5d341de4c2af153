// SPDX-License-Identifier: MIT
// What later actions need is made ready while nobody waits, in small parts. Actions that come before it do without it.

import { scratchOf } from "./builder";
import type { Session } from "./session";
import { applied, Stage, TransformKey } from "./transform";
import { treeOf } from "./tree";

const ROWS = 20000;
const ROUNDS = 6; // until the engine has compiled it
const KEYS: readonly TransformKey[] = ["ff", "mf", "df", "rd", "rr", "cf", "co", "hk", "fk"];

// The stacks of the first rows.
function beginning({ tree, leafRow }: Stage): Stage {
	const rows = Math.min(tree.count, ROWS);
	return { tree: treeOf(tree.parent.subarray(0, rows), tree.func.subarray(0, rows), tree.inlined.subarray(0, rows)),
		leafRow: leafRow.filter((row) => row < rows) };
}

function* transforms({ recording, state }: Session): Generator<void> {
	const base = recording.base(state.inlined);
	scratchOf(base.tree.count);
	yield;
	const part = beginning(base);
	for (let round = 0; round < ROUNDS; round++)
		for (const key of KEYS) {
			applied(part, { key, func: part.tree.func[part.tree.count - 1], object: 1, kind: 0 }, recording.functions);
			yield;
		}
}

export function* preparation(session: Session): Generator<void> {
	while (session.lanes.prepare("cpu")) yield;
	yield* transforms(session);
	while (session.lanes.prepare(session.state.lanes)) yield;
}
