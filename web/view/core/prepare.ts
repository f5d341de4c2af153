// SPDX-License-Identifier: MIT
// What later actions need is made ready while nobody waits, in small parts. Actions that come before it do without it.

import { scratchOf } from "./builder";
import { provideColumn } from "./columns";
import { Counter, Counts } from "./count";
import { boxesOf, DownwardNodes, invertedNodes } from "./nodes";
import type { Ids, Samples, Times } from "./recording";
import type { Session } from "./session";
import { FunctionSums, matchedIn, outermost, sumsOf } from "./sums";
import { Stage } from "./stage";
import { applied, TransformKey } from "./transform";
import { ROOT, treeOf } from "./tree";

const ROWS = 20000;
const SAMPLES = 200000;
const NAMES = 1000;
const BOXES = 60;
const MOST_BOXES = 3200;
const COLUMNS = 8; // of the stage that is shown and of the one before it, and what transforms have until they end
const ROUNDS = 6; // until the engine has compiled it
const KEYS: readonly TransformKey[] = ["ff", "mf", "df", "rd", "rr", "cf", "co", "hk", "fk"];

// The stacks of the first rows.
function beginning({ tree, leafRow }: Stage): Stage {
	const rows = Math.min(tree.count, ROWS);
	return new Stage(treeOf(tree.parent.subarray(0, rows), tree.func.subarray(0, rows), tree.inlined.subarray(0, rows)), leafRow.filter((row) => row < rows));
}

function touchAll({ self, total }: FunctionSums): number {
	return self.length + total.length;
}

function touchCounts({ samples }: Counts): number {
	return samples;
}

// What follows a change of the selection, on a small part.
function* sums(session: Session, part: Stage): Generator<void> {
	const functions = session.recording.functions.object.length;
	const made = sumsOf(part, session.counts.byLeaf);
	const mask = Uint8Array.from({ length: functions }, (_, func) => func % 2);
	for (let round = 0; round < ROUNDS; round++) {
		sumsOf(part, session.counts.byLeaf);
		touchAll(new FunctionSums(made, functions));
		outermost(made, round);
		matchedIn(made, mask);
		yield;
		for (const nodes of [new DownwardNodes(made), invertedNodes(made, functions)]) {
			boxesOf(nodes, ROOT, made.all / BOXES);
			yield;
		}
	}
}

function* counts({ samples, recording }: Session): Generator<void> {
	const count = Math.min(samples.count, SAMPLES);
	if (count === 0) return;
	const first = <T extends Times | Ids>(column: T) => column.subarray(0, count) as T;
	const part: Samples = { ...samples, count, time: first(samples.time), thread: first(samples.thread), cpu: first(samples.cpu),
		leaf: first(samples.leaf), times: samples.times && first(samples.times), weight: samples.weight && first(samples.weight) };
	const counter = new Counter(part, recording.base(true).leafRow.length, () => undefined);
	const threads = new Uint8Array(recording.threads.length).fill(1);
	for (let round = 0; round < ROUNDS; round++) {
		counter.count({ range: undefined, threads: undefined, cpus: undefined, cgroups: undefined });
		counter.count({ range: { from: part.time[count >> 1], to: part.time[count - 1] }, threads: undefined, cpus: undefined, cgroups: undefined });
		counter.count({ range: undefined, threads, cpus: undefined, cgroups: undefined });
		yield;
	}
}

function* transforms({ recording, state }: Session, part: Stage): Generator<void> {
	const base = recording.base(state.inlined);
	scratchOf(base.tree.count);
	yield;
	for (let round = 0; round < ROUNDS; round++)
		for (const key of KEYS) {
			const made = applied(part, { key, func: part.tree.func[part.tree.count - 1], object: 1, kind: 0 }, recording.functions);
			sumsOf(made, new Float64Array(made.leafRow.length));
			made.release();
			yield;
		}
	for (let column = 0; column < COLUMNS; column++) {
		provideColumn(base.tree.count + 2);
		yield;
	}
}

export function* preparation(session: Session): Generator<void> {
	while (session.lanes.prepare("cpu")) yield;
	const part = beginning(session.recording.base(session.state.inlined));
	yield* transforms(session, part);
	yield* sums(session, part);
	yield* counts(session);
	const { sums: whole, recording: { functions: { object: { length } } } } = session;
	session.lookAt(whole);
	for (let round = 0; round < 2; round++) {
		touchAll(new FunctionSums(whole, length)); // at its full size
		yield;
		const inverted = invertedNodes(whole, length);
		yield;
		boxesOf(inverted, ROOT, whole.all / MOST_BOXES);
		yield;
	}
	session.leave(whole);
	touchCounts(session.always);
	yield;
	while (session.searching.prepare(NAMES)) yield;
	session.searching.matches("\u0000");
	yield;
	yield* session.prepareWithoutKernel();
	for (const kind of new Set([session.state.lanes, "thread"] as const)) while (session.lanes.prepare(kind)) yield;
}
