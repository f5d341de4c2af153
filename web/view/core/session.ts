// SPDX-License-Identifier: MIT
// A recording with a state: everything that views show is computed here, when it is asked for, and kept until a part of the
// state that it depends on changes.

import { Counter, Counts, Filter, indexRange, lowerBound, passes, passOf, Range, samplesIn } from "./count";
import { Keys, LaneStore } from "./lanes";
import { DownwardNodes, invertedNodes, Nodes, nodesAround, Twin } from "./nodes";
import type { Recording, Samples } from "./recording";
import { Searching } from "./search";
import type { Stage } from "./stage";
import { firstState, State } from "./state";
import { FunctionSums, gone, matchedIn, Sums, sumsOf } from "./sums";
import { applied, hiding, Transform } from "./transform";
import { NONE, pathOfRow, ROOT, rowOfPath, Tree } from "./tree";

const PART = 250000; // samples

// A value and what it was computed from.
export class Kept<T> {
	private from: readonly unknown[] | undefined;
	private value: T | undefined;

	has(from: readonly unknown[]): boolean {
		return this.from !== undefined && sameList(from, this.from);
	}

	get last(): T | undefined {
		return this.value;
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

// How many samples what is selected takes away, in this order.
export interface Narrowed {
	readonly ranges: readonly number[];
	tasks: number;
	cpus: number;
	cgroups: number;
}

// A mask of CPUs for samples; undefined: all.
function maskOfCpus(cpus: readonly number[], { cpu }: Samples, lanes?: Keys): Uint8Array | undefined {
	if (cpus.length === 0) return undefined;
	let most = lanes ? lanes.all.length - 2 : -1;
	if (!lanes) for (let index = 0; index < cpu.length; index++) if (cpu[index] > most) most = cpu[index];
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
	readonly sums = new Kept<Sums>();
	readonly functions = new Kept<FunctionSums>();
	readonly nodes = new Kept<Twin>();
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
	private dropped: Stage[] = []; // that were in the chain until its last change
	private readonly lookers = new Map<unknown, Tree>();
	private readonly keptThreads = new Kept<Uint8Array | undefined>();
	private readonly keptCpus = new Kept<Uint8Array | undefined>();
	private readonly keptCgroups = new Kept<Uint8Array | undefined>();
	private readonly keptCounts = new Kept<Counts>();
	private readonly keptAlways = new Kept<Counts>();
	private readonly keptOthers = new Kept<{ all: number; self: Float64Array }>();
	private readonly keptAtAllTimes = new Kept<{ sums: Sums; functions: FunctionSums }>();
	private readonly keptSums = new Kept<Sums>();
	private readonly keptFunctions = new Kept<FunctionSums>();
	private readonly keptNodes = new Kept<Nodes>();
	private readonly keptCallers = new Kept<Nodes>();
	private readonly keptCallees = new Kept<Nodes>();
	private readonly keptMatched = new Kept<{ samples: number; functions: number }>();
	private readonly keptMatches = new Kept<Uint8Array | undefined>();
	private readonly keptTaken = new Kept<AllTaken>();
	private readonly keptWithout = new Kept<Stage>();
	private readonly keptNarrowed = new Kept<Narrowed>();
	private readonly keptStays = new Kept<Uint8Array | undefined>();
	private readonly keptShown = new Kept<Uint8Array | undefined>();
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
		return new Counter(this.samples, this.recording.base(true).leafRow.length, (filter) => this.lanes.choose(filter));
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
		const sums = this.sumsOfOthers(others);
		const { self } = others.functions.of([sums], () => new FunctionSums(sums, this.functionCount));
		return { unit: this.unitOf(event), self };
	}

	private sumsOfOthers(others: Others): Sums {
		const { range, threads, cgroups } = this.filter;
		const { stage, state } = this;
		const cpus = others.cpus.of([state.cpus], () => maskOfCpus(state.cpus, others.samples));
		const counts = others.counts.of([range, threads, cpus, cgroups], () => others.counter.count({ range, threads, cpus, cgroups }));
		return others.sums.of([counts, stage, state.weight], () => sumsOf(stage, this.amounts(counts)));
	}

	// The same for the nodes of the call tree.
	nodesBeside(event: number): { unit: string; twin: Twin } | undefined {
		const others = this.besides.get(event);
		if (!others) return undefined;
		const { nodes, state: { invert } } = this;
		const sums = this.sumsOfOthers(others);
		const twin = others.nodes.of([nodes, sums], () => new Twin(nodes, invert ? invertedNodes(sums, this.functionCount) : new DownwardNodes(sums)));
		return { unit: this.unitOf(event), twin };
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
		return this.keptCpus.of([cpus, this.samples], () => maskOfCpus(cpus, this.samples, this.lanes.sorted("cpu")));
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

	// How many samples times, tasks, CPUs and cgroups take away, each of what the ones before left.
	narrowed(): Narrowed {
		const { counts, samples, filter, state: { ranges } } = this;
		return this.keptNarrowed.of([counts, ranges, filter.range], () => {
			let left = samples.total;
			const inside = (range: Range | undefined) => samplesIn(samples, ...indexRange(samples, range));
			const taken = ranges.map((range) => left - (left = inside(range)));
			return { ranges: taken, ...this.narrowedByMasks(inside(filter.range) - counts.samples) };
		});
	}

	// A pass over the samples only where several of the masks take away.
	private narrowedByMasks(all: number): Omit<Narrowed, "ranges"> {
		const { samples: { thread, cpu, cgroups: own, times }, filter: { threads, cpus, cgroups }, samples, filter } = this;
		const taken = { tasks: 0, cpus: 0, cgroups: 0 };
		const masks = { tasks: threads, cpus, cgroups };
		const used = (["tasks", "cpus", "cgroups"] as const).filter((name) => masks[name]);
		if (used.length === 1) taken[used[0]] = all;
		if (used.length < 2) return taken;
		const [first, last] = indexRange(samples, filter.range);
		const byTask = cgroups ? undefined : this.byLanes(first, last, threads);
		if (byTask) {
			const passing = byTask.reduce((sum, one) => sum + one, 0);
			return { ...taken, tasks: last - first - passing, cpus: all - (last - first - passing) };
		}
		for (let index = first; index < last; index++) {
			const count = times ? times[index] : 1;
			if (threads && threads[thread[index]] === 0) taken.tasks += count;
			else if (cpus && cpus[cpu[index] + 1] === 0) taken.cpus += count;
			else if (cgroups && cgroups[(own?.[index] ?? -1) + 1] === 0) taken.cgroups += count;
		}
		return taken;
	}

	// The samples of the selection if they are those of one CPU or thread and nothing else is selected but a time; undefined: another way is needed.
	ofOneLane(): Int32Array | undefined {
		const { filter, samples, shown } = this;
		const choice = shown ? undefined : this.lanes.choose(filter);
		if (!choice || passOf(samples, choice.rest)) return undefined;
		const { start, order, chosen } = choice;
		const lane = chosen.indexOf(1);
		if (lane < 0 || chosen.includes(1, lane + 1)) return undefined;
		const [first, last] = indexRange(samples, filter.range);
		return order.subarray(lowerBound(order, first, start[lane], start[lane + 1]), lowerBound(order, last, start[lane], start[lane + 1]));
	}

	// Samples by task from one index to another, if they are sorted by it.
	private byLanes(first: number, last: number, threads: Uint8Array | undefined): Float64Array | undefined {
		const keys = this.samples.times ? undefined : this.lanes.sorted("thread");
		if (!keys) return undefined;
		const { order, start } = keys.grouping;
		const sums = new Float64Array(keys.task.length);
		const counted = new Uint8Array(keys.all.length);
		this.recording.threads.forEach(({ task }, thread) => {
			const key = keys.task[task];
			if (counted[key] !== 0 || (threads && threads[thread] === 0)) return;
			counted[key] = 1;
			const low = lowerBound(order, first, start[key], start[key + 1]);
			sums[task] = lowerBound(order, last, low, start[key + 1]) - low;
		});
		return sums;
	}

	// Samples of the selection by task.
	byTask(): Float64Array {
		const { samples, filter, stays, recording } = this;
		const [first, last] = indexRange(samples, filter.range);
		const sorted = filter.cpus || filter.cgroups || stays ? undefined : this.byLanes(first, last, filter.threads);
		if (sorted) return sorted;
		const pass = passOf(samples, { ...filter, leaves: stays });
		const byThread = new Float64Array(recording.threads.length);
		for (let index = first; index < last; index++) if (!pass || pass(index)) byThread[samples.thread[index]]++;
		const sums = new Float64Array(recording.tasks.length);
		recording.threads.forEach(({ task }, thread) => (sums[task] += byThread[thread]));
		return sums;
	}

	// ---- stacks ----

	private stages(): Stage[] {
		const { transforms, inlined } = this.state;
		if (inlined !== this.chainInlined) this.drop(0);
		this.chainInlined = inlined;
		let stage = this.recording.base(inlined);
		const all = [stage];
		transforms.forEach((transform, index) => {
			if (this.chain[index]?.transform !== transform) {
				this.drop(index);
				this.chain.push({ transform, stage: this.after(stage, transform) });
			}
			({ stage } = this.chain[index]);
			all.push(stage);
		});
		this.drop(transforms.length);
		return all;
	}

	// The tree that there is now keeps its memory as long as somebody looks at it, as views do that are not shown: what is open in them
	// stays open. Who looks already now looks at this tree.
	lookAt(who: unknown): void {
		this.lookers.set(who, this.stage.tree);
	}

	leave(who: unknown): void {
		this.lookers.delete(who);
	}

	// Stages that are not needed any more. Their memory is used again one change later, since until then they may be on the screen.
	private drop(from: number): void {
		if (from >= this.chain.length) return;
		const dropped = this.chain.splice(from).map(({ stage }) => stage);
		const kept = [this.keptWithout.last, ...this.recording.bases, ...this.chain.map(({ stage }) => stage), ...dropped].map((one) => one?.tree);
		const isKept = (tree: Tree) => kept.includes(tree) || [...this.lookers.values()].includes(tree);
		for (const stage of this.dropped) if (!isKept(stage.tree)) stage.release();
		this.dropped = dropped;
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
		if (builder.isUsable) this.keptWithout.of([stage, kernelKind], () => builder.finish(stage));
	}

	get stage(): Stage {
		const all = this.stages();
		return all[all.length - 1];
	}

	// A byte for each leaf: whether its samples still have a stack after the transforms, if they had one; undefined: all.
	get stays(): Uint8Array | undefined {
		const { stage: { leafRow }, state } = this;
		const base = this.recording.base(state.inlined).leafRow;
		return this.keptStays.of([leafRow, base], () => {
			if (leafRow === base) return undefined;
			const stays = new Uint8Array(leafRow.length);
			for (let leaf = 0; leaf < stays.length; leaf++) stays[leaf] = leafRow[leaf] > ROOT || base[leaf] === ROOT ? 1 : 0;
			return stays;
		});
	}

	// The same, and whether the stack has what is searched for.
	get shown(): Uint8Array | undefined {
		const { stays, matches, stage: { leafRow } } = this;
		return this.keptShown.of([stays, matches, leafRow], () => {
			if (!matches) return stays;
			const isIn = this.rowsBelow(matches);
			const shown = new Uint8Array(leafRow.length);
			for (let leaf = 0; leaf < shown.length; leaf++) shown[leaf] = isIn[leafRow[leaf]];
			return shown;
		});
	}

	// How much larger the shares of functions' own samples are in the selected time than at all other times; undefined: no time is selected.
	changesInTime(): Float64Array | undefined {
		const { others, functions, sums } = this;
		if (!others) return undefined;
		const [all, before] = [Math.max(sums.all, 1), Math.max(others.all, 1)];
		return functions.self.map((self, func) => self / all - others.self[func] / before);
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
		return this.keptFunctions.of([sums], () => new FunctionSums(sums, this.functionCount));
	}

	// Also made ready while nobody waits.
	get always(): Counts {
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
			return { sums: made, functions: new FunctionSums(made, this.functionCount) };
		});
	}

	// What functions have themselves, and all of it, of the same selection at all other times; undefined if no time is selected.
	get others(): { all: number; self: Float64Array } | undefined {
		const { counts, stage } = this;
		if (!this.filter.range) return undefined;
		const { always } = this;
		return this.keptOthers.of([always, counts, stage, this.state.weight], () => {
			const [whole, inside] = [this.amounts(always), this.amounts(counts)];
			const sums = sumsOf(stage, Float64Array.from(whole, (all, leaf) => all - inside[leaf]));
			return { all: sums.all, self: new FunctionSums(sums, this.functionCount).self };
		});
	}

	// A byte for each row: whether a wanted function is there, or above it.
	private rowsBelow(wanted: Uint8Array): Uint8Array {
		const { count, func, end } = this.stage.tree;
		const isIn = new Uint8Array(count);
		for (let row = 1; row < count;) {
			if (wanted[func[row]] === 0) {
				row++;
				continue;
			}
			isIn.fill(1, row, end[row]);
			row = end[row];
		}
		return isIn;
	}

	private rowsBelowFunction(func: number): Uint8Array {
		const wanted = new Uint8Array(this.functionCount);
		wanted[func] = 1;
		return this.rowsBelow(wanted);
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
		const isIn = this.rowsBelowFunction(func);
		return (row) => isIn[row] !== 0;
	}

	// The first sample of the selection with the selected function; -1: there is none.
	firstSample(): number {
		const { leafRow } = this.stage;
		const isSelected = this.selectedRows();
		return this.firstOf((leaf) => isSelected(leafRow[leaf]));
	}

	// The first sample of the selection with some leaf.
	firstOf(isWanted: (leaf: number) => boolean): number {
		const { samples, filter, stays } = this;
		const [first, last] = indexRange(samples, filter.range);
		for (let index = first; index < last; index++) {
			const leaf = samples.leaf[index];
			if ((!stays || stays[leaf] !== 0) && passes(samples, filter, index) && isWanted(leaf)) return index;
		}
		return -1;
	}

	// The first one whose stack has a path of functions from the outermost call of its first one on, inwards or outwards.
	firstAround(path: readonly number[], step: 1 | -1): number {
		const { tree, leafRow } = this.stage;
		return this.firstOf((leaf) => {
			const stack = pathOfRow(tree, leafRow[leaf]);
			const at = stack.indexOf(path[0]);
			return at >= 0 && path.every((func, level) => stack[at + step * level] === func);
		});
	}

	// How many samples of a function each thread has, part by part; the last one is all of it.
	*threadsOf(func: number): Generator<Map<number, number> | undefined> {
		const { stage: { leafRow }, samples, filter } = this;
		const isIn = this.rowsBelowFunction(func);
		const ofLeaf = new Uint8Array(leafRow.length);
		for (let leaf = 0; leaf < leafRow.length; leaf++) ofLeaf[leaf] = isIn[leafRow[leaf]];
		const sums = new Float64Array(this.recording.threads.length);
		const [first, last] = indexRange(samples, filter.range);
		for (let from = first; from < last; from += PART) {
			yield undefined;
			for (let index = from; index < Math.min(from + PART, last); index++)
				if (ofLeaf[samples.leaf[index]] !== 0 && passes(samples, filter, index)) sums[samples.thread[index]]++;
		}
		yield new Map([...sums.entries()].filter(([, sum]) => sum > 0).sort(([, one], [, other]) => other - one));
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
	callers(func: number): Nodes {
		return this.keptCallers.of([this.sums, func], () => nodesAround(this.sums, this.functionCount, func, "callers"));
	}

	// Stacks below a function, each sample once.
	callees(func: number): Nodes {
		return this.keptCallees.of([this.sums, func], () => nodesAround(this.sums, this.functionCount, func, "callees"));
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
		const { sums } = this;
		return this.keptMatched.of([matches, sums], () => matchedIn(sums, matches));
	}

	// ---- lanes ----

	get lanes(): LaneStore {
		return this.keptLanes.of([this.samples], () => new LaneStore(this.recording, this.samples));
	}
}

export { sameList };
