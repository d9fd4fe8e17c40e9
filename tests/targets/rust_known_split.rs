// SPDX-License-Identifier: Apache-2.0
// The split of CPU time in Rust: a trait object (50 %), a generic function with a closure (30 %)
// and a plain function in a module (20 %).
use std::arch::asm;
use std::io::Write;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    fn alarm(seconds: u32) -> u32;
}

const CLOCK_THREAD_CPUTIME_ID: i32 = 3;

#[inline(always)]
fn cpu_clock() -> u64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

/// Each caller has its own seed: functions that are alike are merged into one.
#[inline(always)]
fn burn_until(deadline: u64, seed: u64) {
    loop {
        let mut x = seed;
        for _ in 0..8000 {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            unsafe { asm!("/* {0} */", inout(reg) x) };
        }
        if cpu_clock() >= deadline {
            return;
        }
    }
}

/// There is still something to do after a call, so it is not turned into a jump.
#[inline(always)]
fn no_tail_call() {
    unsafe { asm!("") };
}

mod kitchen {
    pub trait Dish {
        fn cook(&self, deadline: u64);
    }

    pub struct Soup;

    impl Dish for Soup {
        #[inline(never)]
        fn cook(&self, deadline: u64) {
            boil(deadline);
            crate::no_tail_call();
        }
    }

    #[inline(never)]
    pub fn boil(deadline: u64) {
        crate::burn_until(deadline, 1);
    }

    #[inline(never)]
    pub fn wash(deadline: u64) {
        crate::burn_until(deadline, 2);
        crate::no_tail_call();
    }
}

#[inline(never)]
fn each_order<T: Copy, F: Fn(T)>(order: T, serve: F) {
    serve(order);
    no_tail_call();
}

#[inline(never)]
fn grill(deadline: u64) {
    burn_until(deadline, 3);
}

#[inline(never)]
fn lunch(deadline: u64) {
    each_order(deadline, |until| {
        grill(until);
        no_tail_call();
    });
    no_tail_call();
}

#[inline(never)]
fn menu() -> Box<dyn kitchen::Dish> {
    Box::new(kitchen::Soup)
}

#[inline(never)]
fn serve_all() {
    let dish = menu();
    let mut deadline = cpu_clock();
    let mut round: u32 = 1;
    loop {
        let tenth = 500_000 + (round >> 8) as u64 % 1_000_000;
        deadline += 5 * tenth;
        dish.cook(deadline);
        deadline += 3 * tenth;
        lunch(deadline);
        deadline += 2 * tenth;
        kitchen::wash(deadline);
        round = round.wrapping_mul(1103515245).wrapping_add(12345);
    }
}

fn main() {
    unsafe { alarm(150) };
    println!("ready");
    std::io::stdout().flush().unwrap();
    serve_all();
}
