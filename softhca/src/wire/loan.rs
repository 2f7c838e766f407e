//! Responders on loan: WRITEs and READs between two programs of one machine, without the CPU of the program that owns
//! the memory.
//!
//! A NIC executes them without any CPU. This device needs one, and the owner's may be taken: by a program that polls its
//! memory, or because it waits. So the owner's device lends the responder of a queue pair to the device at the other
//! end. That device then does the responder's work. The loan has the PSN that the responder expects, and the regions
//! of the keys that the peer has used ([`Grant`]). Any other request goes by packets, and so does the first one by each
//! key. Before the owner's device looks at a responder that is on loan, or changes it or one of the keys, it takes the
//! loan back.
//!
//! ```text
//! owner's device                              the peer's device
//! executes a WRITE that came by packets
//! lends the responder ──────────────────────> for each request: is the PSN mine, does a key grant it?
//!                                             borrows it, copies, counts up the PSN, and gives it back
//! takes it back <──────────────────────────── the PSN, and what was done
//! ```
//!
//! A wire that lends is one that loses nothing, delays nothing and shows nobody its packets.

use super::cable::Packets;
use super::frame::Route;
use crate::context::Transport;
use crate::packet::{Bth, Opcode, Operation, Place, Tail};

/// Most regions of a loan.
pub const GRANTS: usize = 4;

/// Most bytes of a batch: the borrower keeps the responder for as long as it copies.
pub const MAX_BYTES: u64 = 1 << 23;

/// Most requests of a batch.
pub const MOST: usize = 32;

/// A region that a peer may read or write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// The key that names it.
    pub key: u32,
    /// The peer may read.
    pub reads: bool,
    /// The peer may write.
    pub writes: bool,
    /// First address, as requests name it.
    pub start: u64,
    /// Bytes.
    pub len: u64,
    /// First address in the owner's process.
    pub address: u64,
}

impl Grant {
    /// Address in the owner's process of `len` bytes at `addr`, if the peer may do this to them.
    #[must_use]
    pub fn address_of(&self, write: bool, addr: u64, len: u64) -> Option<u64> {
        let permitted = if write { self.writes } else { self.reads };
        let offset = addr.wrapping_sub(self.start);
        let is_inside = offset <= self.len && len <= self.len - offset;
        (permitted && is_inside).then(|| self.address.wrapping_add(offset))
    }
}

/// A responder to be lent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loan {
    /// Its queue pair.
    pub qpn: u32,
    /// The queue pair at the other end.
    pub peer: u32,
    /// The PSN that it expects.
    pub psn: u32,
    /// Regions, [`GRANTS`] at most. No key is there twice.
    pub grants: Vec<Grant>,
}

/// The work of a peer by a loan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// WRITEs executed.
    pub writes: u32,
    /// READs executed.
    pub reads: u32,
    /// The packets that the requests would have been.
    pub requests: Packets,
    /// The packets that the answers would have been.
    pub answers: Packets,
}

impl Done {
    /// Adds the work in `other`.
    pub fn add(&mut self, other: &Self) {
        self.writes = self.writes.wrapping_add(other.writes);
        self.reads = self.reads.wrapping_add(other.reads);
        self.requests.add_all(&other.requests);
        self.answers.add_all(&other.answers);
    }
}

/// A loan that its owner has taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Returned {
    /// The PSN that the responder expects now.
    pub psn: u32,
    /// The peer's work since the owner last counted it.
    pub done: Done,
}

/// The peer executes a request at this moment, and does not come to its end: its process is stopped, or has no CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InUse;

/// A WRITE or READ to be executed by the device that has made it.
#[derive(Clone, Copy, Debug)]
pub struct OneSided {
    /// The key that it names.
    pub key: u32,
    /// The address that it names.
    pub addr: u64,
    /// Bytes, 1 at least.
    pub len: u32,
    /// PSNs.
    pub span: u32,
}

/// Requests of a queue pair in a row, all of them WRITEs, or all READs.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The queue pair whose responder would execute them.
    pub qpn: u32,
    /// The queue pair that they come from.
    pub from: u32,
    /// The first PSN.
    pub psn: u32,
    /// Most bytes of payload in a packet.
    pub mtu: u32,
    /// The way there.
    pub route: &'a Route,
    /// WRITEs, or else READs.
    pub write: bool,
    /// The requests, [`MOST`] at most.
    pub requests: &'a [OneSided],
    /// Where their bytes are in this process, one request after the other: addresses and lengths.
    pub local: &'a [(u64, usize)],
}

/// Bytes of an RETH and of an AETH.
const RETH: usize = 16;
const AETH: usize = 4;

impl Batch<'_> {
    /// The work of its first `count` requests.
    #[must_use]
    pub fn done(&self, count: usize) -> Done {
        let requests = self.requests.get(..count).unwrap_or(self.requests);
        let number = requests.len() as u32;
        let (writes, reads) = if self.write { (number, 0) } else { (0, number) };
        let mut done = Done { writes, reads, ..Done::default() };
        let (operation, with_data, other, headers) = match self.write {
            true => (Operation::Write, &mut done.requests, &mut done.answers, AETH),
            false => (Operation::ReadResponse, &mut done.answers, &mut done.requests, RETH),
        };
        other.add(self.route, Bth::BYTES + headers, number.into());
        for request in requests {
            let last = request.span.saturating_sub(1);
            let mut add = |index: u32, count: u64, payload: u32| {
                let place = Place::of(index == 0, index == last);
                let headers = Opcode::of(Transport::Rc, operation, place, Tail::None).map_or(0, Opcode::header_bytes);
                with_data.add(self.route, headers + payload.next_multiple_of(4) as usize, count);
            };
            if last > 0 {
                add(0, 1, self.mtu);
            }
            if last > 1 {
                add(1, u64::from(last) - 1, self.mtu);
            }
            add(last, 1, request.len.saturating_sub(last * self.mtu));
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_ends_at_its_last_byte() {
        let grant = Grant { key: 1, reads: true, writes: false, start: 0x1000, len: 0x100, address: 0x7000 };
        for (addr, len, found) in [
            (0x1000, 0x100, Some(0x7000)),
            (0x10ff, 1, Some(0x70ff)),
            (0x1100, 0, Some(0x7100)),
            (0x0fff, 1, None),
            (0x10ff, 2, None),
            (0x1101, 0, None),
            (0, u64::MAX, None),
            (u64::MAX, 2, None),
        ] {
            assert_eq!(grant.address_of(false, addr, len), found, "{len} bytes at {addr:#x}");
            assert_eq!(grant.address_of(true, addr, len), None);
        }
        let zero_based = Grant { start: u64::MAX - 7, len: 16, ..grant };
        assert_eq!(zero_based.address_of(false, 0, 8), Some(0x7008), "a region may go round");
    }
}
