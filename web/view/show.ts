// SPDX-License-Identifier: MIT
// From the data of one or two recordings to the page that shows them.

import { App } from "./app";
import * as core from "./core/index";
import type { Container } from "./core/decode";
import { Recording } from "./core/recording";
import { Session } from "./core/session";
import { renewPage } from "./ui/dom";
import type { Server } from "./ui/view";

export interface Page {
	app: App; // another one when more of the recording, or another recording, is shown
	picture: number; // when the first one was drawn
	updates: number;
}

// One recording, or an earlier and a later one, of which the address may say that the earlier one is looked at.
export async function appOf(all: readonly Container[], server: Server | undefined, reopen = () => {}): Promise<App> {
	const isEarlier = all.length > 1 && /[#&]b=1(&|$)/.test(location.hash);
	const [main, other] = isEarlier ? all : [...all].reverse();
	if (!main) throw new Error("there is no recording in this page");
	const recording = await Recording.open(main);
	const { state } = core.state.stateOf(location.hash || recording.header.link, recording);
	const base = other ? await Session.open(await Recording.open(other)) : undefined;
	const session = await Session.open(recording, state.event);
	session.state.earlier = state.earlier;
	return new App(session, server, base, reopen);
}

export async function show(all: readonly Container[], server: Server | undefined): Promise<Page> {
	const page = { picture: 0, updates: 0 } as Page;
	const reopen = () => {
		renewPage();
		void appOf(all, server, reopen).then((app) => {
			page.app = app;
			page.updates++;
		}, failed);
	};
	page.app = await appOf(all, server, reopen);
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
