// SPDX-License-Identifier: MIT
// Starts the page. Without a document, under node, it only gives its parts to tests.

import { App } from "./app";
import * as core from "./core/index";
import { Container, containersOf } from "./core/decode";
import { Recording } from "./core/recording";
import { Session } from "./core/session";
import * as colours from "./ui/colours";
import { renewPage } from "./ui/dom";

async function fetched(path: string): Promise<Container | undefined> {
	const response = await fetch(path);
	if (response.status === 404 && path !== "data") return undefined;
	if (!response.ok) throw new Error(`${path}: ${response.status} ${response.statusText}`);
	return new Container(new Uint8Array(await response.arrayBuffer()));
}

// One recording, or an earlier and a later one.
async function containers(): Promise<{ all: Container[]; served: boolean }> {
	const element = document.getElementById("data") as HTMLElement;
	const text = element.textContent ?? "";
	element.textContent = ""; // else its megabytes stay
	if (text.trim() !== "") return { all: containersOf(text), served: false };
	const first = (await fetched("data")) as Container;
	const second = element.dataset["count"] === "1" ? undefined : await fetched("data/1");
	return { all: second ? [first, second] : [first], served: true };
}

async function appOf(all: readonly Container[], served: boolean): Promise<App> {
	const last = all[all.length - 1];
	if (!last) throw new Error("there is no recording in this page");
	const recording = await Recording.open(last);
	const { state } = core.state.stateOf(location.hash, recording);
	const base = all.length > 1 ? await Session.open(await Recording.open(all[0])) : undefined;
	return new App(await Session.open(recording, state.event), served, base);
}

// A recording that grows: the page is made anew with the same state, unless somebody is in the middle of something.
class Live {
	private isNew = false;
	private isReading = false;

	constructor(private readonly page: { app: App; updates: number }) {
		new EventSource("alive").addEventListener("data", () => {
			this.isNew = true;
			void this.renew();
		});
		setInterval(() => void this.renew(), 500);
	}

	private async renew(): Promise<void> {
		if (!this.isNew || this.isReading || this.page.app.isBusy) return;
		this.isReading = true;
		this.isNew = false;
		try {
			const container = (await fetched("data")) as Container;
			this.page.app.keep();
			renewPage();
			this.page.app = await appOf([container], true);
			this.page.updates++;
		} catch {
			this.isNew = true; // the recording goes on being written: the next one will do
		}
		this.isReading = false;
	}
}

async function start(): Promise<void> {
	const { all, served } = await containers();
	const page = { app: await appOf(all, served), picture: 0, updates: 0 };
	Object.assign(globalThis, { perfdataView: page });
	// After the first picture is drawn; for tests.
	requestAnimationFrame(() => setTimeout(() => {
		page.picture = performance.now();
		page.app.prepare();
	}, 0));
	if (served) new Live(page);
}

function failed(error: unknown): void {
	const message = document.createElement("p");
	message.className = "failed";
	message.textContent = `This page cannot show its recording: ${error instanceof Error ? error.message : String(error)}`;
	document.body.replaceChildren(message);
}

if (typeof document === "undefined") Object.assign(globalThis, { perfdataView: { ...core, colours } });
else start().catch(failed);
