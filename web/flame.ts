// SPDX-License-Identifier: MIT
// The page of a flame graph: reads the data in the page and joins the drawing with what people do.

// What a test may ask the page.
interface Window {
	flame?: { model: Model; graph: Graph };
}

class Page {
	private readonly model: Model;
	private readonly look: Look;
	private readonly graph: Graph;
	private readonly strip: Strip;
	private readonly dark = matchMedia("(prefers-color-scheme: dark)");
	private found: { value: number; nodes: number[] } | undefined;

	constructor(data: FlameData) {
		this.model = new Model(data);
		this.look = new Look(this.model);
		this.graph = new Graph(this.model, this.look, element("graph", HTMLCanvasElement), element("scroll", HTMLElement),
			element("spacer", HTMLElement));
		this.strip = new Strip(this.model, this.look, element("time", HTMLCanvasElement), element("time-text", HTMLElement),
			element("time-all", HTMLButtonElement), () => this.recount());
		window.flame = { model: this.model, graph: this.graph };
		this.fillHead(data);
		this.listen();
		this.listenToGraph();
		this.showTheme();
		this.showDirection();
		this.recount();
		this.graph.rewind();
	}

	// ---- what is shown ----

	private fillHead(data: FlameData): void {
		const events = element("event", HTMLSelectElement);
		element("title", HTMLElement).textContent = data.title;
		if (data.events.length > 1 && data.unit !== "") events.add(new Option("all events", String(ALL_EVENTS)));
		data.events.forEach((name, index) => events.add(new Option(name, String(index))));
		// Events count different things: the first one is what most people mean.
		if (data.events.length > 1) events.value = "0";
		this.model.event = data.events.length > 1 ? 0 : ALL_EVENTS;
		element("event-box", HTMLElement).hidden = data.events.length < 2;
		element("time-box", HTMLElement).hidden = data.sliceCount < 2;
	}

	private showFacts(): void {
		const { data } = this.model;
		const facts = [{ text: amount(at(this.model.total, 0), this.model.unit), bad: false }, ...data.facts];
		if (data.leftOut > 0) facts.push({ text: `${number(data.leftOut)} small frames omitted`, bad: false });
		element("facts", HTMLElement).replaceChildren(...facts.map((fact, index) => {
			const item = document.createElement("li");
			item.textContent = fact.text;
			if (index === 0) item.id = "total";
			if (fact.bad) item.className = "bad";
			return item;
		}));
	}

	private showPath(): void {
		const nodes = this.model.path(this.graph.zoom);
		element("path", HTMLElement).replaceChildren(...nodes.map((node, index) => {
			const item = document.createElement("li");
			const button = document.createElement("button");
			button.type = "button";
			button.textContent = this.model.name(node);
			button.title = this.model.name(node);
			if (index === nodes.length - 1) button.setAttribute("aria-current", "true");
			button.addEventListener("click", () => this.zoomTo(node));
			item.append(button);
			return item;
		}));
		element("path", HTMLElement).lastElementChild?.scrollIntoView({ block: "nearest" });
		element("reset", HTMLButtonElement).disabled = this.graph.zoom === 0;
	}

	private showLegend(): void {
		const { model, look } = this;
		const sums = new Map<string, number>();
		const { zoom } = this.graph;
		const add = (node: number, value: number) => {
			const key = look.colouring === "object" ? model.object(node) : model.kind(node);
			if (value > 0) sums.set(key, (sums.get(key) ?? 0) + value);
		};
		if (!model.data.reverse) {
			for (let node = Math.max(zoom, 1); node < at(model.end, zoom); node++) add(node, at(model.self, node));
		} else if (zoom !== 0) {
			// Stacks that begin with the function that was sampled end with it.
			add(model.path(zoom)[1] ?? zoom, at(model.total, zoom));
		} else {
			for (let node = model.child(0); node !== NO_NODE; node = model.child(0, at(model.end, node)))
				add(node, at(model.total, node));
		}
		const largest = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 8);
		element("legend", HTMLElement).replaceChildren(...(look.colouring === "name" ? [] : largest).map(([key, sum]) => {
			const item = document.createElement("li");
			const patch = document.createElement("i");
			const label = look.colouring === "object" ? key || "no object" : KINDS.find((kind) => kind.letter === key)?.label;
			patch.style.background = look.colouring === "object" ? look.ofObject(key, 1) : look.ofKind(key, 2);
			item.append(patch, `${label ?? key} ${percent(sum, at(model.total, zoom))}`);
			return item;
		}));
	}

	private showMatches(): void {
		const { graph, model } = this;
		const output = element("matched", HTMLOutputElement);
		this.found = graph.found ? model.found(graph.found, graph.zoom) : undefined;
		output.textContent = this.found ? `${percent(this.found.value, at(model.total, graph.zoom))} matched` : "";
		output.title = this.found
			? `${amount(this.found.value, model.unit)} in ${number(this.found.nodes.length)} places` : "";
	}

	private describe(node: number): string[] {
		const { model } = this;
		const total = at(model.total, node);
		const lines = [`${amount(total, model.unit)}, ${percent(total, at(model.total, 0))} of all`];
		if (node !== 0) {
			const parent = at(model.parent, node);
			lines.push(`${percent(total, at(model.total, parent))} of ${model.name(parent)}`);
			if (this.graph.zoom !== 0 && this.graph.zoom !== parent && model.isBelow(node, this.graph.zoom))
				lines.push(`${percent(total, at(model.total, this.graph.zoom))} of what is shown`);
		}
		if (!model.data.reverse) lines.push(`${percent(at(model.self, node), at(model.total, 0))} self`);
		return lines;
	}

	private showDetail(node: number): void {
		const { model } = this;
		const kind = KINDS.find((one) => one.letter === model.kind(node))?.label ?? "";
		const what = node === 0 ? "" : ` (${model.object(node) || kind})`;
		element("detail", HTMLOutputElement).textContent =
			node === NO_NODE ? "" : `${model.name(node)}${what}: ${this.describe(node).join(" \u00b7 ")}`;
	}

	private showTip(node: number, x: number, y: number): void {
		const tip = element("tip", HTMLElement);
		tip.hidden = node === NO_NODE;
		if (node === NO_NODE) return;
		const { model } = this;
		const name = document.createElement("b");
		const kind = KINDS.find((one) => one.letter === model.kind(node))?.label ?? "";
		name.textContent = model.name(node);
		const lines = node === 0 ? [] : [[model.object(node), kind].filter((text) => text !== "").join(" \u00b7 ")];
		tip.replaceChildren(name, ...[...lines, ...this.describe(node)].map((line) => {
			const span = document.createElement("span");
			span.textContent = line;
			return span;
		}));
		const right = x + 14 + tip.offsetWidth > window.innerWidth;
		const below = y + 18 + tip.offsetHeight > window.innerHeight;
		tip.style.left = `${Math.max(right ? x - tip.offsetWidth - 10 : x + 14, 4)}px`;
		tip.style.top = `${Math.max(below ? y - tip.offsetHeight - 10 : y + 18, 4)}px`;
	}

	private showTheme(): void {
		this.look.dark = this.dark.matches;
		this.look.changed();
		this.graph.redraw();
		this.strip.draw();
		this.showLegend();
	}

	private showDirection(): void {
		element("direction", HTMLButtonElement).textContent = this.graph.inverted ? "Upwards" : "Downwards";
		element("direction", HTMLButtonElement).title =
			this.graph.inverted ? "Draw the stacks from the bottom up" : "Draw the stacks from the top down";
	}

	// ---- what changes ----

	// Another event or another time.
	private recount(): void {
		const { model, graph } = this;
		model.sum();
		if (at(model.total, graph.zoom) <= 0) graph.zoom = graph.focus = 0;
		if (at(model.total, graph.focus) <= 0) graph.focus = graph.zoom;
		element("empty", HTMLElement).hidden = at(model.total, 0) > 0;
		element("empty", HTMLElement).textContent = `No ${model.unit} here.`;
		this.showFacts();
		this.strip.draw();
		this.zoomed();
	}

	private zoomed(): void {
		this.graph.layout();
		this.showPath();
		this.showLegend();
		this.showMatches();
		this.showTip(NO_NODE, 0, 0);
		this.showDetail(this.graph.focusShown ? this.graph.focus : NO_NODE);
	}

	private zoomTo(node: number): void {
		this.graph.zoom = node;
		this.graph.focus = node;
		this.graph.hover = NO_NODE;
		this.zoomed();
	}

	private search(text: string): void {
		const output = element("matched", HTMLOutputElement);
		const input = element("search", HTMLInputElement);
		input.removeAttribute("aria-invalid");
		output.className = "";
		this.graph.found = undefined;
		try {
			// A capital letter makes capitals count.
			if (text !== "") this.graph.found = this.model.find(new RegExp(text, /[A-Z]/.test(text) ? "u" : "iu"));
			this.showMatches();
		} catch {
			input.setAttribute("aria-invalid", "true");
			output.className = "bad";
			output.textContent = "not a regular expression";
		}
		this.graph.redraw();
	}

	private nextMatch(step: number): void {
		const nodes = this.found?.nodes ?? [];
		const here = nodes.indexOf(this.graph.focus);
		const next = nodes[(here + step + nodes.length) % Math.max(nodes.length, 1)];
		if (next !== undefined) this.focusOn(here < 0 && step < 0 ? nodes[nodes.length - 1] ?? next : next);
	}

	private focusOn(node: number): void {
		if (node === NO_NODE) return;
		this.graph.focus = node;
		this.graph.focusShown = true;
		if (!this.model.isBelow(node, this.graph.zoom) && !this.model.isBelow(this.graph.zoom, node)) this.graph.zoom = 0;
		this.graph.reveal(node);
		this.graph.redraw();
		this.showDetail(node);
	}

	// ---- what people do ----

	private listen(): void {
		const search = element("search", HTMLInputElement);
		const events = element("event", HTMLSelectElement);
		const colours = element("colour", HTMLSelectElement);
		events.addEventListener("change", () => {
			this.model.event = Number(events.value);
			this.recount();
		});
		colours.addEventListener("change", () => {
			this.look.colouring = colours.value as Colouring;
			this.showTheme();
		});
		element("direction", HTMLButtonElement).addEventListener("click", () => {
			this.graph.inverted = !this.graph.inverted;
			this.showDirection();
			this.graph.layout();
			this.graph.rewind();
		});
		element("reset", HTMLButtonElement).addEventListener("click", () => this.zoomTo(0));
		search.addEventListener("input", () => this.search(search.value));
		search.addEventListener("keydown", (event) => {
			if (event.key === "Enter") this.nextMatch(event.shiftKey ? -1 : 1);
			if (event.key !== "Escape") return;
			search.value = "";
			this.search("");
			this.graph.canvas.focus();
			event.preventDefault();
			event.stopPropagation();
		});
		document.addEventListener("keydown", (event) => this.key(event));
		this.dark.addEventListener("change", () => this.showTheme());
		new ResizeObserver(() => {
			this.graph.layout();
			this.strip.draw();
		}).observe(element("scroll", HTMLElement));
		this.watchRatio();
	}

	// Another screen, or the page made larger.
	private watchRatio(): void {
		matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`).addEventListener("change", () => {
			this.graph.redraw();
			this.strip.draw();
			this.watchRatio();
		}, { once: true });
	}

	private key(event: KeyboardEvent): void {
		const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
		if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
			element("search", HTMLInputElement).select();
			event.preventDefault();
		} else if (event.key === "Escape" && !typing) {
			this.zoomTo(0);
		}
	}

	private listenToGraph(): void {
		const { graph } = this;
		const { canvas } = graph;
		const scroller = element("scroll", HTMLElement);
		const point = (event: MouseEvent) => graph.hit(event.offsetX, event.offsetY);
		canvas.addEventListener("pointermove", (event) => {
			const node = point(event);
			if (node !== graph.hover) {
				graph.hover = node;
				graph.redraw();
				canvas.style.cursor = node === NO_NODE ? "default" : "pointer";
				this.showDetail(node);
			}
			this.showTip(node, event.clientX, event.clientY);
		});
		canvas.addEventListener("pointerleave", () => {
			graph.hover = NO_NODE;
			graph.redraw();
			this.showTip(NO_NODE, 0, 0);
			this.showDetail(graph.focusShown ? graph.focus : NO_NODE);
		});
		canvas.addEventListener("click", (event) => {
			const node = point(event);
			// The second click of a double one goes back instead.
			if (node !== NO_NODE && event.detail < 2) this.zoomTo(node);
		});
		canvas.addEventListener("dblclick", () => this.zoomTo(0));
		canvas.addEventListener("keydown", (event) => this.graphKey(event));
		canvas.addEventListener("focus", () => this.showFocus(canvas.matches(":focus-visible")));
		canvas.addEventListener("blur", () => this.showFocus(false));
		scroller.addEventListener("scroll", () => {
			graph.redraw();
			this.showTip(NO_NODE, 0, 0);
		});
	}

	private showFocus(shown: boolean): void {
		this.graph.focusShown = shown;
		this.graph.redraw();
		this.showDetail(shown ? this.graph.focus : NO_NODE);
	}

	private graphKey(event: KeyboardEvent): void {
		const { graph, model } = this;
		const outwards = graph.inverted ? "ArrowDown" : "ArrowUp";
		const inwards = graph.inverted ? "ArrowUp" : "ArrowDown";
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		if (event.key === outwards) this.focusOn(model.largest(graph.focus));
		else if (event.key === inwards) this.focusOn(at(model.parent, graph.focus));
		else if (event.key === "ArrowLeft") this.focusOn(model.sibling(graph.focus, -1));
		else if (event.key === "ArrowRight") this.focusOn(model.sibling(graph.focus, 1));
		else if (event.key === "Home") this.focusOn(0);
		else if (event.key === "Enter" || event.key === " ") this.zoomTo(graph.focus);
		else return;
		event.preventDefault();
	}
}

function element<T extends HTMLElement>(id: string, type: { new (): T; prototype: T }): T {
	const found = document.getElementById(id);
	if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
	return found;
}

new Page(JSON.parse(document.getElementById("data")?.textContent ?? "") as FlameData);
