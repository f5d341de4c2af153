// SPDX-License-Identifier: MIT
// One function between its callers, above, and its callees, below.

import { amount, percent } from "../core/text";
import { NONE, ROOT } from "../core/tree";
import { Nodes, pathOf } from "../core/nodes";
import type { Drawn } from "../core/save";
import { button, el, onceIdle, whenIdle } from "../ui/dom";
import { describeNode, whereOf } from "../ui/describe";
import type { Host, ViewPanel } from "../ui/view";
import { Graph } from "../flame/graph";

const THREADS = 3; // that are named

export class SandwichView implements ViewPanel {
	readonly element: HTMLElement;
	readonly callers: Graph;
	readonly callees: Graph;
	private readonly title = el("p", { class: "between" });
	private readonly threads = el("span", { id: "between-threads" });
	private readonly tools = el("span", { class: "tools" });
	private readonly empty = el("p", { class: "note" }, "No function is selected: choose one in another view, or search for it.");
	private nodes: { func: number; from: unknown; callers: Nodes; callees: Nodes } | undefined;
	private used: Graph;
	private turn = 0;

	constructor(private readonly host: Host) {
		this.callers = this.graph("Callers", false);
		this.callees = this.graph("Callees", true);
		this.used = this.callees;
		this.callers.element.addEventListener("focusin", () => (this.used = this.callers));
		this.callees.element.addEventListener("focusin", () => (this.used = this.callees));
		if (!host.recording.header.aggregated) this.tools.append(button("Code", "Source and instructions of this function", () => host.update({ view: "source", func: this.func() }, true)));
		if (host.served) this.tools.append(button("Bytes", "The record of a sample with this function in the file (b)", () => {
			const sample = this.sample();
			host.select([], this.func());
			void host.showRecord(sample);
		}));
		this.element = el("section", { class: "view sandwich" }, this.empty, this.callers.element, this.title, this.callees.element);
	}

	private graph(label: string, down: boolean): Graph {
		const { host } = this;
		const graph: Graph = new Graph(host, {
			label, whole: false, down: () => down, describe: (nodes, node) => [...describeNode(host, nodes, node), "double click: this function in the middle"],
			// What is selected here is the function in the middle: a frame becomes it by a double click or Enter.
			selected: (path) => this.mark(graph, path),
			zoomed: (path) => {
				const func = path[path.length - 1];
				if (func !== undefined) this.host.update({ func, path: [] }, true);
			},
		});
		return graph;
	}

	private mark(graph: Graph, path: readonly number[]): void {
		const { nodes } = graph;
		if (!nodes) return;
		let node = ROOT;
		for (const func of path) node = nodes.children(node).find((one) => nodes.func(one) === func) ?? NONE;
		graph.selected = node;
		this.host.say(describeNode(this.host, nodes, node).join(" \u00b7 "));
		graph.redraw();
	}

	// The function in the middle: the selected one, else the one with the largest self.
	private func(): number {
		const { session } = this.host;
		if (session.state.func >= 0) return session.state.func;
		const { self } = session.functions;
		let best = NONE;
		for (let func = 0; func < self.length; func++) if (self[func] > (best < 0 ? 0 : self[best])) best = func;
		return best;
	}

	show(): void {
		const { session, recording } = this.host;
		const func = this.func();
		this.empty.hidden = func >= 0;
		this.title.hidden = func < 0;
		if (func < 0) return;
		const { sums } = session;
		if (this.nodes?.func !== func || this.nodes.from !== sums)
			this.nodes = { func, from: sums, callers: session.callers(func), callees: session.callees(func) };
		if (session.state.colour === "change") this.compare(func, this.nodes);
		const { functions } = session;
		const [self, total] = [functions.self[func], functions.totalOf(func)];
		this.title.replaceChildren(el("b", {}, recording.name(func)), el("small", {}, whereOf(this.host, func)),
			el("span", { id: "between-total" }, `total ${amount(total, session.unit)} (${percent(total, sums.all)})`),
			el("span", { id: "between-self" }, `self ${amount(self, session.unit)} (${percent(self, sums.all)})`), this.threads, this.tools);
		if (!recording.header.aggregated) this.showThreads(func);
		for (const [graph, nodes] of [[this.callers, this.nodes.callers], [this.callees, this.nodes.callees]] as const) {
			const top = nodes.children(ROOT)[0] ?? ROOT;
			graph.show(nodes, top, graph.nodes === nodes ? graph.selected : top);
			graph.element.style.flexGrow = String(graph.rows); // each has its part of the room
		}
	}

	// Of the frame that is marked, else of the function in the middle.
	sample(): number {
		const { selected, nodes } = this.used;
		const path = nodes && selected > ROOT ? pathOf(nodes, selected) : [this.func()];
		return this.host.session.firstAround(path, this.used === this.callees ? 1 : -1);
	}

	drawn(): Drawn[] {
		return [this.callers.drawn(), this.callees.drawn()];
	}

	private compare(func: number, { callers, callees }: { callers: Nodes; callees: Nodes }): void {
		const { comparison } = this.host;
		if (!comparison) return;
		void comparison.sync().then(() => {
			const before = comparison.baseFunc(func);
			comparison.pair(callers, before === NONE ? undefined : comparison.base.callers(before));
			comparison.pair(callees, before === NONE ? undefined : comparison.base.callees(before));
			this.callers.redraw();
			this.callees.redraw();
		});
	}

	// It takes a pass over the samples, for which the graphs need not wait.
	private readonly showThreads = onceIdle((func: number) => whenIdle(this.countThreads(func, ++this.turn), () => undefined));

	private *countThreads(func: number, turn: number): Generator<void> {
		for (const found of this.host.session.threadsOf(func)) {
			if (turn !== this.turn || !this.element.isConnected) return;
			if (found) this.listThreads([...found]);
			yield;
		}
	}

	private listThreads(all: readonly (readonly [number, number])[]): void {
		const { recording } = this.host;
		const name = ([thread]: readonly [number, number]) => {
			const { task, comm } = recording.threads[thread];
			const { pid, tid } = recording.tasks[task];
			return button(`${comm} ${tid}`, "Select this thread alone", () => this.host.update({ threads: [`${pid}:${tid}`] }, true), { class: "link" });
		};
		const sum = all.reduce((samples, [, count]) => samples + count, 0);
		this.threads.replaceChildren("in ", ...all.slice(0, THREADS).flatMap((one) => [name(one), ` ${percent(one[1], sum)} `]),
			all.length > THREADS ? `and ${all.length - THREADS} more threads` : "");
	}

	key(event: KeyboardEvent): boolean {
		if (event.key === "Enter" && this.used.selected > ROOT) {
			this.used.zoomTo(this.used.selected);
			return true;
		}
		return event.key !== "+" && event.key !== "-" && this.used.key(event);
	}
}
