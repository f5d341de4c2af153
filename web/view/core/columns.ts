// SPDX-License-Identifier: MIT
// Columns as long as there are rows of stacks. They are used again, since memory that is asked for anew costs more than most of the
// work that is done in it.

const MOST = 12;
const SPARE = 8; // times as long as needed a column may be
const free: Int32Array[] = [];

// A column in which anything may stand.
export function takeColumn(length: number): Int32Array {
	const at = free.findIndex((one) => one.length >= length && one.length <= SPARE * length);
	return at < 0 ? new Int32Array(length) : free.splice(at, 1)[0].subarray(0, length);
}

// To be called with what nobody looks into any more.
export function giveColumn(column: Int32Array): void {
	if (free.length === MOST) free.shift();
	free.push(new Int32Array(column.buffer));
}

// Has some ready.
export function provideColumn(length: number): void {
	giveColumn(new Int32Array(length).fill(1)); // so that the memory is there
}
