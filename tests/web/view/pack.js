// SPDX-License-Identifier: MIT
// Writes the data of a page from a description of a recording, for tests: the container of docs/page.md.
"use strict";
const zlib = require("zlib");

// LEB128: all first bytes, all second bytes, and so on.
function placesOf(numbers) {
	const places = [Buffer.alloc(numbers.length)];
	const used = [0];
	for (let value of numbers) {
		for (let place = 0; ; place++) {
			if (place === places.length) {
				places.push(Buffer.alloc(numbers.length));
				used.push(0);
			}
			places[place][used[place]++] = value > 127 ? (value % 128) | 128 : value;
			if (!(value > 127)) break;
			value = Math.floor(value / 128);
		}
	}
	return Buffer.concat(places.map((place, index) => place.subarray(0, used[index])));
}

const zigzag = (value) => (value < 0 ? -2 * value - 1 : 2 * value);

function encode(code, values) {
	if (code === "s") return Buffer.from(values.map((text) => `${text}\0`).join(""), "utf8");
	if (code === "b") return Buffer.from(values);
	const step = (value, index) => value - (index > 0 ? Number(values[index - 1]) : 0);
	return placesOf(Float64Array.from(values, (one, index) => {
		const value = Number(one);
		return code === "t" ? step(value, index) : code === "d" ? zigzag(step(value, index)) : value;
	}));
}

// columns: { name: [code, values] }; of code "c" [code, [value, count]].
function container(header, columns) {
	const blocks = [];
	const listed = {};
	let at = 0;
	for (const [name, [code, values]] of Object.entries(columns)) {
		if (code === "c") {
			listed[name] = { at: 0, size: 0, bytes: 0, count: values[1], code, value: values[0] };
			continue;
		}
		const raw = encode(code, values);
		const block = zlib.gzipSync(raw, { level: 6 });
		listed[name] = { at, size: block.length, bytes: raw.length, count: values.length, code };
		blocks.push(block);
		at += block.length;
	}
	const head = Buffer.from(JSON.stringify({ format: "perfdata-page", version: 3, ...header, columns: listed }), "utf8");
	const start = Buffer.from("PDPAGE1\n    ");
	start.writeUInt32LE(head.length, 8);
	return Buffer.concat([start, head, ...blocks]);
}

// Stacks get rows in depth-first order; `stacks` are lists of numbers of functions, from the root.
function rowsOf(stacks) {
	const root = { children: new Map(), row: -1 };
	const nodes = stacks.map((stack) => {
		let node = root;
		for (const func of stack) {
			if (!node.children.has(func)) node.children.set(func, { children: new Map(), row: -1, func });
			node = node.children.get(func);
		}
		return node;
	});
	const parent = [];
	const func = [];
	const todo = [[root, -1]];
	while (todo.length > 0) {
		const [node, above] = todo.pop();
		if (node !== root) {
			node.row = parent.length;
			parent.push(above < 0 ? 0 : node.row - above);
			func.push(node.func);
		}
		for (const child of [...node.children.values()].reverse()) todo.push([child, node.row]);
	}
	return { parent, func, rowOfStack: nodes.map((node) => node.row) };
}

const KINDS = [{ name: "kernel", letter: "k" }, { name: "user", letter: "u" }, { name: "library", letter: "l" },
	{ name: "jit", letter: "j" }, { name: "unknown", letter: "?" }];

// profile: { functions: [[name, object, kind letter]], tasks: [[pid, tid, comm]], events: [{ name, unit, samples: [[time, task, cpu, stack,
// weight]] }] }, with stacks as lists of numbers of functions.
function recording(profile) {
	const strings = [""];
	const numbers = new Map([["", 0]]);
	const string = (text) => {
		if (!numbers.has(text)) numbers.set(text, strings.push(text) - 1);
		return numbers.get(text);
	};
	const objects = ["", ...new Set(profile.functions.map((one) => one[1]).filter((name) => name !== ""))];
	const keys = new Map();
	for (const event of profile.events)
		for (const sample of event.samples) keys.set(sample[3].join(), { stack: sample[3], count: (keys.get(sample[3].join())?.count ?? 0) + 1 });
	const leaves = [...keys.entries()].sort((one, other) => other[1].count - one[1].count);
	const leafOf = new Map(leaves.map(([key], index) => [key, index]));
	const rows = rowsOf(leaves.map(([, leaf]) => leaf.stack));
	const columns = {
		"objects.name": ["u", objects.map(string)],
		"functions.name": ["u", profile.functions.map((one) => string(one[0]))],
		"functions.object": ["u", profile.functions.map((one) => objects.indexOf(one[1]))],
		"functions.kind": ["b", profile.functions.map((one) => Math.max(KINDS.findIndex((kind) => kind.letter === one[2]), 0))],
		"rows.parent": ["u", rows.parent], "rows.function": ["u", rows.func], "rows.inlined": ["c", [0, rows.parent.length]],
		"leaves.row": ["u", rows.rowOfStack.map((row) => row + 1)],
		"tasks.pid": ["u", profile.tasks.map((one) => one[0])], "tasks.tid": ["u", profile.tasks.map((one) => one[1])],
		"tasks.comm": ["u", profile.tasks.map((one) => string(one[2]))],
		"tasks.process": ["u", profile.tasks.map((one) => string(one[2]))],
		"threads.task": ["u", profile.tasks.map((_, index) => index)],
		"threads.comm": ["u", profile.tasks.map((one) => string(one[2]))],
	};
	profile.events.forEach((event, index) => {
		const column = (at) => event.samples.map((one) => one[at]);
		columns[`samples.${index}.time`] = ["t", column(0)];
		columns[`samples.${index}.thread`] = ["d", column(1)];
		columns[`samples.${index}.cpu`] = ["u", column(2).map((cpu) => cpu + 1)];
		columns[`samples.${index}.leaf`] = ["u", column(3).map((stack) => leafOf.get(stack.join()))];
		columns[`samples.${index}.weight`] = ["u", column(4)];
		if (profile.cgroups) columns[`samples.${index}.cgroup`] = ["u", column(5)]; // numbers in cgroups, and 1
	});
	if (profile.cgroups) columns["cgroups.path"] = ["u", profile.cgroups.map(string)];
	columns["strings"] = ["s", strings];
	const count = profile.events.reduce((sum, event) => sum + event.samples.length, 0);
	const last = Math.max(...profile.events.flatMap((event) => event.samples.map((one) => one[0])), 0);
	return container({
		perfdata: "0.1.0", name: profile.name ?? "made.data", fingerprint: "0123456789abcdef",
		recording: { command: "made", host: "here", os: "6.1.0", arch: "x86_64", cpu: null, cpus: 2, version: "6.1" },
		time: { unit_ns: 1, start: "1000000000", end: String(1000000000 + last), wall: null },
		events: profile.events.map((event) => ({ name: event.name, unit: event.unit ?? "events", samples: event.samples.length,
			sum: String(event.samples.reduce((sum, one) => sum + one[4], 0)), period: true })),
		truth: { samples: count, read: count, lost: 0, lost_samples: 0, throttled: 0, truncated: 0, unknown: 0, damaged: 0, copied: 0 },
		findings: [], kinds: KINDS, markers: profile.markers ?? [], intervals: [], counters: [], omitted: {}, counts: {},
		...profile.header,
	}, { ...columns, ...profile.columns });
}

module.exports = { container, recording, rowsOf, KINDS };
