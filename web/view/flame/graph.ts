// SPDX-License-Identifier: MIT
// A flame graph on a canvas that is as large as what can be seen of it. Frames that are narrower than half a pixel are drawn
// as one block for each parent, which says how many they are.

import { Box, boxesOf, Nodes, pathOf } from "../core/nodes";
import type { Drawn } from "../core/save";
import { sameList } from "../core/session";
import { NONE, ROOT } from "../core/tree";
import { cleared, el, fitting, MONO, onceAFrame } from "../ui/dom";
import type { Host } from "../ui/view";
import { FrameTree } from "./frames";

const ROW = 19;
const NARROWEST = 0.5;

export interface GraphOptions {
	readonly label: string;
	readonly down: () => boolean; // hangs from the top
	readonly describe: (nodes: Nodes, node: number) => string[];
	readonly selected: (path: readonly number[], func: number) => void;
	readonly zoomed: (path: readonly number[]) => void;
	readonly whole?: false; // callers of the zoomed node are not drawn
}

export class Graph {
	readonly element: HTMLElement;
	nodes: Nodes | undefined;
	boxes: Box[] = [];
	zoom = ROOT;
	selected = NONE;
	hover = NONE; // index of a box
	private above: number[] = []; // callers of the zoomed node
	private readonly canvas = el("canvas", { "aria-hidden": "true" });
	private readonly spacer = el("div", { class: "spacer" }, this.canvas);
	private readonly frames: FrameTree;
	rows = 1;
	private letter = 7;
	private laid: readonly unknown[] = []; // what the boxes are of
	private laidHeight = 0;
	private filled = ""; // the colour that the canvas has
	readonly redraw = onceAFrame(() => this.draw());

	constructor(private readonly host: Host, private readonly options: GraphOptions) {
		this.element = el("div", { class: "graph", tabindex: 0, role: "group", "aria-label": options.label }, this.spacer);
		this.frames = new FrameTree(options.label, this.element);
		this.listen();
		new ResizeObserver(() => {
			this.layout();
			this.redraw();
		}).observe(this.element);
	}

	// ---- what is drawn ----

	show(nodes: Nodes, zoom: number, selected: number): void {
		this.nodes = nodes;
		this.host.session.lookAt(this);
		this.zoom = zoom;
		this.selected = selected;
		this.layout();
		this.redraw();
	}

	private tell(nodes: Nodes): void {
		const { boxes, selected } = this;
		this.frames.show({ count: boxes.length, selected: selected === NONE ? NONE : boxes.findIndex((box) => box.node === selected),
			level: (index) => boxes[index].depth + 1, opens: (index) => boxes[index].node !== NONE && nodes.hasChildren(boxes[index].node),
			label: (index) => this.labelOf(nodes, boxes[index]) });
	}

	private get width(): number {
		return Math.max(this.element.clientWidth, 20);
	}

	private get scale(): number {
		return this.width / Math.max(this.nodes?.value(this.zoom) ?? 1, Number.MIN_VALUE);
	}

	private get down(): boolean {
		return this.options.down();
	}

	layout(): void {
		const { nodes, zoom, width, down } = this;
		if (!nodes || this.element.clientWidth === 0) {
			// boxes are of other nodes now
			this.boxes = [];
			this.laid = [];
			return;
		}
		const laid = [nodes, zoom, width, down];
		if (!sameList(laid, this.laid)) this.arrange(nodes);
		this.laid = laid;
		// what hangs from the bottom stays as far from it, whatever the height becomes
		const { clientHeight } = this.element;
		const below = this.laidHeight === 0 ? 0 : Math.max(this.spacer.clientHeight - this.element.scrollTop - this.laidHeight, 0);
		const height = Math.max(this.rows * ROW, clientHeight);
		this.laidHeight = clientHeight;
		this.spacer.style.height = `${height}px`;
		if (!down) this.element.scrollTop = Math.max(height - clientHeight - below, 0);
		this.tell(nodes);
	}

	private arrange(nodes: Nodes): void {
		this.above = [];
		if (this.options.whole !== false) for (let node = this.zoom; node > ROOT;) this.above.unshift((node = nodes.parent(node)));
		this.boxes = nodes.value(this.zoom) > 0 ? boxesOf(nodes, this.zoom, NARROWEST / this.scale) : [];
		this.rows = 1 + this.above.length + (this.boxes[this.boxes.length - 1]?.depth ?? 0);
		this.hover = NONE;
	}

	// The top edge of a row in what can be seen.
	private top(depth: number): number {
		const at = this.down ? depth * ROW : Math.max(this.rows * ROW, this.element.clientHeight) - (depth + 1) * ROW;
		return at - this.element.scrollTop;
	}

	place(index: number): { x: number; y: number; width: number; height: number } {
		return this.placing()(index);
	}

	// Asks the page for sizes once for many boxes.
	private placing(): (index: number) => { x: number; y: number; width: number; height: number } {
		const { scale, boxes } = this;
		const first = this.top(this.above.length);
		const step = this.top(this.above.length + 1) - first;
		return (index) => {
			const box = boxes[index];
			return { x: box.x * scale, y: first + box.depth * step, width: box.value * scale, height: ROW };
		};
	}

	private draw(): void {
		const height = this.element.clientHeight;
		if (height === 0) return;
		const context = cleared(this.canvas, this.width, height);
		if (!this.nodes) return;
		context.font = `12px ${MONO}`;
		context.textBaseline = "middle";
		this.filled = "";
		this.letter = context.measureText("0123456789").width / 10;
		this.above.forEach((node, depth) => this.drawBox(context, node, 0, this.top(depth), this.width, 0.6));
		const { matches } = this.host.session;
		const place = this.placing();
		for (let index = 0; index < this.boxes.length; index++) {
			const { x, y, width } = place(index);
			if (y + ROW < 0 || y > height) continue;
			const { node } = this.boxes[index];
			if (node === NONE) this.drawRest(context, x, y, width);
			else this.drawBox(context, node, x, y, width, !matches || matches[this.nodes.func(node)] !== 0 || node === ROOT ? 1 : 0.35);
		}
		this.drawEdges(context);
	}

	private drawBox(context: CanvasRenderingContext2D, node: number, x: number, y: number, width: number, alpha: number): void {
		const nodes = this.nodes as Nodes;
		const { look, recording } = this.host;
		const func = nodes.func(node);
		if (alpha < 1) context.globalAlpha = alpha;
		const fill = this.fill(node);
		if (fill !== this.filled) context.fillStyle = this.filled = fill;
		context.fillRect(x, y, width > 2 ? width - 1 : Math.max(width - 0.3, 0.4), ROW - 1);
		if (width > 3 && nodes.inlined(node)) this.hatch(context, x, y, width - 1);
		const text = width > 7 ? fitting(node === ROOT ? "all" : recording.name(func), width - 7, this.letter) : "";
		if (text !== "") {
			context.fillStyle = this.filled = look.ink(fill);
			context.fillText(text, x + 3, y + ROW / 2);
		}
		if (alpha < 1) context.globalAlpha = 1;
	}

	private fill(node: number): string {
		const { look, changes } = this.host;
		const nodes = this.nodes as Nodes;
		if (!changes?.has(nodes)) return look.fill(nodes.func(node));
		const { before, after } = changes.shares(nodes, node);
		return look.change(before, after);
	}

	// Inlined functions.
	private hatch(context: CanvasRenderingContext2D, x: number, y: number, width: number): void {
		if (width < 3) return;
		context.save();
		context.globalAlpha *= 0.25;
		context.strokeStyle = this.host.look.theme.text;
		context.beginPath();
		context.rect(x, y, width, ROW - 1);
		context.clip();
		context.beginPath();
		for (let at = x - ROW; at < x + width; at += 5) {
			context.moveTo(at, y + ROW - 1);
			context.lineTo(at + ROW - 1, y);
		}
		context.stroke();
		context.restore();
	}

	// What is too narrow: dots in the colour of text.
	private drawRest(context: CanvasRenderingContext2D, x: number, y: number, width: number): void {
		if (width <= 2) return;
		context.globalAlpha = 0.45;
		context.fillStyle = this.filled = this.host.look.theme.soft;
		for (let at = x + 1; at < x + width - 1; at += 3) context.fillRect(at, y + ROW / 2 - 1, 1.5, 1.5);
		context.globalAlpha = 1;
	}

	private drawEdges(context: CanvasRenderingContext2D): void {
		const { matches } = this.host.session;
		const { theme } = this.host.look;
		const place = this.placing();
		this.boxes.forEach((box, index) => {
			const isMatch = matches && box.node > ROOT && matches[(this.nodes as Nodes).func(box.node)] !== 0;
			const line = box.node === this.selected && box.node > ROOT ? 2 : index === this.hover ? 1.5 : isMatch ? 1 : 0;
			if (line === 0) return;
			const { x, y, width } = place(index);
			context.strokeStyle = theme.text;
			context.lineWidth = line;
			context.strokeRect(x + line / 2 - 0.5, y + line / 2 - 0.5, Math.max(width - line, 0.5), ROW - line);
		});
	}

	// Boxes as parts of the whole width.
	drawn(): Drawn {
		const { nodes, boxes, host: { recording, look } } = this;
		const whole = Math.max(boxes[0]?.value ?? 1, Number.MIN_VALUE);
		return { down: this.down, text: (fill) => look.ink(fill), page: look.theme.page, boxes: !nodes ? [] : boxes.filter(({ node }) => node !== NONE).map(({ node, x, value, depth }) => ({
			x: x / whole, width: value / whole, depth, name: node === ROOT ? "all" : recording.name(nodes.func(node)), fill: this.fill(node),
			title: this.options.describe(nodes, node).join("\n") })) };
	}

	private labelOf(nodes: Nodes, box: Box): string {
		if (box.node === NONE) return `${box.rest} narrower frames`;
		return this.options.describe(nodes, box.node).join(", ");
	}

	// ---- what people do ----

	// Index of the box at a point; the callers of the zoomed node are -2, -3, ... from the outermost on.
	hit(x: number, y: number): number {
		const row = this.down ? Math.floor((y + this.element.scrollTop) / ROW)
			: Math.floor((Math.max(this.rows * ROW, this.element.clientHeight) - y - this.element.scrollTop) / ROW);
		if (row < 0) return NONE;
		if (row < this.above.length) return -2 - row;
		const value = x / this.scale;
		return this.boxes.findIndex((box) =>
			box.depth === row - this.above.length && value >= box.x && value < box.x + box.value);
	}

	private nodeAt(index: number): number {
		return index < NONE ? this.above[-2 - index] ?? NONE : this.boxes[index]?.node ?? NONE;
	}

	private listen(): void {
		const { element } = this;
		element.addEventListener("pointermove", (event) => this.point(event));
		element.addEventListener("pointerleave", () => {
			this.hover = NONE;
			this.host.noTip();
			this.redraw();
		});
		element.addEventListener("click", (event) => this.choose(this.nodeAt(this.indexAt(event))));
		element.addEventListener("dblclick", (event) => {
			const index = this.indexAt(event);
			const box = this.boxes[index];
			this.zoomTo(box && box.node === NONE ? box.parent : this.nodeAt(index));
		});
		element.addEventListener("contextmenu", (event) => {
			const node = this.nodeAt(this.indexAt(event));
			if (node <= ROOT) return;
			event.preventDefault();
			this.choose(node);
			this.host.menu(event.clientX, event.clientY);
		});
		element.addEventListener("scroll", () => this.redraw());
	}

	private indexAt(event: MouseEvent): number {
		const place = this.canvas.getBoundingClientRect();
		return this.hit(event.clientX - place.left, event.clientY - place.top);
	}

	private point(event: PointerEvent): void {
		const index = this.indexAt(event);
		const node = this.nodeAt(index);
		if (index !== this.hover) {
			this.hover = index;
			this.redraw();
		}
		const { nodes } = this;
		if (index === NONE || !nodes) return this.host.noTip();
		const box = this.boxes[index];
		const lines = node === NONE
			? [`${box.rest} narrower frames`, ...this.options.describe(nodes, box.parent).slice(0, 1), "double click to zoom in"]
			: this.options.describe(nodes, node);
		this.host.tip(lines.map((text, at) => ({ text, strong: at === 0 })), event.clientX, event.clientY);
	}

	choose(node: number): void {
		if (node === NONE || !this.nodes) return;
		this.options.selected(pathOf(this.nodes, node), this.nodes.func(node));
	}

	zoomTo(node: number): void {
		if (node === NONE || !this.nodes) return;
		this.options.zoomed(pathOf(this.nodes, node));
	}

	// Arrows go to the caller, to the largest callee, and to the neighbours in the row.
	key(event: KeyboardEvent): boolean {
		const { nodes } = this;
		if (!nodes || this.boxes.length === 0 || event.ctrlKey || event.altKey || event.metaKey) return false;
		const at = Math.max(this.boxes.findIndex((box) => box.node === this.selected), 0);
		const box = this.boxes[at];
		const [inwards, outwards] = this.down ? ["ArrowDown", "ArrowUp"] : ["ArrowUp", "ArrowDown"];
		const beside = (step: number) => {
			let index = at + step;
			while (this.boxes[index]?.node === NONE) index += step;
			return this.boxes[index]?.depth === box.depth ? this.boxes[index].node : NONE;
		};
		if (event.key === inwards) this.choose(this.boxes.find((one) => one.parent === box.node)?.node ?? NONE);
		else if (event.key === outwards) this.choose(box.node === this.zoom ? nodes.parent(box.node) : box.parent);
		else if (event.key === "ArrowLeft") this.choose(beside(-1));
		else if (event.key === "ArrowRight") this.choose(beside(1));
		else if (event.key === "+" || event.key === "=") this.zoomTo(this.selected);
		else if (event.key === "-") this.zoomTo(nodes.parent(this.zoom));
		else if (event.key === "0") this.zoomTo(ROOT);
		else return false;
		return true;
	}
}
