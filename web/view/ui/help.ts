// SPDX-License-Identifier: MIT
// The keys, as "?" shows them.

import { ACTIONS } from "./actions";
import { el } from "./dom";
import { dialog } from "./popups";

const GENERAL: readonly [string, string][] = [
	["?", "this help"], ["1 to 9, 0", "views (0 resets the zoom in views that zoom)"], ["/", "search for words, or /a|b/ for a regular expression; Enter and Shift+Enter: next and previous match"],
	["arrows", "move the selection: caller, largest callee, neighbours"], ["Enter", "callers and callees of the selected function"],
	["+ \u2212 0", "zoom in, out, reset"], ["i", "invert: from the sampled functions to their callers"], ["k", "hide or show the kernel"],
	["j", "hide or show inlined functions"], ["t", "choose processes, threads and CPUs"], [", .", "previous, next thread"],
	["h", "heaviest path (call tree)"], ["[ ]", "previous, next sample (samples, timeline) or record (file)"], ["b", "bytes of the selected sample, line or frame, else of the first sample with the selected function (served pages)"], ["o", "save what is selected"], ["v", "draw stacks up or down"], ["Backspace", "remove the last crumb"], ["Ctrl+Z, Ctrl+Shift+Z", "back, forward"],
	["Ctrl+C", "copy the selected stack"], ["Shift+F10", "menu of the selected function"], ["Escape", "close, then deselect, then end the search"],
	["W A S D", "zoom and pan (timeline, flame chart)"],
];

const POINTER: readonly [string, string][] = [
	["drag", "select a time range"], ["click in a lane", "select the sample that is nearest"], ["double click", "zoom to the frame, or to all in the strip"], ["wheel", "scroll"],
	["Ctrl+wheel, pinch", "zoom at the pointer"], ["Shift+wheel", "pan"], ["right click, long press", "menu"],
];

function table(title: string, rows: readonly (readonly [string, string])[]): HTMLElement {
	return el("section", {}, el("h3", {}, title), el("table", {}, ...rows.map(([key, text]) =>
		el("tr", {}, el("td", {}, el("kbd", {}, key)), el("td", {}, text)))));
}

export function showHelp(): void {
	dialog("Keys", el("div", { class: "help" }, table("Everywhere", GENERAL),
		table("On the selected function", ACTIONS.map((action) => [action.key, action.label] as const)), table("Pointer", POINTER)));
}
