// SPDX-License-Identifier: MIT
// A recording with a state: everything that views show is computed here, when it is asked for, and kept until a part of the
// state that it depends on changes.

import { Counter, Counts, Filter, indexRange, passes, Range } from "./count";
import { LaneStore } from "./lanes";
import { DownwardNodes, InvertedNodes, invertedNodes, Nodes } from "./nodes";
import type { Recording, Samples } from "./recording";
import { Searching } from "./search";
import { firstState, State } from "./state";
import { FunctionSums, functionSums, gone, outermost, Sums, sumsOf } from "./sums";
import { applied, hiding, Stage, Transform } from "./transform";
import { NONE, rowOfPath } from "./tree";

// A value and what it was computed from.
export class Kept<T> {
	private from: readonly unknown[] | undefined;
	private value: T | undefined;

	has(from: readonly unknown[]): boolean {
		return this.from !== undefined && sameList(from, this.from);
	}

	of(from: readonly unknown[], compute: () => T): T {
		if (!this.has(from)) {
			this.value = compute();
			this.from = from;
		}
		return this.value as T;
	}
}

function sameList(one: readonly unknown[], other: readonly unknown[]): boolean {
	return one.length === other.length && one.every((value, index) => value === other[index]);
}

// What one transform took away of the selection.
export interface Taken {
	readonly transform: Transform;
	readonly samples: number;
	readonly weight: number;
}

export interface AllTaken {
	readonly before: { readonly samples: number; readonly weight: number };
	readonly by: readonly Taken[];
}

// A mask of CPUs for samples; undefined: all.
function maskOfCpus(cpus: readonly number[], samples: Samples): Uint8Array | undefined {
	if (cpus.length === 0) return undefined;
	let most = 0;
	const { cpu } = samples;
	for (let index = 0; index < cpu.length; index++) if (cpu[index] > most) most = cpu[index];
	const mask = new Uint8Array(most + 2);
	for (const one of cpus) if (one >= -1 && one <= most) mask[one + 1] = 1;
	return mask;
}

// What functions have of an event that is not the one that is looked at.
export interface Beside {
	readonly unit: string;
	readonly self: Float64Array;
}

// Samples of another event.
class Others {
	readonly cpus = new Kept<Uint8Array | undefined>();
	readonly counts = new Kept<Counts>();
	readonly functions = new Kept<FunctionSums>();
	readonly counter: Counter;

	constructor(readonly samples: Samples, leaves: number) {
		this.counter = new Counter(samples, leaves, () => undefined);
	}
}

export class Session {
	state: State = firstState();
	preview: Range | undefined; // while something is dragged
	samples: Samples;
	private counter: Counter;
	private counterEvent = 0;
	private readonly chain: { transform: Transform; stage: Stage }[] = [];
	private chainInlined = true;
	private readonly keptThreads = new Kept<Uint8Array | undefined>();
	private readonly keptCpus = new Kept<Uint8Array | undefined>();
	private readonly keptCgroups = new Kept<Uint8Array | undefined>();
	private readonly keptCounts = new Kept<Counts>();
	private readonly keptAlways = new Kept<Counts>();
	private readonly keptOthers = new Kept<{ sums: Sums; functions: FunctionSums }>();
	private readonly keptAtAllTimes = new Kept<{ sums: Sums; functions: FunctionSums }>();
	private readonly keptSums = new Kept<Sums>();
	private readonly keptFunctions = new Kept<FunctionSums>();
	private readonly keptNodes = new Kept<Nodes>();
	private readonly keptInverted = new Kept<InvertedNodes>();
	private readonly keptMatches = new Kept<Uint8Array | undefined>();
	private readonly keptTaken = new Kept<AllTaken>();
	private readonly keptWithout = new Kept<Stage>();
	private readonly keptLanes = new Kept<LaneStore>();
	private readonly besides = new Map<number, Others>(); // by event
	readonly searching: Searching;

	private constructor(readonly recording: Recording, samples: Samples) {
		this.samples = samples;
		this.counter = this.newCounter();
		this.searching = new Searching(recording);
	}

	static async open(recording: Recording, event = 0): Promise<Session> {
		const session = new Session(recording, await recording.samplesOf(event));
		session.counterEvent = event;
		return session;
	}

	private newCounter(): Counter {
		return new Counter(this.samples, this.recording.base(true).leafRow.length, () => this.lanes.cpus);
	}

	// To be called after the event changed.
	async readEvent(): Promise<void> {
		if (this.state.event === this.counterEvent) return;
		const { event } = this.state;
		const samples = await this.recording.samplesOf(event);
		if (event !== this.state.event) return;
		this.samples = samples;
		this.counterEvent = event;
		this.counter = this.newCounter();
	}

	get unit(): string {
		return this.unitOf(this.state.event);
	}

	private unitOf(event: number): string {
		return this.state.weight === "samples" ? "samples" : this.recording.header.events[event]?.unit ?? "samples";
	}

	// ---- other events ----

	// Those with samples, but the one that is looked at.
	get otherEvents(): number[] {
		const { recording: { header: { events } }, state } = this;
		return [...events.keys()].filter((event) => event !== state.event && events[event].samples > 0);
	}

	async readBeside(event: number): Promise<void> {
		if (this.besides.has(event)) return;
		const samples = await this.recording.samplesOf(event);
		this.besides.set(event, new Others(samples, this.recording.base(true).leafRow.length));
	}

	// What functions have of another event under the same selection; undefined before it was read.
	beside(event: number): Beside | undefined {
		const others = this.besides.get(event);
		if (!others) return undefined;
		const { range, threads, cgroups } = this.filter;
		const { stage, state, functionCount } = this;
		const cpus = others.cpus.of([state.cpus], () => maskOfCpus(state.cpus, others.samples));
		const counts = others.counts.of([range, threads, cpus, cgroups], () => others.counter.count({ range, threads, cpus, cgroups }));
		const { self } = others.functions.of([counts, stage, state.weight], () => functionSums(sumsOf(stage, this.amounts(counts)), functionCount));
		return { unit: this.unitOf(event), self };
	}

	// ---- time ----

	get tick(): number {
		return this.recording.header.time.unit_ns;
	}

	// The whole recording, in ticks.
	get whole(): Range {
		const { start, end } = this.recording.header.time;
		const last = this.samples.count > 0 ? this.samples.time[this.samples.count - 1] : 0;
		return { from: 0, to: Math.max(Math.floor(Number(BigInt(end) - BigInt(start)) / this.tick), last, 1) };
	}

	get range(): Range | undefined {
		return this.preview ?? this.state.ranges[this.state.ranges.length - 1];
	}

	// ---- filters ----

	private threadMask(): Uint8Array | undefined {
		const { processes, threads } = this.state;
		return this.keptThreads.of([processes, threads, this.recording], () => {
			if (processes.length === 0 && threads.length === 0) return undefined;
			const pids = new Set(processes);
			const names = new Set(threads);
			return Uint8Array.from(this.recording.threads, ({ task }) => {
				const { pid, tid } = this.recording.tasks[task];
				return (pids.size === 0 || pids.has(pid)) && (names.size === 0 || names.has(`${pid}:${tid}`)) ? 1 : 0;
			});
		});
	}

	private cpuMask(): Uint8Array | undefined {
		const { cpus } = this.state;
		return this.keptCpus.of([cpus, this.samples], () => maskOfCpus(cpus, this.samples));
	}

	private cgroupMask(): Uint8Array | undefined {
		const { cgroups } = this.state;
		return this.keptCgroups.of([cgroups, this.samples], () =>
			(cgroups.length === 0 ? undefined : Uint8Array.from(["", ...this.recording.cgroups], (path) => (cgroups.includes(path) ? 1 : 0))));
	}

	get filter(): Filter {
		return { range: this.range, threads: this.threadMask(), cpus: this.cpuMask(), cgroups: this.cgroupMask() };
	}

	get counts(): Counts {
		const { range, threads, cpus, cgroups } = this.filter;
		return this.keptCounts.of([range, threads, cpus, cgroups, this.counter], () => this.counter.count({ range, threads, cpus, cgroups }));
	}

	// ---- stacks ----

	private stages(): Stage[] {
		const { transforms, inlined } = this.state;
		if (inlined !== this.chainInlined) this.chain.length = 0;
		this.chainInlined = inlined;
		let stage = this.recording.base(inlined);
		const all = [stage];
		transforms.forEach((transform, index) => {
			if (this.chain[index]?.transform !== transform) {
				this.chain.length = index;
				this.chain.push({ transform, stage: this.after(stage, transform) });
			}
			({ stage } = this.chain[index]);
			all.push(stage);
		});
		this.chain.length = transforms.length;
		return all;
	}

	// The kernel is hidden and shown again so often that it is kept how the recording is without it.
	private after(stage: Stage, transform: Transform): Stage {
		const compute = () => applied(stage, transform, this.recording.functions);
		if (transform.key !== "hk" || stage !== this.recording.base(this.state.inlined)) return compute();
		return this.keptWithout.of([stage, transform.kind], compute);
	}

	// In two parts; anything that is transformed in between makes the first one useless.
	*prepareWithoutKernel(): Generator<void> {
		const { kernelKind, functions } = this.recording;
		const stage = this.recording.base(this.state.inlined);
		if (kernelKind < 0 || this.keptWithout.has([stage, kernelKind])) return;
		const builder = hiding(stage, kernelKind, functions);
		yield;
		if (builder.isUsable) this.keptWithout.of([stage, kernelKind], () => builder.finish(stage.leafRow));
	}

	get stage(): Stage {
		const all = this.stages();
		return all[all.length - 1];
	}

	// What each leaf has of the selection, in what is counted.
	get byLeaf(): ArrayLike<number> {
		return this.amounts(this.counts);
	}

	private amounts(counts: Counts): ArrayLike<number> {
		return this.state.weight === "samples" ? counts.byLeaf : counts.weightByLeaf;
	}

	get sums(): Sums {
		const { counts, stage } = this;
		return this.keptSums.of([counts, stage, this.state.weight], () => sumsOf(stage, this.amounts(counts)));
	}

	// Samples without any stack before transforms, and what each transform took away.
	taken(): AllTaken {
		const { counts, stage } = this;
		return this.keptTaken.of([counts, stage, this.state.transforms, this.state.weight], () => this.allTaken(counts));
	}

	private allTaken(counts: Counts): AllTaken {
		const amounts = this.amounts(counts);
		const stages = this.stages().map((stage) => {
			const samples = gone(stage, counts.byLeaf);
			return { samples, weight: amounts === counts.byLeaf ? samples : gone(stage, amounts) };
		});
		const by = this.state.transforms.map((transform, index) => ({
			transform, samples: stages[index + 1].samples - stages[index].samples,
			weight: stages[index + 1].weight - stages[index].weight,
		}));
		return { before: stages[0], by };
	}

	get functions(): FunctionSums {
		const { sums } = this;
		return this.keptFunctions.of([sums], () => functionSums(sums, this.functionCount));
	}

	private get always(): Counts {
		const { threads, cpus, cgroups } = this.filter;
		return this.keptAlways.of([threads, cpus, cgroups, this.counter], () => this.newCounter().count({ range: undefined, threads, cpus, cgroups }));
	}

	// The same selection at all times.
	get atAllTimes(): { sums: Sums; functions: FunctionSums } {
		if (!this.filter.range) {
			const { sums, functions } = this;
			return this.keptAtAllTimes.of([sums], () => ({ sums, functions }));
		}
		const { always, stage } = this;
		return this.keptAtAllTimes.of([always, stage, this.state.weight], () => {
			const made = sumsOf(stage, this.amounts(always));
			return { sums: made, functions: functionSums(made, this.functionCount) };
		});
	}

	// The same selection at all other times; undefined if no time is selected.
	get others(): { sums: Sums; functions: FunctionSums } | undefined {
		const { counts, stage } = this;
		if (!this.filter.range) return undefined;
		const { always } = this;
		return this.keptOthers.of([always, counts, stage, this.state.weight], () => {
			const inside = this.amounts(counts);
			const sums = sumsOf(stage, Float64Array.from(this.amounts(always), (all, leaf) => all - inside[leaf]));
			return { sums, functions: functionSums(sums, this.functionCount) };
		});
	}

	// A byte for each row: whether the function is there, or above it.
	private rowsBelow(func: number): Uint8Array {
		const { tree } = this.stage;
		const isIn = new Uint8Array(tree.count);
		for (let row = 1; row < tree.count; row++) isIn[row] = tree.func[row] === func || isIn[tree.parent[row]] !== 0 ? 1 : 0;
		return isIn;
	}

	// Which rows are those of stacks with what is selected: a node, or else a function.
	private selectedRows(): (row: number) => boolean {
		const { tree } = this.stage;
		const { path, func, invert } = this.state;
		if (path.length > 0 && invert)
			return (leaf) => {
				let row = leaf;
				return path.every((one) => {
					const isSame = tree.func[row] === one;
					row = tree.parent[row];
					return isSame;
				});
			};
		const node = rowOfPath(tree, path);
		if (path.length > 0) return (row) => node !== NONE && row >= node && row < tree.end[node];
		if (func < 0) return () => true;
		const isIn = this.rowsBelow(func);
		return (row) => isIn[row] !== 0;
	}

	// The first sample of the selection with the selected function; -1: there is none.
	firstSample(): number {
		const { stage: { leafRow }, samples, filter } = this;
		const isSelected = this.selectedRows();
		const [first, last] = indexRange(samples, filter.range);
		for (let index = first; index < last; index++)
			if (passes(samples, filter, index) && isSelected(leafRow[samples.leaf[index]])) return index;
		return -1;
	}

	// How many samples of a function each thread has.
	threadsOf(func: number): Map<number, number> {
		const { stage: { leafRow }, samples, filter } = this;
		const isIn = this.rowsBelow(func);
		const ofLeaf = Uint8Array.from(leafRow, (row) => isIn[row]);
		const sums = new Float64Array(this.recording.threads.length);
		const [first, last] = indexRange(samples, filter.range);
		for (let index = first; index < last; index++)
			if (ofLeaf[samples.leaf[index]] !== 0 && passes(samples, filter, index)) sums[samples.thread[index]]++;
		return new Map([...sums.entries()].filter(([, sum]) => sum > 0).sort(([, one], [, other]) => other - one));
	}

	// With those that stand for objects.
	private get functionCount(): number {
		return this.recording.functions.object.length;
	}

	get nodes(): Nodes {
		const { sums } = this;
		const { invert } = this.state;
		return this.keptNodes.of([sums, invert], () => (invert ? invertedNodes(sums, this.functionCount) : new DownwardNodes(sums)));
	}

	// Callers of a function, from it outwards.
	callers(func: number): InvertedNodes {
		const { sums } = this;
		return this.keptInverted.of([sums, func], () => {
			const { rows } = outermost(sums, (one) => one === func);
			const weights = Float64Array.from(rows, (row) => sums.total[row]);
			return new InvertedNodes(sums, this.functionCount, Int32Array.from(rows), weights, false);
		});
	}

	// Sums of the stacks below a function, each sample once.
	callees(func: number): Nodes {
		const { counts, stage } = this;
		const focused = applied(stage, { key: "ff", func }, this.recording.functions);
		return new DownwardNodes(sumsOf(focused, this.amounts(counts)));
	}

	// ---- search ----

	// A byte for each function whose name, or whose object's, has the text; undefined without a search.
	get matches(): Uint8Array | undefined {
		const { search } = this.state;
		return this.keptMatches.of([search], () => (search === "" ? undefined : this.searching.matches(search)));
	}

	matched(): { samples: number; functions: number } | undefined {
		const { matches } = this;
		if (!matches) return undefined;
		const { functions } = this;
		let count = 0;
		for (let func = 0; func < matches.length; func++) if (matches[func] !== 0 && functions.total[func] > 0) count++;
		return { samples: outermost(this.sums, (func) => matches[func] !== 0).sum, functions: count };
	}

	// ---- lanes ----

	get lanes(): LaneStore {
		return this.keptLanes.of([this.samples], () => new LaneStore(this.recording, this.samples));
	}
}

export { sameList };
