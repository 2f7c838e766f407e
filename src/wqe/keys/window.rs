//! Memory windows: requests that bind them to a piece of a region, and that take the access back. Knows no request and
//! no queue.
use core::ops::BitOr;

use crate::transport::{Dci, DciStreams, Rc, Uc, XrcInitiator};
use crate::types::{Qpn, Rkey};
use crate::wqe::error::EncodeError;
use crate::wqe::keys::change::{ANY_QPN, KeySegs, LIST_ENTRIES, NO_CHANGE, changes_keys};
use crate::wqe::keys::seg::{MkeySeg, umr};
use crate::wqe::limits::{Limits, MAX_SGE_BYTES};
use crate::wqe::payload::{Payload, Sge};
use crate::wqe::sealed::Sealed;
use crate::wqe::seg::DataSeg;
use crate::wqe::sink::Sink;
use crate::wqe::words::be::{Be32, Be64};
use crate::wqe::words::ds::DsWords;

/// A memory window, as named by the requests that change it.
#[doc(alias = "ibv_mw")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Type 1: any queue pair of its protection domain binds it, and it is valid on all of them.
    Type1 {
        /// Its current key.
        rkey: Rkey,
    },
    /// Type 2: one queue pair binds it, for that queue pair's peer. Either side must invalidate it before it is bound
    /// again.
    Type2 {
        /// Its current key, or its key before it was invalidated.
        rkey: Rkey,
        /// The queue pair that binds it: the one to which the request is posted.
        qpn: Qpn,
    },
}

impl Window {
    /// Its key.
    #[must_use]
    pub const fn rkey(self) -> Rkey {
        match self {
            Self::Type1 { rkey } | Self::Type2 { rkey, .. } => rkey,
        }
    }

    const fn qpn_mkey(self, new: Rkey) -> u32 {
        let qpn = match self {
            Self::Type1 { .. } => ANY_QPN,
            Self::Type2 { qpn, .. } => qpn.get(),
        };
        qpn << 8 | new.0 & 0xff
    }
}

/// The rights of peers in a window, by its key. Combine with `|`. The region behind it must also permit them, and must
/// permit local writes for the last two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRights(u8);

impl WindowRights {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// READ.
    pub const READ: Self = Self(umr::REMOTE_READ);
    /// WRITE.
    pub const WRITE: Self = Self(umr::REMOTE_WRITE);
    /// Atomics.
    pub const ATOMIC: Self = Self(umr::ATOMIC);

    /// Whether peers could change something.
    #[must_use]
    pub const fn change(self) -> bool {
        self.0 & (umr::REMOTE_WRITE | umr::ATOMIC) != 0
    }
}

impl BitOr for WindowRights {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Binds a memory window. When it is done, peers reach the piece by the window's new key (`IBV_WR_BIND_MW`).
/// Transports: RC, UC, XRC, DCI.
///
/// On XRC and DCI the request names no peer: the UMR control segment follows the control segment, as in libmlx5
/// (rdma-core `providers/mlx5/qp.c`, `_mlx5_post_send` and `_build_umr_wqe`). Another driver of NVIDIA's keeps the XRC
/// segment in such requests (MLNX_OFED `drivers/infiniband/hw/mlx5/wr.c`, `mlx5_ib_post_send`); this crate does not.
///
/// ```text
///    0  control segment: the window's key before
///   16  UMR control segment
///   64  memory key segment: the new key's lowest byte, rights, first address and length
///  128  the piece: bytes, lkey and address; zeros up to 192
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindWindow(KeySegs);

/// Takes access by a key back: it invalidates a window of type 2 (`IBV_WR_LOCAL_INV`), and binds one of type 1 to
/// nothing. Transports: RC, UC, XRC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalidate(KeySegs);

impl BindWindow {
    pub(in crate::wqe) const fn new(window: Window, new: Rkey, piece: Sge, rights: WindowRights) -> Self {
        let (flags, mask) = match window {
            Window::Type1 { .. } => (0, 0),
            Window::Type2 { .. } => (umr::CHECK_FREE, umr::MASK_QPN),
        };
        let rights_mask = umr::MASK_LOCAL_WRITE | umr::MASK_REMOTE_READ | umr::MASK_REMOTE_WRITE | umr::MASK_ATOMIC;
        let mkey = MkeySeg {
            access_flags: rights.0,
            qpn_mkey: Be32::new(window.qpn_mkey(new)),
            start_addr: Be64::new(piece.addr),
            len: Be64::new(piece.length as u64),
            ..NO_CHANGE
        };
        let mask = mask | umr::MASK_LEN | umr::MASK_START_ADDR | rights_mask;
        Self(KeySegs::new(window.rkey(), umr::TRANSLATION_OFFSET | flags, LIST_ENTRIES as u16, mask, mkey))
    }

    /// The same piece, with addresses that count from 0.
    pub(in crate::wqe) const fn zero_based(mut self) -> Self {
        self.0.mkey.start_addr = Be64::new(0);
        self
    }
}

impl Invalidate {
    /// For a window of type 2, by the queue pair that has bound it.
    pub(in crate::wqe) const fn new(key: Rkey) -> Self {
        let mkey = MkeySeg { free: umr::FREE, qpn_mkey: Be32::new(ANY_QPN << 8), ..NO_CHANGE };
        Self(KeySegs::new(key, umr::TRANSLATION_OFFSET | umr::CHECK_QPN, 0, umr::MASK_QPN, mkey))
    }

    /// For a window of type 1.
    pub(in crate::wqe) const fn unbind(key: Rkey, new: Rkey) -> Self {
        let qpn_mkey = Be32::new(ANY_QPN << 8 | new.0 & 0xff);
        Self(KeySegs::new(key, umr::TRANSLATION_OFFSET, 0, 0, MkeySeg { free: umr::FREE, qpn_mkey, ..NO_CHANGE }))
    }
}

changes_keys! {
    BindWindow: Rc, Uc, XrcInitiator, Dci, DciStreams;
    Invalidate: Rc, Uc, XrcInitiator, Dci, DciStreams;
}

/// The piece of a region that a window is bound to. Posting it gives peers access to that memory, so it counts as
/// memory that the request names.
#[derive(Clone, Copy, Debug)]
pub struct Piece(pub(in crate::wqe) Sge);

impl Sealed for Piece {}
impl Payload for Piece {
    // One entry, and the rest of its WQEBB.
    const MAX_DS: Option<usize> = Some(4);
    const INLINE: bool = false;
    const NEEDS: Limits = Limits::NONE;

    #[inline(always)]
    fn ds(&self, _: &Limits) -> Result<usize, EncodeError> {
        if self.0.length > MAX_SGE_BYTES { Err(EncodeError::sge_too_long(self.0.length)) } else { Ok(4) }
    }

    #[inline(always)]
    fn has_static_size(&self) -> bool {
        self.0.length <= MAX_SGE_BYTES
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        sink.ds(DataSeg::new(self.0.length, self.0.lkey, self.0.addr).into());
        (1..4).for_each(|_| sink.ds(DsWords::ZERO));
    }
}
