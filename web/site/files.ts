// SPDX-License-Identifier: MIT
// Bytes that the library reads by place: dropped files, read in slices, and what it writes for itself.

export interface Bytes {
	readonly size: number;
	read(at: number, into: Uint8Array): number; // how many bytes there were
}

// Reads a part of a file; what is there, if the file ends before.
export type Slice = (from: number, to: number) => Uint8Array;

interface Block {
	readonly from: number;
	readonly bytes: Uint8Array;
}

const SMALL = 64 << 10; // for one record or symbol
const LARGE = 4 << 20; // for what is read from its beginning to its end
const KEPT = 3; // blocks: a bundle is read at several places in turn

export class Sliced implements Bytes {
	private blocks: Block[] = []; // the last used one first

	// release: is given the blocks that are needed no more.
	constructor(readonly size: number, private readonly slice: Slice, private readonly release?: (bytes: Uint8Array) => void) {}

	read(at: number, into: Uint8Array): number {
		const wanted = Math.max(Math.min(into.length, this.size - at), 0);
		let done = 0;
		while (done < wanted) {
			const { from, bytes } = this.block(at + done);
			const part = bytes.subarray(at + done - from, at + wanted - from);
			if (part.length === 0) break;
			into.set(part, done);
			done += part.length;
		}
		return done;
	}

	private block(at: number): Block {
		const index = this.blocks.findIndex(({ from, bytes }) => at >= from && at < from + bytes.length);
		if (index >= 0) {
			const [found] = this.blocks.splice(index, 1) as [Block];
			this.blocks.unshift(found);
			return found;
		}
		const isNext = at === 0 || this.blocks.some(({ from, bytes }) => at === from + bytes.length);
		const made = { from: at, bytes: this.slice(at, Math.min(at + (isNext ? LARGE : SMALL), this.size)) };
		for (const { bytes } of this.blocks.splice(KEPT - 1)) this.release?.(bytes);
		this.blocks.unshift(made);
		return made;
	}
}

const PAGE = 1 << 20;

// A file in memory, outside of that of the library, which cannot have more than four gigabytes.
export class Scratch implements Bytes {
	size = 0;
	private readonly pages: (Uint8Array | undefined)[] = [];

	read(at: number, into: Uint8Array): number {
		const end = Math.min(at + into.length, this.size);
		for (let from = at; from < end;) {
			const to = Math.min(end, from - (from % PAGE) + PAGE);
			const page = this.pages[Math.floor(from / PAGE)];
			if (page) into.set(page.subarray(from % PAGE, from % PAGE + to - from), from - at);
			else into.fill(0, from - at, to - at);
			from = to;
		}
		return Math.max(end - at, 0);
	}

	write(at: number, bytes: Uint8Array): void {
		for (let done = 0; done < bytes.length;) {
			const from = at + done;
			const page = (this.pages[Math.floor(from / PAGE)] ??= new Uint8Array(PAGE));
			const part = bytes.subarray(done, done + PAGE - from % PAGE);
			page.set(part, from % PAGE);
			done += part.length;
		}
		this.size = Math.max(this.size, at + bytes.length);
	}

	resize(size: number): void {
		this.pages.length = Math.min(this.pages.length, Math.ceil(size / PAGE));
		if (size % PAGE > 0) this.pages[Math.floor(size / PAGE)]?.fill(0, size % PAGE);
		this.size = size;
	}
}
