// SPDX-License-Identifier: MIT
// What tests under node may use of the page.

export * as code from "./code";
export * as compare from "./compare";
export * as count from "./count";
export * as decode from "./decode";
export * as lanes from "./lanes";
export * as nodes from "./nodes";
export * as prepare from "./prepare";
export * as recording from "./recording";
export * as save from "./save";
export * as session from "./session";
export * as state from "./state";
export * as sums from "./sums";
export * as text from "./text";
export * as transform from "./transform";
export * as tree from "./tree";
