//! WRITEs that are placed late. Packets may take several ways through a fabric, and a NIC may place each as it comes
//! (UCX `UCT_IB_MLX5_DP_ORDERING_OOO_RW`; NVIDIA's "Out-of-Order Data Placement"). So a packet's bytes can come to memory
//! after those of later packets, of its own message or of later ones.
//!
//! What announces WRITEs does not overtake them: their acknowledgement, the completion of a later SEND or of a WRITE
//! with immediate data, and a later atomic. The device also holds back the answer of a later READ, which NICs need not.

use std::time::Duration;

use crate::memory::keys::mkey::{Accessor, KeyFault};
use crate::qp::psn::Psn;
use crate::resources::Resources;

/// Most packets whose bytes wait.
const MOST: usize = 64;

/// The bytes of one packet, whose key permits the WRITE.
#[derive(Debug)]
pub(super) struct Piece {
    /// When it is placed.
    pub(super) due: Duration,
    pub(super) psn: Psn,
    pub(super) by: Accessor,
    pub(super) rkey: u32,
    pub(super) addr: u64,
    pub(super) bytes: Vec<u8>,
}

/// The bytes that wait.
#[derive(Debug, Default)]
pub(super) struct Late(Vec<Piece>);

/// A key that permitted the WRITE before no longer does.
pub(super) struct Revoked {
    pub(super) psn: Psn,
    pub(super) fault: KeyFault,
}

impl Late {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has_room(&self) -> bool {
        self.0.len() < MOST
    }

    pub(super) fn add(&mut self, piece: Piece) {
        self.0.push(piece);
    }

    /// When the next one is placed.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.0.iter().map(|piece| piece.due).min()
    }

    /// Places those that are due. `true` if there were any.
    pub(super) fn place_due(&mut self, resources: &mut Resources) -> Result<bool, Revoked> {
        self.place(resources.now, resources)
    }

    /// Places all of them.
    pub(super) fn place_all(&mut self, resources: &mut Resources) -> Result<(), Revoked> {
        self.place(Duration::MAX, resources).map(drop)
    }

    fn place(&mut self, until: Duration, resources: &mut Resources) -> Result<bool, Revoked> {
        if self.is_empty() {
            return Ok(false);
        }
        let due: Vec<Piece>;
        (due, self.0) = std::mem::take(&mut self.0).into_iter().partition(|piece| piece.due <= until);
        for Piece { psn, by, rkey, addr, bytes, .. } in &due {
            resources.remote_write(*by, *rkey, *addr, bytes).map_err(|fault| Revoked { psn: *psn, fault })?;
        }
        Ok(!due.is_empty())
    }
}
