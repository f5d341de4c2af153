// SPDX-License-Identifier: MIT
// How numbers and times are written.

// As toLocaleString("en-US") does it, which needs up to 60 ms when it is called for the first time.
export function number(value: number): string {
	const digits = value.toFixed(0);
	return digits.length > 3 ? digits.replace(/\B(?=(\d{3})+$)/g, ",") : digits;
}

// An amount in the unit of an event: times in seconds and parts of them.
export function amount(value: number, unit: string): string {
	if (unit !== "ns") return `${number(value)} ${unit === "samples" && value === 1 ? "sample" : unit}`;
	return duration(value);
}

export function duration(ns: number): string {
	const size = Math.abs(ns);
	if (size < 1e3) return `${number(ns)} ns`;
	if (size < 1e6) return `${(ns / 1e3).toFixed(3)} \u00b5s`;
	return size < 1e9 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e9).toFixed(3)} s`;
}

// A place on the time axis, with as many digits as a step needs.
export function seconds(ns: number, stepNs: number): string {
	const digits = Math.min(Math.max(Math.ceil(9 - Math.log10(Math.max(stepNs, 1))), 0), 9);
	return `${(ns / 1e9).toFixed(digits)} s`;
}

export function percent(part: number, whole: number): string {
	const share = whole > 0 ? (100 * part) / whole : 0;
	return `${share.toFixed(2)} %`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
	return `${number(count)} ${count === 1 ? one : many}`;
}

// FNV-1a with its bits mixed: the same in every session.
export function hashOf(text: string): number {
	let hash = 2166136261;
	for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 16777619);
	return (hash ^ (hash >>> 15)) >>> 0;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

// JSON whose integers of more than fifteen digits become texts: as numbers they would be other ones.
export function exactJson(text: string): unknown {
	return JSON.parse(text.replace(TOKEN, (token) => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token)));
}

// A change of a share, in percentage points.
export function points(share: number): string {
	return `${share > 0 ? "+" : share < 0 ? "\u2212" : ""}${(100 * Math.abs(share)).toFixed(2)}`;
}
