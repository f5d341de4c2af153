// SPDX-License-Identifier: MIT
//! A program to be recorded: names that the Rust compiler makes.

use std::hint::black_box;

trait Work {
    fn work(&self, n: u64) -> u64;
}

struct Pair<T>(T, T);

impl<T: Copy + Into<u64>> Work for Pair<T> {
    #[inline(never)]
    fn work(&self, n: u64) -> u64 {
        (0..n).fold(0, |sum, i| sum ^ black_box(i + self.0.into() * self.1.into()))
    }
}

mod inner {
    #[inline(never)]
    pub fn apply<F: Fn(u64) -> u64>(f: F, n: u64) -> u64 {
        (0..n).map(|i| f(i)).sum()
    }
}

fn main() {
    let all: Vec<Box<dyn Work>> = vec![Box::new(Pair(1u32, 2u32)), Box::new(Pair(3u8, 4u8))];
    for w in &all {
        black_box(w.work(30_000_000));
    }
    black_box(inner::apply(|i| black_box(i * 3), 30_000_000));
}
