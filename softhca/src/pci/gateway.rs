//! The vendor-specific capability: a gateway to the adapter's insides, and a lock for it. The only thing behind the
//! gateway here is the semaphores by which drivers agree on the one that restarts the firmware. Layout: Linux
//! `drivers/net/ethernet/mellanox/mlx5/core/lib/pci_vsc.c`.
//!
//! | byte | register |
//! |---|---|
//! | 4 | the space that is behind (bits 15:0), and whether there is one (31:29) |
//! | 8 | counter: another number at each look |
//! | 12 | lock: keeps the first value written, until 0 is written |
//! | 16 | address (29:0); storing it with bit 31 writes, and clears the bit; without bit 31 it reads, and sets the bit |
//! | 20 | data |

use std::cell::Cell;

/// Bytes of the capability.
pub(super) const BYTES: usize = 24;

const CONTROL: usize = 4;
const COUNTER: usize = 8;
const LOCK: usize = 12;
const ADDRESS: usize = 16;
const DATA: usize = 20;

/// The space of semaphores, and those that it has: more than Linux uses.
const SEMAPHORES: u16 = 0xa;
const COUNT: usize = 0x40;
/// Status: the space exists.
const IS_THERE: u32 = 1 << 29;
const FLAG: u32 = 1 << 31;
const ADDRESS_MASK: u32 = (1 << 30) - 1;

/// The registers.
#[derive(Clone, Debug)]
pub(super) struct Gateway {
    space: u16,
    /// Reading advances it.
    counter: Cell<u32>,
    lock: u32,
    address: u32,
    data: u32,
    semaphores: [u32; COUNT],
}

impl Gateway {
    pub(super) fn new() -> Self {
        Self { space: 0, counter: Cell::new(0), lock: 0, address: 0, data: 0, semaphores: [0; COUNT] }
    }

    /// The register that begins at byte `at` of the capability.
    pub(super) fn read(&self, at: usize) -> u32 {
        match at {
            CONTROL if self.space == SEMAPHORES => u32::from(self.space) | IS_THERE,
            CONTROL => self.space.into(),
            COUNTER => {
                self.counter.set(self.counter.get().wrapping_add(1).max(1));
                self.counter.get()
            }
            LOCK => self.lock,
            ADDRESS => self.address,
            DATA => self.data,
            _ => 0,
        }
    }

    /// Stores to the register that begins at byte `at` of the capability.
    pub(super) fn write(&mut self, at: usize, word: u32) {
        match at {
            CONTROL => self.space = word as u16,
            LOCK => take_or_free(&mut self.lock, word),
            DATA => self.data = word,
            ADDRESS => {
                let index = (word & ADDRESS_MASK) as usize;
                let semaphore = self.semaphores.get_mut(index).filter(|_| self.space == SEMAPHORES);
                self.address = word & ADDRESS_MASK;
                match (semaphore, word & FLAG != 0) {
                    (Some(semaphore), true) => take_or_free(semaphore, self.data),
                    (None, true) => {}
                    (semaphore, false) => {
                        self.data = semaphore.map_or(0, |semaphore| *semaphore);
                        self.address |= FLAG;
                    }
                }
            }
            _ => {}
        }
    }
}

/// A semaphore keeps the number of the driver that took it, until 0 frees it.
fn take_or_free(semaphore: &mut u32, word: u32) {
    if *semaphore == 0 || word == 0 {
        *semaphore = word;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The word at an address of the space.
    fn get(gateway: &mut Gateway, address: u32) -> u32 {
        gateway.write(ADDRESS, address);
        assert_eq!(gateway.read(ADDRESS), address | FLAG);
        gateway.read(DATA)
    }

    fn put(gateway: &mut Gateway, address: u32, word: u32) {
        gateway.write(DATA, word);
        gateway.write(ADDRESS, address | FLAG);
        assert_eq!(gateway.read(ADDRESS), address, "done");
    }

    #[test]
    fn one_has_the_lock_at_a_time() {
        let mut gateway = Gateway::new();
        let [one, other] = [(); 2].map(|()| gateway.read(COUNTER));
        assert_ne!(one, other);
        gateway.write(LOCK, one);
        gateway.write(LOCK, other);
        assert_eq!(gateway.read(LOCK), one);
        gateway.write(LOCK, 0);
        gateway.write(LOCK, other);
        assert_eq!(gateway.read(LOCK), other);
    }

    #[test]
    fn semaphores_are_taken_and_freed() {
        let mut gateway = Gateway::new();
        gateway.write(CONTROL, SEMAPHORES.into());
        assert_eq!(gateway.read(CONTROL), 0x2000_000a);
        assert_eq!(get(&mut gateway, 0x20), 0);
        put(&mut gateway, 0x20, 5);
        put(&mut gateway, 0x20, 6);
        assert_eq!(get(&mut gateway, 0x20), 5);
        assert_eq!(get(&mut gateway, 0x21), 0);
        put(&mut gateway, 0x20, 0);
        assert_eq!(get(&mut gateway, 0x20), 0);
        put(&mut gateway, ADDRESS_MASK, 7);
        assert_eq!(get(&mut gateway, ADDRESS_MASK), 0, "there is none");
    }

    #[test]
    fn other_spaces_are_not_there() {
        let mut gateway = Gateway::new();
        gateway.write(CONTROL, SEMAPHORES.into());
        put(&mut gateway, 0x20, 5);
        for space in [0, 2, 7, 0xffff] {
            gateway.write(CONTROL, space);
            assert_eq!(gateway.read(CONTROL), space);
            put(&mut gateway, 0x20, 9);
            assert_eq!(get(&mut gateway, 0x20), 0);
        }
        gateway.write(CONTROL, SEMAPHORES.into());
        assert_eq!(get(&mut gateway, 0x20), 5);
    }
}
