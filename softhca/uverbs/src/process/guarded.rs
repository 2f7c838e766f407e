//! Accesses to memory of the program that it may take away at any time: one that goes wrong is an error, not the
//! program's end.
//!
//! The instructions that access such memory are those of a few functions without a stack frame. When one of them
//! faults, the handler (`strict::signals`) has the thread go on where those functions return an error. So they are for
//! threads that run when the handlers are installed ([`crate::strict::take_over`]), and block neither SIGSEGV nor
//! SIGBUS.
//!
//! Copies go by aligned words of the shared side, or by aligned registers of 16 bytes, and by bytes at its ends, in
//! ascending order. A reader that waits for
//! the last byte of a message also sees the others.

use super::errno::Errno;
use std::arch::global_asm;

// Arguments come in RDI, RSI, RDX, RCX; results go in EAX (System V ABI). None of the functions touches the stack, so
// that the return address is where it was when one of their instructions faults.
global_asm!(
    ".pushsection .text.softhca_guarded, \"ax\", @progbits",
    ".p2align 4",
    "softhca_guarded_begin:",
    // Copies RDX bytes from RSI to RDI, by words where RCX is aligned, and four registers of 16 bytes at a time in the
    // middle. 0, or 1 after a fault.
    "softhca_guarded_copy:",
    "2: test rdx, rdx",
    "jz 9f",
    "test cl, 7",
    "jz 3f",
    "mov al, [rsi]",
    "mov [rdi], al",
    "inc rsi",
    "inc rdi",
    "inc rcx",
    "dec rdx",
    "jmp 2b",
    "3: cmp rdx, 8",
    "jb 4f",
    "cmp rdx, 72",
    "jb 6f",
    "test cl, 8",
    "jz 5f",
    "mov rax, [rsi]",
    "mov [rdi], rax",
    "add rsi, 8",
    "add rdi, 8",
    "sub rdx, 8",
    "5: movups xmm0, [rsi]",
    "movups xmm1, [rsi + 16]",
    "movups xmm2, [rsi + 32]",
    "movups xmm3, [rsi + 48]",
    "movups [rdi], xmm0",
    "movups [rdi + 16], xmm1",
    "movups [rdi + 32], xmm2",
    "movups [rdi + 48], xmm3",
    "add rsi, 64",
    "add rdi, 64",
    "sub rdx, 64",
    "cmp rdx, 64",
    "jae 5b",
    "cmp rdx, 8",
    "jb 4f",
    "6: mov rax, [rsi]",
    "mov [rdi], rax",
    "add rsi, 8",
    "add rdi, 8",
    "sub rdx, 8",
    "cmp rdx, 8",
    "jae 6b",
    "4: test rdx, rdx",
    "jz 9f",
    "mov al, [rsi]",
    "mov [rdi], al",
    "inc rsi",
    "inc rdi",
    "dec rdx",
    "jmp 4b",
    "9: xor eax, eax",
    "ret",
    // Loads the 32-bit word at RDI to where RSI says.
    "softhca_guarded_load32:",
    "mov ecx, [rdi]",
    "mov [rsi], ecx",
    "xor eax, eax",
    "ret",
    // Replaces the 64-bit word at RDI by RDX if it is the one at RSI; either way, the one at RSI becomes the old one.
    "softhca_guarded_exchange64:",
    "mov rax, [rsi]",
    "lock cmpxchg [rdi], rdx",
    "mov [rsi], rax",
    "mov eax, 0",
    "ret",
    // Reads the byte at RDI.
    "softhca_guarded_touch:",
    "mov cl, [rdi]",
    "xor eax, eax",
    "ret",
    // Writes the byte at RDI, which keeps its value.
    "softhca_guarded_touch_mut:",
    "lock or byte ptr [rdi], 0",
    "xor eax, eax",
    "ret",
    "softhca_guarded_end:",
    "softhca_guarded_fault:",
    "mov eax, 1",
    "ret",
    ".popsection",
);

unsafe extern "C" {
    static softhca_guarded_begin: u8;
    static softhca_guarded_end: u8;
    static softhca_guarded_fault: u8;
    fn softhca_guarded_copy(to: u64, from: u64, len: usize, aligned: u64) -> i32;
    fn softhca_guarded_load32(from: u64, to: *mut u32) -> i32;
    fn softhca_guarded_exchange64(at: u64, expected: *mut u64, new: u64) -> i32;
    fn softhca_guarded_touch(at: u64) -> i32;
    fn softhca_guarded_touch_mut(at: u64) -> i32;
}

/// Where a thread goes on whose instruction at `address` has faulted, if the instruction is one of ours.
pub(crate) fn after_fault(address: usize) -> Option<usize> {
    let [begin, end, fault] =
        [&raw const softhca_guarded_begin, &raw const softhca_guarded_end, &raw const softhca_guarded_fault];
    (begin.addr()..end.addr()).contains(&address).then(|| fault.addr())
}

fn done(fault: i32) -> Result<(), Errno> {
    if fault == 0 { Ok(()) } else { Err(Errno::EFAULT) }
}

/// Copies from memory at `address`; after an error `out` has some of what came before.
pub(crate) fn read(address: u64, out: &mut [u8]) -> Result<(), Errno> {
    // SAFETY: writes to `out` alone; a read that faults is an error.
    done(unsafe { softhca_guarded_copy(out.as_mut_ptr() as u64, address, out.len(), address) })
}

/// Copies to memory at `address`; after an error, the bytes before are written.
///
/// # Safety
/// The program has said that the device may write there, and has not taken it back.
pub(crate) unsafe fn write(address: u64, data: &[u8]) -> Result<(), Errno> {
    // SAFETY: reads `data` alone; the caller answers for the written memory, and a write that faults is an error.
    done(unsafe { softhca_guarded_copy(address, data.as_ptr() as u64, data.len(), address) })
}

/// Loads the aligned 32-bit word at `address`, with acquire ordering, as every load of this CPU has.
pub(crate) fn load32(address: u64) -> Result<u32, Errno> {
    let mut word = 0;
    // SAFETY: writes to a local; a read that faults is an error.
    done(unsafe { softhca_guarded_load32(address, &mut word) })?;
    Ok(word)
}

/// Replaces the aligned 64-bit word at `address` by `change` of it, atomically; gives the old one.
///
/// # Safety
/// As for [`write`].
pub(crate) unsafe fn update64(address: u64, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, Errno> {
    let mut bytes = [0; 8];
    read(address, &mut bytes)?;
    let mut old = u64::from_ne_bytes(bytes);
    loop {
        let (expected, new) = (old, change(old));
        // SAFETY: writes to a local, and to the memory for which the caller answers.
        done(unsafe { softhca_guarded_exchange64(address, &mut old, new) })?;
        if old == expected {
            return Ok(old);
        }
    }
}

/// Has every page of `len` bytes at `address` be there, and be the program's own to write if it is to be `writable`.
pub(crate) fn touch(address: u64, len: u64, writable: bool) -> Result<(), Errno> {
    let end = address.checked_add(len).ok_or(Errno::EFAULT)?;
    let page = super::page_bytes();
    let mut at = address;
    while at < end {
        // SAFETY: the byte is read, or keeps its value; an access that faults is an error.
        done(unsafe { if writable { softhca_guarded_touch_mut(at) } else { softhca_guarded_touch(at) } })?;
        at = match (at / page + 1).checked_mul(page) {
            Some(next) => next,
            None => break,
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strict;

    const PAGE: usize = 4096;

    /// Two pages, of which the second permits nothing.
    fn pages() -> u64 {
        strict::take_over().expect("handlers");
        let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, of which half is given up.
        unsafe {
            let at = libc::mmap(std::ptr::null_mut(), 2 * PAGE, prot, flags, -1, 0);
            assert_ne!(at, libc::MAP_FAILED);
            libc::mprotect(at.cast::<u8>().add(PAGE).cast(), PAGE, libc::PROT_NONE);
            at as u64
        }
    }

    #[test]
    fn copies_are_whole_at_any_alignment() {
        let at = pages();
        let data: Vec<u8> = (0..240).map(|i| i ^ 0x5a).collect();
        for offset in 0..17 {
            for len in 0..data.len() {
                let address = at + 64 + offset;
                // SAFETY: memory of this test's own.
                unsafe { write(address - 1, &[0xee; 256]).expect("written") };
                // SAFETY: memory of this test's own.
                unsafe { write(address, &data[..len]).expect("written") };
                let mut out = vec![0; len + 2];
                read(address - 1, &mut out).expect("read");
                assert_eq!((out[0], &out[1..=len], out[len + 1]), (0xee, &data[..len], 0xee), "{offset} {len}");
            }
        }
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let at = pages();
        let end = at + PAGE as u64;
        for address in [0, 8, end, end - 3, u64::MAX - 7, 1 << 63] {
            assert_eq!(read(address, &mut [0; 8]), Err(Errno::EFAULT), "{address:#x}");
            // SAFETY: memory of this test's own, or none.
            assert_eq!(unsafe { write(address, &[7; 8]) }, Err(Errno::EFAULT), "{address:#x}");
        }
        assert_eq!(load32(end), Err(Errno::EFAULT));
        // SAFETY: memory of this test's own, which permits nothing.
        assert_eq!(unsafe { update64(end, &mut |word| word + 1) }, Err(Errno::EFAULT));
        assert_eq!(touch(at, PAGE as u64, true), Ok(()));
        assert_eq!(touch(at, PAGE as u64 + 1, false), Err(Errno::EFAULT));
        assert_eq!(touch(u64::MAX - 10, 11, false), Err(Errno::EFAULT));
    }

    #[test]
    fn memory_that_can_only_be_read_is_not_written() {
        let text = b"constant".as_ptr() as u64;
        let mut out = [0; 8];
        assert_eq!((read(text, &mut out), &out), (Ok(()), b"constant"));
        // SAFETY: refused.
        assert_eq!(unsafe { write(text, b"variable") }, Err(Errno::EFAULT));
        assert_eq!(touch(text, 8, true), Err(Errno::EFAULT));
    }

    #[test]
    fn a_file_that_has_become_shorter_is_an_error() {
        strict::take_over().expect("handlers");
        // SAFETY: a file and memory of this test's own.
        let (fd, at) = unsafe {
            let fd = libc::memfd_create(c"shorter".as_ptr(), libc::MFD_CLOEXEC);
            libc::ftruncate(fd, PAGE as i64);
            let at = libc::mmap(std::ptr::null_mut(), PAGE, libc::PROT_READ, libc::MAP_SHARED, fd, 0);
            (fd, at as u64)
        };
        assert_eq!(load32(at), Ok(0));
        // SAFETY: a file of this test's own, whose memory only guarded loads reach.
        unsafe { libc::ftruncate(fd, 0) };
        assert_eq!(load32(at), Err(Errno::EFAULT));
    }

    #[test]
    fn words_are_updated_by_several_threads() {
        let at = pages() + 16;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        // SAFETY: memory of this test's own.
                        unsafe { update64(at, &mut |word| word + 3) }.expect("a word");
                    }
                });
            }
        });
        // SAFETY: memory of this test's own.
        assert_eq!(unsafe { update64(at, &mut |word| word) }, Ok(120_000));
        assert_eq!(load32(at), Ok(120_000));
    }
}
