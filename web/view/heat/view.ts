// SPDX-License-Identifier: MIT
// The sub-second-offset heat map: a column for each second, a row for each part of it. What happens once a second, or in
// bursts, shows as a pattern.

import { meanStep } from "../core/compare";
import { Filter, passOf, Range } from "../core/count";
import type { Samples } from "../core/recording";
import { duration, number, plural, seconds } from "../core/text";
import { describeGrowth } from "../ui/describe";
import { cleared, el, onceAFrame } from "../ui/dom";
import type { Host, ViewPanel } from "../ui/view";

export const ROWS = 50;
const LEFT = 52;
const BOTTOM = 22;
const WIDEST = 44;

// Samples by second and part of it, or the sums of what their leaves have; the time in seconds since the first one decides the column.
// Samples are in time order, so that the end of each cell is searched.
export function heatCells(samples: Samples, filter: Filter, tick: number, columns: number, ofLeaf?: Float64Array): Float64Array {
	const cells = new Float64Array(columns * ROWS);
	const scale = (tick * ROWS) / 1e9;
	const { time, count } = samples;
	const within = sumWithin(samples, filter, ofLeaf);
	for (let at = 0; at < count;) {
		const cell = Math.floor(time[at] * scale);
		const isIn = (index: number) => index < count && Math.floor(time[index] * scale) === cell;
		let step = 1;
		while (isIn(at + step)) step *= 2;
		let end = at + (step >> 1);
		for (; step > 0; step >>= 1) if (isIn(end + step)) end += step;
		cells[cell] = within(at, end + 1);
		at = end + 1;
	}
	return cells;
}

// Sums of samples from one index to another.
function sumWithin(samples: Samples, filter: Filter, ofLeaf: Float64Array | undefined): (first: number, last: number) => number {
	const { leaf } = samples;
	const { threads, cpus, cgroups, leaves } = filter;
	const pass = threads || cpus || cgroups || ofLeaf ? passOf(samples, filter) : undefined;
	if (!pass && !ofLeaf && !leaves) return (first, last) => last - first;
	return (first, last) => {
		let sum = 0;
		if (leaves && !pass) for (let index = first; index < last; index++) sum += leaves[leaf[index]];
		else for (let index = first; index < last; index++) if (!pass || pass(index)) sum += ofLeaf ? ofLeaf[leaf[index]] : 1;
		return sum;
	};
}

export class HeatView implements ViewPanel {
	readonly element: HTMLElement;
	private readonly canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": "Heat map: seconds across, parts of a second upwards" });
	private readonly box = el("div", { class: "heat-box" }, this.canvas);
	private readonly note = el("p", { class: "note" });
	private cells = new Float64Array(0);
	private from: readonly unknown[] = [];
	private grown = new Float64Array(0); // how the samples' functions have grown, by cell
	private grownFrom: readonly unknown[] = [];
	private columns = 0;
	private anchor = -1;
	private cursor = -1; // cell that keys are at
	private readonly draw = onceAFrame(() => this.drawNow());

	constructor(private readonly host: Host) {
		this.element = el("section", { class: "view heat" }, this.note, this.box);
		const { canvas } = this;
		canvas.addEventListener("pointerdown", (event) => {
			this.anchor = event.button === 0 ? this.cellAt(event.offsetX, event.offsetY) : -1;
			if (this.anchor >= 0) canvas.setPointerCapture(event.pointerId);
		});
		canvas.addEventListener("pointermove", (event) => this.moved(event));
		canvas.addEventListener("pointerup", () => this.released());
		canvas.addEventListener("pointerleave", () => host.noTip());
		canvas.addEventListener("dblclick", () => host.update({ ranges: [] }, true));
		new ResizeObserver(this.draw).observe(this.box);
	}

	private get selection(): { from: readonly unknown[]; filter: Filter } {
		const { session } = this.host;
		const { threads, cpus, cgroups } = session.filter;
		const leaves = session.shown;
		return { from: [session.samples, threads, cpus, cgroups, leaves], filter: { range: undefined, threads, cpus, cgroups, leaves } };
	}

	private get columnsNow(): number {
		const { whole, tick } = this.host.session;
		return Math.floor((whole.to * tick) / 1e9) + 1;
	}

	show(): void {
		const { session } = this.host;
		const { from, filter } = this.selection;
		if (from.some((one, index) => one !== this.from[index])) {
			this.columns = this.columnsNow;
			this.cells = heatCells(session.samples, filter, session.tick, this.columns);
			this.from = from;
		}
		let most = 0;
		for (const cell of this.cells) if (cell > most) most = cell;
		this.note.textContent = `${plural(this.columns, "second")}, ${1000 / ROWS} ms a cell; ${this.host.changes ? "widest" : "darkest"}: `
			+ `${plural(most, "sample")}. Drag from one cell to another to select the time between them.`;
		void this.host.changes?.sync().then(() => this.showChanges());
		this.draw();
	}

	private showChanges(): void {
		const { session, changes } = this.host;
		if (!changes) return;
		const from = [...this.from, changes.growths];
		if (from.some((one, index) => one !== this.grownFrom[index])) {
			const { threads, cpus, cgroups } = session.filter;
			this.grown = heatCells(session.samples, { range: undefined, threads, cpus, cgroups, leaves: session.shown }, session.tick, this.columns, changes.growths);
			this.grownFrom = from;
		}
		this.draw();
	}

	// By the mean of a cell; undefined: changes are not looked at.
	growth(cell: number): number | undefined {
		return this.host.changes && this.grown.length === this.cells.length ? this.grown[cell] / Math.max(this.cells[cell], 1) : undefined;
	}

	private get cellWidth(): number {
		return Math.max(Math.min((this.box.clientWidth - LEFT - 4) / this.columns, WIDEST), 3);
	}

	private get cellHeight(): number {
		return Math.max((this.box.clientHeight - BOTTOM) / ROWS, 4);
	}

	// Cells count in time: those of a second one after the other, from the bottom up.
	private cellAt(x: number, y: number): number {
		const column = Math.floor((x - LEFT) / this.cellWidth);
		const row = ROWS - 1 - Math.floor(y / this.cellHeight);
		return column < 0 || column >= this.columns || row < 0 || row >= ROWS ? -1 : column * ROWS + row;
	}

	private rangeOf(one: number, other: number): Range {
		const length = 1e9 / ROWS / this.host.session.tick;
		return { from: Math.ceil(Math.min(one, other) * length), to: Math.ceil((Math.max(one, other) + 1) * length) - 1 };
	}

	private moved(event: PointerEvent): void {
		const cell = this.cellAt(event.offsetX, event.offsetY);
		if (cell < 0) return this.host.noTip();
		if (this.anchor >= 0) this.host.preview(this.rangeOf(this.anchor, cell));
		this.host.tip(this.describe(cell).map((text, index) => ({ text, strong: index === 0 })), event.clientX, event.clientY);
	}

	private describe(cell: number): string[] {
		const { session } = this.host;
		const { range } = session;
		const lines = [`${seconds((cell * 1e9) / ROWS, 1e9 / ROWS)} to ${seconds(((cell + 1) * 1e9) / ROWS, 1e9 / ROWS)}`,
			plural(this.cells[cell], "sample")];
		const growth = this.growth(cell);
		if (growth !== undefined && this.cells[cell] > 0) lines.push(describeGrowth(growth));
		if (this.anchor >= 0 && range) lines.push(`selected: ${duration((range.to + 1 - range.from) * session.tick)}`);
		return lines;
	}

	private released(): void {
		const range = this.host.session.preview;
		this.anchor = -1;
		this.host.preview(undefined);
		if (range) this.host.update({ ranges: [range] }, true);
	}

	key(event: KeyboardEvent): boolean {
		const steps: Record<string, number> = { ArrowUp: 1, ArrowDown: -1, ArrowRight: ROWS, ArrowLeft: -ROWS };
		const step = steps[event.key];
		if (step === undefined || event.ctrlKey || event.altKey) return false;
		const cell = Math.min(Math.max((this.cursor < 0 ? 0 : this.cursor) + step, 0), this.cells.length - 1);
		if (event.shiftKey && this.anchor < 0) this.anchor = Math.max(this.cursor, 0);
		this.cursor = cell;
		const range = this.rangeOf(event.shiftKey ? this.anchor : cell, cell);
		if (!event.shiftKey) this.anchor = -1;
		this.host.update({ ranges: [range] });
		this.host.say(this.describe(cell).join(", "));
		if (!event.shiftKey) this.anchor = -1;
		return true;
	}

	private drawNow(): void {
		const { look, session } = this.host;
		const { cellWidth, cellHeight } = this;
		const width = LEFT + cellWidth * this.columns + 2;
		const context = cleared(this.canvas, Math.ceil(width), Math.ceil(cellHeight * ROWS + BOTTOM));
		let most = 1;
		for (const cell of this.cells) if (cell > most) most = cell;
		const widest = cellWidth - (cellWidth > 5 ? 1 : 0);
		for (let cell = 0; cell < this.columns * ROWS; cell++) {
			if (this.cells[cell] === 0) continue;
			const share = this.cells[cell] / most;
			const growth = this.growth(cell);
			context.fillStyle = growth === undefined ? look.heat(0.08 + 0.92 * share) : look.step(meanStep(growth));
			context.fillRect(LEFT + Math.floor(cell / ROWS) * cellWidth, (ROWS - 1 - (cell % ROWS)) * cellHeight,
				growth === undefined ? widest : Math.max(share * widest, 2), cellHeight - (cellHeight > 5 ? 1 : 0));
		}
		this.drawAxes(context);
		const { range } = session;
		if (range) this.drawRange(context, range);
	}

	private drawAxes(context: CanvasRenderingContext2D): void {
		const { cellWidth, cellHeight } = this;
		context.fillStyle = this.host.look.theme.soft;
		context.font = "11px sans-serif";
		context.textAlign = "right";
		for (let row = 0; row <= ROWS; row += 10)
			context.fillText(`${(row * 1000) / ROWS} ms`, LEFT - 6, Math.max((ROWS - row) * cellHeight, 9));
		context.textAlign = "left";
		const step = Math.max(Math.ceil(46 / cellWidth), 1);
		for (let column = 0; column < this.columns; column += step)
			context.fillText(`${number(column)} s`, LEFT + column * cellWidth, ROWS * cellHeight + 15);
		context.strokeStyle = this.host.look.theme.edge;
		context.strokeRect(LEFT - 0.5, 0.5, cellWidth * this.columns + 1, cellHeight * ROWS);
	}

	private drawRange(context: CanvasRenderingContext2D, range: Range): void {
		const { cellWidth, cellHeight } = this;
		const scale = (this.host.session.tick * ROWS) / 1e9;
		const first = Math.floor(range.from * scale);
		const last = Math.floor(range.to * scale);
		context.strokeStyle = this.host.look.theme.text;
		context.lineWidth = 2;
		for (let column = Math.floor(first / ROWS); column <= Math.floor(last / ROWS) && column < this.columns; column++) {
			const low = Math.max(first - column * ROWS, 0);
			const high = Math.min(last - column * ROWS, ROWS - 1);
			context.strokeRect(LEFT + column * cellWidth, (ROWS - 1 - high) * cellHeight, cellWidth - 1, (high - low + 1) * cellHeight);
		}
	}
}
