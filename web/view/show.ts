// SPDX-License-Identifier: MIT
// From the data of one or two recordings to the page that shows them.

import { App } from "./app";
import * as core from "./core/index";
import type { Container } from "./core/decode";
import { Recording } from "./core/recording";
import { Session } from "./core/session";
import type { Server } from "./ui/view";

export interface Page {
	app: App;
	picture: number; // when the first one was drawn
	updates: number;
}

// One recording, or an earlier and a later one.
export async function appOf(all: readonly Container[], server: Server | undefined): Promise<App> {
	const last = all[all.length - 1];
	if (!last) throw new Error("there is no recording in this page");
	const recording = await Recording.open(last);
	const { state } = core.state.stateOf(location.hash, recording);
	const base = all.length > 1 ? await Session.open(await Recording.open(all[0])) : undefined;
	return new App(await Session.open(recording, state.event), server, base);
}

export async function show(all: readonly Container[], server: Server | undefined): Promise<Page> {
	const page = { app: await appOf(all, server), picture: 0, updates: 0 };
	Object.assign(globalThis, { perfdataView: page });
	// After the first picture is drawn; for tests.
	requestAnimationFrame(() => setTimeout(() => {
		page.picture = performance.now();
		page.app.prepare();
	}, 0));
	return page;
}

export function failed(error: unknown): void {
	const message = document.createElement("p");
	message.className = "failed";
	message.textContent = `This page cannot show its recording: ${error instanceof Error ? error.message : String(error)}`;
	document.body.replaceChildren(message);
}
