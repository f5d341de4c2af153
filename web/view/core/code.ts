// SPDX-License-Identifier: MIT
// The sampled addresses of one function, and what changed at them since another recording.

import type { Comparison, Shares } from "./compare";
import type { Session } from "./session";
import { NONE } from "./tree";

export interface SampledAddress {
	readonly address: bigint;
	readonly file: string;
	readonly line: number; // 0: unknown
	readonly samples: number;
	readonly amount: number; // in what is counted
	readonly index: number; // in the table of addresses
}

// By address.
export async function sampledAddresses(session: Session, func: number): Promise<SampledAddress[]> {
	const { recording } = session;
	const table = await recording.addresses();
	const { counts: { byLeaf: samples }, byLeaf, stays } = session;
	const sums = new Map<number, { samples: number; amount: number }>();
	for (let leaf = 0; leaf < samples.length; leaf++) {
		const address = recording.leafAddress[leaf];
		if (samples[leaf] === 0 || (stays && stays[leaf] === 0) || address < 0 || table.func[address] !== func) continue;
		const sum = sums.get(address) ?? { samples: 0, amount: 0 };
		sums.set(address, { samples: sum.samples + samples[leaf], amount: sum.amount + byLeaf[leaf] });
	}
	const order = [...sums.keys()].sort((one, other) => (table.address[one] < table.address[other] ? -1 : 1));
	return order.map((address) => ({ index: address, address: table.address[address], file: recording.string(table.file[address]), line: table.line[address],
		...sums.get(address) as { samples: number; amount: number } }));
}

// "path/to/file.c" and 5 are "file.c:5"; empty: unknown.
export function placeOf(file: string, line: number): string {
	return file === "" ? "" : `${file.replace(/.*\//, "")}:${line}`;
}

// What is compared: instructions if both recordings are of the same build, else lines of the source.
export type Way = "instruction" | "line";

export interface CodeChanges {
	readonly way: Way;
	// Shares of all that is selected; undefined: an instruction of a line that is not known.
	shares(address: bigint, place: string): Shares | undefined;
	readonly gone: readonly SampledAddress[]; // of the base, where the recording has no samples
}

type KeyOf = (one: { address: bigint; place: string }) => string;

function sumsBy(keyOf: KeyOf, addresses: readonly SampledAddress[]): Map<string, number> {
	const sums = new Map<string, number>();
	for (const { address, file, line, amount } of addresses) {
		const key = keyOf({ address, place: placeOf(file, line) });
		sums.set(key, (sums.get(key) ?? 0) + amount);
	}
	return sums;
}

export async function codeChanges(comparison: Comparison, func: number): Promise<CodeChanges> {
	await comparison.sync();
	const { main, base } = comparison;
	const other = comparison.baseFunc(func);
	const [own, before] = [await sampledAddresses(main, func), other === NONE ? [] : await sampledAddresses(base, other)];
	const way = await comparison.isSameBuild(func) ? "instruction" : "line";
	const keyOf: KeyOf = way === "instruction" ? ({ address }) => String(address) : ({ place }) => place;
	const [sums, baseSums] = [sumsBy(keyOf, own), sumsBy(keyOf, before)];
	const [all, allBase] = [main, base].map((one) => Math.max(one.sums.all, 1)) as [number, number];
	return {
		way,
		shares: (address, place) => {
			const key = keyOf({ address, place });
			return key === "" ? undefined : comparison.ordered((baseSums.get(key) ?? 0) / allBase, (sums.get(key) ?? 0) / all);
		},
		gone: before.filter(({ address, file, line }) => !sums.has(keyOf({ address, place: placeOf(file, line) }))),
	};
}
