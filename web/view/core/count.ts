// SPDX-License-Identifier: MIT
// Samples of a selection, counted by leaf. It is one pass over the samples; when only the time range moved, only what
// entered and left it is looked at.

import type { Lanes } from "./lanes";
import type { Samples } from "./recording";

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
export function lowerBound(time: Float64Array | Int32Array, value: number, from = 0, to = time.length): number {
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

export class Counter {
	private byLeaf: Int32Array | Float64Array;
	private weightByLeaf: Float64Array;
	private low = 0;
	private high = 0;
	private threads: Uint8Array | undefined;
	private cpus: Uint8Array | undefined;
	private cgroups: Uint8Array | undefined;

	constructor(private readonly samples: Samples, leaves: number, private readonly byCpu: () => Lanes | undefined) {
		this.byLeaf = samples.times ? new Float64Array(leaves) : new Int32Array(leaves);
		this.weightByLeaf = new Float64Array(leaves);
	}

	count(filter: Filter): Counts {
		const [low, high] = indexRange(this.samples, filter.range);
		const same = filter.threads === this.threads && filter.cpus === this.cpus && filter.cgroups === this.cgroups;
		const moved = Math.abs(low - this.low) + Math.abs(high - this.high);
		if (!same || moved > high - low) {
			this.byLeaf.fill(0);
			this.weightByLeaf.fill(0);
			this.threads = filter.threads;
			this.cpus = filter.cpus;
			this.cgroups = filter.cgroups;
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
		const lanes = this.byCpu();
		if (this.cgroups) this.addPassing(low, high, sign);
		else if (this.cpus && lanes) this.addLanes(lanes, this.cpus, low, high, sign);
		else this.addAll(low, high, sign, this.cpus);
	}

	private addPassing(low: number, high: number, sign: number): void {
		const { leaf, weight, times } = this.samples;
		const { byLeaf, weightByLeaf } = this;
		const filter = { range: undefined, threads: this.threads, cpus: this.cpus, cgroups: this.cgroups };
		for (let index = low; index < high; index++) {
			if (!passes(this.samples, filter, index)) continue;
			byLeaf[leaf[index]] += times ? sign * times[index] : sign;
			if (weight) weightByLeaf[leaf[index]] += sign * weight[index];
		}
	}

	// Lanes of CPUs one after the other; of all but a few CPUs everything, and the few taken away.
	private addLanes(lanes: Lanes, cpus: Uint8Array, low: number, high: number, sign: number): void {
		const { start } = lanes;
		let chosen = 0;
		cpus.forEach((isChosen, key) => (chosen += isChosen * (start[key + 1] - start[key])));
		const most = 2 * chosen > this.samples.count;
		if (most) this.addAll(low, high, sign, undefined);
		cpus.forEach((isChosen, key) => {
			if ((isChosen === 0) === most) this.addLane(lanes, key, low, high, most ? -sign : sign);
		});
	}

	private addLane({ order, start }: Lanes, key: number, low: number, high: number, sign: number): void {
		const { leaf, weight, times, thread } = this.samples;
		const { byLeaf, weightByLeaf, threads } = this;
		const first = lowerBound(order, low, start[key], start[key + 1]);
		const last = lowerBound(order, high, first, start[key + 1]);
		for (let at = first; at < last; at++) {
			const index = order[at];
			if (threads && threads[thread[index]] === 0) continue;
			byLeaf[leaf[index]] += times ? sign * times[index] : sign;
			if (weight) weightByLeaf[leaf[index]] += sign * weight[index];
		}
	}

	private addAll(low: number, high: number, sign: number, cpus: Uint8Array | undefined): void {
		const { leaf, weight, times, thread, cpu } = this.samples;
		const { byLeaf, weightByLeaf, threads } = this;
		if (!threads && !cpus && !weight && !times) {
			for (let index = low; index < high; index++) byLeaf[leaf[index]] += sign;
			return;
		}
		for (let index = low; index < high; index++) {
			if (threads && threads[thread[index]] === 0) continue;
			if (cpus && cpus[cpu[index] + 1] === 0) continue;
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
function edges(time: Float64Array, low: number, high: number, from: number, scale: number, sums: Float64Array): Float64Array {
	let at = low;
	for (let part = 0; part < sums.length; part++) {
		const next = part + 1 === sums.length ? high : lowerBound(time, from + (part + 1) / scale, at, high);
		sums[part] = next - at;
		at = next;
	}
	return sums;
}

// The same for the samples of some CPUs.
function laneEdges(lanes: Lanes, cpus: Uint8Array, time: Float64Array, from: number, scale: number, sums: Float64Array): Float64Array {
	const { order, start } = lanes;
	for (let key = 0; key < cpus.length; key++) {
		if (cpus[key] === 0) continue;
		let at = start[key];
		for (let part = 0; part < sums.length; part++) {
			const next = part + 1 === sums.length ? start[key + 1] : timeBound(time, order, from + (part + 1) / scale, at, start[key + 1]);
			sums[part] += next - at;
			at = next;
		}
	}
	return sums;
}

// The first sample of a part of an order that is at or after a time.
export function timeBound(time: Float64Array, order: Int32Array, value: number, from: number, to: number): number {
	while (from < to) {
		const middle = (from + to) >> 1;
		if (time[order[middle]] < value) from = middle + 1;
		else to = middle;
	}
	return from;
}

// How much there is in each of `width` equal parts of the whole time.
export function density(samples: Samples, filter: Filter, range: Range, width: number, lanes?: Lanes): Float64Array {
	const sums = new Float64Array(width);
	const [low, high] = indexRange(samples, range);
	const scale = width / (range.to + 1 - range.from);
	const { time, thread, cpu, times } = samples;
	const { threads, cpus, cgroups } = filter;
	if (!threads && !cpus && !cgroups && !times) return edges(time, low, high, range.from, scale, sums);
	if (!threads && !cgroups && cpus && lanes && !times) return laneEdges(lanes, cpus, time, range.from, scale, sums);
	for (let index = low; index < high; index++) {
		if (threads && threads[thread[index]] === 0) continue;
		if (cpus && cpus[cpu[index] + 1] === 0) continue;
		if (cgroups && !passes(samples, filter, index)) continue;
		sums[((time[index] - range.from) * scale) | 0] += times ? times[index] : 1;
	}
	return sums;
}
