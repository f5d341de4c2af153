// SPDX-License-Identifier: MIT
// What comes up over the page: tooltips, the menu of a function, and dialogs.

import { button, el, onPage } from "./dom";
import type { MenuItem, TipLine } from "./view";

const AWAY = 14; // pixels from the pointer

export class Tip {
	readonly element = el("div", { class: "tip", "aria-hidden": "true", hidden: true });

	// It lies beside the pointer, in the corner of the window that has room, and never below the pointer.
	show(lines: readonly TipLine[], x: number, y: number): void {
		this.element.replaceChildren(...lines.map((line) => el(line.strong ? "b" : "span", {}, line.text)));
		this.element.hidden = false;
		const { offsetWidth: width, offsetHeight: height } = this.element;
		const left = x + AWAY + width <= window.innerWidth ? x + AWAY : x - AWAY - width;
		const above = left < 0; // no room on either side: above or below the pointer
		const top = !above && y + AWAY + height <= window.innerHeight ? y + AWAY : y - AWAY - height;
		this.element.style.left = `${Math.max(left, 2)}px`;
		this.element.style.top = `${top < 0 ? y + AWAY + 8 : top}px`;
	}

	hide(): void {
		this.element.hidden = true;
	}
}

export class Menu {
	readonly element = el("div", { class: "menu", role: "menu", hidden: true, tabindex: -1 });
	private back: HTMLElement | null = null;

	constructor() {
		onPage<PointerEvent>(document, "pointerdown", (event) => {
			if (!this.element.contains(event.target as Node)) this.hide();
		});
		this.element.addEventListener("keydown", (event) => this.key(event));
	}

	show(title: string, items: readonly MenuItem[], x: number, y: number): void {
		this.back = document.activeElement as HTMLElement | null;
		this.element.replaceChildren(el("div", { class: "menu-title" }, title), ...items.map((item) =>
			el("button", { type: "button", role: "menuitem", click: () => {
				this.hide();
				item.act();
			} }, el("span", {}, item.label), el("kbd", {}, item.key ?? ""))));
		this.element.hidden = false;
		this.element.style.left = `${Math.max(Math.min(x, window.innerWidth - this.element.offsetWidth - 4), 2)}px`;
		this.element.style.top = `${Math.max(Math.min(y, window.innerHeight - this.element.offsetHeight - 4), 2)}px`;
		this.element.querySelector("button")?.focus();
	}

	hide(): boolean {
		if (this.element.hidden) return false;
		this.element.hidden = true;
		this.back?.focus();
		return true;
	}

	private key(event: KeyboardEvent): void {
		const items = [...this.element.querySelectorAll("button")];
		const at = items.indexOf(document.activeElement as HTMLButtonElement);
		if (event.key === "ArrowDown") items[(at + 1) % items.length]?.focus();
		else if (event.key === "ArrowUp") items[(at + items.length - 1) % items.length]?.focus();
		else if (event.key === "Escape") this.hide();
		else return;
		event.preventDefault();
		event.stopPropagation();
	}
}

export function dialog(title: string, ...children: (Node | string)[]): HTMLDialogElement {
	const box: HTMLDialogElement = el("dialog", { "aria-label": title }, el("header", {}, el("h2", {}, title),
		button("\u00d7", "Close (Escape)", () => box.close(), { class: "cross", "aria-label": "Close" })), ...children);
	box.addEventListener("close", () => box.remove());
	box.addEventListener("click", (event: Event) => {
		if (event.target === box) box.close();
	});
	document.body.append(box);
	box.showModal();
	return box;
}
