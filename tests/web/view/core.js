#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Holds what the page computes, from its data to the sums of each view, against models that do it stack by stack.
//
// usage: core.js VIEW.BUILT.HTML
// The script is taken out of the built page, so what is tested is what is shipped; without a document it only gives its core away.
"use strict";
const assert = require("assert");
const fs = require("fs");
const test = require("node:test");
const vm = require("vm");
const { recording: packed, container, rowsOf } = require("./pack.js");
const model = require("./model.js");

const page = fs.readFileSync(process.argv[2], "utf8");
const script = page.slice(page.lastIndexOf("<script>") + 8, page.lastIndexOf("</script>"));
const global = { TextDecoder, DecompressionStream, Uint8Array, Int32Array, Float64Array, BigUint64Array, DataView, atob, AbortController };
vm.runInNewContext(script, global);
const core = global.perfdataView;

// The worked example: stacks from the root with their weights.
const FUNCTIONS = [["A", "app", "u"], ["B", "app", "u"], ["C", "L", "k"], ["D", "L", "u"], ["E", "L", "k"]];
const EXAMPLE = [["ABC", 2], ["ABBC", 1], ["ABDBE", 3], ["AD", 1], ["DB", 1]];
const numbers = (text) => [...text].map((letter) => "ABCDE".indexOf(letter));

function samplesOf(stacks) {
	const samples = [];
	for (const [text, weight] of stacks)
		for (let index = 0; index < weight; index++) samples.push([samples.length * 10, samples.length % 2, samples.length % 2, numbers(text), 1]);
	return samples;
}

async function open(profile) {
	return core.recording.Recording.open(new core.decode.Container(packed(profile)));
}

async function session(profile) {
	return core.session.Session.open(await open(profile));
}

const example = () => ({
	functions: FUNCTIONS, tasks: [[1, 1, "one"], [1, 2, "two"]], events: [{ name: "cycles", samples: samplesOf(EXAMPLE) }],
});

// Stacks of a session with their weights, as texts.
function stacksOf(one, name) {
	const { sums, sums: { tree } } = one;
	const found = new Map();
	for (let row = 1; row < tree.count; row++) {
		if (sums.self(row) === 0) continue;
		const text = core.tree.pathOfRow(tree, row).map(name).join("");
		assert(!found.has(text), `${text} has two rows`);
		found.set(text, sums.self(row));
	}
	return found;
}

const KIND = { k: 0, u: 1 };
const [A, B, C, D, E] = [0, 1, 2, 3, 4];
const CASES = [
	["none", [], "ABC 2, ABBC 1, ABDBE 3, AD 1, DB 1", 0],
	["focus function B", [{ key: "ff", func: B }], "BC 2, BBC 1, BDBE 3, B 1", 1],
	["focus subtree A>B", [{ key: "fs", path: [A, B] }], "BC 2, BBC 1, BDBE 3", 2],
	["inverted, focus C<B", [{ key: "fi", path: [C, B] }], "AB 2, ABB 1", 5],
	["focus self B, all frames", [{ key: "fo", func: B }], "B 1", 7],
	["focus self B, user frames only", [{ key: "fo", func: B, kind: KIND.u }], "B 1, BC 3, BE 3", 1],
	["focus kind user", [{ key: "fk", kind: KIND.u }], "AB 2, ABB 1, ABDB 3, AD 1, DB 1", 0],
	["focus kind kernel", [{ key: "fk", kind: KIND.k }], "C 3, E 3", 2],
	["hide kind kernel", [{ key: "hk", kind: KIND.k }], "AB 2, ABB 1, ABDB 3, AD 1, DB 1", 0],
	["merge function B", [{ key: "mf", func: B }], "AC 3, ADE 3, AD 1, D 1", 0],
	["merge node A>B", [{ key: "mn", path: [A, B] }], "AC 2, ABC 1, ADBE 3, AD 1, DB 1", 0],
	["drop function D", [{ key: "df", func: D }], "ABC 2, ABBC 1", 5],
	["collapse object L", [{ key: "co", object: 2 }], "ABL 2, ABBL 1, ABLBL 3, AL 1, LB 1", 0],
	["collapse direct recursion B", [{ key: "rd", func: B }], "ABC 3, ABDBE 3, AD 1, DB 1", 0],
	["collapse recursion B", [{ key: "rr", func: B }], "ABC 3, ABE 3, AD 1, DB 1", 0],
	["collapse function B", [{ key: "cf", func: B }], "AB 6, AD 1, DB 1", 0],
	["merge B, then focus D", [{ key: "mf", func: B }, { key: "ff", func: D }], "DE 3, D 2", 3],
	["merge kernel, then drop B", [{ key: "hk", kind: KIND.k }, { key: "df", func: B }], "AD 1", 7],
];

test("each transform of the worked example", async () => {
	for (const [what, transforms, wanted, missing] of CASES) {
		const one = await session(example());
		one.state.transforms = transforms;
		const found = stacksOf(one, (func) => one.recording.name(func));
		const expected = new Map(wanted.split(", ").map((part) => [part.split(" ")[0], Number(part.split(" ")[1])]));
		assert.deepEqual([...found].sort(), [...expected].sort(), what);
		const { before, by } = one.taken();
		assert.equal(before.samples + by.reduce((sum, taken) => sum + taken.samples, 0), missing, `${what}: samples gone`);
		assert.equal(one.sums.all, 8 - missing, `${what}: sum`);
	}
});

// ---- against the model, with made-up stacks ----

function randomizer(seed) {
	return (limit) => {
		seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
		return Math.floor((seed / 4294967296) * limit);
	};
}

function madeUp(seed, functions, count, deepest) {
	const random = randomizer(seed);
	const samples = [];
	for (let index = 0; index < count; index++) {
		const stack = Array.from({ length: random(deepest + 1) }, () => random(functions));
		samples.push([index * 7 + random(7), random(4), random(3) - 1, stack, 1 + random(9), index % 3]);
	}
	return {
		functions: Array.from({ length: functions }, (_, index) => [`f${index}`, ["", "app", "lib"][index % 3], "ku"[index % 2]]),
		tasks: [[1, 1, "a"], [1, 2, "b"], [2, 2, "c"], [3, 3, "d"]],
		events: [{ name: "cycles", samples }],
		cgroups: ["/a", "/b~c"],
	};
}

function randomTransform(random, profile, functions) {
	const func = random(functions);
	const { stack } = { stack: profile.events[0].samples[random(profile.events[0].samples.length)][3] };
	const path = stack.slice(0, 1 + random(3));
	const choices = [
		{ key: "ff", func }, { key: "fo", func }, { key: "fo", func, kind: random(2) }, { key: "fk", kind: random(2) },
		{ key: "hk", kind: random(2) }, { key: "mf", func }, { key: "df", func }, { key: "co", object: random(3) }, { key: "rd", func },
		{ key: "rr", func }, { key: "cf", func },
	];
	if (path.length > 0) choices.push({ key: "fs", path }, { key: "mn", path }, { key: "fi", path: stack.slice(-1 - random(2)).reverse() });
	return choices[random(choices.length)];
}

test("transforms, one after the other, against the model", async () => {
	for (let seed = 1; seed <= 60; seed++) {
		const functions = 3 + (seed % 5);
		const profile = madeUp(seed, functions, 60, 6);
		const one = await session(profile);
		const random = randomizer(seed * 977);
		const transforms = Array.from({ length: 1 + random(3) }, () => randomTransform(random, profile, functions));
		one.state.transforms = transforms;
		one.state.weight = seed % 2 ? "samples" : "period";
		let samples = profile.events[0].samples.map((sample) => ({ stack: sample[3], weight: seed % 2 ? 1 : sample[4] }));
		const kinds = (func) => one.recording.kindOf(func);
		for (const transform of transforms) samples = model.applied(samples, transform, kinds, one.recording.functions);
		const what = `seed ${seed}: ${JSON.stringify(transforms)}`;
		assert.deepEqual([...stacksOf(one, (func) => `${func},`)].sort(), [...model.byStack(samples)].sort(), what);
		const sums = model.functionSums(samples);
		for (let func = 0; func < one.functions.self.length; func++) {
			assert.equal(one.functions.self[func], sums.self.get(func) ?? 0, `${what}: self of ${func}`);
			assert.equal(one.functions.total[func], sums.total.get(func) ?? 0, `${what}: total of ${func}`);
		}
	}
});

test("functions of one object below one function are one when it is collapsed", async () => {
	const one = await session({ functions: FUNCTIONS, tasks: [[1, 1, "one"]], events: [{ name: "cycles", samples: [["AC", 0], ["AD", 1], ["AB", 2], ["AE", 3]]
		.map(([text, time]) => [time, 0, 0, numbers(text), 1]) }] });
	one.state.transforms = [{ key: "co", object: one.recording.objectNamed("L") }];
	assert.deepEqual([...stacksOf(one, (func) => one.recording.name(func))], [["AL", 3], ["AB", 1]]);
});

test("what stands for an object is not inlined, and other functions are as before", async () => {
	const flags = { "rows.inlined": ["b", rowsOf(EXAMPLE.map(([text]) => numbers(text))).func.map(() => 1)] };
	const one = await session({ ...example(), columns: flags });
	one.state.transforms = [{ key: "co", object: one.recording.objectNamed("L") }];
	const { tree } = one.sums;
	assert.equal(stacksOf(one, (func) => one.recording.name(func)).get("ABLBL"), 3);
	for (let row = 1; row < tree.count; row++) assert.equal(tree.inlined[row], tree.func[row] < FUNCTIONS.length ? 1 : 0, `row ${row}`);
});

test("trees that take the memory of others, and one change later are looked at", async () => {
	for (let seed = 1; seed <= 10; seed++) {
		const profile = madeUp(seed, 6, 400, 7);
		const one = await session(profile);
		const random = randomizer(seed * 71);
		const name = (func) => `${func},`;
		let last = { sums: one.sums, stacks: stacksOf(one, name) };
		for (let change = 0; change < 30; change++) {
			const { transforms } = one.state;
			one.state.transforms = random(3) === 0 ? transforms.slice(0, -1) : [...transforms.slice(-2), randomTransform(random, profile, 6)];
			const fresh = await session(profile);
			fresh.state.transforms = one.state.transforms;
			const what = `seed ${seed}, change ${change}: ${JSON.stringify(one.state.transforms)}`;
			assert.deepEqual([...stacksOf(one, name)], [...stacksOf(fresh, name)], what);
			assert.deepEqual([...stacksOf(last, name)], [...last.stacks], `before ${what}`);
			last = { sums: one.sums, stacks: stacksOf(one, name) };
		}
	}
});

test("a tree that a stage without a tree of its own shares is not given away with it", async () => {
	const one = await session(madeUp(5, 6, 400, 7));
	const name = (func) => `${func},`;
	const [merged, ending, dropped] = [{ key: "mf", func: 1 }, { key: "fi", path: [2] }, { key: "df", func: 3 }];
	let sums, stacks;
	for (const transforms of [[merged, ending], [merged], [dropped]]) {
		one.state.transforms = transforms;
		const now = one.sums;
		if (sums) assert.deepEqual([...stacksOf({ sums }, name)], stacks, JSON.stringify(transforms));
		sums = now;
		stacks = [...stacksOf(one, name)];
	}
});

test("a tree that somebody looks at stays what it is, whatever comes after it", async () => {
	const profile = madeUp(3, 6, 400, 7);
	const one = await session(profile);
	const random = randomizer(3);
	const name = (func) => `${func},`;
	one.state.transforms = [{ key: "mf", func: 1 }];
	one.lookAt("a view");
	const { sums } = one;
	const stacks = stacksOf({ sums }, name);
	for (let change = 0; change < 30; change++) {
		one.state.transforms = [randomTransform(random, profile, 6)];
		void one.sums.tree.parent;
		assert.deepEqual([...stacksOf({ sums }, name)], [...stacks], `change ${change}`);
	}
	one.leave("a view");
	for (const func of [0, 2, 3]) {
		one.state.transforms = [{ key: "mf", func }];
		void one.sums.tree.parent;
	}
	one.state.transforms = [{ key: "mf", func: 1 }];
	assert.deepEqual([...stacksOf(one, name)], [...stacks], "made again");
});

test("what is made ready while trees change ends", async () => {
	const profile = madeUp(4, 6, 400, 7);
	for (let seed = 1; seed <= 4; seed++) {
		const one = await session(profile);
		const random = randomizer(seed);
		one.state.transforms = [{ key: "mf", func: 1 }];
		for (const _ of core.prepare.preparation(one))
			for (let change = 0; change < 5; change++) {
				one.state.transforms = [randomTransform(random, profile, 6)];
				void one.sums.tree.parent;
			}
		const fresh = await session(profile);
		fresh.state.transforms = one.state.transforms;
		assert.deepEqual([...stacksOf(one, String)], [...stacksOf(fresh, String)]);
	}
});

test("inverted trees, callers and callees against the model", async () => {
	for (let seed = 1; seed <= 20; seed++) {
		const profile = madeUp(seed, 4, 50, 5);
		const one = await session(profile);
		one.state.weight = "samples";
		one.state.invert = true;
		const samples = profile.events[0].samples.map((sample) => ({ stack: sample[3], weight: 1 }));
		const walk = (nodes, node, path, visit) => {
			for (const child of nodes.children(node)) {
				const below = [...path, nodes.func(child)];
				visit(below, nodes.value(child));
				walk(nodes, child, below, visit);
			}
		};
		walk(one.nodes, 0, [], (path, value) => assert.equal(value, model.endingWith(samples, path), `seed ${seed}: ${path}`));
		for (let func = 0; func < 4; func++) {
			walk(one.callers(func), 0, [], (path, value) => assert.equal(value, model.calledBy(samples, path), `callers ${path}`));
			walk(one.callees(func), 0, [], (path, value) => assert.equal(value, model.calling(samples, path), `callees ${path}`));
		}
	}
});

test("numbers are written as in English", () => {
	const random = randomizer(77);
	const some = Array.from({ length: 2000 }, () => (random(2) ? 1 : -1) * (random(1e9) * 10 ** (random(16) - 9)));
	for (const value of [0, 7, 999, 1000, -999, -1000, 999.5, 1234567, 0.4, 0.5, -2.5, 2 ** 53, 1e15, NaN, ...some])
		assert.equal(core.text.number(value), value.toLocaleString("en-US", { maximumFractionDigits: 0 }), String(value));
});

test("search, in whatever parts its texts are made", async () => {
	const profile = madeUp(4, 9, 100, 4);
	profile.functions[3][0] = "Operator New";
	for (const steps of [0, 2, 100]) {
		const one = await session(profile);
		for (let step = 0; step < steps; step++) one.searching.prepare(1);
		for (const [search, wanted] of [["f1", ["f1"]], ["operator", ["Operator New"]], ["Operator", ["Operator New"]], ["OPERATOR", []], ["new  oper", ["Operator New"]],
			["f app", ["f1", "f4", "f7"]], ["f", ["f0", "f1", "f2", "f4", "f5", "f6", "f7", "f8"]]]) {
			one.state.search = search;
			assert.deepEqual([...one.matches.keys()].filter((func) => one.matches[func] === 1 && func < 9).map((func) => one.recording.name(func)), wanted, search);
		}
	}
});

test("numbers of records keep all their digits", () => {
	const text = '{"a":[18446744073709551615,1,-9223372036854775808],"b":"1:18446744073709551615,\\"2,","c":0.1234567890123456789,"d":1e300}';
	assert.deepEqual(JSON.parse(JSON.stringify(core.text.exactJson(text))), { a: ["18446744073709551615", 1, "-9223372036854775808"],
		b: '1:18446744073709551615,"2,', c: 0.1234567890123456789, d: 1e300 });
});

test("what other times have, and threads of a function", async () => {
	const profile = madeUp(12, 5, 300, 4);
	const { samples } = profile.events[0];
	const one = await session(profile);
	one.state.weight = "samples";
	assert.equal(one.others, undefined);
	one.state.ranges = [{ from: 700, to: 1500 }];
	const inside = ([time]) => time >= 700 && time <= 1500;
	for (let func = 0; func < 5; func++) {
		const self = samples.filter((sample) => !inside(sample) && sample[3][sample[3].length - 1] === func).length;
		assert.equal(one.others.self[func], self, `self of ${func} at other times`);
		const wanted = new Map();
		for (const sample of samples)
			if (inside(sample) && sample[3].includes(func)) wanted.set(sample[1], (wanted.get(sample[1]) ?? 0) + 1);
		assert.deepEqual([...[...one.threadsOf(func)].pop()].sort(), [...wanted].sort(), `threads of ${func}`);
	}
});

// ---- changes ----

// How a function has grown between two lists of samples, in the model; the shares are of what has a stack.
function grownOf(before, after, func) {
	const [old, now] = [before, after].map((samples) => {
		const some = samples.filter((sample) => sample[3].length > 0);
		return some.filter((sample) => sample[3].at(-1) === func).length / some.length;
	});
	return Math.abs(now - old) < 0.0005 ? 0 : (now - old) / Math.max(old, now);
}

async function compared(earlier = false) {
	const [old, now] = [madeUp(21, 6, 300, 4), madeUp(22, 6, 500, 4)];
	old.functions[4][0] = "only before";
	const profiles = earlier ? [now, old] : [old, now];
	const [base, main] = await Promise.all(profiles.map(session));
	const both = new core.compare.Comparison(main, base, earlier);
	main.state.weight = "samples";
	await both.sync();
	const name = (profile) => profile.functions.map((one) => one[0]);
	const renamed = (profile, other) => profile.events[0].samples.map((sample) => [...sample.slice(0, 3), sample[3].map((func) => {
		const same = name(other).indexOf(name(profile)[func]);
		return same < 0 ? 100 + func : same;
	})]);
	// both with the numbers of functions of the one that is looked at
	const looked = profiles[1].events[0].samples;
	const others = renamed(profiles[0], profiles[1]);
	return { both, main, looked, grown: (func) => (earlier ? grownOf(looked, others, func) : grownOf(others, looked, func)) };
}

test("steps of a change", () => {
	const { changeStep, meanStep, growth } = core.compare;
	for (const [before, after, step] of [[0.1, 0.1, 0], [0.1, 0.1004, 0], [0, 0.0004, 0], [0, 0.001, 2], [0, 0.003, 3], [0.003, 0, -3],
		[0.1, 0.11, 1], [0.11, 0.1, -1], [0.1, 0.13, 2], [0.13, 0.1, -2], [0.1, 0.21, 3], [0.21, 0.1, -3]])
		assert.equal(changeStep({ before, after }), step, `from ${before} to ${after}`);
	assert.deepEqual([0.04, -0.04, 0.06, -0.06, 0.3, -0.3, 0.6, -1].map(meanStep), [0, 0, 1, -1, 2, -2, 3, -3]);
	assert.equal(growth({ before: 0.2, after: 0 }), -1);
	assert.equal(growth({ before: 0.1, after: 0.2 }), 0.5);
});

test("strips of the timeline have all samples of a window, up to its end", async () => {
	const one = await session(madeUp(9, 4, 3000, 3));
	const set = core.timeline.lanesOf(one, "process");
	for (const { from, to } of [one.whole, { from: 300, to: one.samples.time[2000] }])
		for (const width of [1, 10, 1000])
			for (const lane of set.lanes) {
				const wanted = [...set.order.subarray(lane.first, lane.end)].filter((index) => one.samples.time[index] >= from && one.samples.time[index] <= to).length;
				assert.equal(core.timeline.pixelsOf(set, lane, core.timeline.edgesOf(set, from, to, width)).reduce((sum, count) => sum + count, 0), wanted, `${lane.label} ${from} ${to} ${width}`);
			}
});

test("changes over time, against the model, looking at either recording", async () => {
	for (const earlier of [false, true]) {
		const { both, main, looked, grown } = await compared(earlier);
		main.state.ranges = [{ from: 200, to: 900 }]; // what is selected of the time plays no part
		const growths = [0, 1, 2, 3, 4, 5].map(grown);
		assert(growths.some((one) => one > 0.1) && growths.some((one) => one < -0.1) && growths.includes(earlier ? -1 : 1), `${growths}`);
		const near = (one, other, what) => assert(Math.abs(one - other) < 1e-9, `${what}: ${one} is not ${other}`);
		const meanOf = (samples) => samples.reduce((sum, sample) => sum + (sample[3].length > 0 ? growths[sample[3].at(-1)] : 0), 0) / Math.max(samples.length, 1);
		const tick = 1e6; // one time is a millisecond
		const columns = Math.floor((main.whole.to * tick) / 1e9) + 1;
		const sums = core.timeline.heatCells(main.samples, { range: undefined }, tick, columns, both.growths);
		const counts = core.timeline.heatCells(main.samples, { range: undefined }, tick, columns);
		for (let cell = 0; cell < columns * core.timeline.ROWS; cell++) {
			const there = looked.filter(([time]) => Math.floor(time / (1000 / core.timeline.ROWS)) === cell);
			assert.equal(counts[cell], there.length, `cell ${cell}`);
			near(sums[cell] / Math.max(counts[cell], 1), meanOf(there), `cell ${cell}`);
		}
		const set = core.timeline.lanesOf(main, "cpu");
		for (const lane of set.lanes) {
			const got = core.timeline.changesOf(set, lane, 0, 2000, 40, main.samples.leaf, both.growths);
			assert.deepEqual([...got.counts], [...core.timeline.pixelsOf(set, lane, core.timeline.edgesOf(set, 0, 2000, 40))]);
			got.means.forEach((mean, pixel) =>
				near(mean, meanOf(looked.filter(([time, , cpu]) => cpu === lane.cpu && time <= 2000 && Math.min(Math.floor(time / 50), 39) === pixel)), `CPU ${lane.cpu} pixel ${pixel}`));
		}
	}
});

test("stacks of the flame chart have the shares of the flame graph without a time range", async () => {
	const { both, main } = await compared();
	const { nodes } = main;
	const wanted = Array.from({ length: main.stage.tree.count }, (_, row) => both.shares(nodes, row));
	main.state.ranges = [{ from: 200, to: 900 }];
	assert.notEqual(main.nodes, nodes);
	wanted.forEach((shares, row) => assert.deepEqual(both.shares(both.stacks, row), shares, `row ${row}`));
});

test("code of two recordings, of the same build and of others", async () => {
	// function 0 has the addresses 16 and 32, which are lines 1 and 2; the other build has them 8 further on
	const build = (id, moved, samples) => {
		const leaf = samples.map(([at]) => at);
		return { ...example(), events: [{ name: "cycles", samples: samples.map(([, stack], index) => [index * 10, 0, 0, stack, 1]) }],
			columns: { strings: ["s", ["", "app", "L", "A", "B", "C", "D", "E", "one", "two", "src/a.c", id]],
				"objects.name": ["u", [0, 1, 2]], "objects.build_id": ["u", [0, 11, 0]], "functions.name": ["u", [3, 4, 5, 6, 7]],
				"tasks.comm": ["u", [8, 9]], "tasks.process": ["u", [8, 9]], "threads.comm": ["u", [8, 9]],
				"addresses.function": ["u", [0, 0]], "addresses.address": ["u", [16 + moved, 32 + moved]], "addresses.file": ["u", [10, 10]],
				"addresses.line": ["u", [1, 2]], "rows.parent": ["u", [0]], "rows.function": ["u", [0]], "rows.inlined": ["c", [0, 1]],
				"leaves.row": ["u", [1, 1]], "leaves.address": ["u", [1, 2]], "samples.0.leaf": ["u", leaf] } };
	};
	const samples = (first, second) => [...Array(first).fill([0, [0]]), ...Array(second).fill([1, [0]])];
	for (const [id, moved, way] of [["aa", 0, "instruction"], ["bb", 8, "line"], ["", 8, "line"]]) {
		const base = await session(build(id, moved, samples(3, 1)));
		const main = await session(build("aa", 0, samples(2, 6)));
		const changes = await core.code.codeChanges(new core.compare.Comparison(main, base), 0);
		assert.equal(changes.way, way);
		for (const [address, place, before, after] of [[16n, "a.c:1", 3 / 4, 2 / 8], [32n, "a.c:2", 1 / 4, 6 / 8]])
			assert.deepEqual(JSON.parse(JSON.stringify(changes.shares(address, place))), { before, after }, `${id}: ${address}`);
		assert.equal(changes.shares(48n, "") === undefined, way === "line", "no line, no change");
		assert.equal(changes.gone.length, 0);
	}
	const gone = await core.code.codeChanges(new core.compare.Comparison(await session(build("aa", 0, samples(2, 0))), await session(build("aa", 0, samples(1, 4)))), 0);
	assert.deepEqual(gone.gone.map((one) => [one.address, one.samples]), [[32n, 4]]);
});

test("rates of a counter, and marks by lane and pixel", async () => {
	const profile = madeUp(8, 4, 500, 3);
	const { samples } = profile.events[0];
	const one = await session(profile);
	one.state.cpus = [1];
	const range = { from: 100, to: 2099 };
	const { time, value } = core.series.rateOf(one.samples, one.filter, range, 20, 1);
	value.forEach((rate, part) => {
		const begin = 100 + part * 100;
		assert.equal(time[part], begin + 50);
		const sum = samples.filter(([at, , cpu]) => cpu === 1 && at >= begin && at < begin + 100).reduce((all, sample) => all + sample[4], 0);
		assert(Math.abs(rate - sum * 1e7) < 1, `${part}: ${rate} is not ${sum * 1e7}`);
	});
	const marks = new Set();
	core.series.eachMark(one.samples, range, 40, (index) => (one.samples.cpu[index] < 0 ? undefined : one.samples.cpu[index]), (lane, pixel) => {
		assert(!marks.has(`${lane} ${pixel}`), "one for each lane and pixel");
		marks.add(`${lane} ${pixel}`);
	});
	const wanted = new Set(samples.filter(([at, , cpu]) => cpu >= 0 && at >= 100 && at <= 2099).map(([at, , cpu]) => `${cpu} ${Math.floor((at - 100) / 50)}`));
	assert.deepEqual([...marks].sort(), [...wanted].sort());
	assert.equal((await core.series.seriesOf(one)).series.length, 0, "one event is no series");
});

test("ranges and filters, also moved step by step", async () => {
	const profile = madeUp(5, 4, 400, 4);
	const one = await session(profile);
	one.state.weight = "period";
	const random = randomizer(99);
	for (let step = 0; step < 200; step++) {
		if (step === 100) for (const part of core.prepare.preparation(one)) void part; // counts by sorted CPUs from here on
		const from = random(3000);
		const range = { from, to: from + random(step % 2 ? 200 : 2000) };
		if (random(3) !== 0) one.state.ranges = [range];
		if (random(6) === 0) one.state.processes = random(2) ? [] : [1 + random(3)];
		if (random(6) === 0) one.state.threads = random(2) ? [] : ["1:2", "2:2"];
		if (random(6) === 0) one.state.cpus = random(2) ? [] : [random(2) - 1];
		if (random(6) === 0) one.state.cgroups = random(2) ? [] : [["", "/a", "/b~c"][random(3)]];
		const { ranges, processes, threads, cpus, cgroups } = one.state;
		const chosen = profile.events[0].samples.filter(([time, task, cpu, , , cgroup]) => {
			const [pid, tid] = profile.tasks[task];
			return (ranges.length === 0 || (time >= ranges[0].from && time <= ranges[0].to)) && (cpus.length === 0 || cpus.includes(cpu))
				&& (processes.length === 0 || processes.includes(pid)) && (threads.length === 0 || threads.includes(`${pid}:${tid}`))
				&& (cgroups.length === 0 || cgroups.includes(["", ...profile.cgroups][cgroup]));
		});
		assert.equal(one.counts.samples, chosen.length);
		assert.equal(one.counts.weight, chosen.reduce((sum, sample) => sum + sample[4], 0));
		const stacks = model.byStack(chosen.map((sample) => ({ stack: sample[3], weight: sample[4] })));
		assert.deepEqual([...stacksOf(one, (func) => `${func},`)].sort(), [...stacks].sort());
	}
});

test("what each part of a selection takes away", async () => {
	const profile = madeUp(6, 4, 400, 4);
	const { samples } = profile.events[0];
	const cgroupOf = (cgroup) => ["", ...profile.cgroups][cgroup];
	const masks = {
		tasks: [{}, () => true], oneThread: [{ threads: ["1:2"] }, ([, task]) => task === 1], cpus: [{ cpus: [0] }, ([, , cpu]) => cpu === 0],
		cgroups: [{ cgroups: ["/a"] }, ([, , , , , cgroup]) => cgroupOf(cgroup) === "/a"],
	};
	for (const names of [["tasks"], ["oneThread"], ["cpus"], ["cgroups"], ["oneThread", "cpus"], ["oneThread", "cpus", "cgroups"]]) {
		const one = await session(profile);
		one.state.ranges = [{ from: 100, to: 2000 }, { from: 500, to: 1500 }];
		const isIn = ({ from, to }) => ([time]) => time >= from && time <= to;
		let left = samples;
		const steps = one.state.ranges.map((range) => left.length - (left = left.filter(isIn(range))).length);
		const wanted = { ranges: steps, tasks: 0, cpus: 0, cgroups: 0 };
		for (const name of names) {
			Object.assign(one.state, masks[name][0]);
			const before = left.length;
			left = left.filter(masks[name][1]);
			wanted[name === "oneThread" ? "tasks" : name] = before - left.length;
		}
		const got = one.narrowed();
		assert.deepEqual({ ...got, ranges: [...got.ranges] }, wanted, `${names}`);
		assert.equal(one.counts.samples, left.length, `${names}`);
	}
});

test("samples that stay after transforms, and those with what is searched for", async () => {
	for (let seed = 1; seed <= 30; seed++) {
		const functions = 3 + (seed % 5);
		const profile = madeUp(seed, functions, 80, 5);
		const { samples } = profile.events[0];
		const one = await session(profile);
		const random = randomizer(seed * 31);
		const transforms = Array.from({ length: random(3) }, () => randomTransform(random, profile, functions));
		one.state.transforms = transforms;
		one.state.search = seed % 3 ? "" : "f1";
		const kinds = (func) => one.recording.kindOf(func);
		const after = samples.map((sample) => {
			let list = [{ stack: sample[3], weight: 1 }];
			for (const transform of transforms) list = model.applied(list, transform, kinds, one.recording.functions);
			return list[0]?.stack ?? [];
		});
		const isGone = (index) => samples[index][3].length > 0 && after[index].length === 0;
		const isFound = (index) => after[index].some((func) => `${one.recording.name(func)}\u0000${one.recording.objectOf(func)}`.includes("f1"));
		const pass = core.count.passOf(one.samples, { range: undefined, threads: undefined, cpus: undefined, cgroups: undefined, leaves: one.shown }) ?? (() => true);
		samples.forEach((_, index) =>
			assert.equal(pass(index), !isGone(index) && (one.state.search === "" || isFound(index)), `seed ${seed}: sample ${index}, ${JSON.stringify(transforms)}`));
		one.state.weight = "samples";
		if (one.state.search !== "") {
			const found = new Set(after.flat().filter((func) => `${one.recording.name(func)}\u0000${one.recording.objectOf(func)}`.includes("f1")));
			assert.deepEqual({ ...one.matched() }, { samples: after.filter((_, index) => isFound(index)).length, functions: found.size });
		}
		const cells = core.timeline.heatCells(one.samples, { range: undefined, leaves: one.shown }, 1e6, 4);
		assert.equal(cells.reduce((sum, cell) => sum + cell, 0), samples.filter((_, index) => pass(index)).length);
		const set = core.timeline.lanesOf(one, "thread");
		const strips = set.lanes.map((lane) => core.timeline.pixelsOf(set, lane, core.timeline.edgesOf(set, 0, one.whole.to, 50), pass).reduce((sum, count) => sum + count, 0));
		assert.deepEqual(strips, set.lanes.map(({ first, end }) => set.order.subarray(first, end).filter(pass).length));
		assert.equal(one.firstOf(() => true), samples.findIndex((__, index) => !isGone(index)));
		for (const [step, turned] of [[1, (stack) => stack], [-1, (stack) => [...stack].reverse()]]) {
			const stack = turned(after[random(after.length)]);
			if (stack.length < 2) continue;
			const path = stack.slice(random(stack.length - 1)).slice(0, 3);
			// from the outermost call of its first function on
			const has = (other) => {
				const at = other.indexOf(path[0]);
				return at >= 0 && path.every((func, level) => other[at + step * level] === func);
			};
			assert.equal(one.firstAround(path, step), after.findIndex((other, index) => !isGone(index) && has(other)), `seed ${seed}: ${path} by ${step}`);
		}
	}
});

test("where samples are missing", () => {
	const names = ["comm", "throttle", "unthrottle", "lost"];
	const list = [[5, 1, 0], [6, 0, 0], [7, 1, 1], [8, 1, 0], [9, 2, 0], [10, 3, 1], [12, 2, 1], [13, 2, 1], [14, 1, 1]];
	const markers = { time: list.map(([time]) => time), kind: list.map(([, kind]) => kind), cpu: list.map(([, , cpu]) => cpu) };
	const gaps = core.timeline.gapsOf(markers, names).map(({ from, to, cpu, thin }) => [from, to, cpu, thin]);
	assert.deepEqual(gaps, [[5, 9, 0, false], [7, 12, 1, false], [10, 10, 1, true], [14, 14, 1, false]]);
});

test("nodes have what other events have at their paths", async () => {
	const profile = madeUp(11, 4, 120, 4);
	profile.events.push({ name: "page-faults", samples: madeUp(12, 4, 90, 4).events[0].samples });
	const one = await session(profile);
	await one.readBeside(1);
	one.state.transforms = [{ key: "mf", func: 2 }];
	const kinds = (func) => one.recording.kindOf(func);
	const others = model.applied(profile.events[1].samples.map((sample) => ({ stack: sample[3], weight: sample[4] })), one.state.transforms[0], kinds, one.recording.functions);
	for (const invert of [false, true]) {
		one.state.invert = invert;
		const { nodes } = one;
		const { twin, unit } = one.nodesBeside(1);
		assert.equal(unit, "events");
		let seen = 0;
		const walk = (node, path) => {
			for (const child of nodes.children(node)) {
				const below = [...path, nodes.func(child)];
				const wanted = invert ? model.endingWith(others, below) : others.reduce((sum, { stack, weight }) => sum + (below.every((func, at) => stack[at] === func) ? weight : 0), 0);
				assert.equal(twin.value(child), wanted, `inverted ${invert}: ${below}`);
				seen += wanted > 0 ? 1 : 0;
				walk(child, below);
			}
		};
		walk(0, []);
		assert(seen > 10, `${seen} nodes have something of the other event`);
	}
});

test("what is drawn becomes a picture, with texts that do no harm", () => {
	const box = (depth, x, width, name) => ({ depth, x, width, name, fill: "#123456", title: `${name}\n5 samples` });
	const drawn = (down, boxes) => ({ down, boxes, page: "#FFFFFF", text: () => "#111111" });
	const svg = core.save.svgOf([drawn(false, [box(0, 0, 1, "all"), box(1, 0.25, 0.5, "</title><script>a</script>")]), drawn(true, [box(0, 0, 1, "other")])], 1000);
	assert(!svg.includes("<script"), svg);
	const rects = [...svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"/g)].map((found) => found.slice(1).map(Number));
	assert.deepEqual(rects, [[0, 19, 999.4], [250, 0, 499.4], [0, 47.5, 999.4]]);
});

test("lanes have the samples of each key in time order, in whatever parts they are sorted", async () => {
	const profile = madeUp(6, 4, 300, 3);
	const one = await session(profile);
	const { samples } = profile.events[0];
	const keyOf = { cpu: ([, , cpu]) => cpu, thread: ([, task]) => profile.tasks[task].slice(0, 2).join(":"), process: ([, task]) => profile.tasks[task][0] };
	const nameOf = { cpu: (key) => key.cpu, thread: (key) => `${key.pid}:${key.tid}`, process: (key) => key.pid };
	for (const kind of ["cpu", "thread", "process"]) {
		const { all, grouping: { start, order } } = one.lanes.get(kind);
		assert.equal(order.length, samples.length);
		all.forEach((key, at) => {
			const wanted = samples.map((_, index) => index).filter((index) => keyOf[kind](samples[index]) === nameOf[kind](key));
			assert.deepEqual([...order.subarray(start[at], start[at + 1])], wanted, `${kind} ${nameOf[kind](key)}`);
		});
	}
});

// Samples by leaf, each looked at by itself.
function plainly({ time, thread, cpu, leaf }, { range, threads, cpus }) {
	const counts = Array(Math.max(...leaf) + 1).fill(0);
	time.forEach((at, index) => {
		const isIn = !range || (at >= range.from && at <= range.to);
		if (isIn && (!threads || threads[thread[index]] === 1) && (!cpus || cpus[cpu[index] + 1] === 1)) counts[leaf[index]]++;
	});
	return counts;
}

test("samples, also over time, are the same with and without sorted CPUs and threads", async () => {
	for (const [cpus, threads] of [[[1, 0, 1]], [[0, 1, 0]], [, [1, 0, 0, 1]], [, [0, 0, 1, 0]], [, [1, 1, 0, 1]], [[1, 0, 1], [0, 1, 1, 0]], [[0, 0, 1], [1, 1, 1, 0]]]) {
		const profile = madeUp(7, 4, 3000, 3);
		profile.columns = { "threads.task": ["u", [0, 0, 2, 3]], "threads.comm": ["u", [1, 2, 3, 4]] }; // one of them changed its name
		const one = await session(profile);
		const mask = (list) => list && Uint8Array.from(list);
		const filter = { range: undefined, threads: mask(threads), cpus: mask(cpus) };
		const parts = [7, 90, 900].map((width) => [width, core.count.density(one.samples, filter, one.whole, width)]);
		const counted = [undefined, { from: 2000, to: 9000 }, { from: 2100, to: 9100 }, { from: 20000, to: 20900 }].map((range) => [range, plainly(one.samples, { ...filter, range })]);
		one.lanes.get("cpu");
		one.lanes.get("thread");
		for (const [width, plain] of parts) {
			assert.deepEqual([...core.count.density(one.samples, filter, one.whole, width, one.lanes.choose)], [...plain]);
			assert(plain.some((part) => part > 0));
		}
		const counter = new core.count.Counter(one.samples, one.recording.base(true).leafRow.length, one.lanes.choose);
		for (const [range, wanted] of counted) {
			const counts = counter.count({ ...filter, range });
			assert.deepEqual([...counts.byLeaf], wanted, JSON.stringify([cpus, threads, range]));
			assert.equal(counts.samples, wanted.reduce((all, count) => all + count, 0));
		}
	}
});

test("boxes of a flame graph have all of it", async () => {
	const one = await session(madeUp(8, 6, 500, 7));
	const { nodes } = one;
	for (const least of [0.5, 4, 30]) {
		const boxes = core.nodes.boxesOf(nodes, 0, least);
		for (const box of boxes) {
			if (box.node < 0) continue;
			const below = boxes.filter((other) => other.parent === box.node && other.depth === box.depth + 1);
			const sum = below.reduce((all, other) => all + other.value, 0);
			const left = nodes.value(box.node) - nodes.self(box.node) - sum;
			assert(left >= 0 && left < least, `${left} of ${nodes.value(box.node)} is shown nowhere`);
		}
	}
});

// ---- state ----

test("a state survives its text", async () => {
	const profile = madeUp(3, 6, 40, 4);
	profile.functions[1][0] = "f0"; // two of one name
	profile.functions[2][0] = "operator-~&#=%\u202e<script> " + "long ".repeat(30);
	profile.events.push({ name: "page-faults:u", samples: [[1, 0, 0, [1], 1]] });
	const recording = await open(profile);
	const random = randomizer(4242);
	for (let round = 0; round < 300; round++) {
		const state = core.state.firstState();
		const pick = (list) => list[random(list.length)];
		state.view = pick(core.state.VIEWS);
		state.earlier = random(2) === 1;
		state.event = random(2);
		state.weight = pick(core.state.WEIGHTS);
		state.ranges = random(2) ? [] : [{ from: random(100), to: 100 + random(100) }, { from: 90, to: 91 }];
		state.processes = random(2) ? [] : [1, -1, 4194304];
		state.threads = random(2) ? [] : ["1:2", "-1:-1"];
		state.cpus = random(2) ? [] : [0, 255, -1];
		state.transforms = Array.from({ length: random(4) }, () => randomTransform(random, profile, 6));
		state.inlined = random(2) === 1;
		state.invert = random(2) === 1;
		state.down = random(2) === 1;
		state.search = pick(["", "f1", "a&b=c~d-e%", "\u202e\u0000"]);
		state.colour = pick(core.state.COLOURINGS);
		state.lanes = pick(core.state.LANES);
		state.path = random(2) ? [] : [0, 1, 2];
		state.func = random(7) - 1;
		state.zoom = random(2) ? [] : [3, 1];
		state.sort = pick(core.state.SORTS);
		state.record = random(3) - 1;
		state.window = random(2) ? [] : [{ from: 3, to: 70 }];
		const text = core.state.textOf(state, recording);
		assert(/^[\x21-\x7e]*$/.test(text), `${text} is no fragment`);
		const back = core.state.stateOf(`#${text}`, recording);
		assert.deepEqual(JSON.parse(JSON.stringify(back.state)), JSON.parse(JSON.stringify(state)), text);
		assert.equal(back.messages.length, 0);
	}
});

test("no text makes the reader of states throw", async () => {
	const recording = await open(example());
	const random = randomizer(17);
	const parts = ["1", "&", "=", "~", "-", "v", "t", "x", "ff", "%", "%zz", "A", "12u3", "99999999999999999999u1", "fp", "th", ":", "\u0000", "#",
		"__proto__", "s", "co"];
	for (let round = 0; round < 10000; round++) {
		const text = Array.from({ length: random(20) }, () => parts[random(parts.length)]).join("");
		const { state } = core.state.stateOf(random(2) ? text : `1&${text}`, recording);
		assert(core.state.VIEWS.includes(state.view));
	}
	assert.equal(core.state.stateOf("#1&v=flame&zz=1&fp=other", recording).messages.length, 2);
});

// ---- colours ----

test("text can be read on every colour", () => {
	const { LIGHT, DARK, contrast, hueOf } = core.colours;
	for (const theme of [LIGHT, DARK]) {
		const dark = theme === DARK;
		const hues = Array.from({ length: 360 }, (_, hue) => hueOf(hue, dark));
		for (const fill of [...Object.values(theme.kinds), ...theme.objects, theme.rest, theme.equal, theme.page, theme.edge, ...hues])
			assert(contrast(fill, theme.text) >= 4.5, `${theme.text} on ${fill}: ${contrast(fill, theme.text)}`);
		// The strong ends of changes take whichever text is readable.
		for (const fill of [...theme.shrank, ...theme.grew])
			assert(Math.max(contrast(fill, "#111111"), contrast(fill, "#FFFFFF")) >= 4.5, fill);
		assert(contrast(theme.soft, theme.page) >= 4.5 && contrast(theme.accent, theme.page) >= 3);
	}
});

// Sight as Machado, Oliveira and Fernandes (2009) have it for full strength, on linear light.
const SIGHTS = {
	normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
	protan: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
	deutan: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
	tritan: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

function labOf(colour, sight) {
	const linear = core.colours.parts(colour).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
	const [r, g, b] = [0, 3, 6].map((row) => Math.min(Math.max(linear[0] * sight[row] + linear[1] * sight[row + 1] + linear[2] * sight[row + 2], 0), 1));
	const f = (value) => (value > 216 / 24389 ? Math.cbrt(value) : (value * 24389 / 27 + 16) / 116);
	const [x, y, z] = [(0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047, 0.2126729 * r + 0.7151522 * g + 0.072175 * b,
		(0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883].map(f);
	return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function difference(one, other, sight) {
	const [a, b] = [labOf(one, sight), labOf(other, sight)];
	return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

test("no change is grey, and differs from what grew and shrank and from the page for every sight", () => {
	for (const theme of [core.colours.LIGHT, core.colours.DARK]) {
		const [red, green, blue] = core.colours.parts(theme.equal);
		assert(Math.max(red, green, blue) - Math.min(red, green, blue) < 12, `${theme.equal} is no grey`);
		for (const [name, sight] of Object.entries(SIGHTS)) {
			for (const fill of [...theme.grew, ...theme.shrank, theme.page])
				assert(difference(fill, theme.equal, sight) >= 10, `${fill} and ${theme.equal} for ${name} sight: ${difference(fill, theme.equal, sight)}`);
			assert(difference(theme.grew[0], theme.shrank[0], sight) >= 15, `what grew and what shrank for ${name} sight`);
		}
	}
});

test("kinds differ for every sight", () => {
	for (const theme of [core.colours.LIGHT, core.colours.DARK]) {
		const fills = Object.values(theme.kinds);
		for (const [name, sight] of Object.entries(SIGHTS)) {
			for (let one = 0; one < fills.length; one++) {
				for (let other = 0; other < one; other++) {
					const apart = difference(fills[one], fills[other], sight);
					assert(apart >= 15, `${fills[one]} and ${fills[other]} for ${name} sight: ${apart}`);
				}
			}
		}
	}
});

test("the page without a recording is small", () => {
	assert(page.length <= 300 << 10, `${page.length} characters`);
});

// ---- the container ----

test("numbers of each code come back", async () => {
	const values = [0, 1, 127, 128, 16383, 16384, 2097152, 268435455, 2147483647];
	const large = [...values, 2 ** 40, 2 ** 53 - 1];
	const one = new core.decode.Container(container({}, {
		u: ["u", values], f: ["u", large], t: ["t", large], d: ["d", [5, -7, 2 ** 40, 0]], b: ["b", [0, 255]], c: ["c", [7, 3]],
		s: ["s", ["", "a", "\u00e9"]],
	}));
	assert.deepEqual([...(await one.ints("u"))], values);
	assert.deepEqual([...(await one.floats("f"))], large);
	assert.deepEqual([...(await one.floats("t"))], large);
	assert.deepEqual([...(await one.floats("d"))], [5, -7, 2 ** 40, 0]);
	assert.deepEqual([...(await one.bytesOf("b"))], [0, 255]);
	assert.deepEqual([...(await one.ints("c"))], [7, 7, 7]);
	assert.deepEqual([...(await one.ints("absent", 2))], [0, 0]);
	assert.deepEqual([...(await one.strings("s"))], ["", "a", "\u00e9"]);
	assert.deepEqual([...(await one.wides("f"))].map(Number), large);
	const kinds = [Int16Array, Int32Array, Float64Array];
	for (const [kind, code, numbers] of [[0, "u", [0, 1, 32767]], [1, "u", [5, 32768]], [1, "d", [5, -32769, 2147483647]], [2, "d", [7, -(2 ** 31) - 1]], [2, "t", [0, 2 ** 31]],
		[0, "b", [0, 255]], [2, "w", [1, 2 ** 33]]]) {
		const got = await new core.decode.Container(container({}, { n: [code, numbers] })).numbers("n", kinds);
		assert.deepEqual([got.BYTES_PER_ELEMENT, ...got], [kinds[kind].BYTES_PER_ELEMENT, ...numbers], `${code} ${numbers}`);
	}
	await assert.rejects(new core.decode.Container(container({}, { n: ["u", [40000]] })).numbers("n", [Int16Array]), /too large/);
	for (const count of [1, 3]) {
		const cut = new core.decode.Container(container({}, { n: ["b", [0, 255]] }));
		cut.header.columns.n.count = count;
		for (const read of [() => cut.ints("n"), () => cut.numbers("n", kinds), () => cut.bytesOf("n")]) await assert.rejects(read(), /n: it has 2 numbers/, `${count}`);
	}
});

test("rows that are not depth first are refused", async () => {
	const rows = (parent) => ({ "rows.parent": ["u", parent], "rows.function": ["u", parent.map(() => 0)], "rows.inlined": ["c", [0, parent.length]] });
	await open({ ...example(), columns: rows([0, 1, 2, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]) });
	// The fourth row is below the second one again, which the third row has left.
	await assert.rejects(open({ ...example(), columns: rows([0, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]) }), /depth-first/);
});

test("damaged data is refused", async () => {
	const good = packed(example());
	assert.throws(() => new core.decode.Container(good.subarray(0, 40)));
	assert.throws(() => new core.decode.Container(Buffer.from("PDPAGE2\n________")));
	const random = randomizer(31);
	let refused = 0;
	for (let round = 0; round < 300; round++) {
		const bytes = Buffer.from(good);
		for (let times = 1 + random(4); times > 0; times--) bytes[12 + random(bytes.length - 12)] = random(256);
		try {
			const one = await core.session.Session.open(await core.recording.Recording.open(new core.decode.Container(bytes)));
			void one.sums;
		} catch (error) {
			refused++;
		}
	}
	assert(refused > 100, `${refused} of 300 damaged ones are refused`);
});
