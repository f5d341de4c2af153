// SPDX-License-Identifier: MIT
// Asks the library of a site, under node, as the worker of its page does.
//
// usage: node ask.js PAGE REQUEST RECORDING [SYMBOLS...]   for each line of standard input that has these words as a list in JSON:
// prints a line {"answer": text, "open_ms", "ask_ms", "memory": bytes of the library, "size": bytes of the page's data} or {"error": text}.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const readline = require("node:readline");
const vm = require("node:vm");
const zlib = require("node:zlib");

const page = fs.readFileSync(process.argv[2], "utf8");
const part = (id) => new RegExp(`<script type="[^"]*" id="${id}">([^<]*(?:<(?!/script)[^<]*)*)</script>`).exec(page)[1];
vm.runInThisContext(part("worker"), { filename: "worker.js" });
const { Library, Sliced, kindOf } = globalThis.perfdataSite;

function dropped(file) {
	const fd = fs.openSync(file);
	const slice = (from, to) => {
		const bytes = new Uint8Array(to - from);
		return bytes.subarray(0, fs.readSync(fd, bytes, 0, to - from, from));
	};
	const one = { name: path.basename(file), bytes: new Sliced(fs.fstatSync(fd).size, slice) };
	return { ...one, kind: kindOf(one), close: () => fs.closeSync(fd) };
}

async function ask(module, [request, recording, ...symbols]) {
	const files = [recording, ...symbols].map(dropped);
	const library = await Library.create(module, () => undefined);
	library.addSymbols(files.slice(1));
	const begin = process.cpuUsage();
	const why = library.open(0, files[0]);
	const opened = process.cpuUsage(begin);
	if (why !== "") return { error: why };
	const { body } = library.ask(0, request);
	const asked = process.cpuUsage(begin);
	const result = { answer: new TextDecoder().decode(body), open_ms: (opened.user + opened.system) / 1000,
		ask_ms: (asked.user + asked.system - opened.user - opened.system) / 1000, memory: library.memory, size: library.data(0).length };
	for (const file of files) file.close();
	return result;
}

async function main() {
	const module = await WebAssembly.compile(zlib.gunzipSync(Buffer.from(part("library"), "base64")));
	for await (const line of readline.createInterface({ input: process.stdin })) {
		const answer = await ask(module, JSON.parse(line)).catch((error) => ({ error: `it failed: ${error.stack}` }));
		process.stdout.write(`${JSON.stringify(answer)}\n`);
	}
}

main();
