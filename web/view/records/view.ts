// SPDX-License-Identifier: MIT
// The records of the file, one by one: fields, bytes and offset. Only a served page has the file.

import { exactJson, number } from "../core/text";
import { button, el } from "../ui/dom";
import type { Host, ViewPanel } from "../ui/view";

const PAGE = 100;

interface FileRecord {
	readonly offset?: number;
	readonly index: number;
	readonly type: string;
	readonly size: number;
	readonly misc?: number;
	readonly time_ns?: number;
	readonly event?: string;
	readonly fields?: unknown;
	readonly bytes?: string;
}

export class RecordsView implements ViewPanel {
	readonly element: HTMLElement;
	private readonly list = el("div", { class: "record-list scroller", role: "grid", "aria-label": "Records", tabindex: 0 });
	private readonly detail = el("div", { class: "record-detail" });
	private readonly place = el("input", { type: "search", inputmode: "numeric", "aria-label": "Number of a record", placeholder: "record" });
	private readonly note = el("span", { class: "note" });
	private records: FileRecord[] = [];
	private first = -1;
	private isEnd = false;

	constructor(private readonly host: Host) {
		this.place.addEventListener("change", () => this.go(Number(this.place.value) || 0));
		this.element = el("section", { class: "view records" }, el("div", { class: "view-tools" }, button("\u2039", "Earlier records", () => this.page(-1)),
			button("\u203a", "Later records", () => this.page(1)), el("label", {}, "Record ", this.place), this.note),
		el("div", { class: "beside" }, this.list, this.detail));
	}

	private get record(): number {
		return Math.max(this.host.session.state.record, 0);
	}

	private go(record: number): void {
		this.host.update({ record: Math.max(record, 0) }, true);
	}

	private page(step: number): void {
		if (step > 0 && this.isEnd) return;
		this.go(this.first + step * PAGE);
	}

	show(): void {
		this.place.value = String(this.record);
		if (this.first < 0 || this.record < this.first || this.record >= this.first + PAGE) void this.read();
		else this.draw();
	}

	private async read(): Promise<void> {
		const first = (this.first = this.record - (this.record % PAGE));
		this.note.textContent = "reading\u2026";
		try {
			const answer = await this.host.fetch(`records?from=${first}&count=${PAGE}`);
			const text = exactJson(await answer.text()) as { error?: string; records?: FileRecord[]; end?: boolean };
			if (first !== this.first) return;
			if (text.error !== undefined) throw new Error(text.error);
			this.records = text.records ?? [];
			this.isEnd = text.end === true;
			this.note.textContent = this.records.length > 0 ? `${number(first)} to ${number(first + this.records.length - 1)}${this.isEnd ? ", the last" : ""}`
				: "there are no records here";
		} catch (error) {
			this.records = [];
			this.note.textContent = error instanceof Error ? error.message : String(error);
		}
		this.draw();
	}

	private draw(): void {
		this.list.replaceChildren(...this.records.map((record) => {
			const chosen = record.index === this.record;
			const row = el("button", { type: "button", role: "row", class: `record-row${chosen ? " selected" : ""}`, "aria-selected": String(chosen),
				click: () => this.go(record.index) }, el("span", { class: "num" }, number(record.index)), el("b", {}, record.type),
			el("span", {}, record.event ?? ""), el("span", { class: "num" }, `${number(record.size)} B`));
			return row;
		}));
		this.list.querySelector(".selected")?.scrollIntoView({ block: "nearest" });
		const record = this.records.find((one) => one.index === this.record);
		this.detail.replaceChildren(...(record ? this.parts(record) : []));
	}

	private parts(record: FileRecord): Node[] {
		const facts: [string, string][] = [["offset", record.offset === undefined ? "" : `${number(record.offset)} (0x${record.offset.toString(16)})`],
			["size", `${number(record.size)} bytes`], ["misc", `0x${(record.misc ?? 0).toString(16)}`], ["time", record.time_ns === undefined ? "" : `${record.time_ns} ns`],
			["event", record.event ?? ""]];
		const nodes: Node[] = [el("h2", {}, `${number(record.index)} ${record.type}`),
			el("dl", {}, ...[...facts, ...fieldsOf(record.fields)].filter(([, value]) => value !== "").flatMap(([name, value]) => [el("dt", {}, name), el("dd", { class: "mono" }, value)])),
			el("pre", { class: "hex", "aria-label": "Bytes" }, hexOf(record.bytes ?? "", record.offset ?? 0))];
		if (record.type === "SAMPLE") nodes.splice(1, 0, button("Show this sample", "Find it in the other views", () => void this.toSample(record.index)));
		return nodes;
	}

	private async toSample(index: number): Promise<void> {
		const { recording, session } = this.host;
		for (let event = 0; event < recording.header.events.length; event++) {
			const at = (await recording.recordsOf(event)).indexOf(index);
			if (at < 0) continue;
			const { time } = await recording.samplesOf(event);
			const tick = time[at];
			this.host.update({ event, view: "samples", ranges: [{ from: tick, to: tick }], threads: [], processes: [], cpus: [], cgroups: [],
				transforms: [], search: "", record: index }, true);
			return;
		}
		this.host.say(`${session.recording.header.name} has no such sample in this page`);
	}

	key(event: KeyboardEvent): boolean {
		if (event.ctrlKey || event.altKey || event.metaKey) return false;
		if (event.key === "ArrowDown" || event.key === "]") this.go(this.record + 1);
		else if (event.key === "ArrowUp" || event.key === "[") this.go(this.record - 1);
		else if (event.key === "PageDown") this.page(1);
		else if (event.key === "PageUp") this.page(-1);
		else return false;
		return true;
	}
}

// Fields that are addresses, or lists of them.
const ADDRESSES = new Set(["ip", "addr", "start", "pgoff", "callchain", "phys_addr", "func", "ret_addr"]);
// What stands in a call chain between addresses: those that follow are of this part of the machine.
const CONTEXTS = new Map([["0xfffffffffffffe00", "user"], ["0xffffffffffffff80", "kernel"], ["0xffffffffffffffe0", "hypervisor"],
	["0xfffffffffffff800", "guest"], ["0xfffffffffffff780", "guest kernel"], ["0xfffffffffffff600", "guest user"]]);

function addressOf(value: unknown): string {
	if (Array.isArray(value)) return value.map(addressOf).join("\n");
	if (typeof value !== "number" && !(typeof value === "string" && /^\d+$/.test(value))) return typeof value === "string" ? value : JSON.stringify(value);
	const text = `0x${BigInt(value).toString(16)}`;
	const context = CONTEXTS.get(text);
	return context === undefined ? text : `${text} (${context})`;
}

// Fields by their path; lists as they are, addresses as such.
function fieldsOf(fields: unknown, prefix = ""): [string, string][] {
	if (fields === null || typeof fields !== "object") return [];
	return Object.entries(fields).flatMap(([name, value]): [string, string][] => {
		const isMap = value !== null && typeof value === "object" && !Array.isArray(value);
		return isMap && prefix.length < 60 ? fieldsOf(value, `${prefix}${name}.`) : [[`${prefix}${name}`,
			ADDRESSES.has(name) ? addressOf(value) : typeof value === "string" ? value : JSON.stringify(value)]];
	});
}

function hexOf(bytes: string, offset: number): string {
	const lines: string[] = [];
	for (let at = 0; at < bytes.length; at += 32) {
		const parts = bytes.slice(at, at + 32).match(/../g) ?? [];
		const text = parts.map((part) => {
			const code = parseInt(part, 16);
			return code >= 32 && code < 127 ? String.fromCharCode(code) : ".";
		}).join("");
		lines.push(`${(offset + at / 2).toString(16).padStart(8, "0")}  ${parts.join(" ").padEnd(48)} ${text}`);
	}
	return lines.join("\n");
}
