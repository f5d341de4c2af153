// SPDX-License-Identifier: MIT
// Starts the page. Without a document, under node, it only gives its parts to tests.

import * as core from "./core/index";
import { Container, containersOf } from "./core/decode";
import { appOf, failed, Page, show } from "./show";
import * as heat from "./heat/view";
import * as gaps from "./timeline/gaps";
import * as lanes from "./timeline/lanes";
import * as series from "./timeline/series";
import * as colours from "./ui/colours";
import { el, renewPage } from "./ui/dom";
import type { Server } from "./ui/view";

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

// The server that the page came from.
const server: Server = {
	texts: ["info", "report.txt", "script"],
	fetch: (path) => fetch(path, { credentials: "same-origin", cache: "no-store" }),
	download: (path, name) => el("a", { href: path, download: name }).click(),
};

// A recording that grows: the page is made anew with the same state, unless somebody is in the middle of something.
class Live {
	private isNew = false;
	private isReading = false;

	constructor(private readonly page: Page) {
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
			this.page.app = await appOf([container], server);
			this.page.updates++;
		} catch {
			this.isNew = true; // the recording goes on being written: the next one will do
		}
		this.isReading = false;
	}
}

async function start(): Promise<void> {
	const { all, served } = await containers();
	const page = await show(all, served ? server : undefined);
	if (served) new Live(page);
}

if (typeof document === "undefined") Object.assign(globalThis, { perfdataView: { ...core, colours, series, timeline: { ...heat, ...lanes, ...gaps } } });
else start().catch(failed);
