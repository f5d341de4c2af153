// SPDX-License-Identifier: MIT
// Where samples are missing: while a CPU was throttled, and where something was lost.

import type { Markers } from "../core/recording";

export const MISSING: ReadonlySet<string> = new Set(["lost", "lost-samples", "throttle", "unthrottle"]);

export interface Gap {
	readonly from: number;
	to: number;
	readonly cpu: number; // -1: unknown
	readonly thin: boolean; // it is not known since when
}

// From each beginning of throttling to its end on the same CPU, if that is known.
export function gapsOf({ time, kind, cpu }: Markers, names: readonly string[]): Gap[] {
	const gaps: Gap[] = [];
	const open = new Map<number, Gap>(); // by CPU
	for (let index = 0; index < time.length; index++) {
		const name = names[kind[index]] ?? "";
		if (!MISSING.has(name)) continue;
		const throttled = open.get(cpu[index]);
		if (name === "unthrottle") {
			if (throttled) throttled.to = time[index];
			open.delete(cpu[index]);
		} else if (name !== "throttle" || !throttled) {
			const gap = { from: time[index], to: time[index], cpu: cpu[index], thin: name !== "throttle" };
			gaps.push(gap);
			if (name === "throttle") open.set(gap.cpu, gap);
		}
	}
	return gaps;
}
