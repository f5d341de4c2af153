// SPDX-License-Identifier: MIT
// Kinds of frames and their colours. Made from src/flame/kind.def by build.py.

interface Kind {
	letter: string;
	label: string;
	hue: number;
	saturation: number;
}

const KINDS: readonly Kind[] = [
	{ letter: "t", label: "task", hue: 220, saturation: 14 },
	{ letter: "e", label: "event", hue: 250, saturation: 20 },
	{ letter: "u", label: "user", hue: 32, saturation: 88 },
	{ letter: "k", label: "kernel", hue: 211, saturation: 72 },
	{ letter: "i", label: "inlined", hue: 174, saturation: 48 },
	{ letter: "j", label: "jit", hue: 96, saturation: 45 },
	{ letter: "v", label: "Java", hue: 128, saturation: 42 },
	{ letter: "p", label: "Python", hue: 54, saturation: 80 },
	{ letter: "n", label: "Node", hue: 78, saturation: 58 },
	{ letter: "x", label: "unknown", hue: 0, saturation: 0 },
];
