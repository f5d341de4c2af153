// SPDX-License-Identifier: MIT
// The code of one function with the samples of each instruction. A served page asks for what perfdata annotate prints; a file
// has the sampled addresses and their lines only.

import { CodeChanges, codeChanges, placeOf, SampledAddress, sampledAddresses } from "../core/code";
import type { Shares } from "../core/compare";
import type { CodeLine } from "../core/recording";
import { number, percent, plural, points } from "../core/text";
import { NONE } from "../core/tree";
import { el } from "../ui/dom";
import { describeShares, whereOf } from "../ui/describe";
import { Rows } from "../ui/rows";
import { query } from "../ui/save";
import type { Host, ViewPanel } from "../ui/view";

interface Line {
	readonly address: string;
	readonly text: string;
	readonly where: string; // file and line
	readonly samples: number;
	readonly kind?: string; // of lines that are no instruction
	readonly isAgain?: boolean; // its address was there before
}

interface Instruction {
	readonly addr?: string;
	readonly text?: string;
	readonly file?: string;
	readonly line?: number;
	readonly sums?: readonly { readonly samples?: number }[];
}

function hexOf({ address }: SampledAddress): string {
	return `0x${address.toString(16)}`;
}

function lineOf(one: SampledAddress): Line {
	return { address: hexOf(one), text: "", samples: one.samples, where: placeOf(one.file, one.line) };
}

// A list of nothing but sampled addresses has those of the other recording, too.
function withGone(lines: Line[], { way, gone }: CodeChanges): Line[] {
	if (way !== "instruction" || lines.some(({ text }) => text !== "")) return lines;
	const added = gone.map((one) => ({ ...lineOf(one), samples: 0 }));
	return [...lines, ...added].sort((one, other) => (BigInt(one.address) < BigInt(other.address) ? -1 : 1));
}

export class SourceView implements ViewPanel {
	readonly element: HTMLElement;
	private readonly title = el("p", { class: "between" });
	private readonly rows: Rows;
	private lines: Line[] = [];
	private changes: CodeChanges | undefined;
	private from: readonly unknown[] = [];
	private at: Line | undefined; // the selected one
	private places: readonly SampledAddress[] = [];

	constructor(private readonly host: Host) {
		const isCompared = host.comparison !== undefined;
		const head = el("div", { class: "head code-grid" }, el("span", { class: "num" }, "samples"), el("span", { class: "num" }, "%"),
			...(isCompared ? [el("span", { class: "num" }, "change")] : []), el("span", {}, "address"), el("span", {}, "code"), el("span", {}, "line"));
		this.rows = new Rows("grid", "Code", head, 20);
		this.element = el("section", { class: `view source${isCompared ? " with-change" : ""}` }, this.title, this.rows.element);
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
		const from = [func, session.counts, session.state.colour, session.state.weight, session.stage];
		if (from.every((one, index) => one === this.from[index])) return;
		this.from = from;
		if (func < 0) {
			this.title.textContent = "No function is selected.";
			return this.list([]);
		}
		this.title.replaceChildren(el("b", {}, recording.name(func)), el("small", {}, whereOf(this.host, func)), el("span", { class: "note" }, "reading\u2026"));
		void this.readAll(func).then(({ lines, note, changes }) => {
			if (from.some((one, index) => one !== this.from[index])) return;
			this.changes = changes;
			this.at = undefined;
			const shown = changes ? withGone(lines, changes) : lines;
			(this.title.lastChild as HTMLElement).textContent = `${note}${changes ? this.changeNote(changes, shown) : ""}`;
			this.list(shown);
		});
	}

	private async readAll(func: number): Promise<{ lines: Line[]; note: string; changes: CodeChanges | undefined }> {
		const { comparison } = this.host;
		return { ...await this.read(func), changes: comparison && await codeChanges(comparison, func) };
	}

	// What is compared, and what of the other recording is at no line that is shown.
	private changeNote({ way, gone }: CodeChanges, lines: readonly Line[]): string {
		const shown = new Set(lines.map((line) => (way === "instruction" ? line.address : line.where)));
		const missing = gone.filter((one) => !shown.has(way === "instruction" ? hexOf(one) : placeOf(one.file, one.line)));
		const sum = missing.reduce((all, one) => all + one.samples, 0);
		return `${way === "instruction" ? " Changes of instructions." : " Changes of lines, as the builds differ."}`
			+ (sum > 0 ? ` ${plural(sum, "sample")} of the other recording ${sum === 1 ? "is" : "are"} elsewhere.` : "");
	}

	private async read(func: number): Promise<{ lines: Line[]; note: string }> {
		const sampled = await this.sampled(func);
		const code = await this.host.recording.codeOf(func);
		// Bundles have objects without their code.
		if (code?.some(({ kind }) => kind === "instruction") === false)
			return { lines: sampled, note: this.summary(sampled, "Only sampled addresses: the recording came without the code.") };
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
		const { recording, session } = this.host;
		const answer = await this.host.fetch(`annotate?symbol=${encodeURIComponent(recording.name(func))}`
			+ `&object=${encodeURIComponent(recording.objectOf(func))}&${query(this.host)}`);
		const text = (await answer.json()) as { error?: string; tables?: readonly { functions: readonly { code?: readonly Instruction[] }[] }[] };
		const code = text.tables?.[0]?.functions[0]?.code;
		if (text.error !== undefined || !code) throw new Error(text.error ?? "no code");
		const places = new Map((await this.sampled(func)).map((line) => [line.address, line.samples]));
		// The server knows nothing of transforms.
		const samples = (one: Instruction) => (session.stays ? places.get(one.addr ?? "") : one.sums?.[0]?.samples) ?? 0;
		return code.map((one) => ({ address: one.addr ?? "", text: one.text ?? "", where: placeOf(one.file ?? "", one.line ?? 0), samples: samples(one) }));
	}

	// Samples of each instruction; the count of an address is at its first line that is one.
	private async withSamples(func: number, code: readonly CodeLine[]): Promise<Line[]> {
		const sums = new Map((await this.sampled(func)).map((line) => [line.address, line.samples]));
		const seen = new Set<string>();
		return code.map((line) => {
			const address = line.kind === "instruction" ? `0x${line.address.toString(16)}` : "";
			const isAgain = address !== "" && seen.has(address);
			const samples = address === "" || isAgain ? 0 : sums.get(address) ?? 0;
			seen.add(address);
			return { address, text: line.text, samples, where: placeOf(line.file, line.line), isAgain,
				...(line.kind === "instruction" ? {} : { kind: line.kind }) };
		});
	}

	// What the page itself has: the samples of each address.
	private async sampled(func: number): Promise<Line[]> {
		this.places = await sampledAddresses(this.host.session, func);
		return this.places.map(lineOf);
	}

	// The first one at the selected line.
	sample(): number | undefined {
		const { at, places, host: { session, recording } } = this;
		const indices = new Set(places.filter((one) => hexOf(one) === at?.address).map(({ index }) => index));
		return indices.size > 0 ? session.firstOf((leaf) => indices.has(recording.leafAddress[leaf])) : undefined;
	}

	key(event: KeyboardEvent): boolean {
		const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: this.rows.page, PageUp: -this.rows.page };
		const step = steps[event.key];
		if (step === undefined || event.ctrlKey || event.altKey || event.metaKey || this.lines.length === 0) return false;
		const next = Math.min(Math.max((this.at ? this.lines.indexOf(this.at) : -1) + step, 0), this.lines.length - 1);
		this.at = this.lines[next];
		this.list(this.lines, false);
		this.rows.reveal(next);
		return true;
	}

	private list(lines: Line[], toHottest = true): void {
		this.lines = lines;
		const all = lines.reduce((sum, line) => sum + line.samples, 0);
		const most = lines.reduce((top, line) => Math.max(top, line.samples), 1);
		this.rows.show(lines.length, (index) => this.row(index, all, most));
		if (!toHottest) return;
		const hottest = lines.findIndex((line) => line.samples === most);
		if (hottest >= 0) this.rows.reveal(Math.min(hottest + 8, lines.length - 1));
	}

	// Of an instruction, or of the line that it is of; undefined: of neither.
	shares(line: Line): Shares | undefined {
		return line.address === "" || line.kind || line.isAgain ? undefined : this.changes?.shares(BigInt(line.address), line.where);
	}

	private changeCell(line: Line): HTMLElement {
		const shares = this.shares(line);
		if (!shares || shares.before + shares.after === 0) return el("span", { role: "gridcell" });
		const { changes, look } = this.host;
		const fill = changes && look.change(shares.before, shares.after);
		return el("span", { class: "num", role: "gridcell", title: describeShares(shares), ...(fill ? { style: `background:${fill};color:${look.ink(fill)}` } : {}) },
			points(shares.after - shares.before));
	}

	private row(index: number, all: number, most: number): HTMLElement {
		const line = this.lines[index];
		const same = index > 0 && this.lines[index - 1].where === line.where;
		const isSelected = line === this.at;
		const select = () => {
			this.at = line;
			this.list(this.lines, false);
		};
		return el("div", { class: `row code-grid mono${isSelected ? " selected" : ""}`, role: "row", "aria-selected": String(isSelected), click: select },
			el("span", { class: "num", role: "gridcell" }, line.samples > 0 ? number(line.samples) : ""),
			el("span", { class: "num share", role: "gridcell", style: `--share:${((100 * line.samples) / most).toFixed(1)}%` },
				line.samples > 0 ? percent(line.samples, all) : ""),
			...(this.host.comparison ? [this.changeCell(line)] : []),
			el("span", { role: "gridcell" }, line.address), el("span", { class: line.kind ? "soft" : "code", role: "gridcell" }, line.text),
			el("span", { class: "soft", role: "gridcell" }, same ? "" : line.where));
	}
}
