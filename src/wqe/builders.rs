//! How a request is built: its operation, then data, room for a template, and options. Knows no queue.
use core::marker::PhantomData;

use super::address::to::{Destination, To};
use super::formats::encryption::{Encryption, SignedAndEncrypted};
use super::formats::formatted::{Formats, Formatted, KeyList};
use super::formats::signature::{BlockSignature, Psvs, SignatureFormat};
use super::keys::configure::{ConfigureKey, KeyRights};
use super::keys::list::{Interleaved, Pieces, PiecesAt, Strided, Unchanged};
use super::keys::window::{BindWindow, Invalidate, Piece, Window, WindowRights};
use super::operations::service::{Carries, Fetches, Operation, Scatters};
use super::operations::table::{CompareSwap, FetchAdd, Nop, Read, Remote, Send, SendImm, SendInval, Write, WriteImm};
use super::payload::{AtomicResult, Empty, EntryList, Inline, InlineBytes, InlineThen, Registered, Sge};
use super::request::Request;
use super::seg::AtomicSeg;
use super::template::{GatherLen, InlineLen};
use super::words::be::Be64;
use crate::types::{Lkey, Rkey};

/// A request that does nothing.
#[doc(alias = "MLX5_OPCODE_NOP")]
#[inline]
pub const fn nop() -> Request<Nop> {
    Request::new(Nop(()), Empty)
}

/// A message of zero bytes; add data with [`Request::gather`] or [`Request::inline`].
#[doc(alias("ibv_wr_send", "IBV_WR_SEND", "MLX5_OPCODE_SEND"))]
#[inline]
pub const fn send() -> Request<Send> {
    Request::new(Send(()), Empty)
}

/// A write of zero bytes to `remote`; add data with [`Request::gather`] or [`Request::inline`].
#[doc(alias("ibv_wr_rdma_write", "IBV_WR_RDMA_WRITE", "MLX5_OPCODE_RDMA_WRITE"))]
#[inline]
pub const fn write(remote: Remote) -> Request<Write> {
    Request::new(Write { remote }, Empty)
}

/// A read of zero bytes from `remote`; say where the data goes with [`Request::scatter`].
#[doc(alias("ibv_wr_rdma_read", "IBV_WR_RDMA_READ", "MLX5_OPCODE_RDMA_READ"))]
#[inline]
pub const fn read(remote: Remote) -> Request<Read> {
    Request::new(Read { remote }, Empty)
}

/// Adds `add` to the value at `remote`, wrapping; ask for the old value with [`Request::result`].
#[doc(alias("ibv_wr_atomic_fetch_add", "IBV_WR_ATOMIC_FETCH_AND_ADD", "MLX5_OPCODE_ATOMIC_FA"))]
#[inline]
pub const fn fetch_add(remote: Remote, add: u64) -> Request<FetchAdd> {
    Request::new(FetchAdd { remote, operands: AtomicSeg { swap_add: Be64::new(add), compare: Be64::new(0) } }, Empty)
}

/// Stores `swap` at `remote` if the value there is `compare`; ask for the old value with [`Request::result`].
#[doc(alias("ibv_wr_atomic_cmp_swp", "IBV_WR_ATOMIC_CMP_AND_SWP", "MLX5_OPCODE_ATOMIC_CS"))]
#[inline]
pub const fn compare_swap(remote: Remote, compare: u64, swap: u64) -> Request<CompareSwap> {
    let operands = AtomicSeg { swap_add: Be64::new(swap), compare: Be64::new(compare) };
    Request::new(CompareSwap { remote, operands }, Empty)
}

/// Binds a memory window to `piece`, at most [`MAX_SGE_BYTES`](crate::wqe::limits::MAX_SGE_BYTES) bytes of a region
/// that was registered for windows. When this is done, peers can access the piece with `rights` by the window's new
/// key. That is `new`, which differs from the previous key in the lowest byte (`ibv_inc_rkey`);
/// `verbs::memory::MemoryWindow` keeps count.
///
/// The next request must not begin before this one is done. Give it at least [`Fence::Small`](super::Fence::Small).
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
#[inline]
pub const fn bind_window(window: Window, new: Rkey, piece: Sge, rights: WindowRights) -> Request<BindWindow, Piece> {
    Request::new(BindWindow::new(window, new, piece, rights), Piece(piece))
}

/// Invalidates a memory window of type 2: its peer no longer has access by `rkey`, and the window can be bound again.
/// Post it on the queue pair that has bound the window. Give the next request [`Fence::Small`](super::Fence::Small),
/// as after [`bind_window`].
#[doc(alias("ibv_wr_local_inv", "IBV_WR_LOCAL_INV"))]
#[inline]
pub const fn local_invalidate(rkey: Rkey) -> Request<Invalidate> {
    Request::new(Invalidate::new(rkey), Empty)
}

/// Unbinds a memory window of type 1: no peer has access by `rkey` any more. Its key is then `new`, as with
/// [`bind_window`]. Give the next request [`Fence::Small`](super::Fence::Small), as there.
#[inline]
pub const fn unbind_window(rkey: Rkey, new: Rkey) -> Request<Invalidate> {
    Request::new(Invalidate::unbind(rkey, new), Empty)
}

/// Configures the indirect memory key `key`, which was made with room for `room` entries. [`Request::list`],
/// [`Request::interleaved`] or [`Request::list_at`] sets its memory; [`Request::rights`] sets its rights. Anything not
/// set stays as it is. The key is valid when this is done. `verbs::memory::IndirectKey` has both numbers.
///
/// Addresses by the key count from 0. Requests of this side and of peers name it like the key of any region.
/// [`local_invalidate`] takes all access by it back. Give the next request [`Fence::Small`](super::Fence::Small), as
/// after [`bind_window`]. The request counts as one that names memory: post it by the `unsafe` methods.
///
/// ```
/// # use blueflame::{PostError, Remote, Rkey, SendQueue, Sge, WrId, transport};
/// use blueflame::wqe::{self, Fence};
/// use blueflame::wqe::keys::KeyRights;
///
/// /// Tells the peer a key by which it reads a header and a body, wherever they are, as if they were in a row.
/// fn lend(sq: &mut SendQueue<transport::Rc>, key: Rkey, header: Sge, body: Sge) -> Result<(), PostError> {
///     let configure = wqe::configure_key(key, 4).rights(KeyRights::REMOTE_READ).list([header, body]);
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
#[inline]
pub const fn configure_key(key: Rkey, room: u16) -> Request<ConfigureKey, Unchanged> {
    Request::new(ConfigureKey::new(key), Unchanged { room })
}

impl<P> Request<ConfigureKey, P> {
    /// Sets the rights of the key (`mlx5dv_wr_set_mkey_access_flags`).
    #[doc(alias = "mlx5dv_wr_set_mkey_access_flags")]
    #[inline]
    pub fn rights(self, rights: KeyRights) -> Self {
        self.with_operation(|key| key.rights(rights))
    }

    /// Removes the key's formats. From then on its data is as it lies in memory
    /// (`MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR`). Only for keys that were made with room for formats.
    #[inline]
    pub fn plain(self) -> Self {
        self.with_operation(ConfigureKey::plain)
    }

    /// Sets the number of block signature errors that the device has reported for the key; pass 1 before the first. The
    /// device reports the first error after each new number, and no other. So set it in the key's first request, and in
    /// the first after each error.
    ///
    /// libmlx5 (rdma-core `providers/mlx5/qp.c`, `upd_mkc_sig_err_cnt`) and `blueflame_devx::object::SignatureKey`
    /// count like that.
    #[inline]
    pub fn signature_errors(self, count: u32) -> Self {
        self.with_operation(|key| key.signature_errors(count))
    }
}

impl<P: KeyList> Request<ConfigureKey, P> {
    /// Has the device check, generate and strip block signatures on data that passes through the key
    /// (`mlx5dv_wr_set_mkey_sig_block`). Call it after setting the list. The key must have room for at least one
    /// format. The requests of [`BlockSignature::set_psvs`] must follow.
    ///
    /// Addresses and lengths by the key count bytes on the wire. Its list counts bytes in memory.
    ///
    /// ```
    /// # use blueflame::{PostError, Remote, Rkey, SendQueue, Sge, WrId, transport};
    /// use blueflame::wqe::{self, Fence};
    /// use blueflame::wqe::formats::{BlockSignature, BlockSize, Escape, Guard, Psvs, Seed};
    /// use blueflame::wqe::keys::KeyRights;
    /// use blueflame::wqe::formats::{BlockSignatureKind, SignedBlocks, T10Dif};
    ///
    /// /// Writes 8 blocks of 512 bytes to the peer, with a T10-DIF behind each that is not in memory.
    /// fn write(sq: &mut SendQueue<transport::Rc>, key: Rkey, psvs: Psvs, data: Sge, to: Remote) -> Result<(), PostError> {
    ///     let dif = T10Dif {
    ///         guard: Guard::Crc,
    ///         seed: Seed::Zeros,
    ///         app_tag: 0,
    ///         ref_tag: 100,
    ///         increment: true,
    ///         escape: Escape::Never,
    ///     };
    ///     let blocks = SignedBlocks { size: BlockSize::B512, signature: BlockSignatureKind::T10Dif(dif) };
    ///     let signature = BlockSignature::on_wire(blocks);
    ///     let configure = wqe::configure_key(key, 4).rights(KeyRights::NONE).signature_errors(1);
    ///     let source = Sge { addr: 0, length: 8 * (512 + 8), lkey: blueflame::Lkey(key.0) };
    ///     let mut batch = sq.batch();
    ///     // SAFETY: the memory stays registered, and unchanged until it is written.
    ///     unsafe { batch.push_unchecked(&configure.list([data]).signature(signature, psvs))? };
    ///     for set_psv in signature.set_psvs(psvs) {
    ///         batch.push(&set_psv)?;
    ///     }
    ///     // SAFETY: as above.
    ///     unsafe { batch.push_unchecked(&wqe::write(to).gather([source]).fence(Fence::Small).signaled(WrId(1)))? };
    ///     batch.ring_doorbell();
    ///     Ok(())
    /// }
    /// ```
    #[doc(alias = "mlx5dv_wr_set_mkey_sig_block")]
    #[inline]
    pub fn signature(
        self,
        signature: BlockSignature,
        psvs: Psvs,
    ) -> Request<ConfigureKey, Formatted<P, SignatureFormat>> {
        self.with_formats(SignatureFormat { signature, psvs })
    }

    /// Has the device encrypt and decrypt data that passes through the key (`mlx5dv_wr_set_mkey_crypto`). Call it
    /// after setting the list. The key must be made for encryption. With signatures, use
    /// [`and_encryption`](Request::and_encryption) after them.
    ///
    /// A message begins at the start of a data unit. It ends on a unit boundary, or at least 16 bytes before one,
    /// 16-byte aligned (man page `mlx5dv_wr_set_mkey_crypto`).
    ///
    /// ```
    /// # use blueflame::{PostError, Remote, Rkey, SendQueue, Sge, WrId, transport, types::Dek};
    /// use blueflame::wqe::{self, Fence};
    /// use blueflame::wqe::formats::{BlockSize, DataUnits, EncryptedSide, Encryption, SignatureOrder};
    /// use blueflame::wqe::keys::KeyRights;
    ///
    /// /// Writes 8 blocks of 512 bytes, that of number `block` and the following, to the peer, who cannot read them.
    /// fn write(
    ///     sq: &mut SendQueue<transport::Rc>, key: Rkey, dek: Dek, block: u64, data: Sge, to: Remote,
    /// ) -> Result<(), PostError> {
    ///     let encryption = Encryption {
    ///         dek,
    ///         keytag: [0; 8],
    ///         side: EncryptedSide::Wire,
    ///         unit: BlockSize::B512,
    ///         first_unit: block.into(),
    ///         units: DataUnits::Many,
    ///         order: SignatureOrder::default(),
    ///     };
    ///     let configure = wqe::configure_key(key, 4).rights(KeyRights::NONE).list([data]).encryption(encryption);
    ///     let source = Sge { addr: 0, length: 8 * 512, lkey: blueflame::Lkey(key.0) };
    ///     let mut batch = sq.batch();
    ///     // SAFETY: the memory stays registered, and unchanged until it is written.
    ///     unsafe {
    ///         batch.push_unchecked(&configure)?;
    ///         batch.push_unchecked(&wqe::write(to).gather([source]).fence(Fence::Small).signaled(WrId(1)))?;
    ///     }
    ///     batch.ring_doorbell();
    ///     Ok(())
    /// }
    /// ```
    #[doc(alias = "mlx5dv_wr_set_mkey_crypto")]
    #[inline]
    pub fn encryption(self, encryption: Encryption) -> Request<ConfigureKey, Formatted<P, Encryption>> {
        self.with_formats(encryption)
    }

    /// Puts formats behind the list.
    #[inline]
    pub(super) fn with_formats<F: Formats>(self, formats: F) -> Request<ConfigureKey, Formatted<P, F>> {
        let list = *self.payload();
        self.with_operation(|key| key.formats(F::DS)).with_payload(Formatted { list, formats })
    }
}

impl<P: KeyList> Request<ConfigureKey, Formatted<P, SignatureFormat>> {
    /// Adds [`encryption`](Request::encryption) to the signatures. The key must be made for both.
    #[inline]
    pub fn and_encryption(self, encryption: Encryption) -> Request<ConfigureKey, Formatted<P, SignedAndEncrypted>> {
        let Formatted { list, formats: signatures } = *self.payload();
        let formats = SignedAndEncrypted { signatures, encryption };
        self.with_operation(|key| key.formats(SignedAndEncrypted::DS)).with_payload(Formatted { list, formats })
    }
}

impl Request<ConfigureKey, Unchanged> {
    /// Puts pieces of other keys' memory behind the key, one after the other: an array `[Sge; N]` or a slice `&[Sge]`
    /// (`mlx5dv_wr_set_mkey_layout_list`). A WQE has room for 52.
    #[doc(alias = "mlx5dv_wr_set_mkey_layout_list")]
    #[inline]
    pub fn list<L: EntryList<Sge>>(self, list: L) -> Request<ConfigureKey, Pieces<L>> {
        let entries = list.entries();
        let bytes = entries.iter().map(|sge| u64::from(sge.length)).sum();
        let room = self.payload().room;
        self.with_operation(|key| key.layout(entries.len(), bytes)).with_payload(Pieces { list, room })
    }

    /// Puts memory of other keys behind the key in turn, `repeat` times: the bytes of each entry, then the bytes of
    /// each one stride further, and so on (`mlx5dv_wr_set_mkey_layout_interleaved`). A WQE has room for 51 entries.
    /// They take one more entry of the key.
    #[doc(alias = "mlx5dv_wr_set_mkey_layout_interleaved")]
    #[inline]
    pub fn interleaved<L: EntryList<Strided>>(self, repeat: u32, list: L) -> Request<ConfigureKey, Interleaved<L>> {
        let list = Interleaved { list, repeat, room: self.payload().room };
        let (entries, bytes) = (1 + list.entries(), list.bytes());
        self.with_operation(|key| key.layout(entries, bytes)).with_payload(list)
    }

    /// Puts pieces of other keys' memory behind the key, by a list in memory at `place`. The list has `entries` of 16
    /// bytes ([`Sge::to_list_entry`]), and zeros up to a multiple of 64 bytes. It begins at a multiple of
    /// [`KEY_LIST_ALIGN`](crate::wqe::limits::KEY_LIST_ALIGN), and must stay until the request is done. All pieces have
    /// `bytes` together.
    ///
    /// libmlx5 has no such request; it is Linux' (`drivers/infiniband/hw/mlx5/wr.c`, `set_reg_wr`).
    #[inline]
    pub fn list_at(self, place: Sge, entries: u16, bytes: u64) -> Request<ConfigureKey, PiecesAt> {
        let room = self.payload().room;
        self.with_operation(|key| key.layout(entries.into(), bytes).pointed()).with_payload(PiecesAt {
            place,
            entries,
            room,
        })
    }
}

impl Request<BindWindow, Piece> {
    /// Makes the addresses that peers name count from 0 (`IBV_ACCESS_ZERO_BASED`).
    #[inline]
    pub fn zero_based(self) -> Self {
        self.with_operation(BindWindow::zero_based)
    }
}

impl<P> Request<Send, P> {
    /// Adds immediate data, given in the CPU's order; the peer's completion carries it in network order.
    #[doc(alias("ibv_wr_send_imm", "ibv_wr_rdma_write_imm", "IBV_WR_SEND_WITH_IMM", "IBV_WR_RDMA_WRITE_WITH_IMM"))]
    #[inline]
    pub fn imm(self, imm: u32) -> Request<SendImm, P> {
        self.with_operation(|_| SendImm { imm })
    }

    /// Has the peer's device invalidate its key `rkey` when the message arrives. Transports: RC, XRC, DCI.
    #[doc(alias("ibv_wr_send_inv", "IBV_WR_SEND_WITH_INV"))]
    #[inline]
    pub fn invalidate(self, rkey: Rkey) -> Request<SendInval, P> {
        self.with_operation(|_| SendInval { rkey: rkey.0 })
    }
}

impl<D, P> Request<To<Send, D>, P> {
    /// Adds immediate data, as for any [`send`].
    #[inline]
    pub fn imm(self, imm: u32) -> Request<To<SendImm, D>, P> {
        self.with_operation(|To { destination, .. }| To { operation: SendImm { imm }, destination })
    }

    /// Has the peer's device invalidate a key, as for any [`send`].
    #[inline]
    pub fn invalidate(self, rkey: Rkey) -> Request<To<SendInval, D>, P> {
        self.with_operation(|To { destination, .. }| To { operation: SendInval { rkey: rkey.0 }, destination })
    }
}

impl<D, P> Request<To<Write, D>, P> {
    /// Adds immediate data, as for any [`write()`].
    #[inline]
    pub fn imm(self, imm: u32) -> Request<To<WriteImm, D>, P> {
        self.with_operation(|To { operation: Write { remote }, destination }| To {
            operation: WriteImm { remote, imm },
            destination,
        })
    }
}

impl<O: Operation, P> Request<O, P> {
    /// Sets the destination on queues whose requests name it:
    /// - a [`UdAddress`](super::UdAddress) on a [`Ud`](crate::transport::Ud) queue;
    /// - a [`DcAddress`](super::DcAddress) on a [`Dci`](crate::transport::Dci) queue;
    /// - a shared receive queue of the peer ([`Srqn`](crate::types::Srqn)) on the queue of an
    ///   [`XrcInitiator`](crate::transport::XrcInitiator).
    #[doc(alias("ibv_wr_set_ud_addr", "mlx5dv_wr_set_dc_addr", "mlx5dv_wr_set_dc_addr_stream", "ibv_wr_set_xrc_srqn"))]
    #[inline]
    pub fn to<D: Destination>(self, destination: D) -> Request<To<O, D>, P> {
        self.with_operation(|operation| To { operation, destination })
    }
}

impl<P> Request<Write, P> {
    /// Adds immediate data, given in the CPU's order. The write then also consumes a receive buffer of the peer. The
    /// completion of that receive carries the data in network order.
    #[inline]
    pub fn imm(self, imm: u32) -> Request<WriteImm, P> {
        self.with_operation(|Write { remote }| WriteImm { remote, imm })
    }
}

impl<O: Carries> Request<O> {
    /// Takes the message's bytes from registered memory: an array `[Sge; N]` or a slice `&[Sge]`.
    #[doc(alias("ibv_wr_set_sge_list", "ibv_sge", "ibv_wr_set_sge"))]
    #[inline]
    pub fn gather<L: EntryList<Sge>>(self, list: L) -> Request<O, Registered<L>> {
        self.with_payload(Registered(list))
    }

    /// Copies the message's bytes into the WQE: `&[u8; N]` or a slice `&[u8]`.
    #[doc(alias("ibv_wr_set_inline_data", "IBV_SEND_INLINE", "ibv_wr_set_inline_data_list"))]
    #[inline]
    pub fn inline<D: InlineBytes>(self, data: D) -> Request<O, Inline<D>> {
        self.with_payload(Inline(data))
    }

    /// Leaves room for `N` bytes of inline data, for a [template](crate::queue::Template).
    #[inline]
    pub fn inline_len<const N: usize>(self) -> Request<O, InlineLen<N>> {
        self.with_payload(InlineLen(()))
    }

    /// Leaves room for `N` scatter/gather entries, for a [template](crate::queue::Template).
    #[inline]
    pub fn gather_len<const N: usize>(self) -> Request<O, GatherLen<N>> {
        self.with_payload(GatherLen(()))
    }
}

impl<O: Carries, D: InlineBytes> Request<O, Inline<D>> {
    /// Adds bytes from registered memory after the inline bytes, for example a message that the device fetches after a
    /// header that this CPU makes. Both are one message. (libmlx5 has no such request; UCX posts them.)
    ///
    /// ```
    /// use blueflame::types::{Lkey, WrId};
    /// use blueflame::{Sge, wqe};
    ///
    /// let page = Sge { addr: 0x7000, length: 4096, lkey: Lkey(0x22) };
    /// let _ = wqe::send().inline(b"page 17:").then_gather([page]).signaled(WrId(7));
    /// ```
    #[inline]
    pub fn then_gather<L: EntryList<Sge>>(self, list: L) -> Request<O, InlineThen<D, L>> {
        let first = *self.payload();
        self.with_payload(InlineThen { first, rest: Registered(list) })
    }
}

impl<O: Scatters> Request<O> {
    /// Puts the data read into registered memory: an array `[Sge; N]` or a slice `&[Sge]`.
    #[inline]
    pub fn scatter<L: EntryList<Sge>>(self, list: L) -> Request<O, Registered<L>> {
        self.with_payload(Registered(list))
    }

    /// Leaves room for `N` scatter/gather entries, for a [template](crate::queue::Template).
    #[inline]
    pub fn scatter_len<const N: usize>(self) -> Request<O, GatherLen<N>> {
        self.with_payload(GatherLen(()))
    }
}

impl<O: Fetches> Request<O> {
    /// Puts the old value, from before the operation, into registered memory. For operations on 8 bytes it is in the
    /// CPU's order. For operations on 4 bytes it is a [`Be32`](super::seg::Be32), for those on 16 a
    /// [`Be128`](super::seg::Be128).
    ///
    /// Linux' driver sets the device to the CPU's order. Where no kernel drives the device, the 8 bytes come in
    /// network order (`atomic_req_8B_endianness_mode` 0). `Context::fetched_order` of `blueflame-devx` reports the
    /// order.
    #[inline]
    pub fn result(self, addr: u64, lkey: Lkey) -> Request<O, AtomicResult<O::Found>> {
        self.with_payload(AtomicResult { addr, lkey, found: PhantomData })
    }
}
