// SPDX-License-Identifier: MIT
// Samples of a selection, counted by leaf. It is one pass over the samples; when only the time range moved, only what
// entered and left it is looked at.

import type { Lanes } from "./lanes";
import type { Samples, Times } from "./recording";

const SEARCHED = 12; // times as many samples as parts: then the parts' edges are searched

export interface Range {
	readonly from: number; // ticks, both inclusive
	readonly to: number;
}

// Which samples count; undefined: all. A mask has a byte for each thread, or for each CPU or cgroup plus one.
export interface Filter {
	readonly range: Range | undefined;
	readonly threads: Uint8Array | undefined;
	readonly cpus: Uint8Array | undefined;
	readonly cgroups: Uint8Array | undefined;
	readonly leaves?: Uint8Array | undefined; // a byte for each leaf
}

export interface Counts {
	readonly samples: number;
	readonly weight: number;
	readonly byLeaf: Int32Array | Float64Array; // samples
	readonly weightByLeaf: Float64Array;
}

// The first of rising values that is at least one.
export function lowerBound(time: Times, value: number, from = 0, to = time.length): number {
	while (from < to) {
		const middle = (from + to) >> 1;
		if (time[middle] < value) from = middle + 1;
		else to = middle;
	}
	return from;
}

export function indexRange(samples: Samples, range: Range | undefined): [number, number] {
	if (!range) return [0, samples.count];
	return [lowerBound(samples.time, range.from), lowerBound(samples.time, range.to + 0.5)];
}

// How many samples there are from one index to another.
export function samplesIn({ times }: Samples, low: number, high: number): number {
	if (!times) return high - low;
	let sum = 0;
	for (let index = low; index < high; index++) sum += times[index];
	return sum;
}

// Whether a sample is of the threads, CPUs, cgroups and leaves of a filter.
export function passes(samples: Samples, filter: Filter, index: number): boolean {
	return (!filter.threads || filter.threads[samples.thread[index]] !== 0)
		&& (!filter.cpus || filter.cpus[samples.cpu[index] + 1] !== 0)
		&& (!filter.cgroups || filter.cgroups[(samples.cgroups?.[index] ?? -1) + 1] !== 0)
		&& (!filter.leaves || filter.leaves[samples.leaf[index]] !== 0);
}

export const ALL: Filter = { range: undefined, threads: undefined, cpus: undefined, cgroups: undefined };

export type Pass = (index: number) => boolean;

// The same as a function, which is simple where the filter is; undefined: all pass.
export function passOf(samples: Samples, filter: Filter): Pass | undefined {
	const { threads, cpus, cgroups, leaves } = filter;
	const { thread, cpu, leaf } = samples;
	const masks = [threads, cpus, cgroups, leaves].filter((mask) => mask).length;
	if (masks === 0) return undefined;
	if (masks === 1 && leaves) return (index) => leaves[leaf[index]] !== 0;
	if (masks === 1 && cpus) return (index) => cpus[cpu[index] + 1] !== 0;
	if (masks === 1 && threads) return (index) => threads[thread[index]] !== 0;
	return (index) => passes(samples, filter, index);
}

// Samples by lanes that are sorted already, where they are fewer than all: those of the chosen lanes which pass what is left of a filter.
export interface Choice extends Lanes {
	readonly chosen: Uint8Array; // of each lane
	readonly count: number; // of samples in the chosen lanes
	readonly rest: Filter;
}

export type Choose = (filter: Filter) => Choice | undefined;

// Lanes to add and, where most are chosen, to take away from all samples.
function eachLane({ chosen }: Choice, most: boolean, visit: (lane: number) => void): void {
	for (let lane = 0; lane < chosen.length; lane++) if ((chosen[lane] === 0) === most) visit(lane);
}

export class Counter {
	private byLeaf: Int32Array | Float64Array;
	private weightByLeaf: Float64Array;
	private low = 0;
	private high = 0;
	private filter: Filter = ALL;

	constructor(private readonly samples: Samples, leaves: number, private readonly choose: Choose) {
		this.byLeaf = samples.times ? new Float64Array(leaves) : new Int32Array(leaves);
		this.weightByLeaf = new Float64Array(leaves);
	}

	count(filter: Filter): Counts {
		const [low, high] = indexRange(this.samples, filter.range);
		const same = filter.threads === this.filter.threads && filter.cpus === this.filter.cpus && filter.cgroups === this.filter.cgroups;
		const moved = Math.abs(low - this.low) + Math.abs(high - this.high);
		if (!same || moved > high - low) {
			this.byLeaf.fill(0);
			this.weightByLeaf.fill(0);
			this.filter = filter;
			this.add(low, high, 1);
		} else {
			this.move(low, high);
		}
		this.low = low;
		this.high = high;
		return this.result();
	}

	private move(low: number, high: number): void {
		if (low < this.low) this.add(low, this.low, 1);
		else this.add(this.low, low, -1);
		if (high > this.high) this.add(this.high, high, 1);
		else this.add(high, this.high, -1);
	}

	private add(low: number, high: number, sign: number): void {
		const choice = this.choose(this.filter);
		if (!choice) return this.addAll(low, high, sign, this.filter);
		const most = 2 * choice.count > this.samples.count;
		if (most) this.addAll(low, high, sign, choice.rest);
		eachLane(choice, most, (lane) => this.addLane(choice, lane, low, high, most ? -sign : sign));
	}

	private addLane({ order, start, rest }: Choice, lane: number, low: number, high: number, sign: number): void {
		const { leaf, weight, times } = this.samples;
		const { byLeaf, weightByLeaf } = this;
		const pass = passOf(this.samples, rest);
		const first = lowerBound(order, low, start[lane], start[lane + 1]);
		const last = lowerBound(order, high, first, start[lane + 1]);
		for (let at = first; at < last; at++) {
			const index = order[at];
			if (pass && !pass(index)) continue;
			byLeaf[leaf[index]] += times ? sign * times[index] : sign;
			if (weight) weightByLeaf[leaf[index]] += sign * weight[index];
		}
	}

	private addAll(low: number, high: number, sign: number, { threads, cpus, cgroups }: Filter): void {
		const { leaf, weight, times, thread, cpu, cgroups: own } = this.samples;
		const { byLeaf, weightByLeaf } = this;
		if (!threads && !cpus && !cgroups && !weight && !times) {
			for (let index = low; index < high; index++) byLeaf[leaf[index]] += sign;
			return;
		}
		for (let index = low; index < high; index++) {
			if (threads && threads[thread[index]] === 0) continue;
			if (cpus && cpus[cpu[index] + 1] === 0) continue;
			if (cgroups && cgroups[(own ? own[index] : -1) + 1] === 0) continue;
			byLeaf[leaf[index]] += times ? sign * times[index] : sign;
			if (weight) weightByLeaf[leaf[index]] += sign * weight[index];
		}
	}

	private result(): Counts {
		const { byLeaf, weightByLeaf, samples } = this;
		let count = 0;
		let sum = 0;
		for (let leaf = 0; leaf < byLeaf.length; leaf++) {
			if (!samples.weight) weightByLeaf[leaf] = byLeaf[leaf] * samples.sameWeight;
			count += byLeaf[leaf];
			sum += weightByLeaf[leaf];
		}
		return { samples: count, weight: sum, byLeaf, weightByLeaf };
	}
}

// The same as counting each, by a search for the edges of the parts.
function edges(time: Times, low: number, high: number, from: number, scale: number, sums: Float64Array): Float64Array {
	let at = low;
	for (let part = 0; part < sums.length; part++) {
		const next = part + 1 === sums.length ? high : lowerBound(time, from + (part + 1) / scale, at, high);
		sums[part] = next - at;
		at = next;
	}
	return sums;
}

// The same for the samples of some lanes, which are counted one by one where they are few.
function laneEdges(choice: Choice, samples: Samples, range: Range, scale: number, sums: Float64Array): Float64Array {
	const { order, start, rest } = choice;
	const { time } = samples;
	const pass = passOf(samples, rest);
	const most = 2 * choice.count > samples.count && !pass;
	if (most) edges(time, ...indexRange(samples, range), range.from, scale, sums);
	const sign = most ? -1 : 1;
	eachLane(choice, most, (lane) => {
		let at = timeBound(time, order, range.from, start[lane], start[lane + 1]);
		const end = timeBound(time, order, range.to + 0.5, at, start[lane + 1]);
		if (pass || end - at < sums.length * SEARCHED) {
			for (; at < end; at++) if (!pass || pass(order[at])) sums[((time[order[at]] - range.from) * scale) | 0] += sign;
			return;
		}
		for (let part = 0; part < sums.length; part++) {
			const next = part + 1 === sums.length ? end : timeBound(time, order, range.from + (part + 1) / scale, at, end);
			sums[part] += sign * (next - at);
			at = next;
		}
	});
	return sums;
}

// The first sample of a part of an order that is at or after a time.
export function timeBound(time: Times, order: Int32Array, value: number, from: number, to: number): number {
	while (from < to) {
		const middle = (from + to) >> 1;
		if (time[order[middle]] < value) from = middle + 1;
		else to = middle;
	}
	return from;
}

// How much there is in each of `width` equal parts of the whole time.
export function density(samples: Samples, filter: Filter, range: Range, width: number, choose?: Choose): Float64Array {
	const sums = new Float64Array(width);
	const [low, high] = indexRange(samples, range);
	const scale = width / (range.to + 1 - range.from);
	const { time, times } = samples;
	const pass = passOf(samples, filter);
	if (!pass && !times) return edges(time, low, high, range.from, scale, sums);
	const choice = times ? undefined : choose?.(filter);
	if (choice) return laneEdges(choice, samples, range, scale, sums);
	for (let index = low; index < high; index++)
		if (!pass || pass(index)) sums[((time[index] - range.from) * scale) | 0] += times ? times[index] : 1;
	return sums;
}
