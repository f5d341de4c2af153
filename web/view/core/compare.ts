// SPDX-License-Identifier: MIT
// Two recordings under one selection: the one that is looked at, and the base that it is compared with, which is from before unless
// the earlier one is looked at. Functions are the same if their names and objects are. Shares are compared, since recordings differ in
// length; times and tasks of one say nothing in the other, so only event and transforms are applied to the base.

import { DownwardNodes, Nodes, Twin } from "./nodes";
import { Kept, Session } from "./session";
import type { Sums } from "./sums";
import type { Transform } from "./transform";
import { NONE, ROOT } from "./tree";

export interface Change {
	readonly name: string;
	readonly object: string;
	readonly func: number; // in the recording that is looked at; NONE: it is not there
	readonly before: number; // shares, from 0 to 1
	readonly after: number;
}

export interface Shares {
	readonly before: number;
	readonly after: number;
}

// ---- how large a change is ----

const LEAST = 0.0005; // of all: what changes by less has not changed
const CLEAR = 0.002; // of all: what changes by less is never a strong change
const LEAST_MEAN = 0.05;

// How much of the larger of two shares their difference is: from -1, which is gone, to 1, which is new.
export function growth({ before, after }: Shares): number {
	return Math.abs(after - before) < LEAST ? 0 : (after - before) / Math.max(before, after);
}

function stepOf(grown: number): number {
	const size = Math.abs(grown);
	return Math.sign(grown) * (size > 0.5 ? 3 : size > 0.2 ? 2 : 1);
}

// From -3, much smaller, to 3, much larger; 0 is no change.
export function changeStep(shares: Shares): number {
	const step = stepOf(growth(shares));
	return Math.abs(step) === 3 && Math.abs(shares.after - shares.before) <= CLEAR ? step - Math.sign(step) : step;
}

// The same for several samples, by the mean of how their functions have grown.
export function meanStep(mean: number): number {
	return Math.abs(mean) < LEAST_MEAN ? 0 : stepOf(mean);
}

export class Comparison {
	private readonly found = new Map<number, number>(); // function of the base for each of the other
	private readonly others = new WeakMap<Nodes, { twin: Twin | undefined; sums: Sums }>();
	private readonly keptStacks = new Kept<Nodes>();
	private readonly keptGrowths = new Kept<Float64Array>();

	constructor(readonly main: Session, readonly base: Session, readonly earlier = false) {}

	// The names of both, the earlier one first.
	get names(): [string, string] {
		const [main, base] = [this.main.recording.header.name, this.base.recording.header.name];
		return this.earlier ? [main, base] : [base, main];
	}

	// Shares of the base and of the recording that is looked at.
	ordered(base: number, main: number): Shares {
		return this.earlier ? { before: main, after: base } : { before: base, after: main };
	}

	// The same function of the base, or NONE.
	baseFunc(func: number): number {
		let found = this.found.get(func);
		if (found === undefined) {
			const { recording } = this.main;
			const exact = this.base.recording.functionOf(`${recording.name(func)}\u0000${recording.objectOf(func)}`);
			found = exact === NONE ? this.base.recording.functionOf(recording.name(func)) : exact;
			this.found.set(func, found);
		}
		return found;
	}

	// Whether the object of a function is the same file in both, so that its addresses mean the same.
	async isSameBuild(func: number): Promise<boolean> {
		const other = this.baseFunc(func);
		if (other === NONE) return true;
		const [own, before] = [await this.main.recording.buildIdOf(func), await this.base.recording.buildIdOf(other)];
		return own !== "" && own === before;
	}

	private baseTransform(transform: Transform): Transform {
		const { main, base } = this;
		const kind = (one: number) => base.recording.header.kinds.findIndex((other) => other.name === main.recording.header.kinds[one]?.name);
		return {
			key: transform.key,
			...(transform.func === undefined ? {} : { func: this.baseFunc(transform.func) }),
			...(transform.path === undefined ? {} : { path: transform.path.map((func) => this.baseFunc(func)) }),
			...(transform.object === undefined ? {} : { object: base.recording.objectNamed(main.recording.string(main.recording.objectName[transform.object] ?? 0)) }),
			...(transform.kind === undefined ? {} : { kind: kind(transform.kind) }),
		};
	}

	// Whether the base was brought in line once.
	isReady = false;

	// Brings the state of the base in line; what did not change stays, so that nothing is computed again.
	async sync(): Promise<void> {
		const { main: { state, recording }, base } = this;
		const name = recording.header.events[state.event]?.name;
		const event = base.recording.header.events.findIndex((one) => one.name === name);
		const transforms = state.transforms.map((one) => this.baseTransform(one));
		if (JSON.stringify(transforms) !== JSON.stringify(base.state.transforms)) base.state.transforms = transforms;
		Object.assign(base.state, { weight: state.weight, inlined: state.inlined, invert: state.invert, event: Math.max(event, 0) });
		await base.readEvent();
		this.isReady = true;
	}

	// Says which nodes of the base are those of the same kind, and of which sums the nodes are; undefined: there are none.
	pair(nodes: Nodes, base: Nodes | undefined, sums = this.main.sums): void {
		if (this.others.get(nodes)?.twin?.other === base && this.others.has(nodes)) return;
		this.others.set(nodes, { twin: base && new Twin(nodes, base, (func) => this.baseFunc(func)), sums });
	}

	// Whether nodes can be compared.
	has(nodes: Nodes): boolean {
		if (nodes === this.main.nodes) this.pair(nodes, this.base.nodes);
		return this.others.has(nodes);
	}

	// Shares of the whole that a path has in both.
	shares(nodes: Nodes, node: number): Shares {
		const { main, base } = this;
		const value = this.has(nodes) ? this.others.get(nodes)?.twin?.value(node) ?? 0 : 0;
		const { sums } = this.others.get(nodes) ?? main;
		return this.ordered(value / Math.max(base.sums.all, 1), nodes.value(node) / Math.max(sums.all, 1));
	}

	// ---- over time: of the selection at all times, so that nothing changes its colour while a time is selected ----

	// Nodes that are the rows of the recording's stacks.
	get stacks(): Nodes {
		const { main: { atAllTimes: { sums } }, base } = this;
		return this.keptStacks.of([sums, base.sums], () => {
			const made = new DownwardNodes(sums);
			this.pair(made, new DownwardNodes(base.sums), sums);
			return made;
		});
	}

	// Shares of a function's own samples.
	selfShares(func: number): Shares {
		const { main: { atAllTimes: { sums, functions } }, base } = this;
		const other = func === NONE ? NONE : this.baseFunc(func);
		return this.ordered(other === NONE ? 0 : base.functions.self[other] / Math.max(base.sums.all, 1),
			func === NONE ? 0 : functions.self[func] / Math.max(sums.all, 1));
	}

	// How much the functions have grown that samples are of, by leaf.
	get growths(): Float64Array {
		const { main: { atAllTimes: { functions }, stage: { tree, leafRow } }, base } = this;
		return this.keptGrowths.of([functions, leafRow, base.functions], () => {
			const byFunc = functions.self.map((self, func) => (self > 0 ? growth(this.selfShares(func)) : 0));
			return Float64Array.from(leafRow, (row) => (row > ROOT ? byFunc[tree.func[row]] : 0));
		});
	}

	// Shares of self of each function after, less what they were before.
	selfChanges(): Float64Array {
		const { main, base } = this;
		const [all, allBase] = [Math.max(main.sums.all, 1), Math.max(base.sums.all, 1)];
		return main.functions.self.map((self, func) => {
			const other = main.functions.total[func] > 0 ? this.baseFunc(func) : NONE;
			const { before, after } = this.ordered(other === NONE ? 0 : base.functions.self[other] / allBase, self / all);
			return after - before;
		});
	}

	// Functions of either recording by their own shares, or by their totals.
	functions(ofTotal: boolean): Change[] {
		const { main, base } = this;
		const pick = ({ functions }: Session) => (ofTotal ? functions.total : functions.self);
		const [mains, bases] = [pick(main), pick(base)];
		const [all, allBase] = [Math.max(main.sums.all, 1), Math.max(base.sums.all, 1)];
		const changes: Change[] = [];
		const seen = new Set<number>();
		for (let func = 0; func < mains.length; func++) {
			const other = main.functions.total[func] > 0 ? this.baseFunc(func) : NONE;
			if (main.functions.total[func] === 0) continue;
			const known = other !== NONE && !seen.has(other);
			if (known) seen.add(other);
			changes.push({ name: main.recording.name(func), object: main.recording.objectOf(func), func,
				...this.ordered(known ? bases[other] / allBase : 0, mains[func] / all) });
		}
		for (let func = 0; func < bases.length; func++) {
			if (bases[func] === 0 || seen.has(func)) continue;
			changes.push({ name: base.recording.name(func), object: base.recording.objectOf(func), func: NONE, ...this.ordered(bases[func] / allBase, 0) });
		}
		return changes.sort((one, other) => Math.abs(other.after - other.before) - Math.abs(one.after - one.before));
	}
}
