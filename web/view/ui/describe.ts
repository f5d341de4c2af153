// SPDX-License-Identifier: MIT
// A node in words: for tooltips, the line at the end of the page and screen readers.

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
	if (session.state.colour === "change" && host.comparison?.has(nodes)) {
		const { before, after } = host.comparison.shares(nodes, node);
		lines.push(`before ${percent(before, 1)}, after ${percent(after, 1)}`);
	}
	return lines;
}
