//! Builders of frames: their first bytes and their options. Knows no queue.
use super::frame::{Frame, InlineHeaders, L3_CSUM, L3_INNER_CSUM, L4_CSUM, L4_INNER_CSUM};
use super::frame_options::{FrameOptions, InnerChecksums, Large, Metadata, Parsed};
use super::header_offsets::HeaderOffsets;
use super::service::Operation;
use crate::transport::MIN_INLINE_HEADERS;
use crate::types::Ds;
use crate::wqe::payload::Empty;
use crate::wqe::request::Request;

/// A frame of no bytes. Add its headers with [`Request::inline_headers`], and the rest with [`Request::gather`] or
/// [`Request::inline`]. If the device needs no inline headers, these can add the whole frame.
#[doc(alias = "IBV_QPT_RAW_PACKET")]
#[inline]
pub const fn frame() -> Request<Frame> {
    Request::new(Frame { headers: (), cs_flags: 0, options: () }, Empty)
}

impl<X, P> Request<Frame<(), X>, P> {
    /// Puts the frame's first bytes into the Ethernet segment: `[u8; N]` or `&[u8; N]`. The length is at least
    /// [`MIN_INLINE_HEADERS`], and at most 978 bytes, which a WQE of [`Ds::MAX`] has room for.
    #[inline]
    pub fn inline_headers<H: InlineHeaders>(self, headers: H) -> Request<Frame<H, X>, P>
    where
        X: FrameOptions,
    {
        const {
            assert!(H::BYTES >= MIN_INLINE_HEADERS, "inline headers are at least 18 bytes");
            assert!(<Frame<H, X> as Operation>::DS < Ds::MAX as usize, "inline headers are at most 978 bytes");
        }
        self.with_operation(|frame| frame.with(headers))
    }
}

impl<H, X, P> Request<Frame<H, X>, P> {
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
    ///     // SAFETY: the caller's.
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
    #[inline]
    pub fn large(self, mss: u16) -> Request<Frame<H, Large<X>>, P>
    where
        H: InlineHeaders,
    {
        const { assert!(H::BYTES >= MIN_INLINE_HEADERS, "a large send has all its headers inline") }
        self.with_option(|others| Large { mss, others })
    }

    /// Has the device fill in the checksum of the IPv4 header. `IBV_SEND_IP_CSUM` is this and
    /// [`l4_checksum`](Self::l4_checksum) together.
    ///
    /// The device must have the offload (`IBV_DEVICE_RAW_IP_CSUM` of its capabilities). libmlx5 queries it; this crate
    /// does not.
    #[inline]
    pub fn l3_checksum(self) -> Self {
        self.checksum(L3_CSUM)
    }

    /// Has the device fill in the checksum of TCP or UDP; as [`l3_checksum`](Self::l3_checksum).
    #[inline]
    pub fn l4_checksum(self) -> Self {
        self.checksum(L4_CSUM)
    }

    /// Has the device fill in the checksum of the IPv4 header inside of a tunnel. [`l3_checksum`](Self::l3_checksum) and
    /// [`l4_checksum`](Self::l4_checksum) then are of the outer headers.
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
    #[inline]
    pub fn inner_l3_checksum(self) -> Request<Frame<H, InnerChecksums<X>>, P> {
        self.with_option(|others| InnerChecksums { flags: L3_INNER_CSUM, others })
    }

    /// Has the device fill in the checksum of TCP or UDP inside of a tunnel; as
    /// [`inner_l3_checksum`](Self::inner_l3_checksum).
    #[doc(alias = "MLX5_ETH_WQE_L4_INNER_CSUM")]
    #[inline]
    pub fn inner_l4_checksum(self) -> Request<Frame<H, InnerChecksums<X>>, P> {
        self.with_option(|others| InnerChecksums { flags: L4_INNER_CSUM, others })
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
    #[inline]
    pub fn header_offsets(self, at: HeaderOffsets) -> Request<Frame<H, Parsed<X>>, P> {
        self.with_option(|others| Parsed { at, others })
    }

    /// Gives the frame metadata, which rules of frames that leave can match (register A). It is not part of the frame.
    /// Frames without metadata have 0.
    ///
    /// # Limits
    /// Posting refuses it if rules of the device cannot match metadata
    /// ([`FrameOffloads::metadata`](crate::wqe::limits::FrameOffloads::metadata)).
    #[doc(alias("flow_table_metadata", "metadata_reg_a"))]
    #[inline]
    pub fn metadata(self, metadata: u32) -> Request<Frame<H, Metadata<X>>, P> {
        self.with_option(|others| Metadata { metadata, others })
    }

    /// The same frame with another option around its options.
    #[inline]
    fn with_option<Y>(self, option: impl FnOnce(X) -> Y) -> Request<Frame<H, Y>, P> {
        self.with_operation(|Frame { headers, cs_flags, options }| {
            let options = option(options);
            Frame { headers, cs_flags, options }
        })
    }

    #[inline]
    fn checksum(self, flag: u8) -> Self {
        self.with_operation(|frame| Frame { cs_flags: frame.cs_flags | flag, ..frame })
    }
}
