// SPDX-License-Identifier: MIT
// The samples of lanes as strips: a heat by how many there are in each pixel or, if colours are by change, bars of that height in the
// colour of how their functions have changed.

import { meanStep } from "../core/compare";
import { Pass, passOf, Range } from "../core/count";
import { Kept } from "../core/session";
import { drawPixels } from "../ui/dom";
import type { Host } from "../ui/view";
import { changesOf, edgesOf, LaneSet, pixelsOf } from "./lanes";

export const STRIP = 17;
const BIN = 2;

export interface Strip {
	readonly counts: Float64Array;
	readonly means: Float64Array | undefined; // of how functions have grown
	readonly most: number;
}

function mostOf(counts: Float64Array): number {
	let most = 0;
	for (const count of counts) if (count > most) most = count;
	return most;
}

export class Strips {
	private readonly kept = new Map<number, Strip>(); // by lane
	private readonly keptPass = new Kept<Pass | undefined>();
	private readonly keptEdges = new Kept<Int32Array>();
	private from: readonly unknown[] = [];

	constructor(private readonly host: Host) {}

	// Strips of a set of lanes in a window; they are kept until any of this is another one.
	of(set: LaneSet, lane: number, range: Range, width: number): Strip {
		const { changes } = this.host;
		const growths = changes?.isReady ? changes.growths : undefined;
		const pass = this.passOf(set);
		const from = [set, range.from, range.to, width, growths, pass];
		if (from.some((one, at) => one !== this.from[at])) this.kept.clear();
		this.from = from;
		let found = this.kept.get(lane);
		if (!found) this.kept.set(lane, (found = this.made(set, lane, range, width, growths, pass)));
		return found;
	}

	// Whether a strip is there already, after the ones of the same picture.
	has(lane: number): boolean {
		return this.kept.has(lane);
	}

	// What lanes show of their samples: what the selection says of anything that they are not by. Those that are not chosen are pale.
	passOf({ kind }: LaneSet): Pass | undefined {
		const { filter, samples, shown, state } = this.host.session;
		const threads = kind === "cpu" || (kind === "process" && state.threads.length > 0) ? filter.threads : undefined;
		const cpus = kind === "cpu" ? undefined : filter.cpus;
		const { cgroups } = filter;
		return this.keptPass.of([samples, threads, cpus, cgroups, shown], () => passOf(samples, { range: undefined, threads, cpus, cgroups, leaves: shown }));
	}

	private made(set: LaneSet, lane: number, { from, to }: Range, width: number, growths: Float64Array | undefined, pass: Pass | undefined): Strip {
		const bins = Math.floor(width / BIN);
		const { counts, means } = growths ? changesOf(set, set.lanes[lane], from, to, bins, this.host.session.samples.leaf, growths, pass)
			: { counts: pixelsOf(set, set.lanes[lane], this.keptEdges.of([set, from, to, bins], () => edgesOf(set, from, to, bins)), pass), means: undefined };
		return { counts, means, most: mostOf(counts) };
	}

	// The mean at a place from the left; undefined: changes are not looked at.
	meanAt({ means }: Strip, x: number): number | undefined {
		return means?.[Math.min(Math.max(Math.floor(x / BIN), 0), means.length - 1)];
	}

	draw(context: CanvasRenderingContext2D, strip: Strip, left: number, top: number): void {
		if (strip.means) this.drawChanges(context, strip, strip.means, left, top);
		else this.drawHeat(context, strip, left, top);
	}

	// An image of a pixel for each part, made large: rectangles would be a thousand for each lane.
	private drawHeat(context: CanvasRenderingContext2D, { counts, most }: Strip, left: number, top: number): void {
		const { look } = this.host;
		const pixels = new Uint32Array(counts.length);
		for (let part = 0; part < counts.length; part++) if (counts[part] > 0) pixels[part] = look.heatPixel(0.25 + (0.75 * counts[part]) / most);
		drawPixels(context, pixels, left, top, counts.length * BIN, STRIP);
	}

	private drawChanges(context: CanvasRenderingContext2D, { counts, most }: Strip, means: Float64Array, left: number, top: number): void {
		for (let pixel = 0; pixel < counts.length; pixel++) {
			if (counts[pixel] === 0) continue;
			const high = Math.max((STRIP * counts[pixel]) / most, 3);
			context.fillStyle = this.host.look.step(meanStep(means[pixel]));
			context.fillRect(left + pixel * BIN, top + STRIP - high, BIN, high);
		}
	}
}
