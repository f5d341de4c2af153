// SPDX-License-Identifier: MIT
// A node in words: for tooltips, the line at the end of the page and screen readers.

import { meanStep, Shares } from "../core/compare";
import type { Nodes } from "../core/nodes";
import { amount, percent } from "../core/text";
import { ROOT } from "../core/tree";
import type { Host } from "./view";

export function whereOf(host: Host, func: number): string {
	const { recording } = host;
	if (func < 0) return "";
	const kind = recording.header.kinds[recording.kindOf(func)];
	const file = func < recording.functionCount ? recording.string(recording.functionFile[func]) : "";
	return [recording.objectOf(func), file, kind ? `${kind.name} (${kind.letter})` : ""].filter((text) => text !== "").join(" \u00b7 ");
}

export function describeNode(host: Host, nodes: Nodes, node: number): string[] {
	const { session, recording } = host;
	const func = nodes.func(node);
	const value = nodes.value(node);
	const lines = [node === ROOT ? "all" : recording.name(func)];
	if (node !== ROOT) lines.push(whereOf(host, func) + (nodes.inlined(node) ? " \u00b7 inlined" : ""));
	lines.push(`${amount(value, session.unit)}, ${percent(value, nodes.value(ROOT))} of all`);
	const parent = nodes.parent(node);
	if (parent > ROOT) lines.push(`${percent(value, nodes.value(parent))} of ${recording.name(nodes.func(parent))}`);
	const self = nodes.self(node);
	if (node !== ROOT && !session.state.invert) lines.push(`self ${amount(self, session.unit)}, ${percent(self, nodes.value(ROOT))}`);
	if (host.changes?.has(nodes)) lines.push(describeShares(host.changes.shares(nodes, node)));
	return lines;
}

export function describeShares({ before, after }: Shares): string {
	return `before ${percent(before, 1)}, after ${percent(after, 1)}`;
}

// How the functions of some samples have grown, by the mean.
export function describeGrowth(mean: number): string {
	const size = `${(100 * Math.abs(mean)).toFixed(0)} %`;
	return meanStep(mean) === 0 ? "its functions have not changed" : `its functions ${mean > 0 ? "grew" : "shrank"} by ${size}, on average`;
}
