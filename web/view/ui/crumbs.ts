// SPDX-License-Identifier: MIT
// One row for everything that narrows what is shown: time ranges, tasks, CPUs and transforms, each with the samples that it
// takes away and a cross.

import { duration, number, percent, plural, seconds } from "../core/text";
import { labelOf } from "./actions";
import { button, el } from "./dom";
import type { Host } from "./view";

interface Crumb {
	readonly text: string;
	readonly taken: number | undefined; // undefined: the next one of the same list says it for both
	readonly of?: number; // what the share is of; else of what is selected
	readonly remove: () => void;
	readonly upTo?: () => void; // takes away what comes after it
}

function without<T>(list: readonly T[], index: number): T[] {
	return list.filter((_, at) => at !== index);
}

function ofRanges({ session, update }: Host): Crumb[] {
	const { ranges } = session.state;
	const { ranges: taken } = session.narrowed();
	return ranges.map((range, index) => {
		const length = (range.to + 1 - range.from) * session.tick;
		return {
			text: `${seconds(range.from * session.tick, length / 100)} + ${duration(length)}`, taken: taken[index], of: session.samples.total,
			remove: () => update({ ranges: without(ranges, index) }, true),
			upTo: () => update({ ranges: ranges.slice(0, index + 1) }, true),
		};
	});
}

function ofTasks({ session, recording, update }: Host): Crumb[] {
	const { processes, threads, cpus, cgroups } = session.state;
	const nameOf = (pid: number) => recording.tasks.find((task) => task.pid === pid)?.process ?? "";
	const name = (text: string) => recording.tasks.find((task) => `${task.pid}:${task.tid}` === text)?.comm ?? "";
	const taken = session.narrowed();
	// Of several of a list the last one says what they take away together.
	const last = (list: readonly unknown[], index: number, samples: number) => ({ taken: index === list.length - 1 ? samples : undefined, of: session.samples.total });
	return [
		...processes.map((pid, index) => ({ text: `Process ${nameOf(pid)} ${pid}`, ...last([...processes, ...threads], index, taken.tasks),
			remove: () => update({ processes: without(processes, index) }, true) })),
		...threads.map((text, index) => ({ text: `Thread ${name(text)} ${text.split(":")[1] ?? ""}`, ...last(threads, index, taken.tasks),
			remove: () => update({ threads: without(threads, index) }, true) })),
		...cpus.map((cpu, index) => ({ text: `CPU ${cpu}`, ...last(cpus, index, taken.cpus),
			remove: () => update({ cpus: without(cpus, index) }, true) })),
		...cgroups.map((path, index) => ({ text: `cgroup ${path || "none"}`, ...last(cgroups, index, taken.cgroups),
			remove: () => update({ cgroups: without(cgroups, index) }, true) })),
	];
}

function ofTransforms({ session, update }: Host): Crumb[] {
	const { transforms, inlined } = session.state;
	const { by } = session.taken();
	const crumbs: Crumb[] = by.map((taken, index) => ({
		text: labelOf(session, taken.transform), taken: taken.samples,
		remove: () => update({ transforms: without(transforms, index), path: [], zoom: [] }, true),
		upTo: () => update({ transforms: transforms.slice(0, index + 1), path: [], zoom: [] }, true),
	}));
	if (!inlined) crumbs.unshift({ text: "Hide: inlined", taken: 0, remove: () => update({ inlined: true, path: [], zoom: [] }, true) });
	return crumbs;
}

function itemOf(crumb: Crumb, all: number): HTMLElement {
	const item = el("li", { class: "crumb" });
	const label = crumb.upTo
		? button(crumb.text, `${crumb.text}\nClick to remove all after it`, crumb.upTo, { class: "label" })
		: el("span", { class: "label", title: crumb.text }, crumb.text);
	item.append(label);
	if (crumb.taken !== undefined)
		item.append(el("small", {}, crumb.taken === 0 ? "\u22120" : `\u2212${number(crumb.taken)} (${percent(crumb.taken, crumb.of ?? all)})`));
	item.append(button("\u00d7", `Remove: ${crumb.text}`, crumb.remove, { class: "cross", "aria-label": `Remove: ${crumb.text}` }));
	return item;
}

export class Crumbs {
	readonly element = el("ol", { class: "crumbs", "aria-label": "Selection" });

	constructor(private readonly host: Host) {}

	show(): void {
		const { session } = this.host;
		const { before } = session.taken();
		const { samples } = session.counts;
		const all = [...ofRanges(this.host), ...ofTasks(this.host), ...ofTransforms(this.host)];
		const whole = session.samples.total;
		const one = session.recording.header.events[session.state.event]?.unit === "counts" ? "count" : "sample";
		const chosen = all.length === 0 ? "" : samples < whole ? ` of ${number(whole)}` : "";
		this.element.replaceChildren(el("li", { class: "crumb all" },
			el("span", { class: "label", id: "selected", title: before.samples > 0
				? `${plural(before.samples, one)} without a stack are in no view of stacks` : "" },
			`${plural(samples, one)}${chosen}`)), ...all.map((crumb) => itemOf(crumb, samples)));
		if (all.length > 1)
			this.element.append(el("li", {}, button("Clear all", "Show the whole recording again", () => this.host.update({
				ranges: [], processes: [], threads: [], cpus: [], cgroups: [], transforms: [], inlined: true, path: [], zoom: [] }, true))));
	}
}
