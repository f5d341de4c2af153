// SPDX-License-Identifier: MIT
// The part of the time that timeline and flame chart show: zoomed and moved by keys, wheel, pinch and drag.

import type { Range } from "../core/count";
import type { Host } from "../ui/view";

const SHORTEST_NS = 1000;

export const DRAGS = typeof matchMedia === "function" && matchMedia("(pointer: coarse)").matches
	? "drag: select, two fingers: zoom and pan" : "drag: select, shift+drag: pan, ctrl+wheel: zoom";

export class TimeWindow {
	constructor(private readonly host: Host) {}

	get range(): Range {
		const { state, whole, range } = this.host.session;
		return state.window[0] ?? (range && range === state.ranges[state.ranges.length - 1] ? range : whole);
	}

	set(from: number, to: number, step = false): void {
		const { whole, tick } = this.host.session;
		const length = Math.min(Math.max(to - from, SHORTEST_NS / tick), whole.to - whole.from);
		const begin = Math.round(Math.min(Math.max(from, whole.from), whole.to - length));
		const end = Math.round(begin + length);
		this.host.update({ window: begin === whole.from && end === whole.to && this.host.session.state.ranges.length === 0
			? [] : [{ from: begin, to: end }] }, step);
	}

	// Around a place between 0 and 1.
	zoom(factor: number, at = 0.5): void {
		const { from, to } = this.range;
		const length = (to - from) * factor;
		const fixed = from + (to - from) * at;
		this.set(fixed - length * at, fixed + length * (1 - at));
	}

	pan(share: number): void {
		const { from, to } = this.range;
		this.set(from + (to - from) * share, to + (to - from) * share);
	}

	all(): void {
		const { whole } = this.host.session;
		this.set(whole.from, whole.to, true);
	}

	// By the place of a key, so that it works on every keyboard.
	key(event: KeyboardEvent): boolean {
		if (event.ctrlKey || event.altKey || event.metaKey) return false;
		const step = event.shiftKey ? 0.5 : 0.15;
		if (event.code === "KeyW" || event.key === "+" || event.key === "=") this.zoom(event.shiftKey ? 0.4 : 0.7);
		else if (event.code === "KeyS" || event.key === "-") this.zoom(event.shiftKey ? 2.5 : 1.4);
		else if (event.code === "KeyA" || event.key === "ArrowLeft") this.pan(-step);
		else if (event.code === "KeyD" || event.key === "ArrowRight") this.pan(step);
		else if (event.key === "0") this.all();
		else return false;
		return true;
	}

	// Ctrl+wheel and pinch zoom, shift+wheel and sideways wheel pan; else the page scrolls.
	listen(element: HTMLElement, left: () => number): void {
		element.addEventListener("wheel", (event) => {
			const width = element.clientWidth - left();
			if (event.ctrlKey || event.metaKey) {
				const at = (event.clientX - element.getBoundingClientRect().left - left()) / width;
				this.zoom(Math.exp(event.deltaY * (Math.abs(event.deltaY) < 20 ? 0.02 : 0.004)), Math.min(Math.max(at, 0), 1));
			} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
				this.pan((event.deltaX || event.deltaY) / width);
			} else {
				return;
			}
			event.preventDefault();
		}, { passive: false });
		this.listenToFingers(element, left);
	}

	// Two fingers zoom, and move what is between them; what one finger had begun ends.
	private listenToFingers(element: HTMLElement, left: () => number): void {
		const fingers = new Map<number, number>();
		const place = () => {
			const [one, other] = [...fingers.values()] as [number, number];
			return { middle: (one + other) / 2, apart: Math.max(Math.abs(one - other), 8) };
		};
		let last = { middle: 0, apart: 1 };
		element.addEventListener("pointerdown", (event) => {
			if (event.pointerType !== "touch") return;
			fingers.set(event.pointerId, event.clientX);
			if (fingers.size < 2) return;
			event.stopImmediatePropagation();
			this.host.preview(undefined);
			element.dispatchEvent(new PointerEvent("pointercancel"));
			last = place();
		}, { capture: true });
		element.addEventListener("pointermove", (event) => {
			if (!fingers.has(event.pointerId)) return;
			fingers.set(event.pointerId, event.clientX);
			if (fingers.size !== 2) return;
			event.stopImmediatePropagation();
			const now = place();
			const width = element.clientWidth - left();
			this.zoom(last.apart / now.apart, (last.middle - element.getBoundingClientRect().left - left()) / width);
			this.pan((last.middle - now.middle) / width);
			last = now;
		}, { capture: true });
		for (const type of ["pointerup", "pointercancel"] as const)
			element.addEventListener(type, (event) => void fingers.delete(event.pointerId), { capture: true });
	}
}

// Steps of an axis: 1, 2 or 5 times a power of ten, at most one for each `room` pixels.
export function axisStep(length: number, width: number, room: number): number {
	const least = (length / width) * room;
	const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
	return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least) as number;
}
