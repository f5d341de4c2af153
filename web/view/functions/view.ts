// SPDX-License-Identifier: MIT
// All functions with their own and their total amount, and beside them what they have of other events.

import { amount, percent, plural, points } from "../core/text";
import type { Beside } from "../core/session";
import type { Sort } from "../core/state";
import { el, isSeen } from "../ui/dom";
import { whereOf } from "../ui/describe";
import { BESIDES_MOST, Rows } from "../ui/rows";
import type { Host, ViewPanel } from "../ui/view";

const COLUMNS: readonly { sort: Sort; label: string; numeric: boolean }[] = [
	{ sort: "self", label: "self", numeric: true }, { sort: "total", label: "total", numeric: true },
	{ sort: "change", label: "change", numeric: true },
	{ sort: "name", label: "function", numeric: false }, { sort: "object", label: "object", numeric: false },
];

export class FunctionsView implements ViewPanel {
	readonly element: HTMLElement;
	private readonly rows: Rows;
	private readonly head = el("div", { class: "head table-grid", role: "row" });
	private readonly summary = el("p", { class: "note" });
	private order: number[] = [];
	private besides: { event: number; sums: Beside }[] = []; // other events
	private changes: Float64Array | undefined; // of shares of self, where a time is selected, or there is another recording

	constructor(private readonly host: Host) {
		this.rows = new Rows("grid", "Functions", this.head);
		this.element = el("section", { class: "view functions" }, this.summary, this.rows.element);
		this.rows.scroller.addEventListener("keydown", (event) => {
			if (this.key(event)) event.preventDefault();
		});
	}

	show(): void {
		this.draw();
		const { session } = this.host;
		// what was before, and what other events have, is known a moment later
		const wanted = session.otherEvents.slice(0, BESIDES_MOST);
		if (isSeen(this.element) && wanted.some((event) => !session.beside(event)))
			void Promise.all(wanted.map((event) => session.readBeside(event))).then(() => this.draw());
		if (!this.host.session.others) void this.host.comparison?.sync().then(() => this.draw());
	}

	private draw(): void {
		this.changes = this.host.session.changesInTime() ?? this.host.comparison?.selfChanges();
		this.element.classList.toggle("with-change", this.changes !== undefined);
		this.besides = this.host.session.otherEvents.slice(0, BESIDES_MOST).flatMap((event) => {
			const sums = this.host.session.beside(event);
			return sums ? [{ event, sums }] : [];
		});
		this.element.style.setProperty("--besides", "minmax(84px, 104px) ".repeat(this.besides.length));
		this.showHead();
		this.order = this.sorted();
		const { session } = this.host;
		this.summary.textContent = `${plural(this.order.length, "function")}${session.state.search ? " found" : ""}; `
			+ `total counts a sample once, however often the function is in its stack${this.besidesNote()}`;
		this.rows.show(this.order.length, (index) => this.row(index));
		const at = this.order.indexOf(session.state.func);
		if (at >= 0) this.rows.reveal(at);
	}

	private sorted(): number[] {
		const { session, recording } = this.host;
		const { functions: { self, total }, matches, state: { sort } } = session;
		const found: number[] = [];
		for (let func = 0; func < total.length; func++)
			if (total[func] > 0 && (!matches || matches[func] !== 0)) found.push(func);
		const { changes } = this;
		if (sort === "change" && changes) return found.sort((one, other) => changes[other] - changes[one] || self[other] - self[one]);
		if (sort === "self" || sort === "change") return found.sort((one, other) => self[other] - self[one] || total[other] - total[one]);
		if (sort === "total") return found.sort((one, other) => total[other] - total[one] || self[other] - self[one]);
		const text = sort === "name" ? (func: number) => recording.name(func) : (func: number) => recording.objectOf(func);
		const keys = new Map(found.map((func) => [func, text(func)]));
		const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
		return found.sort((one, other) => compare(keys.get(one) ?? "", keys.get(other) ?? "") || self[other] - self[one]);
	}

	private besidesNote(): string {
		const more = this.host.session.otherEvents.length - BESIDES_MOST;
		return more > 0 ? `; ${plural(more, "more event")} can be chosen above` : "";
	}

	private showHead(): void {
		const { sort } = this.host.session.state;
		const title = (column: (typeof COLUMNS)[number]) => el("button", { type: "button", role: "columnheader",
			class: column.numeric ? "num" : "", "aria-sort": sort === column.sort ? (column.numeric ? "descending" : "ascending") : "none",
			click: () => this.host.update({ sort: column.sort }) }, column.label, sort === column.sort ? (column.numeric ? " \u25be" : " \u25b4") : "");
		const [self, total, change, name, object] = COLUMNS;
		this.head.replaceChildren(title(self), el("span", { class: "num" }, "self %"), title(total), el("span", { class: "num" }, "total %"),
			...(this.changes ? [title(change)] : []), title(name), title(object), ...this.besides.map(({ event }) => this.headBeside(event)));
	}

	private row(index: number): HTMLElement {
		const { session, recording, look } = this.host;
		const func = this.order[index];
		const { functions: { self, total }, sums } = session;
		const all = sums.all;
		const selected = func === session.state.func;
		const share = (value: number) => el("span", { class: "num share", role: "gridcell",
			style: `--share:${((100 * value) / Math.max(all, 1)).toFixed(1)}%` }, percent(value, all));
		const number = (value: number) => el("span", { class: "num", role: "gridcell" }, amount(value, session.unit));
		const row = el("div", { class: `row table-grid${selected ? " selected" : ""}`, role: "row", "aria-selected": String(selected),
			"aria-rowindex": index + 1 },
		number(self[func]), share(self[func]), number(total[func]), share(total[func]), ...this.change(func),
		el("span", { class: "name", role: "gridcell", title: `${recording.name(func)}\n${whereOf(this.host, func)}` },
			el("i", { class: "patch", style: `background:${look.fill(func)}` }), el("b", {}, recording.name(func))),
		el("span", { class: "name", role: "gridcell" }, el("small", {}, `${recording.letterOf(func)} ${recording.objectOf(func)}`)),
		...this.besides.map(({ sums }) => el("span", { class: "num beside", role: "gridcell" }, sums.self[func] === 0 ? "" : amount(sums.self[func], sums.unit))));
		row.addEventListener("click", () => this.host.select([], func));
		row.addEventListener("dblclick", () => this.host.update({ view: "sandwich", func }, true));
		row.addEventListener("contextmenu", (event) => {
			event.preventDefault();
			this.host.select([], func);
			this.host.menu(event.clientX, event.clientY);
		});
		return row;
	}

	private headBeside(event: number): HTMLElement {
		const name = this.host.recording.header.events[event]?.name ?? "";
		return el("button", { type: "button", role: "columnheader", class: "num beside", title: `Self of ${name}; click to look at this event`,
			click: () => this.host.update({ event, sort: "self" }, true) }, name);
	}

	private change(func: number): HTMLElement[] {
		if (!this.changes) return [];
		const title = this.host.session.others ? "self %, less what it is at all other times" : "self %, less what it was before";
		return [el("span", { class: "num", role: "gridcell", title }, points(this.changes[func]))];
	}

	key(event: KeyboardEvent): boolean {
		if (event.ctrlKey || event.altKey || event.metaKey || this.order.length === 0) return false;
		const at = this.order.indexOf(this.host.session.state.func);
		const to = (index: number) => this.host.select([], this.order[Math.max(Math.min(index, this.order.length - 1), 0)]);
		if (event.key === "ArrowDown") to(at + 1);
		else if (event.key === "ArrowUp") to(at - 1);
		else if (event.key === "PageDown") to(at + this.rows.page);
		else if (event.key === "PageUp") to(at - this.rows.page);
		else if (event.key === "Home") to(0);
		else if (event.key === "End") to(this.order.length - 1);
		else return false;
		return true;
	}
}
