//! Functions that break the rules, each in the way its name says.
use core::sync::atomic::{AtomicU8, Ordering};

#[unsafe(no_mangle)]
pub fn bounds_check(words: &[u64], at: usize) -> u64 {
    words[at]
}

#[unsafe(no_mangle)]
pub fn unwrap(value: Option<u64>) -> u64 {
    value.unwrap()
}

#[unsafe(no_mangle)]
pub fn indirect_call(f: &dyn Fn(u64) -> u64) -> u64 {
    f(1) + 1
}

#[unsafe(no_mangle)]
pub fn indirect_jump(f: extern "C" fn()) {
    f();
}

unsafe extern "C" {
    fn elsewhere(n: u64) -> u64;
}

#[unsafe(no_mangle)]
pub fn call() -> u64 {
    // SAFETY: compiled to be looked at, and never run; as are the others.
    unsafe { elsewhere(1) + 1 }
}

#[unsafe(no_mangle)]
pub fn tail_call() -> u64 {
    // SAFETY: compiled to be looked at, and never run.
    unsafe { elsewhere(1) }
}

#[unsafe(no_mangle)]
pub fn atomic(lock: &AtomicU8) -> u8 {
    lock.fetch_add(1, Ordering::Relaxed)
}

#[unsafe(no_mangle)]
pub fn jump_table(n: u64, f: fn(u64, u64)) {
    match n {
        0 => blueflame::arch::to_device(),
        1 => blueflame::arch::mmio_wc_start(),
        2 => blueflame::arch::from_device_conservative(),
        3 => f(3, 3),
        4 => f(5, 4),
        5 => f(1, 2),
        6 => f(2, 1),
        _ => {}
    }
}
