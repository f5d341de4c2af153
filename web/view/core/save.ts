// SPDX-License-Identifier: MIT
// What is selected in formats of other tools.

import type { Nodes, Box } from "./nodes";
import { indexRange, passes } from "./count";
import type { Session } from "./session";
import { NONE, pathOfRow, ROOT } from "./tree";

// Folded stacks: names from the root, separated by semicolons, and an amount.
export function folded(session: Session): string {
	const { recording, sums: { tree, self } } = session;
	const clean = (func: number) => recording.name(func).replace(/[;\n]/g, ":");
	const prefix: string[] = [];
	const lines: string[] = [];
	for (let row = 1; row < tree.count; row++) {
		const depth = tree.depth[row];
		prefix.length = depth - 1;
		prefix.push(clean(tree.func[row]));
		if (self[row] > 0) lines.push(`${prefix.join(";")} ${self[row]}\n`);
	}
	return lines.join("");
}

// One sampled profile of speedscope with the samples in time order.
export function speedscope(session: Session): string {
	const { recording, samples, stage, filter, state } = session;
	const frames = new Map<number, number>();
	const frame = (func: number) => {
		if (!frames.has(func)) frames.set(func, frames.size);
		return frames.get(func) as number;
	};
	const stacks = new Map<number, number[]>();
	const chosen: number[][] = [];
	const weights: number[] = [];
	const [first, last] = indexRange(samples, filter.range);
	for (let index = first; index < last; index++) {
		const row = stage.leafRow[samples.leaf[index]];
		if (row === ROOT || !passes(samples, filter, index)) continue;
		let stack = stacks.get(row);
		if (!stack) stacks.set(row, (stack = pathOfRow(stage.tree, row).map(frame)));
		chosen.push(stack);
		weights.push(state.weight === "samples" ? 1 : samples.weight ? samples.weight[index] : samples.sameWeight);
	}
	const sum = weights.reduce((all, one) => all + one, 0);
	return JSON.stringify({
		$schema: "https://www.speedscope.app/file-format-schema.json", exporter: "perfdata", name: recording.header.name,
		shared: { frames: [...frames.keys()].map((func) => ({ name: recording.name(func), file: recording.objectOf(func) || undefined })) },
		profiles: [{ type: "sampled", name: recording.header.events[state.event]?.name ?? "", unit: session.unit === "ns" ? "nanoseconds" : "none",
			startValue: 0, endValue: sum, samples: chosen, weights }],
	});
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`).replace(/[\u0000-\u001f]/g, "\ufffd");

export interface Drawn {
	readonly nodes: Nodes;
	readonly boxes: readonly Box[];
	readonly down: boolean;
	readonly fill: (func: number) => string;
	readonly label: (node: number) => string;
	readonly text: string; // colours
	readonly page: string;
}

// The flame graph that is shown, as a picture of frames with titles.
export function svgOf(session: Session, { nodes, boxes, down, fill, label, text, page }: Drawn, width = 1600): string {
	const row = 19;
	const rows = 1 + boxes.reduce((most, box) => Math.max(most, box.depth), 0);
	const scale = width / Math.max(boxes[0]?.value ?? 1, Number.MIN_VALUE);
	const parts = [`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${rows * row}" font-family="monospace" font-size="12">`,
		`<rect width="100%" height="100%" fill="${page}"/>`];
	for (const box of boxes) {
		if (box.node === NONE) continue;
		const own = box.value * scale;
		const x = (box.x * scale).toFixed(1);
		const y = (down ? box.depth : rows - 1 - box.depth) * row;
		const name = box.node === ROOT ? "all" : session.recording.name(nodes.func(box.node));
		const room = Math.floor((own - 6) / 7.3);
		const shown = room < 2 ? "" : name.length <= room ? name : `${name.slice(0, room - 1)}\u2026`;
		parts.push(`<g><title>${escaped(label(box.node))}</title><rect x="${x}" y="${y}" width="${Math.max(own - 0.6, 0.3).toFixed(1)}" height="${row - 1}" fill="${fill(nodes.func(box.node))}"/>`
			+ (shown ? `<text x="${(box.x * scale + 3).toFixed(1)}" y="${y + 13}" fill="${text}">${escaped(shown)}</text>` : "") + "</g>");
	}
	return `${parts.join("\n")}\n</svg>\n`;
}
