// SPDX-License-Identifier: MIT
// Samples by process, thread or CPU: those of a lane lie side by side, in time order.

import type { Choice, Choose, Filter } from "./count";
import type { Ids, Recording, Samples } from "./recording";
import type { LaneKind } from "./state";

const PART = 250000; // samples that are sorted at a time

export interface Lanes {
	readonly start: Int32Array; // of each key, and one more
	readonly order: Int32Array; // samples
}

// Sorts samples part by part, so that a page can do it while nobody waits. A sample's key is that of its value plus one.
export class Grouping {
	readonly start: Int32Array;
	readonly order: Int32Array;
	private readonly next: Int32Array;
	private at = 0;
	private counted = false;
	private ended = false;

	constructor(private readonly column: Ids, private readonly keyOf: Int32Array, keys: number) {
		this.start = new Int32Array(keys + 1);
		this.next = new Int32Array(keys);
		this.order = new Int32Array(column.length);
	}

	get done(): boolean {
		return this.ended;
	}

	step(): void {
		const { column } = this;
		const to = Math.min(this.at + PART, column.length);
		if (this.counted) this.place(this.at, to);
		else this.count(this.at, to);
		this.at = to;
		if (to < column.length) return;
		if (this.counted) this.ended = true;
		else this.sum();
	}

	private count(from: number, to: number): void {
		const { column, keyOf, start } = this;
		for (let index = from; index < to; index++) start[keyOf[column[index] + 1] + 1]++;
	}

	private sum(): void {
		const { start } = this;
		for (let key = 1; key < start.length; key++) start[key] += start[key - 1];
		this.next.set(start.subarray(0, start.length - 1));
		this.at = 0;
		this.counted = true;
	}

	private place(from: number, to: number): void {
		const { column, keyOf, next, order } = this;
		for (let index = from; index < to; index++) order[next[keyOf[column[index] + 1]]++] = index;
	}
}

// What a lane is of.
export interface Key {
	readonly label: string;
	readonly detail: string;
	readonly pid: number;
	readonly tid: number; // -1: a whole process
	readonly cpu: number;
}

export interface Keys {
	readonly all: Key[];
	readonly task: Int32Array; // key of each task
	readonly grouping: Grouping;
}

function cpuKeys(samples: Samples): Keys {
	const { cpu } = samples;
	let most = -1;
	for (let index = 0; index < cpu.length; index++) if (cpu[index] > most) most = cpu[index];
	const all = Array.from({ length: most + 2 }, (_, index) => ({
		label: index === 0 ? "no CPU" : `CPU ${index - 1}`, detail: "", pid: -1, tid: -1, cpu: index - 1 }));
	return { all, task: new Int32Array(0), grouping: new Grouping(cpu, Int32Array.from(all, (_, key) => key), all.length) };
}

function taskKeys({ tasks, threads }: Recording, samples: Samples, kind: LaneKind): Keys {
	const numbers = new Map<string, number>();
	const all: Key[] = [];
	const task = Int32Array.from(tasks, ({ pid, tid, comm, process }) => {
		const text = kind === "process" ? String(pid) : `${pid}:${tid}`;
		const known = numbers.get(text);
		if (known !== undefined) return known;
		numbers.set(text, all.length);
		const label = kind === "process" ? process || "?" : comm || "?";
		return all.push({ label, detail: kind === "process" ? String(pid) : `${tid}`, pid, tid: kind === "process" ? -1 : tid, cpu: -1 }) - 1;
	});
	const ofThread = new Int32Array(threads.length + 1);
	threads.forEach((thread, index) => (ofThread[index + 1] = task[thread.task]));
	return { all, task, grouping: new Grouping(samples.thread, ofThread, all.length) };
}

export function keysOf(recording: Recording, samples: Samples, kind: LaneKind): Keys {
	return kind === "cpu" ? cpuKeys(samples) : taskKeys(recording, samples, kind);
}

// The lanes of one event's samples, each kind sorted once.
export class LaneStore {
	private readonly kinds = new Map<LaneKind, Keys>();

	constructor(private readonly recording: Recording, private readonly samples: Samples) {}

	private of(kind: LaneKind): Keys {
		let keys = this.kinds.get(kind);
		if (!keys) this.kinds.set(kind, (keys = keysOf(this.recording, this.samples, kind)));
		return keys;
	}

	// Does a part of the work; whether there is more of it.
	prepare(kind: LaneKind): boolean {
		if (!this.kinds.has(kind)) return this.of(kind) !== undefined;
		const { grouping } = this.of(kind);
		if (!grouping.done) grouping.step();
		return !grouping.done;
	}

	get(kind: LaneKind): Keys {
		while (this.prepare(kind));
		return this.of(kind);
	}

	// Those that are sorted already: counting does not wait for others.
	sorted(kind: LaneKind): Keys | undefined {
		const keys = this.kinds.get(kind);
		return keys?.grouping.done ? keys : undefined;
	}

	// Lanes that have what a filter lets pass, of CPUs or of threads, whichever are fewer samples. Their CPUs are those of samples plus one.
	readonly choose: Choose = (filter) => {
		if (filter.cgroups || filter.leaves) return undefined;
		const [byThread, byCpu] = [filter.threads && this.ofThreads(filter, filter.threads), filter.cpus && this.ofCpus(filter, filter.cpus)];
		return byThread && byCpu && byCpu.count < byThread.count ? byCpu : byThread ?? byCpu;
	};

	private ofCpus(filter: Filter, cpus: Uint8Array): Choice | undefined {
		const grouping = this.sorted("cpu")?.grouping;
		return grouping && choiceOf(grouping, cpus, { ...filter, cpus: undefined });
	}

	// A thread may have had several names, of which only some may be chosen.
	private ofThreads(filter: Filter, threads: Uint8Array): Choice | undefined {
		const keys = this.sorted("thread");
		if (!keys) return undefined;
		const { task, all, grouping } = keys;
		const chosen = new Uint8Array(all.length);
		this.recording.threads.forEach((one, thread) => (chosen[task[one.task]] |= threads[thread]));
		const isWhole = this.recording.threads.every((one, thread) => chosen[task[one.task]] === threads[thread]);
		return choiceOf(grouping, chosen, { ...filter, threads: isWhole ? undefined : threads });
	}
}

function choiceOf({ order, start }: Lanes, chosen: Uint8Array, rest: Filter): Choice {
	let count = 0;
	for (let lane = 0; lane < chosen.length; lane++) count += chosen[lane] * (start[lane + 1] - start[lane]);
	return { order, start, chosen, count, rest };
}
