// SPDX-License-Identifier: MIT
// One meaning for each key, whatever view is shown. Views get keys first: arrows, zoom, and their own.

import type { App } from "../app";
import { ACTIONS, added, hideKernel } from "./actions";
import { onPage } from "./dom";
import { showFilters } from "./filters";
import { showHelp } from "./help";

export class Keys {
	constructor(private readonly app: App) {}

	listen(): void {
		onPage<KeyboardEvent>(document, "keydown", (event) => {
			if (!event.defaultPrevented && this.take(event)) event.preventDefault();
		});
	}

	private take(event: KeyboardEvent): boolean {
		const target = event.target as HTMLElement;
		if (document.querySelector("dialog[open]")) return false;
		if (target === this.app.toolbar.search) return this.searching(event);
		if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return false;
		if (event.ctrlKey || event.metaKey) return this.withControl(event);
		if (event.altKey) return false;
		return this.app.current.key?.(event) === true || this.act(event) || this.transform(event);
	}

	private searching(event: KeyboardEvent): boolean {
		const { search } = this.app.toolbar;
		if (event.key === "Escape") {
			search.value = "";
			search.blur();
			this.app.update({ search: "" });
			return true;
		}
		if (event.key !== "Enter") return false;
		this.next(event.shiftKey ? -1 : 1);
		return true;
	}

	// To the next function that matches, the one with the largest self first.
	private next(step: number): void {
		const { session } = this.app;
		const { matches, functions: { self, total } } = session;
		if (!matches) return;
		const found: number[] = [];
		for (let func = 0; func < total.length; func++) if (matches[func] !== 0 && total[func] > 0) found.push(func);
		found.sort((one, other) => self[other] - self[one] || total[other] - total[one]);
		const at = found.indexOf(session.state.func);
		if (found.length > 0) this.app.select([], found[at < 0 ? 0 : (at + step + found.length) % found.length]);
	}

	private withControl(event: KeyboardEvent): boolean {
		const key = event.key.toLowerCase();
		if (key === "z") event.shiftKey ? this.app.redo() : this.app.undo();
		else if (key === "c" && String(getSelection()) === "") this.app.copy();
		else return false;
		return true;
	}

	private act(event: KeyboardEvent): boolean {
		const { app } = this;
		const { session } = app;
		const { state } = session;
		const tab = /^[0-9]$/.test(event.key) ? app.tabs[(Number(event.key) + 9) % 10] : undefined;
		if (tab) app.update({ view: tab.view }, true);
		else if (event.key === "?") showHelp();
		else if (event.key === "/") app.toolbar.search.select();
		else if (event.key === "Escape") this.escape();
		else if (event.key === "i") app.update({ invert: !state.invert, path: [], zoom: [] }, true);
		else if (event.key === "v") app.update({ down: !state.down });
		else if (event.key === "k") app.update(hideKernel(session), true);
		else if (event.key === "j" && app.recording.hasInlined) app.update({ inlined: !state.inlined, path: [], zoom: [] }, true);
		else if (event.key === "o") app.save();
		else if (event.key === "t" && !app.recording.header.aggregated) showFilters(app);
		else if (event.key === "b" && app.served) void app.showRecord();
		else if ((event.key === "," || event.key === ".") && !app.recording.header.aggregated) this.thread(event.key === "." ? 1 : -1);
		else if (event.key === "Backspace") this.removeLast();
		else if (event.key === "F10" && event.shiftKey) this.menu();
		else if (event.key === "Enter" && state.func >= 0 && !(event.target instanceof HTMLButtonElement))
			app.update({ view: "sandwich" }, true);
		else return false;
		return true;
	}

	private escape(): void {
		const { app } = this;
		const { state } = app.session;
		if (app.menuBox.hide()) return;
		if (state.path.length > 0 || state.func >= 0) app.select([], -1);
		else if (state.search !== "") app.update({ search: "" });
		else if (state.zoom.length > 0) app.update({ zoom: [] }, true);
	}

	// The thread that comes after the one that is selected, by samples.
	private thread(step: number): void {
		const { session, recording } = this.app;
		const sums = new Float64Array(recording.tasks.length);
		const { thread, count } = session.samples;
		for (let index = 0; index < count; index++) sums[recording.threads[thread[index]].task]++;
		const order = Array.from(sums.keys()).filter((task) => sums[task] > 0).sort((one, other) => sums[other] - sums[one]);
		const names = order.map((task) => `${recording.tasks[task].pid}:${recording.tasks[task].tid}`);
		const at = names.indexOf(session.state.threads[0] ?? "");
		const next = at < 0 ? (step > 0 ? 0 : names.length - 1) : at + step;
		this.app.update({ threads: names[next] === undefined ? [] : [names[next]] }, true);
	}

	private removeLast(): void {
		const { state } = this.app.session;
		if (state.transforms.length > 0) this.app.update({ transforms: state.transforms.slice(0, -1), path: [], zoom: [] }, true);
		else if (state.ranges.length > 0) this.app.update({ ranges: state.ranges.slice(0, -1) }, true);
	}

	private menu(): void {
		this.app.menu(window.innerWidth / 2, window.innerHeight / 3);
	}

	private transform(event: KeyboardEvent): boolean {
		const { session } = this.app;
		const transform = ACTIONS.find((action) => action.key === event.key)?.transform(session);
		if (transform) this.app.update(added(session, transform), true);
		return transform !== undefined;
	}
}
