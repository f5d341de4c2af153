// SPDX-License-Identifier: MIT
// The frames of a canvas as a tree for screen readers: those nearest to the selected one.

import { el, whenIdle } from "../ui/dom";

const MOST = 200;
const PART = 20;
let made = 0;

export interface Frames {
	readonly count: number;
	readonly selected: number; // -1: none
	level(index: number): number;
	opens(index: number): boolean; // whether something is below it
	label(index: number): string;
}

export class FrameTree {
	readonly element: HTMLElement;
	private readonly prefix = `frames${made++}`;
	private waiting = 0;
	private turn = 0;

	constructor(label: string, private readonly owner: HTMLElement) {
		this.element = el("div", { class: "offscreen", role: "tree", "aria-label": label });
		owner.append(this.element);
	}

	// After a while, since nobody reads while something is dragged.
	show(frames: Frames): void {
		const turn = ++this.turn;
		clearTimeout(this.waiting);
		this.waiting = window.setTimeout(() => whenIdle(this.fill(frames, turn), () => undefined), 150);
	}

	// Part by part, and not of a view that was left meanwhile: it comes back by the function above.
	private *fill(frames: Frames, turn: number): Generator<void> {
		const at = Math.max(frames.selected, 0);
		const first = Math.max(Math.min(at - MOST / 2, frames.count - MOST), 0);
		const made: HTMLElement[] = [];
		for (let index = first; index < Math.min(first + MOST, frames.count); index++) {
			if (made.length % PART === 0) yield;
			if (turn !== this.turn || !this.element.isConnected) return;
			made.push(el("div", { role: "treeitem", id: `${this.prefix}-${index}`, "aria-level": frames.level(index),
				"aria-selected": String(index === frames.selected), ...(frames.opens(index) ? { "aria-expanded": "true" } : {}) }, frames.label(index)));
		}
		this.element.replaceChildren(...made);
		this.owner.setAttribute("aria-activedescendant", `${this.prefix}-${at}`);
	}
}
