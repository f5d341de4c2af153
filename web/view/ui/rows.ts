// SPDX-License-Identifier: MIT
// A list of many rows, of which only those that can be seen are elements.

import { el, onceAFrame } from "./dom";

export const BESIDES_MOST = 3; // columns of other events

export class Rows {
	readonly element: HTMLElement;
	readonly scroller = el("div", { class: "scroller", tabindex: 0 });
	private readonly inner = el("div", { class: "inner" });
	private count = 0;
	private fill: (index: number) => HTMLElement = () => el("div");
	private readonly draw = onceAFrame(() => this.drawNow());

	constructor(role: string, label: string, head: HTMLElement, private readonly height = 22) {
		this.scroller.setAttribute("role", role);
		this.scroller.setAttribute("aria-label", label);
		this.scroller.append(this.inner);
		this.element = el("div", { class: "rows" }, head, this.scroller);
		this.scroller.addEventListener("scroll", this.draw);
		new ResizeObserver(this.draw).observe(this.scroller);
	}

	show(count: number, fill: (index: number) => HTMLElement): void {
		this.count = count;
		this.fill = fill;
		this.inner.style.height = `${count * this.height}px`;
		this.scroller.setAttribute("aria-rowcount", String(count));
		this.draw();
	}

	reveal(index: number): void {
		const top = index * this.height;
		const { scrollTop, clientHeight } = this.scroller;
		if (top < scrollTop) this.scroller.scrollTop = top;
		else if (top + this.height > scrollTop + clientHeight) this.scroller.scrollTop = top + this.height - clientHeight;
	}

	get page(): number {
		return Math.max(Math.floor(this.scroller.clientHeight / this.height) - 1, 1);
	}

	private drawNow(): void {
		const first = Math.max(Math.floor(this.scroller.scrollTop / this.height) - 4, 0);
		const last = Math.min(first + Math.ceil(this.scroller.clientHeight / this.height) + 8, this.count);
		const rows: HTMLElement[] = [];
		for (let index = first; index < last; index++) {
			const row = this.fill(index);
			row.style.top = `${index * this.height}px`;
			row.style.height = `${this.height}px`;
			rows.push(row);
		}
		this.inner.replaceChildren(...rows);
	}
}
