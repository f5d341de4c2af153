// SPDX-License-Identifier: MIT
// The frames of a canvas as a tree for screen readers: those nearest to the selected one.

import type { Box, Nodes } from "../core/nodes";
import { NONE } from "../core/tree";
import { el } from "../ui/dom";

const MOST = 200;
let made = 0;

export class FrameTree {
	readonly element: HTMLElement;
	private readonly prefix = `frames${made++}`;
	private waiting = 0;

	constructor(label: string, private readonly labelOf: (nodes: Nodes, box: Box) => string) {
		this.element = el("div", { class: "offscreen", role: "tree", "aria-label": label });
	}

	attach(owner: HTMLElement): void {
		this.owner = owner;
	}

	private owner: HTMLElement | undefined;

	// After a while, since nobody reads while something is dragged.
	show(boxes: readonly Box[], nodes: Nodes, selected: number): void {
		clearTimeout(this.waiting);
		this.waiting = window.setTimeout(() => this.fill(boxes, nodes, selected), 150);
	}

	private fill(boxes: readonly Box[], nodes: Nodes, selected: number): void {
		const at = Math.max(boxes.findIndex((box) => box.node === selected), 0);
		const first = Math.max(Math.min(at - MOST / 2, boxes.length - MOST), 0);
		this.element.replaceChildren(...boxes.slice(first, first + MOST).map((box, index) => el("div", {
			role: "treeitem", id: `${this.prefix}-${index + first}`, "aria-level": box.depth + 1,
			"aria-selected": String(box.node === selected && box.node !== NONE),
			...(box.node !== NONE && nodes.hasChildren(box.node) ? { "aria-expanded": "true" } : {}),
		}, this.labelOf(nodes, box))));
		this.owner?.setAttribute("aria-activedescendant", `${this.prefix}-${at}`);
	}
}
