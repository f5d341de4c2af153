// SPDX-License-Identifier: MIT
// What is selected and how it is shown, and its text in the fragment of the address: names and no numbers, so that a link
// says the same for another recording too. What is as it was at first is left out.

import type { Range } from "./count";
import type { Recording } from "./recording";
import { hashOf } from "./text";
import type { Transform, TransformKey } from "./transform";

export const VIEWS = ["overview", "compare", "timeline", "heat", "flame", "chart", "tree", "functions", "sandwich", "samples", "source",
	"records", "texts"] as const;
export type View = (typeof VIEWS)[number];
export const COLOURINGS = ["kind", "object", "function", "change"] as const;
export type Colouring = (typeof COLOURINGS)[number];
export const LANES = ["process", "thread", "cpu"] as const;
export type LaneKind = (typeof LANES)[number];
export const WEIGHTS = ["period", "samples"] as const;
export type Weight = (typeof WEIGHTS)[number];
export const SORTS = ["self", "total", "change", "name", "object"] as const;
export type Sort = (typeof SORTS)[number];

export interface State {
	view: View;
	earlier: boolean; // of two recordings the first one is looked at
	event: number;
	weight: Weight;
	ranges: Range[]; // each within the one before
	processes: number[];
	threads: string[]; // pid:tid
	cpus: number[];
	cgroups: string[]; // paths; an empty one: samples without
	transforms: Transform[];
	inlined: boolean;
	invert: boolean;
	down: boolean; // flame graphs hang from the top
	search: string;
	colour: Colouring;
	lanes: LaneKind;
	path: number[]; // functions from the root of what is shown to the selected one
	func: number; // the selected function; -1: none
	zoom: number[]; // functions from the root to the one that fills the flame graph
	sort: Sort; // of the table
	record: number; // of the file; -1: none
	window: Range[]; // what timeline and flame chart show: one range, or none for all
}

export function firstState(): State {
	return {
		view: "overview", earlier: false, event: 0, weight: "period", ranges: [], processes: [], threads: [], cpus: [], cgroups: [], transforms: [],
		inlined: true, invert: false, down: false, search: "", colour: "kind", lanes: "process", path: [], func: -1, zoom: [], sort: "self", record: -1, window: [],
	};
}

const LONG_NAME = 60;
const KEPT = 40;

// A name in a link, without what separates names there.
function encoded(text: string): string {
	const cut = text.length > LONG_NAME ? `${text.slice(0, KEPT)}\u0001${hashOf(text).toString(16)}` : text;
	return encodeURIComponent(cut.replace(/[\ud800-\udfff]/g, "\ufffd")).replace(/[-~]/g, (one) => (one === "-" ? "%2D" : "%7E"));
}

class NameTable {
	private long: Map<string, number> | undefined;

	constructor(private readonly recording: Recording) {}

	func(text: string): number {
		const name = decodeURIComponent(text);
		if (!name.includes("\u0001")) return this.recording.functionOf(name);
		return this.longNames().get(name) ?? -1;
	}

	private longNames(): Map<string, number> {
		if (this.long) return this.long;
		this.long = new Map();
		for (let func = this.recording.functions.object.length - 1; func >= 0; func--) {
			const key = this.recording.key(func);
			if (key.length > LONG_NAME) this.long.set(`${key.slice(0, KEPT)}\u0001${hashOf(key).toString(16)}`, func);
		}
		return this.long;
	}
}

const WITH_FUNC = new Set<string>(["ff", "fo", "mf", "df", "rd", "rr", "cf"]);
const WITH_PATH = new Set<string>(["fs", "fi", "mn"]);
const WITH_KIND = new Set<string>(["fk", "hk"]);

function transformText(transform: Transform, recording: Recording): string {
	const { key } = transform;
	if (WITH_FUNC.has(key)) {
		const kind = transform.kind === undefined ? "" : `-${encoded(recording.header.kinds[transform.kind]?.name ?? "")}`;
		return `${key}-${encoded(recording.key(transform.func ?? -1))}${kind}`;
	}
	if (WITH_PATH.has(key)) return [key, ...(transform.path ?? []).map((func) => encoded(recording.key(func)))].join("-");
	if (WITH_KIND.has(key)) return `${key}-${encoded(recording.header.kinds[transform.kind ?? -1]?.name ?? "")}`;
	return `${key}-${encoded(recording.string(recording.objectName[transform.object ?? -1] ?? 0))}`;
}

function kindNamed(recording: Recording, text: string): number {
	const name = decodeURIComponent(text);
	return recording.header.kinds.findIndex((kind) => kind.name === name);
}

function transformOf(text: string, recording: Recording, names: NameTable): Transform | undefined {
	const [key, ...fields] = text.split("-");
	if (key === undefined || fields.length === 0) return undefined;
	if (WITH_FUNC.has(key)) {
		const func = names.func(fields[0]);
		if (func < 0) return undefined;
		if (fields[1] === undefined) return { key: key as TransformKey, func };
		const kind = kindNamed(recording, fields[1]);
		return kind < 0 ? undefined : { key: key as TransformKey, func, kind };
	}
	if (WITH_PATH.has(key)) {
		const path = fields.map((field) => names.func(field));
		return path.includes(-1) ? undefined : { key: key as TransformKey, path };
	}
	if (WITH_KIND.has(key)) {
		const kind = kindNamed(recording, fields[0]);
		return kind < 0 ? undefined : { key: key as TransformKey, kind };
	}
	const object = key === "co" ? recording.objectNamed(decodeURIComponent(fields[0])) : -1;
	return object < 0 ? undefined : { key: "co", object };
}

// Times are written in nanoseconds from the start of the recording, or in microseconds if they are whole ones.
function rangeText(range: Range, unit: number): string {
	const letter = unit === 1000 ? "u" : "n";
	return `${range.from}${letter}${range.to - range.from}`;
}

function rangeOf(text: string, unit: number): Range | undefined {
	const found = /^(\d{1,16})([un])(\d{1,16})$/.exec(text);
	if (!found) return undefined;
	const scale = (found[2] === "u" ? 1000 : 1) / unit;
	const from = Math.floor(Number(found[1]) * scale);
	return { from, to: from + Math.floor(Number(found[3]) * scale) };
}

// ---- from and to text ----

export function textOf(state: State, recording: Recording): string {
	const first = firstState();
	const unit = recording.header.time.unit_ns;
	const parts = ["1"];
	const put = (key: string, value: string, unless: string) => {
		if (value !== unless) parts.push(`${key}=${value}`);
	};
	put("v", state.view, first.view);
	put("b", state.earlier ? "1" : "0", "0");
	put("e", encoded(recording.header.events[state.event]?.name ?? ""), encoded(recording.header.events[0]?.name ?? ""));
	put("w", state.weight, first.weight);
	put("t", state.ranges.map((range) => rangeText(range, unit)).join("~"), "");
	put("p", state.processes.join("~"), "");
	put("th", state.threads.join("~"), "");
	put("c", state.cpus.join("~"), "");
	put("g", state.cgroups.map((path) => `.${encodeURIComponent(path).replace(/~/g, "%7E")}`).join("~"), "");
	put("x", state.transforms.map((one) => transformText(one, recording)).join("~"), "");
	put("in", state.inlined ? "1" : "0", "1");
	put("i", state.invert ? "1" : "0", "0");
	put("down", state.down ? "1" : "0", "0");
	put("q", encoded(state.search), "");
	put("col", state.colour, first.colour);
	put("by", state.lanes, first.lanes);
	put("s", state.path.map((func) => encoded(recording.key(func))).join("~"), "");
	put("f", state.func < 0 ? "" : encoded(recording.key(state.func)), "");
	put("z", state.zoom.map((func) => encoded(recording.key(func))).join("~"), "");
	put("o", state.sort, first.sort);
	put("r", String(state.record), "-1");
	put("tw", state.window.map((range) => rangeText(range, unit)).join("~"), "");
	if (parts.length > 1) put("fp", recording.header.fingerprint, "");
	return parts.join("&");
}

export interface Parsed {
	state: State;
	messages: string[]; // what was not understood or does not fit
}

class Parser {
	readonly state = firstState();
	readonly messages: string[] = [];
	private readonly names: NameTable;

	constructor(private readonly recording: Recording) {
		this.names = new NameTable(recording);
	}

	private choice<T extends string>(key: string, text: string, all: readonly T[], set: (value: T) => void): void {
		if ((all as readonly string[]).includes(text)) set(text as T);
		else this.messages.push(`${key}=${text}`);
	}

	private flag(key: string, text: string, set: (value: boolean) => void): void {
		this.choice(key, text, ["0", "1"], (value) => set(value === "1"));
	}

	private each<T>(key: string, text: string, one: (part: string) => T | undefined): T[] {
		const found: T[] = [];
		for (const part of text.split("~")) {
			const value = one(part);
			if (value === undefined) this.messages.push(`${key}=${part}`);
			else found.push(value);
		}
		return found;
	}

	private integer(text: string): number | undefined {
		return /^-?\d{1,10}$/.test(text) ? Number(text) : undefined;
	}

	private func(text: string): number | undefined {
		const func = this.names.func(text);
		return func < 0 ? undefined : func;
	}

	private event(key: string, text: string): void {
		const name = decodeURIComponent(text);
		const event = this.recording.header.events.findIndex((one) => one.name === name);
		if (event < 0) this.messages.push(`${key}=${name}`);
		else this.state.event = event;
	}

	private fingerprint(text: string): void {
		if (text !== this.recording.header.fingerprint) this.messages.push("the link was made for another recording");
	}

	take(key: string, text: string): void {
		const { state, recording } = this;
		switch (key) {
		case "v": return this.choice(key, text, VIEWS, (value) => (state.view = value));
		case "b": return this.flag(key, text, (value) => (state.earlier = value));
		case "e": return this.event(key, text);
		case "w": return this.choice(key, text, WEIGHTS, (value) => (state.weight = value));
		case "t": state.ranges = this.each(key, text, (part) => rangeOf(part, recording.header.time.unit_ns)); return;
		case "p": state.processes = this.each(key, text, (part) => this.integer(part)); return;
		case "th": state.threads = this.each(key, text, (part) => (/^-?\d+:-?\d+$/.test(part) ? part : undefined)); return;
		case "c": state.cpus = this.each(key, text, (part) => this.integer(part)); return;
		case "g": state.cgroups = this.each(key, text, (part) => (part.startsWith(".") ? decodeURIComponent(part.slice(1)) : undefined)); return;
		case "x": state.transforms = this.each(key, text, (part) => transformOf(part, recording, this.names)); return;
		case "in": return this.flag(key, text, (value) => (state.inlined = value));
		case "i": return this.flag(key, text, (value) => (state.invert = value));
		case "down": return this.flag(key, text, (value) => (state.down = value));
		case "q": state.search = decodeURIComponent(text); return;
		case "col": return this.choice(key, text, COLOURINGS, (value) => (state.colour = value));
		case "by": return this.choice(key, text, LANES, (value) => (state.lanes = value));
		case "s": state.path = this.each(key, text, (part) => this.func(part)); return;
		case "z": state.zoom = this.each(key, text, (part) => this.func(part)); return;
		case "r": state.record = /^\d{1,15}$/.test(text) ? Number(text) : -1; return;
		case "tw": state.window = this.each(key, text, (part) => rangeOf(part, recording.header.time.unit_ns)).slice(0, 1); return;
		case "o": return this.choice(key, text, SORTS, (value) => (state.sort = value));
		case "f": state.func = this.func(text) ?? -1; return;
		case "fp": return this.fingerprint(text);
		default: this.messages.push(`${key}=${text}`);
		}
	}
}

// Never throws: what is wrong is left out and reported.
export function stateOf(text: string, recording: Recording): Parsed {
	const parser = new Parser(recording);
	const [version, ...parts] = text.replace(/^#/, "").split("&");
	if (version !== undefined && version !== "" && version !== "1") parser.messages.push(`version ${version}`);
	for (const part of version === "1" ? parts : []) {
		const at = part.indexOf("=");
		try {
			parser.take(at < 0 ? part : part.slice(0, at), at < 0 ? "" : part.slice(at + 1));
		} catch {
			parser.messages.push(part); // a percent sign without its digits
		}
	}
	return { state: parser.state, messages: parser.messages };
}
