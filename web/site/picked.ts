// SPDX-License-Identifier: MIT
// Files that were dropped or chosen, those in folders included.

import type { Picked } from "./messages";

const MOST = 20000; // files in folders: more are no recording

interface Entry {
	readonly isFile: boolean;
	readonly isDirectory: boolean;
	readonly fullPath: string;
	file(done: (file: File) => void, failed: (error: unknown) => void): void;
	createReader(): { readEntries(done: (entries: Entry[]) => void, failed: (error: unknown) => void): void };
}

// A folder is read piece by piece, until a piece is empty.
async function entriesOf(folder: Entry): Promise<Entry[]> {
	const reader = folder.createReader();
	const all: Entry[] = [];
	for (;;) {
		const some = await new Promise<Entry[]>((done, failed) => reader.readEntries(done, failed));
		if (some.length === 0 || all.length > MOST) return all;
		all.push(...some);
	}
}

async function walk(folders: readonly Entry[]): Promise<Picked[]> {
	const found: Picked[] = [];
	const waiting = [...folders];
	for (let entry = waiting.shift(); entry && found.length < MOST; entry = waiting.shift()) {
		const one = entry;
		if (one.isDirectory) waiting.push(...await entriesOf(one));
		else found.push({ file: await new Promise<File>((done, failed) => one.file(done, failed)), path: one.fullPath.replace(/^\//, "") });
	}
	return found;
}

// What is dropped can be asked for its entries only at once. Chromium does not read entries for a page that is a file itself.
export async function droppedFiles(transfer: DataTransfer | null): Promise<Picked[]> {
	const items = [...(transfer?.items ?? [])];
	const folders = items.map((item) => item.webkitGetAsEntry() as Entry | null).filter((entry) => entry?.isDirectory === true) as Entry[];
	const files = items.filter((item) => item.webkitGetAsEntry()?.isDirectory !== true).flatMap((item) => item.getAsFile() ?? []);
	try {
		return [...chosenFiles(files), ...await walk(folders)];
	} catch {
		throw new Error(`This browser does not read the folder ${folders[0]?.fullPath.slice(1) ?? ""} when it is dropped: choose it by the button.`);
	}
}

export function chosenFiles(files: Iterable<File> | null | undefined): Picked[] {
	return [...(files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
}
