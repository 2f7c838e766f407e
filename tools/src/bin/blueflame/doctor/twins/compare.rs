//! Comparison of rings, WQE by WQE.
//!
//! Twins differ in the number of their queue pair, which each WQE contains. libmlx5 leaves some words as they were: the
//! second word of fetch-and-add, and the XRC segment behind the number. With `ibv_wr_*`, it also leaves the immediate
//! data of requests without any.

use blueflame_sys as sys;

use super::request::Way;
use crate::doctor::found::{Failure, ensure};

/// The rings are filled with this byte before.
pub(super) const FILL: u8 = 0xa5;
/// Bytes of a WQEBB, and of the unit that a WQE counts its size in.
const WQEBB: usize = 64;
const UNIT: usize = 16;
/// The last word of the control segment has immediate data or a key: `MLX5_OPCODE_SEND_INVAL`,
/// `MLX5_OPCODE_RDMA_WRITE_IMM`, `MLX5_OPCODE_SEND_IMM`, `MLX5_OPCODE_UMR`.
const WITH_IMM: [u8; 4] = [0x01, 0x09, 0x0b, 0x25];
/// `MLX5_OPCODE_ATOMIC_FA`.
const FETCH_ADD: u8 = 0x12;
/// Bytes of the segment of the remote address, and of a word of an atomic segment.
const RADDR: usize = 16;
const WORD: usize = 8;

/// The ring of a work queue, as bytes.
pub(super) fn ring(wq: &sys::mlx5dv_wq) -> Vec<u8> {
    let len = (wq.wqe_cnt * wq.stride) as usize;
    // SAFETY: the ring that libmlx5 allocated; the device only reads it, and nothing is posted now.
    unsafe { core::slice::from_raw_parts(wq.buf.cast::<u8>(), len) }.to_vec()
}

/// Overwrites the ring.
///
/// # Safety
/// Nothing was posted there.
pub(super) unsafe fn fill(wq: &sys::mlx5dv_wq) {
    // SAFETY: the ring that libmlx5 allocated, before anything is posted.
    unsafe { wq.buf.cast::<u8>().write_bytes(FILL, (wq.wqe_cnt * wq.stride) as usize) };
}

/// Both words of a doorbell record.
pub(super) fn record(parts: &sys::mlx5dv_qp) -> [u32; 2] {
    // SAFETY: two words that libmlx5 allocated.
    [0, 1].map(|n| u32::from_be(unsafe { parts.dbrec.add(n).read_volatile() }))
}

/// A ring of whole WQEBBs.
pub(super) struct Ring<'a>(pub(super) &'a sys::mlx5dv_wq);

impl Ring<'_> {
    /// The bytes of the WQEBB of this index.
    fn wqebb(&self, index: usize) -> [u8; WQEBB] {
        let at = index % self.0.wqe_cnt.max(1) as usize * WQEBB;
        // SAFETY: a WQEBB of the ring that libmlx5 allocated; the device only reads it, and nothing is posted now.
        unsafe { self.0.buf.cast::<[u8; WQEBB]>().byte_add(at).read_unaligned() }
    }

    /// The WQE that begins at this index: all of its bytes, in one piece also where it wraps.
    fn wqe(&self, index: usize) -> Vec<u8> {
        let first = self.wqebb(index);
        let bytes = usize::from(first[7] & 0x3f) * UNIT;
        let mut wqe: Vec<u8> = first.to_vec();
        (1..bytes.div_ceil(WQEBB)).for_each(|n| wqe.extend(self.wqebb(index + n)));
        wqe.truncate(bytes);
        wqe
    }
}

/// The bytes that may differ between twins of a transport.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Bytes of the segments between the control segment and the remote address.
    address: usize,
    /// libmlx5 writes only the number of the XRC segment.
    xrc: bool,
}

impl Rules {
    pub(super) fn of(kind: sys::ibv_qp_type) -> Self {
        match kind {
            sys::IBV_QPT_XRC_SEND => Self { address: 16, xrc: true },
            sys::IBV_QPT_UD | sys::IBV_QPT_DRIVER => Self { address: 48, xrc: false },
            _ => Self { address: 0, xrc: false },
        }
    }

    /// Clears the bytes of a WQE that may differ. It must name the queue pair of this number.
    fn clear(&self, way: Way, wqe: &mut [u8], number: u32) -> Result<(), String> {
        if wqe.get(4..7) != Some(&number.to_be_bytes()[1..]) {
            return Err(format!("has another number than {number:#x}"));
        }
        let opcode = wqe[3];
        let free = [
            (true, 4, 3),
            (way == Way::Builders && !WITH_IMM.contains(&opcode), 12, 4),
            (self.xrc, UNIT + 4, 12),
            (opcode == FETCH_ADD, UNIT + self.address + RADDR + WORD, WORD),
        ];
        for (_, at, bytes) in free.into_iter().filter(|(is, ..)| *is) {
            if let Some(bytes) = wqe.get_mut(at..at + bytes) {
                bytes.fill(0);
            }
        }
        Ok(())
    }

    /// Compares a WQE of libmlx5's with ours. `what` names it.
    fn same(&self, way: Way, what: &str, mut wqes: [Vec<u8>; 2], numbers: [u32; 2]) -> Result<(), Failure> {
        ensure(!wqes[0].is_empty(), || format!("{what} has no bytes"))?;
        for (wqe, number) in wqes.iter_mut().zip(numbers) {
            self.clear(way, wqe, number).map_err(|why| format!("{what} {why}"))?;
        }
        let [theirs, ours] = &wqes;
        if theirs == ours {
            return Ok(());
        }
        let differs = (0..theirs.len().max(ours.len())).find(|&byte| theirs.get(byte) != ours.get(byte));
        let dump = |wqe: &[u8]| wqe.chunks(4).map(hex).collect::<Vec<_>>().join(" ");
        Err(format!(
            "{what} differs at byte {}. libmlx5 by {}: {}. This crate: {}",
            differs.unwrap_or_default(),
            way.name(),
            dump(theirs),
            dump(ours)
        )
        .into())
    }

    /// Compares `count` WQEs of two rings from this index on. Returns the WQEBBs that they take.
    pub(super) fn compare(
        &self,
        way: Way,
        rings: [Ring<'_>; 2],
        numbers: [u32; 2],
        first: usize,
        count: usize,
    ) -> Result<usize, Failure> {
        let mut index = first;
        for n in 0..count {
            let wqes = rings.each_ref().map(|ring| ring.wqe(index));
            let wqebbs = wqes[0].len().div_ceil(WQEBB);
            self.same(way, &format!("WQE {n} at index {index:#x}"), wqes, numbers)?;
            index += wqebbs;
        }
        Ok(index - first)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: [u32; 2] = [0x12_3456, 0x65_4321];

    /// A WQE of a queue pair: `units` units, with an opcode.
    fn wqe(number: u32, opcode: u8, units: usize) -> Vec<u8> {
        let mut wqe = vec![0x77; units * UNIT];
        wqe[3] = opcode;
        wqe[4..8].copy_from_slice(&(number << 8 | units as u32).to_be_bytes());
        wqe
    }

    /// The bytes of ours that may be changed unnoticed.
    fn free(kind: sys::ibv_qp_type, way: Way, opcode: u8, units: usize) -> Vec<usize> {
        let rules = Rules::of(kind);
        let theirs = wqe(NUMBERS[0], opcode, units);
        let is_same = |ours: Vec<u8>| rules.same(way, "a WQE", [theirs.clone(), ours], NUMBERS).is_ok();
        let ours = wqe(NUMBERS[1], opcode, units);
        assert!(is_same(ours.clone()));
        assert!(!is_same(ours[..UNIT].to_vec()) && !is_same(theirs.clone()) && !is_same(Vec::new()));
        (0..ours.len())
            .filter(|&at| {
                let mut changed = ours.clone();
                changed[at] ^= 1;
                is_same(changed)
            })
            .collect()
    }

    #[test]
    fn each_byte_of_a_wqe_is_compared() {
        use sys::{IBV_QPT_DRIVER, IBV_QPT_RC, IBV_QPT_UD, IBV_QPT_XRC_SEND};
        type Range = std::ops::Range<usize>;
        let bytes = |ranges: &[Range]| ranges.iter().cloned().flatten().collect::<Vec<_>>();
        let imm: Range = 12..16;
        let (one, none): (fn(Range) -> [Range; 2], Range) = (|range| [range, 0..0], 0..0);
        for (kind, opcode, units, known) in [
            (IBV_QPT_RC, 0x0a, 2, [none.clone(), none.clone()]),
            // Fetch-and-add.
            (IBV_QPT_RC, FETCH_ADD, 4, one(40..48)),
            (IBV_QPT_XRC_SEND, FETCH_ADD, 5, [20..32, 56..64]),
            (IBV_QPT_DRIVER, FETCH_ADD, 7, one(88..96)),
            (IBV_QPT_XRC_SEND, 0x0a, 3, one(20..32)),
            (IBV_QPT_UD, 0x0a, 5, [none.clone(), none.clone()]),
        ] {
            assert_eq!(free(kind, Way::PostSend, opcode, units), bytes(&known), "{kind} {opcode:#x}");
            let known = [imm.clone(), known[0].clone(), known[1].clone()];
            assert_eq!(free(kind, Way::Builders, opcode, units), bytes(&known), "{kind} {opcode:#x}");
        }
        // Of requests with immediate data, all bytes count.
        for opcode in WITH_IMM {
            assert_eq!(free(IBV_QPT_RC, Way::Builders, opcode, 2), [0; 0]);
        }
    }

    /// A ring in memory of the test, of `wqebbs`.
    fn wq(bytes: &mut [u8]) -> sys::mlx5dv_wq {
        let mut wq = sys::mlx5dv_wq::ZERO;
        (wq.buf, wq.wqe_cnt, wq.stride) = (bytes.as_mut_ptr().cast(), (bytes.len() / WQEBB) as u32, WQEBB as u32);
        wq
    }

    #[test]
    fn wqes_that_wrap_are_compared_as_a_whole() {
        const WQEBBS: usize = 8;
        // Two WQEs from index 5 on: of two WQEBBs, and of three, one of which is behind the ring's end.
        let lay = |number: u32| {
            let mut ring = vec![FILL; WQEBBS * WQEBB];
            for (index, units) in [(5, 5), (7, 11)] {
                for (n, byte) in wqe(number, 8, units).into_iter().enumerate() {
                    let len = ring.len();
                    ring[(index * WQEBB + n) % len] = byte;
                }
            }
            ring
        };
        let compare = |mut rings: [Vec<u8>; 2]| {
            let [theirs, ours] = rings.each_mut().map(|ring| wq(ring));
            let wqebbs = Rules::of(sys::IBV_QPT_RC).compare(
                Way::PostSend,
                [Ring(&theirs), Ring(&ours)],
                NUMBERS,
                2 * WQEBBS + 5,
                2,
            );
            wqebbs.map_err(|error| error.to_string())
        };
        assert_eq!(compare(NUMBERS.map(lay)), Ok(5));
        let mut ours = lay(NUMBERS[1]);
        // The last byte of the second WQE.
        ours[11 * UNIT - WQEBB - 1] ^= 1;
        let error = compare([lay(NUMBERS[0]), ours]).expect_err("differs");
        assert!(error.contains("WQE 1 at index 0x17 differs at byte 175"), "{error}");
    }
}
