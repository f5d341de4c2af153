// SPDX-License-Identifier: MIT

// Closures, generic functions and panics whose stacks are copied.
// usage: rust MILLISECONDS
use std::hint::black_box;
use std::panic;
use std::time::{Duration, Instant};

#[inline(never)]
fn spin() {
    let mut sum: u64 = 0;
    for i in 0..300_000u64 {
        sum = black_box(sum.wrapping_add(i * i));
    }
    black_box(sum);
}

struct Guard;

impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        spin();
        black_box(1);
    }
}

#[inline(never)]
fn recursive(depth: u32) -> u32 {
    if depth == 0 {
        spin();
        return black_box(1);
    }
    recursive(black_box(depth - 1)) + 1
}

#[inline(never)]
fn panics(a: u32) -> u32 {
    let _guard = Guard;
    if black_box(a) > 0 {
        panic!("a panic");
    }
    a
}

#[inline(never)]
fn catches() {
    let _ = panic::catch_unwind(|| panics(black_box(1)));
    black_box(2);
}

fn main() {
    let limit = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(200);
    let end = Instant::now() + Duration::from_millis(limit);

    panic::set_hook(Box::new(|_| {}));
    while Instant::now() < end {
        black_box(recursive(6));
        catches();
    }
}
