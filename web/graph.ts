// SPDX-License-Identifier: MIT
// Draws the tree on a canvas that is as large as what can be seen, and finds the node below a point.
//
// A branch that is narrower than half a pixel is passed over as a whole, so the work depends on the pixels and not on the
// size of the tree.

const ROW = 19;
const NARROWEST = 0.5;
const MARGIN = 8;

class Graph {
	zoom = 0;
	hover = NO_NODE;
	focus = 0;
	focusShown = false;
	inverted: boolean;
	found: Uint8Array | undefined;
	private readonly context: CanvasRenderingContext2D;
	private rows = 1;
	private letter = 7;
	private waiting = false;

	constructor(
		private readonly model: Model,
		private readonly look: Look,
		readonly canvas: HTMLCanvasElement,
		private readonly scroller: HTMLElement,
		private readonly spacer: HTMLElement,
	) {
		this.context = canvas.getContext("2d") as CanvasRenderingContext2D;
		this.inverted = model.data.inverted;
	}

	private get width(): number {
		return Math.max(this.canvas.clientWidth - 2 * MARGIN, 10);
	}

	private get height(): number {
		return Math.max(this.rows * ROW + 2 * MARGIN, this.scroller.clientHeight);
	}

	// Pixels for one unit.
	private get scale(): number {
		return this.width / Math.max(at(this.model.total, this.zoom), Number.MIN_VALUE);
	}

	// Left edge and width of a node; what is above the zoomed node is as wide as the page.
	private span(node: number): [number, number] {
		const { model } = this;
		if (!model.isBelow(node, this.zoom)) return [MARGIN, this.width];
		return [MARGIN + (at(model.x, node) - at(model.x, this.zoom)) * this.scale, at(model.total, node) * this.scale];
	}

	// Top edge of a row in the whole drawing.
	private top(depth: number): number {
		return this.inverted ? MARGIN + depth * ROW : this.height - MARGIN - (depth + 1) * ROW;
	}

	// For tests and for whoever asks where a node is: in pixels of the canvas, as it is scrolled now.
	place(node: number): { x: number; y: number; width: number; height: number } {
		const [x, width] = this.span(node);
		return { x, y: this.top(at(this.model.depth, node)) - this.scroller.scrollTop, width, height: ROW };
	}

	// Calls each for what is drawn of the zoomed branch.
	private visit(each: (node: number, depth: number) => void): void {
		const { model, scale } = this;
		for (let node = this.zoom, end = at(model.end, node); node < end;) {
			if (at(model.total, node) * scale < NARROWEST) {
				node = at(model.end, node);
			} else {
				each(node, at(model.depth, node));
				node++;
			}
		}
	}

	// To be called when zoom, totals, direction or size changed.
	layout(): void {
		let deepest = at(this.model.depth, this.zoom);
		this.visit((_node, depth) => {
			deepest = Math.max(deepest, depth);
		});
		this.rows = deepest + 1;
		this.spacer.style.height = `${this.height}px`;
		this.reveal(this.zoom);
		this.redraw();
	}

	// Scrolls so that a node can be seen.
	reveal(node: number): void {
		const top = this.top(at(this.model.depth, node));
		const view = this.scroller.clientHeight;
		if (top < this.scroller.scrollTop) this.scroller.scrollTop = top - ROW;
		else if (top + ROW > this.scroller.scrollTop + view) this.scroller.scrollTop = top + 2 * ROW - view;
	}

	// Scrolls to where the stacks begin.
	rewind(): void {
		this.scroller.scrollTop = this.inverted ? 0 : this.height;
	}

	redraw(): void {
		if (this.waiting) return;
		this.waiting = true;
		requestAnimationFrame(() => {
			this.waiting = false;
			this.draw();
		});
	}

	private resize(): void {
		const ratio = window.devicePixelRatio || 1;
		const width = this.scroller.clientWidth;
		const height = this.scroller.clientHeight;
		this.canvas.style.height = `${height}px`;
		if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
			this.canvas.width = Math.round(width * ratio);
			this.canvas.height = Math.round(height * ratio);
		}
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.context.clearRect(0, 0, width, height);
	}

	private draw(): void {
		const { context, model } = this;
		this.resize();
		if (at(model.total, 0) <= 0) return;
		context.font = `12px ${this.look.colour("page") ? getComputedStyle(this.canvas).getPropertyValue("--mono") : "monospace"}`;
		context.textBaseline = "middle";
		this.letter = context.measureText("0123456789").width / 10;
		for (const node of model.path(this.zoom).slice(0, -1)) this.drawNode(node, 0.55);
		this.visit((node) => this.drawNode(node, 1));
		if (this.hover !== NO_NODE) this.drawEdge(this.hover, this.look.colour("text"), 1);
		if (this.focusShown) this.drawEdge(this.focus, this.look.colour("accent"), 2);
	}

	private drawNode(node: number, strength: number): void {
		const { context, model } = this;
		const { x, y, width, height } = this.place(node);
		if (y + height < 0 || y > this.scroller.clientHeight) return;
		const matches = this.found && node !== 0 && at(this.found, at(model.frame, node));
		context.globalAlpha = this.found && !matches ? strength * 0.42 : strength;
		context.fillStyle = matches ? this.look.match : this.look.fill(node);
		context.fillRect(x, y, width > 2.5 ? width - 1 : Math.max(width - 0.2, 0.4), height - 1);
		const room = Math.floor((width - 7) / this.letter);
		if (room < 2) return;
		const name = model.name(node);
		context.globalAlpha = this.found && !matches ? 0.6 : 1;
		context.fillStyle = this.look.ink;
		context.fillText(name.length <= room ? name : `${name.slice(0, room - 1)}\u2026`, x + 3, y + height / 2, width - 5);
		context.globalAlpha = 1;
	}

	private drawEdge(node: number, colour: string, line: number): void {
		const { x, y, width, height } = this.place(node);
		this.context.globalAlpha = 1;
		this.context.strokeStyle = colour;
		this.context.lineWidth = line;
		this.context.strokeRect(x, y - 0.5, Math.max(width - 1, 1), height);
	}

	// The node at a point of the canvas; NO_NODE if there is none.
	hit(x: number, y: number): number {
		const { model } = this;
		const below = y + this.scroller.scrollTop;
		const depth = Math.floor(this.inverted ? (below - MARGIN) / ROW : (this.height - MARGIN - below) / ROW);
		if (depth < 0 || x < MARGIN || x >= MARGIN + this.width || at(model.total, 0) <= 0) return NO_NODE;
		const path = model.path(this.zoom);
		if (depth < path.length) return path[depth] ?? NO_NODE;
		const value = at(model.x, this.zoom) + (x - MARGIN) / this.scale;
		let node = this.zoom;
		while (node !== NO_NODE && at(model.depth, node) < depth) {
			let child = model.child(node);
			while (child !== NO_NODE && at(model.x, child) + at(model.total, child) <= value)
				child = model.child(node, at(model.end, child));
			node = child !== NO_NODE && at(model.x, child) <= value ? child : NO_NODE;
		}
		return node !== NO_NODE && at(model.total, node) * this.scale >= NARROWEST ? node : NO_NODE;
	}
}
