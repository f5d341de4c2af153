// SPDX-License-Identifier: MIT
// What colours mean, below the crumbs: those of changes, or of the kinds and objects of functions.

import type { Comparison } from "../core/compare";
import type { View } from "../core/state";
import { percent } from "../core/text";
import { el, onceIdle } from "./dom";
import type { Host } from "./view";

const OF_FUNCTIONS: readonly View[] = ["flame", "chart", "tree", "functions", "sandwich", "samples"];
// Views whose colours are those of several samples together.
const OF_SAMPLES: readonly View[] = ["timeline", "heat"];
const SHARES = "pale: up to 20 % of the larger share, strong: above 50 %; grey: less than 0.05 points";
const MEANS = "mean of the functions sampled there; pale: up to 20 % of the larger share, strong: above 50 %; grey: less than 5 %; longer: more samples";

interface Entry {
	readonly label: string;
	readonly fill: string;
	readonly share: () => string; // of what was sampled in it
}

export class Legend {
	readonly element = el("p", { class: "change-legend", hidden: true });
	private present: Set<number> | undefined;
	private entries: readonly Entry[] = [];
	private shares = new Map<string, string>(); // by label, until there are newer ones
	// Shares take a pass over all functions, for which what is looked at need not wait.
	private readonly showShares = onceIdle(() => {
		this.shares = new Map(this.entries.map(({ label, share }) => [label, share()]));
		this.element.querySelectorAll("small").forEach((small, index) => (small.textContent = this.shares.get(this.entries[index]?.label ?? "") ?? ""));
	});

	constructor(private readonly host: Host) {}

	show(): void {
		this.entries = [];
		if (this.host.changes) return this.showChanges(this.host.changes);
		const { state } = this.host.session;
		const all = !OF_FUNCTIONS.includes(state.view) ? [] : state.colour === "kind" ? this.kinds() : state.colour === "object" ? this.objects() : [];
		this.element.hidden = all.length < 2;
		this.element.title = "";
		this.entries = all;
		this.element.replaceChildren(...all.map(({ label, fill }) => el("span", { title: "share of what was sampled in it" },
			el("i", { class: "patch", style: `background:${fill}` }), ` ${label} `, el("small", {}, this.shares.get(label) ?? ""))));
		if (all.length > 1) this.showShares(undefined);
	}

	// What the functions have of which something else is one of these, as a share of all.
	private share(of: ArrayLike<number>, wanted: (one: number) => boolean): string {
		const { recording: { functionCount }, session: { functions: { self } } } = this.host;
		let sum = 0;
		let all = 0;
		for (let func = 0; func < functionCount; func++) {
			all += self[func];
			if (wanted(of[func])) sum += self[func];
		}
		return sum > 0 ? percent(sum, all) : "";
	}

	private objects(): Entry[] {
		const { recording: { functions: { object: of } }, look } = this.host;
		const named = look.largestObjects();
		const known = new Set(named.map(({ object }) => object));
		return named.map(({ label, fill, object }) =>
			({ label, fill, share: () => this.share(of, (one) => (object < 0 ? !known.has(one) : one === object)) }));
	}

	// Those that functions of the recording are of.
	private kinds(): Entry[] {
		const { recording, look } = this.host;
		const { kind: of } = recording.functions;
		this.present ??= new Set(of.subarray(0, recording.functionCount));
		return recording.header.kinds.map(({ name, letter }, kind) => ({ label: `${name} (${letter})`, fill: look.ofKind(kind), kind,
			share: () => this.share(of, (one) => one === kind) })).filter(({ kind }) => this.present?.has(kind));
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
