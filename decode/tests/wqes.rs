//! WQEs that `tests/differential` does not have libmlx5 write: bytes put together by hand, as the drivers named do it.
//!
//! Requests by hand belong here. Requests that libmlx5 can write belong in `tests/differential` of the workspace.

use blueflame_decode::{Input, Options, Record, Transport, decode};

/// Bytes of the digits in `parts`.
fn bytes(parts: &[&str]) -> Vec<u8> {
    let digits: Vec<_> = parts.concat().chars().filter(|c| !c.is_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).expect("digits")).collect()
}

fn wqe(parts: &[&str], transport: Option<Transport>) -> Record {
    let options = Options { input: Input::Wqe, binary: true, transport, ..Options::default() };
    let mut report = decode(&bytes(parts), &options);
    assert_eq!(report.records.len(), 1, "{report}");
    report.records.remove(0)
}

fn names(record: &Record) -> Vec<&str> {
    record.parts.iter().map(|part| part.name.as_ref()).collect()
}

/// A field by its segment and its name.
fn number(record: &Record, part: &str, field: &str) -> Option<u64> {
    let part = record.part(part)?;
    part.fields.iter().find(|found| found.name == field)?.value.number()
}

/// A control segment of queue pair 0x12, WQE 1, with a CQE.
fn ctrl(opmod_and_opcode: (u8, u8), ds: u8, imm: u32) -> String {
    let (opmod, opcode) = opmod_and_opcode;
    format!("{opmod:02x} 0001 {opcode:02x} 000012 {ds:02x} 00 0000 08 {imm:08x}")
}

const DATA: &str = "00000100 00000200 00007f0000001000";

/// rdma-core `providers/mlx5/qp.c`, `set_bind_wr` with nothing to bind: IBV_WR_LOCAL_INV of a window of type 2.
#[test]
fn local_invalidate() {
    let umr = "98 000000 0000 0000 0000000020006000";
    let zeros = "00".repeat(32);
    let mkey = format!("40 00 00 00 ffffff55 {}", "00".repeat(56));
    let record = wqe(&[&ctrl((0, 0x25), 8, 0x1234_5655), umr, &zeros, &mkey], None);
    assert_eq!(names(&record), ["mlx5_wqe_ctrl_seg", "mlx5_wqe_umr_ctrl_seg", "mlx5_wqe_mkey_context_seg"]);
    assert_eq!(number(&record, "mlx5_wqe_ctrl_seg", "imm"), Some(0x1234_5655));
    let flags = &record.parts[1].fields[0];
    assert_eq!(flags.meaning.as_deref(), Some("INLINE | TRNSLATION_OFFSET | CHECK_QPN"));
    let mask = record.parts[1].fields.iter().find(|field| field.name == "mkey_mask").expect("the mask");
    assert_eq!(mask.meaning.as_deref(), Some("MKEY | QPN | FREE"));
    assert_eq!((record.notes.len(), number(&record, "mlx5_wqe_mkey_context_seg", "qpn_mkey")), (0, Some(0xffff_ff55)));
}

/// rdma-core `providers/mlx5/qp.c`, `set_bind_wr` with a range: one KLM, padded to 64 bytes.
#[test]
fn bind_a_window() {
    let umr = format!("b0 000000 0004 0000 00000000203c6041 {}", "00".repeat(32));
    let mkey = format!("00 00 34 00 00001234 00000000 00000000 0000700000000000 0000000000001000 {}", "00".repeat(32));
    let klm = format!("00001000 00000400 0000700000000000 {}", "00".repeat(48));
    let record = wqe(&[&ctrl((0, 0x25), 12, 0), &umr, &mkey, &klm], None);
    let all = ["mlx5_wqe_ctrl_seg", "mlx5_wqe_umr_ctrl_seg", "mlx5_wqe_mkey_context_seg", "mlx5_wqe_umr_klm_seg"];
    assert_eq!(names(&record), all);
    assert_eq!(number(&record, all[3], "mkey"), Some(0x400));
    assert_eq!(number(&record, all[3], "byte_count"), Some(0x1000));
    let access = record.parts[2].fields.iter().find(|field| field.name == "access_flags").expect("access");
    assert_eq!(access.meaning.as_deref(), Some("REMOTE_WRITE | REMOTE_READ | LOCAL_READ"));
}

/// rdma-core `providers/mlx5/qp.c`, `mlx5_umr_fill_sig_bsf` and `mlx5_umr_fill_crypto_bsf`: T10-DIFs on the wire,
/// CRC32C in memory, and AES-XTS, behind one KLM.
#[test]
fn formats_behind_a_key() {
    let umr = format!("80 000000 0004 0008 0000000020001001 {}", "00".repeat(32));
    let mkey = format!("00 00 10 00 ffffff78 00000000 44000000 {}", "00".repeat(48));
    let klm = format!("00001000 00000400 0000700000000000 {}", "00".repeat(48));
    let signature = format!("c0 c1 02 03 ffffffff 00010203 430a0b0c {}", "00".repeat(16));
    let inline = format!("c000 5152 61626364 02 88 000000 42 ffff {}", "00".repeat(16));
    let crypto = format!("c1 01 00 00 ffffffff 01 {} {} 00123456 00000000", "00".repeat(7), "5a".repeat(16));
    let crypto = format!("{crypto} 0102030405060708 {}", "00".repeat(16));
    let record = wqe(&[&ctrl((0, 0x25), 20, 0x55), &umr, &mkey, &klm, &signature, &inline, &crypto], None);
    assert_eq!(names(&record).split_off(4), ["mlx5_bsf", "mlx5_crypto_bsf"]);
    let meaning = |part: &str, name: &str| {
        let part = record.parts.iter().find(|found| found.name == part).expect("the part");
        part.fields.iter().find(|field| field.name == name).and_then(|field| field.meaning.clone())
    };
    for (name, value) in [("w_bfs_psv:psv", 0x10203), ("m_bfs_psv:bfs", 0x43), ("w_inl:dif_reftag", 0x6162_6364)] {
        assert_eq!(number(&record, "mlx5_bsf", name), Some(value));
    }
    for (name, text) in [
        ("mem:bs_selector", "blocks of 4096 bytes"),
        ("w_inl:vld_refresh", "VALID | REFRESH_DIF"),
        ("w_inl:sig_type", "MLX5_T10DIF_IPCS"),
        ("w_inl:rp_inv_seed", "REPEAT_BLOCK | SEED"),
        ("w_inl:dif_inc_ref_guard_check", "INC_REFTAG | APPREF_ESCAPE"),
    ] {
        assert_eq!(meaning("mlx5_bsf", name).as_deref(), Some(text));
    }
    assert_eq!(number(&record, "mlx5_crypto_bsf", "rsvd_dek_ptr:dek"), Some(0x12_3456));
    let order = meaning("mlx5_crypto_bsf", "enc_order");
    assert_eq!(order.as_deref(), Some("MLX5_ENCRYPTION_ORDER_ENCRYPTED_MEMORY_SIGNATURE"));
}

/// rdma-core `providers/mlx5/qp.c`, `umr_strided_seg_create`: a repeat block of two entries, padded.
#[test]
fn an_interleaved_key() {
    let umr = format!("80 000000 0004 0000 0000000000000001 {}", "00".repeat(32));
    let block = "00000080 00000400 00000010 0000 0002";
    let entries = "0100 0040 00000300 0000700000000000  0200 0040 00000400 0000710000000000";
    let padding = "00".repeat(16);
    let record = wqe(&[&ctrl((0, 0x25), 12, 0x55), &umr, &"00".repeat(64), block, entries, &padding], None);
    let last: Vec<_> = names(&record).split_off(3);
    assert_eq!(last, ["mlx5_wqe_umr_repeat_block_seg", "mlx5_wqe_umr_repeat_ent_seg", "mlx5_wqe_umr_repeat_ent_seg"]);
    assert_eq!(number(&record, last[0], "repeat_count"), Some(16));
    assert_eq!(record.parts[5].fields[0].value.number(), Some(0x200));
}

/// UCX `src/uct/ib/mlx5/ib_mlx5_log.c`: bit 3 of the modifier, and below it the operands' size.
#[test]
fn masked_atomics() {
    let raddr = "00007f0000000000 00000300 00000000";
    let operands = "0000000000000001 0000000000000002 0000000000000003 0000000000000004";
    let swap = wqe(&[&ctrl((9, 0x14), 5, 0), raddr, operands, DATA], Some(Transport::Rc));
    let parts = ["mlx5_wqe_ctrl_seg", "mlx5_wqe_raddr_seg", "mlx5_wqe_masked_atomic_seg", "mlx5_wqe_data_seg"];
    assert_eq!(names(&swap), parts);
    assert_eq!(
        ["swap_add", "compare", "swap_add_mask", "compare_mask"].map(|name| swap.number(name)),
        [1, 2, 3, 4].map(Some)
    );
    let add = wqe(&[&ctrl((8, 0x15), 4, 0), raddr, "00000005 80000000 0000000000000000", DATA], Some(Transport::Rc));
    assert_eq!((add.number("add"), add.number("boundary"), add.parts.len()), (Some(5), Some(0x8000_0000), 4));
    let add = wqe(&[&ctrl((10, 0x15), 5, 0), raddr, operands, DATA], Some(Transport::Rc));
    assert_eq!(names(&add)[2..], ["masked fetch-and-add segment", "mlx5_wqe_data_seg"]);
    assert_eq!(["add", "add (second word)", "boundary"].map(|name| add.number(name)), [1, 2, 3].map(Some));
    let more = "0000000000000005 0000000000000006 0000000000000007 0000000000000008";
    let swap = wqe(&[&ctrl((10, 0x14), 7, 0), raddr, operands, more, DATA], Some(Transport::Rc));
    assert_eq!(names(&swap)[2..], ["masked compare-and-swap segment", "mlx5_wqe_data_seg"]);
    assert_eq!(
        ["swap", "compare", "swap_mask", "compare_mask", "compare_mask (second word)"].map(|name| swap.number(name)),
        [1, 3, 5, 7, 8].map(Some)
    );
    let large = wqe(&[&ctrl((11, 0x15), 7, 0), raddr, operands, more, DATA], Some(Transport::Rc));
    assert_eq!(
        names(&large)[2..],
        ["masked fetch-and-add operands"; 4].iter().chain(&["mlx5_wqe_data_seg"]).copied().collect::<Vec<_>>()
    );
}

/// DPDK `drivers/net/mlx5/mlx5_tx.h`: WAIT for a CQ, and for a time. UCC `src/components/tl/mlx5/tl_mlx5_wqe.c`,
/// `ucc_tl_mlx5_post_wait_on_data`: for a word.
#[test]
fn waits() {
    let cq = wqe(&[&ctrl((0, 0x0f), 2, 0), "00000000 00000000 00000077 00000418"], None);
    assert_eq!((cq.number("max_index"), cq.number("qpn_cqn")), (Some(0x77), Some(0x418)));
    let time = "00000005 00000000 00000000 00000000 0000000a00000001 ffffffffffffffff";
    let time = wqe(&[&ctrl((2, 0x0f), 3, 0), time], None);
    assert_eq!((time.number("operation"), time.number("value")), (Some(5), Some(0xa_0000_0001)));
    let word = "00000001 00001234 00007f01 23456780 0104000000000000 ffffffff00000000";
    let word = wqe(&[&ctrl((1, 0x0f), 3, 8), word], None);
    assert_eq!(
        ["operation", "lkey", "va_high", "va_low"].map(|name| word.number(name)),
        [1, 0x1234, 0x7f01, 0x2345_6780].map(Some)
    );
    assert_eq!((word.number("value"), word.number("mask")), (Some(0x0104 << 48), Some(0xffff_ffff << 32)));
    assert!(word.notes.is_empty(), "{word:?}");
}

/// rdma-core `providers/mlx5/qp.c`, `set_tm_seg`: an entry is appended to a list of tags, and one is removed.
#[test]
fn tags() {
    let segment = "10c00007 00000003 00000000 00000000 0102030405060708 ffffffffffffffff";
    let append = wqe(&[&ctrl((0, 0x28), 4, 0), segment, DATA], None);
    assert_eq!(names(&append)[1..], ["mlx5_wqe_tm_seg", "mlx5_wqe_data_seg"]);
    for (field, value) in
        [("opcode:opcode", 1), ("flags", 0xc0), ("index", 7), ("sw_cnt", 3), ("append_tag", 0x0102_0304_0506_0708)]
    {
        assert_eq!(number(&append, "mlx5_wqe_tm_seg", field), Some(value), "{field}");
    }
    let text = format!("{append:?}");
    assert!(text.contains("MLX5_TM_OPCODE_APPEND") && text.contains("MLX5_SRQ_FLAG_TM_CQE_REQ"), "{text}");
    let remove =
        wqe(&[&ctrl((0, 0x28), 3, 0), "20400007 00000003 00000000 00000000", &["00000000"; 4].join(" ")], None);
    assert_eq!((remove.number("opcode:opcode"), remove.number("index")), (Some(2), Some(7)));
    assert!(remove.notes.is_empty(), "{remove:?}");
}

/// rdma-core `providers/mlx5/mlx5dv.h`, `mlx5_cqe64`, `mlx5_tm_cqe`; `providers/mlx5/cq.c`, `MLX5_CQE_APP_OP_TM_*`.
#[test]
fn completions_of_tags() {
    let cqe = |parts: &[&str]| {
        let options = Options { input: Input::Cqe, binary: true, ..Options::default() };
        decode(&bytes(parts), &options).records.remove(0)
    };
    let rest = ["00000000"; 6].join(" ");
    let removed =
        cqe(&["80000000 00120000", &rest, "00000005 00000000 01060007 00000000 0000000000000000 00000418 00020060"]);
    for (field, value) in
        [("tm_cqe.success", 1 << 31), ("tm_cqe.hw_phase_cnt", 0x12), ("app", 1), ("app_op", 6), ("app_info", 7)]
    {
        assert_eq!(removed.number(field), Some(value), "{field}");
    }
    let zeros = ["00000000"; 4].join(" ");
    let matched = cqe(&[
        "03000000 0000abcd 0102030405060708",
        &zeros,
        "00000005 00000000 010a0007 00000040 0000000000000000 00000418 00000020",
    ]);
    for (field, value) in [
        ("tmh.opcode", 3),
        ("tmh.app_ctx", 0xabcd),
        ("tmh.tag", 0x0102_0304_0506_0708),
        ("app_op", 10),
        ("byte_cnt", 64),
    ] {
        assert_eq!(matched.number(field), Some(value), "{field}");
    }
    assert!(format!("{matched:?}").contains("MLX5_CQE_APP_OP_TM_CONSUMED_MSG"), "{matched:?}");
}

/// Linux `include/linux/mlx5/device.h`, `struct mlx5_cqe64`, and DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct
/// mlx5_cqe`: fields of frames that are reserved in `mlx5dv.h`. A CQE in which they are 0 shows none of them.
#[test]
fn completions_of_frames() {
    let cqe = |parts: &[&str]| {
        let options = Options { input: Input::Cqe, binary: true, ..Options::default() };
        decode(&bytes(parts), &options).records.remove(0)
    };
    let rest = "c1c2c3c4 00000000 00000800 0000000000000000 00000418 00000020";
    let frame = cqe(&["03000000 403f7172 81828384 51525354", "44000000 00000000 00000000 07480000", "09000005", rest]);
    for (field, value) in [
        ("rsvd0:tunneled", 1),
        ("rsvd0:outer_l3_ipv6", 1),
        ("rsvd4:lro_tcppsh_abort_dupack", 0x40),
        ("rsvd4:lro_min_ttl", 0x3f),
        ("rsvd4:lro_tcp_win", 0x7172),
        ("rsvd4:lro_ack_seq_num", 0x8182_8384),
        ("rsvd4:rss_hash_result", 0x5152_5354),
        ("rsvd4:rss_hash_type", 0x44),
        ("srqn_uidx:lro_num_seg", 9),
        ("srqn_uidx:srqn_uidx", 5),
        ("imm_inval_pkey", 0xc1c2_c3c4),
    ] {
        assert_eq!(frame.number(field), Some(value), "{field}");
    }
    let zeros = ["00000000"; 8].join(" ");
    let other = cqe(&[&zeros, "00000005", rest]);
    assert_eq!(["rsvd0:tunneled", "rsvd4:lro_min_ttl"].map(|field| other.number(field)), [None; 2], "{other:?}");
}

/// rdma-core `providers/mlx5/wqe.h`, `mlx5_mmo_wqe`: a copy by the device.
#[test]
fn a_copy() {
    let record = wqe(&[&ctrl((1, 0x2f), 4, 0), "00000000 00000300 0000700000000000", DATA, DATA], None);
    assert_eq!(names(&record)[1..], ["mlx5_mmo_metadata_seg", "mlx5_wqe_data_seg", "mlx5_wqe_data_seg"]);
}

/// The decoder finds the segments before the operation's by trying which fit.
#[test]
fn addresses() {
    let raddr = "00007f0000000000 00000300 00000000";
    let xrc = wqe(&[&ctrl((0, 0x08), 4, 0), "00000071 000000000000000000000000", raddr, DATA], None);
    assert_eq!((names(&xrc)[1], xrc.number("xrc_srqn")), ("mlx5_wqe_xrc_seg", Some(0x71)));
    // A Q_Key and no more in a compact address vector.
    let compact = "11111111 00000000 00000a77 30 05 0012";
    let ud = wqe(&[&ctrl((0, 0x0a), 3, 0), compact, DATA], None);
    assert_eq!(
        (names(&ud)[1], ud.number("dqp_dct:dqp_dct"), ud.number("rlid")),
        ("mlx5_wqe_av", Some(0xa77), Some(0x12))
    );
    // A full one of DC: it says so itself.
    let full =
        "0000000012345678 80000a77 00 00 0012 00000000 020000000001 00 40 00000000 fe80000000000000 0200000000000001";
    let dc = wqe(&[&ctrl((0, 0x10), 6, 0), full, raddr, DATA], None);
    assert_eq!(names(&dc)[1..], ["mlx5_wqe_av", "mlx5_wqe_raddr_seg", "mlx5_wqe_data_seg"]);
    assert_eq!((dc.parts[1].bytes, dc.number("hop_limit")), (48, Some(0x40)));
    // A compact one with a key of 64 bits may be a data segment: who knows says so.
    let doubtful = wqe(&[&ctrl((0, 0x0a), 3, 0), "1234567812345678 00000a77 30 05 0012", DATA], None);
    assert!(doubtful.notes[0].contains("--transport"), "{:?}", doubtful.notes);
    let told = wqe(&[&ctrl((0, 0x0a), 3, 0), "1234567812345678 00000a77 30 05 0012", DATA], Some(Transport::Dc));
    assert_eq!((names(&told)[1], told.notes.len()), ("mlx5_wqe_av", 0));
}

/// Impossible values are reported.
#[test]
fn what_is_odd() {
    let odd = |parts: &[&str], what: &str| {
        let record = wqe(parts, Some(Transport::Rc));
        assert!(record.notes.iter().any(|note| note.contains(what)), "{what}: {:?}", record.notes);
    };
    odd(&[&ctrl((0, 0x0a), 3, 0), DATA], "cut short");
    odd(&[&ctrl((0, 0x0a), 0, 0), DATA], "ds is 0");
    odd(&[&ctrl((0, 0x0a), 2, 0), "80000100 000000000000000000000000"], "256 bytes of inline data, but only 12 follow");
    odd(&[&ctrl((0, 0x0a), 2, 0), "00000000 00000200 00007f0000001000"], "2 GiB");
    odd(&[&ctrl((0, 0x0a), 2, 0), "00000100 00000000 00007f0000001000"], "lkey");
    odd(&[&ctrl((0, 0x08), 2, 0), "00007f0000001000 00000300 00000001"], "reserved");
}

/// rdma-core `providers/mlx5/srq.c`: the link, an entry, and what ends the list.
#[test]
fn receives() {
    let end = "00000000 00000100 0000000000000000";
    let bytes = bytes(&["0000 0007 00 0000000000000000000000", DATA, end]);
    let report = decode(&bytes, &Options { input: Input::SrqWqe, binary: true, ..Options::default() });
    let record = &report.records[0];
    assert_eq!(names(record), ["mlx5_wqe_srq_next_seg", "mlx5_wqe_data_seg", "mlx5_wqe_data_seg"]);
    assert_eq!(record.number("next_wqe_index"), Some(7));
    assert!(record.parts[2].fields[1].meaning.as_deref().is_some_and(|text| text.starts_with("MLX5_INVALID_LKEY")));
}

/// rdma-core `providers/mlx5/qp.c` and `cq.c`: records and registers.
#[test]
fn doorbells() {
    let read = |digits: &str, input| {
        let report = decode(digits.as_bytes(), &Options { input, ..Options::default() });
        report.records.into_iter().next().expect("a doorbell")
    };
    let record = read("0000001000000123", Input::QpRecord);
    assert_eq!(
        (record.number("MLX5_RCV_DBR:counter"), record.number("MLX5_SND_DBR:counter")),
        (Some(0x10), Some(0x123))
    );
    let arm = read("00000040 31000040", Input::CqRecord);
    assert_eq!((arm.number("MLX5_CQ_ARM_DB:sn"), arm.number("MLX5_CQ_ARM_DB:cmd")), (Some(3), Some(1)));
    let send = read("0000010a 00001202", Input::Auto);
    assert_eq!((send.number("qpn_ds:qpn"), send.number("opmod_idx_opcode:idx")), (Some(0x12), Some(1)));
    let cq = read("30000040 00000418", Input::CqDoorbell);
    assert_eq!((cq.number("cqn:cqn"), cq.number("arm:ci")), (Some(0x418), Some(0x40)));
}

/// DPDK `drivers/net/mlx5/mlx5_tx.h`, enhanced multi-packet sends: an Ethernet segment, and a packet in each of the
/// segments behind.
#[test]
fn packets_in_one_wqe() {
    let eth = "00000000 c0 00 0000 00000000 0000 0000";
    let first = "80000005 0102030405 00000000000000";
    let second = "80000010 000102030405060708090a0b0c0d0e0f 000000000000000000000000";
    let record = wqe(&[&ctrl((0, 0x29), 6, 0), eth, first, second, DATA], None);
    let parts = ["mlx5_wqe_eth_seg", "mlx5_wqe_inl_data_seg", "mlx5_wqe_inl_data_seg", "mlx5_wqe_data_seg"];
    assert_eq!(names(&record)[1..], parts);
    assert_eq!((record.parts[3].offset, record.parts[3].bytes, record.number("lkey")), (48, 20, Some(0x200)));
}

/// rdma-core `providers/mlx5/qp.c`, `wq_sig`: a NOP and an inline WRITE, with the signatures that make the XOR of their
/// bytes 255.
#[test]
fn signatures_are_looked_at() {
    let meaning = |record: &Record| {
        let field =
            record.parts[0].fields.iter().find(|field| field.name == "signature").map(|field| field.meaning.clone());
        (field.flatten(), record.notes.len())
    };
    let nop = |signature: &str| wqe(&["00 1234 00 c0ffee 01", signature, "0000 00 00000000"], None);
    assert_eq!(meaning(&nop("09")), (Some("right".to_owned()), 0));
    let (wrong, notes) = meaning(&nop("19"));
    assert!(wrong.is_some_and(|text| text.starts_with("wrong: these bytes need 0x09.")) && notes == 0);
    assert_eq!(meaning(&nop("00")), (None, 0), "none");
    let write = [
        "00 0001 08 000012 03 2a 0000 08 00000000",
        "0000000000001000 00000100 00000000",
        "80000001 55",
        "aa5500aa5500aa5500aa55",
    ];
    assert_eq!(meaning(&wqe(&write, Some(Transport::Rc))), (Some("right".to_owned()), 0));
}
