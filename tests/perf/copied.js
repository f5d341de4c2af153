// SPDX-License-Identifier: MIT
// Functions that are compiled while they run, by the interpreter's frames and by optimized code.
// usage: node copied.js MILLISECONDS
'use strict';

let sink = 0;

function spin() {
	for (let i = 0; i < 300000; i++)
		sink = (sink + i * i) % 1000003;
}

function inner(a) {
	spin();
	return a + sink;
}

function recursive(depth) {
	return depth ? recursive(depth - 1) + 1 : inner(depth);
}

function begin(limit) {
	const end = Date.now() + limit;

	while (Date.now() < end)
		recursive(6);
}

begin(Number(process.argv[2]));
