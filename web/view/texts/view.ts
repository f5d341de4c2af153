// SPDX-License-Identifier: MIT
// What commands of perfdata print: of the whole file, and of the selection. Only a served page has the file.

import { button, el } from "../ui/dom";
import { query } from "../ui/save";
import type { Host, ViewPanel } from "../ui/view";

const SCRIPT_MOST = 1000; // samples

interface Kind {
	readonly label: string;
	readonly title: string;
	readonly path: (host: Host) => string;
}

const KINDS: Readonly<Record<string, Kind>> = {
	"info": { label: "Info", title: "What the file is, and how it was made", path: () => "info" },
	"check": { label: "Check", title: "What is damaged or unusual in the file", path: () => "check" },
	"report.txt": { label: "Report", title: "The functions of the selection", path: (host) => `report.txt?${query(host)}` },
	"script": { label: "Script", title: `The first ${SCRIPT_MOST} samples of the selection`,
		path: (host) => `script?count=${SCRIPT_MOST}&${query(host)}` },
};

export class TextsView implements ViewPanel {
	readonly element: HTMLElement;
	private readonly buttons = new Map<string, HTMLButtonElement>();
	private readonly text = el("pre", { class: "scroller mono", tabindex: 0 });
	private readonly note = el("span", { class: "note", hidden: true }, "Transforms and search do not apply here.");
	private shown = ""; // the request
	private kind: string;

	constructor(private readonly host: Host) {
		this.kind = host.texts[0] ?? "";
		for (const name of host.texts) {
			const kind = KINDS[name];
			if (kind) this.buttons.set(name, button(kind.label, kind.title, () => this.choose(name), { class: "toggle" }));
		}
		this.element = el("section", { class: "view texts" }, el("div", { class: "view-tools" }, ...this.buttons.values(), this.note), this.text);
	}

	private choose(name: string): void {
		this.kind = name;
		this.show();
	}

	show(): void {
		for (const [name, one] of this.buttons) one.setAttribute("aria-pressed", String(name === this.kind));
		const path = KINDS[this.kind]?.path(this.host) ?? "";
		const { transforms, search } = this.host.session.state;
		this.note.hidden = !path.includes("?") || (transforms.length === 0 && search === "");
		if (path !== this.shown) void this.read((this.shown = path));
	}

	private async read(path: string): Promise<void> {
		this.text.textContent = "reading\u2026";
		const text = await this.host.fetch(path).then((answer) => answer.text(), (error: unknown) => String(error));
		if (path === this.shown) this.text.textContent = text;
	}
}
