//! Requests of every service as data, each with its WQE in literal bytes.
//!
//! The bytes are worked out by hand from these layouts:
//! - control, remote address, atomic and data segments: rdma-core `providers/mlx5/mlx5dv.h`;
//! - address vectors of 48 bytes: `struct mlx5_wqe_av` there, filled in by `mlx5_create_ah` of `verbs.c` and
//!   `_set_datagram_seg` of `qp.c`. In those of dynamic connections, the key is all of the first 8 bytes (`qp.c`,
//!   `mlx5_send_wr_set_dc_addr`), and the stream is in the control segment (`dci_stream_channel_id`);
//! - vectors of 16 bytes, which libmlx5 never posts, are the first 16 bytes of these without
//!   `UCT_IB_MLX5_EXTENDED_UD_AV`: UCX `src/uct/ib/mlx5/ib_mlx5.h`, `mlx5_base_av`; `ud/ud_mlx5.c`,
//!   `uct_ud_mlx5_ep_ctrl_av_size`; `dc/dc_mlx5_ep.c`, `uct_dc_mlx5_set_dgram_seg`;
//! - XRC: rdma-core `providers/mlx5/wqe.h`, `struct mlx5_wqe_xrc_seg`, behind the control segment (`qp.c`,
//!   `_mlx5_post_send`, `case IBV_QPT_XRC_SEND`);
//! - masked atomics, which libmlx5 has not: UCX `src/uct/ib/mlx5/rc/rc_mlx5.inl`, `uct_rc_mlx5_txqp_dptr_post`, with
//!   the segments of `src/uct/ib/mlx5/ib_mlx5.h`. The compare and swap of 8 bytes is also `struct
//!   mlx5_wqe_masked_atomic_seg` of rdma-core (`providers/mlx5/wqe.h`). Atomics of 16 bytes: the libmlx5 of MLNX_OFED 4
//!   (`src/qp.c`, `set_ext_atomic_seg`).
//!
//! `tests/send_queue` compares this crate's bytes with the rows, and `tests/differential` those of libmlx5. Operations
//! that several services have belong here, those of one service in `tests/send_queue`.

mod atomics;
mod segments;

use blueflame::types::{DcKey, DciStream, Qkey, Qpn, Rkey, Srqn};
use blueflame::wqe::address::{AddressVector, CompactAv, FullAv, GlobalRoute, StaticRate};
use blueflame::wqe::{DcAddress, Fence, Sge, UdAddress};
use blueflame_testkit::request::{Data, Kind, Target, Whom, Wr};

pub(crate) use segments::{DATA, Ds, LOCAL, RADDR, REMOTE, count, ctrl, entry, inline};

pub(crate) const SRQN: Srqn = Srqn::truncate(0xff12_3456);
/// The number of the peer that an address names.
pub(crate) const NUMBER: Qpn = Qpn::truncate(0x00ab_cdef);
pub(crate) const GID: Ds = [0xfe, 0x80, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
pub(crate) const GRH: Ds = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x6a, 0x3f, 0x47, 0xba, 0xbc, 0xde];
/// Of a flow label, the lowest 20 bits count.
pub(crate) const ROUTE: GlobalRoute =
    GlobalRoute { dgid: GID, sgid_index: 0x7b, flow_label: 0xfffa_bcde, hop_limit: 0x3f, traffic_class: 0x6a };

/// The address vector of every destination.
pub(crate) const fn near() -> CompactAv {
    CompactAv::new(0x1234).service_level(0xf).static_rate(StaticRate::Gbps40).path_bits(0x7e).service_level(3)
}

pub(crate) fn far() -> FullAv {
    near().with_grh(&ROUTE)
}

pub(crate) fn datagram<const MORE: usize>(vector: AddressVector<MORE>) -> UdAddress<AddressVector<MORE>> {
    UdAddress::new(vector, NUMBER, Qkey(0x5152_5354))
}

pub(crate) fn dynamic<const MORE: usize>(vector: AddressVector<MORE>) -> DcAddress<AddressVector<MORE>> {
    DcAddress::new(vector, NUMBER, DcKey(0x5152_5354_5556_5758))
}

/// The first segment of an address: key, number with `mark` before it, rate and service level, path bits, LID.
const fn base([a, b, c, d, e, f, g, h]: [u8; 8], mark: u8) -> Ds {
    [a, b, c, d, e, f, g, h, mark, 0xab, 0xcd, 0xef, 0xc3, 0x7e, 0x12, 0x34]
}

/// That of [`datagram`].
pub(crate) const fn datagram_base(mark: u8) -> Ds {
    base([0x51, 0x52, 0x53, 0x54, 0, 0, 0, 0], mark)
}

/// That of [`dynamic`].
pub(crate) const fn dynamic_base(mark: u8) -> Ds {
    base([0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58], mark)
}

/// The destination of a request, by service.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Destination {
    Reliable,
    Unreliable,
    Datagram(Whom),
    Target(Target),
}

pub(crate) fn full_datagram() -> Destination {
    Destination::Datagram(Whom::Full(datagram(far())))
}

pub(crate) fn full_target() -> Destination {
    Destination::Target(Target::Full(dynamic(far())))
}

pub(crate) fn stream() -> Destination {
    Destination::Target(Target::Stream(dynamic(far()).on(DciStream(0xbeef))))
}

pub(crate) fn srq() -> Destination {
    Destination::Target(Target::Srq(SRQN))
}

impl Destination {
    /// Its column in `docs/operations.md`, and the segments of the address. The stream is in the control segment.
    fn address(self) -> (&'static str, Vec<Ds>) {
        match self {
            Self::Reliable => ("RC", vec![]),
            Self::Unreliable => ("UC", vec![]),
            Self::Datagram(Whom::Compact(_)) => ("UD, compact", vec![datagram_base(0)]),
            Self::Datagram(Whom::Full(_)) => ("UD", vec![datagram_base(0x80), GRH, GID]),
            Self::Target(Target::Compact(_)) => ("DCI, compact", vec![dynamic_base(0)]),
            Self::Target(Target::Full(_)) => ("DCI", vec![dynamic_base(0x80), GRH, GID]),
            Self::Target(Target::Stream(_)) => ("DCI with streams", vec![dynamic_base(0x80), GRH, GID]),
            Self::Target(Target::Srq(_)) => ("XRC", vec![[0, 0x12, 0x34, 0x56, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]),
        }
    }
}

/// A request, and its WQE.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) wr: Wr,
    pub(crate) wqe: Vec<Ds>,
}

/// An operation for any destination.
#[derive(Clone)]
struct Operation {
    name: String,
    kind: Kind,
    data: Data,
    /// The modifier, and the opcode.
    opcode: [u8; 2],
    imm: u32,
    /// The segments behind the address.
    segments: Vec<Ds>,
}

/// An operation that carries data: none, gathered, or inline.
fn carrying(name: &str, kind: Kind, opcode: u8, imm: u32, before: &[Ds]) -> Vec<Operation> {
    let empty = Sge { length: 0, ..LOCAL };
    let (eight, units, more) = (count::<8>(), count::<28>(), count::<29>());
    [
        ("without data", Data::Sges(vec![]), vec![]),
        ("of one entry", Data::Sges(vec![LOCAL]), vec![DATA]),
        ("of two entries", Data::Sges(vec![LOCAL; 2]), vec![DATA; 2]),
        // They are left out, wherever they are.
        ("with entries of no bytes", Data::Sges(vec![LOCAL, empty, empty, LOCAL, empty]), vec![DATA; 2]),
        ("of eight bytes inline", Data::Inline(eight.to_vec()), inline(&eight)),
        ("of whole units inline", Data::Inline(units.to_vec()), inline(&units)),
        ("of a byte more inline", Data::Inline(more.to_vec()), inline(&more)),
    ]
    .map(|(form, data, segments)| {
        let segments = [before, &segments].concat();
        Operation { name: format!("{name} {form}"), kind, data, opcode: [0, opcode], imm, segments }
    })
    .to_vec()
}

/// An operation that takes the memory of `entries` for its result.
fn fetching(name: &str, kind: Kind, opcode: [u8; 2], entries: &[Sge], operands: &[Ds]) -> Operation {
    let results: Vec<_> = entries.iter().copied().map(entry).collect();
    let segments = [&[RADDR], operands, &results].concat();
    Operation { name: name.to_owned(), kind, data: Data::Sges(entries.to_vec()), opcode, imm: 0, segments }
}

/// The operations that all connections have.
fn connected() -> Vec<Operation> {
    [
        carrying("SEND", Kind::Send, 0x0a, 0, &[]),
        carrying("SEND with odd immediate data", Kind::SendImm(0xcafe_babf), 0x0b, 0xcafe_babf, &[]),
        carrying("SEND with even immediate data", Kind::SendImm(0xcafe_babe), 0x0b, 0xcafe_babe, &[]),
        carrying("WRITE", Kind::Write(REMOTE), 0x08, 0, &[RADDR]),
        carrying("WRITE with odd immediate data", Kind::WriteImm(REMOTE, 5), 0x09, 5, &[RADDR]),
        carrying("WRITE with even immediate data", Kind::WriteImm(REMOTE, 42), 0x09, 42, &[RADDR]),
    ]
    .concat()
}

/// The operations that only reliable connections have.
fn acknowledged() -> Vec<Operation> {
    let (invalidating, read) = (Kind::SendInval(Rkey(0x5152_5354)), Kind::Read(REMOTE));
    let reads = [
        fetching("READ", read, [0, 0x10], &[LOCAL], &[]),
        fetching("READ into two entries", read, [0, 0x10], &[LOCAL; 2], &[]),
    ];
    let sends = carrying("SEND that invalidates", invalidating, 0x01, 0x5152_5354, &[]);
    let atomics = atomics::all().map(|(name, kind, opcode, bytes, operands)| {
        fetching(name, kind, opcode, &[Sge { length: bytes, ..LOCAL }], operands)
    });
    sends.into_iter().chain(reads).chain(atomics).collect()
}

/// Signalled, solicited, a completion of the first error only, the fence; and their byte in the control segment.
type Flags = (bool, bool, bool, Fence, u8);

/// Completion modes are those of DPDK (`drivers/common/mlx5/mlx5_prm.h`, `MLX5_COMP_*`, shifted by
/// `MLX5_COMP_MODE_OFFSET`).
const FLAGS: [Flags; 8] = [
    (false, false, false, Fence::None, 0),
    (true, false, false, Fence::None, 0x08),
    (true, true, false, Fence::None, 0x0a),
    (false, false, true, Fence::None, 0x04),
    (false, false, false, Fence::Small, 0x20),
    (false, false, false, Fence::Reads, 0x40),
    (false, true, true, Fence::Strong, 0x66),
    (true, false, false, Fence::SmallAndReads, 0x88),
];

fn flagged(wr: &Wr, (signaled, solicited, first_error_only, fence, _): Flags) -> Wr {
    Wr { signaled, solicited, first_error_only, fence, ..wr.clone() }
}

/// NOPs with each set of flags: they have no destination.
pub(crate) fn nops() -> Vec<Row> {
    let nop = |flags: Flags| Row {
        name: format!("NOP, flags {:#04x}", flags.4),
        wr: flagged(&Wr::new(Kind::Nop, Data::Sges(vec![]), 1), flags),
        wqe: vec![ctrl(0, 0, 1, flags.4)],
    };
    FLAGS.map(nop).to_vec()
}

/// Each operation for this destination, with each set of flags.
pub(crate) fn rows(to: Destination) -> Vec<Row> {
    let operations = match to {
        Destination::Unreliable => connected(),
        Destination::Reliable | Destination::Target(_) => [connected(), acknowledged()].concat(),
        Destination::Datagram(whom) => [
            carrying("datagram", Kind::Datagram(whom, None), 0x0a, 0, &[]),
            carrying("datagram with immediate data", Kind::Datagram(whom, Some(0xcafe_babe)), 0x0b, 0xcafe_babe, &[]),
        ]
        .concat(),
    };
    let target = if let Destination::Target(target) = to { Some(target) } else { None };
    let rows = operations.into_iter().flat_map(|Operation { name, kind, data, opcode, imm, segments }| {
        let wr = Wr { to: target, ..Wr::new(kind, data, 1) };
        let (column, address) = to.address();
        let body = [address, segments].concat();
        FLAGS.map(|flags| {
            let mut first = ctrl(opcode[0], opcode[1], 1 + body.len() as u8, flags.4);
            first[12..].copy_from_slice(&imm.to_be_bytes());
            if let Some(Target::Stream(_)) = target {
                first[9..11].copy_from_slice(&[0xbe, 0xef]);
            }
            let name = format!("{column}: {name}, flags {:#04x}", flags.4);
            Row { name, wr: flagged(&wr, flags), wqe: [&[first], &body[..]].concat() }
        })
    });
    rows.collect()
}
