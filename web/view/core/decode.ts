// SPDX-License-Identifier: MIT
// The container of the page's data: a header in JSON, and columns of small numbers, each compressed by itself.
//
// Columns are inflated when they are asked for, so what no view needs costs nothing. The bytes may be damaged: an error says
// which column is wrong, and nothing is read beyond it.

export interface Column {
	readonly at: number;
	readonly size: number;
	readonly bytes: number;
	readonly count: number;
	readonly code: string;
	readonly value?: number | string;
}

const MAGIC = "PDPAGE1\n";
const VERSION = 3;
const START = MAGIC.length + 4;

export class FormatError extends Error {}

// Writing and reading a stream by hand is faster than Response.arrayBuffer().
async function inflate(block: Uint8Array, size: number): Promise<Uint8Array> {
	const stream = new DecompressionStream("gzip");
	const writer = stream.writable.getWriter();
	const reader = stream.readable.getReader();
	const out = new Uint8Array(size);
	// What is wrong with the block comes out of the reading end.
	writer.write(block).then(() => writer.close()).catch(() => undefined);
	let used = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done) break;
		if (used + value.length > size) throw new FormatError("longer than it says");
		out.set(value, used);
		used += value.length;
	}
	if (used !== size) throw new FormatError("shorter than it says");
	return out;
}

// Numbers have 7 bits in a byte, the lowest first, and go on behind bytes above 127. The first bytes of all of them come first, then
// the second bytes of those that go on, and so on: where each begins.
function placesOf(raw: Uint8Array, count: number, most: number): Int32Array {
	const starts = [0];
	let end = count;
	for (let at = 0, going = count; going > 0; starts.push(end), end += going) {
		if (end > raw.length) throw new FormatError("it ends early");
		going = 0;
		for (; at < end; at++) going += raw[at] >> 7;
		if (going > 0 && starts.length === most) throw new FormatError("a number is too large");
		if (going === 0) break;
	}
	return Int32Array.from(starts);
}

// Numbers below 2^31.
function smallNumbers(raw: Uint8Array, count: number): Int32Array {
	const out = new Int32Array(count);
	const next = placesOf(raw, count, 5);
	for (let index = 0; index < count; index++) {
		let byte = raw[index];
		let value = byte & 127;
		for (let place = 1; byte > 127; place++) {
			byte = raw[next[place]++];
			value |= (byte & 127) << (7 * place);
		}
		out[index] = value;
	}
	return out;
}

export type Numbers = Int16Array | Int32Array | Float64Array;

export type Kind<T extends Numbers> = { new(length: number): T; readonly BYTES_PER_ELEMENT: number };

// What numbers of a kind of columns are less than.
function limitOf({ BYTES_PER_ELEMENT: bytes }: { readonly BYTES_PER_ELEMENT: number }): number {
	return bytes === 8 ? Infinity : 2 ** (8 * bytes - 1);
}

// Numbers of up to 53 bits; false: they do not fit. With `sum` each is added to the one before; with `signed` it may be negative.
function largeNumbers(raw: Uint8Array, out: Numbers, sum: boolean, signed: boolean): boolean {
	const count = out.length;
	const next = placesOf(raw, count, 8);
	const limit = limitOf(out);
	let last = 0;
	for (let index = 0; index < count; index++) {
		let byte = raw[index];
		let value = byte & 127;
		let scale = 128;
		for (let place = 1; byte > 127; place++) {
			byte = raw[next[place]++];
			value += (byte & 127) * scale;
			scale *= 128;
		}
		if (signed) value = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
		last = sum ? last + value : value;
		if (last >= limit || last < -limit) return false;
		out[index] = last;
	}
	return true;
}

function wideNumbers(raw: Uint8Array, count: number): BigUint64Array {
	const out = new BigUint64Array(count);
	const next = placesOf(raw, count, 10);
	for (let index = 0; index < count; index++) {
		let byte = raw[index];
		let value = BigInt(byte & 127);
		for (let place = 1; byte > 127; place++) {
			byte = raw[next[place]++];
			value |= BigInt(byte & 127) << BigInt(7 * place);
		}
		out[index] = BigInt.asUintN(64, value);
	}
	return out;
}

// Numbers that are bytes.
function smallest(raw: Uint8Array, count: number): Uint8Array {
	if (raw.length !== count) throw new FormatError(`it has ${raw.length} numbers`);
	return raw;
}

function decoded<T extends Numbers>(raw: Uint8Array, { code, count }: Column, kinds: readonly Kind<T>[]): T {
	for (const kind of kinds) {
		const out = new kind(count);
		if (code === "b") out.set(smallest(raw, count));
		else if (code === "w" && limitOf(kind) < Infinity) continue;
		else if (code === "w") wideNumbers(raw, count).forEach((value, index) => (out[index] = Number(value)));
		else if (!largeNumbers(raw, out, code !== "u", code === "d")) continue;
		return out;
	}
	throw new FormatError("a number is too large");
}

export class Container {
	readonly header: Record<string, unknown>;
	private readonly columns: Record<string, Column>;
	private readonly blocks: number;

	constructor(private readonly bytes: Uint8Array) {
		const magic = String.fromCharCode(...bytes.subarray(0, MAGIC.length));
		if (magic !== MAGIC) throw new FormatError("this is no data of a perfdata page");
		const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(MAGIC.length, true);
		this.blocks = START + size;
		if (this.blocks > bytes.length) throw new FormatError("the header is cut off");
		this.header = JSON.parse(new TextDecoder().decode(bytes.subarray(START, this.blocks))) as Record<string, unknown>;
		if (Number(this.header["version"]) !== VERSION)
			throw new FormatError(`data of version ${String(this.header["version"])} needs another page than this one, which is of version ${VERSION}`);
		this.columns = (this.header["columns"] ?? {}) as Record<string, Column>;
	}

	has(name: string): boolean {
		return Object.hasOwn(this.columns, name);
	}

	count(name: string): number {
		return this.has(name) ? this.columns[name].count : 0;
	}

	private async block(name: string, column: Column): Promise<Uint8Array> {
		const begin = this.blocks + column.at;
		if (!(begin + column.size <= this.bytes.length)) throw new FormatError(`${name}: beyond the end of the data`);
		return inflate(this.bytes.subarray(begin, begin + column.size), column.bytes);
	}

	private async read<T>(name: string, empty: (count: number, value: number) => T,
		decode: (raw: Uint8Array, column: Column) => T, count: number): Promise<T> {
		if (!this.has(name)) return empty(count, 0);
		const column = this.columns[name];
		if (column.code === "c") return empty(column.count, Number(column.value));
		try {
			return decode(await this.block(name, column), column);
		} catch (error) {
			throw error instanceof FormatError ? new FormatError(`${name}: ${error.message}`) : error;
		}
	}

	// Whole numbers below 2^31; `count` values of zero if there is no such column.
	ints(name: string, count = 0): Promise<Int32Array> {
		return this.read(name, (length, value) => new Int32Array(length).fill(value), (raw, column) => {
			if (column.code === "u") return smallNumbers(raw, column.count);
			return decoded(raw, column, [Int32Array]);
		}, count);
	}

	// Whole numbers in the first of some kinds of columns, from small to large, that they all fit into.
	numbers<T extends Numbers>(name: string, kinds: readonly Kind<T>[], count = 0): Promise<T> {
		return this.read(name, (length, value) => {
			const kind = kinds.find((one) => value < limitOf(one)) ?? kinds[kinds.length - 1];
			return new kind(length).fill(value) as T;
		}, (raw, column) => decoded(raw, column, kinds), count);
	}

	floats(name: string, count = 0): Promise<Float64Array> {
		return this.numbers(name, [Float64Array], count);
	}

	wides(name: string, count = 0): Promise<BigUint64Array> {
		return this.read(name, (length, value) => new BigUint64Array(length).fill(BigInt(value)),
			(raw, column) => wideNumbers(raw, column.count), count);
	}

	bytesOf(name: string, count = 0): Promise<Uint8Array> {
		return this.read(name, (length, value) => new Uint8Array(length).fill(value), (raw, column) =>
			column.code === "b" ? smallest(raw, column.count) : Uint8Array.from(smallNumbers(raw, column.count)), count);
	}

	strings(name: string): Promise<string[]> {
		return this.read(name, (length) => new Array<string>(length).fill(""), (raw, column) =>
			new TextDecoder().decode(raw).split("\0").slice(0, column.count), 0);
	}

	// The one value of a column that has the same everywhere; undefined if it has several.
	constant(name: string): number | undefined {
		if (!this.has(name)) return 0;
		return this.columns[name].code === "c" ? Number(this.columns[name].value) : undefined;
	}
}

// The text of the data element: containers in base64, a comma between two.
export function containersOf(text: string): Container[] {
	return text.split(",").filter((part) => part.trim() !== "").map((part) => new Container(fromBase64(part.trim())));
}

function fromBase64(text: string): Uint8Array {
	const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
	if (native) return native.call(Uint8Array, text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index);
	return bytes;
}
