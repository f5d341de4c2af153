// SPDX-License-Identifier: MIT
// The call tree, from the roots or inverted, with the children of what was opened.

import { Nodes, nodeOf, pathOf, Twin } from "../core/nodes";
import { amount, percent, points } from "../core/text";
import { NONE, ROOT } from "../core/tree";
import { button, el, isSeen } from "../ui/dom";
import { describeNode } from "../ui/describe";
import { BESIDES_MOST, Rows } from "../ui/rows";
import type { Host, ViewPanel } from "../ui/view";

interface Line {
	readonly node: number;
	readonly depth: number;
}

const STEPS = 400; // of a heaviest path that are opened at once

export class TreeView implements ViewPanel {
	readonly element: HTMLElement;
	private readonly rows: Rows;
	private nodes: Nodes | undefined;
	private readonly head = el("div", { class: "head tree-grid" });
	private besides: { event: number; unit: string; twin: Twin }[] = [];
	private lines: Line[] = [];
	private open = new Set<number>();

	constructor(private readonly host: Host) {
		this.rows = new Rows("tree", "Call tree", this.head);
		const tools = el("div", { class: "view-tools" },
			button("Heaviest path", "Open the callee with most samples, and so on (h)", () => this.heaviest()),
			button("Close all", "Close all nodes", () => this.closeAll()));
		this.element = el("section", { class: `view tree${host.comparison ? " with-change" : ""}` }, tools, this.rows.element);
		this.rows.scroller.addEventListener("keydown", (event) => {
			if (this.key(event)) event.preventDefault();
		});
	}

	show(): void {
		const { session } = this.host;
		const { nodes } = session;
		if (nodes !== this.nodes) this.reopen(nodes);
		this.list();
		const index = this.selectedIndex();
		if (index >= 0) this.rows.reveal(index);
		// what was before, and what other events have, is known a moment later
		const again = () => {
			if (this.nodes === session.nodes) this.list();
		};
		void this.host.comparison?.sync().then(again);
		const wanted = session.otherEvents.slice(0, BESIDES_MOST);
		if (isSeen(this.element) && wanted.some((event) => !session.beside(event)))
			void Promise.all(wanted.map((event) => session.readBeside(event))).then(again);
	}

	private showHead(): void {
		const { comparison, recording, session } = this.host;
		this.besides = session.otherEvents.slice(0, BESIDES_MOST).flatMap((event) => {
			const found = session.nodesBeside(event);
			return found ? [{ event, ...found }] : [];
		});
		this.element.style.setProperty("--besides", "minmax(84px, 104px) ".repeat(this.besides.length));
		const numbers = ["total", "%", "self", ...(comparison ? ["change"] : [])].map((text) => el("span", { class: "num" }, text));
		this.head.replaceChildren(...numbers, el("span", {}, "function"), ...this.besides.map(({ event }) => el("span", { class: "num beside" },
			recording.header.events[event]?.name ?? "")));
	}

	private change(node: number): HTMLElement[] {
		const { comparison } = this.host;
		if (!comparison) return [];
		const { before, after } = comparison.shares(this.nodes as Nodes, node);
		return [el("span", { class: "num", title: `before ${percent(before, 1)}, after ${percent(after, 1)}` }, points(after - before))];
	}

	// What was open stays open, found by its path of functions.
	private reopen(nodes: Nodes): void {
		const paths = this.nodes ? [...this.open].slice(0, 2000).map((node) => pathOf(this.nodes as Nodes, node)) : [];
		this.open = new Set(paths.map((path) => nodeOf(nodes, path)).filter((node) => node !== NONE));
		const fresh = this.nodes === undefined;
		this.nodes = nodes;
		this.host.session.lookAt(this);
		const { path } = this.host.session.state;
		if (path.length > 0) this.openTo(nodeOf(nodes, path));
		else if (fresh || this.open.size === 0) this.openHeaviest(ROOT, 12);
	}

	private openTo(node: number): void {
		if (!this.nodes || node === NONE) return;
		for (let above = this.nodes.parent(node); above > ROOT; above = this.nodes.parent(above)) this.open.add(above);
	}

	private openHeaviest(node: number, steps: number): number {
		const nodes = this.nodes as Nodes;
		for (; steps > 0 && nodes.hasChildren(node); steps--) {
			this.open.add(node);
			const child = nodes.children(node)[0];
			if (child === undefined) break;
			node = child;
		}
		return node;
	}

	private list(): void {
		const nodes = this.nodes as Nodes;
		this.showHead();
		this.lines = [];
		const todo: Line[] = [...nodes.children(ROOT)].reverse().map((node) => ({ node, depth: 0 }));
		for (let line = todo.pop(); line; line = todo.pop()) {
			this.lines.push(line);
			if (!this.open.has(line.node)) continue;
			const children = nodes.children(line.node);
			for (let index = children.length - 1; index >= 0; index--) todo.push({ node: children[index], depth: line.depth + 1 });
		}
		this.rows.show(this.lines.length, (index) => this.row(index));
	}

	private selectedNode(): number {
		const { path } = this.host.session.state;
		return path.length > 0 && this.nodes ? nodeOf(this.nodes, path) : NONE;
	}

	private selectedIndex(): number {
		const node = this.selectedNode();
		return node === NONE ? -1 : this.lines.findIndex((line) => line.node === node);
	}

	private row(index: number): HTMLElement {
		const { session, recording, look } = this.host;
		const nodes = this.nodes as Nodes;
		const { node, depth } = this.lines[index];
		const func = nodes.func(node);
		const all = nodes.value(ROOT);
		const name = el("span", { class: "name", style: `padding-left:${Math.min(depth, 60) * 14}px` },
			el("span", { class: "twist" }, nodes.hasChildren(node) ? (this.open.has(node) ? "\u25be" : "\u25b8") : ""),
			el("i", { class: "patch", style: `background:${look.fill(func)}` }), el("b", {}, recording.name(func)),
			el("small", {}, `${recording.letterOf(func)} ${recording.objectOf(func)}${nodes.inlined(node) ? " inlined" : ""}`));
		const selected = node === this.selectedNode();
		const dim = session.matches && session.matches[func] === 0;
		const row = el("div", { class: `row tree-grid${selected ? " selected" : ""}${dim ? " dim" : ""}`, role: "treeitem",
			"aria-level": depth + 1, "aria-selected": String(selected), "aria-label": describeNode(this.host, nodes, node).join(", "),
			...(nodes.hasChildren(node) ? { "aria-expanded": String(this.open.has(node)) } : {}),
		}, el("span", { class: "num" }, amount(nodes.value(node), session.unit)),
		el("span", { class: "num share", style: `--share:${((100 * nodes.value(node)) / all).toFixed(1)}%` }, percent(nodes.value(node), all)),
		el("span", { class: "num" }, nodes.self(node) > 0 ? amount(nodes.self(node), session.unit) : ""), ...this.change(node), name,
		...this.besides.map(({ unit, twin }) => el("span", { class: "num beside" }, twin.value(node) === 0 ? "" : amount(twin.value(node), unit))));
		row.addEventListener("click", (event) => this.clicked(node, event));
		row.addEventListener("dblclick", () => this.toggle(node));
		row.addEventListener("contextmenu", (event) => {
			event.preventDefault();
			this.choose(node);
			this.host.menu(event.clientX, event.clientY);
		});
		return row;
	}

	private clicked(node: number, event: MouseEvent): void {
		if ((event.target as HTMLElement).classList.contains("twist")) this.toggle(node);
		else this.choose(node);
	}

	private choose(node: number): void {
		this.host.select(pathOf(this.nodes as Nodes, node), (this.nodes as Nodes).func(node));
	}

	private toggle(node: number, open = !this.open.has(node)): void {
		if (open) this.open.add(node);
		else this.open.delete(node);
		this.list();
	}

	private heaviest(): void {
		const from = this.selectedNode();
		const node = this.openHeaviest(from === NONE ? ROOT : from, STEPS);
		if (node !== ROOT) this.choose(node);
		this.show();
	}

	private closeAll(): void {
		this.open.clear();
		this.list();
	}

	key(event: KeyboardEvent): boolean {
		if (!this.nodes || event.ctrlKey || event.altKey || event.metaKey) return false;
		const at = this.selectedIndex();
		const line = this.lines[at];
		const to = (index: number) => this.choose(this.lines[Math.max(Math.min(index, this.lines.length - 1), 0)].node);
		if (this.lines.length === 0) return false;
		if (event.key === "ArrowDown") to(at + 1);
		else if (event.key === "ArrowUp") to(at - 1);
		else if (event.key === "PageDown") to(at + this.rows.page);
		else if (event.key === "PageUp") to(at - this.rows.page);
		else if (event.key === "Home") to(0);
		else if (event.key === "End") to(this.lines.length - 1);
		else if (event.key === "h") this.heaviest();
		else if (line && event.key === "ArrowRight") this.right(line.node, at);
		else if (line && event.key === "ArrowLeft") this.left(line.node);
		else if (line && event.key === "*") this.openAll(line.node);
		else return false;
		return true;
	}

	private right(node: number, at: number): void {
		const nodes = this.nodes as Nodes;
		if (!nodes.hasChildren(node)) return;
		if (this.open.has(node)) this.choose(this.lines[at + 1].node);
		else this.toggle(node, true);
	}

	private left(node: number): void {
		const nodes = this.nodes as Nodes;
		if (this.open.has(node)) this.toggle(node, false);
		else if (nodes.parent(node) > ROOT) this.choose(nodes.parent(node));
	}

	// All below a node, as many as can be looked at.
	private openAll(node: number): void {
		const nodes = this.nodes as Nodes;
		const todo = [node];
		for (let left = 5000; todo.length > 0 && left > 0; left--) {
			const one = todo.pop() as number;
			if (!nodes.hasChildren(one)) continue;
			this.open.add(one);
			todo.push(...nodes.children(one));
		}
		this.list();
	}
}
