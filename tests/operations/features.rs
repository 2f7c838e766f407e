//! The features of the data path that are no rows of the table, each with its proof.

use crate::claims::Proof;

/// A feature, of one operation or several.
pub(crate) struct Feature {
    /// Part of the data path.
    pub(crate) area: &'static str,
    /// What it is.
    pub(crate) what: &'static str,
    /// Its proof.
    pub(crate) proof: Proof,
    /// A source file and the test in it.
    pub(crate) test: (&'static str, &'static str),
}

const fn by_libmlx5(area: &'static str, what: &'static str, file: &'static str, test: &'static str) -> Feature {
    Feature { area, what, proof: Proof::Libmlx5, test: (file, test) }
}

const fn golden(
    area: &'static str,
    what: &'static str,
    source: &'static str,
    file: &'static str,
    test: &'static str,
) -> Feature {
    Feature { area, what, proof: Proof::Golden(source), test: (file, test) }
}

const SENDS: &str = "tests/differential/sends.rs";
const DATAGRAMS: &str = "tests/differential/datagrams.rs";
const DYNAMIC: &str = "tests/differential/dynamic.rs";
const RECEIVES: &str = "tests/differential/shared_receives.rs";
const COMPRESSED: &str = "tests/completion/compressed/by_hand.rs";
const SIGNATURES: &str = "tests/differential/signatures.rs";
const ALIKE: &str = "keys_are_configured_and_errors_told_alike";
const TAGS: &str = "tests/differential/tags/completions.rs";
const STATUSES: &str = "tests/differential/statuses.rs";
const EXTENDED: &str = "tests/differential/extended.rs";

/// All of them, by area.
pub(crate) const FEATURES: &[Feature] = &[
    by_libmlx5("doorbells", "BlueFlame copies and 8-byte doorbells", SENDS, "blueflame_for_inline_requests_only"),
    by_libmlx5("doorbells", "8-byte doorbells alone", SENDS, "blueflame_not_at_all"),
    by_libmlx5("send queues", "the index around 2^16", SENDS, "the_index_wraps"),
    by_libmlx5("send queues", "the index of datagrams around 2^16", DATAGRAMS, "the_index_wraps"),
    by_libmlx5("send queues", "the index of initiators around 2^16", DYNAMIC, "the_index_wraps"),
    golden(
        "send queues",
        "completion modes: on error, on the first error, always",
        "DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_COMP_*`",
        "tests/send_queue/golden.rs",
        "completion_modes",
    ),
    golden(
        "send queues",
        "inline data and gathered data in one request",
        "UCX 1.13.1's own bytes, fetched by the software device",
        "tests/send_queue/golden.rs",
        "ucx_writes_the_same_of_inline_data_and_what_follows",
    ),
    golden(
        "send queues",
        "several Ethernet frames in one WQE, inline and by pointer",
        "DPDK `mlx5_tx_burst_empw_simple`, Linux `mlx5e_xdp_mpwqe_add_dseg`",
        "tests/send_queue/multi_packet.rs",
        "both_kinds_of_frames_are_the_bytes_of_linux",
    ),
    by_libmlx5(
        "send queues",
        "large sends (`IBV_WR_TSO`)",
        "tests/differential/large_sends.rs",
        "large_sends_are_libmlx5s",
    ),
    golden(
        "send queues",
        "frames in tunnels: checksums of inner headers",
        "Linux `mlx5e_txwqe_build_eseg_csum`, DPDK `mlx5_set_cksum_table`",
        "tests/send_queue/offloads.rs",
        "checksums_of_inner_headers_are_the_flags_of_linux_and_dpdk",
    ),
    golden(
        "send queues",
        "frames in tunnels: offsets of headers (software parser)",
        "Linux `mlx5e_set_eseg_swp`, DPDK `txq_mbuf_to_swp`",
        "tests/send_queue/offloads.rs",
        "offsets_of_headers_are_the_bytes_of_linux_and_dpdk",
    ),
    golden(
        "send queues",
        "metadata of frames",
        "Linux `struct mlx5_wqe_eth_seg`, DPDK `mlx5_tx_eseg_none`",
        "tests/send_queue/offloads.rs",
        "metadata_is_where_linux_and_dpdk_have_it",
    ),
    by_libmlx5(
        "send queues",
        "WQE signatures, one by one and in batches, on every service except raw packets",
        SENDS,
        "signed_wqes",
    ),
    by_libmlx5("receive queues", "WQE signatures, of one receive at a time", SENDS, "signed_wqes"),
    by_libmlx5("addresses", "vectors made without asking libibverbs", DATAGRAMS, "address_vectors_are_made_alike"),
    by_libmlx5("addresses", "the address of a datagram's sender", DATAGRAMS, "answers_go_where_libibverbs_sends_them"),
    golden(
        "memory keys",
        "lists in memory",
        "Linux `drivers/infiniband/hw/mlx5/wr.c`, `set_reg_wr`",
        "tests/send_queue/key_lists.rs",
        "a_list_in_memory_is_a_data_segment",
    ),
    by_libmlx5("memory keys", "encryption: AES-XTS", "tests/differential/encryption.rs", "keys_encrypt_alike"),
    by_libmlx5(
        "memory keys",
        "encryption and signatures, in either order",
        "tests/differential/formats.rs",
        "keys_sign_and_encrypt_alike",
    ),
    by_libmlx5("memory keys", "block signatures: T10-DIF, CRC32, CRC32C, CRC64-XP10", SIGNATURES, ALIKE),
    by_libmlx5("completions", "signature errors, as `mlx5dv_mkey_check` reports them", SIGNATURES, ALIKE),
    by_libmlx5("shared receive queues", "rings and free lists", RECEIVES, "rings_and_free_lists_are_equal"),
    by_libmlx5("completions", "fields of each completion, polled by both", SENDS, "reliable_connections"),
    by_libmlx5("completions", "every field that `ibv_wc_read_*` reads from any CQE", EXTENDED, "any_fields"),
    by_libmlx5(
        "completions",
        "every field of a frame's CQE: flow tag, VLAN, checksums",
        EXTENDED,
        "any_fields_of_frames",
    ),
    by_libmlx5(
        "completion queues",
        "resized in use: unpolled CQEs are carried over",
        "tests/differential/resize.rs",
        "what_waits_is_carried_over_alike",
    ),
    by_libmlx5("timestamps", "nanoseconds of a free-running clock, with any clock page", EXTENDED, "any_fields"),
    by_libmlx5("timestamps", "the clock page, even if it changes meanwhile", EXTENDED, "the_clock_page_is_read_alike"),
    by_libmlx5("timestamps", "seconds and nanoseconds of queues with real time", EXTENDED, "any_real_time"),
    by_libmlx5("completions", "every syndrome has libmlx5's status", STATUSES, "every_syndrome_has_one_status"),
    by_libmlx5(
        "completions",
        "tag matching: operations on lists, matches, and messages without a match",
        TAGS,
        "any_completions",
    ),
    by_libmlx5("completions", "arming for events", "tests/differential/events.rs", "arming_stores_the_same"),
    golden(
        "completions",
        "fields that libmlx5 does not report",
        "rdma-core `providers/mlx5/mlx5dv.h`, `struct mlx5_cqe64`",
        "tests/completion/fields.rs",
        "fields_are_where_the_prm_has_them",
    ),
    golden(
        "compressed completions",
        "basic layout",
        "Linux `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`",
        COMPRESSED,
        "basic_as_linux_reads_it",
    ),
    golden(
        "compressed completions",
        "enhanced layout",
        "Linux `en_rx.c`; UCX `src/uct/ib/mlx5/ib_mlx5.c`",
        COMPRESSED,
        "enhanced_as_linux_and_ucx_read_it",
    ),
    golden(
        "compressed completions",
        "mini-CQEs with hash, checksum, flow tag, stride, headers",
        "DPDK `drivers/net/mlx5/mlx5_rx.c`, `drivers/common/mlx5/mlx5_prm.h`",
        COMPRESSED,
        "formats_as_dpdk_reads_them",
    ),
];
