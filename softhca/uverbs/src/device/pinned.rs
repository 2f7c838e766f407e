//! Memory that the program has registered and, as with every RDMA device, keeps: rings, records, regions. A NIC pins
//! its pages. This device does not: if a program unmaps such memory, the device's access fails, and the program does
//! not end (`process::guarded`).

use crate::process::guarded;
use softhca::memory::{DmaFault, HostMemory, ProcessMemory};

/// Such memory.
#[derive(Debug, Default)]
pub(super) struct PinnedMemory(ProcessMemory);

impl PinnedMemory {
    /// None yet.
    pub(super) fn new() -> Self {
        Self::default()
    }
}

impl HostMemory for PinnedMemory {
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        // SAFETY: passed on to the caller.
        unsafe { self.0.map(addr, len) }
    }

    unsafe fn map_writable(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        // SAFETY: passed on to the caller.
        unsafe { self.0.map_writable(addr, len) }
    }

    fn unmap(&mut self, addr: u64, len: usize) {
        self.0.unmap(addr, len);
    }

    fn is_of_process(&self, addr: u64, len: usize, write: bool) -> bool {
        self.0.is_of_process(addr, len, write)
    }

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        self.0.check(addr, out.len(), false)?;
        guarded::read(addr, out).map_err(|_| DmaFault { addr, len: out.len() })
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.0.check(addr, data.len(), true)?;
        // SAFETY: the program that has mapped it lets the device write there.
        unsafe { guarded::write(addr, data) }.map_err(|_| DmaFault { addr, len: data.len() })
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        let fault = DmaFault { addr, len: 4 };
        if addr % 4 != 0 {
            return Err(fault);
        }
        self.0.check(addr, 4, false)?;
        guarded::load32(addr).map(u32::from_be).map_err(|_| fault)
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        let fault = DmaFault { addr, len: 8 };
        if addr % 8 != 0 {
            return Err(fault);
        }
        self.0.check(addr, 8, true)?;
        // SAFETY: as in `write`.
        unsafe { guarded::update64(addr, f) }.map_err(|_| fault)
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        // Copies go in ascending order, which is that in which other threads see the stores of this CPU.
        self.write(addr, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strict;

    const PAGE: usize = 4096;

    #[test]
    fn what_the_program_unmaps_is_a_fault_and_no_signal() {
        strict::take_over().expect("handlers");
        let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, wherever the kernel puts it.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), 2 * PAGE, prot, flags, -1, 0) };
        assert_ne!(at, libc::MAP_FAILED);
        let address = at as u64;
        let mut memory = PinnedMemory::new();
        // SAFETY: as long as it is there, it may be written; after that nobody has it.
        unsafe { memory.map(address, 2 * PAGE) }.expect("there");
        memory.write(address + 8, &[1, 2, 3, 4]).expect("written");
        memory.write_last_byte_last(address + 12, &[5, 6, 7, 8]).expect("written");
        let mut out = [0; 8];
        assert_eq!((memory.read(address + 8, &mut out), out), (Ok(()), [1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(memory.load_be32(address + 8), Ok(0x0102_0304));
        assert_eq!(memory.fetch_update_u64(address, &mut |word| word + 1), Ok(0));
        assert!(memory.write(address - 1, &[0; 2]).is_err() && memory.load_be32(address + 2).is_err());
        // SAFETY: this test's own. The address stays taken: other tests' memory must not come there.
        assert_eq!(unsafe { libc::mmap(at, PAGE, libc::PROT_NONE, flags | libc::MAP_FIXED, -1, 0) }, at);
        let fault = |len| DmaFault { addr: address, len };
        assert_eq!(memory.read(address, &mut out), Err(fault(8)));
        assert_eq!(memory.write(address, &[0; 8]), Err(fault(8)));
        assert_eq!(memory.write_last_byte_last(address, &[0; 8]), Err(fault(8)));
        assert_eq!(memory.load_be32(address), Err(fault(4)));
        assert_eq!(memory.fetch_update_u64(address, &mut |word| word), Err(fault(8)));
        assert_eq!(memory.read(address + PAGE as u64, &mut out), Ok(()));
        memory.unmap(address, 2 * PAGE);
        assert!(memory.read(address + PAGE as u64, &mut out).is_err());
        // SAFETY: memory of this test's own, which nothing uses any more.
        unsafe { libc::munmap(at, 2 * PAGE) };
    }
}
