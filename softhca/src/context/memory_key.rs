//! Memory key contexts.

use super::Access;

/// Memory key context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MkeyContext {
    /// PD number.
    pub pd: u32,
    /// Address that the key's users name; equals `addr` unless the region is zero based or has an IOVA of its own.
    pub iova: u64,
    /// Host address of the first byte.
    pub addr: u64,
    /// Bytes.
    pub len: u64,
    /// Rights that the key grants.
    pub access: Access,
}

/// A piece of another key's region, of which the region of an indirect key is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPiece {
    /// The key, which may be indirect itself, or [`crate::memory::NULL_KEY`].
    pub key: u32,
    /// First address of the piece, as users of that key name it.
    pub addr: u64,
    /// Bytes.
    pub len: u64,
}

/// The memory behind a memory key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backing {
    /// Host memory, from [`MkeyContext::addr`] on.
    Memory,
    /// Pieces of other keys' regions, in a row (access mode KLM).
    Pieces(Vec<KeyPiece>),
    /// Pieces of other keys' regions, in a row, all of one length (access mode KSM). Their own lengths do not count.
    EqualPieces {
        /// log2 of the bytes of each piece, up to 31.
        log_bytes: u8,
        /// The pieces.
        pieces: Vec<KeyPiece>,
    },
    /// Pages, as entries of a translation table. Each entry is a host address; its lowest two bits grant rights (1:
    /// reading, 2: writing). UMR may change them. The region begins in the first page where the key's first address
    /// does.
    Pages {
        /// log2 of the bytes of each page, 12 to 31.
        log_bytes: u8,
        /// The entries.
        entries: Vec<u64>,
    },
}

/// The processing hint of a memory key: what its accesses say to the host's caches on PCIe (TPH, PCIe 6.2, section
/// 2.2.7.1). This device records the hint, and no access differs by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TphContext {
    /// Processing hint, 2 bits (`mkc.pcie_tph_ph`): 0, both sides use the data; 1, the device; 2, the host's CPU; 3, the
    /// CPU, soon.
    pub processing_hint: u8,
    /// Index of the steering tag in the function's table (`mkc.pcie_tph_steering_tag_index`); 0: no tag
    /// (`MLX5_MKC_PCIE_TPH_NO_STEERING_TAG_INDEX`).
    pub steering_tag_index: u8,
}
