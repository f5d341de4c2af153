// SPDX-License-Identifier: MIT
// The whole recording in one strip above every view: how many samples there are when, and the part that is selected.

import { density, Range } from "../core/count";
import { sameList } from "../core/session";
import { duration, number, seconds } from "../core/text";
import { cleared, el, onceAFrame } from "./dom";
import type { Host } from "./view";

const HEIGHT = 34;

export class Strip {
	readonly element: HTMLElement;
	private readonly canvas = el("canvas", { tabindex: 0, role: "slider", "aria-label": "Time range", "aria-valuemin": 0, "aria-valuemax": 100 });
	private bins: Float64Array | undefined;
	private from: readonly unknown[] = [];
	private drawn: readonly unknown[] = []; // what is in the canvas
	private readonly parts: number | undefined; // of the time, if samples are sums
	private anchor: number | undefined;
	private counting = 0;
	readonly draw = onceAFrame(() => this.drawNow());

	constructor(private readonly host: Host) {
		const { aggregated } = host.recording.header;
		this.parts = aggregated?.slices;
		this.element = el("div", { class: "strip", hidden: aggregated !== undefined && aggregated.slices < 2 }, this.canvas);
		const { canvas } = this;
		canvas.addEventListener("pointerdown", (event) => {
			if (event.button !== 0) return;
			canvas.setPointerCapture(event.pointerId);
			this.anchor = this.tickAt(event.offsetX);
		});
		canvas.addEventListener("pointermove", (event) => this.moved(event));
		canvas.addEventListener("pointerup", () => this.released());
		canvas.addEventListener("pointercancel", () => this.host.preview(undefined));
		canvas.addEventListener("pointerleave", () => this.host.noTip());
		canvas.addEventListener("dblclick", () => this.host.update({ ranges: [] }, true));
		canvas.addEventListener("keydown", (event) => this.key(event));
		new ResizeObserver(this.draw).observe(this.element);
	}

	private get width(): number {
		return Math.max(this.element.clientWidth, 10);
	}

	private tickAt(x: number): number {
		const { whole } = this.host.session;
		return Math.round(whole.from + (Math.min(Math.max(x, 0), this.width) / this.width) * (whole.to - whole.from));
	}

	private moved(event: PointerEvent): void {
		const { session } = this.host;
		const at = this.tickAt(event.offsetX);
		const { whole } = session;
		const step = ((whole.to - whole.from) / this.width) * session.tick;
		if (this.anchor === undefined) {
			const count = this.bins?.length ?? 1;
			const bin = this.bins?.[Math.min(Math.floor((event.offsetX * count) / this.width), count - 1)] ?? 0;
			this.host.tip([{ text: seconds(at * session.tick, step), strong: true },
				{ text: `${number(bin)} samples in ${duration((step * this.width) / count)}; drag to select` }], event.clientX, event.clientY);
			return;
		}
		const range = { from: Math.min(at, this.anchor), to: Math.max(at, this.anchor) };
		this.host.preview(range);
		this.host.tip([{ text: `${seconds(range.from * session.tick, step)} + ${duration((range.to - range.from) * session.tick)}` }],
			event.clientX, event.clientY);
	}

	private released(): void {
		const range = this.host.session.preview;
		this.anchor = undefined;
		this.host.preview(undefined);
		if (range && range.to > range.from) this.host.update({ ranges: [range] }, true);
	}

	// Arrows move the selected part, with shift its end; + and - change its size around its middle.
	private key(event: KeyboardEvent): void {
		const { session } = this.host;
		const { whole } = session;
		const { from, to } = session.range ?? whole;
		const step = Math.max(Math.round((to - from) / 10), 1);
		const sign = event.key === "ArrowRight" || event.key === "ArrowUp" ? 1 : -1;
		let range: Range | undefined;
		if (event.key.startsWith("Arrow") && event.shiftKey) range = { from, to: Math.max(to + sign * step, from + 1) };
		else if (event.key.startsWith("Arrow") && session.range) range = { from: from + sign * step, to: to + sign * step };
		else if (event.key.startsWith("Arrow")) range = sign > 0 ? { from, to: from + step } : { from: to - step, to };
		else if (event.key === "+" || event.key === "=") range = { from: from + 2 * step, to: to - 2 * step };
		else if (event.key === "-") range = { from: from - 5 * step, to: to + 5 * step };
		else if (event.key === "0" || event.key === "Home") return this.host.update({ ranges: [] }, true);
		else return;
		event.preventDefault();
		event.stopPropagation();
		if (range.from >= whole.from && range.to <= whole.to && range.to > range.from) this.host.update({ ranges: [range] });
	}

	private drawNow(): void {
		const { session, look } = this.host;
		const { width } = this;
		const { threads, cpus, cgroups } = session.filter;
		const { whole } = session;
		const from = [width, threads, cpus, cgroups, session.samples];
		if (!this.bins || from.some((one, index) => one !== this.from[index])) {
			// With a filter it takes a pass over all samples, which what is looked at need not wait for.
			const count = () => {
				this.bins = density(session.samples, { range: undefined, threads, cpus, cgroups }, whole, Math.min(this.parts ?? width, width), session.lanes.choose);
				this.from = from;
			};
			clearTimeout(this.counting);
			if (!this.bins || (!threads && !cpus && !cgroups)) count();
			else this.counting = window.setTimeout(() => {
				count();
				this.draw();
			}, 30);
		}
		const bins = this.bins as unknown as Float64Array;
		const { range } = session;
		const drawn = [width, bins, look.theme, range?.from, range?.to, window.devicePixelRatio];
		if (sameList(drawn, this.drawn)) return;
		this.drawn = drawn;
		const context = cleared(this.canvas, width, HEIGHT);
		const x = (tick: number) => ((tick - whole.from) / (whole.to - whole.from)) * width;
		let most = 1;
		for (const bin of bins) if (bin > most) most = bin;
		context.fillStyle = look.theme.soft;
		context.globalAlpha = 0.75;
		const wide = width / bins.length;
		bins.forEach((bin, at) => {
			if (bin > 0) context.fillRect(at * wide, HEIGHT - Math.max((bin / most) * (HEIGHT - 3), 1), Math.max(wide - 0.2 * (wide - 1), 1), HEIGHT);
		});
		context.globalAlpha = 1;
		if (range) {
			context.fillStyle = look.theme.page;
			context.globalAlpha = 0.7;
			context.fillRect(0, 0, x(range.from), HEIGHT);
			context.fillRect(x(range.to), 0, width, HEIGHT);
			context.globalAlpha = 1;
			context.strokeStyle = look.theme.accent;
			context.lineWidth = 2;
			context.strokeRect(x(range.from), 1, Math.max(x(range.to) - x(range.from), 2), HEIGHT - 2);
		}
		const text = range ? `${seconds(range.from * session.tick, 1e4)} to ${seconds(range.to * session.tick, 1e4)}` : "all";
		this.canvas.setAttribute("aria-valuetext", text);
		this.canvas.setAttribute("aria-valuenow", String(range ? Math.round((100 * range.from) / whole.to) : 0));
	}
}
