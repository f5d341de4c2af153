// SPDX-License-Identifier: MIT
// Which functions have a text in their names, or in those of their objects. Words separated by blanks must all be there, or between
// slashes a regular expression; capitals do not matter unless there are some.

import type { Recording } from "./recording";

export class Searching {
	private readonly exact: string[] = []; // by function
	private readonly folded: string[] = [];

	constructor(private readonly recording: Recording) {}

	// Makes some more texts, which can be done while nobody waits; whether there are more of them.
	prepare(count: number): boolean {
		const { recording, exact, folded } = this;
		const functions = recording.functions.object.length;
		const end = Math.min(exact.length + count, functions);
		for (let func = exact.length; func < end; func++) {
			const text = `${recording.name(func)} ${recording.objectOf(func)}`;
			exact.push(text);
			folded.push(text.toLowerCase());
		}
		return end < functions;
	}

	// Whether it is meant as an expression and is none.
	isWrong(search: string): boolean {
		return search.startsWith("/") && this.expression(search) === undefined;
	}

	private expression(search: string): RegExp | undefined {
		try {
			return new RegExp(search.replace(/^\/|\/$/g, ""), /[A-Z]/.test(search) ? "u" : "iu");
		} catch {
			return undefined;
		}
	}

	// A byte for each function.
	matches(search: string): Uint8Array {
		while (this.prepare(Infinity));
		if (search.startsWith("/")) {
			const expression = this.expression(search);
			return Uint8Array.from(this.exact, (text) => (expression?.test(text) ? 1 : 0));
		}
		const texts = search === search.toLowerCase() ? this.folded : this.exact;
		const words = search.split(/\s+/).filter((word) => word !== "");
		const found = new Uint8Array(texts.length);
		for (let func = 0; func < texts.length; func++) found[func] = words.every((word) => texts[func].includes(word)) ? 1 : 0;
		return found;
	}
}
