// SPDX-License-Identifier: MIT
// What a function is coloured with: by its kind, its object or its name.

import { changeStep, Comparison } from "../core/compare";
import type { Session } from "../core/session";
import { hashOf } from "../core/text";
import { contrast, DARK, familyOf, hueOf, LIGHT, Theme } from "./colours";

const HEAT_STEPS = 48;

export class Look {
	theme: Theme = LIGHT;
	private fills: (string | undefined)[] = [];
	private heats: (string | undefined)[] = [];
	private readonly pixels = new Map<string, number>();
	private readonly colour = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
	private heatPixels: (number | undefined)[] = [];
	private colouring = "";
	private rank: Int32Array | undefined; // of objects, by share
	private grown: Float64Array | undefined;

	constructor(private readonly session: Session, private readonly comparison: Comparison | undefined) {}

	get dark(): boolean {
		return this.theme === DARK;
	}

	setDark(dark: boolean): void {
		this.theme = dark ? DARK : LIGHT;
		this.fills = [];
		this.heats = [];
		this.heatPixels = [];
	}

	private refresh(): void {
		const { session: { state }, comparison } = this;
		const grown = state.colour === "change" && comparison?.isReady ? comparison.growths : undefined;
		if (this.colouring === state.colour && this.grown === grown) return;
		this.colouring = state.colour;
		this.grown = grown;
		this.fills = [];
	}

	// Objects by their share of the whole event, so that colours stay when the selection changes.
	private ranks(): Int32Array {
		if (this.rank) return this.rank;
		const { recording, functions } = this.session;
		const sums = new Float64Array(recording.objectName.length);
		for (let func = 0; func < recording.functionCount; func++) sums[recording.functions.object[func]] += functions.self[func];
		const order = Array.from(sums.keys()).filter((object) => object > 0).sort((one, other) => sums[other] - sums[one]);
		this.rank = new Int32Array(sums.length).fill(order.length);
		order.forEach((object, index) => ((this.rank as Int32Array)[object] = index));
		return this.rank;
	}

	ofKind(kind: number): string {
		const name = this.session.recording.header.kinds[kind]?.name ?? "";
		return name === "task" ? this.theme.rest : this.theme.kinds[familyOf(name)];
	}

	// Those that have a colour of their own, and the others.
	largestObjects(): { label: string; fill: string; object: number }[] {
		const { recording } = this.session;
		const rank = this.ranks();
		const found = Array.from(rank.keys()).filter((object) => object > 0 && rank[object] < this.theme.objects.length).sort((one, other) => rank[one] - rank[other]);
		const named = found.map((object) => ({ label: recording.string(recording.objectName[object]), fill: this.ofObject(object), object }));
		return rank.length - 1 > named.length ? [...named, { label: "others", fill: this.theme.rest, object: -1 }] : named;
	}

	ofObject(object: number): string {
		return this.theme.objects[this.ranks()[object]] ?? this.theme.rest;
	}

	fill(func: number): string {
		this.refresh();
		if (func < 0) return this.theme.edge;
		return (this.fills[func] ??= this.made(func));
	}

	private made(func: number): string {
		const { recording, state } = this.session;
		if (state.colour === "kind") return this.ofKind(recording.kindOf(func));
		if (state.colour === "change") return this.grown && this.comparison ? this.step(changeStep(this.comparison.selfShares(func))) : this.theme.equal;
		if (state.colour === "object") return this.ofObject(recording.functions.object[func]);
		return hueOf(hashOf(recording.name(func)), this.dark);
	}

	// From a share to another: by how many times it grew or shrank, but small differences are none.
	change(before: number, after: number): string {
		return this.step(changeStep({ before, after }));
	}

	// Steps of a change, see changeStep.
	step(step: number): string {
		const { equal, grew, shrank } = this.theme;
		if (step === 0) return equal;
		return (step > 0 ? grew : shrank)[3 - Math.abs(step)];
	}

	// Of letters on a colour: the strong ones of changes need the other one.
	ink(fill: string): string {
		const own = this.theme.text;
		if (!fill.startsWith("#") || this.session.state.colour !== "change" || contrast(own, fill) >= 4.5) return own;
		return own === "#111111" ? "#FFFFFF" : "#111111";
	}

	// One hue by lightness; share is from 0 to 1.
	heat(share: number): string {
		const step = Math.round(share * HEAT_STEPS);
		return (this.heats[step] ??= `rgb(${this.heatParts(step / HEAT_STEPS).join()})`);
	}

	// The same as a pixel of an image.
	heatPixel(share: number): number {
		const step = Math.round(share * HEAT_STEPS);
		return (this.heatPixels[step] ??= this.heatParts(step / HEAT_STEPS).reduce((pixel, part, index) => pixel | (part << (8 * index)), 0xff << 24) >>> 0);
	}

	// A colour as a pixel.
	pixel(fill: string): number {
		let found = this.pixels.get(fill);
		if (found === undefined) {
			this.colour.fillStyle = fill;
			const hex = parseInt(String(this.colour.fillStyle).slice(1), 16); // browsers give it as #rrggbb
			found = (0xff000000 | ((hex & 0xff) << 16) | (hex & 0xff00) | (hex >> 16)) >>> 0;
			this.pixels.set(fill, found);
		}
		return found;
	}

	private heatParts(share: number): number[] {
		const { heatFrom, heatTo } = this.theme;
		return [0, 1, 2].map((index) => Math.round(heatFrom[index] + (heatTo[index] - heatFrom[index]) * share));
	}
}
