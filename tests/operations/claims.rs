//! The proof of each operation of each transport. The differential tests also read it: they fail if they have not
//! compared an operation that it claims.

/// The proof of the bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Proof {
    /// libmlx5 writes, or reads, the same.
    Libmlx5,
    /// libmlx5 cannot write it, or copies it from the program. The bytes were worked out by hand from the layout of this
    /// source, or the source wrote them.
    Golden(&'static str),
}

/// Operations of one column of the table that one test proves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    /// The column: a transport, and a form of its addresses.
    pub(crate) column: &'static str,
    /// The proof.
    pub(crate) proof: Proof,
    /// A source file and the test in it.
    pub(crate) test: (&'static str, &'static str),
    /// The rows.
    pub(crate) operations: &'static [&'static str],
}

const SENDS: &str = "tests/differential/sends.rs";
const DATAGRAMS: &str = "tests/differential/datagrams.rs";
const DYNAMIC: &str = "tests/differential/dynamic.rs";
const WINDOWS: &str = "tests/differential/windows.rs";
const KEYS: &str = "tests/differential/key_lists.rs";
const MEMCPY: &str = "tests/differential/memcpy.rs";
const ROWS: &str = "tests/send_queue/rows.rs";
const FRAMES: &str = "tests/differential/ethernet.rs";

const UCX_ITSELF: Proof = Proof::Golden("UCX 1.13.1's own bytes, fetched by the software device");
const UCX_ATOMICS: Proof = Proof::Golden("UCX `src/uct/ib/mlx5/rc/rc_mlx5.inl`, `uct_rc_mlx5_txqp_dptr_post`");
const OFED_ATOMICS: Proof = Proof::Golden("MLNX_OFED 4 libmlx5 `src/qp.c`, `set_ext_atomic_seg`");
const LARGE_ATOMICS: &[&str] = &["MaskedCompareSwap128", "MaskedFetchAdd128"];
const MASKED_ATOMICS: &[&str] = &["MaskedCompareSwap32", "MaskedCompareSwap64", "MaskedFetchAdd32", "MaskedFetchAdd64"];

const CROSS: &str = "tests/send_queue/cross_channel.rs";
const WAITS: &[&str] = &["WaitCqe", "WaitTime", "SendEnable", "RecvEnable"];

/// All that a reliable connection has, and that libmlx5 has.
const RELIABLE: &[&str] = &["Send", "SendImm", "SendInval", "Write", "WriteImm", "Read", "CompareSwap", "FetchAdd"];

/// Operations that lists of random requests (`tests/differential/sends.rs`) have none of: tests of their own compare
/// them with libmlx5, one after the other (`in_turn.rs`). All others that libmlx5 vouches for must be in such lists,
/// often.
pub(crate) const IN_TURN: &[&str] =
    &["BindWindow", "Invalidate", "ConfigureKey", "Memcpy", "SetPsv", "TagAppend", "TagRemove", "TagSync"];

/// The operation of which libmlx5 writes the index alone, because a program gives it the other bytes (`wr_raw_wqe`).
/// Lists of random requests have it as well, often.
pub(crate) const RAW: &str = "Nop";

const fn claim(
    column: &'static str,
    proof: Proof,
    test: (&'static str, &'static str),
    operations: &'static [&'static str],
) -> Claim {
    Claim { column, proof, test, operations }
}

/// The proof of a NOP, which is equal on each transport.
const fn nop(column: &'static str) -> Claim {
    Claim {
        column,
        proof: Proof::Golden("rdma-core `providers/mlx5/mlx5dv.h`, `struct mlx5_wqe_ctrl_seg`; libmlx5 adds the index"),
        test: (ROWS, "nop"),
        operations: &[RAW],
    }
}

/// The proof of requests for memory windows on an initiator.
const fn windows(column: &'static str, test: &'static str) -> Claim {
    Claim { column, proof: Proof::Libmlx5, test: (WINDOWS, test), operations: &["BindWindow", "Invalidate"] }
}

/// All of them.
pub(crate) const CLAIMS: &[Claim] = &[
    nop("RC"),
    nop("UC"),
    nop("XRC"),
    nop("UD"),
    nop("UD, compact"),
    nop("DCI"),
    nop("DCI, compact"),
    nop("DCI with streams"),
    nop("raw packets"),
    claim("RC", Proof::Libmlx5, (SENDS, "reliable_connections"), RELIABLE),
    claim("RC", Proof::Libmlx5, (WINDOWS, "on_reliable_connections"), &["BindWindow", "Invalidate"]),
    windows("XRC", "on_xrc_initiators"),
    windows("DCI", "on_dynamic_initiators"),
    windows("DCI, compact", "on_dynamic_initiators"),
    windows("DCI with streams", "on_dynamic_initiators_with_streams"),
    claim("RC", Proof::Libmlx5, (KEYS, "lists_and_interleaved"), &["ConfigureKey"]),
    claim("RC", Proof::Libmlx5, (MEMCPY, "on_reliable_connections"), &["Memcpy"]),
    claim("DCI", Proof::Libmlx5, (MEMCPY, "of_initiators"), &["Memcpy"]),
    claim("DCI, compact", Proof::Libmlx5, (MEMCPY, "of_initiators"), &["Memcpy"]),
    claim("DCI with streams", Proof::Libmlx5, (MEMCPY, "of_initiators_with_streams"), &["Memcpy"]),
    claim(
        "RC",
        Proof::Libmlx5,
        ("tests/differential/signatures.rs", "keys_are_configured_and_errors_told_alike"),
        &["SetPsv"],
    ),
    claim(
        "RC",
        Proof::Golden(
            "DPDK `drivers/common/mlx5/mlx5_prm.h`, `mlx5_wqe_qseg`, `mlx5_wqe_wseg`; MLNX_OFED 4.3 libmlx5 \
            `src/qp.c`, `set_wait_en_seg`",
        ),
        (CROSS, "on_reliable_connections"),
        WAITS,
    ),
    claim(
        "RC",
        Proof::Golden(
            "UCC `src/components/tl/mlx5/tl_mlx5_wqe.c`, `ucc_tl_mlx5_post_wait_on_data`; NVIDIA's \
            post-wait-on-data-wqe `src/post_wod_wqe.c`",
        ),
        (CROSS, "for_a_word_of_memory"),
        &["WaitData"],
    ),
    claim(
        "RC",
        Proof::Golden("DOCA `doca_gpunetio_dev_verbs_qp.cuh`, `doca_gpu_dev_verbs_wqe_prepare_dump`"),
        (CROSS, "on_reliable_connections"),
        &["Dump"],
    ),
    claim(
        "RC",
        Proof::Libmlx5,
        ("tests/differential/tags/operations.rs", "operations_on_lists"),
        &["TagAppend", "TagRemove", "TagSync"],
    ),
    claim(
        "raw packets",
        Proof::Golden(
            "DPDK `drivers/net/mlx5/mlx5_txpp.c`, `mlx5_txpp_fill_wqe_rearm_queue`; `mlx5_wqe_wseg` of `mlx5_prm.h`",
        ),
        (CROSS, "on_raw_packets"),
        WAITS,
    ),
    claim(
        "raw packets",
        Proof::Golden("Linux `drivers/net/ethernet/mellanox/mlx5/core/en_accel/ktls_tx.c`, `struct mlx5e_dump_wqe`"),
        (CROSS, "on_raw_packets"),
        &["Dump"],
    ),
    claim("UC", Proof::Libmlx5, (WINDOWS, "on_unreliable_connections"), &["BindWindow", "Invalidate"]),
    claim("UC", Proof::Libmlx5, (SENDS, "unreliable_connections"), &["Send", "SendImm", "Write", "WriteImm"]),
    claim("XRC", Proof::Libmlx5, ("tests/differential/xrc.rs", "initiators"), RELIABLE),
    claim("UD", Proof::Libmlx5, (DATAGRAMS, "on_infiniband"), &["Send", "SendImm"]),
    claim(
        "UD, compact",
        UCX_ITSELF,
        ("tests/send_queue/datagrams.rs", "ucx_writes_the_same_after_a_compact_address"),
        &["Send"],
    ),
    claim(
        "UD, compact",
        Proof::Golden("UCX `src/uct/ib/mlx5/ib_mlx5.h`, `mlx5_base_av`"),
        (ROWS, "as_datagrams"),
        &["SendImm"],
    ),
    claim("DCI", Proof::Libmlx5, (DYNAMIC, "on_infiniband"), RELIABLE),
    claim(
        "DCI, compact",
        UCX_ITSELF,
        ("tests/send_queue/dynamic.rs", "ucx_writes_the_same_after_a_compact_address"),
        &["Send", "Write", "Read"],
    ),
    claim(
        "DCI, compact",
        Proof::Golden(
            "UCX `src/uct/ib/mlx5/rc/rc_mlx5.inl`, `uct_rc_mlx5_txqp_dptr_post`; if all operands are 0, also UCX 1.13.1's \
            own bytes (`ucx_writes_the_same_after_a_compact_address`)",
        ),
        (ROWS, "for_dynamic_targets"),
        &["CompareSwap", "FetchAdd"],
    ),
    claim(
        "DCI, compact",
        Proof::Golden("UCX `src/uct/ib/mlx5/dc/dc_mlx5_ep.c`, `uct_dc_mlx5_set_dgram_seg`"),
        (ROWS, "for_dynamic_targets"),
        &["SendImm", "SendInval", "WriteImm"],
    ),
    claim("DCI with streams", Proof::Libmlx5, (DYNAMIC, "streams"), RELIABLE),
    claim("RC", UCX_ATOMICS, (ROWS, "on_connections"), MASKED_ATOMICS),
    claim("XRC", UCX_ATOMICS, (ROWS, "for_shared_receive_queues"), MASKED_ATOMICS),
    claim("DCI", UCX_ATOMICS, (ROWS, "for_dynamic_targets"), MASKED_ATOMICS),
    claim("DCI, compact", UCX_ATOMICS, (ROWS, "for_dynamic_targets"), MASKED_ATOMICS),
    claim("DCI with streams", UCX_ATOMICS, (ROWS, "for_dynamic_targets"), MASKED_ATOMICS),
    claim("RC", OFED_ATOMICS, (ROWS, "on_connections"), LARGE_ATOMICS),
    claim("XRC", OFED_ATOMICS, (ROWS, "for_shared_receive_queues"), LARGE_ATOMICS),
    claim("DCI", OFED_ATOMICS, (ROWS, "for_dynamic_targets"), LARGE_ATOMICS),
    claim("DCI, compact", OFED_ATOMICS, (ROWS, "for_dynamic_targets"), LARGE_ATOMICS),
    claim("DCI with streams", OFED_ATOMICS, (ROWS, "for_dynamic_targets"), LARGE_ATOMICS),
    claim("raw packets", Proof::Libmlx5, (FRAMES, "inline_headers"), &["Frame"]),
];
