// SPDX-License-Identifier: MIT
// What a view is for the page, and the page for a view.

import type { Comparison } from "../core/compare";
import type { Recording } from "../core/recording";
import type { Drawn } from "../core/save";
import type { Session } from "../core/session";
import type { State } from "../core/state";
import type { Look } from "./look";

export interface ViewPanel {
	readonly element: HTMLElement;
	show(): void; // draws what the session has now
	prepare?(width: number, height: number): Generator<void>; // part by part, before it is shown in a space of this size
	key?(event: KeyboardEvent): boolean; // whether it was for this view
	sample?(): number | undefined; // the one that is selected, where it is not just the first one of a function
	drawn?(): readonly Drawn[]; // boxes that are shown, to be saved
}

export interface TipLine {
	readonly text: string;
	readonly strong?: boolean;
}

export interface MenuItem {
	readonly label: string;
	readonly key?: string;
	readonly act: () => void;
}

export interface Host {
	readonly session: Session;
	readonly recording: Recording;
	readonly look: Look;
	readonly served: boolean;
	readonly comparison: Comparison | undefined; // with a recording from before
	readonly changes: Comparison | undefined; // the same if colours are by change
	// Changes the state. A step is something that "back" undoes.
	update(change: Partial<State>, step?: boolean): void;
	preview(range: { from: number; to: number } | undefined): void;
	select(path: readonly number[], func: number): void;
	tip(lines: readonly TipLine[], x: number, y: number): void;
	noTip(): void;
	menu(x: number, y: number): void; // of the selected function
	lookAt(earlier: boolean): void; // at which of two recordings
	showRecord(index?: number): Promise<void>; // of a sample of the event, or of the first one with the selected function
	say(text: string): void; // to everybody, in the line at the end of the page
	fetch(path: string): Promise<Response>; // of what docs/page.md lists, for the recording that is looked at
	download(path: string, name: string): void;
	readonly texts: readonly string[]; // those of the paths that are texts for people
}

// Who has the file of the recording, not only what is in the page.
export interface Server {
	readonly texts: readonly string[];
	fetch(path: string): Promise<Response>;
	download(path: string, name: string): void;
}
