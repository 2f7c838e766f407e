//! Numbers that the device and the driver exchange, one type each, so that a key cannot be passed for a queue number.
//!
//! Indices that wrap ([`SqPi`], [`CqCi`]) have no `Ord`: `a < b` means nothing for them.

/// A number of 24 bits. Constructors take any `u32` and say whether it fits.
macro_rules! number24 {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The largest value, 2^24 - 1.
            pub const MAX: u32 = 0x00ff_ffff;

            /// `None` if `value` does not fit 24 bits.
            #[must_use]
            pub const fn new(value: u32) -> Option<Self> {
                if value <= Self::MAX { Some(Self(value)) } else { None }
            }

            /// The low 24 bits of `value`.
            #[inline]
            #[must_use]
            pub const fn truncate(value: u32) -> Self {
                Self(value & Self::MAX)
            }

            /// The number, at most [`Self::MAX`].
            #[inline]
            #[must_use]
            pub const fn get(self) -> u32 {
                self.0
            }
        }
    };
}

number24! {
    /// Queue pair number (PRM "QPN"), 24 bits.
    Qpn
}
number24! {
    /// Completion queue number (PRM "CQN"), 24 bits.
    Cqn
}
number24! {
    /// Shared receive queue number (PRM "SRQN"), 24 bits.
    Srqn
}
number24! {
    /// Number of a protection signature value (PRM "PSV"), 24 bits.
    Psv
}
number24! {
    /// Number of a key of encryption (PRM "DEK"), 24 bits.
    Dek
}
number24! {
    /// Packet sequence number (IBTA vol. 1, 9.7.2), 24 bits, wraps.
    Psn
}
number24! {
    /// Consumer index of a completion queue: counts CQEs, wraps at 2^24 (PRM "CQ consumer counter").
    CqCi
}

impl CqCi {
    /// The index `n` CQEs later.
    #[inline]
    #[must_use]
    pub const fn add(self, n: u32) -> Self {
        Self::truncate(self.0.wrapping_add(n))
    }
}

/// Producer index of a send queue: counts WQEBBs (64-byte blocks), and wraps at 2^16 for rings of every size
/// (rdma-core `providers/mlx5/qp.c`, `cur_post & 0xffff`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SqPi(pub u16);

impl SqPi {
    /// The index `n` WQEBBs later.
    #[inline]
    #[must_use]
    pub const fn add(self, n: Wqebbs) -> Self {
        Self(self.0.wrapping_add(n.0))
    }

    /// The index `n` WQEBBs earlier.
    #[inline]
    #[must_use]
    pub const fn sub(self, n: Wqebbs) -> Self {
        Self(self.0.wrapping_sub(n.0))
    }

    /// How many WQEBBs `self` is past `earlier`.
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Self) -> Wqebbs {
        Wqebbs(self.0.wrapping_sub(earlier.0))
    }
}

/// A count of WQEBBs, the 64-byte basic blocks of a send queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wqebbs(pub u16);

/// Bytes in one WQEBB (rdma-core `MLX5_SEND_WQE_BB`).
#[doc(alias = "MLX5_SEND_WQE_BB")]
pub const WQEBB_BYTES: usize = 64;

/// DS of one WQEBB.
pub(crate) const WQEBB_DS: usize = WQEBB_BYTES / DS_BYTES;

/// Bytes in one DS, the unit of WQE sizes (PRM "DS").
pub const DS_BYTES: usize = 16;

/// The size of a WQE in DS, control segment included: 1 to 63 (six bits in the control segment).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ds(pub u8);

impl Ds {
    /// The largest WQE that the control segment can describe: 63 DS, 1008 bytes.
    pub const MAX: u8 = 63;

    /// How many WQEBBs a WQE of this size takes.
    #[inline]
    #[must_use]
    pub const fn wqebbs(self) -> Wqebbs {
        // Rounded up, without `div_ceil`, which takes twice the instructions.
        Wqebbs((self.0 as u16 + 3) >> 2)
    }
}

/// Local key of a memory region, as the WQE's data segment carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Lkey(pub u32);

/// Remote key of a memory region, as the WQE's remote address segment carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rkey(pub u32);

/// Key of the datagrams that a queue pair accepts (IBTA vol. 1, 10.2.4). If a request's Q_Key has bit 31 set, the
/// sender's own key is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Qkey(pub u32);

/// Access key of a DCT: it serves the requests that carry it (PRM "dc_access_key").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DcKey(pub u64);

/// A stream of an initiator's requests (PRM "dci_stream_channel_id"). When it fails, the other streams go on. Any
/// number is valid: a queue pair's number of streams says how many the device works on at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DciStream(pub u16);

/// An entry of a list of tagged buffers that a device compares messages with (PRM "append_next_index").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TagIndex(pub u16);

/// The application's identifier of a request, handed back with its completion (`ibv_send_wr::wr_id`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WrId(pub u64);
