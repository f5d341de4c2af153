// SPDX-License-Identifier: MIT
// The samples of the selection, one by one, in time order; with a server also as perfdata script prints them.

import { indexRange, passOf } from "../core/count";
import { amount, number, plural } from "../core/text";
import { pathOfRow, ROOT } from "../core/tree";
import { button, el } from "../ui/dom";
import { Rows } from "../ui/rows";
import type { Host, ViewPanel } from "../ui/view";

const MOST = 1_000_000; // elements cannot be higher
const FEW = 1000;

export class SamplesView implements ViewPanel {
	readonly element: HTMLElement;
	private readonly rows: Rows;
	private readonly note = el("p", { class: "note" });
	private readonly stack = el("ol", { class: "stack", "aria-label": "Stack of the sample", "aria-live": "polite" });
	private found = new Int32Array(0);
	private from: readonly unknown[] = [];
	private at = -1; // the selected sample, in what was found

	constructor(private readonly host: Host) {
		const head = el("div", { class: "head sample-grid" }, ...["time", "thread", "CPU", "count", "function"].map((text, index) =>
			el("span", { class: index === 0 || index === 2 || index === 3 ? "num" : "" }, text)));
		this.rows = new Rows("grid", "Samples", head);
		this.element = el("section", { class: "view samples" }, this.note, el("div", { class: "beside" }, this.rows.element, this.stack));
		this.rows.scroller.addEventListener("keydown", (event) => {
			if (this.key(event)) event.preventDefault();
		});
	}

	show(): void {
		const { session } = this.host;
		const { range, threads, cpus, cgroups } = session.filter;
		const from = [session.samples, range, threads, cpus, cgroups, session.stage, session.shown];
		if (from.some((one, index) => one !== this.from[index])) {
			this.found = this.list();
			this.from = from;
			this.at = -1;
			this.stack.replaceChildren();
			void this.findRecord();
		}
		this.rows.show(this.found.length, (index) => this.row(index));
	}

	// Who comes from a record of the file finds its sample among those of its time.
	private async findRecord(): Promise<void> {
		const { found, host: { recording, session: { state } } } = this;
		if (state.record < 0 || found.length > FEW) return;
		const records = await recording.recordsOf(state.event);
		const at = found.findIndex((index) => records[index] === state.record);
		if (at >= 0 && found === this.found && this.at < 0) this.choose(at);
	}

	sample(): number | undefined {
		return this.found[this.at];
	}

	private list(): Int32Array {
		const { session } = this.host;
		const { samples, filter } = session;
		const { stage: { leafRow }, shown } = session;
		const [first, last] = indexRange(samples, filter.range);
		let found = session.ofOneLane()?.subarray(0, MOST);
		let used = found?.length ?? 0;
		if (!found) {
			found = new Int32Array(Math.min(last - first, MOST));
			const pass = passOf(samples, { ...filter, leaves: shown });
			for (let index = first; index < last && used < MOST; index++) if (!pass || pass(index)) found[used++] = index;
		}
		let all = 0;
		let none = 0;
		let gone = 0;
		session.counts.byLeaf.forEach((count, leaf) => {
			if (shown && shown[leaf] === 0) {
				gone += count;
			} else {
				all += count;
				if (leafRow[leaf] === ROOT) none += count;
			}
		});
		this.note.textContent = plural(all, "sample") + (all > used ? `; the first ${number(used)} are listed: narrow the selection to see others` : "")
			+ (none > 0 ? `; ${number(none)} of them have no stack` : "") + (gone > 0 ? `; ${number(gone)} more have not what is searched for, or no stack after the transforms` : "");
		return found.subarray(0, used);
	}

	// Times as in the recording, as perfdata script prints them.
	private time(ticks: number): string {
		const { session, recording } = this.host;
		const ns = BigInt(recording.header.time.start) + BigInt(Math.round(ticks * session.tick));
		return `${ns / 1000000000n}.${String(ns % 1000000000n).padStart(9, "0")}`;
	}

	private row(at: number): HTMLElement {
		const { session, recording, look } = this.host;
		const { samples } = session;
		const index = this.found[at];
		const { task, comm } = recording.threads[samples.thread[index]];
		const func = session.stage.tree.func[session.stage.leafRow[samples.leaf[index]]];
		const weight = samples.weight ? samples.weight[index] : samples.sameWeight;
		const row = el("div", { class: `row sample-grid${at === this.at ? " selected" : ""}`, role: "row", "aria-selected": String(at === this.at) },
			el("span", { class: "num mono", role: "gridcell" }, this.time(samples.time[index])),
			el("span", { class: "name", role: "gridcell" }, `${comm} ${recording.tasks[task].tid}`),
			el("span", { class: "num", role: "gridcell" }, samples.cpu[index] < 0 ? "" : String(samples.cpu[index])),
			el("span", { class: "num", role: "gridcell" }, amount(weight, recording.header.events[session.state.event]?.unit ?? "samples")),
			el("span", { class: "name", role: "gridcell" }, el("i", { class: "patch", style: `background:${look.fill(func)}` }),
				el("b", {}, func < 0 ? "no stack" : recording.name(func)), el("small", {}, recording.objectOf(func))));
		row.addEventListener("click", () => this.choose(at));
		return row;
	}

	private choose(at: number): void {
		const { session, recording } = this.host;
		this.at = Math.max(Math.min(at, this.found.length - 1), 0);
		const { tree, leafRow } = session.stage;
		const leaf = leafRow[session.samples.leaf[this.found[this.at]]];
		const path = pathOfRow(tree, leaf);
		this.stack.replaceChildren(...[...path].reverse().map((func) => el("li", {}, el("b", {}, recording.name(func)), el("small", {}, recording.objectOf(func)))));
		if (this.host.served) this.stack.prepend(el("li", {}, button("Bytes in the file", "The record of this sample", () => void this.host.showRecord(this.found[this.at]))));
		this.rows.reveal(this.at);
		this.host.select(session.state.invert ? [] : path, tree.func[leaf]);
	}

	key(event: KeyboardEvent): boolean {
		if (event.ctrlKey || event.altKey || event.metaKey || this.found.length === 0) return false;
		const steps: Record<string, number> = { ArrowDown: 1, "]": 1, ArrowUp: -1, "[": -1, PageDown: this.rows.page, PageUp: -this.rows.page };
		const step = steps[event.key];
		if (step !== undefined) this.choose(this.at + step);
		else if (event.key === "Home") this.choose(0);
		else if (event.key === "End") this.choose(this.found.length - 1);
		else return false;
		return true;
	}
}
