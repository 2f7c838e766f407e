//! Indirect memory keys: the request that sets a key's memory and its rights. Knows no queue.
use core::ops::BitOr;

use crate::layout::{Be16, Be32, Be64};
use crate::types::Rkey;
use crate::wqe::data::{List, ListAt, SameList, Sge};
use crate::wqe::error::EncodeError;
use crate::wqe::formats::Formats;
use crate::wqe::key_list::{KeyList, LIST_ENTRIES, Strided, bytes_at, too_long};
use crate::wqe::keys::change::{ANY_QPN, KeySegs, NO_CHANGE};
use crate::wqe::limits::KEY_LIST_ALIGN;
use crate::wqe::request::Request;
use crate::wqe::seg::{MkeySeg, umr};
use crate::wqe::table::ConfigureKey;

/// The operations that an indirect key permits. Combine with `|`. The keys behind it must permit this side's access:
/// local read, or local write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRights(u8);

impl KeyRights {
    /// Only reads by this side's own requests. This right cannot be taken away.
    pub const NONE: Self = Self(0);
    /// This side's device writes: receives, and the data of READs.
    pub const LOCAL_WRITE: Self = Self(umr::LOCAL_WRITE);
    /// Peers READ.
    pub const REMOTE_READ: Self = Self(umr::REMOTE_READ);
    /// Peers WRITE.
    pub const REMOTE_WRITE: Self = Self(umr::REMOTE_WRITE);
    /// Peers' atomics.
    pub const REMOTE_ATOMIC: Self = Self(umr::ATOMIC);
}

impl BitOr for KeyRights {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Configures the indirect memory key `key`, which was made with room for `room` entries. [`Request::list`],
/// [`Request::interleaved`] or [`Request::list_at`] sets its memory; [`Request::rights`] sets its rights. Anything not
/// set stays as it is. The key is valid when this is done. `verbs::memory::IndirectKey` has both numbers.
///
/// Addresses by the key count from 0. Requests of this side and of peers name it like the key of any region.
/// [`local_invalidate`](crate::wqe::local_invalidate) takes all access by it back. Give the next request
/// [`Fence::Small`](crate::wqe::Fence::Small), as after [`bind_window`](crate::wqe::bind_window). The request counts as one
/// that names memory: post it by the `unsafe` methods.
///
/// ```
/// # use blueflame::{PostError, Remote, Rkey, SendQueue, Sge, WrId, transport};
/// use blueflame::wqe::{self, Fence};
/// use blueflame::wqe::keys::KeyRights;
///
/// /// Tells the peer a key by which it reads a header and a body, wherever they are, as if they were in a row.
/// fn lend(sq: &mut SendQueue<transport::Rc>, key: Rkey, header: Sge, body: Sge) -> Result<(), PostError> {
///     let list = [header, body];
///     let configure = wqe::configure_key(key, 4).rights(KeyRights::REMOTE_READ).list(&list);
///     let mut batch = sq.batch();
///     // SAFETY: the memory stays registered, and unchanged until the peer has read it.
///     unsafe { batch.push_unchecked(&configure)? };
///     batch.push(&wqe::send().inline(&key.0.to_be_bytes()).fence(Fence::Small).signaled(WrId(1)))?;
///     batch.ring_doorbell();
///     Ok(())
/// }
/// ```
///
/// Unsafe even without a list: it can grant peers access to the memory already behind the key.
///
/// ```compile_fail,E0277
/// # use blueflame::{Rkey, SendQueue, transport};
/// # use blueflame::wqe;
/// # use blueflame::wqe::keys::KeyRights;
/// # fn lend(sq: &mut SendQueue<transport::Rc>) {
/// let _ = sq.post(&wqe::configure_key(Rkey(0x1800), 4).rights(KeyRights::REMOTE_WRITE));
/// # }
/// ```
///
/// A key has one list:
///
/// ```compile_fail,E0599
/// # use blueflame::{Rkey, Sge, wqe};
/// # fn two(piece: Sge) {
/// let _ = wqe::configure_key(Rkey(0x1800), 4).list([piece]).list([piece]);
/// # }
/// ```
#[doc(alias("mlx5dv_wr_mkey_configure", "UMR", "MLX5_OPCODE_UMR", "mlx5dv_wr_mr_list", "mlx5dv_wr_mr_interleaved"))]
#[inline(always)]
pub fn configure_key(key: Rkey, room: u16) -> Request<'static, ConfigureKey, SameList> {
    let qpn_mkey = Be32::new(ANY_QPN << 8 | key.0 & 0xff);
    KeySegs::new(0, 0, 0, MkeySeg { qpn_mkey, ..NO_CHANGE }).request(key).change(|untyped| untyped.size = room)
}

impl<'d, D> Request<'d, ConfigureKey, D> {
    /// Sets the rights of the key (`mlx5dv_wr_set_mkey_access_flags`).
    #[doc(alias = "mlx5dv_wr_set_mkey_access_flags")]
    #[inline(always)]
    pub fn rights(self, rights: KeyRights) -> Self {
        let all = umr::MASK_LOCAL_WRITE | umr::MASK_REMOTE_READ | umr::MASK_REMOTE_WRITE | umr::MASK_ATOMIC;
        self.with_key(|segs| {
            segs.umr.mkey_mask = segs.umr.mkey_mask.or(Be64::new(all));
            segs.mkey.access_flags = rights.0;
        })
    }

    /// Removes the key's formats. From then on its data is as it lies in memory
    /// (`MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR`). Only for keys that were made with room for formats.
    #[inline(always)]
    pub fn plain(self) -> Self {
        self.with_key(|segs| segs.umr.mkey_mask = segs.umr.mkey_mask.or(Be64::new(umr::MASK_BSF_ENABLE)))
    }

    /// Sets the number of block signature errors that the device has reported for the key; pass 1 before the first. The
    /// device reports the first error after each new number, and no other. So set it in the key's first request, and in
    /// the first after each error.
    ///
    /// libmlx5 (rdma-core `providers/mlx5/qp.c`, `upd_mkc_sig_err_cnt`) and `blueflame_devx::object::SignatureKey`
    /// count like that.
    #[inline(always)]
    pub fn signature_errors(self, count: u32) -> Self {
        self.with_key(|segs| {
            segs.umr.mkey_mask = segs.umr.mkey_mask.or(Be64::new(umr::MASK_SIG_ERR));
            segs.mkey.flags_pd = segs.mkey.flags_pd.or(Be32::new((count & 1) << umr::SIG_ERR_SHIFT));
        })
    }

    /// Changes the segments.
    #[inline(always)]
    fn with_key(mut self, change: impl FnOnce(&mut KeySegs)) -> Self {
        let mut segs = KeySegs::of(&self.untyped.segments);
        change(&mut segs);
        segs.write(&mut self.untyped.segments);
        self
    }

    /// Puts memory behind the key: `entries` entries, `bytes` bytes.
    #[inline(always)]
    fn with_memory<E>(self, memory: KeyList<'d>, entries: usize, bytes: u64) -> Request<'d, ConfigureKey, E> {
        let fault = too_long(entries, self.untyped.size);
        let is_in_memory = memory.at.is_some();
        self.refused_if(fault)
            .with_key(|segs| {
                // Longer lists are refused.
                segs.umr.klm_octowords = Be16::new(entries.next_multiple_of(LIST_ENTRIES) as u16);
                segs.umr.mkey_mask = segs.umr.mkey_mask.or(Be64::new(umr::MASK_LEN));
                segs.mkey.len = Be64::new(bytes);
                if is_in_memory {
                    segs.umr.flags = 0;
                }
            })
            .change(|untyped| untyped.list = KeyList { formats: untyped.list.formats, ..memory })
            .with_types()
    }
}

impl<'d> Request<'d, ConfigureKey, SameList> {
    /// Puts pieces of other keys' memory behind the key, one after the other
    /// (`mlx5dv_wr_set_mkey_layout_list`). A WQE has room for 52.
    #[doc(alias = "mlx5dv_wr_set_mkey_layout_list")]
    #[inline(always)]
    pub fn list<'e>(self, list: &'e [Sge]) -> Request<'e, ConfigureKey, List>
    where
        'd: 'e,
    {
        let request: Request<'e, ConfigureKey, SameList> = self;
        let long = list.iter().find(|sge| sge.is_too_long());
        let fault = long.map(|sge| EncodeError::sge_too_long(sge.length));
        let memory = KeyList { pieces: list, ..KeyList::NONE };
        request.with_memory(memory, list.len(), memory.bytes()).refused_if(fault)
    }

    /// Puts memory of other keys behind the key in turn, `repeat` times: the bytes of each entry, then the bytes of
    /// each one stride further, and so on (`mlx5dv_wr_set_mkey_layout_interleaved`). A WQE has room for 51 entries.
    /// They take one more entry of the key.
    #[doc(alias = "mlx5dv_wr_set_mkey_layout_interleaved")]
    #[inline(always)]
    pub fn interleaved<'e>(self, repeat: u32, list: &'e [Strided]) -> Request<'e, ConfigureKey, List>
    where
        'd: 'e,
    {
        let request: Request<'e, ConfigureKey, SameList> = self;
        let memory = KeyList { interleaved: Some((list, repeat)), ..KeyList::NONE };
        request.with_memory(memory, memory.entries(), memory.bytes())
    }

    /// Puts pieces of other keys' memory behind the key, by a list in memory at `place`. The list has `entries` of 16
    /// bytes ([`Sge::to_list_entry`]), and zeros up to a multiple of 64 bytes. It begins at a multiple of
    /// [`KEY_LIST_ALIGN`](crate::wqe::limits::KEY_LIST_ALIGN), and must stay until the request is done. All pieces have
    /// `bytes` together.
    ///
    /// libmlx5 has no such request; it is Linux' (`drivers/infiniband/hw/mlx5/wr.c`, `set_reg_wr`).
    #[inline(always)]
    pub fn list_at(self, place: Sge, entries: u16, bytes: u64) -> Request<'d, ConfigureKey, ListAt> {
        let needed = bytes_at(entries);
        let fault = if entries == 0 {
            Some(EncodeError::KeyListEmpty)
        } else if place.addr % KEY_LIST_ALIGN != 0 {
            Some(EncodeError::key_list_misaligned(place.addr))
        } else if (place.length as usize) < needed {
            Some(EncodeError::key_list_cut(place.length, needed))
        } else {
            None
        };
        // At most 2^16 entries of 16 bytes.
        let list = Sge { length: needed as u32, ..place };
        let memory = KeyList { at: Some(list), ..KeyList::NONE };
        self.with_memory(memory, entries.into(), bytes).refused_if(fault)
    }
}

macro_rules! with_formats {
    ($($data:ident)*) => {$(
        impl<'d> Request<'d, ConfigureKey, $data> {
            /// Has the device check, generate and strip block signatures, encrypt and decrypt, or both, on data that
            /// passes through the key (`mlx5dv_wr_set_mkey_sig_block`, `mlx5dv_wr_set_mkey_crypto`): [`Formats`].
            /// Without a list, the memory behind the key stays. Not for a list in memory: no public driver puts formats
            /// behind one.
            #[doc(alias("mlx5dv_wr_set_mkey_sig_block", "mlx5dv_wr_set_mkey_crypto"))]
            #[inline(always)]
            pub fn formats<'e>(self, formats: &'e Formats) -> Request<'e, ConfigureKey, List>
            where
                'd: 'e,
            {
                let request: Request<'e, ConfigureKey, $data> = self;
                request.with_formats(formats)
            }
        }
    )*};
}

with_formats!(SameList List);

impl<'d, D> Request<'d, ConfigureKey, D> {
    /// Adds formats.
    #[inline(always)]
    fn with_formats(self, formats: &'d Formats) -> Request<'d, ConfigureKey, List> {
        let bytes = self.untyped.list.bytes();
        let fault = if bytes > u32::MAX.into() {
            Some(EncodeError::formatted_too_long(bytes))
        } else {
            formats.check(bytes).err()
        };
        self.refused_if(fault)
            .with_key(|segs| {
                segs.umr.translation_offset = Be16::new(formats.ds() as u16);
                segs.mkey.flags_pd = segs.mkey.flags_pd.or(Be32::new(umr::BSF_ENABLE));
            })
            .plain()
            .change(|untyped| untyped.list.formats = Some(formats))
            .with_types()
    }
}
