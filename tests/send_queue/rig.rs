//! Memory for one send queue, all of it filled with 0xa5 before the queue is made.
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use blueflame::cq::CqId;
use blueflame::db::{ExclusiveRegister, RegisterParts};
use blueflame::queue::SendQueue;
use blueflame::queue::send::{SqParts, WqeRecord};
use blueflame::transport::Transport;
use blueflame::types::{Qpn, SqPi};

/// The queue pair number of every rig: three different bytes.
pub(crate) const QPN: u32 = 0x00c0_ffee;
/// The contents of untouched memory.
pub(crate) const OLD: u8 = 0xa5;
/// Bytes in one half of the register, where it has BlueFlame.
pub(crate) const HALF: usize = 256;
/// WQEBBs of untouchable memory on both sides of the ring.
const GUARD: usize = 2;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Wqebb([u8; 64]);

#[repr(C, align(4096))]
struct Page([u8; 4096]);

/// How a queue is set up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) wqebbs: u32,
    pub(crate) pi: u16,
    pub(crate) max_inline: u32,
    pub(crate) max_sge: u32,
    pub(crate) signal_all: bool,
    pub(crate) bf_size: u32,
}

impl Default for Setup {
    fn default() -> Self {
        Self { wqebbs: 8, pi: 0, max_inline: 512, max_sge: 30, signal_all: false, bf_size: HALF as u32 }
    }
}

/// The memory; raw pointers, since the queue writes it while the rig looks.
pub(crate) struct Rig {
    ring: NonNull<[Wqebb]>,
    dbrec: NonNull<[u32; 2]>,
    page: NonNull<Page>,
    shadow: NonNull<[MaybeUninit<WqeRecord>]>,
    setup: Setup,
}

impl Rig {
    pub(crate) fn new(setup: Setup) -> Self {
        let ring: Vec<_> = (0..setup.wqebbs as usize + 2 * GUARD).map(|_| Wqebb([OLD; 64])).collect();
        let shadow: Vec<_> = (0..setup.wqebbs).map(|_| MaybeUninit::uninit()).collect();
        Self {
            ring: NonNull::from(Box::leak(ring.into_boxed_slice())),
            dbrec: NonNull::from(Box::leak(Box::new([u32::from_ne_bytes([OLD; 4]); 2]))),
            page: NonNull::from(Box::leak(Box::new(Page([OLD; 4096])))),
            shadow: NonNull::from(Box::leak(shadow.into_boxed_slice())),
            setup,
        }
    }

    pub(crate) fn parts(&self) -> SqParts {
        let Setup { wqebbs, pi, max_inline, max_sge, signal_all, .. } = self.setup;
        SqParts {
            // SAFETY: the guard is inside the allocation.
            ring: unsafe { self.ring.cast::<Wqebb>().add(GUARD) }.cast(),
            wqebbs,
            dbrec: self.dbrec.cast(),
            qpn: Qpn::new(QPN).expect("24 bits"),
            cq: CqId::NONE,
            max_inline,
            max_sge,
            signal_all,
            pi: SqPi(pi),
            shadow: self.shadow.cast(),
        }
    }

    pub(crate) fn register_parts(&self) -> RegisterParts {
        RegisterParts { reg: self.page.cast(), size: self.setup.bf_size }
    }

    /// The queue on this memory; make one.
    pub(crate) fn queue<T: Transport>(&self) -> SendQueue<T> {
        // SAFETY: the page lives as long as the rig, which outlives the queue in every test, and has one writer.
        let register = unsafe { ExclusiveRegister::from_parts(self.register_parts()) }.expect("a register");
        // SAFETY: so do ring, record and shadow. No device looks.
        unsafe { SendQueue::from_parts(self.parts(), register) }.expect("a queue")
    }

    /// The bytes of the ring. Panics if a guard was touched.
    pub(crate) fn ring(&self) -> Vec<u8> {
        // SAFETY: the rig owns the memory, and the queue writes it only within its calls.
        let all: Vec<u8> = unsafe { self.ring.as_ref() }.iter().flat_map(|wqebb| wqebb.0).collect();
        let (guard, rest) = all.split_at(GUARD * 64);
        let (ring, other) = rest.split_at(self.setup.wqebbs as usize * 64);
        assert!(guard.iter().chain(other).all(|&byte| byte == OLD), "a store outside of the ring");
        ring.to_vec()
    }

    /// A ring on which only `wqe` was written, from WQEBB `pi` on; it goes on at the ring's start.
    pub(crate) fn ring_with(&self, pi: u16, wqe: &[u8]) -> Vec<u8> {
        let mut ring = vec![OLD; self.setup.wqebbs as usize * 64];
        put(&mut ring, pi, wqe);
        ring
    }

    /// The bytes of the doorbell record's words: receive, send.
    pub(crate) fn dbrec(&self) -> [[u8; 4]; 2] {
        // SAFETY: as in `ring`.
        unsafe { self.dbrec.read_volatile() }.map(u32::to_ne_bytes)
    }

    /// The bytes of the register's page.
    pub(crate) fn page(&self) -> [u8; 4096] {
        // SAFETY: as in `ring`.
        unsafe { self.page.as_ref() }.0
    }

    /// Fills the register with 0xa5 again.
    pub(crate) fn clear_page(&self) {
        // SAFETY: as in `ring`.
        unsafe { self.page.write(Page([OLD; 4096])) };
    }

    /// Flips every byte of the ring, as a device gone wrong might.
    pub(crate) fn scribble(&self) {
        for n in 0..self.setup.wqebbs as usize * 64 {
            // SAFETY: inside the ring, which the rig owns.
            unsafe {
                let byte = self.parts().ring.add(n);
                byte.write(!byte.read());
            }
        }
    }
}

/// Puts `wqe` into a ring, from WQEBB `pi` on; it goes on at the ring's start.
pub(crate) fn put(ring: &mut [u8], pi: u16, wqe: &[u8]) {
    for (n, &byte) in wqe.iter().enumerate() {
        ring[(usize::from(pi) * 64 + n) % ring.len()] = byte;
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // SAFETY: `new` made all four of boxes; the queue, which does not outlive the rig in any test, is gone.
        unsafe {
            drop(Box::from_raw(self.ring.as_ptr()));
            drop(Box::from_raw(self.dbrec.as_ptr()));
            drop(Box::from_raw(self.page.as_ptr()));
            drop(Box::from_raw(self.shadow.as_ptr()));
        }
    }
}
