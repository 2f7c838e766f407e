//! The instruction that stores to a watched page: where it stores how many bytes, and which register to change so that
//! it stores elsewhere.

use iced_x86::{Decoder, DecoderError, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use libc::greg_t;

/// Most bytes of an instruction.
const MAX_INSTRUCTION: usize = 15;
/// Bytes of a page of code: the page after it may be unmapped.
const CODE_PAGE: usize = 4096;

/// The registers of the interrupted thread, as the kernel numbers them (`REG_R8` …).
pub(super) type Registers = [greg_t; 23];

/// The instruction at `address`. Invalid if there is none.
///
/// # Safety
/// The CPU has executed the instruction there, or is about to.
pub(super) unsafe fn decode(address: usize) -> Instruction {
    let mut bytes = [0; MAX_INSTRUCTION];
    let in_page = MAX_INSTRUCTION.min(CODE_PAGE - address % CODE_PAGE);
    let mut read = |range: std::ops::Range<usize>| {
        for at in range {
            // SAFETY: the first byte can be read by the caller's promise, so the rest of its page can. The next page is
            // looked at only after the bytes before have shown that the instruction goes on there.
            bytes[at] = unsafe { std::ptr::with_exposed_provenance::<u8>(address + at).read_volatile() };
        }
        bytes
    };
    let decoded = |bytes: &[u8]| {
        let mut decoder = Decoder::with_ip(64, bytes, address as u64, DecoderOptions::NONE);
        (decoder.decode(), decoder.last_error())
    };
    let (instruction, error) = decoded(&read(0..in_page)[..in_page]);
    if error != DecoderError::NoMoreBytes || in_page == MAX_INSTRUCTION {
        return instruction;
    }
    decoded(&read(in_page..MAX_INSTRUCTION)).0
}

/// A store that can be made to go elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Store {
    /// Where it stores.
    pub(super) address: usize,
    /// How many bytes: 1 to 64.
    pub(super) len: usize,
    /// Index in [`Registers`] of the register that its address is relative to. Nothing else of the instruction depends
    /// on it, so a number added to the register is added to the address.
    pub(super) base: usize,
}

impl Store {
    /// The store that `instruction` is about to make; `None` if drivers do not use it to store to registers. Such an
    /// instruction reads the memory, stores only some bytes of a vector, or has an address that is not relative to a
    /// register of its own.
    pub(super) fn of(instruction: &Instruction, registers: &Registers) -> Option<Self> {
        let is_move = is_move(instruction.mnemonic());
        if !is_move || instruction.op_mask() != Register::None || instruction.has_lock_prefix() {
            return None;
        }
        // Where the address of an instruction is an operand of its own, there is no memory operand.
        let (base, value) = match (instruction.mnemonic(), instruction.op0_kind()) {
            (Mnemonic::Movdir64b, _) => (instruction.op0_register(), instruction.memory_base()),
            (_, OpKind::MemoryESRDI) => (Register::RDI, Register::None),
            (_, OpKind::Memory) if instruction.op1_kind() == OpKind::Register => {
                (instruction.memory_base(), instruction.op1_register())
            }
            (_, OpKind::Memory) => (instruction.memory_base(), Register::None),
            _ => return None,
        };
        let shared = [value.full_register(), instruction.memory_index().full_register()].contains(&base);
        if shared || matches!(instruction.memory_segment(), Register::FS | Register::GS) {
            return None;
        }
        let index = number(base)?;
        let register = |register: Register, _, _| match register {
            Register::ES | Register::CS | Register::SS | Register::DS => Some(0),
            register => number(register).map(|number| registers[number] as u64),
        };
        let (address, len) = match instruction.mnemonic() {
            Mnemonic::Movdir64b => (registers[index] as u64, 64),
            _ => (instruction.virtual_address(0, 0, register)?, instruction.memory_size().size()),
        };
        (1..=64).contains(&len).then_some(Self { address: address as usize, len, base: index })
    }
}

/// Whether the next instruction ends the CPU's write combining: a fence, a locked instruction, a system call.
pub(super) fn flushes_stores(instruction: &Instruction) -> bool {
    match instruction.mnemonic() {
        Mnemonic::Sfence | Mnemonic::Mfence | Mnemonic::Syscall | Mnemonic::Cpuid => true,
        Mnemonic::Xchg => instruction.op0_kind() == OpKind::Memory,
        _ => instruction.has_lock_prefix(),
    }
}

/// Whether an instruction is a breakpoint that the CPU gives no reason for.
pub(super) fn is_int1(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Int1
}

/// Instructions that only store if their first operand is memory, and store all bytes of their operand.
fn is_move(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Mov | Movnti | Movbe | Movdiri | Movdir64b | Stosb | Stosw | Stosd | Stosq | Movsb | Movsw | Movsd | Movsq
    ) || matches!(
        mnemonic,
        Movaps | Movups | Movapd | Movupd | Movdqa | Movdqu | Movd | Movq | Movss | Movlps | Movhps | Movlpd | Movhpd
    ) || matches!(
        mnemonic,
        Vmovaps | Vmovups | Vmovapd | Vmovupd | Vmovdqa | Vmovdqu | Vmovd | Vmovq | Vmovss | Vmovsd | Vmovlps | Vmovhps
    ) || matches!(
        mnemonic,
        Vmovdqa32 | Vmovdqa64 | Vmovdqu8 | Vmovdqu16 | Vmovdqu32 | Vmovdqu64 | Vmovlpd | Vmovhpd | Vextractf128
    ) || matches!(mnemonic, Movntps | Movntpd | Movntdq | Movntq | Vmovntps | Vmovntpd | Vmovntdq | Vextracti128)
}

/// The index in [`Registers`] of a 64-bit general register that an address can be relative to. The stack pointer is
/// none: signals are delivered where it points.
fn number(register: Register) -> Option<usize> {
    let number = match register {
        Register::RAX => libc::REG_RAX,
        Register::RBX => libc::REG_RBX,
        Register::RCX => libc::REG_RCX,
        Register::RDX => libc::REG_RDX,
        Register::RSI => libc::REG_RSI,
        Register::RDI => libc::REG_RDI,
        Register::RBP => libc::REG_RBP,
        Register::R8 => libc::REG_R8,
        Register::R9 => libc::REG_R9,
        Register::R10 => libc::REG_R10,
        Register::R11 => libc::REG_R11,
        Register::R12 => libc::REG_R12,
        Register::R13 => libc::REG_R13,
        Register::R14 => libc::REG_R14,
        Register::R15 => libc::REG_R15,
        _ => return None,
    };
    Some(number as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The store of `code` if RAX is 0x10000, RCX is 0x20, and RDI is 0x30000.
    fn store(code: &[u8]) -> Option<(usize, usize, usize)> {
        let mut registers: Registers = [0; 23];
        registers[libc::REG_RAX as usize] = 0x1_0000;
        registers[libc::REG_RCX as usize] = 0x20;
        registers[libc::REG_RDI as usize] = 0x3_0000;
        let mut padded = [0x90; 32];
        padded[..code.len()].copy_from_slice(code);
        // SAFETY: an array of more bytes than instructions have.
        let instruction = unsafe { decode(padded.as_ptr().expose_provenance()) };
        assert_eq!(instruction.len(), code.len(), "{code:02x?}");
        Store::of(&instruction, &registers).map(|store| (store.address, store.len, store.base))
    }

    #[test]
    fn stores_of_drivers_are_known() {
        let (rax, rdi) = (libc::REG_RAX as usize, libc::REG_RDI as usize);
        for (name, code, expected) in [
            ("mov %rdx, 0x900(%rax)", &[0x48, 0x89, 0x90, 0x00, 0x09, 0x00, 0x00][..], (0x1_0900, 8, rax)),
            ("mov %edx, (%rax,%rcx,4)", &[0x89, 0x14, 0x88], (0x1_0080, 4, rax)),
            ("mov %rcx, (%rax,%rcx)", &[0x48, 0x89, 0x0c, 0x08], (0x1_0020, 8, rax)),
            ("movb $3, (%rax)", &[0xc6, 0x00, 0x03], (0x1_0000, 1, rax)),
            ("movnti %rdx, 8(%rax)", &[0x48, 0x0f, 0xc3, 0x50, 0x08], (0x1_0008, 8, rax)),
            ("movdiri %rdx, (%rax)", &[0x48, 0x0f, 0x38, 0xf9, 0x10], (0x1_0000, 8, rax)),
            ("movdir64b (%rcx), %rax", &[0x66, 0x0f, 0x38, 0xf8, 0x01], (0x1_0000, 64, rax)),
            ("movntdq %xmm0, 0x10(%rax)", &[0x66, 0x0f, 0xe7, 0x40, 0x10], (0x1_0010, 16, rax)),
            ("movups %xmm1, (%rax)", &[0x0f, 0x11, 0x08], (0x1_0000, 16, rax)),
            ("movlps %xmm1, (%rax)", &[0x0f, 0x13, 0x08], (0x1_0000, 8, rax)),
            ("vmovntdq %ymm0, 0x20(%rax)", &[0xc5, 0xfd, 0xe7, 0x40, 0x20], (0x1_0020, 32, rax)),
            ("vmovdqu64 %zmm0, 0x40(%rax)", &[0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x40, 0x01], (0x1_0040, 64, rax)),
            ("rep movsb", &[0xf3, 0xa4], (0x3_0000, 1, rdi)),
            ("stosq", &[0x48, 0xab], (0x3_0000, 8, rdi)),
        ] {
            assert_eq!(store(code), Some(expected), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_made_to_go_elsewhere_is_refused() {
        for (name, code) in [
            ("mov (%rax), %rdx", &[0x48, 0x8b, 0x10][..]),
            ("mov %rax, (%rax)", &[0x48, 0x89, 0x00]),
            ("mov %al, (%rax)", &[0x88, 0x00]),
            ("mov %rdx, (%rax,%rax)", &[0x48, 0x89, 0x14, 0x00]),
            ("mov %rdx, (%rsp)", &[0x48, 0x89, 0x14, 0x24]),
            ("mov %rdx, 0x10(%rip)", &[0x48, 0x89, 0x15, 0x10, 0x00, 0x00, 0x00]),
            ("mov %rdx, %fs:(%rax)", &[0x64, 0x48, 0x89, 0x10]),
            ("mov %rdx, (%eax)", &[0x67, 0x48, 0x89, 0x10]),
            ("xchg %rdx, (%rax)", &[0x48, 0x87, 0x10]),
            ("lock xadd %rdx, (%rax)", &[0xf0, 0x48, 0x0f, 0xc1, 0x10]),
            ("add %rdx, (%rax)", &[0x48, 0x01, 0x10]),
            ("vmovdqu64 %zmm0, (%rax){%k1}", &[0x62, 0xf1, 0xfe, 0x49, 0x7f, 0x00]),
            ("movdir64b (%rax), %rax", &[0x66, 0x0f, 0x38, 0xf8, 0x00]),
            ("mov %rdx, %rax", &[0x48, 0x89, 0xd0]),
        ] {
            assert_eq!(store(code), None, "{name}");
        }
    }

    #[test]
    fn fences_end_what_is_combined() {
        let flushes = |code: &[u8]| {
            let mut padded = [0x90; 32];
            padded[..code.len()].copy_from_slice(code);
            // SAFETY: an array of more bytes than instructions have.
            flushes_stores(&unsafe { decode(padded.as_ptr().expose_provenance()) })
        };
        assert!(flushes(&[0x0f, 0xae, 0xf8]), "sfence");
        assert!(flushes(&[0x0f, 0xae, 0xf0]), "mfence");
        assert!(flushes(&[0xf0, 0x48, 0x83, 0x0c, 0x24, 0x00]), "lock orq $0, (%rsp)");
        assert!(flushes(&[0x48, 0x87, 0x10]), "xchg %rdx, (%rax)");
        assert!(flushes(&[0x0f, 0x05]), "syscall");
        assert!(!flushes(&[0x0f, 0xae, 0xe8]), "lfence");
        assert!(!flushes(&[0x48, 0x89, 0x10]), "mov %rdx, (%rax)");
    }

    #[test]
    fn an_instruction_at_the_end_of_the_last_page_is_read_no_further() {
        // SAFETY: two pages of this test's own, of which the second is then given back.
        let pages = unsafe {
            let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let pages = libc::mmap(std::ptr::null_mut(), 2 * CODE_PAGE, prot, flags, -1, 0).cast::<u8>();
            libc::munmap(pages.add(CODE_PAGE).cast(), CODE_PAGE);
            let code = pages.add(CODE_PAGE - 3);
            code.copy_from_nonoverlapping([0x48, 0x89, 0x10].as_ptr(), 3);
            pages
        };
        // SAFETY: the bytes of one instruction are there.
        let instruction = unsafe { decode(pages.expose_provenance() + CODE_PAGE - 3) };
        assert_eq!((instruction.mnemonic(), instruction.len()), (Mnemonic::Mov, 3));
        // SAFETY: the page from above.
        unsafe { libc::munmap(pages.cast(), CODE_PAGE) };
    }
}
