// SPDX-License-Identifier: MIT
// The library in WebAssembly: what was dropped goes in, the data of the page and answers to its requests come out. See site.c.

import { Bytes } from "./files";
import { System } from "./wasi";

export type Kind = "recording" | "packed" | "object" | "kallsyms" | "vmlinux" | "symbols";

export interface Dropped {
	readonly name: string;
	readonly bytes: Bytes;
	readonly parts?: readonly Dropped[]; // of a recording that is a folder: all its files, by their paths in it
}

export interface Answer {
	readonly code: number;
	readonly type: string;
	readonly fileName: string;
	readonly body: Uint8Array;
}

interface Exports {
	readonly memory: WebAssembly.Memory;
	_initialize(): void;
	site_alloc(size: number): number;
	site_free(at: number): void;
	site_kallsyms(path: number): void;
	site_vmlinux(path: number): void;
	site_root(path: number): void;
	site_archive(path: number): void;
	site_object(path: number): number;
	readonly __stack_pointer: WebAssembly.Global;
	site_read_name(name: number): number;
	site_try(path: number): number;
	site_open(index: number, path: number, name: number, noData: boolean): number;
	site_message(): number;
	site_data(index: number): void;
	site_ask(index: number, words: number, size: number): void;
	site_answer(): number;
}

// Thrown through the library, see src/deps/cxa_wasi.c.
class Enough extends Error {}

const ANYWHERE = "objects"; // the folder in which symbols are found by the names of files
const IN = "in";
export const RECORDINGS_MOST = 2;

function startsWith(bytes: Uint8Array, ...first: (number | string)[]): boolean {
	return first.some((begin) => (typeof begin === "string" ? [...begin].every((letter, index) => bytes[index] === letter.charCodeAt(0))
		: bytes[0] === begin >>> 8 && bytes[1] === (begin & 255)));
}

// What a file is by its name and first bytes. What is compressed, or a tar file, can be a recording: whether it is one turns out
// when it is opened.
export function kindOf({ name, bytes }: Dropped): Kind {
	const first = new Uint8Array(512);
	bytes.read(0, first);
	if (startsWith(first, "\x7fELF")) return /^vmlinux(?!.*\.(ko|so))/.test(name) ? "vmlinux" : "object";
	if (startsWith(first, "PERF", "2ELIFREP", "ELIFFREP", "SIMPLEPERF")) return "recording";
	if (startsWith(first, 0x1f8b, 0x28b5, "\xfd7zXZ", "BZh") || String.fromCharCode(...first.subarray(257, 262)) === "ustar") return "packed";
	const text = String.fromCharCode(...first);
	if (/kallsyms/.test(name) && /^[0-9a-f]+ \w /.test(text)) return "kallsyms";
	return "symbols";
}

export class Library {
	private constructor(private readonly system: System, private readonly exports: Exports) {}

	static async create(module: WebAssembly.Module, progress: (done: number, total: number) => void): Promise<Library> {
		const system = new System(ANYWHERE);
		let exports: Exports;
		const enough = () => {
			throw new Enough();
		};
		const guard = (name: number): number => {
			const stack: unknown = exports.__stack_pointer.value;
			try {
				return exports.site_read_name(name);
			} catch (error) {
				if (!(error instanceof Enough)) throw error;
				exports.__stack_pointer.value = stack;
				return 1;
			}
		};
		const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: system.imports, page: { progress, guard, enough } });
		exports = instance.exports as unknown as Exports;
		system.memory = exports.memory;
		exports._initialize();
		return new Library(system, exports);
	}

	// A copy in the memory of the library, which stays there.
	private text(text: string): number {
		const bytes = new TextEncoder().encode(`${text}\0`);
		const at = this.exports.site_alloc(bytes.length);
		new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
		return at;
	}

	private textAt(at: number): string {
		if (at === 0) return "";
		const bytes = new Uint8Array(this.exports.memory.buffer);
		return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
	}

	// Makes symbols known that recordings opened from now on use; what of them is of no use, by name.
	addSymbols(files: readonly (Dropped & { kind: Kind })[]): void {
		for (const { name, bytes, kind } of files) {
			const path = `${ANYWHERE}/${name}`;
			this.system.add(path, bytes);
			if (kind === "kallsyms") this.exports.site_kallsyms(this.text(`/${path}`));
			else if (kind === "vmlinux") this.exports.site_vmlinux(this.text(`/${path}`));
			else if (kind === "packed") this.exports.site_archive(this.text(`/${path}`));
			if (kind === "object" || kind === "vmlinux") this.exports.site_object(this.text(`/${path}`));
		}
		if (files.some(({ kind }) => kind !== "packed")) this.exports.site_root(this.text(`/${ANYWHERE}`));
	}

	get memory(): number {
		return this.exports.memory.buffer.byteLength;
	}

	isRecording({ name, bytes }: Dropped): boolean {
		this.system.add(`${IN}/${name}`, bytes);
		return this.exports.site_try(this.text(`/${IN}/${name}`)) === 0;
	}

	// Why it is no recording that can be shown; empty if it can. noData: only requests are answered.
	open(index: number, { name, bytes, parts }: Dropped, noData = false): string {
		const path = `/${IN}/${index}/${name}`;
		if (parts) for (const part of parts) this.system.addTo(path, part.name, part.bytes);
		else this.system.add(path, bytes);
		return this.exports.site_open(index, this.text(path), this.text(name), noData) === 0 ? "" : this.textAt(this.exports.site_message());
	}

	private answer(): Answer {
		const { buffer } = this.exports.memory;
		const [code = 0, type = 0, fileName = 0, body = 0, size = 0] = new Uint32Array(buffer, this.exports.site_answer(), 5);
		return { code, type: this.textAt(type), fileName: this.textAt(fileName), body: new Uint8Array(buffer.slice(body, body + size)) };
	}

	data(index: number): Uint8Array {
		this.exports.site_data(index);
		return this.answer().body;
	}

	// A request as in docs/page.md: "records?from=5".
	ask(index: number, request: string): Answer {
		const [path = "", query = ""] = request.split("?", 2);
		const words = [path, ...[...new URLSearchParams(query)].flat()].map((word) => word.replace(/\0/g, "")).join("\0");
		const at = this.text(words);
		this.exports.site_ask(index, at, new TextEncoder().encode(words).length + 1);
		this.exports.site_free(at);
		return this.answer();
	}
}
