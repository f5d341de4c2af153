// SPDX-License-Identifier: MIT
// Elements are made with text only: no name of a recording is ever read as HTML.

type Child = Node | string;
type Attributes = Readonly<Record<string, string | number | boolean | ((event: never) => void)>>;

// Attributes that are functions listen to the event of that name; true and false set and leave out.
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]):
	HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (name === "style") element.style.cssText = String(value); // the policy forbids the attribute
		else if (typeof value === "function") element.addEventListener(name, value as unknown as EventListener);
		else if (value === true) element.setAttribute(name, "");
		else if (value !== false) element.setAttribute(name, String(value));
	}
	element.append(...children);
	return element;
}

// Whether a view is not only shown to be ready.
export function isSeen(view: HTMLElement): boolean {
	return !view.closest("[inert]");
}

export function button(text: string, title: string, click: () => void, attributes: Attributes = {}): HTMLButtonElement {
	return el("button", { type: "button", title, click, ...attributes }, text);
}

// What listens to the whole page ends when another recording, or more of it, is shown.
let life = new AbortController();

export function renewPage(): void {
	life.abort();
	life = new AbortController();
}

export function onPage<T extends Event>(target: EventTarget, type: string, listener: (event: T) => void): void {
	target.addEventListener(type, listener as unknown as EventListener, { signal: life.signal });
}

const PART_MS = 10;

export function waited(ms: number): Promise<void> {
	return new Promise((done) => setTimeout(done, ms));
}

// Does work part by part while nobody waits for the page; it ends with the recording that is shown. A part may be one to wait for.
export function whenIdle(work: Iterator<unknown>, done: () => void): void {
	const { signal } = life;
	const later = globalThis.requestIdleCallback as typeof requestIdleCallback | undefined;
	const part = () => {
		const until = performance.now() + PART_MS;
		while (!signal.aborted && performance.now() < until) {
			const { done: isDone, value } = work.next();
			if (isDone) return done();
			if (value instanceof Promise) return void value.then(next);
		}
		if (!signal.aborted) next();
	};
	const next = () => void (later ? later(part) : setTimeout(part, 2 * PART_MS));
	next();
}

let touched = 0;

// To be called when something is done that the page has to answer.
export function touch(): void {
	touched = performance.now();
}

export function isQuietSince(ms: number): boolean {
	return performance.now() - touched >= ms;
}

const LONG_PRESS_MS = 500;

// A finger that stays asks for the menu, also where browsers do not see to it. One that moves, or is not alone, does not.
export function listenToLongPress(target: EventTarget): void {
	let timer = 0;
	const end = () => window.clearTimeout(timer);
	onPage(target, "pointerdown", (event: PointerEvent) => {
		end();
		if (event.pointerType !== "touch" || !event.isPrimary) return;
		const { clientX, clientY } = event;
		timer = window.setTimeout(() => event.target?.dispatchEvent(new MouseEvent("contextmenu", { clientX, clientY, bubbles: true, cancelable: true })),
			LONG_PRESS_MS);
	});
	onPage(target, "contextmenu", (event: MouseEvent) => {
		if (event.isTrusted) end();
	});
	onPage(target, "pointermove", (event: PointerEvent) => {
		if (Math.abs(event.movementX) + Math.abs(event.movementY) > 4) end();
	});
	for (const type of ["pointerup", "pointercancel"]) onPage(target, type, end);
}

// Calls a function a moment after it was last asked to.
export function onceIdle<T>(call: (value: T) => void): (value: T) => void {
	let timer = 0;
	return (value) => {
		clearTimeout(timer);
		timer = window.setTimeout(() => call(value), 60);
	};
}

// A canvas as large as its element, in pixels of the screen; the context is cleared and counts in CSS pixels.
export function cleared(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
	const ratio = window.devicePixelRatio || 1;
	const context = canvas.getContext("2d") as CanvasRenderingContext2D;
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
	}
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, width, height);
	return context;
}

let small: HTMLCanvasElement | undefined;

// Pixels side by side, made as large as a place: rectangles would be many more.
export function drawPixels(context: CanvasRenderingContext2D, pixels: Uint32Array, x: number, y: number, width: number, height: number): void {
	small ??= el("canvas", { height: 1 });
	small.width = pixels.length; // which clears it
	small.getContext("2d")?.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer as ArrayBuffer), pixels.length, 1), 0, 0);
	context.imageSmoothingEnabled = false;
	context.drawImage(small, x, y, width, height);
}

// Text that fits into a width, the end cut off. Letters of the canvas are all `letter` wide.
export function fitting(text: string, width: number, letter: number): string {
	const room = Math.floor(width / letter);
	if (room < 2) return "";
	return text.length <= room ? text : `${text.slice(0, room - 1)}\u2026`;
}

// Calls a function once before the next picture, however often it is asked to.
export function onceAFrame(call: () => void): () => void {
	let waiting = false;
	return () => {
		if (waiting) return;
		waiting = true;
		requestAnimationFrame(() => {
			waiting = false;
			call();
		});
	};
}

export const MONO = "ui-monospace, \"DejaVu Sans Mono\", Menlo, Consolas, monospace";
