//! How sessions lie in the ring.

/// How a queue's completions lie in its ring (CQC `cqe_compression_layout`). In both layouts of compressed ones, a
/// session takes as many places as it has completions, and the device writes few of them.
///
/// ```text
///  basic      | title: n | 8 mini-CQEs |   |   |   |   |   |   | 8 mini-CQEs | ...     the title is the first of n completions
///                 0            1         2   3   4   5   6   7       8
///
///  enhanced   | title | up to 7 mini-CQEs |   |   | ... | up to 7 mini-CQEs |   | ...  the title is a completion of its own
///                                  0        1   2                 0           1
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Each CQE is one completion.
    #[default]
    None,
    /// A title says how many completions the session has, and is the first of them. Their mini-CQEs are in arrays of
    /// eight: behind the title, and at each place whose distance from the title is a multiple of eight. All ConnectX
    /// devices have this layout (Linux `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`,
    /// `mlx5e_decompress_cqes_start`; DPDK `drivers/net/mlx5/mlx5_rx.c`, `mlx5_rx_poll_len`).
    Basic,
    /// A title is a CQE like any other. Similar completions follow in CQEs of up to seven mini-CQEs, until one is not
    /// similar (the same file of Linux, `mlx5e_decompress_enhanced_cqe`; UCX `src/uct/ib/mlx5/ib_mlx5.c`,
    /// `uct_ib_mlx5_iface_cqe_unzip`). Each CQE has the number of its pass over the ring (8 bits), in place of the owner
    /// bit. Verbs cannot request this layout; DevX can (`cmd_hca_cap.enhanced_cqe_compression`).
    Enhanced,
}

impl Compression {
    /// The layout of a [queue](crate::cq::mode::Compressed) whose type says [`BASIC`] or [`ENHANCED`].
    #[must_use]
    pub const fn of(enhanced: bool) -> Self {
        if enhanced { Self::Enhanced } else { Self::Basic }
    }
}

/// [`Compression::Basic`], in the type of a [queue](crate::cq::mode::Compressed).
pub const BASIC: bool = false;

/// [`Compression::Enhanced`], in the type of a [queue](crate::cq::mode::Compressed).
pub const ENHANCED: bool = true;
