// SPDX-License-Identifier: MIT
// What browsers have and this compiler does not know.

declare class DecompressionStream {
	constructor(format: "gzip" | "deflate" | "deflate-raw");
	readonly readable: ReadableStream<Uint8Array>;
	readonly writable: WritableStream<Uint8Array>;
}
