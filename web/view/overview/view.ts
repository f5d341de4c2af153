// SPDX-License-Identifier: MIT
// What the recording is and how far it can be trusted, before anything else; then where most of it went.

import { amount, duration, number, percent, points } from "../core/text";
import type { Finding, Recording } from "../core/recording";
import { button, el, onceIdle } from "../ui/dom";
import type { Host, ViewPanel } from "../ui/view";

const TOP = 10;

interface Fact {
	readonly label: string;
	readonly value: string;
	readonly bad: boolean;
	readonly title: string;
}

function shareFact(label: string, part: number, whole: number, title: string): Fact {
	return { label, value: `${percent(part, whole)}`, bad: part > whole / 100, title: `${number(part)} of ${number(whole)}: ${title}` };
}

export class OverviewView implements ViewPanel {
	readonly element = el("section", { class: "view overview" });

	constructor(private readonly host: Host) {}

	show(): void {
		this.draw();
		const { session, comparison } = this.host;
		if (!session.others) void comparison?.sync().then(() => this.draw());
	}

	// What takes passes of its own comes a moment later; what it was before stays until then.
	private draw(): void {
		this.element.replaceChildren(this.truth(), this.findings(), this.about(), this.events(), this.hottest(), ...this.later);
		this.showLater(undefined);
	}

	private later: HTMLElement[] = [];
	private readonly showLater = onceIdle(() => {
		if (!this.element.isConnected || this.host.session.preview) return;
		for (const one of this.later) one.remove();
		this.element.append(...(this.later = [...this.grown(), ...(this.host.recording.header.aggregated ? [] : [this.busiest()])]));
	});

	// With those of the other recording, if there is one.
	private truth(): HTMLElement {
		const { recording, comparison } = this.host;
		const others = comparison && new Map(factsOf(comparison.base.recording).map((fact) => [fact.label, fact.value]));
		return el("ul", { class: "truth", "aria-label": "Profile quality" }, ...factsOf(recording).map((fact) =>
			el("li", { class: fact.bad ? "bad" : "", title: fact.title, "data-fact": fact.label }, el("b", {}, fact.value), el("span", {}, fact.label),
				...(others ? [el("small", {}, `${comparison?.earlier ? "after" : "before"} ${others.get(fact.label) ?? "0"}`)] : []))));
	}

	private findings(): HTMLElement {
		const { findings } = this.host.recording.header;
		if (!findings) return el("p", { hidden: true });
		if (findings.length === 0) return el("p", { class: "good" }, "Nothing is wrong with this profile.");
		return el("ul", { class: "findings", "aria-label": "Findings" }, ...findings.map((finding) => el("li", { class: finding.severity },
			el("b", {}, `${finding.severity}: `), el("span", {}, finding.text), el("p", {}, finding.meaning),
			...objectsOf(finding), ...(finding.command ? [el("code", {}, finding.command)] : []))));
	}

	private about(): HTMLElement {
		const { header } = this.host.recording;
		const { session } = this.host;
		const { whole } = session;
		const rows: [string, string][] = [["duration", duration((whole.to - whole.from) * session.tick)]];
		for (const name of ["command", "host", "os", "arch", "cpu", "cpus", "version"]) {
			const value = header.recording[name];
			if (value !== null && value !== undefined && value !== "") rows.push([name, String(value)]);
		}
		if (header.time.wall !== null)
			rows.push(["recorded", new Date(Number(BigInt(header.time.wall) / 1000000n)).toISOString().replace("T", " ").slice(0, 19) + " UTC"]);
		if (header.aggregated) return card("Recording", definitions(rows));
		rows.push(["processes", number(new Set(this.host.recording.tasks.map((task) => task.pid)).size)],
			["threads", number(this.host.recording.tasks.length)]);
		return card("Recording", definitions(rows));
	}

	private events(): HTMLElement {
		const { events } = this.host.recording.header;
		const { state } = this.host.session;
		return card("Events", el("table", {}, el("tr", {}, el("th", {}, "event"), el("th", { class: "num" }, "samples"), el("th", { class: "num" }, "sum")),
			...events.map((event, index) => el("tr", { class: index === state.event ? "selected" : "", "data-event": event.name },
				el("td", {}, button(event.name, "Show this event", () => this.host.update({ event: index }, true), { class: "link" })),
				el("td", { class: "num" }, number(event.samples)), el("td", { class: "num" }, amount(Number(event.sum), event.unit))))));
	}

	private hottest(): HTMLElement {
		const { session } = this.host;
		const { self } = session.functions;
		const all = session.sums.all;
		const order = largest(self, TOP);
		return card("Hottest functions", this.functions(order, (func) => percent(self[func], all)),
			button("All functions", "The table of functions", () => this.host.update({ view: "functions" }, true)));
	}

	// In the selected time, or since the other recording.
	private grown(): HTMLElement[] {
		const { session, comparison } = this.host;
		const inTime = session.changesInTime();
		const changes = inTime ?? (comparison?.isReady ? comparison.selfChanges() : undefined);
		const order = changes ? largest(changes, TOP / 2) : [];
		if (!changes || order.length === 0) return [];
		return [card(inTime ? "Grew most in the selected time" : "Grew most", this.functions(order, (func) => points(changes[func])),
			button("All changes", "The table of functions by change", () => this.host.update({ view: "functions", sort: "change" }, true)))];
	}

	private functions(order: readonly number[], text: (func: number) => string): HTMLElement {
		const { recording, look } = this.host;
		return el("table", {}, ...order.map((func) => el("tr", {}, el("td", { class: "num" }, text(func)),
			el("td", {}, el("i", { class: "patch", style: `background:${look.fill(func)}` }),
				button(recording.name(func), "Callers and callees", () => this.host.update({ view: "sandwich", func }, true), { class: "link" }),
				el("small", {}, ` ${recording.objectOf(func)}`)))));
	}

	private busiest(): HTMLElement {
		const { session, recording } = this.host;
		const sums = session.byTask();
		const count = sums.reduce((all, one) => all + one, 0);
		return card("Busiest threads", el("table", {}, ...largest(sums, TOP).map((task) => {
			const { pid, tid, comm } = recording.tasks[task];
			return el("tr", {}, el("td", { class: "num" }, percent(sums[task], count)), el("td", {},
				button(`${comm || "?"} ${tid}`, "Only this thread", () => this.host.update({ threads: [`${pid}:${tid}`] }, true), { class: "link" }),
				el("small", {}, ` process ${pid}`)));
		})));
	}
}

// The objects of a finding, each with what to do about it.
function objectsOf({ objects, total, more_objects: more }: Finding): HTMLElement[] {
	if (!objects?.length) return [];
	return [el("details", {}, el("summary", {}, `${objects.length + (more ?? 0)} objects`),
		el("ul", {}, ...objects.map((one) => el("li", {}, el("b", {}, percent(one.samples, total ?? 0)), el("span", {}, ` ${one.name}: ${one.reason}`),
			...(one.command ? [el("code", {}, one.command)] : []))),
		...(more ? [el("li", {}, `and ${more} more`)] : [])))];
}

function factsOf({ header: { truth, findings } }: Recording): Fact[] {
	const of = (name: string) => truth[name] ?? 0;
	const samples = of("samples");
	// What the header counts are stacks that were unwound; recorded ones are counted by the findings.
	const cut = (findings ?? []).filter((one) => one.code === "stacks-cut" || one.code === "stacks-damaged");
	const truncated = Math.max(of("truncated"), cut.reduce((sum, one) => sum + (one.count ?? 0), 0));
	const facts: Fact[] = [
		{ label: "samples", value: number(samples), bad: samples === 0,
			title: of("read") > samples ? `${number(of("read"))} were read, ${number(of("read") - samples)} filtered out` : "all that were read" },
		{ label: "lost", value: number(of("lost") + of("lost_samples")), bad: of("lost") + of("lost_samples") > 0,
			title: `${number(of("lost"))} records lost by the recorder, ${number(of("lost_samples"))} samples lost in the kernel` },
		{ label: "throttled", value: number(of("throttled")), bad: of("throttled") > 0, title: "times that the kernel slowed sampling down" },
		shareFact("truncated stacks", truncated, samples, "samples whose callers are not all known"),
		shareFact("unresolved", of("unknown"), samples, "samples in functions without a name"),
	];
	if (of("damaged") > 0) facts.push({ label: "damaged", value: number(of("damaged")), bad: true, title: "problems of the file" });
	if (of("copied") > 0) facts.push(shareFact("not unwound", of("copied"), samples, "samples whose copied stack was not unwound"));
	return facts;
}

function definitions(rows: readonly (readonly [string, string])[]): HTMLElement {
	return el("dl", {}, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function card(title: string, ...children: Node[]): HTMLElement {
	return el("section", { class: "card" }, el("h2", {}, title), ...children);
}

// Indices of the largest values that are not 0.
function largest(values: ArrayLike<number>, count: number): number[] {
	const found: number[] = [];
	for (let index = 0; index < values.length; index++) {
		if (values[index] <= 0) continue;
		if (found.length === count && values[index] <= values[found[count - 1]]) continue;
		let at = found.length;
		while (at > 0 && values[found[at - 1]] < values[index]) at--;
		found.splice(at, 0, index);
		found.length = Math.min(found.length, count);
	}
	return found;
}
