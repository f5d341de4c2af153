// SPDX-License-Identifier: MIT
// Runs a WASI program: node run.mjs PROGRAM.wasm FOLDER ARGUMENT...   (FOLDER is all that it sees, as /data)
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const [program, folder, ...words] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [program, ...words], preopens: { "/data": folder }, returnOnExit: true });
const module = await WebAssembly.compile(await readFile(program));
const imports = wasi.getImportObject ? wasi.getImportObject() : { wasi_snapshot_preview1: wasi.wasiImport };
const instance = await WebAssembly.instantiate(module, imports);

process.exitCode = wasi.start(instance);
