// SPDX-License-Identifier: MIT
// The page: the views, the one selection that they share, and its text in the address.

import { CompareView } from "./compare/view";
import { Comparison } from "./core/compare";
import { preparation } from "./core/prepare";
import type { Recording } from "./core/recording";
import { Session } from "./core/session";
import { State, stateOf, textOf, View } from "./core/state";
import { amount } from "./core/text";
import { NONE, ROOT } from "./core/tree";
import { nodeOf } from "./core/nodes";
import { ChartView } from "./chart/view";
import { FlameView } from "./flame/view";
import { FunctionsView } from "./functions/view";
import { HeatView } from "./heat/view";
import { OverviewView } from "./overview/view";
import { SamplesView } from "./samples/view";
import { RecordsView } from "./records/view";
import { SandwichView } from "./sandwich/view";
import { SourceView } from "./source/view";
import { TextsView } from "./texts/view";
import { TimelineView } from "./timeline/view";
import { TreeView } from "./tree/view";
import { ACTIONS, added } from "./ui/actions";
import { Crumbs } from "./ui/crumbs";
import { describeNode } from "./ui/describe";
import { button, el, isQuietSince, listenToLongPress, onceAFrame, onPage, touch, waited, whenIdle } from "./ui/dom";
import { showHelp } from "./ui/help";
import { Keys } from "./ui/keys";
import { Legend } from "./ui/legend";
import { Look } from "./ui/look";
import { Menu, Tip } from "./ui/popups";
import { showSave } from "./ui/save";
import { Strip } from "./ui/strip";
import { Toolbar } from "./ui/toolbar";
import type { Host, MenuItem, Server, TipLine, ViewPanel } from "./ui/view";

const QUIET_MS = 300;
const FRAMES_MS = 50;
const TIMES = 3;
const REHEARSED: readonly View[] = ["overview", "flame", "tree", "functions", "sandwich", "samples", "timeline", "heat", "chart"];
const rehearsed = new Set<View>(); // also of a page that is made anew
const URL_DELAY = 250; // browsers refuse many changes of the address in a short time

interface Tab {
	readonly view: View;
	readonly label: string;
	readonly make: (host: Host) => ViewPanel;
	readonly served?: boolean; // needs a server
	readonly single?: boolean; // needs samples that are not sums
	readonly compared?: boolean; // needs a second recording
}

const TABS: readonly Tab[] = [
	{ view: "overview", label: "Overview", make: (host) => new OverviewView(host) },
	{ view: "compare", label: "Compare", make: (host) => new CompareView(host), compared: true },
	{ view: "timeline", label: "Timeline", make: (host) => new TimelineView(host), single: true },
	{ view: "heat", label: "Heat map", make: (host) => new HeatView(host), single: true },
	{ view: "flame", label: "Flame graph", make: (host) => new FlameView(host) },
	{ view: "chart", label: "Flame chart", make: (host) => new ChartView(host), single: true },
	{ view: "tree", label: "Call tree", make: (host) => new TreeView(host) },
	{ view: "functions", label: "Functions", make: (host) => new FunctionsView(host) },
	{ view: "sandwich", label: "Callers and callees", make: (host) => new SandwichView(host) },
	{ view: "samples", label: "Samples", make: (host) => new SamplesView(host), single: true },
	{ view: "source", label: "Code", make: (host) => new SourceView(host), single: true },
	{ view: "records", label: "File", make: (host) => new RecordsView(host), served: true },
	{ view: "texts", label: "Text", make: (host) => new TextsView(host), served: true },
];

export class App implements Host {
	readonly recording: Recording;
	readonly look: Look;
	readonly tabs: readonly Tab[];
	private readonly views = new Map<View, ViewPanel>();
	private readonly tipBox = new Tip();
	readonly menuBox = new Menu();
	readonly toolbar: Toolbar;
	private readonly strip: Strip;
	private readonly crumbs: Crumbs;
	private readonly legend: Legend;
	private readonly tabBar = el("nav", { class: "tabs", role: "tablist", "aria-label": "Views" });
	private readonly main = el("main", {});
	private readonly status = el("output", { class: "status", "aria-live": "polite" });
	private readonly warning = el("p", { class: "warning", role: "alert", hidden: true });
	private urlTimer = 0;
	isPrepared = false;
	private readonly stage = el("div", { class: "rehearsal", inert: true, "aria-hidden": "true" });
	private steps = 0; // that "back" can undo
	private readonly draw = onceAFrame(() => this.drawNow());

	readonly comparison: Comparison | undefined;

	// reopen: makes the page anew, for the other one of two recordings.
	constructor(readonly session: Session, private readonly server: Server | undefined, base: Session | undefined, private readonly reopen: () => void) {
		this.comparison = base && new Comparison(session, base, session.state.earlier);
		this.recording = session.recording;
		this.look = new Look(session, this.comparison);
		this.tabs = TABS.filter((tab) => (server || !tab.served) && (base || !tab.compared) && !(tab.single && this.recording.header.aggregated));
		// Views get these as functions of their own.
		this.update = this.update.bind(this);
		this.toolbar = new Toolbar(this);
		this.strip = new Strip(this);
		this.crumbs = new Crumbs(this);
		this.legend = new Legend(this);
		this.build();
		this.watchTheme();
		this.takeAddress();
		onPage(window, "popstate", () => this.takeAddress());
		onPage(window, "hashchange", () => this.takeAddress());
		listenToLongPress(window);
		new Keys(this).listen();
	}

	private build(): void {
		const { header } = this.recording;
		const name = this.comparison ? this.comparison.names.join(" \u2192 ") : header.name;
		document.title = `${name} \u2013 perfdata`;
		this.tabBar.append(...this.tabs.map((tab, index) => button(tab.label, `${tab.label} (${(index + 1) % 10})`,
			() => this.update({ view: tab.view }, true), { role: "tab", "data-view": tab.view })));
		document.body.replaceChildren(
			el("header", { class: "top" }, el("h1", { title: name }, name), this.tabBar,
				button("Save\u2026", "Save or copy what is selected (o)", () => this.save()), button("?", "Keys", showHelp, { class: "round", "aria-label": "Help" })),
			...this.facts(), this.toolbar.element, this.strip.element, this.crumbs.element, this.warning, this.legend.element, this.main, el("footer", {}, this.status),
			this.tipBox.element, this.menuBox.element);
	}

	// What is to be known of the numbers, whatever is looked at.
	private facts(): HTMLElement[] {
		const { facts } = this.recording.header;
		return facts.length === 0 ? [] : [el("ul", { class: "facts", "aria-label": "Profile quality" },
			...facts.map(({ text, bad }) => el("li", { class: bad ? "bad" : "" }, text)))];
	}

	private watchTheme(): void {
		const dark = matchMedia("(prefers-color-scheme: dark)");
		const show = () => {
			this.look.setDark(dark.matches);
			this.draw();
		};
		onPage(dark, "change", show);
		this.look.setDark(dark.matches);
		onPage(window, "resize", this.draw);
	}

	// After the first picture.
	prepare(): void {
		whenIdle(this.preparation(), () => (this.isPrepared = true));
	}

	private *preparation(): Generator<Promise<void> | void> {
		yield* preparation(this.session);
		const timeline = this.has("timeline") ? this.view("timeline") : undefined;
		if (timeline?.prepare) yield* timeline.prepare(this.main.clientWidth, this.main.clientHeight);
		for (const view of REHEARSED) {
			while (!isQuietSince(QUIET_MS)) yield waited(QUIET_MS);
			if (rehearsed.has(view) || !this.has(view) || (view === "samples" && this.session.state.record >= 0)) continue;
			rehearsed.add(view);
			yield* this.rehearse(this.view(view));
		}
	}

	// Shows a view where nobody sees it, so that the first time takes no longer than others. Once for a page: then the engine has compiled it.
	private *rehearse(panel: ViewPanel): Generator<Promise<void> | void> {
		const { stage, main } = this;
		if (panel.element.isConnected) return;
		stage.style.width = `${main.clientWidth}px`;
		stage.style.height = `${main.clientHeight}px`;
		for (let time = 0; time < TIMES && isQuietSince(QUIET_MS); time++) {
			stage.replaceChildren(panel.element);
			document.body.append(stage);
			panel.show();
			yield waited(FRAMES_MS);
			stage.remove();
		}
	}

	// ---- state ----

	update(change: Partial<State>, step = false): void {
		const { session } = this;
		touch();
		this.stage.remove();
		Object.assign(session.state, change);
		if (change.event !== undefined) void session.readEvent().then(() => this.draw(), (error: unknown) => this.warn(String(error)));
		this.tipBox.hide();
		clearTimeout(this.urlTimer);
		if (step) this.putAddress(true);
		else this.urlTimer = window.setTimeout(() => this.putAddress(false), URL_DELAY);
		this.draw();
	}

	preview(range: { from: number; to: number } | undefined): void {
		touch();
		this.session.preview = range;
		this.draw();
	}

	select(path: readonly number[], func: number): void {
		this.update({ path: [...path], func });
	}

	private putAddress(step: boolean): void {
		const text = `#${textOf(this.session.state, this.recording)}`;
		if (text === location.hash || (location.hash === "" && text.replace(/&fp=[^&]*/, "") === `#${this.recording.header.link || "1"}`)) return;
		try {
			if (step) history.pushState({ steps: ++this.steps }, "", text);
			else history.replaceState({ steps: this.steps }, "", text);
		} catch {
			this.say("The browser refuses to change the address that often.");
		}
	}

	private takeAddress(): void {
		this.steps = Number((history.state as { steps?: number } | null)?.steps ?? 0);
		const { state, messages } = stateOf(location.hash || this.recording.header.link, this.recording);
		if (state.earlier !== this.session.state.earlier) return this.reopen();
		const now = this.session.state as unknown as Record<string, unknown>;
		const event = state.event !== this.session.state.event;
		for (const [key, value] of Object.entries(state))
			if (JSON.stringify(value) !== JSON.stringify(now[key])) now[key] = value;
		this.warn(messages.length > 0 ? `Not understood in the link: ${messages.join("; ")}` : "");
		if (event) void this.session.readEvent().then(() => this.draw());
		this.draw();
	}

	// Looks at the other one of two recordings. Times, tasks and records are of one only, and so is the fingerprint of the link.
	lookAt(earlier: boolean): void {
		const { state } = this.session;
		clearTimeout(this.urlTimer);
		const text = textOf({ ...state, earlier, ranges: [], window: [], processes: [], threads: [], cpus: [], cgroups: [], record: -1 }, this.recording);
		history.pushState({ steps: ++this.steps }, "", `#${text.replace(/&fp=[^&]*/, "")}`);
		this.reopen();
	}

	// Whether somebody is in the middle of something, which more data should not disturb.
	get isBusy(): boolean {
		const active = document.activeElement;
		return this.session.preview !== undefined || active === this.toolbar.search || active instanceof HTMLSelectElement
			|| !this.menuBox.element.hidden || document.querySelector("dialog[open]") !== null;
	}

	// Puts what the address does not have yet into it, for the page that comes after this one.
	keep(): void {
		clearTimeout(this.urlTimer);
		this.putAddress(false);
	}

	undo(): void {
		if (this.steps > 0) history.back();
	}

	redo(): void {
		history.forward();
	}

	// ---- what is shown ----

	private has(view: View): boolean {
		return this.tabs.some((tab) => tab.view === view);
	}

	view(view: View): ViewPanel {
		let panel = this.views.get(view);
		if (!panel) {
			const tab = this.tabs.find((one) => one.view === view) ?? this.tabs[0];
			this.views.set(view, (panel = tab.make(this)));
		}
		return panel;
	}

	get current(): ViewPanel {
		return this.view(this.session.state.view);
	}

	private drawNow(): void {
		const { state } = this.session;
		for (const tab of this.tabBar.querySelectorAll("button"))
			tab.setAttribute("aria-selected", String(tab.dataset["view"] === state.view));
		this.toolbar.show();
		this.crumbs.show();
		this.legend.show();
		this.strip.draw();
		const { element } = this.current;
		const isNew = this.main.firstElementChild !== element;
		if (isNew) this.main.replaceChildren(element);
		document.body.dataset["view"] = state.view;
		this.current.show();
		this.describe();
		if (isNew) this.tabBar.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
	}

	private describe(): void {
		const { session, recording } = this;
		const { state, nodes } = session;
		const node = state.path.length > 0 ? nodeOf(nodes, state.path) : NONE;
		if (node > ROOT) this.say(describeNode(this, nodes, node).join(" \u00b7 "));
		else if (state.func >= 0)
			this.say(`${recording.name(state.func)}: total ${amount(session.functions.totalOf(state.func), session.unit)}, `
				+ `self ${amount(session.functions.self[state.func], session.unit)}`);
		else this.say("");
	}

	say(text: string): void {
		if (this.status.textContent !== text) this.status.textContent = text;
	}

	private warn(text: string): void {
		this.warning.hidden = text === "";
		this.warning.textContent = text;
	}

	tip(lines: readonly TipLine[], x: number, y: number): void {
		this.tipBox.show(lines, x, y);
	}

	noTip(): void {
		this.tipBox.hide();
	}

	// ---- what can be done with the selected function ----

	menu(x: number, y: number): void {
		const { session, recording } = this;
		const { func } = session.state;
		const bytes: MenuItem[] = this.served ? [{ label: "Bytes of a sample", key: "b", act: () => void this.showRecord() }] : [];
		if (func < 0 && this.current.sample?.() !== undefined && bytes.length > 0) this.menuBox.show("no stack", bytes, x, y);
		if (func < 0) return;
		const items: MenuItem[] = [...(this.has("source") ? [{ label: "Code", act: () => this.update({ view: "source" }, true) }] : []),
			{ label: "Callers and callees", key: "Enter", act: () => this.update({ view: "sandwich" }, true) }];
		for (const action of ACTIONS) {
			const transform = action.transform(session);
			if (transform) items.push({ label: action.label, key: action.key, act: () => this.update(added(session, transform), true) });
		}
		items.push(...bytes, { label: "Copy stack", key: "Ctrl+C", act: () => this.copy() });
		this.menuBox.show(recording.name(func), items, x, y);
	}

	// The record of a sample in the file: of the given one, else of the one that the view has, else of the first one with the selected function.
	async showRecord(index = this.current.sample?.() ?? this.session.firstSample()): Promise<void> {
		const record = (await this.recording.recordsOf(this.session.state.event))[index];
		if (record === undefined) this.say(index < 0 ? "No sample has this function." : "This page does not know the record.");
		else this.update({ view: "records", record }, true);
	}

	copy(): void {
		const { state } = this.session;
		const path = state.path.length > 0 ? state.path : state.func >= 0 ? [state.func] : [];
		if (path.length === 0) return;
		const text = path.map((func) => this.recording.name(func)).join("\n");
		navigator.clipboard.writeText(text).then(() => this.say(`Copied ${path.length} frames`), () => this.say("The browser refuses to copy."));
	}

	save(): void {
		showSave(this, this.current.drawn?.() ?? [], [...this.current.element.querySelectorAll("canvas")]);
	}

	get changes(): Comparison | undefined {
		return this.session.state.colour === "change" ? this.comparison : undefined;
	}

	get served(): boolean {
		return this.server !== undefined;
	}

	get texts(): readonly string[] {
		return this.server?.texts ?? [];
	}

	// Of two recordings the server has the second under another name.
	private endpoint(path: string): string {
		return this.comparison && !this.comparison.earlier ? path.replace(/^[\w.]+/, (name) => `${name}/1`) : path;
	}

	fetch(path: string): Promise<Response> {
		return this.server ? this.server.fetch(this.endpoint(path)) : Promise.reject(new Error("this page has no server"));
	}

	download(path: string, name: string): void {
		this.server?.download(this.endpoint(path), name);
	}
}
