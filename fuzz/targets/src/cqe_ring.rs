//! A device's side of a completion queue: it writes CQEs, whole or compressed into sessions, in either layout.

use softhca::memory::HostMemory;

use crate::memory::{Arena, BASE};

/// Bits 3:2 of a CQE's last byte: it is compressed.
pub const COMPRESSED: u8 = 3 << 2;
/// The last byte of a CQE that the device has not written.
const EMPTY: u8 = 0xf0;
/// The last CQE of a ring that is resized (`MLX5_CQE_RESIZE_CQ`).
const RESIZED: u8 = 5 << 4;

/// How completions are written.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub compressed: bool,
    /// Mini-CQEs have the index of the WQE, or of the stride.
    pub has_index: bool,
    /// They have the flow's tag, and no whole count of strides.
    pub has_tag: bool,
    /// The layout.
    pub enhanced: bool,
}

impl Form {
    /// Whole CQEs.
    pub const WHOLE: Self = Self { compressed: false, has_index: false, has_tag: false, enhanced: false };
}

/// The ring.
pub struct CqeRing {
    arena: Arena,
    cqes: u32,
    cqe_bytes: u32,
    pub form: Form,
    /// Index of the next completion.
    pub index: u32,
}

impl CqeRing {
    /// A ring in which nothing was written.
    pub fn new(cqes: u32, cqe_bytes: u32, form: Form) -> Self {
        Self { arena: Self::unwritten(cqes, cqe_bytes), cqes, cqe_bytes, form, index: 0 }
    }

    fn unwritten(cqes: u32, cqe_bytes: u32) -> Arena {
        let arena = Arena::new((cqes * cqe_bytes) as usize, 0);
        for end in 1..=cqes {
            arena.scribble((end * cqe_bytes - 1) as usize, &[EMPTY]);
        }
        arena
    }

    /// The memory.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// How many CQEs it has.
    pub fn cqes(&self) -> u32 {
        self.cqes
    }

    /// Whether CQEs have 128 bytes.
    pub fn is_wide(&self) -> bool {
        self.cqe_bytes == 128
    }

    /// Whether there is room for `completions` completions, if the driver has polled those before the index `polled`.
    pub fn has_room(&self, polled: u32, completions: u32) -> bool {
        (self.index.wrapping_sub(polled) & 0xff_ffff) + completions <= self.cqes
    }

    fn place(&self, ahead: u32) -> usize {
        ((self.index + ahead) % self.cqes * self.cqe_bytes + self.cqe_bytes - 64) as usize
    }

    /// Writes a CQE `ahead` places further on, as one that software owns.
    pub fn put(&self, ahead: u32, mut cqe: [u8; 64]) {
        let pass = (self.index + ahead) / self.cqes;
        cqe[63] = cqe[63] & !1 | pass as u8 & 1;
        if self.form.enhanced {
            cqe[62] = pass as u8;
            cqe[63] &= !1;
        }
        self.store(ahead, &cqe);
    }

    /// Writes any 64 bytes `ahead` places further on.
    pub fn store(&self, ahead: u32, cqe: &[u8; 64]) {
        self.arena.scribble(self.place(ahead), cqe);
    }

    /// Writes data in front of the next CQE, where it has 128 bytes.
    pub fn store_front(&self, data: &[u8]) {
        assert_eq!(self.cqe_bytes, 128, "CQEs with a first half");
        self.arena.scribble(self.place(0) - 64, data);
    }

    /// Changes a byte of a CQE, `behind` places before the next one.
    pub fn twist(&self, behind: u32, at: usize, bits: u8) {
        let place = self.place(self.cqes.wrapping_sub(behind % self.cqes)) + at % 64;
        let mut byte = [0];
        self.arena.read(BASE + place as u64, &mut byte).expect("in the ring");
        self.arena.scribble(place, &[byte[0] ^ bits]);
    }

    /// Writes a whole completion.
    pub fn complete(&mut self, cqe: [u8; 64]) {
        self.put(0, cqe);
        self.index += 1;
    }

    /// Writes completions of one session, two at least. `first` is the first one, whole; in the basic layout, its
    /// number of bytes is the count.
    pub fn session(&mut self, first: [u8; 64], minis: &[[u8; 8]]) {
        let count = minis.len() as u32;
        if self.form.enhanced {
            let mut ahead = 1;
            for block in minis[1..].chunks(7) {
                let mut cqe = array(block);
                cqe[63] = ((block.len() as u8) - 1) << 4 | COMPRESSED;
                self.put(ahead, cqe);
                ahead += block.len() as u32;
            }
            self.put(0, first);
        } else {
            for (n, block) in (0..).zip(minis.chunks(8)) {
                self.store(if n == 0 { 1 } else { 8 * n }, &array(block));
            }
            let mut title = first;
            title[44..48].copy_from_slice(&count.to_be_bytes());
            title[63] |= COMPRESSED;
            self.put(0, title);
        }
        self.index += count;
    }

    /// Ends the ring, and goes on in a new one. Without `ended`, the CQE that ends the old one is missing.
    pub fn resize(&mut self, cqes: u32, ended: bool) -> Arena {
        if ended {
            let mut cqe = [0; 64];
            cqe[63] = RESIZED;
            self.put(0, cqe);
        }
        self.index += 1;
        self.cqes = cqes;
        std::mem::replace(&mut self.arena, Self::unwritten(cqes, self.cqe_bytes))
    }
}

/// Mini-CQEs in an array of eight.
fn array(minis: &[[u8; 8]]) -> [u8; 64] {
    let mut array = [0x77; 64];
    for (place, mini) in array.chunks_mut(8).zip(minis) {
        place.copy_from_slice(mini);
    }
    array
}
