#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Writes the data of a page of many made-up samples, to measure with: about 100,000 distinct stacks with 676,000 rows,
// 12,000 functions and 1600 threads, as 35 s of a machine that compiles have.
//
// usage: large.js SAMPLES OUT.page
//        large.js SAMPLES OUT.html VIEW.BUILT.HTML   the whole page
"use strict";
const fs = require("fs");
const { container, rowsOf, KINDS } = require("./pack.js");

const [count, out, template] = [Number(process.argv[2]), process.argv[3], process.argv[4]];
const FUNCTIONS = 12000;
const LEAVES = 98500;
const THREADS = 1606;

let seed = 12345;
function random() {
	seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
	return seed / 4294967296;
}
const skewed = (limit) => Math.floor(limit * random() ** 3);

// Stacks that share their beginnings: each leaves an earlier one at some depth and goes on by itself.
function stacksOf() {
	const stacks = [[0]];
	for (let index = 1; index < LEAVES; index++) {
		const other = stacks[Math.floor(random() * stacks.length)];
		const kept = 1 + Math.floor(random() * Math.min(other.length, 24));
		const stack = other.slice(0, kept);
		for (let more = 2 + Math.floor(random() * 12); more > 0; more--) stack.push(skewed(FUNCTIONS));
		stacks.push(stack);
	}
	return stacks;
}

const rows = rowsOf(stacksOf());
const rank = [...new Set(rows.rowOfStack)];
const time = new Float64Array(count);
const thread = new Int32Array(count);
const cpu = new Int32Array(count);
const leaf = new Int32Array(count);
const length = 35e6; // in microseconds
for (let index = 0; index < count; index++) {
	time[index] = Math.floor((index * length) / count);
	thread[index] = index % 3 === 0 ? skewed(THREADS) : thread[Math.max(index - 1, 0)];
	cpu[index] = 1 + (index % 8);
	leaf[index] = skewed(rank.length);
}
const strings = ["", "program", ...Array.from({ length: 40 }, (_, index) => `lib${index}.so`),
	...Array.from({ length: FUNCTIONS }, (_, index) => `namespace${index % 97}::function_${index}(int, char const*)`), "thread"];
const name = strings.length - 1;
const numbers = (length, value) => Array.from({ length }, (_, index) => value(index));
const data = container({
	name: `${count} samples`, fingerprint: String(count), recording: { command: "made up" },
	time: { unit_ns: 1000, start: "0", end: String(length * 1000), wall: null },
	events: [{ name: "cycles", unit: "samples", samples: count, sum: String(count), period: false }],
	truth: { samples: count, read: count }, findings: [], kinds: KINDS, markers: [], intervals: [], counters: [], omitted: { addresses: true },
}, {
	strings: ["s", strings], "objects.name": ["u", numbers(42, (index) => index)],
	"functions.name": ["u", numbers(FUNCTIONS, (index) => 42 + index)], "functions.object": ["u", numbers(FUNCTIONS, (index) => 1 + (index % 41))],
	"functions.kind": ["b", numbers(FUNCTIONS, (index) => index % 5)],
	"rows.parent": ["u", rows.parent], "rows.function": ["u", rows.func], "rows.inlined": ["c", [0, rows.parent.length]],
	"leaves.row": ["u", rank.map((row) => row + 1)],
	"tasks.pid": ["u", numbers(THREADS, (index) => 100 + Math.floor(index / 3))], "tasks.tid": ["u", numbers(THREADS, (index) => 100 + index)],
	"tasks.comm": ["c", [name, THREADS]], "tasks.process": ["c", [name, THREADS]],
	"threads.task": ["u", numbers(THREADS, (index) => index)], "threads.comm": ["c", [name, THREADS]],
	"samples.0.time": ["t", time], "samples.0.thread": ["d", thread], "samples.0.cpu": ["u", cpu], "samples.0.leaf": ["u", leaf],
	"samples.0.weight": ["c", [1, count]],
});
const text = (name) => fs.readFileSync(name, "utf8").replace("@@TITLE@@", `${count} samples`).replace("@@DATA@@", () => data.toString("base64"));
fs.writeFileSync(out, template ? text(template) : data);
console.log(`${count} samples, ${rows.parent.length} rows, ${rank.length} leaves, ${fs.statSync(out).size} bytes`);
