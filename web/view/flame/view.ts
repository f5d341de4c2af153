// SPDX-License-Identifier: MIT
// The flame graph of the selection.

import { nodeOf } from "../core/nodes";
import type { Drawn } from "../core/save";
import { NONE, ROOT } from "../core/tree";
import { button, el } from "../ui/dom";
import { describeNode } from "../ui/describe";
import type { Host, ViewPanel } from "../ui/view";
import { Graph } from "./graph";

export class FlameView implements ViewPanel {
	readonly element: HTMLElement;
	readonly graph: Graph;
	private readonly path = el("ol", { class: "path", "aria-label": "Zoomed to" });

	constructor(private readonly host: Host) {
		const { session } = host;
		this.graph = new Graph(host, {
			label: "Flame graph", down: () => session.state.down !== session.state.invert,
			describe: (nodes, node) => describeNode(host, nodes, node),
			selected: (path, func) => host.select(path, func),
			zoomed: (path) => host.update({ zoom: [...path] }, true),
		});
		this.element = el("section", { class: "view flame" }, this.path, this.graph.element);
	}

	show(): void {
		const { session, changes } = this.host;
		const { nodes, state } = session;
		void changes?.sync().then(() => this.graph.redraw());
		let zoom = nodeOf(nodes, state.zoom);
		if (zoom === NONE || nodes.value(zoom) === 0) zoom = ROOT;
		this.showPath(zoom === ROOT ? [] : state.zoom);
		this.graph.show(nodes, zoom, state.path.length > 0 ? nodeOf(nodes, state.path) : NONE);
	}

	private showPath(path: readonly number[]): void {
		const { recording } = this.host;
		this.path.hidden = path.length === 0;
		this.path.replaceChildren(el("li", {}, button("all", "Zoom out (0)", () => this.host.update({ zoom: [] }, true))),
			...path.map((func, index) => el("li", {}, button(recording.name(func), recording.name(func),
				() => this.host.update({ zoom: path.slice(0, index + 1) }, true)))));
		this.path.scrollLeft = this.path.scrollWidth;
	}

	drawn(): Drawn[] {
		return [this.graph.drawn()];
	}

	key(event: KeyboardEvent): boolean {
		return this.graph.key(event);
	}
}
