// SPDX-License-Identifier: MIT
// Transforms and sums, stack by stack and as plainly as can be: what the page's passes over rows are compared with.
// A sample is { stack: functions from the root, weight }; a stack of no functions is one that is gone.
"use strict";

const beginsWith = (stack, path) => path.every((func, index) => stack[index] === func);

function runsCollapsed(stack, inside, name) {
	const out = [];
	stack.forEach((func, index) => {
		if (!inside(func)) out.push(func);
		else if (index === 0 || !inside(stack[index - 1])) out.push(name);
	});
	return out;
}

function focusedInverted(stack, path) {
	const reversed = [...stack].reverse();
	return beginsWith(reversed, path) ? stack.slice(0, stack.length - path.length + 1) : [];
}

function focusedSelf(stack, func, matches) {
	for (let index = stack.length - 1; index >= 0; index--)
		if (matches(stack[index])) return stack[index] === func ? stack.slice(index) : [];
	return [];
}

// Only the exact row of the path is merged: other rows of its function stay.
function mergedNode(stack, path) {
	return beginsWith(stack, path) ? [...stack.slice(0, path.length - 1), ...stack.slice(path.length)] : stack;
}

function collapsedRecursion(stack, func) {
	const first = stack.indexOf(func);
	return first < 0 ? stack : [...stack.slice(0, first), ...stack.slice(stack.lastIndexOf(func))];
}

function transformed(stack, { key, func, path, object, kind }, kindOf, functions) {
	const at = stack.indexOf(func);
	switch (key) {
	case "ff": return at < 0 ? [] : stack.slice(at);
	case "fs": return beginsWith(stack, path) ? stack.slice(path.length - 1) : [];
	case "fi": return focusedInverted(stack, path);
	case "fo": return focusedSelf(stack, func, (one) => kind === undefined || kindOf(one) === kind);
	case "fk": return stack.filter((one) => kindOf(one) === kind);
	case "hk": return stack.filter((one) => kindOf(one) !== kind);
	case "mf": return stack.filter((one) => one !== func);
	case "mn": return mergedNode(stack, path);
	case "df": return at < 0 ? stack : [];
	case "co": return runsCollapsed(stack, (one) => functions.object[one] === object, functions.ofObject[object]);
	case "rd": return stack.filter((one, index) => one !== func || index === 0 || stack[index - 1] !== func);
	case "rr": return collapsedRecursion(stack, func);
	case "cf": return at < 0 ? stack : stack.slice(0, at + 1);
	default: throw new Error(key);
	}
}

const applied = (samples, transform, kindOf, functions) =>
	samples.map(({ stack, weight }) => ({ stack: transformed(stack, transform, kindOf, functions), weight }));

const plus = (map, key, weight) => map.set(key, (map.get(key) ?? 0) + weight);

function byStack(samples) {
	const sums = new Map();
	for (const { stack, weight } of samples) if (stack.length > 0) plus(sums, stack.map((func) => `${func},`).join(""), weight);
	return sums;
}

function functionSums(samples) {
	const self = new Map();
	const total = new Map();
	for (const { stack, weight } of samples) {
		if (stack.length > 0) plus(self, stack[stack.length - 1], weight);
		for (const func of new Set(stack)) plus(total, func, weight);
	}
	return { self, total };
}

const sum = (samples, wanted) => samples.reduce((all, { stack, weight }) => all + (wanted(stack) ? weight : 0), 0);

const endingWith = (samples, path) => sum(samples, (stack) => beginsWith([...stack].reverse(), path));

// Samples whose outermost call of path[0] was called along the path.
const calledBy = (samples, path) => sum(samples, (stack) => {
	const at = stack.indexOf(path[0]);
	return at >= 0 && beginsWith(stack.slice(0, at + 1).reverse(), path);
});

const calling = (samples, path) => sum(samples, (stack) => {
	const at = stack.indexOf(path[0]);
	return at >= 0 && beginsWith(stack.slice(at), path);
});

module.exports = { applied, byStack, functionSums, endingWith, calledBy, calling };
