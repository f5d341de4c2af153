// SPDX-License-Identifier: MIT
// What is selected in formats of other tools.

import { indexRange, passes } from "./count";
import type { Session } from "./session";
import { pathOfRow, ROOT } from "./tree";

// Folded stacks: names from the root, separated by semicolons, and an amount.
export function folded(session: Session): string {
	const { recording, sums, sums: { tree } } = session;
	const clean = (func: number) => recording.name(func).replace(/[;\n]/g, ":");
	const prefix: string[] = [];
	const ends: number[] = []; // of the rows that are open
	const lines: string[] = [];
	for (let row = 1; row < tree.count; row++) {
		while (ends.length > 0 && ends[ends.length - 1] <= row) ends.pop();
		prefix.length = ends.length;
		prefix.push(clean(tree.func[row]));
		ends.push(tree.end[row]);
		if (sums.self(row) > 0) lines.push(`${prefix.join(";")} ${sums.self(row)}\n`);
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
		weights.push(state.weight === "samples" ? samples.times?.[index] ?? 1 : samples.weight ? samples.weight[index] : samples.sameWeight);
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

export interface DrawnBox {
	readonly x: number; // parts of the whole width
	readonly width: number;
	readonly depth: number;
	readonly name: string;
	readonly fill: string;
	readonly title: string;
}

// A graph or chart.
export interface Drawn {
	readonly boxes: readonly DrawnBox[];
	readonly down: boolean;
	readonly text: (fill: string) => string; // colour of letters on a fill
	readonly page: string;
}

const ROW = 19;

function boxText({ x, width, name, fill, title }: DrawnBox, y: number, whole: number, text: string): string {
	const own = width * whole;
	const room = Math.floor((own - 6) / 7.3);
	const shown = room < 2 ? "" : name.length <= room ? name : `${name.slice(0, room - 1)}\u2026`;
	return `<g><title>${escaped(title)}</title><rect x="${(x * whole).toFixed(1)}" y="${y}" width="${Math.max(own - 0.6, 0.3).toFixed(1)}" height="${ROW - 1}" fill="${fill}"/>`
		+ (shown ? `<text x="${(x * whole + 3).toFixed(1)}" y="${y + 13}" fill="${text}">${escaped(shown)}</text>` : "") + "</g>";
}

// What is shown, one below the other, as a picture of frames with titles.
export function svgOf(all: readonly Drawn[], width = 1600): string {
	const parts: string[] = [];
	let top = 0;
	for (const { boxes, down, text } of all) {
		const rows = 1 + boxes.reduce((most, box) => Math.max(most, box.depth), 0);
		for (const box of boxes) parts.push(boxText(box, top + (down ? box.depth : rows - 1 - box.depth) * ROW, width, text(box.fill)));
		top += rows * ROW + ROW / 2;
	}
	return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}" font-family="monospace" font-size="12">\n`
		+ `<rect width="100%" height="100%" fill="${all[0]?.page ?? "none"}"/>\n${parts.join("\n")}\n</svg>\n`;
}
