// SPDX-License-Identifier: MIT
// The lanes of the timeline: samples and intervals by process, thread or CPU, each in time order.

import { grouped, lowerBound } from "../core/count";
import type { Intervals, Recording, Samples } from "../core/recording";
import type { LaneKind } from "../core/state";

export interface Lane {
	readonly label: string;
	readonly detail: string;
	readonly pid: number;
	readonly tid: number; // -1: a whole process
	readonly cpu: number;
	readonly first: number; // of its samples, in order of lanes
	readonly end: number;
}

export interface LaneSet {
	readonly kind: LaneKind;
	readonly lanes: Lane[]; // as they are shown
	readonly order: Int32Array; // samples by lane, then time
	readonly time: Float64Array; // of each of them
	readonly ofTask: Map<number, number>; // lane of a task
	readonly ofCpu: Map<number, number>;
}

interface Key {
	readonly label: string;
	readonly detail: string;
	readonly pid: number;
	readonly tid: number;
	readonly cpu: number;
}

// The key of each sample's lane, and what the keys are.
function keysOf(recording: Recording, samples: Samples, kind: LaneKind): { keys: Int32Array; all: Key[]; task: Int32Array } {
	const { tasks, threads } = recording;
	const none = { pid: -1, tid: -1, cpu: -1 };
	if (kind === "cpu") {
		let most = -1;
		for (const cpu of samples.cpu) if (cpu > most) most = cpu;
		const all = Array.from({ length: most + 2 }, (_, index) => ({ ...none, label: index === 0 ? "no CPU" : `CPU ${index - 1}`, detail: "", cpu: index - 1 }));
		return { keys: samples.cpu.map((cpu) => cpu + 1), all, task: new Int32Array(0) };
	}
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
	const ofThread = Int32Array.from(threads, (thread) => task[thread.task]);
	return { keys: samples.thread.map((thread) => ofThread[thread]), all, task };
}

export function lanesOf(recording: Recording, samples: Samples, kind: LaneKind): LaneSet {
	const { keys, all, task } = keysOf(recording, samples, kind);
	const { start, order } = grouped(keys, all.length);
	const time = new Float64Array(order.length);
	for (let index = 0; index < order.length; index++) time[index] = samples.time[order[index]];
	const numbers = all.map((_, key) => key).filter((key) => start[key + 1] > start[key]);
	if (kind !== "cpu") numbers.sort((one, other) => start[other + 1] - start[other] - (start[one + 1] - start[one]) || one - other);
	const lanes = numbers.map((key) => ({ ...all[key], first: start[key], end: start[key + 1] }));
	const laneOfKey = new Map(numbers.map((key, index) => [key, index]));
	const ofTask = new Map<number, number>();
	task.forEach((key, index) => {
		const lane = laneOfKey.get(key);
		if (lane !== undefined) ofTask.set(index, lane);
	});
	return { kind, lanes, order, time, ofTask, ofCpu: new Map(lanes.map((lane, index) => [lane.cpu, index])) };
}

// How many samples of a lane lie in each pixel. Where there are many, the pixels' edges are searched instead of the samples
// being counted.
export function pixelsOf(set: LaneSet, lane: Lane, from: number, to: number, width: number): Float64Array {
	const counts = new Float64Array(width);
	const { time } = set;
	const scale = width / (to - from);
	let at = lowerBound(time, from, lane.first, lane.end);
	const end = lowerBound(time, to, at, lane.end);
	if (end - at < width * 12) {
		for (; at < end; at++) counts[Math.min(((time[at] - from) * scale) | 0, width - 1)]++;
		return counts;
	}
	for (let pixel = 0; pixel < width; pixel++) {
		const next = lowerBound(time, from + (pixel + 1) / scale, at, end);
		counts[pixel] = next - at;
		at = next;
	}
	return counts;
}

// Intervals of each lane by their beginning, with the latest end so far, which finds the first one in a window.
export interface LaneIntervals {
	readonly index: Int32Array;
	readonly latest: Float64Array;
}

export function intervalsOf(set: LaneSet, intervals: Intervals): LaneIntervals[] {
	const lists: number[][] = set.lanes.map(() => []);
	for (let index = 0; index < intervals.begin.length; index++) {
		const task = intervals.task[index];
		const lane = set.kind === "cpu" ? set.ofCpu.get(intervals.cpu[index]) : set.ofTask.get(task);
		if (lane !== undefined && task >= 0) lists[lane].push(index);
	}
	return lists.map((list) => {
		list.sort((one, other) => intervals.begin[one] - intervals.begin[other]);
		const index = Int32Array.from(list);
		const latest = new Float64Array(index.length);
		let last = 0;
		index.forEach((one, at) => {
			last = Math.max(last, intervals.begin[one] + intervals.length[one]);
			latest[at] = last;
		});
		return { index, latest };
	});
}
