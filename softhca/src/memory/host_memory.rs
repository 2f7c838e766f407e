//! The way to host memory: the device's DMA.

use thiserror::Error;

/// The address is not mapped for the device, wholly or in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("DMA to unmapped memory: {len} bytes at {addr:#x}")]
pub struct DmaFault {
    /// First address of the access.
    pub addr: u64,
    /// Length of the access in bytes.
    pub len: usize,
}

/// Host memory as the device sees it, by I/O virtual address. Lengths are in bytes.
///
/// Rings, doorbell records and registered memory all go through it. Implementations must bound every access: an
/// address comes from a WQE or a context and may be anything.
pub trait HostMemory: Send {
    /// Makes `len` bytes at `addr` reachable (pins them). Ranges may overlap; each `map` is undone by one `unmap`.
    ///
    /// # Errors
    /// [`DmaFault`] if the memory does not exist.
    ///
    /// # Safety
    /// The memory stays valid for reads and writes by the device until the matching [`Self::unmap`].
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault>;

    /// Makes memory reachable that the device is to write, as [`map`](Self::map) does. It equals `map` where all memory
    /// can be written.
    ///
    /// # Errors
    /// [`DmaFault`] if the memory does not exist or cannot be written.
    ///
    /// # Safety
    /// As for [`map`](Self::map).
    unsafe fn map_writable(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        // SAFETY: passed on to the caller.
        unsafe { self.map(addr, len) }
    }

    /// Undoes one [`Self::map`] or [`Self::map_writable`] of exactly this range.
    fn unmap(&mut self, addr: u64, len: usize);

    /// Whether these bytes are mapped, and lie in this process at this very address, so that another process can reach
    /// them there past the device. `write`: they can be written.
    fn is_of_process(&self, _addr: u64, _len: usize, _write: bool) -> bool {
        false
    }

    /// Copies host memory at `addr` into `out`.
    ///
    /// # Errors
    /// [`DmaFault`] if any byte is unmapped; `out` is then unspecified.
    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault>;

    /// Copies `data` to host memory at `addr`.
    ///
    /// # Errors
    /// [`DmaFault`] if any byte is unmapped; nothing is written then.
    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault>;

    /// Loads the big-endian 32-bit word at `addr` (doorbell records), by one load with acquire ordering. Returns it in
    /// host byte order.
    ///
    /// Required: the reads that follow see the WQEs that the record announces, whole.
    ///
    /// ```text
    /// driver                        device
    /// ring[i] = WQE                 if load_be32(dbr) is past i   // acquire
    /// barrier to the device             read(ring[i])             // not before the load, so it sees the WQE
    /// record = i + 1
    /// ```
    ///
    /// # Errors
    /// [`DmaFault`] if the word is unmapped or `addr` is not a multiple of 4.
    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault>;

    /// Replaces the 64-bit word at `addr` by `f` of it, atomically with respect to the host's CPUs (IBTA atomics). The
    /// argument and the result of `f`, and the returned old word, are in host byte order.
    ///
    /// # Errors
    /// [`DmaFault`] if the word is unmapped or `addr` is not a multiple of 8.
    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault>;

    /// Replaces the 32-bit word at `addr` as [`fetch_update_u64`](Self::fetch_update_u64) does: by updating the 64-bit
    /// word that it is half of. Memory is mapped by pages, so all of that is there.
    ///
    /// # Errors
    /// [`DmaFault`] if the 64-bit word is unmapped or `addr` is not a multiple of 4.
    fn fetch_update_u32(&self, addr: u64, f: &mut dyn FnMut(u32) -> u32) -> Result<u32, DmaFault> {
        if addr % 4 != 0 {
            return Err(DmaFault { addr, len: 4 });
        }
        let half = usize::from(addr % 8 != 0);
        let halves = |word: u64| {
            let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
            [[a, b, c, d], [e, f, g, h]].map(u32::from_ne_bytes)
        };
        let old = self.fetch_update_u64(addr & !7, &mut |word| {
            let mut words = halves(word);
            words[half] = f(words[half]);
            let [[a, b, c, d], [e, f, g, h]] = words.map(u32::to_ne_bytes);
            u64::from_ne_bytes([a, b, c, d, e, f, g, h])
        })?;
        Ok(halves(old)[half])
    }

    /// Replaces the 128-bit word at `addr` as [`fetch_update_u64`](Self::fetch_update_u64) does, but one half after
    /// the other. The device does one atomic at a time, so it is atomic with respect to its others, which is all that
    /// `IBV_ATOMIC_HCA` promises. Each half is atomic to the host's CPUs; a CPU's store between the two halves is
    /// lost.
    ///
    /// # Errors
    /// [`DmaFault`] if a half is unmapped or `addr` is not a multiple of 16; nothing is written then.
    fn fetch_update_u128(&self, addr: u64, f: &mut dyn FnMut(u128) -> u128) -> Result<u128, DmaFault> {
        if addr % 16 != 0 {
            return Err(DmaFault { addr, len: 16 });
        }
        let places = [addr, addr + 8];
        let mut old = [0; 16];
        for (half, at) in old.chunks_exact_mut(8).zip(places) {
            // An update that changes nothing, so that an unwritable byte is found before any byte is written.
            half.copy_from_slice(&self.fetch_update_u64(at, &mut |word| word)?.to_ne_bytes());
        }
        let old = u128::from_ne_bytes(old);
        let new = f(old).to_ne_bytes();
        for (half, at) in new.chunks_exact(8).zip(places) {
            let half = half.try_into().map(u64::from_ne_bytes).unwrap_or_default();
            self.fetch_update_u64(at, &mut |_| half)?;
        }
        Ok(old)
    }

    /// Writes `data` so that its last byte becomes visible after all the others, and after all writes before (release):
    /// a CQE, whose last byte holds the owner bit.
    ///
    /// Required: a driver that sees the new owner bit sees the whole CQE, and the message.
    ///
    /// ```text
    /// device                        driver
    /// write(message)                if the owner bit of byte 63 is new
    /// write(CQE bytes 0..63)            barrier from the device
    /// write(CQE byte 63)            // release
    ///                                   read the CQE, read the message   // both are there
    /// ```
    ///
    /// # Errors
    /// [`DmaFault`] if any byte is unmapped; nothing is written then.
    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ArrayMemory;

    #[test]
    fn words_of_other_sizes_are_aligned() {
        let memory = ArrayMemory::filled(0x1000, 32, 0);
        memory.write(0x1000, &[1, 2, 3, 4, 5, 6, 7, 8]).expect("there");
        assert_eq!(memory.fetch_update_u32(0x1004, &mut |_| 0), Ok(u32::from_ne_bytes([5, 6, 7, 8])));
        let mut left = [0xff; 8];
        memory.read(0x1000, &mut left).expect("there");
        assert_eq!(left, [1, 2, 3, 4, 0, 0, 0, 0]);
        for addr in [0x1001, 0x1002, 0x1006] {
            assert_eq!(memory.fetch_update_u32(addr, &mut |_| 1), Err(DmaFault { addr, len: 4 }));
        }
        assert!(memory.fetch_update_u128(0x1010, &mut |word| !word).is_ok());
        assert_eq!(memory.fetch_update_u128(0x1008, &mut |_| 1), Err(DmaFault { addr: 0x1008, len: 16 }));
        assert!(memory.fetch_update_u128(0x1020, &mut |_| 1).is_err());
    }
}
