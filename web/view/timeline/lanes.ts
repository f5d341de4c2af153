// SPDX-License-Identifier: MIT
// The lanes of the timeline: samples and intervals by process, thread or CPU, each in time order.

import { lowerBound, Pass, timeBound } from "../core/count";
import type { Key } from "../core/lanes";
import type { Intervals, Times } from "../core/recording";
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
	readonly sampleTime: Times;
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

// The first sample of each pixel of a window, and of what is behind it: those at the end of the window are in the last pixel.
export function edgesOf({ sampleTime }: LaneSet, from: number, to: number, width: number): Int32Array {
	const edges = new Int32Array(width + 1);
	const step = (to - from) / width;
	for (let pixel = 0; pixel < width; pixel++) edges[pixel] = lowerBound(sampleTime, from + pixel * step, edges[Math.max(pixel - 1, 0)]);
	edges[width] = lowerBound(sampleTime, to + 0.5, edges[width - 1]);
	return edges;
}

const NEAR = 64; // samples

// How many samples of a lane lie between the edges of each pixel. They are not looked at one by one unless only some of them pass.
export function pixelsOf({ order }: LaneSet, { first, end }: Lane, edges: Int32Array, pass?: Pass): Float64Array {
	const width = edges.length - 1;
	const counts = new Float64Array(width);
	let at = lowerBound(order, edges[0], first, end);
	for (let pixel = 0; pixel < width; pixel++) {
		const edge = edges[pixel + 1];
		if (pass) {
			let count = 0;
			for (; at < end && order[at] < edge; at++) if (pass(order[at])) count++;
			counts[pixel] = count;
			continue;
		}
		const isNear = end - at > NEAR && order[at + NEAR] >= edge;
		const next = lowerBound(order, edge, at, isNear ? at + NEAR : end);
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
