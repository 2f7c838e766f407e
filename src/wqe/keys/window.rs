//! Memory windows: requests that bind them to a piece of a region, and that take the access back. Each is a value,
//! independent of queues.
use core::ops::BitOr;

use crate::layout::{Be32, Be64};
use crate::types::{Qpn, Rkey};
use crate::wqe::data::{Named, Nothing, Sge};
use crate::wqe::error::EncodeError;
use crate::wqe::key_list::LIST_ENTRIES;
use crate::wqe::keys::change::{ANY_QPN, KeySegs, NO_CHANGE};
use crate::wqe::request::Request;
use crate::wqe::seg::{MkeySeg, umr};
use crate::wqe::table::{BindWindow, Invalidate};

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

/// Binds a memory window to `piece`, at most [`MAX_SGE_BYTES`](crate::wqe::limits::MAX_SGE_BYTES) bytes of a region
/// that was registered for windows. When this is done, peers can access the piece with `rights` by the window's new
/// key. That is `new`, which differs from the previous key in the lowest byte (`ibv_inc_rkey`);
/// `verbs::memory::MemoryWindow` keeps count.
///
/// The next request must not begin before this one is done. Give it at least [`Fence::Small`](crate::wqe::Fence::Small).
/// libmlx5 does so by itself (rdma-core `providers/mlx5/qp.c`, `fm_cache`); a queue of this crate does not. A binding
/// names memory: post it by the `unsafe` methods.
///
/// ```
/// # use blueflame::{Lkey, PostError, Qpn, Rkey, SendQueue, Sge, WrId, transport};
/// use blueflame::wqe::{self, Fence};
/// use blueflame::wqe::keys::{Window, WindowRights};
///
/// /// Lends memory to the peer, and tells it the key.
/// fn lend(sq: &mut SendQueue<transport::Rc>, window: Rkey, piece: Sge) -> Result<(), PostError> {
///     let key = Rkey(window.0 & !0xff | window.0.wrapping_add(1) & 0xff);
///     let window = Window::Type2 { rkey: window, qpn: sq.qpn() };
///     let mut batch = sq.batch();
///     // SAFETY: the memory stays registered, and nobody minds what the peer writes there.
///     unsafe { batch.push_unchecked(&wqe::bind_window(window, key, piece, WindowRights::WRITE))? };
///     batch.push(&wqe::send().inline(&key.0.to_be_bytes()).fence(Fence::Small).signaled(WrId(1)))?;
///     batch.ring_doorbell();
///     Ok(())
/// }
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{Lkey, Rkey, SendQueue, Sge, transport};
/// # use blueflame::wqe;
/// # use blueflame::wqe::keys::{Window, WindowRights};
/// # fn lend(sq: &mut SendQueue<transport::Rc>, window: Window, piece: Sge) {
/// let _ = sq.post(&wqe::bind_window(window, window.rkey(), piece, WindowRights::WRITE)); // it names memory
/// # }
/// ```
#[doc(alias("ibv_bind_mw", "ibv_wr_bind_mw", "IBV_WR_BIND_MW"))]
#[inline(always)]
pub fn bind_window(window: Window, new: Rkey, piece: Sge, rights: WindowRights) -> Request<'static, BindWindow, Named> {
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
    let segs = KeySegs::new(umr::TRANSLATION_OFFSET | flags, LIST_ENTRIES as u16, mask, mkey);
    let fault = if piece.is_too_long() { Some(EncodeError::sge_too_long(piece.length)) } else { None };
    // One entry; the rest of its WQEBB is zeros.
    segs.request(window.rkey()).with_segments(KeySegs::DS, [piece.words()]).refused_if(fault)
}

impl Request<'_, BindWindow, Named> {
    /// Makes the addresses that peers name count from 0 (`IBV_ACCESS_ZERO_BASED`).
    #[inline(always)]
    pub fn zero_based(self) -> Self {
        self.change(|untyped| {
            let mut segs = KeySegs::of(&untyped.segments);
            segs.mkey.start_addr = Be64::new(0);
            segs.write(&mut untyped.segments);
        })
    }
}

/// Invalidates a memory window of type 2: its peer no longer has access by `rkey`, and the window can be bound again.
/// Post it on the queue pair that has bound the window. Give the next request [`Fence::Small`](crate::wqe::Fence::Small),
/// as after [`bind_window`].
#[doc(alias("ibv_wr_local_inv", "IBV_WR_LOCAL_INV"))]
#[inline(always)]
pub fn local_invalidate(rkey: Rkey) -> Request<'static, Invalidate, Nothing> {
    let mkey = MkeySeg { free: umr::FREE, qpn_mkey: Be32::new(ANY_QPN << 8), ..NO_CHANGE };
    KeySegs::new(umr::TRANSLATION_OFFSET | umr::CHECK_QPN, 0, umr::MASK_QPN, mkey).request(rkey)
}

/// Unbinds a memory window of type 1: no peer has access by `rkey` any more. Its key is then `new`, as with
/// [`bind_window`]. Give the next request [`Fence::Small`](crate::wqe::Fence::Small), as there.
#[inline(always)]
pub fn unbind_window(rkey: Rkey, new: Rkey) -> Request<'static, Invalidate, Nothing> {
    let qpn_mkey = Be32::new(ANY_QPN << 8 | new.0 & 0xff);
    KeySegs::new(umr::TRANSLATION_OFFSET, 0, 0, MkeySeg { free: umr::FREE, qpn_mkey, ..NO_CHANGE }).request(rkey)
}
