//! Ethernet frames, which raw packet queue pairs send: their first bytes and their options. Knows no queue.
pub(super) mod header_offsets;

use crate::arch::ds::DsWords;
use crate::layout::{Be16, Be32};
use crate::sealed::Sealed;
use crate::transport::{MIN_INLINE_HEADERS, RawPacket, Transport as _};
use crate::types::Ds;
use crate::wqe::data::ToCarry;
use crate::wqe::frame::header_offsets::HeaderOffsets;
use crate::wqe::limits::FrameOffload;
use crate::wqe::opcode::Opcode;
use crate::wqe::operation::{Operation, Prepared, SupportedOn, whole_ds};
use crate::wqe::request::Request;
use crate::wqe::seg::EthSeg;
use crate::wqe::untyped::Untyped;

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
///     let _ = wqe::frame().inline_headers(headers).inline_slice(rest);
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
/// takes two WQEBBs, which hold only 94 bytes of a frame split after 18. A request that is kept has its
/// options prepared, and each frame brings its bytes.
///
/// Inline headers do not count as inline data of the queue's [limits](crate::wqe::Limits), neither here nor in libmlx5.
/// Their limit is the size of a WQE, 63 DS. Nothing checks that the bytes are a frame that the port can send.
///
/// A frame can be a [large send](crate::wqe::Request::large) (TSO, one WQE for many packets). It can have the checksums
/// of the [headers inside of a tunnel](crate::wqe::Request::inner_l3_checksum), tell the device
/// [where the headers are](crate::wqe::Request::header_offsets), and carry
/// [metadata](crate::wqe::Request::metadata) for rules.
///
/// A VLAN tag is part of the frame. The Ethernet segment has a place for a tag that the device would insert, but no
/// device has that offload enabled (`wqe_vlan_insert`, see Linux commit ade89d1f2486 by its authors at NVIDIA).
#[derive(Clone, Copy, Debug)]
pub struct Frame<const HEADERS: usize = 0, const LARGE: bool = false>(());

/// A [large send](crate::wqe::Request::large): one WQE for many frames. Transports: raw packets.
pub type LargeSend<const HEADERS: usize> = Frame<HEADERS, true>;

/// Several frames, behind one Ethernet segment: by a [session](crate::queue::send::Session) only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MultiPacket(());

/// Has the device compute the checksum of the IPv4 header inside of a tunnel (Linux `include/linux/mlx5/qp.h`,
/// `MLX5_ETH_WQE_L3_INNER_CSUM`).
const L3_INNER_CSUM: u8 = 1 << 4;
/// Has the device compute TCP's or UDP's checksum inside of a tunnel (`MLX5_ETH_WQE_L4_INNER_CSUM`).
const L4_INNER_CSUM: u8 = 1 << 5;
/// Has the device compute the IPv4 header's checksum (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_ETH_WQE_L3_CSUM`).
const L3_CSUM: u8 = 1 << 6;
/// Has the device compute TCP's or UDP's checksum (`MLX5_ETH_WQE_L4_CSUM`).
const L4_CSUM: u8 = 1 << 7;

/// Bytes of inline headers in the first 16 bytes of the Ethernet segment, in front of those that a WQE has by 16.
pub(crate) const HEADERS_BEFORE_DS: usize = 2;

/// Inline headers in the segments of a request.
pub(super) struct EthHeaders;

impl EthHeaders {
    /// The first 16 bytes of the Ethernet segment, with the first bytes of the headers, which are taken.
    #[inline(always)]
    pub(super) fn start(segment: DsWords, headers: &mut &[u8]) -> DsWords {
        let DsWords([first, second]) = segment;
        let Some((start, rest)) = headers.split_first_chunk::<HEADERS_BEFORE_DS>() else { return segment };
        *headers = rest;
        let mut place = [0; 8];
        if let Some(end) = place.last_chunk_mut::<HEADERS_BEFORE_DS>() {
            *end = *start;
        }
        DsWords([first, second | u64::from_ne_bytes(place)])
    }

    /// DS of the headers behind.
    const fn ds(bytes: usize) -> usize {
        whole_ds(bytes.saturating_sub(HEADERS_BEFORE_DS))
    }
}

impl<const N: usize, const LARGE: bool> Sealed for Frame<N, LARGE> {}
impl<const N: usize, const LARGE: bool> Operation for Frame<N, LARGE> {
    const OPCODE: Opcode = if LARGE { Opcode::Tso } else { Opcode::Send };
    const DS: usize = Self::STORED_DS + EthHeaders::ds(N);
    const STORED_DS: usize = 1;
    const HEADERS: usize = N;
    const IS_FRAME: bool = true;
    const IS_LARGE: bool = LARGE;
    const ON: [u8; 2] = [<RawPacket>::BIT, 0];
}
impl<const N: usize, const LARGE: bool, const HEADERS: usize> SupportedOn<RawPacket<HEADERS>> for Frame<N, LARGE> {
    const FITS: () = assert!(N >= HEADERS, "the device needs more inline headers: see `transport::InlineLayers`");
}

impl Sealed for MultiPacket {}
impl Operation for MultiPacket {
    const OPCODE: Opcode = Opcode::EnhancedMpsw;
    const DS: usize = 1;
    const IS_FRAME: bool = true;
    const ON: [u8; 2] = [0; 2];
}

/// DS in front of the frames of a session: control and Ethernet segment. DPDK and Linux agree on the layout (DPDK
/// `drivers/net/mlx5/mlx5_tx.h`, `mlx5_tx_burst_empw_simple`, `mlx5_tx_burst_empw_inline`; Linux
/// `drivers/net/ethernet/mellanox/mlx5/core/en_tx.c`, `mlx5e_tx_mpwqe_session_complete`, and `en/xdp.h`,
/// `mlx5e_xdp_mpwqe_add_dseg`).
pub(crate) const MULTI_PACKET_HEAD_DS: usize = 1 + MultiPacket::DS;

/// An Ethernet segment of zeros.
const NO_OPTIONS: EthSeg = EthSeg {
    swp_offs: Be32::new(0),
    cs_flags: 0,
    swp_flags: 0,
    mss: Be16::new(0),
    flow_table_metadata: Be32::new(0),
    inline_hdr_sz: Be16::new(0),
    inline_hdr_start: [0; HEADERS_BEFORE_DS],
};

/// A frame of no bytes. Add its headers with [`Request::inline_headers`], and the rest with [`Request::gather`] or
/// [`Request::inline`]. If the device needs no inline headers, these can add the whole frame.
#[doc(alias = "IBV_QPT_RAW_PACKET")]
#[inline(always)]
pub fn frame() -> Request<'static, Frame, ToCarry> {
    Request::new([NO_OPTIONS.into()])
}

impl<'d, const OLD: usize, D> Request<'d, Frame<OLD>, D> {
    /// Puts the frame's first bytes into the Ethernet segment, in place of those that it has. Their number is at
    /// least [`MIN_INLINE_HEADERS`], and at most 978 bytes, which a WQE of [`Ds::MAX`] has room for.
    #[inline(always)]
    pub fn inline_headers<'e, const N: usize>(self, headers: &'e [u8; N]) -> Request<'e, Frame<N>, D>
    where
        'd: 'e,
    {
        let request: Request<'e, Frame<OLD>, D> = self;
        const {
            assert!(N >= MIN_INLINE_HEADERS, "inline headers are at least 18 bytes");
            assert!(Frame::<N>::DS < Ds::MAX as usize, "inline headers are at most 978 bytes");
            assert!(OLD == 0 || OLD == N, "the number of a request's inline headers stays");
        }
        // Fewer than 1008.
        let size = if OLD == 0 { EthSeg { inline_hdr_sz: Be16::new(N as u16), ..NO_OPTIONS } } else { NO_OPTIONS };
        request.with_option(size).change(|untyped| untyped.headers = headers).with_types()
    }
}

impl<'d, const N: usize, const BYTES: usize, const ENTRIES: usize, D>
    Request<'d, Prepared<Frame<N>, BYTES, ENTRIES>, D>
{
    /// Sets other inline headers.
    #[inline(always)]
    pub fn inline_headers<'e>(self, headers: &'e [u8; N]) -> Request<'e, Prepared<Frame<N>, BYTES, ENTRIES>, D>
    where
        'd: 'e,
    {
        let request: Request<'e, Prepared<Frame<N>, BYTES, ENTRIES>, D> = self;
        request.change(|untyped| untyped.headers = headers)
    }
}

impl<'d, const N: usize, D> Request<'d, Frame<N>, D> {
    /// Makes it a large send (TSO): one TCP packet that the device cuts up into frames of at most `mss` bytes of
    /// payload each. The [inline headers](Self::inline_headers) are all headers, from Ethernet to TCP with its options.
    /// The payload follows, gathered or inline.
    ///
    /// Each frame has these headers. The device fills in the lengths of IP, the IPv4 identifications and the TCP
    /// sequence numbers, and takes FIN and PSH from all frames but the last. Ask for the checksums
    /// ([`l3_checksum`](Self::l3_checksum), [`l4_checksum`](Self::l4_checksum)): only the device can compute them. The
    /// request completes once.
    ///
    /// UDP datagrams are cut up as well, each with the headers' UDP length: the device does not change it. So the
    /// headers have `mss + 8` there, and the payload is a multiple of `mss`. Linux gives its device the same (commit
    /// 88a95781332d, `net/ipv4/udp_offload.c`; before it `drivers/net/ethernet/mellanox/mlx5/core/en_accel/en_accel.h`,
    /// `mlx5e_udp_gso_handle_tx_skb`), and sends a shorter last datagram by itself. The outer UDP length of a tunnel is
    /// the device's.
    ///
    /// ```
    /// use blueflame::types::WrId;
    /// use blueflame::{PostError, SendQueue, Sge, transport::RawPacket, wqe};
    ///
    /// /// # Safety
    /// /// As for `post_unchecked`.
    /// unsafe fn send(sq: &mut SendQueue<RawPacket>, headers: &[u8; 54], data: Sge) -> Result<(), PostError> {
    ///     let request = wqe::frame().inline_headers(headers).l3_checksum().l4_checksum().large(1460);
    ///     // SAFETY: the caller promises that the memory of `data` stays registered, and unchanged, until it
    ///     // completes.
    ///     unsafe { sq.post_unchecked(&request.gather([data]).signaled(WrId(1))) }
    /// }
    /// ```
    ///
    /// Without inline headers it does not compile:
    ///
    /// ```compile_fail,E0080
    /// # use blueflame::wqe;
    /// let _ = wqe::frame().large(1460);
    /// ```
    ///
    /// # Limits
    /// `mss` is at least 1, and the payload has at most
    /// [`max_large_send`](crate::wqe::limits::FrameOffloads::max_large_send) bytes. Posting refuses others
    /// ([`EncodeError`](crate::wqe::EncodeError)). It refuses every large send if the device has none.
    ///
    /// libmlx5 posts large sends on queue pairs created with `max_tso_header`, which is the most bytes of headers. It
    /// sizes the ring by that number; neither the kernel nor the device is told (rdma-core
    /// `providers/mlx5/verbs.c`, `mlx5_calc_send_wqe`). Queue pairs of this crate need no such number. DPDK has at most
    /// 192 bytes of headers (`drivers/net/mlx5/mlx5_defs.h`, `MLX5_MAX_TSO_HEADER`).
    #[doc(alias("ibv_wr_send_tso", "IBV_WR_TSO", "MLX5_OPCODE_TSO", "LSO"))]
    #[inline(always)]
    pub fn large(self, mss: u16) -> Request<'d, LargeSend<N>, D> {
        const { assert!(N >= MIN_INLINE_HEADERS, "a large send has all its headers inline") }
        self.with_option(EthSeg { mss: Be16::new(mss), ..NO_OPTIONS })
            .needing(FrameOffload::LargeSends)
            .change(|untyped| untyped.size = mss)
            .with_types()
    }

    /// This request, of several frames that follow. It has no frame yet.
    #[inline(always)]
    pub(crate) fn of_several(self) -> Request<'d, MultiPacket, D> {
        const { assert!(N == 0) }
        self.with_types()
    }
}

impl<const N: usize, const LARGE: bool, D> Request<'_, Frame<N, LARGE>, D> {
    /// Has the device fill in the checksum of the IPv4 header. `IBV_SEND_IP_CSUM` is this and
    /// [`l4_checksum`](Self::l4_checksum) together.
    ///
    /// The device must have the offload (`IBV_DEVICE_RAW_IP_CSUM` of its capabilities). libmlx5 queries it; this crate
    /// does not.
    #[inline(always)]
    pub fn l3_checksum(self) -> Self {
        self.with_option(EthSeg { cs_flags: L3_CSUM, ..NO_OPTIONS })
    }

    /// Has the device fill in the checksum of TCP or UDP; as [`l3_checksum`](Self::l3_checksum).
    #[inline(always)]
    pub fn l4_checksum(self) -> Self {
        self.with_option(EthSeg { cs_flags: L4_CSUM, ..NO_OPTIONS })
    }

    /// Has the device fill in the checksum of the IPv4 header inside of a tunnel. [`l3_checksum`](Self::l3_checksum)
    /// and [`l4_checksum`](Self::l4_checksum) then apply to the outer headers.
    ///
    /// The device finds the inner headers of the tunnels that it knows, and leaves other frames as they are. For other
    /// tunnels, state [where the headers are](Self::header_offsets).
    ///
    /// ```
    /// use blueflame::types::WrId;
    /// use blueflame::wqe;
    ///
    /// // Ethernet, IPv4, UDP, VXLAN, Ethernet, IPv4 and TCP. VXLAN's UDP has no checksum.
    /// let headers = [0; 14 + 20 + 8 + 8 + 14 + 20 + 20];
    /// let frame = wqe::frame().inline_headers(&headers).l3_checksum().inner_l3_checksum().inner_l4_checksum();
    /// let _ = frame.inline(b"an order").signaled(WrId(1));
    /// ```
    ///
    /// # Limits
    /// Posting refuses it if the device finds no tunnel's headers
    /// ([`FrameOffloads::inner_checksums`](crate::wqe::limits::FrameOffloads::inner_checksums)).
    #[doc(alias = "MLX5_ETH_WQE_L3_INNER_CSUM")]
    #[inline(always)]
    pub fn inner_l3_checksum(self) -> Self {
        self.with_option(EthSeg { cs_flags: L3_INNER_CSUM, ..NO_OPTIONS }).needing(FrameOffload::InnerChecksums)
    }

    /// Has the device fill in the checksum of TCP or UDP inside of a tunnel; as
    /// [`inner_l3_checksum`](Self::inner_l3_checksum).
    #[doc(alias = "MLX5_ETH_WQE_L4_INNER_CSUM")]
    #[inline(always)]
    pub fn inner_l4_checksum(self) -> Self {
        self.with_option(EthSeg { cs_flags: L4_INNER_CSUM, ..NO_OPTIONS }).needing(FrameOffload::InnerChecksums)
    }

    /// Tells the device where the headers are ("software parser"), for checksums and large sends in tunnels that it does
    /// not know. Since ConnectX-5 the device uses these offsets for headers that it does not reach by itself (DPDK
    /// `drivers/net/mlx5/mlx5_tx.h`, `txq_mbuf_to_swp`).
    ///
    /// # Limits
    /// Posting refuses it if the device has no such parser, or not for large sends
    /// ([`FrameOffloads::header_offsets`](crate::wqe::limits::FrameOffloads::header_offsets),
    /// [`header_offsets_of_large`](crate::wqe::limits::FrameOffloads::header_offsets_of_large)).
    #[doc(alias("swp_outer_l3_offset", "MLX5DV_SW_PARSING"))]
    #[inline(always)]
    pub fn header_offsets(self, at: HeaderOffsets) -> Self {
        self.with_option(EthSeg { swp_offs: Be32::new(at.offsets), swp_flags: at.flags, ..NO_OPTIONS })
            .needing(FrameOffload::HeaderOffsets)
    }

    /// Gives the frame metadata, which rules of frames that leave can match (register A). It is not part of the frame.
    /// Frames without metadata have 0.
    ///
    /// # Limits
    /// Posting refuses it if rules of the device cannot match metadata
    /// ([`FrameOffloads::metadata`](crate::wqe::limits::FrameOffloads::metadata)).
    #[doc(alias("flow_table_metadata", "metadata_reg_a"))]
    #[inline(always)]
    pub fn metadata(self, metadata: u32) -> Self {
        self.with_option(EthSeg { flow_table_metadata: Be32::new(metadata), ..NO_OPTIONS })
            .needing(FrameOffload::Metadata)
    }
}

impl<'d, O, D> Request<'d, O, D> {
    /// Adds bits to the Ethernet segment.
    #[inline(always)]
    fn with_option(self, option: EthSeg) -> Self {
        let DsWords([first, second]) = option.into();
        self.change(|untyped: &mut Untyped<'d>| {
            let [DsWords(segment), ..] = &mut untyped.segments;
            *segment = [segment[0] | first, segment[1] | second];
        })
    }

    /// Needs an offload of the device.
    #[inline(always)]
    fn needing(self, offload: FrameOffload) -> Self {
        self.change(|untyped| untyped.needs = untyped.needs.and(offload))
    }
}
