// SPDX-License-Identifier: MIT
// One recording: names, functions, stacks and tasks, and the samples of each event, which are read when they are needed.

import { TreeBuilder } from "./builder";
import { Container, FormatError, Kind } from "./decode";
import { Stage } from "./stage";
import { NONE, treeOf } from "./tree";
import type { Functions } from "./transform";

export interface EventInfo {
	readonly tracepoint?: boolean;
	readonly name: string;
	readonly unit: string; // "ns", "events" or "samples"
	readonly samples: number;
	readonly sum: string;
	readonly period: boolean;
}

// An object that a finding is about.
export interface FindingObject {
	readonly name: string;
	readonly samples: number;
	readonly reason: string;
	readonly command: string | null;
}

export interface Finding {
	readonly code: string;
	readonly severity: string;
	readonly count?: number;
	readonly total?: number;
	readonly objects?: readonly FindingObject[]; // those with the most samples, most first
	readonly more_objects?: number;
	readonly text: string;
	readonly meaning: string;
	readonly command: string | null;
}

export interface Header {
	readonly name: string;
	readonly fingerprint: string;
	readonly recording: Readonly<Record<string, string | number | null>>;
	readonly time: { readonly unit_ns: number; readonly start: string; readonly end: string; readonly wall: string | null };
	readonly events: readonly EventInfo[];
	readonly truth: Readonly<Record<string, number>>;
	readonly findings: readonly Finding[] | undefined; // undefined: nobody looked
	readonly kinds: readonly { readonly name: string; readonly letter: string }[];
	readonly markers: readonly { readonly name: string; readonly value: string }[];
	readonly intervals: readonly { readonly name: string; readonly class: string }[];
	readonly counters: readonly { readonly name: string; readonly unit: string; readonly cpu: number }[];
	readonly lines: readonly string[]; // kinds of lines of code
	readonly facts: readonly { readonly text: string; readonly bad: boolean }[]; // above all views
	readonly link: string; // what the page opens with; empty: the first view
	readonly aggregated: { readonly slices: number } | undefined; // samples are sums, of parts of the time; undefined: they are single ones
	readonly omitted: { readonly addresses?: boolean; readonly intervals?: number; readonly markers?: number };
}

// Columns of samples are as narrow as their numbers let them be: there are many of them.
export type Times = Int32Array | Float64Array;
export type Ids = Int16Array | Int32Array;

export interface Samples {
	readonly count: number; // of entries, each of which is one sample unless there are times
	readonly times: Float64Array | undefined; // how many samples each entry stands for
	readonly total: number; // of samples
	readonly time: Times; // ticks since the start, rising
	readonly thread: Ids;
	readonly cpu: Ids; // -1: unknown
	readonly leaf: Int32Array;
	readonly weight: Times | undefined; // undefined: all have sameWeight
	readonly sameWeight: number;
	readonly cgroups: Int32Array | undefined; // -1: none; undefined: not recorded
}

export interface Task {
	readonly pid: number;
	readonly tid: number;
	readonly comm: string;
	readonly process: string;
}

export interface Thread {
	readonly task: number;
	readonly comm: string;
}

export interface CodeLine {
	readonly kind: string;
	readonly text: string;
	readonly file: string;
	readonly line: number;
	readonly address: bigint;
}

export interface Addresses {
	readonly func: Int32Array;
	readonly address: BigUint64Array;
	readonly file: Int32Array;
	readonly line: Int32Array;
}

export interface Markers {
	readonly time: Float64Array;
	readonly kind: Uint8Array;
	readonly task: Int32Array; // -1: none
	readonly cpu: Int32Array;
	readonly value: Float64Array;
}

export interface Intervals {
	readonly task: Int32Array; // -1: idle time of a CPU
	readonly cpu: Int32Array;
	readonly kind: Uint8Array;
	readonly begin: Float64Array;
	readonly length: Float64Array;
}

export interface Counter {
	readonly time: Float64Array;
	readonly value: Float64Array;
}

const UNKNOWN_ID = 4294967295;

function list<T>(value: unknown): T[] {
	return Array.isArray(value) ? (value as T[]) : [];
}

function nameOf(one: unknown): string {
	return typeof one === "string" ? one : String((one as { name?: unknown } | null)?.name ?? "");
}

// A header may lack what is not known; views need not ask.
function headerOf(raw: Record<string, unknown>): Header {
	const time = (raw["time"] ?? {}) as Record<string, unknown>;
	return {
		name: String(raw["name"] ?? ""),
		fingerprint: String(raw["fingerprint"] ?? ""),
		recording: (raw["recording"] ?? {}) as Header["recording"],
		time: {
			unit_ns: Number(time["unit_ns"] ?? 1), start: String(time["start"] ?? "0"), end: String(time["end"] ?? "0"),
			wall: time["wall"] == null ? null : String(time["wall"]),
		},
		events: list(raw["events"]), truth: (raw["truth"] ?? {}) as Header["truth"], findings: raw["findings"] === undefined ? undefined : list(raw["findings"]),
		facts: list(raw["facts"]), link: String(raw["link"] ?? ""), aggregated: raw["aggregated"] as Header["aggregated"],
		kinds: list(raw["kinds"]), markers: list(raw["markers"]), intervals: list(raw["intervals"]),
		counters: list(raw["counters"]), lines: list<unknown>(raw["lines"]).map(nameOf), omitted: (raw["omitted"] ?? {}) as Header["omitted"],
	};
}

function minusOne<T extends Ids>(values: T): T {
	for (let index = 0; index < values.length; index++) values[index]--;
	return values;
}

// Every value of a column that counts something else must be one of it: later code does not look again.
function within(name: string, values: ArrayLike<number>, least: number, limit: number): void {
	for (let index = 0; index < values.length; index++)
		if (!(values[index] >= least && values[index] < limit)) throw new FormatError(`${name}: ${values[index]} is out of range`);
}

// A row's parent is the row before it or one that this one is below: all else counts on it.
function depthFirst(parent: Int32Array): void {
	for (let row = 1; row < parent.length; row++) {
		let above = row - 1;
		while (above > parent[row]) above = parent[above];
		if (above !== parent[row]) throw new FormatError(`rows.parent: row ${row} is not in depth-first order`);
	}
}

export class Recording {
	readonly header: Header;
	strings: string[] = [];
	functionName: Int32Array = new Int32Array(0);
	functionFile: Int32Array = new Int32Array(0);
	functionStart: BigUint64Array = new BigUint64Array(0);
	objectName: Int32Array = new Int32Array(0);
	objectPath: Int32Array = new Int32Array(0);
	functionCount = 0; // without the functions that stand for objects
	functions: Functions = { object: new Int32Array(0), kind: new Uint8Array(0), ofObject: new Int32Array(0) };
	leafAddress: Int32Array = new Int32Array(0);
	tasks: Task[] = [];
	taskStart: Float64Array = new Float64Array(0);
	taskEnd: Float64Array = new Float64Array(0);
	threads: Thread[] = [];
	cgroups: string[] = []; // paths
	cgroupIds = new BigUint64Array(0); // as in the file
	hasInlined = false;
	private stages: Stage[] = [];
	private readonly samples = new Map<number, Promise<Samples>>();
	private readonly names = new Map<string, number>();
	private linesRead: Promise<[Uint8Array, Int32Array, Int32Array, Int32Array, BigUint64Array]> | undefined;
	private addressesRead: Promise<Addresses> | undefined;
	private buildIdsRead: Promise<Int32Array> | undefined;
	private markersRead: Promise<Markers> | undefined;
	private intervalsRead: Promise<Intervals> | undefined;

	private constructor(readonly container: Container) {
		this.header = headerOf(container.header);
	}

	static async open(container: Container): Promise<Recording> {
		const recording = new Recording(container);
		await recording.readNames();
		await recording.readStacks();
		await recording.readTasks();
		return recording;
	}

	private async readNames(): Promise<void> {
		const { container } = this;
		this.strings = await container.strings("strings");
		if (this.strings.length === 0) this.strings = [""];
		this.functionName = await container.ints("functions.name");
		const count = (this.functionCount = this.functionName.length);
		this.functionFile = await container.ints("functions.file", count);
		const object = await container.ints("functions.object", count);
		const kind = await container.bytesOf("functions.kind", count);
		this.objectName = await container.ints("objects.name");
		const objects = this.objectName.length;
		this.objectPath = await container.ints("objects.path", objects);
		within("functions.name", this.functionName, 0, this.strings.length);
		within("functions.object", object, 0, Math.max(objects, 1));
		within("functions.kind", kind, 0, Math.max(this.header.kinds.length, 1));
		within("objects.name", this.objectName, 0, this.strings.length);
		this.functions = withObjects(object, kind, objects);
	}

	private async readStacks(): Promise<void> {
		const { container } = this;
		const distance = await container.ints("rows.parent");
		const rows = distance.length;
		const func = await container.ints("rows.function", rows);
		const inlined = await container.bytesOf("rows.inlined", rows);
		within("rows.function", func, 0, this.functionCount);
		const parent = new Int32Array(rows + 1);
		const functions = new Int32Array(rows + 1);
		const flags = new Uint8Array(rows + 1);
		parent[0] = functions[0] = NONE;
		for (let row = 1; row <= rows; row++) {
			parent[row] = distance[row - 1] === 0 ? 0 : row - distance[row - 1];
			functions[row] = func[row - 1];
			flags[row] = inlined[row - 1];
		}
		within("rows.parent", parent.subarray(1), 0, rows + 1);
		depthFirst(parent);
		this.hasInlined = flags.includes(1);
		const leafRow = await container.ints("leaves.row");
		within("leaves.row", leafRow, 0, rows + 1);
		this.leafAddress = minusOne(await container.ints("leaves.address", leafRow.length));
		this.stages = [new Stage(treeOf(parent, functions, flags), leafRow)];
	}

	private async readTasks(): Promise<void> {
		const { container } = this;
		const pid = await container.floats("tasks.pid");
		const count = pid.length;
		const tid = await container.floats("tasks.tid", count);
		const comm = await container.ints("tasks.comm", count);
		const process = await container.ints("tasks.process", count);
		this.taskStart = await container.floats("tasks.start", count);
		this.taskEnd = await container.floats("tasks.end", count);
		const known = (id: number) => (id === UNKNOWN_ID ? -1 : id);
		this.tasks = Array.from(pid, (id, index) => ({
			pid: known(id), tid: known(tid[index]), comm: this.string(comm[index]), process: this.string(process[index]),
		}));
		const task = await container.ints("threads.task");
		const name = await container.ints("threads.comm", task.length);
		within("threads.task", task, 0, count);
		this.threads = Array.from(task, (one, index) => ({ task: one, comm: this.string(name[index]) }));
		this.cgroups = Array.from(await container.ints("cgroups.path"), (path) => this.string(path));
		this.cgroupIds = await container.wides("cgroups.id", this.cgroups.length);
	}

	string(index: number): string {
		return this.strings[index] ?? "";
	}

	// ---- samples and what else has a time ----

	samplesOf(event: number): Promise<Samples> {
		let found = this.samples.get(event);
		if (!found) this.samples.set(event, (found = this.readSamples(event)));
		return found;
	}

	private async readSamples(event: number): Promise<Samples> {
		const { container } = this;
		const table = `samples.${event}`;
		const time = await container.numbers<Times>(`${table}.time`, this.timeKinds);
		const count = time.length;
		const thread = await container.numbers<Ids>(`${table}.thread`, [Int16Array, Int32Array], count);
		const leaf = await container.ints(`${table}.leaf`, count);
		const cpu = minusOne(await container.numbers<Ids>(`${table}.cpu`, [Int16Array, Int32Array], count));
		within(`${table}.thread`, thread, 0, this.threads.length);
		within(`${table}.leaf`, leaf, 0, this.stages[0].leafRow.length);
		const cgroups = container.has(`${table}.cgroup`) ? minusOne(await container.ints(`${table}.cgroup`, count)) : undefined;
		const sameWeight = container.constant(`${table}.weight`);
		const weight = sameWeight === undefined ? await container.numbers<Times>(`${table}.weight`, [Int32Array, Float64Array]) : undefined;
		const times = container.has(`${table}.count`) ? await container.floats(`${table}.count`, count) : undefined;
		const total = times ? times.reduce((sum, one) => sum + one, 0) : count;
		for (const column of [thread, leaf, cpu, weight ?? time, cgroups ?? time, times ?? time])
			if (column.length !== count) throw new FormatError(`${table}: columns differ in length`);
		return { count, times, total, time, thread, cpu, leaf, weight, sameWeight: sameWeight ?? 1, cgroups };
	}

	// The kinds of columns that times of samples may fit into.
	private get timeKinds(): readonly Kind<Times>[] {
		const { start, end, unit_ns } = this.header.time;
		return Number(BigInt(end) - BigInt(start)) / unit_ns < 2 ** 31 ? [Int32Array, Float64Array] : [Float64Array];
	}

	markers(): Promise<Markers> {
		return (this.markersRead ??= this.readMarkers());
	}

	private async readMarkers(): Promise<Markers> {
		const { container } = this;
		const time = await container.floats("markers.time");
		const count = time.length;
		return {
			time, kind: await container.bytesOf("markers.kind", count), task: minusOne(await container.ints("markers.task", count)),
			cpu: minusOne(await container.ints("markers.cpu", count)), value: await container.floats("markers.value", count),
		};
	}

	intervals(): Promise<Intervals> {
		return (this.intervalsRead ??= this.readIntervals());
	}

	private async readIntervals(): Promise<Intervals> {
		const { container } = this;
		const gap = await container.floats("intervals.gap");
		const count = gap.length;
		const length = await container.floats("intervals.length", count);
		const task = minusOne(await container.ints("intervals.task", count));
		const cpu = minusOne(await container.ints("intervals.cpu", count));
		const kind = await container.bytesOf("intervals.kind", count);
		const begin = new Float64Array(count);
		for (let index = 0; index < count; index++) {
			const follows = index > 0 && task[index] === task[index - 1] && (task[index] >= 0 || cpu[index] === cpu[index - 1]);
			begin[index] = gap[index] + (follows ? begin[index - 1] + length[index - 1] : 0);
		}
		return { begin, length, task, cpu, kind };
	}

	// Sampled addresses: where each is.
	addresses(): Promise<Addresses> {
		return (this.addressesRead ??= this.readAddresses());
	}

	private async readAddresses(): Promise<Addresses> {
		const { container } = this;
		const func = await container.ints("addresses.function");
		return { func, address: await container.wides("addresses.address", func.length), file: await container.ints("addresses.file", func.length),
			line: await container.ints("addresses.line", func.length) };
	}

	// The lines of a function's code, as they were annotated; undefined if the page has them not.
	async codeOf(func: number): Promise<CodeLine[] | undefined> {
		const { container } = this;
		const functions = await container.ints("code.function");
		const counts = await container.ints("code.lines", functions.length);
		const at = functions.indexOf(func);
		if (at < 0) return undefined;
		const first = counts.subarray(0, at).reduce((sum, one) => sum + one, 0);
		const last = first + counts[at];
		this.linesRead ??= Promise.all([container.bytesOf("lines.kind"), container.ints("lines.text"), container.ints("lines.file"),
			container.ints("lines.line"), container.wides("lines.address")]);
		const [kind, text, file, line, address] = await this.linesRead;
		const lines: CodeLine[] = [];
		for (let index = first; index < last && index < text.length; index++)
			lines.push({ kind: this.header.lines[kind[index]] ?? "", text: this.string(text[index]), file: this.string(file[index]),
				line: line[index] ?? 0, address: address[index] ?? 0n });
		return lines;
	}

	// Numbers of the records of an event's samples in the file; empty if the page has no file.
	recordsOf(event: number): Promise<Float64Array> {
		return this.container.floats(`samples.${event}.record`);
	}

	async counter(index: number): Promise<Counter> {
		const time = await this.container.floats(`counters.${index}.time`);
		return { time, value: await this.container.floats(`counters.${index}.value`, time.length) };
	}

	// ---- stacks ----

	// Stacks before any transform: inlined functions as rows of their own, or as part of what contains them.
	base(inlined: boolean): Stage {
		if (!this.hasInlined) return this.stages[0];
		return (this.stages[inlined ? 1 : 2] ??= mergedInlined(this.stages[0], inlined));
	}

	// Those that were asked for.
	get bases(): Stage[] {
		return this.stages.filter((stage) => stage);
	}

	// ---- names ----

	// The name of a function, or of the object that it stands for.
	name(func: number): string {
		if (func < 0) return "all";
		if (func >= this.functionCount) return this.objectOf(func) || "no object";
		return this.string(this.functionName[func]);
	}

	objectOf(func: number): string {
		return func < 0 ? "" : this.string(this.objectName[this.functions.object[func]] ?? 0);
	}

	// Of its object; empty: unknown.
	async buildIdOf(func: number): Promise<string> {
		this.buildIdsRead ??= this.container.ints("objects.build_id", this.objectName.length);
		return this.string((await this.buildIdsRead)[this.functions.object[func]] ?? 0);
	}

	kindOf(func: number): number {
		return func < 0 ? NONE : this.functions.kind[func];
	}

	// NONE if there is none.
	get kernelKind(): number {
		return this.header.kinds.findIndex((kind) => kind.name === "kernel");
	}

	letterOf(func: number): string {
		return this.header.kinds[this.kindOf(func)]?.letter ?? "";
	}

	// What a function is called in a link: its name, with its object if another has the same.
	key(func: number): string {
		const name = this.name(func);
		const first = this.byName().get(name);
		return first === func ? name : `${name}\u0000${this.objectOf(func)}`;
	}

	private byName(): Map<string, number> {
		const { names } = this;
		if (names.size > 0) return names;
		const total = this.functions.object.length;
		for (let func = total - 1; func >= 0; func--) {
			names.set(`${this.name(func)}\u0000${this.objectOf(func)}`, func);
			names.set(this.name(func), func);
		}
		return names;
	}

	functionOf(key: string): number {
		return this.byName().get(key) ?? NONE;
	}

	objectNamed(name: string): number {
		return this.objectName.findIndex((one) => this.string(one) === name);
	}
}

// A function for each object, of the kind that most functions of it have.
function withObjects(object: Int32Array, kind: Uint8Array, objects: number): Functions {
	const count = object.length;
	const ofObject = Int32Array.from({ length: objects }, (_, index) => count + index);
	const allObjects = new Int32Array(count + objects);
	const allKinds = new Uint8Array(count + objects);
	allObjects.set(object);
	allKinds.set(kind);
	for (let index = 0; index < objects; index++) allObjects[count + index] = index;
	for (let func = 0; func < count; func++) allKinds[count + object[func]] = kind[func];
	return { object: allObjects, kind: allKinds, ofObject };
}

function mergedInlined(stage: Stage, kept: boolean): Stage {
	const { tree } = stage;
	const builder = new TreeBuilder(tree);
	const { node } = builder;
	const hasInlined = new Uint8Array(tree.count);
	for (let row = 1; row < tree.count; row++) hasInlined[tree.parent[row]] |= tree.inlined[row];
	for (let row = 1; row < tree.count; row++) {
		const above = node[tree.parent[row]];
		if (hasInlined[tree.parent[row]] !== 0) builder.share(above);
		node[row] = !kept && tree.inlined[row] !== 0 ? above : builder.child(above, tree.func[row], tree.inlined[row]);
	}
	return builder.finish(stage);
}
