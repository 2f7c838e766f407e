//! A program whose functions are compiled for wider vectors than the crate, and hold values in all of them while a
//! block is copied: each must have its value afterwards. It says which routines it has tried. Made and run by
//! `arch_asm.rs`, with optimizations, since values are not in registers without.
use std::arch::x86_64::*;
use std::array::from_fn;
use std::hint::black_box;

#[path = "../../src/arch/copy/x86_64/instructions.rs"]
mod routines;

#[repr(align(64))]
struct Line([u64; 8]);

const WORDS: [u64; 8] = [!0, 1, !2, 3, !4, 5, !6, 7];

/// Copies, and looks whether it was done: nothing may be optimized away.
#[inline(always)]
fn check(copy: impl Fn(*mut u64, &[u64; 8])) {
    let mut line = Line([0; 8]);
    copy(line.0.as_mut_ptr(), &black_box(WORDS));
    assert_eq!(black_box(&line).0, WORDS);
}

/// With fourteen values in registers of 32 bytes.
#[target_feature(enable = "avx")]
fn avx_caller(name: &str, copy: impl Fn(*mut u64, &[u64; 8])) {
    let numbers: [[f64; 4]; 14] = black_box(from_fn(|i| from_fn(|j| (i * 4 + j) as f64)));
    // SAFETY: four numbers each, and no alignment is asked for; so below.
    let wide: [__m256d; 14] = from_fn(|i| unsafe { _mm256_loadu_pd(numbers[i].as_ptr()) });
    check(copy);
    for (wide, number) in wide.into_iter().zip(numbers) {
        let mut back = [0.0; 4];
        // SAFETY: room for the four.
        unsafe { _mm256_storeu_pd(back.as_mut_ptr(), wide) };
        assert_eq!(back, number, "{name}");
    }
    println!("{name} in a caller with AVX");
}

/// With thirty values in registers of 64 bytes.
#[target_feature(enable = "avx512f")]
fn avx512_caller(name: &str, copy: impl Fn(*mut u64, &[u64; 8])) {
    let numbers: [[f64; 8]; 30] = black_box(from_fn(|i| from_fn(|j| (i * 8 + j) as f64)));
    // SAFETY: eight numbers each, and no alignment is asked for; so below.
    let wide: [__m512d; 30] = from_fn(|i| unsafe { _mm512_loadu_pd(numbers[i].as_ptr()) });
    check(copy);
    for (wide, number) in wide.into_iter().zip(numbers) {
        let mut back = [0.0; 8];
        // SAFETY: room for the eight.
        unsafe { _mm512_storeu_pd(back.as_mut_ptr(), wide) };
        assert_eq!(back, number, "{name}");
    }
    println!("{name} in a caller with AVX-512");
}

fn callers(name: &str, copy: impl Fn(*mut u64, &[u64; 8]) + Copy) {
    if is_x86_feature_detected!("avx") {
        // SAFETY: the CPU has what the function is compiled for; so below.
        unsafe { avx_caller(name, copy) };
    }
    if is_x86_feature_detected!("avx512f") {
        unsafe { avx512_caller(name, copy) };
    }
}

/// The words by twos.
#[inline(always)]
fn wide(words: &[u64; 8]) -> [__m128i; 4] {
    // SAFETY: every x86-64 CPU has SSE2.
    from_fn(|i| unsafe { _mm_set_epi64x(words[2 * i + 1].cast_signed(), words[2 * i].cast_signed()) })
}

fn main() {
    // SAFETY: here and below: `check` gives 64 bytes, aligned to 64, and the CPU has the instructions.
    callers("sse", |dst, words| unsafe { routines::copy_sse(dst, words) });
    if is_x86_feature_detected!("avx") {
        callers("avx", |dst, words| unsafe { routines::copy_avx(dst, words) });
        callers("avx wide", |dst, words| unsafe { routines::copy_avx_wide(dst, wide(words)) });
    }
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
        callers("avx512", |dst, words| unsafe { routines::copy_avx512(dst, words) });
        callers("avx512 wide", |dst, words| unsafe { routines::copy_avx512_wide(dst, wide(words)) });
    }
}
