//! A program to be stepped: copies a record that others change, checks the copy, and hands it on.
//!
//! Stops at a breakpoint before and after; `rdi` holds the record's address, then whether the checked record was handed
//! on.
use std::arch::asm;

mod copy;

const RECORD: usize = 256;

fn checksum(record: &[u8; RECORD]) -> u32 {
    record.iter().fold(0, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
}

/// Hands the record on to `out`, and returns the checksum of its bytes if it is right.
#[inline(never)]
unsafe fn take(shared: *const u8, out: &mut [u8; RECORD]) -> u32 {
    let mut local = [0; RECORD];
    unsafe { copy::to_local(shared, &mut local) };
    let sum = checksum(&local);
    if sum != 0 {
        *out = local;
    }
    sum
}

fn main() {
    let record: &'static mut [u64; RECORD / 8] = Box::leak(Box::new([1; RECORD / 8]));
    let shared: *const u8 = record.as_ptr().cast();
    let mut out = [0; RECORD];
    unsafe { asm!("int3", in("rdi") shared) };
    let sum = unsafe { take(shared, &mut out) };
    let same = usize::from(checksum(&out) == sum);
    unsafe { asm!("int3", in("rdi") same) };
}
