// SPDX-License-Identifier: MIT
// The page into which recordings are dropped: a worker reads them with the library, and the page of perfdata view shows what comes
// of it. The policy of this page allows no request whatever.

import { Container } from "../view/core/decode";
import { show } from "../view/show";
import { button, el, renewPage } from "../view/ui/dom";
import { save } from "../view/ui/save";
import type { Server } from "../view/ui/view";
import type { Opened, Picked, Request, Response as Message } from "./messages";
import { chosenFiles, droppedFiles } from "./picked";

// What stands in an element of the page, which is emptied: its megabytes would stay else.
function takeText(id: string): string {
	const element = document.getElementById(id) as HTMLElement;
	const text = element.textContent ?? "";
	element.remove();
	return text;
}

async function compileLibrary(): Promise<WebAssembly.Module> {
	const packed = Uint8Array.from(atob(takeText("library").trim()), (letter) => letter.charCodeAt(0));
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip") as unknown as ReadableWritablePair<Uint8Array, Uint8Array>);
	return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

// Workers, with each of which ends the memory of its library: the first one makes the data, and another one begins when there is a
// request that it has to answer.
class Reader implements Server {
	readonly texts = ["info", "check", "report.txt", "script"];
	private worker: Worker | undefined;
	private opening: (Request & { kind: "open" }) | undefined;
	private answering: Promise<void> | undefined;
	private isEnded = false;
	private readonly waiting = new Map<number, (answer: Response) => void>();
	private asked = 0;

	constructor(private readonly program: string, private readonly progress: (done: number, total: number) => void) {}

	async open(module: WebAssembly.Module, files: readonly Picked[], fresh: number): Promise<Opened> {
		try {
			const opened = await this.start({ kind: "open", module, files, fresh, noData: false });
			// no others: one that could not be read would be opened where there is no data
			const kept = opened.kept.map((index) => files[index] as Picked);
			this.opening = { kind: "open", module, files: kept, fresh: kept.length, noData: true };
			return opened;
		} finally {
			this.worker?.terminate();
		}
	}

	// The next request tries again if it fails.
	private async startAnswering(): Promise<void> {
		if (this.isEnded || !this.opening) throw new Error("another recording is shown");
		try {
			await this.start(this.opening);
		} catch (error) {
			this.worker?.terminate();
			this.answering = undefined;
			throw error;
		}
	}

	private start(request: Request): Promise<Opened> {
		const worker = (this.worker = new Worker(this.program));
		return new Promise((done, failed) => {
			worker.onerror = (event) => failed(new Error(event.message || "the worker failed"));
			worker.onmessage = ({ data }: MessageEvent<Message>) => {
				if (data.kind === "progress") this.progress(data.done, data.total);
				else if (data.kind === "opened") done(data);
				else if (data.kind === "failed") failed(new Error(data.message));
				else this.answered(data);
			};
			worker.postMessage(request);
		});
	}

	private answered({ id, code, type, body }: Message & { kind: "answer" }): void {
		this.waiting.get(id)?.(new Response(body, { status: code, headers: { "Content-Type": type } }));
		this.waiting.delete(id);
	}

	// As of the server of perfdata view: of two recordings the second one has paths that end in /1.
	async fetch(path: string): Promise<Response> {
		const id = this.asked++;
		const second = /^([^/?]*)\/1(?=\?|$)/.exec(path);
		const request: Request = { kind: "ask", id, index: second ? 1 : 0, path: second ? `${second[1]}${path.slice(second[0].length)}` : path };
		await (this.answering ??= this.startAnswering());
		return new Promise((done) => {
			this.waiting.set(id, done);
			this.worker?.postMessage(request);
		});
	}

	download(path: string, name: string): void {
		void this.fetch(path).then((answer) => answer.blob()).then((blob) => save(name, blob));
	}

	end(): void {
		this.isEnded = true;
		this.worker?.terminate();
	}
}

class Site {
	private readonly program = URL.createObjectURL(new Blob([takeText("worker")], { type: "text/javascript" }));
	private readonly module = compileLibrary();
	private files: Picked[] = [];
	private reader: Reader | undefined;
	private turn = 0; // what was dropped last is what counts

	constructor() {
		window.addEventListener("dragover", (event) => {
			event.preventDefault();
			document.body.classList.add("over");
		});
		window.addEventListener("dragleave", () => document.body.classList.remove("over"));
		window.addEventListener("drop", (event) => {
			event.preventDefault();
			document.body.classList.remove("over");
			droppedFiles(event.dataTransfer).then((files) => this.take(files), (error: unknown) => this.ask([error instanceof Error ? error.message : String(error)]));
		});
		this.ask([]);
	}

	private picker(label: string, isFolder: boolean): HTMLElement {
		const input = el("input", { type: "file", multiple: true });
		input.webkitdirectory = isFolder;
		input.addEventListener("change", () => void this.take(chosenFiles(input.files)));
		return el("label", { class: "pick" }, label, input);
	}

	private ask(refused: readonly string[]): void {
		document.title = "perfdata";
		document.body.replaceChildren(el("section", { class: "drop" }, el("h1", {}, "Drop a perf.data here"),
			el("p", {}, "or the folder of one, or a bundle of perfdata pack; or two recordings, to compare them. Files compressed by zstd, gzip or xz are fine."),
			el("p", {}, "For names of functions, drop with it: programs and libraries, debug files, kallsyms, vmlinux, perf-PID.map, or an archive of perf archive."),
			this.picker("Choose files\u2026", false), " ", this.picker("Choose a folder\u2026", true), ...refused.map((why) => el("p", { class: "refused" }, why)),
			el("p", { class: "soft" }, "Nothing is uploaded: the files are read in this page, which may make no requests. It works offline, too.")));
	}

	// Files that are no recordings are added to what is shown.
	async take(files: readonly Picked[]): Promise<void> {
		if (files.length === 0) return;
		const turn = ++this.turn;
		const bar = el("progress", { "aria-label": "Reading" });
		renewPage();
		document.body.replaceChildren(el("section", { class: "drop" }, el("h1", {}, "Reading\u2026"), bar));
		this.reader?.end();
		const reader = (this.reader = new Reader(this.program, (done, total) => {
			if (total > 0) Object.assign(bar, { max: total, value: done });
		}));
		try {
			const opened = await reader.open(await this.module, [...files, ...this.files], files.length);
			if (turn === this.turn) await this.show(reader, opened, files);
		} catch (error) {
			if (turn === this.turn) this.ask([error instanceof Error ? error.message : String(error)]);
		}
	}

	private async show(reader: Reader, { opened, refused, kept }: Opened, files: readonly Picked[]): Promise<void> {
		const all = [...files, ...this.files];
		this.files = kept.map((index) => all[index] as Picked);
		if (opened.length === 0) return this.ask(refused.length > 0 ? refused : ["There is no recording among these files: drop them together with one."]);
		const page = await show(opened.map(({ data }) => new Container(new Uint8Array(data))), reader);
		document.querySelector("header.top")?.append(button("Open\u2026", "Another recording, or more symbols: they can be dropped anywhere, too", () => this.ask([])));
		if (refused.length > 0) page.app.say(refused.join("; "));
	}
}

Object.assign(globalThis, { perfdataSite: new Site() });
