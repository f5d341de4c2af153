// SPDX-License-Identifier: MIT
// The timeline: a lane for each process, thread or CPU, with its samples as a heat strip, what it did between switches, and
// marks of what happened to it.

import { lowerBound, Range } from "../core/count";
import type { Counter, Intervals, Markers } from "../core/recording";
import { LaneKind, LANES } from "../core/state";
import { duration, number, plural, seconds } from "../core/text";
import { pathOfRow } from "../core/tree";
import { describeGrowth, describeShares } from "../ui/describe";
import { button, cleared, el, fitting, isSeen, MONO, onceAFrame } from "../ui/dom";
import type { Host, ViewPanel } from "../ui/view";
import { boundIn, intervalsOf, Lane, LaneIntervals, LaneSet, lanesOf, timeAt } from "./lanes";
import { gapsOf, MISSING } from "./gaps";
import { eachMark, rateOf, Series, seriesOf } from "./series";
import { Strip, STRIP, Strips } from "./strips";
import { axisStep, DRAGS, TimeWindow } from "./window";

const AXIS = 25;
const STATE = 6;
const COUNTER = 46;
const NEAR = 5; // pixels
const PICTURE_MS = 10;

// Names stand left of the strips.
function leftIn(space: number): number {
	return space < 600 ? 92 : 190;
}

function widthIn(space: number): number {
	return Math.max(space - leftIn(space) - 6, 10);
}

export class TimelineView implements ViewPanel {
	readonly element: HTMLElement;
	readonly window: TimeWindow;
	set: LaneSet | undefined;
	private setOf: readonly unknown[] = [];
	private intervals: Intervals | undefined;
	private laneIntervals: LaneIntervals[] = [];
	private markers: Markers | undefined;
	private counters: { name: string; data: (range: Range) => Counter }[] = [];
	private tracepoints: Series[] = [];
	private read = false;
	private readonly canvas = el("canvas", { "aria-hidden": "true" });
	private readonly spacer = el("div", { class: "spacer" }, this.canvas);
	private readonly box = el("div", { class: "graph lanes", tabindex: 0, role: "group", "aria-label": "Timeline" }, this.spacer);
	private readonly list = el("ul", { class: "offscreen", "aria-label": "Lanes" });
	private readonly kind: HTMLSelectElement;
	private readonly note = el("span", { class: "note" });
	private readonly legend = el("span", { class: "legend", hidden: true }, el("i", { class: "patch running" }), "running ",
		el("i", { class: "patch waiting" }), "waiting for a CPU");
	private anchor: { x: number; pan: boolean; from: Range } | undefined;
	private isDragged = false;
	private chosen: { set: LaneSet; at: number } | undefined; // a sample, in the order of lanes
	private gaps: { from: number; to: number; cpu: number; thin: boolean }[] = []; // where samples are missing
	private readonly draw = onceAFrame(() => this.drawNow());
	private readonly strips: Strips;

	constructor(private readonly host: Host) {
		this.window = new TimeWindow(host);
		this.strips = new Strips(host);
		this.kind = el("select", { "aria-label": "Lanes by" }, ...LANES.map((one) => el("option", { value: one }, `by ${one === "cpu" ? "CPU" : one}`)));
		this.kind.addEventListener("change", () => host.update({ lanes: this.kind.value as LaneKind }));
		this.element = el("section", { class: "view timeline" }, el("div", { class: "view-tools" }, el("label", {}, "Lanes ", this.kind),
			button("\u2212", "Zoom out (S)", () => this.window.zoom(1.6)), button("+", "Zoom in (W)", () => this.window.zoom(0.6)),
			button("Selection", "Zoom to the selected time", () => this.toSelection()), button("All", "The whole recording (0)", () => this.window.all()),
			this.note, this.legend), this.box, this.list);
		this.listen();
		new ResizeObserver(() => this.show()).observe(this.box);
	}

	// ---- data ----

	// While nobody waits: the lanes, and the strips that would be seen first in a space of some size.
	*prepare(width: number, height: number): Generator<void> {
		const { lanes } = this.arranged();
		for (let lane = 0; lane < lanes.length && AXIS + lane * this.laneHeight < height; lane++) {
			yield;
			this.strip(lane, widthIn(width));
		}
	}

	private arranged(): LaneSet {
		const { session } = this.host;
		const from = [session.samples, session.state.lanes];
		if (this.set && from.every((one, index) => one === this.setOf[index])) return this.set;
		this.set = lanesOf(session, session.state.lanes);
		this.setOf = from;
		if (this.intervals) this.laneIntervals = intervalsOf(this.set, this.intervals);
		this.listLanes();
		return this.set;
	}

	show(): void {
		const { session } = this.host;
		this.kind.value = session.state.lanes;
		const { lanes } = this.arranged();
		if (!this.read && isSeen(this.element)) void this.readMore();
		const height = AXIS + this.counters.length * COUNTER + lanes.length * this.laneHeight + 8;
		this.spacer.style.height = `${Math.max(height, this.box.clientHeight)}px`;
		const { from: begin, to } = this.window.range;
		this.note.textContent = `${plural(lanes.length, "lane")}, ${duration((to - begin) * session.tick)}`
			+ `${session.shown ? "; only samples with what is searched for, and left by the transforms" : ""}; ${DRAGS}, click: a sample`;
		this.draw();
		void this.host.changes?.sync().then(() => this.draw());
	}

	private async readMore(): Promise<void> {
		this.read = true;
		const { recording } = this.host;
		this.markers = await recording.markers();
		this.gaps = gapsOf(this.markers, recording.header.markers.map((one) => one.name));
		const intervals = await recording.intervals();
		if (intervals.begin.length > 0 && this.set) {
			this.intervals = intervals;
			this.legend.hidden = false;
			this.laneIntervals = intervalsOf(this.set, intervals);
		}
		const counters = recording.header.counters.map(async (counter, index) =>
			({ name: counter.cpu >= 0 ? `${counter.name} CPU ${counter.cpu}` : counter.name, data: await recording.counter(index) }));
		this.counters = (await Promise.all(counters)).filter((one) => one.data.time.length > 1).map(({ name, data }) => ({ name, data: () => data }));
		await this.readEvents();
		if (this.intervals || this.counters.length + this.tracepoints.length + this.markers.time.length > 0) this.show();
	}

	private async readEvents(): Promise<void> {
		const { session } = this.host;
		const { series, omitted } = await seriesOf(session);
		this.tracepoints = series.filter((one) => one.tracepoint);
		// what has a unit of its own is no count of anything
		this.counters.push(...series.filter((one) => !one.tracepoint && one.unit === "events").map(({ name, samples }) =>
			({ name: `${name}/s`, data: (range: Range) => rateOf(samples, session.filter, range, Math.max(this.width >> 2, 8), session.tick) })));
		if (omitted.length > 0) this.host.say(`Too many samples for lines and marks: ${omitted.join(", ")}`);
	}

	private listLanes(): void {
		this.list.replaceChildren(...(this.set?.lanes ?? []).slice(0, 200).map((lane) =>
			el("li", { "data-samples": lane.end - lane.first }, `${lane.label} ${lane.detail}: ${plural(lane.end - lane.first, "sample")}`)));
	}

	// ---- places ----

	private get laneHeight(): number {
		return STRIP + (this.intervals ? STATE + 1 : 0) + 4;
	}

	private get left(): number {
		return leftIn(this.box.clientWidth);
	}

	private get width(): number {
		return widthIn(this.box.clientWidth);
	}

	private top(lane: number): number {
		return AXIS + this.counters.length * COUNTER + lane * this.laneHeight - this.box.scrollTop;
	}

	private x(tick: number): number {
		const { from, to } = this.window.range;
		return this.left + ((tick - from) / (to - from)) * this.width;
	}

	private tickAt(x: number): number {
		const { from, to } = this.window.range;
		return from + (Math.min(Math.max(x - this.left, 0), this.width) / this.width) * (to - from);
	}

	private laneAt(y: number): number {
		const lane = Math.floor((y + this.box.scrollTop - AXIS - this.counters.length * COUNTER) / this.laneHeight);
		return y > AXIS - 3 && lane >= 0 && lane < (this.set?.lanes.length ?? 0) ? lane : -1;
	}

	// ---- drawing ----

	private drawNow(): void {
		const height = this.box.clientHeight;
		if (!this.set || height === 0) return;
		const context = cleared(this.canvas, this.box.clientWidth, height);
		context.font = `12px ${MONO}`;
		context.textBaseline = "middle";
		const first = Math.max(this.laneAt(AXIS + 1), 0);
		// Strips of what is selected take a pass over their samples: those that come too late are in the next picture.
		const until = performance.now() + PICTURE_MS;
		let isLate = false;
		for (let lane = first; lane < this.set.lanes.length && this.top(lane) < height; lane++) {
			isLate ||= performance.now() > until;
			this.drawLane(context, lane, !isLate || this.strips.has(lane));
			if (isLate && !this.strips.has(lane)) this.draw();
		}
		this.drawGaps(context, height);
		this.drawMarkers(context, first, height);
		this.drawTracepoints(context, first, height);
		this.drawChosen(context);
		this.counters.forEach((counter, index) => this.drawCounter(context, counter, AXIS + index * COUNTER - this.box.scrollTop));
		this.drawAxis(context, height);
		this.drawSelection(context, height);
	}

	private isChosen(lane: Lane): boolean {
		const { processes, threads, cpus } = this.host.session.state;
		if (lane.cpu >= 0) return cpus.length === 0 || cpus.includes(lane.cpu);
		return (processes.length === 0 || processes.includes(lane.pid))
			&& (threads.length === 0 || lane.tid < 0 || threads.includes(`${lane.pid}:${lane.tid}`));
	}

	private drawLane(context: CanvasRenderingContext2D, index: number, withStrip: boolean): void {
		const { look } = this.host;
		const lane = (this.set as LaneSet).lanes[index];
		const top = this.top(index);
		const { left, width } = this;
		context.globalAlpha = this.isChosen(lane) ? 1 : 0.4;
		context.fillStyle = look.theme.text;
		// of names that are too long the number stays
		const name = lane.detail === "" ? "" : ` ${lane.detail}`;
		context.fillText(`${fitting(lane.label, left - 16 - name.length * 7.3, 7.3)}${name}`, 8, top + STRIP / 2);
		context.fillStyle = look.theme.edge;
		context.fillRect(left, top + STRIP, width, 1);
		if (withStrip) this.strips.draw(context, this.strip(index), left, top);
		const own = this.laneIntervals[index];
		if (own) this.drawStates(context, own, top + STRIP + 1, lane.cpu >= 0);
		context.globalAlpha = 1;
	}

	strip(lane: number, width = this.width): Strip {
		return this.strips.of(this.set as LaneSet, lane, this.window.range, width);
	}

	// How much of each pixel a lane was running, or waiting to run. What is not drawn was sleeping.
	private drawStates(context: CanvasRenderingContext2D, own: LaneIntervals, top: number, ofCpu: boolean): void {
		const intervals = this.intervals as Intervals;
		const { from, to } = this.window.range;
		const width = Math.floor(this.width);
		const running = new Float64Array(width);
		const waiting = new Float64Array(width);
		const classes = this.host.recording.header.intervals.map((one) => one.class);
		for (let at = lowerBound(own.latest, from); at < own.index.length; at++) {
			const index = own.index[at];
			const begin = intervals.begin[index];
			if (begin > to) break;
			const name = classes[intervals.kind[index]];
			if (name === "on-cpu") this.cover(running, begin, begin + intervals.length[index]);
			else if (name === "runnable" && !ofCpu) this.cover(waiting, begin, begin + intervals.length[index]);
		}
		const { theme } = this.host.look;
		// Running at the bottom, and on it what would run.
		for (let pixel = 0; pixel < width; pixel++) {
			const low = running[pixel] > 0 ? Math.max(Math.min(running[pixel], 1), 0.2) * STATE : 0;
			const high = waiting[pixel] > 0 ? Math.min(Math.max(Math.min(waiting[pixel], 1), 0.2) * STATE, STATE - low) : 0;
			if (low > 0) {
				context.fillStyle = theme.accent;
				context.fillRect(this.left + pixel, top + STATE - low, 1, low);
			}
			if (high > 0) {
				context.fillStyle = theme.kinds.kernel;
				context.fillRect(this.left + pixel, top + STATE - low - high, 1, high);
			}
		}
	}

	private cover(pixels: Float64Array, begin: number, end: number): void {
		const { from, to } = this.window.range;
		const scale = pixels.length / (to - from);
		const low = Math.max((begin - from) * scale, 0);
		const high = Math.min((end - from) * scale, pixels.length);
		for (let pixel = Math.floor(low); pixel < high; pixel++)
			pixels[pixel] += Math.min(high, pixel + 1) - Math.max(low, pixel);
	}

	private drawMarkers(context: CanvasRenderingContext2D, first: number, height: number): void {
		const { markers, set } = this;
		if (!markers || !set) return;
		const { from, to } = this.window.range;
		const names = this.host.recording.header.markers.map((one) => one.name);
		const last = lowerBound(markers.time, to + 1);
		const drawn = new Set<number>(); // one of a kind for each lane and pixel
		for (let index = lowerBound(markers.time, from); index < last; index++) {
			const name = names[markers.kind[index]] ?? "";
			if (MISSING.has(name)) continue;
			const x = this.x(markers.time[index]);
			const lane = set.kind === "cpu" ? set.ofCpu.get(markers.cpu[index]) : set.ofTask.get(markers.task[index]);
			if (lane === undefined || lane < first || this.top(lane) > height) continue;
			const key = (lane * 8192 + Math.floor(x)) * 16 + markers.kind[index];
			if (drawn.has(key)) continue;
			drawn.add(key);
			this.drawMark(context, name, x, this.top(lane));
		}
	}

	// Ticks at the lower edge of the lanes, for events beside the one that the strips are of.
	private drawTracepoints(context: CanvasRenderingContext2D, first: number, height: number): void {
		const set = this.set as LaneSet;
		const { recording, look, session } = this.host;
		context.fillStyle = look.theme.text;
		for (const { event, samples } of this.tracepoints) {
			if (event === session.state.event) continue;
			const laneOf = (index: number) => {
				const lane = set.kind === "cpu" ? set.ofCpu.get(samples.cpu[index]) : set.ofTask.get(recording.threads[samples.thread[index]].task);
				return lane === undefined || lane < first || this.top(lane) > height ? undefined : lane;
			};
			eachMark(samples, this.window.range, Math.floor(this.width), laneOf,
				(lane, pixel) => context.fillRect(this.left + pixel, this.top(lane) + STRIP - 5, 1, 5));
		}
	}

	private drawMark(context: CanvasRenderingContext2D, name: string, x: number, top: number): void {
		const { theme } = this.host.look;
		context.fillStyle = theme.text;
		context.strokeStyle = theme.page;
		context.lineWidth = 1;
		context.beginPath();
		if (name === "fork") {
			context.moveTo(x, top + 1);
			context.lineTo(x + 6, top + 5);
			context.lineTo(x, top + 9);
		} else if (name === "exit") {
			context.rect(x - 2, top + STRIP - 7, 5, 5);
		} else {
			context.moveTo(x, top + 4);
			context.lineTo(x + 4, top + STRIP / 2);
			context.lineTo(x, top + STRIP - 4);
			context.lineTo(x - 4, top + STRIP / 2);
		}
		context.closePath();
		context.fill();
		context.stroke();
	}

	// Where something is missing: in the lane of its CPU, else over all lanes.
	private drawGaps(context: CanvasRenderingContext2D, height: number): void {
		const { from, to } = this.window.range;
		const drawn = new Set<number>();
		for (const gap of this.gaps) {
			if (gap.to < from || gap.from > to) continue;
			const lane = this.set?.kind === "cpu" ? this.set.ofCpu.get(gap.cpu) : undefined;
			const low = Math.max(this.x(gap.from), this.left);
			const width = Math.max(Math.min(this.x(gap.to), this.left + this.width) - low, gap.thin ? 4 : 8);
			const key = (Math.floor(low) * 8192 + Math.floor(width)) * 512 + (lane ?? -1);
			if (drawn.has(key)) continue;
			drawn.add(key);
			if (lane === undefined) this.hatch(context, low, AXIS, width, height);
			else this.hatch(context, low, this.top(lane), width, this.laneHeight);
		}
	}

	private hatch(context: CanvasRenderingContext2D, x: number, top: number, width: number, height: number): void {
		context.save();
		context.globalAlpha = 0.5;
		context.strokeStyle = this.host.look.theme.text;
		context.beginPath();
		context.rect(x, top, width, height);
		context.clip();
		context.beginPath();
		for (let at = x - height; at < x + width; at += 5) {
			context.moveTo(at, top + height);
			context.lineTo(at + height, top);
		}
		context.stroke();
		context.restore();
	}

	private drawCounter(context: CanvasRenderingContext2D, counter: { name: string; data: (range: Range) => Counter }, top: number): void {
		const { from, to } = this.window.range;
		const { time, value } = counter.data({ from, to });
		const { theme } = this.host.look;
		const first = Math.max(lowerBound(time, from) - 1, 0);
		const last = Math.min(lowerBound(time, to) + 1, time.length);
		let most = 1e-9;
		for (let index = first; index < last; index++) most = Math.max(most, value[index]);
		context.fillStyle = theme.text;
		context.fillText(fitting(counter.name, this.left - 16, 7.3), 8, top + 12);
		context.fillStyle = theme.soft;
		context.fillText(fitting(`max ${number(most)}`, this.left - 16, 7.3), 8, top + 28);
		context.strokeStyle = theme.accent;
		context.lineWidth = 1.5;
		context.beginPath();
		const step = Math.max(Math.floor((last - first) / (4 * this.width)), 1);
		for (let index = first; index < last; index += step) {
			const x = Math.min(Math.max(this.x(time[index]), this.left), this.left + this.width);
			const y = top + COUNTER - 6 - (value[index] / most) * (COUNTER - 12);
			if (index === first) context.moveTo(x, y);
			else context.lineTo(x, y);
		}
		context.stroke();
	}

	private drawAxis(context: CanvasRenderingContext2D, height: number): void {
		const { theme } = this.host.look;
		const { tick } = this.host.session;
		const { from, to } = this.window.range;
		context.fillStyle = theme.page;
		context.fillRect(0, 0, this.box.clientWidth, AXIS);
		const step = axisStep(to - from, this.width, 110);
		for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
			const x = Math.round(this.x(at)) + 0.5;
			context.strokeStyle = theme.edge;
			context.lineWidth = 1;
			context.globalAlpha = 0.6;
			context.beginPath();
			context.moveTo(x, AXIS - 5);
			context.lineTo(x, height);
			context.stroke();
			context.globalAlpha = 1;
			context.fillStyle = theme.soft;
			context.fillText(fitting(seconds(at * tick, step * tick), this.left + this.width - x, 7.3), x + 3, AXIS / 2);
		}
		context.strokeStyle = theme.edge;
		context.strokeRect(-1, AXIS - 0.5, this.box.clientWidth + 2, 0);
	}

	private drawSelection(context: CanvasRenderingContext2D, height: number): void {
		const { session, look } = this.host;
		const { range } = session;
		if (!range) return;
		const clamp = (x: number) => Math.min(Math.max(x, this.left), this.left + this.width);
		const low = clamp(this.x(range.from));
		const high = clamp(this.x(range.to));
		context.fillStyle = look.theme.page;
		context.globalAlpha = 0.6;
		context.fillRect(this.left, AXIS, low - this.left, height);
		context.fillRect(high, AXIS, this.left + this.width - high, height);
		context.globalAlpha = 1;
		context.fillStyle = look.theme.accent;
		context.fillRect(low, AXIS - 3, Math.max(high - low, 2), 3);
		if (this.x(range.from) >= this.left) context.fillRect(low - 0.5, AXIS, 1, height);
		if (this.x(range.to) <= this.left + this.width) context.fillRect(high - 0.5, AXIS, 1, height);
	}

	// ---- what people do ----

	private listen(): void {
		const { box } = this;
		this.window.listen(box, () => this.left);
		box.addEventListener("scroll", () => this.draw());
		box.addEventListener("pointerdown", (event) => {
			if (event.button !== 0 || this.place(event).x < this.left) return;
			box.setPointerCapture(event.pointerId);
			this.anchor = { x: this.place(event).x, pan: event.shiftKey, from: this.window.range };
			this.isDragged = false;
		});
		box.addEventListener("pointermove", (event) => this.moved(event));
		box.addEventListener("contextmenu", (event) => {
			if (!this.choose(event)) return;
			event.preventDefault();
			this.host.menu(event.clientX, event.clientY);
		});
		box.addEventListener("pointerup", () => this.released());
		box.addEventListener("pointercancel", () => this.released());
		box.addEventListener("pointerleave", () => this.host.noTip());
		box.addEventListener("click", (event) => this.clicked(event));
		box.addEventListener("dblclick", () => this.toSelection());
	}

	private place(event: MouseEvent): { x: number; y: number } {
		const { left, top } = this.canvas.getBoundingClientRect();
		return { x: event.clientX - left, y: event.clientY - top };
	}

	private moved(event: PointerEvent): void {
		const { x, y } = this.place(event);
		const { session } = this.host;
		if (this.anchor && Math.abs(x - this.anchor.x) > 2) this.isDragged = true;
		if (this.anchor?.pan) {
			const { from, to } = this.anchor.from;
			const moved = ((this.anchor.x - x) / this.width) * (to - from);
			this.window.set(from + moved, to + moved);
		} else if (this.anchor && Math.abs(x - this.anchor.x) > 2) {
			const [from, to] = [this.tickAt(this.anchor.x), this.tickAt(x)].sort((one, other) => one - other);
			this.host.preview({ from: Math.floor(from), to: Math.ceil(to) });
			this.host.tip([{ text: `${duration((to - from) * session.tick)}`, strong: true },
				{ text: plural(session.counts.samples, "sample") }], event.clientX, event.clientY);
		} else {
			const lines = this.describe(x, y);
			if (lines.length === 0) this.host.noTip();
			else this.host.tip(lines.map((text, index) => ({ text, strong: index === 0 })), event.clientX, event.clientY);
		}
	}

	private released(): void {
		const range = this.host.session.preview;
		this.anchor = undefined;
		this.host.preview(undefined);
		if (range && range.to > range.from) {
			const window = this.window.range;
			this.host.update({ ranges: [range], window: [window] }, true);
		}
	}

	// The sample of a lane that is nearest to a place; whether there is one.
	private choose(event: MouseEvent): boolean {
		const { x, y } = this.place(event);
		const lane = this.set?.lanes[this.laneAt(y)];
		if (!lane || !this.set || x < this.left) return false;
		const set = this.set;
		const pass = this.strips.passOf(set) ?? (() => true);
		const tick = this.tickAt(x);
		const reach = (NEAR * (this.window.range.to - this.window.range.from)) / this.width;
		let best = -1;
		const first = boundIn(set, tick - reach, lane.first, lane.end);
		for (let at = first; at < lane.end && timeAt(set, at) <= tick + reach; at++)
			if (pass(set.order[at]) && (best < 0 || Math.abs(timeAt(set, at) - tick) < Math.abs(timeAt(set, best) - tick))) best = at;
		if (best >= 0) this.take(set, best);
		return best >= 0;
	}

	private take(set: LaneSet, at: number): void {
		this.chosen = { set, at };
		const { session } = this.host;
		const { tree, leafRow } = session.stage;
		const row = leafRow[session.samples.leaf[set.order[at]]];
		this.host.select(session.state.invert ? [] : pathOfRow(tree, row), tree.func[row]);
	}

	// To the next sample of the lane, or to the first one of the window in the lane that is seen first.
	private step(step: number): void {
		const set = this.set as LaneSet;
		const pass = this.strips.passOf(set) ?? (() => true);
		const known = this.sample() === undefined ? undefined : this.chosen;
		const lane = known ? set.lanes.find(({ first, end }) => known.at >= first && known.at < end) : set.lanes[Math.max(this.laneAt(AXIS + 1), 0)];
		if (!lane) return;
		let at = known ? known.at + step : boundIn(set, this.window.range.from, lane.first, lane.end);
		while (at >= lane.first && at < lane.end && !pass(set.order[at])) at += step;
		if (at < lane.first || at >= lane.end) return;
		this.take(set, at);
		const { from, to } = this.window.range;
		const time = timeAt(set, at);
		if (time < from || time > to) this.window.set(time - (to - from) / 2, time + (to - from) / 2);
	}

	// The chosen one, while its function is still the selected one.
	sample(): number | undefined {
		const { chosen, host: { session } } = this;
		if (!chosen || chosen.set !== this.set) return undefined;
		const index = chosen.set.order[chosen.at];
		return session.stage.tree.func[session.stage.leafRow[session.samples.leaf[index]]] === session.state.func ? index : undefined;
	}

	private drawChosen(context: CanvasRenderingContext2D): void {
		const { chosen, set } = this;
		if (!chosen || !set || this.sample() === undefined) return;
		const lane = set.lanes.findIndex(({ first, end }) => chosen.at >= first && chosen.at < end);
		const x = this.x(timeAt(set, chosen.at));
		if (lane < 0 || x < this.left || x > this.left + this.width) return;
		context.strokeStyle = this.host.look.theme.text;
		context.lineWidth = 2;
		context.strokeRect(x - 3, this.top(lane) - 1, 6, STRIP + 2);
	}

	// A click on a name chooses the lane alone, or all again.
	private clicked(event: MouseEvent): void {
		const { x, y } = this.place(event);
		const lane = this.set?.lanes[this.laneAt(y)];
		if (x >= this.left && !this.isDragged) this.choose(event);
		if (x >= this.left || !lane) return;
		const { state } = this.host.session;
		const only = <T>(list: readonly T[], value: T) => (list.length === 1 && list[0] === value ? [] : [value]);
		if (lane.cpu >= 0) this.host.update({ cpus: only(state.cpus, lane.cpu) }, true);
		else if (lane.tid < 0) this.host.update({ processes: only(state.processes, lane.pid) }, true);
		else this.host.update({ threads: only(state.threads, `${lane.pid}:${lane.tid}`) }, true);
	}

	private toSelection(): void {
		const { range, whole } = this.host.session;
		const { from, to } = range ?? whole;
		this.window.set(from, to, true);
	}

	key(event: KeyboardEvent): boolean {
		if (this.window.key(event)) return true;
		if (event.key === "ArrowDown") this.box.scrollTop += this.laneHeight;
		else if (event.key === "ArrowUp") this.box.scrollTop -= this.laneHeight;
		else if ((event.key === "[" || event.key === "]") && this.set) this.step(event.key === "]" ? 1 : -1);
		else return false;
		return true;
	}

	private describe(x: number, y: number): string[] {
		const index = this.laneAt(y);
		const lane = this.set?.lanes[index];
		if (!lane || !this.set) return [];
		const name = `${lane.label} ${lane.detail}`;
		if (x < this.left) return [name, `${plural(lane.end - lane.first, "sample")}; click: only this`];
		const { from, to } = this.window.range;
		const pixel = (to - from) / this.width;
		const tick = this.tickAt(x);
		const { session } = this.host;
		const first = boundIn(this.set, tick - pixel / 2, lane.first, lane.end);
		const last = boundIn(this.set, tick + pixel / 2, first, lane.end);
		const pass = this.strips.passOf(this.set);
		const found = this.set.order.subarray(first, last).filter((one) => !pass || pass(one));
		const lines = [`${name} at ${seconds(tick * session.tick, pixel * session.tick)}`,
			`${plural(found.length, "sample")} in ${duration(pixel * session.tick)}`];
		if (found.length > 0) lines.push(...this.hottest(found), ...this.change(index, x));
		return [...lines, ...this.stateAt(index, tick), ...this.marksAt(index, tick, pixel * NEAR), ...this.tracepointsAt(index, tick, pixel * NEAR)];
	}

	private change(lane: number, x: number): string[] {
		const mean = this.strips.meanAt(this.strip(lane), x - this.left);
		return mean === undefined ? [] : [describeGrowth(mean)];
	}

	// The function that most samples of a pixel are in, and how its share has changed.
	private hottest(found: Int32Array): string[] {
		const { session, recording } = this.host;
		const { tree, leafRow } = session.stage;
		const counts = new Map<number, number>();
		for (const index of found) {
			const func = tree.func[leafRow[session.samples.leaf[index]]];
			counts.set(func, (counts.get(func) ?? 0) + 1);
		}
		const [func, count] = [...counts].sort((one, other) => other[1] - one[1])[0];
		const { changes } = this.host;
		return [`${func < 0 ? "no stack" : recording.name(func)}${found.length > 1 ? ` (${count})` : ""}`,
			...(changes && func >= 0 ? [describeShares(changes.selfShares(func))] : [])];
	}

	private stateAt(lane: number, tick: number): string[] {
		const own = this.laneIntervals[lane];
		const { intervals } = this;
		if (!own || !intervals) return [];
		for (let at = lowerBound(own.latest, tick); at < own.index.length && intervals.begin[own.index[at]] <= tick; at++) {
			const index = own.index[at];
			if (intervals.begin[index] + intervals.length[index] < tick) continue;
			const { recording, session } = this.host;
			const task = this.set?.kind === "cpu" ? ` ${recording.tasks[intervals.task[index]]?.comm ?? ""}` : "";
			return [`${recording.header.intervals[intervals.kind[index]]?.name ?? ""}${task} for ${duration(intervals.length[index] * session.tick)}`];
		}
		return [];
	}

	private tracepointsAt(lane: number, tick: number, reach: number): string[] {
		const set = this.set as LaneSet;
		const { recording, session } = this.host;
		return this.tracepoints.filter(({ event }) => event !== session.state.event).flatMap(({ name, samples }) => {
			let count = 0;
			for (let index = lowerBound(samples.time, tick - reach); index < samples.count && samples.time[index] <= tick + reach; index++) {
				const own = set.kind === "cpu" ? set.ofCpu.get(samples.cpu[index]) : set.ofTask.get(recording.threads[samples.thread[index]].task);
				if (own === lane) count++;
			}
			return count === 0 ? [] : [`${name}${count > 1 ? ` (${count})` : ""}`];
		});
	}

	private marksAt(lane: number, tick: number, reach: number): string[] {
		const { markers, set } = this;
		if (!markers || !set) return [];
		const { recording } = this.host;
		const lines: string[] = [];
		for (let index = lowerBound(markers.time, tick - reach); index < markers.time.length && markers.time[index] <= tick + reach && lines.length < 4; index++) {
			const own = set.kind === "cpu" ? set.ofCpu.get(markers.cpu[index]) : set.ofTask.get(markers.task[index]);
			const kind = recording.header.markers[markers.kind[index]];
			if (!kind || (own !== lane && kind.value !== "count")) continue;
			const value = markers.value[index];
			const text = kind.value === "string" ? recording.string(value) : kind.value === "count" ? number(value)
				: kind.value === "task" ? String(recording.tasks[value - 1]?.tid ?? "") : "";
			lines.push(`${kind.name} ${text}`.trim());
		}
		return lines;
	}
}
