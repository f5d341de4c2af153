// SPDX-License-Identifier: MIT
// The flame chart: the stacks of one thread over time. Samples that share callers side by side share their boxes.

import { Pass, passOf } from "../core/count";
import type { Drawn } from "../core/save";
import { FrameTree } from "../flame/frames";
import { boundIn, Lane, LaneSet, lanesOf, timeAt } from "../timeline/lanes";
import { axisStep, DRAGS, TimeWindow } from "../timeline/window";
import { duration, number, plural, seconds } from "../core/text";
import { depthOf, pathOfRow, ROOT, Tree } from "../core/tree";
import { cleared, drawPixels, el, fitting, MONO, onceAFrame } from "../ui/dom";
import { describeShares, whereOf } from "../ui/describe";
import type { Host, ViewPanel } from "../ui/view";

const ROW = 18;
const AXIS = 22;
const MOST_THREADS = 200;
const GAP = 4; // times the usual distance of samples: what is longer apart does not belong together

const NARROW = 3; // pixels
const PALE = 89; // of 255

interface Placed {
	readonly x: number;
	readonly right: number;
	readonly y: number;
	readonly fill: string;
	readonly isPale: boolean;
	readonly func: number;
}

interface Piece {
	readonly row: number;
	readonly depth: number;
	from: number;
	to: number;
	samples: number;
}

export class ChartView implements ViewPanel {
	readonly element: HTMLElement;
	readonly window: TimeWindow;
	pieces: Piece[] = [];
	private set: LaneSet | undefined;
	private setOf: unknown;
	private readonly canvas = el("canvas", { "aria-hidden": "true" });
	private readonly spacer = el("div", { class: "spacer" }, this.canvas);
	private readonly box = el("div", { class: "graph chart", tabindex: 0, role: "group", "aria-label": "Flame chart" }, this.spacer);
	private readonly thread = el("select", { "aria-label": "Thread" });
	private readonly note = el("span", { class: "note" });
	private readonly frames = new FrameTree("Flame chart", this.box);
	private chosen: Piece | undefined;
	private rows = 0;
	private anchor: { x: number; from: number; to: number } | undefined;
	private readonly draw = onceAFrame(() => this.drawNow());

	constructor(private readonly host: Host) {
		this.window = new TimeWindow(host);
		this.thread.addEventListener("change", () => host.update({ threads: [this.thread.value] }, true));
		this.element = el("section", { class: "view" }, el("div", { class: "view-tools" }, el("label", {}, "Thread ", this.thread), this.note), this.box);
		this.window.listen(this.box, () => 0);
		this.listen();
		new ResizeObserver(() => this.show()).observe(this.box);
	}

	// ---- data ----

	show(): void {
		const { session } = this.host;
		if (this.setOf !== session.samples) {
			this.set = lanesOf(session, "thread");
			this.setOf = session.samples;
			this.listThreads(this.set.lanes);
		}
		const lane = this.lane();
		if (!lane || this.box.clientWidth === 0) return;
		this.thread.value = `${lane.pid}:${lane.tid}`;
		this.collect(lane);
		this.tell();
		this.rows = this.pieces.reduce((most, piece) => Math.max(most, piece.depth), 0);
		this.spacer.style.height = `${Math.max(AXIS + this.rows * ROW + 8, this.box.clientHeight)}px`;
		this.draw();
		void this.host.changes?.sync().then(() => this.draw());
	}

	private tell(): void {
		const { pieces, chosen } = this;
		const { recording, session: { stage: { tree } } } = this.host;
		this.frames.show({ count: pieces.length, selected: chosen ? pieces.indexOf(chosen) : -1, level: (index) => pieces[index].depth + 1, opens: () => false,
			label: (index) => `${recording.name(tree.func[pieces[index].row])}, ${this.whenOf(pieces[index])}` });
	}

	private whenOf({ samples, from, to }: Piece): string {
		const { tick } = this.host.session;
		return `${plural(samples, "sample")}, ${duration((to - from) * tick)} from ${seconds(from * tick, 1e3)}`;
	}

	private listThreads(lanes: readonly Lane[]): void {
		this.thread.replaceChildren(...lanes.slice(0, MOST_THREADS).map((lane) =>
			el("option", { value: `${lane.pid}:${lane.tid}` }, `${lane.label} ${lane.tid} (${number(lane.end - lane.first)})`)));
	}

	// The selected thread, else the one with most samples.
	private lane(): Lane | undefined {
		const { threads, processes } = this.host.session.state;
		const lanes = this.set?.lanes ?? [];
		const chosen = lanes.find((lane) => threads.includes(`${lane.pid}:${lane.tid}`)) ?? lanes.find((lane) => processes.includes(lane.pid)) ?? lanes[0];
		if (chosen && lanes.indexOf(chosen) >= MOST_THREADS && this.thread.value !== `${chosen.pid}:${chosen.tid}`)
			this.thread.append(el("option", { value: `${chosen.pid}:${chosen.tid}` }, `${chosen.label} ${chosen.tid}`));
		return chosen;
	}

	// One sample for each pixel at most, so that the work does not grow with the samples.
	private collect(lane: Lane): void {
		const set = this.set as LaneSet;
		const { session } = this.host;
		const { from, to } = this.window.range;
		const first = Math.max(boundIn(set, from, lane.first, lane.end) - 1, lane.first);
		const last = boundIn(set, to + 0.5, first, lane.end);
		const least = (to - from) / this.box.clientWidth;
		const usual = this.usualDistance(lane);
		const { tree, leafRow } = session.stage;
		const { cpus, cgroups } = session.filter; // times and threads are chosen here
		const pass = passOf(session.samples, { range: undefined, threads: undefined, cpus, cgroups, leaves: session.stays });
		const open: Piece[] = [];
		let drawn = 0;
		let all = 0;
		this.pieces = [];
		for (let at = first; at < last;) {
			if (pass && !pass(set.order[at])) {
				open.length = 0;
				at++;
				continue;
			}
			const time = timeAt(set, at);
			const next = boundIn(set, time + Math.max(least, 1e-9), at + 1, last);
			const end = next < lane.end ? Math.min(timeAt(set, next), time + GAP * usual + least) : time + usual;
			const samples = this.passing(at, next, pass);
			this.extend(open, tree, leafRow[session.samples.leaf[set.order[at]]], time, end, samples);
			if (next < lane.end && timeAt(set, next) > end) open.length = 0;
			drawn++;
			all += samples;
			at = next;
		}
		const { chosen } = this;
		this.chosen = chosen && this.pieces.find((piece) => piece.row === chosen.row && piece.from === chosen.from);
		this.note.textContent = `${plural(all, "sample")}${drawn < all ? `, of which ${number(drawn)} have a pixel of their own` : ""}; `
			+ `${duration((to - from) * session.tick)}. ${DRAGS}`;
	}

	private passing(from: number, to: number, pass: Pass | undefined): number {
		if (!pass) return to - from;
		let count = 0;
		for (let at = from; at < to; at++) if (pass((this.set as LaneSet).order[at])) count++;
		return count;
	}

	// The median would need a sort: the mean of what is near together will do.
	private usualDistance(lane: Lane): number {
		const set = this.set as LaneSet;
		const count = lane.end - lane.first;
		if (count < 2) return Math.max(1e6 / this.host.session.tick, 1);
		const mean = (timeAt(set, lane.end - 1) - timeAt(set, lane.first)) / (count - 1);
		let sum = 0;
		let near = 0;
		const step = Math.max(Math.floor(count / 2000), 1);
		for (let at = lane.first + 1; at < lane.end; at += step) {
			const distance = timeAt(set, at) - timeAt(set, at - 1);
			if (distance > 2 * mean) continue;
			sum += distance;
			near++;
		}
		return Math.max(near > 0 ? sum / near : mean, 1);
	}

	private extend(open: Piece[], tree: Tree, leaf: number, from: number, to: number, samples: number): void {
		const depth = depthOf(tree, leaf);
		open.length = Math.min(open.length, depth);
		for (let row = leaf, at = depth - 1; row > ROOT; row = tree.parent[row], at--) {
			const piece = open[at];
			if (piece && piece.row === row) {
				for (let index = at; index >= 0; index--) {
					open[index].to = to;
					open[index].samples += samples;
				}
				break;
			}
			open[at] = { row, depth: at, from, to, samples };
			this.pieces.push(open[at]);
		}
	}

	// ---- drawing ----

	private x(tick: number): number {
		const { from, to } = this.window.range;
		return ((tick - from) / (to - from)) * this.box.clientWidth;
	}

	private tickAt(x: number): number {
		const { from, to } = this.window.range;
		return from + (Math.min(Math.max(x, 0), this.box.clientWidth) / this.box.clientWidth) * (to - from);
	}

	private top(depth: number): number {
		return AXIS + depth * ROW - this.box.scrollTop;
	}

	private drawNow(): void {
		const height = this.box.clientHeight;
		if (height === 0) return;
		const width = this.box.clientWidth;
		const context = cleared(this.canvas, width, height);
		context.font = `12px ${MONO}`;
		context.textBaseline = "middle";
		this.drawPieces(context, width, height);
		this.drawAxis(context, width);
		this.drawSelection(context, width, height);
	}

	// Narrow pieces are pixels of a strip for each depth. What is asked of the page is asked once.
	private drawPieces(context: CanvasRenderingContext2D, width: number, height: number): void {
		const { session: { stage: { tree }, matches, state }, look } = this.host;
		const { from, to } = this.window.range;
		const scale = width / (to - from);
		const begin = this.top(0);
		const ratio = this.canvas.width / width;
		const strips: Uint32Array[] = []; // by depth
		const wide: Placed[] = [];
		const chosen: Placed[] = [];
		for (const { row, depth, from: first, to: last } of this.pieces) {
			const y = begin + depth * ROW;
			if (y > height || y + ROW < AXIS) continue;
			const func = tree.func[row];
			const x = Math.max((first - from) * scale, -1);
			const right = Math.min((last - from) * scale, width + 1);
			const fill = this.fill(row, func);
			const isPale = matches !== undefined && matches[func] === 0;
			if (func === state.func) chosen.push({ x, right, y, fill, isPale, func });
			if (right - x >= NARROW) {
				wide.push({ x, right, y, fill, isPale, func });
				continue;
			}
			const pixel = look.pixel(fill);
			const at = Math.max(Math.round(x * ratio), 0);
			(strips[depth] ??= new Uint32Array(this.canvas.width)).fill(isPale ? ((pixel & 0xffffff) | (PALE << 24)) >>> 0 : pixel, at, Math.max(Math.round(right * ratio), at + 1));
		}
		strips.forEach((pixels, depth) => drawPixels(context, pixels, 0, begin + depth * ROW, width, ROW - 1));
		this.drawWide(context, wide);
		context.strokeStyle = look.theme.text;
		context.lineWidth = 1.5;
		for (const { x, right, y } of chosen) context.strokeRect(x + 0.5, y + 0.5, Math.max(right - x - 1.5, 0.5), ROW - 2);
	}

	private drawWide(context: CanvasRenderingContext2D, wide: readonly Placed[]): void {
		const { look, recording } = this.host;
		const letter = context.measureText("0123456789").width / 10;
		for (const { x, right, y, fill, isPale, func } of wide) {
			context.globalAlpha = isPale ? PALE / 255 : 1;
			context.fillStyle = fill;
			context.fillRect(x, y, right - x - 0.7, ROW - 1);
			const text = fitting(recording.name(func), right - x - 6, letter);
			context.fillStyle = look.ink(fill);
			if (text !== "") context.fillText(text, x + 3, y + ROW / 2);
		}
		context.globalAlpha = 1;
	}

	private fill(row: number, func: number): string {
		const { look, changes } = this.host;
		if (!changes) return look.fill(func);
		const { before, after } = changes.shares(changes.stacks, row);
		return look.change(before, after);
	}

	private drawAxis(context: CanvasRenderingContext2D, width: number): void {
		const { theme } = this.host.look;
		const { tick } = this.host.session;
		const { from, to } = this.window.range;
		context.fillStyle = theme.page;
		context.fillRect(0, 0, width, AXIS - 1);
		const step = axisStep(to - from, width, 120);
		context.fillStyle = theme.soft;
		for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
			const x = Math.round(this.x(at));
			context.fillRect(x, AXIS - 7, 1, 5);
			context.fillText(fitting(seconds(at * tick, step * tick), width - x, 7.3), x + 4, AXIS / 2);
		}
	}

	private drawSelection(context: CanvasRenderingContext2D, width: number, height: number): void {
		const { range } = this.host.session;
		if (!range) return;
		const low = Math.max(this.x(range.from), 0);
		const high = Math.min(this.x(range.to), width);
		context.fillStyle = this.host.look.theme.page;
		context.globalAlpha = 0.6;
		context.fillRect(0, AXIS, low, height);
		context.fillRect(high, AXIS, width - high, height);
		context.globalAlpha = 1;
	}

	// ---- what people do ----

	private listen(): void {
		const { box } = this;
		box.addEventListener("scroll", () => this.draw());
		box.addEventListener("pointerdown", (event) => {
			if (event.button !== 0) return;
			box.setPointerCapture(event.pointerId);
			const { from, to } = this.window.range;
			this.anchor = { x: this.place(event).x, from, to };
		});
		box.addEventListener("pointermove", (event) => this.moved(event));
		box.addEventListener("pointerup", () => this.released());
		box.addEventListener("pointercancel", () => this.released());
		box.addEventListener("pointerleave", () => this.host.noTip());
		box.addEventListener("click", (event) => this.choose(this.hit(event)));
		box.addEventListener("dblclick", (event) => {
			const piece = this.hit(event);
			if (piece) this.window.set(piece.from, piece.to, true);
		});
		box.addEventListener("contextmenu", (event) => {
			const piece = this.hit(event);
			if (!piece) return;
			event.preventDefault();
			this.choose(piece);
			this.host.menu(event.clientX, event.clientY);
		});
	}

	private place(event: MouseEvent): { x: number; y: number } {
		const { left, top } = this.canvas.getBoundingClientRect();
		return { x: event.clientX - left, y: event.clientY - top };
	}

	private hit(event: MouseEvent): Piece | undefined {
		const { x, y } = this.place(event);
		const depth = Math.floor((y - AXIS + this.box.scrollTop) / ROW);
		const tick = this.tickAt(x);
		return y < AXIS ? undefined : this.pieces.find((piece) => piece.depth === depth && tick >= piece.from && tick < piece.to);
	}

	private choose(piece: Piece | undefined): void {
		if (!piece) return;
		this.chosen = piece;
		const { tree } = this.host.session.stage;
		this.host.select(this.host.session.state.invert ? [] : pathOfRow(tree, piece.row), tree.func[piece.row]);
	}

	private moved(event: PointerEvent): void {
		const { x } = this.place(event);
		const { session, recording } = this.host;
		if (this.anchor && event.shiftKey) {
			const { from, to } = this.anchor;
			const moved = ((this.anchor.x - x) / this.box.clientWidth) * (to - from);
			return this.window.set(from + moved, to + moved);
		}
		if (this.anchor && Math.abs(x - this.anchor.x) > 2) {
			const [from, to] = [this.tickAt(this.anchor.x), this.tickAt(x)].sort((one, other) => one - other);
			return this.host.preview({ from: Math.floor(from), to: Math.ceil(to) });
		}
		const piece = this.hit(event);
		if (!piece) return this.host.noTip();
		const func = session.stage.tree.func[piece.row];
		const { changes } = this.host;
		this.host.tip([{ text: recording.name(func), strong: true }, { text: whereOf(this.host, func) }, { text: this.whenOf(piece) },
			...(changes ? [{ text: describeShares(changes.shares(changes.stacks, piece.row)) }] : [])],
		event.clientX, event.clientY);
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

	// The first one of the chosen piece.
	sample(): number | undefined {
		const { set, chosen } = this;
		const lane = this.lane();
		return chosen && set && lane ? set.order[boundIn(set, chosen.from, lane.first, lane.end)] : undefined;
	}

	// Arrows go from the chosen piece to its caller, callee and neighbours; else they move the time.
	key(event: KeyboardEvent): boolean {
		if (!event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey) {
			const next = this.nextTo(event.key);
			if (next) this.choose(next);
			if (next) return true;
		}
		return this.window.key(event);
	}

	private nextTo(key: string): Piece | undefined {
		const { pieces, chosen } = this;
		if (!chosen) return key === "ArrowDown" ? pieces.find((one) => one.depth === 0) : undefined;
		const { depth, from, to } = chosen;
		const row = (at: number) => pieces.filter((one) => one.depth === at);
		if (key === "ArrowUp") return row(depth - 1).find((one) => one.from <= from && one.to >= to);
		if (key === "ArrowDown") return row(depth + 1).find((one) => one.from >= from && one.to <= to);
		if (key === "ArrowLeft") return row(depth).filter((one) => one.from < from).pop();
		if (key === "ArrowRight") return row(depth).find((one) => one.from > from);
		return undefined;
	}

	drawn(): Drawn[] {
		const { session: { stage: { tree } }, look, recording } = this.host;
		const { from, to } = this.window.range;
		const part = (tick: number) => Math.min(Math.max((tick - from) / (to - from), 0), 1);
		return [{ down: true, text: (fill) => look.ink(fill), page: look.theme.page, boxes: this.pieces.map((piece) => {
			const func = tree.func[piece.row];
			const name = recording.name(func);
			return { x: part(piece.from), width: part(piece.to) - part(piece.from), depth: piece.depth, name, fill: this.fill(piece.row, func),
				title: `${name}\n${this.whenOf(piece)}` };
		}) }];
	}
}
