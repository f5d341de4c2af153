// SPDX-License-Identifier: MIT
// The dialog that saves what is selected.

import { Drawn, folded, speedscope, svgOf } from "../core/save";
import { button, el } from "./dom";
import { dialog } from "./popups";
import type { Host } from "./view";

export function save(name: string, content: Blob): void {
	const url = URL.createObjectURL(content);
	el("a", { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function picture(svg: string, host: Host): void {
	const image = new Image();
	image.addEventListener("load", () => {
		const canvas = el("canvas", { width: image.width * 2, height: image.height * 2 });
		(canvas.getContext("2d") as CanvasRenderingContext2D).drawImage(image, 0, 0, canvas.width, canvas.height);
		savePng(canvas, host);
	});
	image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
}

// What canvases show, one below the other.
function canvasPicture(canvases: readonly HTMLCanvasElement[], host: Host): void {
	const whole = el("canvas", { width: Math.max(...canvases.map((one) => one.width)), height: canvases.reduce((sum, one) => sum + one.height, 0) });
	const context = whole.getContext("2d") as CanvasRenderingContext2D;
	context.fillStyle = host.look.theme.page;
	context.fillRect(0, 0, whole.width, whole.height);
	let top = 0;
	for (const one of canvases) {
		context.drawImage(one, 0, top);
		top += one.height;
	}
	savePng(whole, host);
}

function savePng(canvas: HTMLCanvasElement, host: Host): void {
	canvas.toBlob((blob) => (blob ? save(nameOf(host, "png"), blob) : host.say("The picture is too large for the browser.")));
}

function nameOf(host: Host, ending: string): string {
	return `${host.recording.header.name.replace(/.*\//, "").replace(/[^\w.-]/g, "_") || "profile"}.${ending}`;
}

// What the address of the server needs for the selection.
export function query(host: Host): string {
	const { session, recording } = host;
	const { state, range } = session;
	const start = BigInt(recording.header.time.start);
	const parts: string[] = [`event=${encodeURIComponent(recording.header.events[state.event]?.name ?? "")}`];
	if (range) {
		parts.push(`from_ns=${start + BigInt(Math.round(range.from * session.tick))}`,
			`to_ns=${start + BigInt(Math.round(range.to * session.tick + session.tick - 1))}`);
	}
	if (state.processes.length > 0) parts.push(`pid=${state.processes.join(",")}`);
	if (state.threads.length > 0) parts.push(`tid=${state.threads.map((text) => text.split(":")[1]).join(",")}`);
	if (state.cpus.length > 0) parts.push(`cpu=${state.cpus.join(",")}`);
	if (state.cgroups.length > 0) parts.push(...cgroupsOf(host));
	return parts.join("&");
}

// Numbers of the selected cgroups, and "none" for samples without one; nothing if that is all.
function cgroupsOf({ session: { state, samples }, recording }: Host): string[] {
	const hasNone = state.cgroups.includes("");
	if (!samples.cgroups && hasNone) return [];
	const numbers = [...recording.cgroupIds].filter((_, index) => state.cgroups.includes(recording.cgroups[index])).map(String);
	return [`cgroup=${[...numbers, ...(hasNone ? ["none"] : [])].join(",")}`];
}

export function showSave(host: Host, drawn: readonly Drawn[], canvases: readonly HTMLCanvasElement[]): void {
	const { session } = host;
	const item = (label: string, note: string, act: () => void) => el("tr", {}, el("td", {}, button(label, note, () => {
		box.close();
		act();
	})), el("td", {}, note));
	const rows = [
		item("Folded stacks", "for flamegraph.pl, inferno and others: the selection after all transforms",
			() => save(nameOf(host, "folded"), new Blob([folded(session)], { type: "text/plain" }))),
		item("speedscope", "JSON, with the samples in time order",
			() => save(nameOf(host, "speedscope.json"), new Blob([speedscope(session)], { type: "application/json" }))),
	];
	if (drawn.length > 0) {
		rows.push(item("SVG", "what is drawn, each frame with its numbers", () => save(nameOf(host, "svg"), new Blob([svgOf(drawn)], { type: "image/svg+xml" }))),
			item("PNG", "the same as a picture", () => picture(svgOf(drawn), host)));
	} else if (canvases.length > 0) {
		rows.push(item("PNG", "what is drawn", () => canvasPicture(canvases, host)));
	}
	if (host.served)
		rows.push(item("perf.data", "a recording with the samples of the selection", () => host.download(`cut?${query(host)}`, nameOf(host, "cut.data"))));
	rows.push(item("Link", "copy the address, which says what is selected", () => {
		navigator.clipboard.writeText(location.href).then(() => host.say("Copied the link"), () => host.say("The browser refuses to copy."));
	}));
	const box: HTMLDialogElement = dialog("Save what is selected", el("table", { class: "save" }, ...rows));
}
