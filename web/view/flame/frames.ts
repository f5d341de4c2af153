// SPDX-License-Identifier: MIT
// The frames of a canvas as a tree for screen readers: those nearest to the selected one.

import { el, isQuietSince, whenIdle } from "../ui/dom";

const MOST = 200;
const PART = 20;
const REST_MS = 150;
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

	// After a while, since nobody reads while something is done.
	show(frames: Frames): void {
		const turn = ++this.turn;
		clearTimeout(this.waiting);
		this.waiting = window.setTimeout(() => {
			if (isQuietSince(REST_MS)) whenIdle(this.fill(frames, turn), () => undefined);
			else this.show(frames);
		}, REST_MS);
	}

	// Part by part, and not of a view that was left meanwhile: it comes back by the function above.
	private *fill(frames: Frames, turn: number): Generator<void> {
		const at = Math.max(frames.selected, 0);
		const first = Math.max(Math.min(at - MOST / 2, frames.count - MOST), 0);
		const count = Math.min(MOST, frames.count - first);
		for (let item = 0; item < count; item++) {
			if (item % PART === 0) yield;
			if (turn !== this.turn || !this.element.isConnected) return;
			if (!isQuietSince(REST_MS)) return this.show(frames);
			this.put(item, first + item, frames);
		}
		while (this.element.childElementCount > count) this.element.lastElementChild?.remove();
		this.owner.setAttribute("aria-activedescendant", `${this.prefix}-${at}`);
	}

	// Into the element that is there already, if there is one.
	private put(item: number, index: number, frames: Frames): void {
		const element = this.element.children[item] ?? this.element.appendChild(el("div", { role: "treeitem" }));
		const attributes: Readonly<Record<string, string>> = { id: `${this.prefix}-${index}`, "aria-level": String(frames.level(index)),
			"aria-selected": String(index === frames.selected) };
		for (const [name, value] of Object.entries(attributes)) if (element.getAttribute(name) !== value) element.setAttribute(name, value);
		element.toggleAttribute("aria-expanded", false);
		if (frames.opens(index)) element.setAttribute("aria-expanded", "true");
		const label = frames.label(index);
		if (element.textContent !== label) element.textContent = label;
	}
}
