// SPDX-License-Identifier: MIT
// Reads what was dropped, away from the page: here files are read synchronously, as the library wants them.

import { Scratch, Sliced } from "./files";
import { Dropped, Kind, kindOf, Library, RECORDINGS_MOST } from "./library";
import type { Opened, Picked, Request, Response } from "./messages";
import { normal } from "./wasi";

declare class FileReaderSync {
	readAsArrayBuffer(part: Blob): ArrayBuffer;
}

const scope = globalThis as unknown as {
	onmessage: (event: MessageEvent<Request>) => void;
	postMessage(message: Response, transfer?: Transferable[]): void;
};
let library: Library;

// What is sent to a closed port is gone at once. Else the blocks of a large file would wait for the garbage collector, a gigabyte of them.
function trash(): (bytes: Uint8Array) => void {
	const { port1, port2 } = new MessageChannel();
	port2.close();
	return (bytes) => port1.postMessage(null, [bytes.buffer as ArrayBuffer]);
}

function bytesOf(file: File): Sliced {
	const reader = new FileReaderSync();
	return new Sliced(file.size, (from, to) => new Uint8Array(reader.readAsArrayBuffer(file.slice(from, to))), trash());
}

interface Given extends Dropped {
	readonly kind: Kind;
	readonly time: number;
	readonly indices: readonly number[]; // of its files
}

function given({ file, path }: Picked, index: number): Given & { path: string } {
	const bytes = bytesOf(file);
	return { indices: [index], path, name: file.name, bytes, time: file.lastModified, kind: kindOf({ name: file.name, bytes }) };
}

// A folder with a recording named "data" is one recording, as perf record writes it with several files.
function joined(files: readonly (Given & { path: string })[]): Given[] {
	const folders = files.filter(({ kind, path }) => kind === "recording" && path.endsWith("/data")).map(({ path }) => path.slice(0, -"data".length));
	const folderOf = (path: string) => folders.find((folder) => path.startsWith(folder));
	const whole = folders.map((folder): Given => {
		const own = files.filter(({ path }) => folderOf(path) === folder);
		const main = own.find(({ path }) => path === `${folder}data`) as Given;
		return { ...main, name: folder.slice(0, -1).replace(/.*\//, ""), indices: own.flatMap(({ indices }) => indices),
			parts: own.map(({ path, bytes }) => ({ name: path.slice(folder.length), bytes })) };
	});
	return [...whole, ...files.filter(({ path }) => folderOf(path) === undefined)];
}

// Recordings that are dropped take the place of those that were there; the first files are the new ones.
function newest(recordings: readonly Given[], fresh: number): Given[] {
	const some = recordings.some(({ indices: [first = 0] }) => first < fresh);
	return recordings.filter(({ indices: [first = 0] }) => !some || first < fresh).sort((one, other) => one.time - other.time);
}

async function createLibrary(module: WebAssembly.Module): Promise<Library> {
	let told = 0;
	return Library.create(module, (done, total) => {
		const now = performance.now();
		if (now - told < 100) return;
		told = now;
		scope.postMessage({ kind: "progress", done, total });
	});
}

function openAll(recordings: readonly Given[], noData: boolean): { opened: Given[]; refused: string[] } {
	const opened: Given[] = [], refused: string[] = [];
	for (const one of recordings) {
		const why = opened.length < RECORDINGS_MOST ? library.open(opened.length, one, noData) : "two recordings are shown at most";
		if (why === "") opened.push(one);
		else refused.push(why.includes(one.name) ? why : `${one.name}: ${why}`);
	}
	return { opened, refused };
}

async function open({ module, files, fresh, noData }: Request & { kind: "open" }): Promise<Opened> {
	const all = joined(files.map(given));
	library = await createLibrary(module);
	// archives of symbols look like bundles
	const known = all.filter((one) => one.kind === "recording" || (one.kind === "packed" && (all.length === 1 || library.isRecording(one))));
	const recordings = newest(known, fresh);
	const symbols = all.filter((one) => !known.includes(one));
	library.addSymbols(symbols);
	const { opened, refused } = openAll(recordings, noData);
	return { kind: "opened", refused, kept: [...opened, ...symbols].flatMap(({ indices }) => indices),
		opened: opened.map(({ name }, index) => ({ name, data: (noData ? new Uint8Array(0) : library.data(index)).buffer as ArrayBuffer })) };
}

const answer = ({ data }: MessageEvent<Request>) => {
	if (data.kind === "open") {
		open(data).then((answer) => scope.postMessage(answer, answer.opened.map((one) => one.data)),
			(error: unknown) => scope.postMessage({ kind: "failed", message: String(error) }));
		return;
	}
	try {
		const { code, type, body } = library.ask(data.index, data.path);
		scope.postMessage({ kind: "answer", id: data.id, code, type, body: body.buffer as ArrayBuffer }, [body.buffer as ArrayBuffer]);
	} catch (error) {
		const body = new TextEncoder().encode(JSON.stringify({ error: String(error) })).buffer as ArrayBuffer;
		scope.postMessage({ kind: "answer", id: data.id, code: 500, type: "application/json", body });
	}
};

// Elsewhere, under node, it only gives its parts to tests.
if (typeof FileReaderSync === "undefined") Object.assign(globalThis, { perfdataSite: { Library, Sliced, Scratch, kindOf, normal } });
else scope.onmessage = answer;
