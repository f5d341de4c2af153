// SPDX-License-Identifier: MIT
// The colours of both themes. Kinds were chosen to differ in lightness too, so that they can be told apart by every sight;
// a test holds contrast and differences.

export type Family = "kernel" | "user" | "library" | "jit" | "java" | "python" | "node" | "unknown";

export interface Theme {
	readonly page: string;
	readonly text: string; // on frames as well
	readonly soft: string;
	readonly edge: string;
	readonly accent: string;
	readonly kinds: Readonly<Record<Family, string>>;
	readonly objects: readonly string[]; // by share, the largest first
	readonly rest: string; // objects beyond those
	readonly heatFrom: readonly [number, number, number];
	readonly heatTo: readonly [number, number, number];
	readonly shrank: readonly string[]; // strongest first
	readonly equal: string;
	readonly grew: readonly string[];
}

export const LIGHT: Theme = {
	page: "#FFFFFF", text: "#111111", soft: "#575D66", edge: "#C9CCD1", accent: "#1B62BF",
	kinds: { kernel: "#DF7520", user: "#6289DA", library: "#97E1B5", jit: "#EBCCF2", java: "#997755", python: "#DDAA66", node: "#DDFFAA", unknown: "#8B8B8B" },
	objects: ["#6289DA", "#DF7520", "#97E1B5", "#EBCCF2", "#C59A2D", "#A8C7F0", "#F2B98A", "#5FA88A"],
	rest: "#B9BCC1", heatFrom: [255, 255, 255], heatTo: [138, 58, 0],
	shrank: ["#2166AC", "#67A9CF", "#D1E5F0"], equal: "#BDBFC3", grew: ["#B2182B", "#EF8A62", "#FDDBC7"],
};

export const DARK: Theme = {
	page: "#16181D", text: "#FFFFFF", soft: "#A4ABB6", edge: "#3A3F48", accent: "#7DB3F7",
	kinds: { kernel: "#743513", user: "#14406C", library: "#437C71", jit: "#C333CC", java: "#BB5544", python: "#996600", node: "#776699", unknown: "#363636" },
	objects: ["#14406C", "#743513", "#437C71", "#9C2BA3", "#5F5210", "#3E6FA8", "#A2562B", "#1F5A44"],
	rest: "#4A4E55", heatFrom: [22, 24, 29], heatTo: [255, 176, 112],
	shrank: ["#67A9CF", "#37709A", "#2F4A5E"], equal: "#5A5C60", grew: ["#EF8A62", "#A9532F", "#5E3A2E"],
};

// Kinds of recordings by the family whose colour they have.
export function familyOf(kind: string): Family {
	const name = kind.toLowerCase();
	return Object.hasOwn(LIGHT.kinds, name) ? (name as Family) : name === "" ? "unknown" : "jit";
}

// HSLuv comes close to this with far more code: a hue whose lightness is mended to one luminance, so that text is
// readable on every hue.
export function hueOf(hash: number, dark: boolean): string {
	const hue = hash % 360;
	const wanted = dark ? 0.085 : 0.5;
	let low = 0;
	let high = 1;
	for (let step = 0; step < 12; step++) {
		const middle = (low + high) / 2;
		if (luminance(fromHsl(hue, 0.5, middle)) < wanted) low = middle;
		else high = middle;
	}
	return `#${fromHsl(hue, 0.5, low).map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function fromHsl(hue: number, saturation: number, lightness: number): [number, number, number] {
	const reach = saturation * Math.min(lightness, 1 - lightness);
	const part = (shift: number) => {
		const at = (shift + hue / 30) % 12;
		return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(at - 3, 9 - at, 1))));
	};
	return [part(0), part(8), part(4)];
}

// Relative luminance as WCAG has it.
export function luminance([red, green, blue]: readonly number[]): number {
	const linear = (part: number) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
	return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

export function parts(colour: string): [number, number, number] {
	return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)) as [number, number, number];
}

export function contrast(one: string, other: string): number {
	const [low, high] = [luminance(parts(one)), luminance(parts(other))].sort((a, b) => a - b);
	return (high + 0.05) / (low + 0.05);
}
