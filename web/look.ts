// SPDX-License-Identifier: MIT
// Colours of frames, by kind, by object or by name, for light and dark pages, and how numbers are written.

type Colouring = "kind" | "object" | "name";

function hashOf(text: string): number {
	let hash = 2166136261;
	for (let index = 0; index < text.length; index++)
		hash = Math.imul(hash ^ text.charCodeAt(index), 16777619);
	return (hash ^ (hash >>> 15)) >>> 0;
}

function number(value: number): string {
	return value.toLocaleString("en-US");
}

// An amount with its unit: times in seconds and parts of them.
function amount(value: number, unit: string): string {
	if (unit !== "ns" || value < 1000) return `${number(value)} ${unit}`;
	if (value < 1e6) return `${(value / 1e3).toFixed(3)} us`;
	return value < 1e9 ? `${(value / 1e6).toFixed(3)} ms` : `${(value / 1e9).toFixed(3)} s`;
}

function percent(part: number, whole: number): string {
	const share = whole > 0 ? (100 * part) / whole : 0;
	return `${share.toFixed(share > 0 && share < 1 ? 2 : 1)} %`;
}

class Look {
	dark = false;
	colouring: Colouring = "kind";
	private fills: (string | undefined)[] = [];
	private readonly style = getComputedStyle(document.documentElement);

	constructor(private readonly model: Model) {}

	// Call it when dark or colouring changed.
	changed(): void {
		this.fills = [];
	}

	colour(name: "page" | "text" | "soft" | "accent" | "strip" | "edge"): string {
		return this.style.getPropertyValue(`--${name}`).trim();
	}

	// Letters on frames.
	get ink(): string {
		return this.dark ? "#f4f5f7" : "#17191c";
	}

	get match(): string {
		return this.dark ? "hsl(316 72% 42%)" : "hsl(316 82% 78%)";
	}

	private shade(hue: number, saturation: number, tone: number): string {
		return this.dark
			? `hsl(${hue} ${Math.round(saturation * 0.58)}% ${27 + tone * 2.2}%)`
			: `hsl(${hue} ${saturation}% ${82 - tone * 3}%)`;
	}

	ofKind(letter: string, tone: number): string {
		const kind = KINDS.find((one) => one.letter === letter) ?? { hue: 0, saturation: 0 };
		return this.shade(kind.hue, kind.saturation, tone);
	}

	ofObject(object: string, tone: number): string {
		const hash = hashOf(object);
		return object === "" ? this.shade(0, 0, tone) : this.shade(hash % 360, 50 + (hash >>> 9) % 30, tone);
	}

	// What a node is filled with.
	fill(node: number): string {
		const frame = at(this.model.frame, node);
		if (node === 0) return this.ofKind("t", 1);
		let fill = this.fills[frame];
		if (fill === undefined) {
			const hash = hashOf(this.model.name(node));
			const kind = this.model.kind(node);
			if (kind === "t" || this.colouring === "kind") fill = this.ofKind(kind, (hash >>> 5) % 5);
			else if (this.colouring === "object") fill = this.ofObject(this.model.object(node), (hash >>> 5) % 3);
			else fill = this.shade(hash % 56, 60 + (hash >>> 8) % 30, (hash >>> 16) % 5);
			this.fills[frame] = fill;
		}
		return fill;
	}
}
