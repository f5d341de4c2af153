// SPDX-License-Identifier: MIT
// The code of one function with the samples of each instruction. A served page asks for what perfdata annotate prints; a file
// has the sampled addresses and their lines only.

import type { CodeLine } from "../core/recording";
import { number, percent, plural } from "../core/text";
import { NONE } from "../core/tree";
import { el } from "../ui/dom";
import { whereOf } from "../ui/describe";
import { Rows } from "../ui/rows";
import { query } from "../ui/save";
import type { Host, ViewPanel } from "../ui/view";

interface Line {
	readonly address: string;
	readonly text: string;
	readonly where: string; // file and line
	readonly samples: number;
	readonly kind?: string; // of lines that are no instruction
}

interface Instruction {
	readonly addr?: string;
	readonly text?: string;
	readonly file?: string;
	readonly line?: number;
	readonly sums?: readonly { readonly samples?: number }[];
}

export class SourceView implements ViewPanel {
	readonly element: HTMLElement;
	private readonly title = el("p", { class: "between" });
	private readonly rows: Rows;
	private lines: Line[] = [];
	private from: readonly unknown[] = [];

	constructor(private readonly host: Host) {
		const head = el("div", { class: "head code-grid" }, el("span", { class: "num" }, "samples"), el("span", { class: "num" }, "%"),
			el("span", {}, "address"), el("span", {}, "code"), el("span", {}, "line"));
		this.rows = new Rows("grid", "Code", head, 20);
		this.element = el("section", { class: "view source" }, this.title, this.rows.element);
	}

	// The selected function, else the one with the largest self.
	private func(): number {
		const { session, recording } = this.host;
		if (session.state.func >= 0 && session.state.func < recording.functionCount) return session.state.func;
		const { self } = session.functions;
		let best = NONE;
		for (let func = 0; func < recording.functionCount; func++) if (self[func] > (best < 0 ? 0 : self[best])) best = func;
		return best;
	}

	show(): void {
		const { session, recording } = this.host;
		const func = this.func();
		const from = [func, session.counts];
		if (from.every((one, index) => one === this.from[index])) return;
		this.from = from;
		if (func < 0) {
			this.title.textContent = "No function is selected.";
			return this.list([]);
		}
		this.title.replaceChildren(el("b", {}, recording.name(func)), el("small", {}, whereOf(this.host, func)), el("span", { class: "note" }, "reading\u2026"));
		void this.read(func).then(({ lines, note }) => {
			if (from.some((one, index) => one !== this.from[index])) return;
			(this.title.lastChild as HTMLElement).textContent = note;
			this.list(lines);
		});
	}

	private async read(func: number): Promise<{ lines: Line[]; note: string }> {
		const sampled = await this.sampled(func);
		const code = await this.host.recording.codeOf(func);
		if (code) return { lines: await this.withSamples(func, code), note: this.summary(sampled, "") };
		if (!this.host.served) return { lines: sampled, note: this.summary(sampled, "Only sampled addresses: the page has the code of the hottest functions.") };
		try {
			const lines = await this.annotated(func);
			return { lines, note: this.summary(lines, "") };
		} catch (error) {
			return { lines: sampled, note: this.summary(sampled, `${error instanceof Error ? error.message : String(error)}: sampled addresses only.`) };
		}
	}

	private summary(lines: readonly Line[], more: string): string {
		return `${plural(lines.reduce((sum, line) => sum + line.samples, 0), "sample")}. ${more}`;
	}

	private async annotated(func: number): Promise<Line[]> {
		const { recording } = this.host;
		const answer = await this.host.fetch(`annotate?symbol=${encodeURIComponent(recording.name(func))}`
			+ `&object=${encodeURIComponent(recording.objectOf(func))}&${query(this.host)}`);
		const text = (await answer.json()) as { error?: string; tables?: readonly { functions: readonly { code?: readonly Instruction[] }[] }[] };
		const code = text.tables?.[0]?.functions[0]?.code;
		if (text.error !== undefined || !code) throw new Error(text.error ?? "no code");
		return code.map((one) => ({ address: one.addr ?? "", text: one.text ?? "",
			where: one.file ? `${one.file.replace(/.*\//, "")}:${one.line ?? ""}` : "", samples: one.sums?.[0]?.samples ?? 0 }));
	}

	// Samples of each instruction; the count of an address is at its first line that is one.
	private async withSamples(func: number, code: readonly CodeLine[]): Promise<Line[]> {
		const sums = new Map((await this.sampled(func)).map((line) => [line.address, line.samples]));
		return code.map((line) => {
			const address = line.kind === "instruction" ? `0x${line.address.toString(16)}` : "";
			const samples = address === "" ? 0 : sums.get(address) ?? 0;
			sums.delete(address);
			return { address, text: line.text, samples, where: line.file === "" ? "" : `${line.file.replace(/.*\//, "")}:${line.line}`,
				...(line.kind === "instruction" ? {} : { kind: line.kind }) };
		});
	}

	// What the page itself has: the samples of each address.
	private async sampled(func: number): Promise<Line[]> {
		const { recording, session } = this.host;
		const table = await recording.addresses();
		const { byLeaf } = session.counts;
		const sums = new Map<number, number>();
		for (let leaf = 0; leaf < byLeaf.length; leaf++) {
			const address = recording.leafAddress[leaf];
			if (byLeaf[leaf] > 0 && address >= 0 && table.func[address] === func) sums.set(address, (sums.get(address) ?? 0) + byLeaf[leaf]);
		}
		const order = [...sums.keys()].sort((one, other) => (table.address[one] < table.address[other] ? -1 : 1));
		return order.map((address) => ({ address: `0x${table.address[address].toString(16)}`, text: "", samples: sums.get(address) ?? 0,
			where: table.file[address] > 0 ? `${recording.string(table.file[address]).replace(/.*\//, "")}:${table.line[address]}` : "" }));
	}

	private list(lines: Line[]): void {
		this.lines = lines;
		const all = lines.reduce((sum, line) => sum + line.samples, 0);
		const most = lines.reduce((top, line) => Math.max(top, line.samples), 1);
		this.rows.show(lines.length, (index) => this.row(index, all, most));
		const hottest = lines.findIndex((line) => line.samples === most);
		if (hottest >= 0) this.rows.reveal(Math.min(hottest + 8, lines.length - 1));
	}

	private row(index: number, all: number, most: number): HTMLElement {
		const line = this.lines[index];
		const same = index > 0 && this.lines[index - 1].where === line.where;
		return el("div", { class: "row code-grid mono", role: "row" },
			el("span", { class: "num", role: "gridcell" }, line.samples > 0 ? number(line.samples) : ""),
			el("span", { class: "num share", role: "gridcell", style: `--share:${((100 * line.samples) / most).toFixed(1)}%` },
				line.samples > 0 ? percent(line.samples, all) : ""),
			el("span", { role: "gridcell" }, line.address), el("span", { class: line.kind ? "soft" : "code", role: "gridcell" }, line.text),
			el("span", { class: "soft", role: "gridcell" }, same ? "" : line.where));
	}
}
