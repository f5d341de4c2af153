// SPDX-License-Identifier: MIT
// What colours mean, below the crumbs: those of changes, or of the kinds and objects of functions.

import type { Comparison } from "../core/compare";
import type { View } from "../core/state";
import { el } from "./dom";
import type { Host } from "./view";

const OF_FUNCTIONS: readonly View[] = ["flame", "chart", "tree", "functions", "sandwich", "samples"];
// Views whose colours are those of several samples together.
const OF_SAMPLES: readonly View[] = ["timeline", "heat"];
const SHARES = "pale: up to 20 % of the larger share, strong: above 50 %; grey: less than 0.05 points";
const MEANS = "mean of the functions sampled there; pale: up to 20 % of the larger share, strong: above 50 %; grey: less than 5 %; longer: more samples";

export class Legend {
	readonly element = el("p", { class: "change-legend", hidden: true });
	private present: Set<number> | undefined;

	constructor(private readonly host: Host) {}

	show(): void {
		if (this.host.changes) return this.showChanges(this.host.changes);
		const { session: { state }, look } = this.host;
		const all = !OF_FUNCTIONS.includes(state.view) ? [] : state.colour === "kind" ? this.kinds() : state.colour === "object" ? look.largestObjects() : [];
		this.element.hidden = all.length < 2;
		this.element.title = "";
		this.element.replaceChildren(...all.map(({ label, fill }) => el("span", {}, el("i", { class: "patch", style: `background:${fill}` }), ` ${label}`)));
	}

	// Those that functions of the recording are of.
	private kinds(): { label: string; fill: string }[] {
		const { recording, look } = this.host;
		this.present ??= new Set(recording.functions.kind.subarray(0, recording.functionCount));
		return recording.header.kinds.map(({ name, letter }, kind) => ({ label: `${name} (${letter})`, fill: look.ofKind(kind), kind })).filter(({ kind }) => this.present?.has(kind));
	}

	private showChanges(changes: Comparison): void {
		const { look, session } = this.host;
		this.element.hidden = false;
		const group = (label: string, steps: readonly number[]) =>
			el("span", {}, ...steps.map((step) => el("i", { class: "patch", style: `background:${look.step(step)}` })), ` ${label}`);
		const [before, after] = changes.names;
		this.element.title = `From ${before} to ${after}`;
		this.element.replaceChildren(group("shrank", [-3, -2, -1]), group("no change", [0]), group("grew", [1, 2, 3]),
			el("small", {}, OF_SAMPLES.includes(session.state.view) ? MEANS : SHARES));
	}
}
