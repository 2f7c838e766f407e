//! Ethernet frames, which raw packet queue pairs send. Knows no request.
use crate::arch::Wide;
use crate::transport::{InlineIp, InlineMode as _, InlineNone, InlineTcpUdp, RawPacket};
use crate::types::DS_BYTES;
use crate::wqe::error::EncodeError;
use crate::wqe::limits::FrameOffloads;
use crate::wqe::opcode::Opcode;
use crate::wqe::operations::frame_options::FrameOptions;
use crate::wqe::operations::service::{Carries, Operation, SupportedOn};
use crate::wqe::sealed::Sealed;
use crate::wqe::seg::EthSeg;
use crate::wqe::sink::Sink;
use crate::wqe::words::be::{Be16, Be32};
use crate::wqe::words::bytes::take8;

/// The first bytes of a frame, for its Ethernet segment: `[u8; N]`, `&[u8; N]`, or `()` for none.
///
/// With headers by value, a [template](crate::SendQueue::template) of the frame borrows nothing.
pub trait InlineHeaders: Sealed + Copy {
    /// Their number.
    const BYTES: usize;

    /// The bytes.
    fn bytes(&self) -> &[u8];
}

impl Sealed for () {}
impl InlineHeaders for () {
    const BYTES: usize = 0;

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        &[]
    }
}

impl<const N: usize> InlineHeaders for [u8; N] {
    const BYTES: usize = N;

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        self
    }
}

impl<const N: usize> InlineHeaders for &[u8; N] {
    const BYTES: usize = N;

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        *self
    }
}

/// An Ethernet frame, from the destination's MAC address to the last byte before the frame check sequence. The device
/// adds that sequence. Raw packet queue pairs send frames ([`RawPacket`](crate::transport::RawPacket)). Transports: raw
/// packets.
///
/// Its bytes are the [inline headers](crate::wqe::Request::inline_headers), if any, and then the payload, inline or
/// gathered. Their places in the WQE are (offsets in bytes; *H* bytes of inline headers):
///
/// ```text
///    0  control segment
///   16  Ethernet segment: options, H
///   30  frame byte 0, 1, ... H-1, one after the other; zeros up to the next 16 bytes
///    D  data segments, or one inline segment: its length, and at D+4 frame byte H, H+1, ...
///                                   H = 0: D = 32     H = 18: D = 48     H = 42: D = 80     H = 66: D = 96
/// ```
///
/// ```
/// use blueflame::types::{Lkey, WrId};
/// use blueflame::{Sge, wqe};
///
/// let (headers, rest) = ([0; 42], Sge { addr: 0x7000, length: 1024, lkey: Lkey(0x22) });
/// // Ethernet, IPv4 and UDP headers in the WQE, the checksums by the device, the datagram from registered memory.
/// let _ = wqe::frame().inline_headers(&headers).l3_checksum().l4_checksum().gather([rest]).signaled(WrId(1));
/// // All in the WQE. Headers that change from frame to frame can be in either part.
/// let _ = wqe::frame().inline_headers(&headers).inline(b"an order");
///
/// // A frame of any length, all in the WQE.
/// let frame: &[u8] = &[0; 98];
/// if let Some((headers, rest)) = frame.split_first_chunk::<18>() {
///     let _ = wqe::frame().inline_headers(headers).inline(rest);
/// }
/// ```
///
/// Too few or too many inline headers do not compile:
///
/// ```compile_fail,E0080
/// # use blueflame::wqe;
/// let _ = wqe::frame().inline_headers(&[0; 17]);
/// ```
/// ```compile_fail,E0080
/// # use blueflame::wqe;
/// let _ = wqe::frame().inline_headers(&[0; 979]); // a WQE of 64 DS, one too many
/// ```
///
/// The bytes are those of libmlx5 (rdma-core `providers/mlx5/qp.c`, `copy_eth_inline_headers`,
/// `mlx5_send_wr_send_eth`). It splits a frame after 18 bytes if the device needs inline headers, and has none
/// otherwise. More inline headers are laid out as libmlx5 does for large sends (`set_tso_eth_seg`), and as DPDK does
/// for small frames. DPDK puts small frames into the segment whole (`drivers/net/mlx5/mlx5_tx.h`,
/// `mlx5_tx_eseg_data`).
///
/// You choose where the inline headers end. The WQE is smallest if they are the whole frame: a frame of 98 bytes then
/// takes two WQEBBs, which hold only 94 bytes of a frame split after 18. A [template](crate::SendQueue::template) has
/// the inline headers prepared, and each shot brings the rest. So in a template let them end where frames begin to
/// differ.
///
/// Inline headers do not count as inline data of the queue's [limits](crate::wqe::Limits), neither here nor in libmlx5.
/// Their limit is the size of a WQE, 63 DS. Nothing checks that the bytes are a frame that the port can send.
///
/// `X` are further options, which cost nothing where a frame has none of them. A frame can be a
/// [large send](crate::wqe::Request::large) (TSO, one WQE for many packets). It can have the checksums of the
/// [headers inside of a tunnel](crate::wqe::Request::inner_l3_checksum), tell the device
/// [where the headers are](crate::wqe::Request::header_offsets), and carry [metadata](crate::wqe::Request::metadata) for
/// rules.
///
/// A VLAN tag is part of the frame. The Ethernet segment has a place for a tag that the device would insert, but no
/// device has that offload enabled (`wqe_vlan_insert`, see Linux commit ade89d1f2486 by its authors at NVIDIA).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<H = (), X = ()> {
    pub(super) headers: H,
    /// `MLX5_ETH_WQE_L3_CSUM`, `MLX5_ETH_WQE_L4_CSUM`.
    pub(super) cs_flags: u8,
    pub(super) options: X,
}

impl<X> Frame<(), X> {
    /// The same frame with `headers`.
    #[inline(always)]
    pub(super) fn with<H>(self, headers: H) -> Frame<H, X> {
        Frame { headers, cs_flags: self.cs_flags, options: self.options }
    }
}

/// Has the device compute the checksum of the IPv4 header inside of a tunnel (Linux `include/linux/mlx5/qp.h`,
/// `MLX5_ETH_WQE_L3_INNER_CSUM`).
pub(super) const L3_INNER_CSUM: u8 = 1 << 4;
/// Has the device compute TCP's or UDP's checksum inside of a tunnel (`MLX5_ETH_WQE_L4_INNER_CSUM`).
pub(super) const L4_INNER_CSUM: u8 = 1 << 5;
/// Has the device compute the IPv4 header's checksum (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_ETH_WQE_L3_CSUM`).
pub(super) const L3_CSUM: u8 = 1 << 6;
/// Has the device compute TCP's or UDP's checksum (`MLX5_ETH_WQE_L4_CSUM`).
pub(super) const L4_CSUM: u8 = 1 << 7;

impl<H, X> Sealed for Frame<H, X> {}
impl<H: InlineHeaders, X: FrameOptions> Operation for Frame<H, X> {
    const OPCODE: Opcode = X::OPCODE;
    const DS: usize = (size_of::<EthSeg>() - START + H::BYTES).div_ceil(DS_BYTES);
    const INLINE: bool = true;
    const OFFLOADS: FrameOffloads = X::NEEDS;
    const CHECKED: bool = X::CHECKED;

    #[inline(always)]
    fn check(&self, payload: u64, offloads: FrameOffloads) -> Result<(), EncodeError> {
        self.options.check(payload, offloads)
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        let bytes = self.headers.bytes();
        let rest = bytes.get(START..).unwrap_or_default();
        let segment = EthSeg {
            swp_offs: Be32::new(0),
            cs_flags: self.cs_flags,
            swp_flags: 0,
            mss: Be16::new(0),
            flow_table_metadata: Be32::new(0),
            // Fewer than 1008: otherwise `inline_headers` would not have compiled.
            inline_hdr_sz: Be16::new(H::BYTES as u16),
            inline_hdr_start: bytes.first_chunk().copied().unwrap_or_default(),
        };
        sink.ds(self.options.set(segment).into());
        sink.bytes(rest);
    }
}
impl<H: InlineHeaders, X: FrameOptions> Carries for Frame<H, X> {}
impl<const N: usize, X: FrameOptions> SupportedOn<RawPacket> for Frame<[u8; N], X> {}
impl<const N: usize, X: FrameOptions> SupportedOn<RawPacket> for Frame<&[u8; N], X> {}
impl<H: InlineHeaders, X: FrameOptions> SupportedOn<RawPacket<InlineNone>> for Frame<H, X> {}
impl<H: InlineHeaders, X: FrameOptions> SupportedOn<RawPacket<InlineIp>> for Frame<H, X> {
    const FITS: () = assert!(H::BYTES >= InlineIp::LEAST, "inline headers are at least 34 bytes here");
}
impl<H: InlineHeaders, X: FrameOptions> SupportedOn<RawPacket<InlineTcpUdp>> for Frame<H, X> {
    const FITS: () = assert!(H::BYTES >= InlineTcpUdp::LEAST, "inline headers are at least 42 bytes here");
}

/// Bytes of inline headers in the first 16 bytes of the Ethernet segment.
const START: usize = 2;

impl Frame {
    /// Bytes of inline headers in front of those that a WQE has by 16.
    pub(crate) const BEFORE_DS: usize = START;
}

impl<const N: usize, X> Frame<[u8; N], X> {
    /// DS `n` of the operation, from 0, with other inline headers. `prepared` is that DS with the present ones.
    #[inline(always)]
    pub(crate) fn with_headers(prepared: Wide, headers: &[u8; N], n: usize) -> Wide {
        if n == 0 {
            let [first, second] = prepared.words();
            let (mut second, start) = (second.to_ne_bytes(), headers.first_chunk::<START>());
            if let (Some(place), Some(start)) = (second.last_chunk_mut::<START>(), start) {
                *place = *start;
            }
            return Wide::new([first, u64::from_ne_bytes(second)]);
        }
        let mut rest = headers.get(START + (n - 1) * DS_BYTES..).unwrap_or_default();
        Wide::new([take8(&mut rest), take8(&mut rest)])
    }
}
