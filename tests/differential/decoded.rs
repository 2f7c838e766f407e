//! `blueflame-decode` on what libmlx5 writes into its rings and prints to its log: it must read there what verbs was
//! told.
//!
//! The decoder has tables of its own, so this compares neither with this crate's encoder nor with the device's decoder.
//!
//! The decoder's reading belongs here, its output as text in `decode/tests`.

use blueflame_decode::{Input, Kind as Record, Options, Part, Transport, Value, decode};
use blueflame_sys as sys;
use blueflame_testkit::request::{Data, Kind, Target, Whom, Wr};

use crate::again::run_again;

/// An expected part: its name, and the fields to compare.
type Expected = (&'static str, Vec<(&'static str, u64)>);

/// Compares the WQE at the start of `bytes`, which queue pair `number` of type `qp_type` has at `index`, with the
/// request.
pub(crate) fn agrees(
    wr: &Wr,
    bytes: &[u8],
    qp_type: sys::ibv_qp_type,
    number: u32,
    index: usize,
) -> Result<(), String> {
    let transport = match qp_type {
        sys::IBV_QPT_RC => Transport::Rc,
        sys::IBV_QPT_UC => Transport::Uc,
        sys::IBV_QPT_UD => Transport::Ud,
        sys::IBV_QPT_DRIVER => Transport::Dc,
        sys::IBV_QPT_XRC_SEND => Transport::Xrc,
        _ => Transport::Eth,
    };
    let mut bytes = bytes.to_vec();
    let to_srq = matches!(wr.to, Some(Target::Srq(_)));
    if to_srq {
        // libmlx5 writes only the number of the XRC segment, and the decoder prints the old bytes behind it.
        bytes[20..32].fill(0);
    }
    let bytes = &bytes[..];
    let read = |transport| decode(bytes, &Options { input: Input::Wqe, transport, binary: true, ..Options::default() });
    let told = read(Some(transport));
    let record = told.records.first().ok_or("nothing")?;
    if record.kind != Record::SendWqe || !record.notes.is_empty() {
        return Err(format!("{:?}\n{told}", record.notes));
    }
    // Without being told the transport, it finds the same; that takes five readings, so not of all. A request to a
    // shared receive queue has several readings.
    if index % 4 == 0 && !to_srq {
        let guessed = read(None);
        if guessed.records[0].parts != record.parts {
            return Err(format!("guessed\n{guessed}\nfor\n{told}"));
        }
    }
    let mut parts = record.parts.iter();
    for (name, fields) in expected(wr, number, index) {
        let part = parts.next().filter(|part| part.name == name).ok_or_else(|| format!("no {name} in\n{told}"))?;
        for (field, value) in fields {
            if number_of(part, field) != Some(value) {
                return Err(format!("{name}.{field} is not {value:#x} in\n{told}"));
            }
        }
    }
    let rest: Vec<_> = parts.collect();
    let data = payload(wr, &record.parts)?;
    match data {
        Data::Inline(bytes) if bytes.is_empty() && rest.is_empty() => Ok(()),
        Data::Inline(bytes) if rest.len() == 1 && rest[0].name == "mlx5_wqe_inl_data_seg" => {
            let count = number_of(rest[0], "byte_count:byte_count") == Some(bytes.len() as u64);
            let same = bytes_of(rest[0], "data") == Some(&bytes[..]);
            if count && same { Ok(()) } else { Err(format!("inline data is not {bytes:02x?} in\n{told}")) }
        }
        Data::Sges(sges) => {
            let found: Vec<_> =
                rest.iter().map(|part| ["byte_count", "lkey", "addr"].map(|name| number_of(part, name))).collect();
            let entries = sges.iter().filter(|sge| sge.length != 0);
            let entries: Vec<_> =
                entries.map(|sge| [sge.length.into(), sge.lkey.0.into(), sge.addr].map(Some)).collect();
            if found == entries { Ok(()) } else { Err(format!("entries are not {sges:x?} in\n{told}")) }
        }
        Data::Inline(_) => Err(format!("{} parts at the end of\n{told}", rest.len())),
    }
}

pub(crate) fn number_of(part: &Part, name: &str) -> Option<u64> {
    part.fields.iter().find(|field| field.name == name)?.value.number()
}

fn bytes_of<'a>(part: &'a Part, name: &str) -> Option<&'a [u8]> {
    match &part.fields.iter().find(|field| field.name == name)?.value {
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

/// The parts in front of the payload. Numbers of opcodes are those of rdma-core's `mlx5dv.h`.
fn expected(wr: &Wr, number: u32, index: usize) -> Vec<Expected> {
    let raddr = |remote: &blueflame::Remote| {
        ("mlx5_wqe_raddr_seg", vec![("raddr", remote.addr), ("rkey", remote.rkey.0.into())])
    };
    let atomic = |swap_add, compare: Option<u64>| {
        let mut fields = vec![("swap_add", swap_add)];
        fields.extend(compare.map(|value| ("compare", value)));
        ("mlx5_wqe_atomic_seg", fields)
    };
    let (opcode, imm, parts) = match &wr.kind {
        Kind::Nop => (0x00, None, vec![]),
        Kind::Send => (0x0a, None, vec![]),
        Kind::SendImm(imm) => (0x0b, Some(*imm), vec![]),
        Kind::SendInval(key) => (0x01, Some(key.0), vec![]),
        Kind::Write(at) => (0x08, None, vec![raddr(at)]),
        Kind::WriteImm(at, imm) => (0x09, Some(*imm), vec![raddr(at)]),
        Kind::Read(at) => (0x10, None, vec![raddr(at)]),
        Kind::CompareSwap(at, compare, swap) => (0x11, None, vec![raddr(at), atomic(*swap, Some(*compare))]),
        Kind::FetchAdd(at, add) => (0x12, None, vec![raddr(at), atomic(*add, None)]),
        Kind::Frame(headers, checksums) => {
            let flags = if *checksums { 0xc0 } else { 0 };
            (0x0a, None, vec![("mlx5_wqe_eth_seg", vec![("cs_flags", flags), ("inline_hdr_sz", *headers as u64)])])
        }
        Kind::LargeFrame(headers, checksums, mss) => {
            let flags = if *checksums { 0xc0 } else { 0 };
            let fields = [("cs_flags", flags), ("mss", (*mss).into()), ("inline_hdr_sz", *headers as u64)];
            (0x0e, None, vec![("mlx5_wqe_eth_seg", fields.to_vec())])
        }
        Kind::Datagram(whom, imm) => {
            let (qpn, qkey) = match whom {
                Whom::Compact(address) => (address.qpn(), address.qkey()),
                Whom::Full(address) => (address.qpn(), address.qkey()),
            };
            let fields = vec![("dqp_dct:dqp_dct", qpn.get().into()), ("key.qkey.qkey", qkey.0.into())];
            (if imm.is_some() { 0x0b } else { 0x0a }, *imm, vec![("mlx5_wqe_av", fields)])
        }
        other => panic!("not compared with libmlx5: {other:?}"),
    };
    let mut ctrl = vec![
        ("opmod_idx_opcode:opcode", opcode),
        ("qpn_ds:qpn", number.into()),
        ("opmod_idx_opcode:idx", index as u64),
    ];
    ctrl.extend(imm.map(|imm| ("imm", imm.into())));
    ctrl.extend(wr.signaled.then_some(("fm_ce_se:ce", 2)));
    if wr.kind != Kind::Nop {
        ctrl.push(("fm_ce_se:fm", wr.fence as u64 >> 5));
        ctrl.push(("fm_ce_se:se", wr.solicited.into()));
    }
    let target = wr.to.as_ref().map(|to| {
        let (dctn, key, stream) = match to {
            Target::Srq(srqn) => return ("mlx5_wqe_xrc_seg", vec![("xrc_srqn", srqn.get().into())]),
            Target::Compact(address) => (address.dctn(), address.key(), 0),
            Target::Full(address) => (address.dctn(), address.key(), 0),
            Target::Stream(to) => (to.address().dctn(), to.address().key(), to.stream().0),
        };
        // A field that is zero is reserved for most, and not shown.
        ctrl.extend((stream > 0).then_some(("dci_stream_channel_id", stream.into())));
        let key = [("key.qkey.qkey", key.0 >> 32), ("key.qkey.reserved", key.0 & 0xffff_ffff)];
        ("mlx5_wqe_av", [vec![("dqp_dct:dqp_dct", dctn.get().into())], key.to_vec()].concat())
    });
    [vec![("mlx5_wqe_ctrl_seg", ctrl)], target.into_iter().collect(), parts].concat()
}

/// The bytes expected in data segments, or inline: all except the headers of a frame, which are compared here.
fn payload(wr: &Wr, parts: &[Part]) -> Result<Data, String> {
    let (Kind::Frame(headers, _) | Kind::LargeFrame(headers, ..)) = wr.kind else {
        return Ok(if wr.kind == Kind::Nop { Data::Sges(Vec::new()) } else { wr.data.clone() });
    };
    let eth = parts.iter().find(|part| part.name == "mlx5_wqe_eth_seg").ok_or("no Ethernet segment")?;
    let start = bytes_of(eth, "inline_hdr_start").unwrap_or(&[]);
    let all = [start, bytes_of(eth, "inline_hdr").unwrap_or(&[])].concat();
    // SAFETY: entries are of the fabric's memory, which nothing writes while requests are compared.
    let expected = unsafe { wr.data.head(headers) };
    if headers > 0 && all != expected {
        return Err(format!("inline headers {all:02x?} for {expected:02x?}"));
    }
    Ok(wr.data.rest(headers))
}

/// libmlx5's output about failures while `test` of this program ran.
fn printed_by(test: &str) -> String {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let path = log.path().to_str().expect("a name");
    run_again(&[test], &[("MLX5_DEBUG_FILE", path)]);
    std::fs::read_to_string(path).expect("libmlx5's log")
}

#[test]
fn dumps_of_real_failures() {
    let log = printed_by("statuses::failures_have_the_same_status");
    let report = decode(log.as_bytes(), &Options::default());
    let read: Vec<_> = report
        .records
        .iter()
        .map(|record| {
            let fields = ["op_own:opcode", "syndrome", "s_wqe_opcode_qpn:s_wqe_opcode", "wqe_counter"];
            assert!(record.log[0].contains("got completion with error") && record.diagnosis.is_some(), "{report}");
            fields.map(|name| record.number(name).expect("a field"))
        })
        .collect();
    // WRITE with a bad lkey (requester); SEND into a receive that is too short (responder). libmlx5 does not print
    // flushed ones.
    let expected = [[13, 0x04, 0x08, 0], [14, 0x01, read.get(1).map_or(0, |fields| fields[2]), 0]];
    assert_eq!(read, expected, "{log}");
}

#[test]
fn dumps_of_every_syndrome() {
    let log = printed_by("statuses::every_syndrome_has_one_status");
    let report = decode(log.as_bytes(), &Options::default());
    // `mlx5_poll_one` of rdma-core does not print those that were flushed or not answered, and ODP faults.
    let printed = (0..=255_u64).filter(|syndrome| ![0x05, 0x15].contains(syndrome));
    let is_odp_fault = |syndrome: u64| syndrome == 0x22 && syndrome * 7 % 256 == 0x93;
    let once: Vec<_> = printed.filter(|syndrome| !is_odp_fault(*syndrome)).collect();
    let expected: Vec<_> = once.iter().cycle().take(4 * once.len()).map(|s| (Some(*s), Some(s * 7 % 256))).collect();
    let read: Vec<_> =
        report.records.iter().map(|record| (record.number("syndrome"), record.number("vendor_err_synd"))).collect();
    assert_eq!(read.len(), expected.len());
    assert_eq!(read, expected);
}
