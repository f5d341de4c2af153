// SPDX-License-Identifier: MIT
// Event, weight, colours, switches and the search.

import { number, percent, plural } from "../core/text";
import { COLOURINGS, Colouring, Weight, WEIGHTS } from "../core/state";
import { hideKernel } from "./actions";
import { button, el } from "./dom";
import { showFilters } from "./filters";
import type { Host } from "./view";

export class Toolbar {
	readonly element: HTMLElement;
	readonly search = el("input", { type: "search", placeholder: "Search  /", "aria-label": "Search functions and objects",
		autocomplete: "off", spellcheck: "false" });
	private readonly found = el("output", { class: "found", "aria-live": "polite" });
	private readonly event: HTMLSelectElement;
	private readonly weight: HTMLSelectElement;
	private readonly colour: HTMLSelectElement;
	private readonly recording: HTMLSelectElement;
	private readonly switches: { element: HTMLButtonElement; on: () => boolean }[] = [];

	constructor(private readonly host: Host) {
		const { session, recording } = host;
		this.recording = this.choice("Recording", host.comparison ? host.comparison.names : [], (at) => host.lookAt(at === 0));
		this.recording.title = "Which of the two recordings the views show; changes are always from the first to the second";
		this.event = this.choice("Event", recording.header.events.map((event) => event.name), (at) =>
			host.update({ event: at, path: [], zoom: [] }, true));
		this.weight = this.choice("Count", ["event count", "samples"], (at) => host.update({ weight: WEIGHTS[at] as Weight }, true));
		this.colour = this.choice("Colour", COLOURINGS.filter((one) => host.comparison || one !== "change").map((one) => `by ${one}`), (at) => host.update({ colour: COLOURINGS[at] as Colouring }));
		this.search.addEventListener("input", () => host.update({ search: this.search.value }));
		this.element = el("div", { class: "toolbar", role: "toolbar", "aria-label": "Selection and looks" },
			...[this.recording, this.event, this.weight, this.colour].map((one) => one.parentElement as HTMLElement),
			...(recording.header.aggregated ? [] : [button("Tasks\u2026", "Choose processes, threads and CPUs (t)", () => showFilters(host))]),
			this.toggle("Invert", "From the sampled functions to their callers (i)", () => session.state.invert,
				() => host.update({ invert: !session.state.invert, path: [], zoom: [] }, true)),
			this.toggle("Icicle", "Draw stacks downwards (v)", () => session.state.down, () => host.update({ down: !session.state.down })),
			...(recording.kernelKind < 0 ? [] : [this.toggle("Hide kernel", "Merge kernel functions into their callers (k)",
				() => session.state.transforms.some((one) => one.key === "hk"), () => host.update(hideKernel(session), true))]),
			...(recording.hasInlined ? [this.toggle("Hide inlined", "Merge inlined functions into what contains them (j)",
				() => !session.state.inlined, () => host.update({ inlined: !session.state.inlined, path: [], zoom: [] }, true))] : []),
			el("span", { class: "search" }, this.search, this.found));
	}

	private choice(label: string, options: readonly string[], choose: (index: number) => void): HTMLSelectElement {
		const select = el("select", {}, ...options.map((text, index) => el("option", { value: index }, text)));
		select.addEventListener("change", () => choose(Number(select.value)));
		el("label", {}, `${label} `, select).hidden = options.length < 2;
		return select;
	}

	private toggle(text: string, title: string, on: () => boolean, act: () => void): HTMLButtonElement {
		const element = button(text, title, act, { "aria-pressed": "false", class: "toggle" });
		this.switches.push({ element, on });
		return element;
	}

	show(): void {
		const { session, recording } = this.host;
		const { state } = session;
		this.recording.value = state.earlier ? "0" : "1";
		this.event.value = String(state.event);
		this.weight.value = String(WEIGHTS.indexOf(state.weight));
		const unit = recording.header.events[state.event]?.unit ?? "samples";
		(this.weight.options[0] as HTMLOptionElement).textContent = unit === "ns" ? "time" : unit;
		(this.weight.parentElement as HTMLElement).hidden = unit === "samples" || unit === "counts";
		this.colour.value = String(COLOURINGS.indexOf(state.colour));
		if (document.activeElement !== this.search) this.search.value = state.search;
		for (const { element, on } of this.switches) element.setAttribute("aria-pressed", String(on()));
		this.search.toggleAttribute("aria-invalid", false);
		if (session.searching.isWrong(state.search)) {
			this.search.setAttribute("aria-invalid", "true");
			this.found.textContent = "not a regular expression";
			this.found.title = "";
			return;
		}
		const matched = session.matched();
		this.found.textContent = matched
			? `${percent(matched.samples, session.sums.all)} in ${plural(matched.functions, "function")}` : "";
		this.found.title = matched ? `${number(matched.samples)} ${session.unit}` : "";
	}
}
