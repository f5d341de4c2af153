// SPDX-License-Identifier: MIT
// The strip of time: how much there was when, and the part of it that is chosen, by dragging or by keys.

class Strip {
	private readonly context: CanvasRenderingContext2D;
	private anchor = NO_NODE; // slice where dragging began

	constructor(
		private readonly model: Model,
		private readonly look: Look,
		private readonly canvas: HTMLCanvasElement,
		private readonly text: HTMLElement,
		private readonly all: HTMLButtonElement,
		private readonly chosen: () => void,
	) {
		this.context = canvas.getContext("2d") as CanvasRenderingContext2D;
		canvas.setAttribute("aria-valuemax", String(this.count));
		canvas.addEventListener("pointerdown", (event) => {
			canvas.setPointerCapture(event.pointerId);
			this.anchor = this.slice(event);
			this.choose(this.anchor, this.anchor);
		});
		canvas.addEventListener("pointermove", (event) => {
			if (this.anchor !== NO_NODE) this.choose(this.anchor, this.slice(event));
		});
		canvas.addEventListener("pointerup", () => {
			this.anchor = NO_NODE;
		});
		canvas.addEventListener("pointercancel", () => {
			this.anchor = NO_NODE;
		});
		canvas.addEventListener("dblclick", () => this.choose(0, this.count - 1));
		canvas.addEventListener("keydown", (event) => this.key(event));
		all.addEventListener("click", () => this.choose(0, this.count - 1));
	}

	private get count(): number {
		return this.model.data.sliceCount;
	}

	private slice(event: PointerEvent): number {
		const share = event.offsetX / Math.max(this.canvas.clientWidth, 1);
		return Math.min(Math.max(Math.floor(share * this.count), 0), this.count - 1);
	}

	private choose(one: number, other: number): void {
		const first = Math.min(one, other);
		const last = Math.max(one, other);
		if (first === this.model.first && last === this.model.last) return;
		this.model.first = first;
		this.model.last = last;
		this.chosen();
	}

	// Arrows move what is chosen, with shift its end; Home and Escape take all.
	private key(event: KeyboardEvent): void {
		const { first, last } = this.model;
		const step = event.key === "ArrowRight" || event.key === "ArrowUp" ? 1 : -1;
		if (event.key === "Home" || event.key === "Escape") {
			this.choose(0, this.count - 1);
		} else if (!event.key.startsWith("Arrow")) {
			return;
		} else if (event.shiftKey) {
			this.choose(first, Math.min(Math.max(last + step, first), this.count - 1));
		} else if (first === 0 && last === this.count - 1) {
			const part = Math.ceil(this.count / 10);
			this.choose(step > 0 ? 0 : this.count - part, step > 0 ? part - 1 : this.count - 1);
		} else if (first + step >= 0 && last + step < this.count) {
			this.choose(first + step, last + step);
		}
		event.preventDefault();
		event.stopPropagation();
	}

	draw(): void {
		const { context, canvas } = this;
		const { first, last } = this.model;
		const ratio = window.devicePixelRatio || 1;
		const width = canvas.clientWidth;
		const height = canvas.clientHeight;
		const density = this.model.density();
		const most = Math.max(...density, Number.MIN_VALUE);
		const all = first === 0 && last === this.count - 1;

		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		if (!all) {
			context.globalAlpha = 0.16;
			context.fillStyle = this.look.colour("accent");
			context.fillRect((first / this.count) * width, 0, ((last + 1 - first) / this.count) * width, height);
			context.globalAlpha = 1;
		}
		density.forEach((value, slice) => {
			const left = (slice / this.count) * width;
			const tall = value > 0 ? Math.max((value / most) * (height - 4), 1) : 0;
			context.fillStyle = this.look.colour(!all && slice >= first && slice <= last ? "accent" : "strip");
			context.fillRect(left, height - tall, Math.max(width / this.count - 0.7, 0.7), tall);
		});
		this.tell(all);
	}

	private tell(all: boolean): void {
		const { first, last, data } = this.model;
		const digits = data.sliceSeconds < 0.001 ? 6 : data.sliceSeconds < 1 ? 3 : 1;
		const seconds = (slices: number) => (slices * data.sliceSeconds).toFixed(digits);
		const text = `${seconds(first)} \u2013 ${seconds(last + 1)} s`;
		this.text.textContent = text;
		this.text.title = `from ${data.start} s of the file's clock on`;
		this.all.disabled = all;
		this.canvas.setAttribute("aria-valuenow", String(first));
		this.canvas.setAttribute("aria-valuetext", all ? `all, ${text}` : text);
	}
}
