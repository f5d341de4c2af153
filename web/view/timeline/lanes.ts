// SPDX-License-Identifier: MIT
// The lanes of the timeline: samples and intervals by process, thread or CPU, each in time order.

import { Pass, timeBound } from "../core/count";
import type { Key } from "../core/lanes";
import type { Intervals } from "../core/recording";
import type { Session } from "../core/session";
import type { LaneKind } from "../core/state";

export interface Lane extends Key {
	readonly first: number; // of its samples, in order of lanes
	readonly end: number;
}

export interface LaneSet {
	readonly kind: LaneKind;
	readonly lanes: Lane[]; // as they are shown
	readonly order: Int32Array; // samples by lane, then time
	readonly sampleTime: Float64Array;
	readonly ofTask: Map<number, number>; // lane of a task
	readonly ofCpu: Map<number, number>;
}

export function lanesOf(session: Session, kind: LaneKind): LaneSet {
	const { all, task, grouping: { start, order } } = session.lanes.get(kind);
	const numbers = all.map((_, key) => key).filter((key) => start[key + 1] > start[key]);
	if (kind !== "cpu") numbers.sort((one, other) => start[other + 1] - start[other] - (start[one + 1] - start[one]) || one - other);
	const lanes = numbers.map((key) => ({ ...all[key], first: start[key], end: start[key + 1] }));
	const laneOfKey = new Map(numbers.map((key, index) => [key, index]));
	const ofTask = new Map<number, number>();
	task.forEach((key, index) => {
		const lane = laneOfKey.get(key);
		if (lane !== undefined) ofTask.set(index, lane);
	});
	return { kind, lanes, order, sampleTime: session.samples.time, ofTask, ofCpu: new Map(lanes.map((lane, index) => [lane.cpu, index])) };
}

// The first sample of a part of a lane that is at or after a time.
export function boundIn({ sampleTime, order }: LaneSet, value: number, from: number, to: number): number {
	return timeBound(sampleTime, order, value, from, to);
}

export function timeAt({ sampleTime, order }: LaneSet, at: number): number {
	return sampleTime[order[at]];
}

// How many samples of a lane lie in each pixel; those at the end of the window are in the last one. Where there are many, the pixels' edges are searched instead of the samples
// being counted, unless only some of them pass.
export function pixelsOf(set: LaneSet, lane: Lane, from: number, to: number, width: number, pass?: Pass): Float64Array {
	const counts = new Float64Array(width);
	const { sampleTime, order } = set;
	const scale = width / (to - from);
	let at = boundIn(set, from, lane.first, lane.end);
	const end = boundIn(set, to + 0.5, at, lane.end);
	if (pass || end - at < width * 12) {
		for (; at < end; at++) if (!pass || pass(order[at])) counts[Math.min(((sampleTime[order[at]] - from) * scale) | 0, width - 1)]++;
		return counts;
	}
	for (let pixel = 0; pixel < width; pixel++) {
		const next = pixel + 1 === width ? end : boundIn(set, from + (pixel + 1) / scale, at, end);
		counts[pixel] = next - at;
		at = next;
	}
	return counts;
}

// The same, and the mean of what the samples' leaves have.
export function changesOf(set: LaneSet, lane: Lane, from: number, to: number, width: number, leaf: Int32Array, ofLeaf: Float64Array, pass?: Pass):
	{ counts: Float64Array; means: Float64Array } {
	const sums = new Float64Array(width);
	const counts = new Float64Array(width);
	const { sampleTime, order } = set;
	const scale = width / (to - from);
	const end = boundIn(set, to + 0.5, lane.first, lane.end);
	for (let at = boundIn(set, from, lane.first, end); at < end; at++) {
		const index = order[at];
		if (pass && !pass(index)) continue;
		const pixel = Math.min(((sampleTime[index] - from) * scale) | 0, width - 1);
		counts[pixel]++;
		sums[pixel] += ofLeaf[leaf[index]];
	}
	return { counts, means: sums.map((sum, pixel) => sum / Math.max(counts[pixel], 1)) };
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
