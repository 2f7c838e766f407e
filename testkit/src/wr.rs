//! A send request as a value. Knows no queue.

use blueflame::types::Srqn;
use blueflame::wqe::address::{CompactAv, DcStream, FullAv};
use blueflame::wqe::atomics::Masked;
use blueflame::wqe::operations::Operation;
use blueflame::wqe::{CompletionMode, DcAddress, Fence, Request, UdAddress, data};
use blueflame::{Qpn, Remote, Rkey, Sge, WrId};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Nothing, with a completion.
    Nop,
    /// A message.
    Send,
    /// A message with immediate data.
    SendImm(u32),
    /// A message that invalidates a key of the peer's.
    SendInval(Rkey),
    /// A WRITE.
    Write(Remote),
    /// A WRITE with immediate data.
    WriteImm(Remote, u32),
    /// A READ.
    Read(Remote),
    /// Compare with the first number, swap the second in.
    CompareSwap(Remote, u64, u64),
    /// Fetch, and add the number.
    FetchAdd(Remote, u64),
    /// A masked atomic.
    Extended(Remote, Extended),
    /// An Ethernet frame: how many bytes of the data are inline headers (0, 18, 34, 42, 66 or 130), and whether the
    /// device computes checksums.
    Frame(usize, bool),
    /// A large send: its inline headers (54, 66, 74 or 130), the same, and the most bytes of payload of a frame.
    LargeFrame(usize, bool, u16),
    /// A datagram, with immediate data or without.
    Datagram(Whom, Option<u32>),
}

impl Kind {
    /// Bytes of the data that are inline headers of a frame.
    #[must_use]
    pub fn inline_headers(&self) -> usize {
        match *self {
            Self::Frame(headers, _) | Self::LargeFrame(headers, ..) => headers,
            _ => 0,
        }
    }
}

/// A masked atomic, of words of 4, 8 or 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extended {
    /// Compare and swap of 4 bytes.
    Swap32 {
        /// What to compare.
        compare: Masked<u32>,
        /// What to store.
        swap: Masked<u32>,
    },
    /// Compare and swap of 8 bytes.
    Swap64 {
        /// What to compare.
        compare: Masked<u64>,
        /// What to store.
        swap: Masked<u64>,
    },
    /// Compare and swap of 16 bytes.
    Swap128 {
        /// What to compare.
        compare: Masked<u128>,
        /// What to store.
        swap: Masked<u128>,
    },
    /// Fetch, and add the fields; the second number has the highest bits of each.
    Add32(u32, u32),
    /// Fetch, and add the fields of 8 bytes; the second number has the highest bits of each.
    Add64(u64, u64),
    /// Fetch, and add the fields of 16 bytes; the second number has the highest bits of each.
    Add128(u128, u128),
}

/// The destination of a datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Whom {
    /// By an address vector of 16 bytes.
    Compact(UdAddress<CompactAv>),
    /// By one of 48 bytes.
    Full(UdAddress<FullAv>),
}

impl Whom {
    /// The queue pair's number.
    #[must_use]
    pub fn qpn(&self) -> Qpn {
        match self {
            Self::Compact(address) => address.qpn(),
            Self::Full(address) => address.qpn(),
        }
    }

    /// The address of queue pair `qpn` on this port.
    #[must_use]
    pub fn with_qpn(&self, qpn: Qpn) -> Self {
        match self {
            Self::Compact(address) => Self::Compact(UdAddress::new(address.vector(), qpn, address.qkey())),
            Self::Full(address) => Self::Full(UdAddress::new(address.vector(), qpn, address.qkey())),
        }
    }
}

/// The target of a request of an initiator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// By an address vector of 16 bytes.
    Compact(DcAddress<CompactAv>),
    /// By one of 48 bytes.
    Full(DcAddress<FullAv>),
    /// By an address vector of 48 bytes, and a stream.
    Stream(DcStream<FullAv>),
    /// By XRC, a shared receive queue of the peer.
    Srq(Srqn),
}

impl Target {
    /// The target's number; `None` if it is none of dynamic connections.
    #[must_use]
    pub fn dctn(&self) -> Option<Qpn> {
        match self {
            Self::Compact(address) => Some(address.dctn()),
            Self::Full(address) => Some(address.dctn()),
            Self::Stream(stream) => Some(stream.address().dctn()),
            Self::Srq(_) => None,
        }
    }
}

/// The data to carry, or the memory for the result.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Bytes in the WQE.
    Inline(Vec<u8>),
    /// Registered memory.
    Sges(Vec<Sge>),
}

impl Data {
    /// The first `len` bytes.
    ///
    /// # Panics
    /// If inline data is shorter.
    ///
    /// # Safety
    /// Entries name memory of this process, which nothing writes meanwhile.
    #[must_use]
    pub unsafe fn head(&self, len: usize) -> Vec<u8> {
        match self {
            Self::Inline(bytes) => bytes[..len].to_vec(),
            Self::Sges(sges) => {
                // SAFETY: the caller promises that entries name memory of this process, which nothing writes meanwhile.
                let bytes = |sge: &Sge| unsafe {
                    let start = core::ptr::with_exposed_provenance::<u8>(sge.addr as usize);
                    core::slice::from_raw_parts(start, sge.length as usize)
                };
                sges.iter().flat_map(bytes).copied().take(len).collect()
            }
        }
    }

    /// The data after the first `skip` bytes.
    ///
    /// # Panics
    /// If inline data is shorter.
    #[must_use]
    pub fn rest(&self, mut skip: usize) -> Self {
        match self {
            Self::Inline(bytes) => Self::Inline(bytes[skip..].to_vec()),
            Self::Sges(sges) => {
                let rest = sges.iter().map(|sge| {
                    let cut = skip.min(sge.length as usize);
                    skip -= cut;
                    Sge { addr: sge.addr + cut as u64, length: sge.length - cut as u32, ..*sge }
                });
                Self::Sges(rest.collect())
            }
        }
    }
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Wr {
    /// What to do.
    pub kind: Kind,
    /// The data to carry, or the memory for the result: one entry of 4, 8 or 16 bytes for an atomic.
    pub data: Data,
    /// Its identifier.
    pub id: u64,
    /// Whether it asks for a completion.
    pub signaled: bool,
    /// Whether an unsignalled request has a completion only for the queue's first error, and not for every error.
    pub first_error_only: bool,
    /// Whether the peer's completion raises a solicited event.
    pub solicited: bool,
    /// Whether it waits for earlier requests.
    pub fence: Fence,
    /// The target, on an initiator.
    pub to: Option<Target>,
}

impl Wr {
    /// A signalled request with no flags.
    #[must_use]
    pub fn new(kind: Kind, data: Data, id: u64) -> Self {
        Self { kind, data, id, signaled: true, first_error_only: false, solicited: false, fence: Fence::None, to: None }
    }

    /// Sends the request to a target.
    #[must_use]
    pub fn to(self, target: Target) -> Self {
        Self { to: Some(target), ..self }
    }

    /// `request` with this one's identifier and flags.
    pub fn flag<'d, O: Operation, D: data::Data>(&self, request: Request<'d, O, D>) -> Request<'d, O, D> {
        let request = if self.first_error_only { request.completion(CompletionMode::OnFirstError) } else { request };
        let request = request.signaled_if(self.signaled, WrId(self.id)).fence(self.fence);
        if self.solicited { request.solicited() } else { request }
    }

    /// Its entries.
    pub(crate) fn sges(&self) -> &[Sge] {
        match &self.data {
            Data::Sges(sges) => sges,
            Data::Inline(_) => panic!("{:?} takes no inline data", self.kind),
        }
    }
}
