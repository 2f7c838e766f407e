//! Builders of frames: their first bytes and their options. Knows no queue.
use super::frame::{Frame, InlineHeaders, L3_CSUM, L4_CSUM};
use super::frame_options::{FrameOptions, Large};
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
    /// Each frame has these headers. The device fills in the lengths, the IPv4 identifications and the TCP sequence
    /// numbers, and takes FIN and PSH from all frames but the last. Ask for the checksums
    /// ([`l3_checksum`](Self::l3_checksum), [`l4_checksum`](Self::l4_checksum)): only the device can compute them. The
    /// request completes once.
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
        self.with_operation(|Frame { headers, cs_flags, options }| {
            let options = Large { mss, others: options };
            Frame { headers, cs_flags, options }
        })
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

    #[inline]
    fn checksum(self, flag: u8) -> Self {
        self.with_operation(|frame| Frame { cs_flags: frame.cs_flags | flag, ..frame })
    }
}
