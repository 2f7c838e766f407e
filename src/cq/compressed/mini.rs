//! Mini-CQEs: the fields that each carries of its completion, by format.
use core::fmt;
use core::mem::offset_of;

use crate::cq::layout::Cqe64;
use crate::sealed::Sealed;

/// Mini-CQEs in one array. In the basic layout, arrays of this length follow a compressed CQE (Linux
/// `include/linux/mlx5/device.h`, `MLX5_MINI_CQE_ARRAY_SIZE`).
pub(super) const ARRAY: u32 = 8;
/// Mini-CQEs in a compressed CQE of the enhanced layout: the last 8 bytes are the CQE's own (UCX
/// `src/uct/ib/mlx5/ib_mlx5.h`, `UCT_IB_MLX5_MINICQE_ARR_MAX_SIZE`).
pub(super) const BLOCK: u32 = 7;
/// 32-bit words of a mini-CQE.
pub(super) const WORDS: usize = 2;

/// The 64 bytes of a CQE, as 32-bit words in memory order. Aligned as in a ring, so that views can read it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Words(pub(super) [u32; 16]);

/// The 32-bit word that has the byte at `offset` of a CQE.
const fn word(offset: usize) -> usize {
    offset / size_of::<u32>()
}

const HASH: usize = word(offset_of!(Cqe64, rx_hash_result));
const HASH_TYPE: usize = word(offset_of!(Cqe64, rx_hash_type));
const CHECKSUM: usize = word(offset_of!(Cqe64, check_sum));
const HEADERS: usize = word(offset_of!(Cqe64, l4_hdr_type_etc));
const BYTE_CNT: usize = word(offset_of!(Cqe64, byte_cnt));
const QPN: usize = word(offset_of!(Cqe64, sop_drop_qpn));

impl Words {
    /// Bytes of the message; a session's title has the number of completions there.
    #[inline(always)]
    pub(super) const fn byte_cnt(&self) -> u32 {
        u32::from_be(self.0[BYTE_CNT])
    }

    /// Replaces the bits of `mask` in a word; both as numbers of the word in big-endian order.
    #[inline(always)]
    fn put(&mut self, at: usize, mask: u32, value: u32) {
        self.0[at] = self.0[at] & !mask.to_be() | (value & mask).to_be();
    }

    /// Clears fields that a receive's mini-CQE lacks and its title cannot supply: hash and checksum are each packet's
    /// own. Linux does the same (`drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_decompress_cqe_no_hash`).
    #[inline(always)]
    pub(super) fn forget_packet(&mut self, has_hash: bool) {
        if !has_hash {
            self.0[HASH] = 0;
            self.put(HASH_TYPE, 0xff00_0000, 0);
        }
        self.put(CHECKSUM, 0xffff_0000, 0);
    }
}

/// Mini-CQE number `n` of an array, as numbers: the first four bytes, and the last four.
#[inline(always)]
pub(super) fn mini(array: &Words, n: u32) -> (u32, u32) {
    let at = (n % ARRAY) as usize * WORDS;
    (u32::from_be(array.0[at]), u32::from_be(array.0[at + 1]))
}

/// Puts the mini-CQE of a send queue's request into its title. Returns the WQE's index. All formats share this layout
/// for requests: the index in bytes 0 and 1, the opcode in byte 2 (Linux `include/linux/mlx5/device.h`,
/// `mlx5_mini_cqe8::s_wqe_info`; UCX `src/uct/ib/mlx5/ib_mlx5.c`, `uct_ib_mlx5_iface_cqe_unzip_fill_unique`). DPDK's
/// structure has a validity count in byte 2 and the opcode in byte 3, but DPDK compresses no completions of requests.
#[inline(always)]
pub(super) fn put_request(title: &mut Words, (first, second): (u32, u32)) -> u16 {
    title.0[BYTE_CNT] = second.to_be();
    title.put(QPN, 0xff00_0000, first << 16);
    (first >> 16) as u16
}

/// The format of receives' mini-CQEs: the fields that they carry besides the number of bytes. The queue is created with
/// it, and the device does not repeat it (CQC `mini_cqe_res_format` and `mini_cqe_res_format_ext`; DPDK
/// `drivers/common/mlx5/mlx5_prm.h`, `MLX5_CQE_RESP_FORMAT_*`).
#[doc(alias = "mlx5_mini_cqe8")]
pub trait MiniFormat: Sealed + Copy + fmt::Debug {
    /// `mini_cqe_res_format`, 2 bits.
    const FORMAT: u8;
    /// `mini_cqe_res_format_ext`, 2 bits.
    const FORMAT_EXT: u8 = 0;
    /// `MLX5DV_CQE_RES_FORMAT_*`; `None`: `mlx5dv_create_cq` has no name for the format, so verbs make no such queue.
    const MLX5DV: Option<u8> = None;
    /// Whether mini-CQEs have the completion's [`wqe_counter`](crate::cq::CqeView::wqe_counter) (of a striding receive
    /// queue: the index of the stride). Otherwise the indices of one session are consecutive.
    const COUNTER: bool;
    /// Whether completions of a striding receive queue say which strides they are of: by the index of the stride, or
    /// because expansion adds up the strides.
    const TELLS_STRIDES: bool = Self::COUNTER && Self::FORMAT != FlowTag::FORMAT;
    /// Whether they have the hash: its kind is the title's.
    const HASHED: bool = Self::FORMAT == 0 && Self::FORMAT_EXT == 0;

    /// Whether they have the flow's tag.
    #[doc(hidden)]
    const TAGGED: bool = Self::FORMAT == FlowTag::FORMAT;
    /// Whether they have the kinds of headers.
    #[doc(hidden)]
    const HEADED: bool = Self::FORMAT_EXT == Headers::FORMAT_EXT;

    #[doc(hidden)]
    fn put(title: &mut Words, mini: (u32, u32));
}

/// The first stride in a mini-CQE of a striding queue, if the format has it, and the word of strides and bytes.
#[inline(always)]
pub(super) fn frame<F: MiniFormat>((first, second): (u32, u32)) -> (Option<u16>, u32) {
    // A tag has its highest bits where the strides are.
    (F::COUNTER.then_some(first as u16), if F::TAGGED { second & 0xffff } else { second })
}

/// The flow's tag, if the mini-CQE has it.
#[inline(always)]
pub(super) fn flow_tag<F: MiniFormat>((first, second): (u32, u32)) -> Option<u32> {
    F::TAGGED.then_some(second >> 24 << 16 | first >> 16)
}

/// Format `F` of a queue that a [striding receive queue](crate::queue::striding) completes to.
///
/// Mini-CQEs of [`Hash`](enum@Hash) and [`Checksum`] have no index: here each completion of a session begins at the
/// stride behind the one before (Linux `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_decompress_cqe`).
/// Those of [`FlowTag`] have the index, but not the whole number of strides: here it is cleared, and follows from the
/// bytes (DPDK `drivers/net/mlx5/mlx5_rx.c`, `mlx5_rx_burst_mprq`). The other formats need no such care.
#[derive(Clone, Copy, Debug)]
pub struct Strided<F: MiniFormat>(core::marker::PhantomData<F>);

impl<F: MiniFormat> Sealed for Strided<F> {}
impl<F: MiniFormat> MiniFormat for Strided<F> {
    const FORMAT: u8 = F::FORMAT;
    const FORMAT_EXT: u8 = F::FORMAT_EXT;
    const MLX5DV: Option<u8> = F::MLX5DV;
    const COUNTER: bool = F::COUNTER;
    const TELLS_STRIDES: bool = true;

    #[inline(always)]
    fn put(title: &mut Words, mini: (u32, u32)) {
        F::put(title, mini);
        if F::COUNTER && !F::TELLS_STRIDES {
            title.put(BYTE_CNT, 0xffff_0000, 0);
        }
    }
}

/// Declares the formats.
macro_rules! formats {
    ($(
        $(#[$doc:meta])* $name:ident = $format:literal, ext $ext:literal, counter $counter:literal
        $(, mlx5dv $mlx5dv:expr)?; |$title:ident, $first:ident, $second:ident| $put:block
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}
        impl Sealed for $name {}
        impl MiniFormat for $name {
            const FORMAT: u8 = $format;
            const FORMAT_EXT: u8 = $ext;
            const COUNTER: bool = $counter;
            $(const MLX5DV: Option<u8> = Some($mlx5dv);)?

            #[inline(always)]
            fn put($title: &mut Words, ($first, $second): (u32, u32)) $put
        }
    )*};
}

formats! {
    /// The hash by which the packet's queue was chosen; 4 bytes.
    Hash = 0, ext 0, counter false, mlx5dv 1 << 0; |title, first, second| {
        title.0[HASH] = first.to_be();
        title.0[BYTE_CNT] = second.to_be();
    }
    /// The packet's checksum; 2 bytes.
    Checksum = 1, ext 0, counter false, mlx5dv 1 << 1; |title, first, second| {
        title.put(CHECKSUM, 0xffff_0000, first);
        title.0[BYTE_CNT] = second.to_be();
    }
    /// The flow's tag and the stride's index. The tag has 24 bits. Its highest 8 are where other formats have the
    /// highest 8 bits of the number of bytes (DPDK `drivers/net/mlx5/mlx5_rx.c`, `rxq_cq_to_mbuf`).
    FlowTag = 2, ext 0, counter true; |title, first, second| {
        title.put(QPN, 0x00ff_ffff, flow_tag::<Self>((first, second)).unwrap_or_default());
        title.0[BYTE_CNT] = (second & 0x00ff_ffff).to_be();
    }
    /// The packet's checksum and the stride's index.
    ChecksumStride = 3, ext 0, counter true, mlx5dv 1 << 2; |title, first, second| {
        title.put(CHECKSUM, 0xffff_0000, first);
        title.0[BYTE_CNT] = second.to_be();
    }
    /// Which headers of layer 3 and 4 the packet has, and the stride's index. The headers are in the first byte (DPDK
    /// `drivers/net/mlx5/mlx5_rxtx_vec_sse.h`, `rxq_cq_decompress_v`; `mlx5_mini_cqe8::hdr_type` since its commit
    /// 5654f38eba8: older releases have the second, reserved byte there).
    Headers = 0, ext 1, counter true; |title, first, second| {
        title.put(HEADERS, 0x00ff_0000, first >> 8);
        title.0[BYTE_CNT] = second.to_be();
    }
}
