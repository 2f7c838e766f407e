//! `St64b` on a CPU without ST64B: a signal handler executes the instruction as the Arm ARM says.
use nix::libc::{c_int, c_void, siginfo_t, ucontext_t};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

use super::*;

/// Executes the ST64B that raised the signal: stores eight registers from Xt on at the address in Xn (Arm ARM
/// DDI 0487, C6.2, ST64B). Another instruction ends the program.
extern "C" fn execute(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: with SA_SIGINFO, Linux gives the handler the interrupted thread's context, which is the handler's alone.
    let state = unsafe { &mut (*context.cast::<ucontext_t>()).uc_mcontext };
    // SAFETY: the address of the instruction that raised the signal.
    let instruction = unsafe { (state.pc as *const u32).read() };
    let (first, base) = (instruction as usize & 31, (instruction >> 5) as usize & 31);
    if instruction & 0xffff_fc00 != 0xf83f_9000 || first > 22 || first % 2 != 0 || base == 31 {
        std::process::abort();
    }
    let words = &state.regs[first..first + 8];
    // SAFETY: the interrupted routine promises 64 bytes at the address.
    unsafe { core::ptr::copy_nonoverlapping(words.as_ptr(), state.regs[base] as *mut u64, 8) };
    state.pc += 4;
}

#[repr(align(64))]
struct Lines([u64; 24]);

#[test]
fn st64b_stores_the_words_in_order_and_no_more() {
    let action = SigAction::new(SigHandler::SigAction(execute), SaFlags::SA_SIGINFO, SigSet::empty());
    // A CPU that has the instruction faults on ordinary memory.
    for signal in [Signal::SIGILL, Signal::SIGBUS] {
        // SAFETY: the handler touches nothing but the interrupted thread's registers and the routine's destination.
        unsafe { sigaction(signal, &action) }.expect("a handler");
    }
    let block: [u64; 8] = core::array::from_fn(|i| 0x0102_0304_0506_0708 * (i as u64 + 1));
    let wide = core::array::from_fn(|i| Wide::new([block[2 * i], block[2 * i + 1]]));
    let copy = St64b(());
    let (mut by_words, mut by_wide) = (Lines([0; 24]), Lines([0; 24]));
    // SAFETY: 64 aligned bytes in the middle of each; the handler executes the instruction that the CPU may lack.
    unsafe {
        copy.copy(by_words.0[8..16].as_mut_ptr(), &block);
        copy.copy_held(by_wide.0[8..16].as_mut_ptr(), wide);
    }
    for lines in [by_words, by_wide] {
        assert_eq!(core::hint::black_box(&lines).0[8..16], block);
        assert!(lines.0[..8].iter().chain(&lines.0[16..]).all(|&word| word == 0));
    }
}
