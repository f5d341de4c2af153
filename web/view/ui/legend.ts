// SPDX-License-Identifier: MIT
// What the colours of changes mean, below the crumbs while colours are by change.

import type { View } from "../core/state";
import { el } from "./dom";
import type { Host } from "./view";

// Views whose colours are those of several samples together.
const OF_SAMPLES: readonly View[] = ["timeline", "heat"];
const SHARES = "pale: up to 20 % of the larger share, strong: above 50 %; grey: less than 0.05 points";
const MEANS = "mean of the functions sampled there; pale: up to 20 % of the larger share, strong: above 50 %; grey: less than 5 %; longer: more samples";

export class Legend {
	readonly element = el("p", { class: "change-legend", hidden: true });

	constructor(private readonly host: Host) {}

	show(): void {
		const { changes, look, session } = this.host;
		this.element.hidden = !changes;
		if (!changes) return;
		const group = (label: string, steps: readonly number[]) =>
			el("span", {}, ...steps.map((step) => el("i", { class: "patch", style: `background:${look.step(step)}` })), ` ${label}`);
		const [before, after] = changes.names;
		this.element.title = `From ${before} to ${after}`;
		this.element.replaceChildren(group("shrank", [-3, -2, -1]), group("no change", [0]), group("grew", [1, 2, 3]),
			el("small", {}, OF_SAMPLES.includes(session.state.view) ? MEANS : SHARES));
	}
}
