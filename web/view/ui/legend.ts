// SPDX-License-Identifier: MIT
// What colours mean, below the crumbs: those of changes, or of the kinds and objects of functions.

import type { Comparison } from "../core/compare";
import type { View } from "../core/state";
import { percent } from "../core/text";
import { el } from "./dom";
import type { Host } from "./view";

const OF_FUNCTIONS: readonly View[] = ["flame", "chart", "tree", "functions", "sandwich", "samples"];
// Views whose colours are those of several samples together.
const OF_SAMPLES: readonly View[] = ["timeline", "heat"];
const SHARES = "pale: up to 20 % of the larger share, strong: above 50 %; grey: less than 0.05 points";
const MEANS = "mean of the functions sampled there; pale: up to 20 % of the larger share, strong: above 50 %; grey: less than 5 %; longer: more samples";

interface Entry {
	readonly label: string;
	readonly fill: string;
	readonly share: string; // of what was sampled in it
}

export class Legend {
	readonly element = el("p", { class: "change-legend", hidden: true });
	private present: Set<number> | undefined;

	constructor(private readonly host: Host) {}

	show(): void {
		if (this.host.changes) return this.showChanges(this.host.changes);
		const { state } = this.host.session;
		const all = !OF_FUNCTIONS.includes(state.view) ? [] : state.colour === "kind" ? this.kinds() : state.colour === "object" ? this.objects() : [];
		this.element.hidden = all.length < 2;
		this.element.title = "";
		this.element.replaceChildren(...all.map(({ label, fill, share }) =>
			el("span", { title: "share of what was sampled in it" }, el("i", { class: "patch", style: `background:${fill}` }), ` ${label} `, el("small", {}, share))));
	}

	// What the functions have of which something else is the same, each and all.
	private sums(of: ArrayLike<number>, count: number): { each: Float64Array; all: number } {
		const { recording: { functionCount }, session: { functions: { self } } } = this.host;
		const each = new Float64Array(count);
		let all = 0;
		for (let func = 0; func < functionCount; func++) {
			each[of[func]] += self[func];
			all += self[func];
		}
		return { each, all };
	}

	private objects(): Entry[] {
		const { recording: { functions: { object: of }, objectName }, look } = this.host;
		const { each, all } = this.sums(of, objectName.length);
		let rest = all;
		return look.largestObjects().map(({ label, fill, object }) => {
			if (object < 0) return { label, fill, share: percent(rest, all) };
			rest -= each[object];
			return { label, fill, share: percent(each[object], all) };
		});
	}

	// Those that functions of the recording are of.
	private kinds(): Entry[] {
		const { recording, look } = this.host;
		const { each, all } = this.sums(recording.functions.kind, recording.header.kinds.length);
		this.present ??= new Set(recording.functions.kind.subarray(0, recording.functionCount));
		return recording.header.kinds.map(({ name, letter }, kind) => ({ label: `${name} (${letter})`, fill: look.ofKind(kind), share: each[kind] > 0 ? percent(each[kind], all) : "", kind })).filter(({ kind }) => this.present?.has(kind));
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
