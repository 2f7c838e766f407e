//! The memory that a WQE sends from, or fetches into.

use smallvec::SmallVec;

/// Memory of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSeg {
    /// Bytes, 1 to 2^31: a byte count of 0 in the ring has been decoded as 2^31.
    pub len: u32,
    /// Key.
    pub lkey: u32,
    /// Address, as the key's context names it.
    pub addr: u64,
}

/// Data segments of a WQE, in order. One or two, as most WQEs have, are not allocated.
pub type DataSegs = SmallVec<[DataSeg; 2]>;

/// The data that a send WQE sends, or the buffers that it fetches into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// By reference.
    Segs(DataSegs),
    /// The bytes themselves, copied out of the ring.
    Inline(Vec<u8>),
    /// Both, or several pieces of inline data, one after the other: UCX sends its header inline and its user's data by
    /// reference.
    Mixed(Vec<Part>),
}

impl Default for Payload {
    fn default() -> Self {
        Self::Segs(DataSegs::new())
    }
}

/// One data segment of a send WQE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// By reference.
    Seg(DataSeg),
    /// The bytes themselves.
    Inline(Vec<u8>),
}

impl Part {
    /// Bytes.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Seg(seg) => u64::from(seg.len),
            Self::Inline(bytes) => bytes.len() as u64,
        }
    }
}

impl Payload {
    /// Bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::Segs(segs) => segs.iter().map(|s| u64::from(s.len)).sum(),
            Self::Inline(bytes) => bytes.len() as u64,
            Self::Mixed(parts) => parts.iter().map(Part::bytes).sum(),
        }
    }

    /// Bytes of each segment.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = u64> {
        self.split().into_iter().map(|part| part.bytes())
    }

    /// The segment with this index.
    pub(crate) fn part(&self, index: usize) -> Option<Part> {
        match self {
            Self::Segs(segs) => segs.get(index).map(|&seg| Part::Seg(seg)),
            Self::Inline(bytes) => (index == 0).then(|| Part::Inline(bytes.clone())),
            Self::Mixed(parts) => parts.get(index).cloned(),
        }
    }

    /// The segments, one by one.
    pub(crate) fn split(&self) -> Vec<Part> {
        match self {
            Self::Segs(segs) => segs.iter().map(|&seg| Part::Seg(seg)).collect(),
            Self::Inline(bytes) => vec![Part::Inline(bytes.clone())],
            Self::Mixed(parts) => parts.clone(),
        }
    }

    /// No bytes at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
