// SPDX-License-Identifier: MIT
// What the page and its worker say to each other.

// A file with its path in the folder that was dropped; the name alone if none was.
export interface Picked {
	readonly file: File;
	readonly path: string;
}

// Of the files to open the first ones, `fresh` of them, are new. noData: only requests will be answered.
export type Request =
	{ kind: "open"; module: WebAssembly.Module; files: readonly Picked[]; fresh: number; noData: boolean } |
	{ kind: "ask"; id: number; index: number; path: string };

export interface Opened {
	readonly kind: "opened";
	readonly opened: readonly { readonly name: string; readonly data: ArrayBuffer }[];
	readonly refused: readonly string[]; // why, each
	readonly kept: readonly number[]; // of the files: what is of use for the next opening, too
}

export type Response =
	Opened |
	{ kind: "progress"; done: number; total: number } |
	{ kind: "failed"; message: string } |
	{ kind: "answer"; id: number; code: number; type: string; body: ArrayBuffer };
