// SPDX-License-Identifier: MIT
// What changed between two recordings: functions by the change of their share.

import type { Change } from "../core/compare";
import { number, plural, points } from "../core/text";
import { NONE } from "../core/tree";
import { button, el } from "../ui/dom";
import { Rows } from "../ui/rows";
import type { Host, ViewPanel } from "../ui/view";

export class CompareView implements ViewPanel {
	readonly element: HTMLElement;
	private readonly rows: Rows;
	private readonly note = el("span", { class: "note" });
	private readonly which: HTMLButtonElement;
	private ofTotal = false;
	private changes: Change[] = [];

	constructor(private readonly host: Host) {
		const head = el("div", { class: "head change-grid" }, ...["before %", "after %", "change", "function", "object"].map((text, index) =>
			el("span", { class: index < 3 ? "num" : "" }, text)));
		this.rows = new Rows("grid", "Changes", head);
		this.which = button("Self", "Compare what functions took themselves, or with their callees", () => {
			this.ofTotal = !this.ofTotal;
			this.show();
		});
		this.element = el("section", { class: "view compare" }, el("div", { class: "view-tools" }, this.which,
			button("Flame graph by change", "Frames coloured by how much their share grew or shrank", () => host.update({ view: "flame", colour: "change" }, true)),
			this.note), this.rows.element);
	}

	show(): void {
		const { comparison, session } = this.host;
		if (!comparison) return;
		void comparison.sync().then(() => {
			const { matches } = session;
			this.which.textContent = this.ofTotal ? "Total" : "Self";
			this.changes = comparison.functions(this.ofTotal).filter((one) => !matches || (one.func !== NONE && matches[one.func] !== 0));
			const [before, after] = comparison.names;
			const counts = [comparison.base, session].map(({ counts: { samples } }) => plural(samples, "sample"));
			if (comparison.earlier) counts.reverse();
			this.note.textContent = `before: ${before}, ${counts[0]}; after: ${after}, ${counts[1]}. Shares of each; time and tasks are selected in `
				+ `${session.recording.header.name} only, which the other views show.`;
			this.rows.show(this.changes.length, (index) => this.row(index));
		});
	}

	private row(index: number): HTMLElement {
		const { session, look } = this.host;
		const one = this.changes[index];
		const change = one.after - one.before;
		const share = (value: number) => el("span", { class: "num", role: "gridcell" }, (100 * value).toFixed(2));
		const bar = el("span", { class: "num", role: "gridcell", title: `${points(change)} percentage points` },
			el("i", { class: "patch", style: `background:${look.change(one.before, one.after)}` }), points(change));
		const row = el("div", { class: `row change-grid${one.func !== NONE && one.func === session.state.func ? " selected" : ""}`, role: "row",
			"aria-rowindex": number(index + 1) }, share(one.before), share(one.after), bar,
		el("span", { class: "name", role: "gridcell", title: one.name }, el("b", {}, one.name),
			...(one.after === 0 ? [el("small", {}, "gone")] : one.before === 0 ? [el("small", {}, "new")] : [])),
		el("span", { class: "name", role: "gridcell" }, el("small", {}, one.object)));
		if (one.func !== NONE) {
			row.addEventListener("click", () => this.host.select([], one.func));
			row.addEventListener("dblclick", () => this.host.update({ view: "sandwich", func: one.func }, true));
		}
		return row;
	}
}
