// SPDX-License-Identifier: MIT
// The dialog of processes, threads and CPUs: the largest first, with a search.

import { number } from "../core/text";
import { button, el } from "./dom";
import { dialog } from "./popups";
import type { Host } from "./view";

const MOST = 300;

interface Choice {
	readonly label: string;
	readonly samples: number;
	readonly chosen: () => boolean;
	readonly toggle: () => void;
}

function toggled<T>(list: readonly T[], value: T): T[] {
	return list.includes(value) ? list.filter((one) => one !== value) : [...list, value];
}

function counted(host: Host): { tasks: Float64Array; cpus: Map<number, number> } {
	const { session, recording } = host;
	const { thread, cpu, count } = session.samples;
	const tasks = new Float64Array(recording.tasks.length);
	const byCpu = new Map<number, number>();
	const sums = new Float64Array(recording.threads.length);
	for (let index = 0; index < count; index++) sums[thread[index]]++;
	sums.forEach((sum, index) => (tasks[recording.threads[index].task] += sum));
	for (let index = 0; index < count; index++) byCpu.set(cpu[index], (byCpu.get(cpu[index]) ?? 0) + 1);
	return { tasks, cpus: byCpu };
}

// Only where they are recorded.
function ofCgroups({ session, recording, update }: Host): Record<string, Choice[]> {
	const { cgroups } = session.samples;
	if (!cgroups) return {};
	const paths = ["", ...recording.cgroups];
	const sums = new Float64Array(paths.length);
	for (const cgroup of cgroups) sums[cgroup + 1]++;
	const all = paths.map((path, index) => ({ label: path || "none", samples: sums[index], chosen: () => session.state.cgroups.includes(path),
		toggle: () => update({ cgroups: toggled(session.state.cgroups, path) }, true) }));
	return { Cgroups: all.filter(({ samples }) => samples > 0).sort((one, other) => other.samples - one.samples) };
}

function choices(host: Host): Record<string, Choice[]> {
	const { session, recording, update } = host;
	const { tasks, cpus } = counted(host);
	const processes = new Map<number, { name: string; samples: number }>();
	recording.tasks.forEach((task, index) => {
		const one = processes.get(task.pid) ?? { name: task.process, samples: 0 };
		one.samples += tasks[index];
		processes.set(task.pid, one);
	});
	const bySamples = (one: Choice, other: Choice) => other.samples - one.samples;
	return {
		Processes: [...processes].map(([pid, { name, samples }]) => ({ label: `${name || "?"} ${pid}`, samples,
			chosen: () => session.state.processes.includes(pid),
			toggle: () => update({ processes: toggled(session.state.processes, pid) }, true) })).sort(bySamples),
		Threads: recording.tasks.map((task, index) => ({ label: `${task.comm || "?"} ${task.pid}:${task.tid}`, samples: tasks[index],
			chosen: () => session.state.threads.includes(`${task.pid}:${task.tid}`),
			toggle: () => update({ threads: toggled(session.state.threads, `${task.pid}:${task.tid}`) }, true) })).sort(bySamples),
		CPUs: [...cpus].sort(([one], [other]) => one - other).map(([cpu, samples]) => ({ label: cpu < 0 ? "unknown" : `CPU ${cpu}`, samples,
			chosen: () => session.state.cpus.includes(cpu), toggle: () => update({ cpus: toggled(session.state.cpus, cpu) }, true) })),
		...ofCgroups(host),
	};
}

export function showFilters(host: Host): void {
	const all = choices(host);
	const search = el("input", { type: "search", placeholder: "name, process or thread", "aria-label": "Search tasks" });
	const lists = el("div", { class: "filters" });
	const fill = () => lists.replaceChildren(...Object.entries(all).map(([title, list]) => {
		const found = list.filter((one) => one.label.toLowerCase().includes(search.value.toLowerCase()));
		const section = el("section", {}, el("h3", {}, `${title} (${number(found.length)})`), ...found.slice(0, MOST).map((one) => {
			const box = el("input", { type: "checkbox", checked: one.chosen(), change: () => one.toggle() });
			return el("label", {}, box, el("span", {}, one.label), el("small", { class: "num" }, number(one.samples)));
		}));
		if (found.length > MOST) section.append(el("p", { class: "note" }, `${number(found.length - MOST)} more: search for them`));
		return section;
	}));
	search.addEventListener("input", fill);
	fill();
	dialog("Processes, threads and CPUs", el("div", { class: "view-tools" }, search, button("All", "Select all again", () => {
		host.update({ processes: [], threads: [], cpus: [], cgroups: [] }, true);
		fill();
	})), lists);
	search.focus();
}
