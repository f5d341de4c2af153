// SPDX-License-Identifier: MIT
// What probe.py defines probes in: structures, slices, references, an inlined function.
struct Point {
    x: i32,
    y: i32,
}

struct Item {
    id: u64,
    point: Point,
    small: u8,
    name: String,
}

#[inline(always)]
fn twice(number: i32) -> i32 {
    number * 2
}

#[inline(never)]
#[no_mangle]
pub extern "C" fn handle(count: u32, factor: i64) -> i64 {
    count as i64 * factor + twice(count as i32) as i64
}

#[inline(never)]
fn sum(items: &[Item], scale: i32) -> i32 {
    let mut all = 0;
    for item in items {
        all += twice(item.point.x) + item.point.y * scale + item.small as i32 + item.id as i32;
        all += item.name.len() as i32;
    }
    all
}

#[inline(never)]
fn one(item: &Item, flag: bool) -> i32 {
    if flag {
        item.point.x
    } else {
        item.point.y
    }
}

fn main() {
    let count = std::env::args().count();
    let items = vec![Item { id: count as u64, point: Point { x: 1, y: 2 }, small: 3, name: String::from("name") }];
    let all = sum(&items, count as i32) + one(&items[0], count > 1);
    println!("{} {}", all, handle(count as u32, 4));
}
