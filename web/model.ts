// SPDX-License-Identifier: MIT
// The tree of a flame graph: what is in the page's data, and totals for an event and a part of the time.
//
// Nodes are numbered so that a node comes before what is below it, and that follows at once: the branch of node n is
// n up to end[n]. Node 0 is above all stacks. Sums and walks are loops over numbers, without recursion.

interface FlameData {
	title: string;
	unit: string; // of all events together; "": they do not add up
	units: string[]; // by event
	reverse: boolean;
	inverted: boolean;
	leftOut: number;
	sliceCount: number; // 0: the time is not known
	sliceSeconds: number;
	start: string; // seconds of the file's clock
	events: string[];
	facts: { text: string; bad: boolean }[];
	names: string[];
	frameName: number[]; // by frame: indices of names
	frameObject: number[];
	frameKind: string; // a letter for each frame
	nodeFrame: number[]; // by node, from 1 on
	nodeUp: number[]; // how many levels up before this node; 0: it is below the node before
	valueStep: number[]; // by value: how many nodes on from the one of the value before
	value: number[];
	valueEvent: number[]; // empty: there is one event
	valueSlice: number[]; // empty: there is one slice
}

const NO_NODE = -1;
const ALL_EVENTS = -1;

// A number that is there: indices come from the data's own arrays.
function at(numbers: ArrayLike<number>, index: number): number {
	return numbers[index] as number;
}

class Model {
	readonly count: number;
	readonly frame: Int32Array; // -1 for node 0
	readonly parent: Int32Array;
	readonly depth: Int32Array;
	readonly end: Int32Array;
	readonly self: Float64Array;
	readonly total: Float64Array;
	readonly x: Float64Array; // where it begins, in units of values
	private readonly valueNode: Int32Array;
	event = ALL_EVENTS;
	first = 0; // slices of time, both belong to it
	last: number;

	constructor(readonly data: FlameData) {
		this.count = data.nodeFrame.length + 1;
		this.frame = new Int32Array(this.count).fill(-1);
		this.parent = new Int32Array(this.count);
		this.depth = new Int32Array(this.count);
		this.end = new Int32Array(this.count);
		this.self = new Float64Array(this.count);
		this.total = new Float64Array(this.count);
		this.x = new Float64Array(this.count);
		this.valueNode = new Int32Array(data.value.length);
		this.last = Math.max(data.sliceCount - 1, 0);
		this.link();
	}

	private link(): void {
		let before = 0;
		for (let node = 1; node < this.count; node++) {
			for (let up = at(this.data.nodeUp, node - 1); up > 0; up--) {
				this.end[before] = node;
				before = at(this.parent, before);
			}
			this.frame[node] = at(this.data.nodeFrame, node - 1);
			this.parent[node] = before;
			this.depth[node] = at(this.depth, before) + 1;
			before = node;
		}
		for (; before !== 0; before = at(this.parent, before)) this.end[before] = this.count;
		this.end[0] = this.count;
		let node = 0;
		this.data.valueStep.forEach((step, index) => {
			node += step;
			this.valueNode[index] = node;
		});
	}

	get unit(): string {
		return (this.event === ALL_EVENTS ? this.data.unit : this.data.units[this.event]) ?? "";
	}

	// Sums for the event and the slices that are chosen now.
	sum(): void {
		const { value, valueEvent, valueSlice } = this.data;
		this.self.fill(0);
		for (let index = 0; index < value.length; index++) {
			if (this.event !== ALL_EVENTS && (valueEvent[index] ?? 0) !== this.event) continue;
			const slice = valueSlice[index] ?? 0;
			if (slice < this.first || slice > this.last) continue;
			this.self[at(this.valueNode, index)] += at(value, index);
		}
		this.total.set(this.self);
		for (let node = this.count - 1; node > 0; node--)
			this.total[at(this.parent, node)] += at(this.total, node);
		const used = new Float64Array(this.count);
		for (let node = 1; node < this.count; node++) {
			const parent = at(this.parent, node);
			this.x[node] = at(this.x, parent) + at(used, parent);
			used[parent] += at(this.total, node);
		}
	}

	// How much there is in each slice of time, of the event that is chosen.
	density(): Float64Array {
		const { value, valueEvent, valueSlice } = this.data;
		const sums = new Float64Array(Math.max(this.data.sliceCount, 1));
		for (let index = 0; index < value.length; index++) {
			if (this.event === ALL_EVENTS || (valueEvent[index] ?? 0) === this.event)
				sums[valueSlice[index] ?? 0] += at(value, index);
		}
		return sums;
	}

	name(node: number): string {
		return node === 0 ? "all" : this.frameName(at(this.frame, node));
	}

	frameName(frame: number): string {
		return this.data.names[at(this.data.frameName, frame)] ?? "";
	}

	// Name of the object that a node's code is in; "" if it has none.
	object(node: number): string {
		return node === 0 ? "" : this.data.names[at(this.data.frameObject, at(this.frame, node))] ?? "";
	}

	kind(node: number): string {
		return node === 0 ? "t" : this.data.frameKind.charAt(at(this.frame, node));
	}

	// The first child at or behind index that has something; NO_NODE if there is none.
	child(node: number, index = node + 1): number {
		for (const end = at(this.end, node); index < end; index = at(this.end, index))
			if (at(this.total, index) > 0) return index;
		return NO_NODE;
	}

	// The sibling in front of a node, or behind it, that has something; NO_NODE if there is none.
	sibling(node: number, step: 1 | -1): number {
		if (node === 0) return NO_NODE;
		const parent = at(this.parent, node);
		if (step > 0) return this.child(parent, at(this.end, node));
		let before = NO_NODE;
		for (let index = this.child(parent); index !== node && index !== NO_NODE;) {
			before = index;
			index = this.child(parent, at(this.end, index));
		}
		return before;
	}

	// The largest child; NO_NODE if there is none.
	largest(node: number): number {
		let best = NO_NODE;
		for (let index = this.child(node); index !== NO_NODE; index = this.child(node, at(this.end, index)))
			if (best === NO_NODE || at(this.total, index) > at(this.total, best)) best = index;
		return best;
	}

	isBelow(node: number, above: number): boolean {
		return node >= above && node < at(this.end, above);
	}

	// Nodes from the root to a node.
	path(node: number): number[] {
		const nodes = [node];
		while (node !== 0) {
			node = at(this.parent, node);
			nodes.unshift(node);
		}
		return nodes;
	}

	// Frames whose names match, a byte for each.
	find(pattern: RegExp): Uint8Array {
		const found = new Uint8Array(this.data.frameKind.length);
		const names = new Map<number, boolean>();
		for (let frame = 0; frame < found.length; frame++) {
			const name = at(this.data.frameName, frame);
			let matches = names.get(name);
			if (matches === undefined) {
				matches = pattern.test(this.data.names[name] ?? "");
				names.set(name, matches);
			}
			found[frame] = matches ? 1 : 0;
		}
		return found;
	}

	// What stacks with a frame that was found have in a branch, each stack once, and the outermost nodes that have it.
	found(frames: Uint8Array, node: number): { value: number; nodes: number[] } {
		const nodes: number[] = [];
		let value = 0;
		for (let index = node, end = at(this.end, node); index < end;) {
			if (index !== 0 && at(frames, at(this.frame, index)) && at(this.total, index) > 0) {
				value += at(this.total, index);
				nodes.push(index);
				index = at(this.end, index);
			} else {
				index++;
			}
		}
		return { value, nodes };
	}
}
