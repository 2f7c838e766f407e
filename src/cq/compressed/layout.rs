//! How sessions lie in the ring.
use core::fmt;

use crate::sealed::Sealed;

/// How a queue's completions lie in its ring, as a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Each CQE is one completion.
    #[default]
    None,
    /// [`Basic`].
    Basic,
    /// [`Enhanced`].
    Enhanced,
}

/// How compressed completions lie in the ring (CQC `cqe_compression_layout`). In each, a session takes as many places
/// as it has completions, and the device writes few of them.
///
/// ```text
///  basic      | title: n | 8 mini-CQEs |   |   |   |   |   |   | 8 mini-CQEs | ...     the title is the first of n completions
///                 0            1         2   3   4   5   6   7       8
///
///  enhanced   | title | up to 7 mini-CQEs |   |   | ... | up to 7 mini-CQEs |   | ...  the title is a completion of its own
///                                  0        1   2                 0           1
/// ```
pub trait Layout: Sealed + Copy + fmt::Debug {
    /// `cqe_compression_layout`, 2 bits.
    const LAYOUT: u8;
    /// The layout as a value.
    const COMPRESSION: Compression;
    /// Whether CQEs have the number of their pass over the ring (8 bits), in place of the owner bit.
    #[doc(hidden)]
    const NUMBERED: bool;
}

/// A title says how many completions the session has, and is the first of them. Their mini-CQEs are in arrays of eight:
/// behind the title, and at each place whose distance from the title is a multiple of eight. All ConnectX devices have
/// this layout (Linux `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_decompress_cqes_start`; DPDK
/// `drivers/net/mlx5/mlx5_rx.c`, `mlx5_rx_poll_len`).
#[derive(Clone, Copy, Debug)]
pub enum Basic {}

/// A title is a CQE like any other. Similar completions follow in CQEs of up to seven mini-CQEs, until one is not
/// similar (the same file of Linux, `mlx5e_decompress_enhanced_cqe`; UCX `src/uct/ib/mlx5/ib_mlx5.c`,
/// `uct_ib_mlx5_iface_cqe_unzip`). Verbs cannot request this layout; DevX can (`cmd_hca_cap.enhanced_cqe_compression`).
#[derive(Clone, Copy, Debug)]
pub enum Enhanced {}

impl Sealed for Basic {}
impl Layout for Basic {
    const LAYOUT: u8 = 0;
    const COMPRESSION: Compression = Compression::Basic;
    const NUMBERED: bool = false;
}

impl Sealed for Enhanced {}
impl Layout for Enhanced {
    const LAYOUT: u8 = 1;
    const COMPRESSION: Compression = Compression::Enhanced;
    const NUMBERED: bool = true;
}
