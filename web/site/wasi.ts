// SPDX-License-Identifier: MIT
// The operating system of the library: a folder of files to be read, one for its own temporary files, and nothing else.
// Numbers and structs are those of WASI preview 1.

import { Bytes, Scratch } from "./files";

enum Code { OK = 0, BADF = 8, EXIST = 20, INVAL = 28, IO = 29, ISDIR = 31, NOENT = 44, NOSYS = 52, NOTDIR = 54, ROFS = 69 }
enum Kind { DEVICE = 2, FOLDER = 3, FILE = 4 }

const OPEN_CREATE = 1, OPEN_FOLDER = 2, OPEN_NEW = 4, OPEN_EMPTY = 8;
const WRITE = 1n << 6n; // of rights
const ROOT = 3; // the descriptor of the only folder that is open from the beginning
const TEMPORARY = "tmp/";

interface Open {
	readonly path: string;
	readonly bytes: Bytes | undefined; // of a folder: none
	at: number;
}

// "a//b/../c/." becomes "a/c".
export function normal(path: string): string {
	const parts: string[] = [];
	for (const part of path.split("/")) {
		if (part === "..") parts.pop();
		else if (part !== "" && part !== ".") parts.push(part);
	}
	return parts.join("/");
}

export class Exit extends Error {}

export class System {
	memory!: WebAssembly.Memory; // set when the library is there
	output = ""; // what it printed
	private readonly files = new Map<string, Bytes>();
	private readonly folders = new Map<string, Set<string>>(); // of recordings: what is in them
	private readonly numbers = new WeakMap<Bytes, number>(); // by which files are told apart
	private numbered = 0;
	private readonly open = new Map<number, Open>([[ROOT, { path: "", bytes: undefined, at: 0 }]]);

	// In a folder `anywhere` a file is found by its name alone, below whatever folders.
	constructor(private readonly anywhere: string) {}

	add(path: string, bytes: Bytes): void {
		this.files.set(normal(path), bytes);
	}

	// A file of a folder that can be listed.
	addTo(folder: string, path: string, bytes: Bytes): void {
		const whole = normal(`${folder}/${path}`);
		this.files.set(whole, bytes);
		for (let at = whole; at.length > normal(folder).length; at = at.slice(0, at.lastIndexOf("/"))) {
			const above = at.slice(0, at.lastIndexOf("/"));
			this.folders.set(above, (this.folders.get(above) ?? new Set()).add(at.slice(above.length + 1)));
		}
	}

	private find(path: string): Bytes | "folder" | undefined {
		const file = this.files.get(path);
		if (file) return file;
		if (path === "" || path === "tmp" || path === this.anywhere || this.folders.has(path)) return "folder";
		if (!path.startsWith(`${this.anywhere}/`)) return undefined;
		return this.files.get(`${this.anywhere}/${path.slice(path.lastIndexOf("/") + 1)}`) ?? "folder";
	}

	// ---- what the library sees ----

	private get view(): DataView {
		return new DataView(this.memory.buffer); // another one after the memory grew
	}

	private bytes(at: number, size: number): Uint8Array {
		return new Uint8Array(this.memory.buffer, at, size);
	}

	private path(folder: number, at: number, size: number): string {
		const text = new TextDecoder().decode(this.bytes(at, size));
		return normal(`${this.open.get(folder)?.path ?? ""}/${text}`);
	}

	// Calls for each buffer until one is not filled; the sum.
	private each(list: number, count: number, one: (buffer: Uint8Array, before: number) => number): number {
		let sum = 0;
		for (let i = 0; i < count; i++) {
			const buffer = this.bytes(this.view.getUint32(list + 8 * i, true), this.view.getUint32(list + 8 * i + 4, true));
			const got = one(buffer, sum);
			sum += got;
			if (got < buffer.length) break;
		}
		return sum;
	}

	private transfer(fd: number, list: number, count: number, at: bigint | undefined, out: number, isWrite: boolean): Code {
		const open = this.open.get(fd);
		if (!open) return Code.BADF;
		const { bytes } = open;
		if (!bytes) return Code.ISDIR;
		if (isWrite && !(bytes instanceof Scratch)) return Code.ROFS;
		const from = at === undefined ? open.at : Number(at);
		const sum = this.each(list, count, (buffer, before) => {
			if (!isWrite) return bytes.read(from + before, buffer);
			(bytes as Scratch).write(from + before, buffer);
			return buffer.length;
		});
		if (at === undefined) open.at += sum;
		this.view.setUint32(out, sum, true);
		return Code.OK;
	}

	private print(list: number, count: number, out: number): Code {
		const sum = this.each(list, count, (buffer) => {
			this.output += new TextDecoder().decode(buffer.slice());
			return buffer.length;
		});
		this.view.setUint32(out, sum, true);
		return Code.OK;
	}

	private numberOf(bytes: Bytes): number {
		let number = this.numbers.get(bytes);
		if (number === undefined) this.numbers.set(bytes, (number = ++this.numbered));
		return number;
	}

	private about(out: number, found: Bytes | "folder"): Code {
		const { view } = this;
		this.bytes(out, 64).fill(0);
		view.setBigUint64(out + 8, BigInt(found === "folder" ? 0 : this.numberOf(found)), true);
		view.setUint8(out + 16, found === "folder" ? Kind.FOLDER : Kind.FILE);
		view.setBigUint64(out + 24, 1n, true);
		view.setBigUint64(out + 32, BigInt(found === "folder" ? 0 : found.size), true);
		return Code.OK;
	}

	private openPath(folder: number, at: number, size: number, how: number, rights: bigint, out: number): Code {
		const path = this.path(folder, at, size);
		let found = this.find(path);
		if (found && (how & OPEN_NEW) !== 0) return Code.EXIST;
		if (!found && (how & OPEN_CREATE) !== 0) {
			if (!path.startsWith(TEMPORARY)) return Code.ROFS;
			found = new Scratch();
			this.files.set(path, found);
		}
		if (!found) return Code.NOENT;
		if (found !== "folder" && (how & OPEN_FOLDER) !== 0) return Code.NOTDIR;
		if (found === "folder" && (rights & WRITE) !== 0n) return Code.ISDIR;
		if (found instanceof Scratch && (how & OPEN_EMPTY) !== 0) found.resize(0);
		let fd = ROOT + 1;
		while (this.open.has(fd)) fd++;
		this.open.set(fd, { path, bytes: found === "folder" ? undefined : found, at: 0 });
		this.view.setUint32(out, fd, true);
		return Code.OK;
	}

	private seek(fd: number, offset: bigint, whence: number, out: number): Code {
		const open = this.open.get(fd);
		if (!open?.bytes) return Code.BADF;
		const at = Number(offset) + (whence === 0 ? 0 : whence === 1 ? open.at : open.bytes.size);
		if (at < 0) return Code.INVAL;
		open.at = at;
		this.view.setBigUint64(out, BigInt(at), true);
		return Code.OK;
	}

	private describe(fd: number, out: number): Code {
		const open = this.open.get(fd);
		if (!open && fd > 2) return Code.BADF;
		this.bytes(out, 24).fill(0);
		this.view.setUint8(out, open ? (open.bytes ? Kind.FILE : Kind.FOLDER) : Kind.DEVICE);
		this.view.setBigUint64(out + 8, ~0n, true);
		this.view.setBigUint64(out + 16, ~0n, true);
		return Code.OK;
	}

	// Entries from a number on: that of the next one, a number of the file, length and kind of the name, the name; the last one may be cut.
	// In other folders than those of recordings files are found by name only.
	private list(fd: number, buffer: number, size: number, first: number, out: number): Code {
		const open = this.open.get(fd);
		if (!open || open.bytes) return Code.BADF;
		const names = [...this.folders.get(open.path) ?? []];
		let used = 0;
		for (let index = first; index < names.length && used < size; index++) {
			const name = new TextEncoder().encode(names[index]);
			const isFile = this.files.has(`${open.path}/${names[index]}`);
			const entry = new Uint8Array(24 + name.length);
			const view = new DataView(entry.buffer);
			view.setBigUint64(0, BigInt(index + 1), true);
			view.setBigUint64(8, BigInt(index + 1), true);
			view.setUint32(16, name.length, true);
			view.setUint8(20, isFile ? Kind.FILE : Kind.FOLDER);
			entry.set(name, 24);
			const part = entry.subarray(0, size - used);
			this.bytes(buffer + used, part.length).set(part);
			used += part.length;
		}
		this.view.setUint32(out, used, true);
		return Code.OK;
	}

	private remove(folder: number, at: number, size: number): Code {
		const path = this.path(folder, at, size);
		if (!path.startsWith(TEMPORARY)) return Code.ROFS;
		return this.files.delete(path) ? Code.OK : Code.NOENT; // who has it open keeps it
	}

	// A file that changed or was removed since it was dropped cannot be read.
	private guarded(act: () => Code): Code {
		try {
			return act();
		} catch (error) {
			this.output += `${String(error)}\n`;
			return Code.IO;
		}
	}

	get imports(): Record<string, (...values: never[]) => number> {
		const refuse = () => Code.ROFS;
		return {
			clock_time_get: (_clock: number, _precision: bigint, out: number) => {
				this.view.setBigUint64(out, BigInt(Math.round(performance.now() * 1000)) * 1000n, true);
				return Code.OK;
			},
			fd_close: (fd: number) => (this.open.delete(fd) ? Code.OK : Code.BADF),
			fd_fdstat_get: (fd: number, out: number) => this.describe(fd, out),
			fd_fdstat_set_flags: () => Code.OK,
			fd_filestat_get: (fd: number, out: number) => {
				const open = this.open.get(fd);
				return open ? this.about(out, open.bytes ?? "folder") : Code.BADF;
			},
			fd_filestat_set_size: (fd: number, size: bigint) => {
				const bytes = this.open.get(fd)?.bytes;
				if (!(bytes instanceof Scratch)) return Code.ROFS;
				bytes.resize(Number(size));
				return Code.OK;
			},
			fd_filestat_set_times: () => Code.OK,
			fd_pread: (fd: number, list: number, count: number, at: bigint, out: number) =>
				this.guarded(() => this.transfer(fd, list, count, at, out, false)),
			fd_prestat_get: (fd: number, out: number) => {
				if (fd !== ROOT) return Code.BADF;
				this.view.setUint32(out, 0, true);
				this.view.setUint32(out + 4, 1, true);
				return Code.OK;
			},
			fd_prestat_dir_name: (_fd: number, out: number) => {
				this.view.setUint8(out, "/".charCodeAt(0));
				return Code.OK;
			},
			fd_pwrite: (fd: number, list: number, count: number, at: bigint, out: number) =>
				this.transfer(fd, list, count, at, out, true),
			fd_read: (fd: number, list: number, count: number, out: number) =>
				this.guarded(() => this.transfer(fd, list, count, undefined, out, false)),
			fd_readdir: (fd: number, buffer: number, size: number, cookie: bigint, out: number) => this.list(fd, buffer, size, Number(cookie), out),
			fd_seek: (fd: number, offset: bigint, whence: number, out: number) => this.seek(fd, offset, whence, out),
			fd_tell: (fd: number, out: number) => this.seek(fd, 0n, 1, out),
			fd_write: (fd: number, list: number, count: number, out: number) =>
				fd <= 2 ? this.print(list, count, out) : this.transfer(fd, list, count, undefined, out, true),
			path_create_directory: refuse,
			path_filestat_get: (folder: number, _flags: number, at: number, size: number, out: number) => {
				const found = this.find(this.path(folder, at, size));
				return found ? this.about(out, found) : Code.NOENT;
			},
			path_open: (folder: number, _follow: number, at: number, size: number, how: number, rights: bigint, _inherited: bigint,
				_flags: number, out: number) => this.openPath(folder, at, size, how, rights, out),
			path_readlink: () => Code.INVAL,
			path_remove_directory: refuse,
			path_rename: refuse,
			path_unlink_file: (folder: number, at: number, size: number) => this.remove(folder, at, size),
			proc_exit: (code: number) => {
				throw new Exit(`the library ended with ${code}: ${this.output.slice(-500)}`);
			},
			random_get: (at: number, size: number) => {
				for (let done = 0; done < size; done += 65536) crypto.getRandomValues(this.bytes(at + done, Math.min(size - done, 65536)));
				return Code.OK;
			},
		};
	}
}
