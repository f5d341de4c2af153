// SPDX-License-Identifier: MIT
// What other events of the recording say over time: counters as rates, which are drawn as lines, and samples of tracepoints,
// which are marks in the lanes.

import { Filter, lowerBound, passes, Range } from "../core/count";
import type { Counter, Samples } from "../core/recording";
import type { Session } from "../core/session";

const MOST = 1000000; // samples of an event that are read for this

export interface Series {
	readonly event: number;
	readonly name: string;
	readonly unit: string;
	readonly tracepoint: boolean;
	readonly samples: Samples;
}

// All events if there are several; those with too many samples are only named.
export async function seriesOf({ recording }: Session): Promise<{ series: Series[]; omitted: string[] }> {
	const events = recording.header.events.map((event, index) => ({ ...event, event: index })).filter(({ samples }) => samples > 0);
	if (events.length < 2) return { series: [], omitted: [] };
	const few = events.filter(({ samples }) => samples <= MOST);
	const series = await Promise.all(few.map(async ({ event, name, unit, tracepoint }) =>
		({ event, name, unit, tracepoint: tracepoint === true, samples: await recording.samplesOf(event) })));
	return { series, omitted: events.filter((one) => !few.includes(one)).map(({ name }) => name) };
}

// How much a second there is of what a filter lets pass, in equal parts of a range.
export function rateOf(samples: Samples, filter: Filter, { from, to }: Range, parts: number, tick: number): Counter {
	const value = new Float64Array(parts);
	const scale = parts / (to + 1 - from);
	const last = lowerBound(samples.time, to + 1);
	for (let index = lowerBound(samples.time, from); index < last; index++)
		if (passes(samples, filter, index))
			value[((samples.time[index] - from) * scale) | 0] += samples.weight ? samples.weight[index] : samples.sameWeight;
	const perSecond = (scale * 1e9) / tick;
	return { time: Float64Array.from(value, (_, part) => from + (part + 0.5) / scale), value: value.map((one) => one * perSecond) };
}

// Calls for samples in a range, one for each lane and pixel.
export function eachMark(samples: Samples, { from, to }: Range, width: number, laneOf: (index: number) => number | undefined,
	mark: (lane: number, pixel: number) => void): void {
	const drawn = new Set<number>();
	const scale = width / (to + 1 - from);
	const last = lowerBound(samples.time, to + 1);
	for (let index = lowerBound(samples.time, from); index < last; index++) {
		const lane = laneOf(index);
		if (lane === undefined) continue;
		const pixel = ((samples.time[index] - from) * scale) | 0;
		const key = lane * 65536 + pixel;
		if (drawn.has(key)) continue;
		drawn.add(key);
		mark(lane, pixel);
	}
}
