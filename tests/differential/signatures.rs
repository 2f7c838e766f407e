//! Block signatures: libmlx5 and this crate configure keys, move data through them, and report the same errors.
//!
//! Block signatures belong here, WQE signatures in `sends.rs`.

use std::ptr::{NonNull, null};

use blueflame::cq::CqeOpcode;
use blueflame::cq::cqe::{SignatureError, SignaturePart};
use blueflame::transport::Rc;
use blueflame::types::{Psv, Rkey, WrId};
use blueflame::verbs::{Access, Pool};
use blueflame::wqe::Sge;
use blueflame::wqe::data::Nothing;
use blueflame::wqe::formats::{BlockSignature, BlockSize, Crc, CrcKind, Escape, Formats, Guard, Psvs};
use blueflame::wqe::formats::{BlockSignatureKind, Seed, SignatureBytes, SignedBlocks, T10Dif};
use blueflame::wqe::keys::KeyRights;
use blueflame::wqe::operations::SetPsv;
use blueflame::wqe::{self, Fence, Remote};
use blueflame_sys as sys;
use proptest::prelude::*;

use crate::in_turn::{self, Places, WQEBB};
use crate::post::{mlx5dv_mkey_conf_attr, mlx5dv_qp_ex_from_ibv_qp_ex};
use crate::sig_block::{Domain, MkeyErr, SigBlockAttr, SignedKey};
use crate::twin::{Twins, ring, wait};
use crate::verbs::{Fabric, Geometry};

const CASES: u32 = 600;
/// Entries that keys have room for.
const ENTRIES: u16 = 8;
/// Bytes of memory behind a key, and on the wire.
const BYTES: usize = 16 << 10;

/// The first contents of keys.
pub(crate) const LEARNT: SignedBlocks = SignedBlocks {
    size: BlockSize::B512,
    signature: BlockSignatureKind::Crc(Crc { kind: CrcKind::Crc32, seed: Seed::Ones }),
};

/// The change of the key's signatures.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// These.
    Sign(BlockSignature, Option<SignatureBytes>),
    /// They stay.
    Keep,
    /// They go.
    Reset,
}

/// The operations by the key.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// Bytes that have no signatures come from the wire.
    ReadAny,
    /// The memory behind it goes to the wire.
    Write,
    /// It comes back.
    ReadBack,
}

#[derive(Clone, Debug)]
struct Case {
    change: Change,
    check: SignatureBytes,
    /// Bytes without signatures, and of the list's entries; none: the list stays, and nothing is moved.
    list: Option<(usize, Vec<prop::sample::Index>)>,
    rights: Option<bool>,
    /// The signatures are set before the list.
    first: bool,
    steps: Vec<Step>,
    id: u64,
}

pub(crate) fn blocks() -> impl Strategy<Value = SignedBlocks> {
    let seed = any::<bool>().prop_map(|ones| if ones { Seed::Ones } else { Seed::Zeros });
    // Few tags, so that some are the same on both sides.
    let tags = (prop_oneof![0..2_u16, any::<u16>()], prop_oneof![0..2_u32, any::<u32>()]);
    let escape = prop_oneof![Just(Escape::Never), Just(Escape::AppTag), Just(Escape::AppAndRefTag)];
    let dif = (any::<bool>(), seed.clone(), tags, any::<bool>(), escape).prop_map(
        |(checksum, seed, (app_tag, ref_tag), increment, escape)| {
            let guard = if checksum { Guard::IpChecksum } else { Guard::Crc };
            BlockSignatureKind::T10Dif(T10Dif { guard, seed, app_tag, ref_tag, increment, escape })
        },
    );
    let kind = prop_oneof![Just(CrcKind::Crc32), Just(CrcKind::Crc32c), Just(CrcKind::Crc64Xp10)];
    let crc = (kind, seed).prop_map(|(kind, seed)| BlockSignatureKind::Crc(Crc { kind, seed }));
    let size = (0..BlockSize::ALL.len()).prop_map(|n| BlockSize::ALL[n]);
    (size, prop_oneof![dif, crc]).prop_map(|(size, signature)| SignedBlocks { size, signature })
}

fn change() -> impl Strategy<Value = Change> {
    let copy = proptest::option::of(any::<u8>().prop_map(SignatureBytes));
    let sign = (0..4_u8, blocks(), blocks(), copy).prop_map(|(sides, memory, wire, copy)| {
        let signature = match sides {
            0 => BlockSignature::in_memory(memory),
            1 => BlockSignature::on_wire(wire),
            2 => BlockSignature::on_both(memory, wire),
            // Of the same structure, but for tags and seeds.
            _ => match (memory.signature, wire.signature) {
                (BlockSignatureKind::T10Dif(_), BlockSignatureKind::T10Dif(_)) => {
                    BlockSignature::on_both(memory, SignedBlocks { size: memory.size, ..wire })
                }
                _ => BlockSignature::on_both(memory, memory),
            },
        };
        let copy = copy.filter(|&copy| signature.copy(copy).is_ok());
        Change::Sign(signature, copy)
    });
    prop_oneof![6 => sign, 1 => Just(Change::Keep), 1 => Just(Change::Reset)]
}

fn case() -> impl Strategy<Value = Case> {
    let list = (1..12_000_usize, proptest::collection::vec(any::<prop::sample::Index>(), 0..usize::from(ENTRIES)));
    let check = prop_oneof![Just(SignatureBytes::ALL), any::<u8>().prop_map(SignatureBytes)];
    let steps = prop_oneof![Just(Step::ReadAny), Just(Step::Write), Just(Step::ReadBack)];
    let steps = proptest::collection::vec(steps, 0..4);
    let rest = (proptest::option::of(any::<bool>()), any::<bool>(), steps, any::<u64>());
    (change(), check, proptest::option::weighted(0.9, list), rest).prop_map(
        |(change, check, list, (rights, first, steps, id))| {
            let steps = if list.is_some() { steps } else { vec![] };
            Case { change, check, list, rights, first, steps, id }
        },
    )
}

/// The names in requests, and the known state of the keys.
struct Stage {
    keys: [SignedKey; 2],
    psvs: [Psvs; 2],
    places: Places,
    signature: Option<BlockSignature>,
    /// The memory behind the keys may be written.
    writable: bool,
    /// Errors that were told, and that the device has not been told about.
    errors: u32,
    news: bool,
    /// The fence that the request after the last one needs.
    fence: Fence,
}

/// Bytes with signatures.
pub(crate) fn laid_out(raw: usize, blocks: Option<&SignedBlocks>) -> usize {
    let signed = |blocks: &SignedBlocks| raw / blocks.size.bytes() as usize * blocks.signature.bytes() as usize;
    raw + blocks.map_or(0, signed)
}

impl Case {
    /// The signatures from then on.
    fn signature(&self, before: Option<BlockSignature>) -> Option<BlockSignature> {
        match self.change {
            Change::Sign(signature, copy) => {
                let signature = signature.check(self.check);
                Some(copy.map_or(signature, |copy| signature.copy(copy).expect("of one structure")))
            }
            Change::Keep => before,
            Change::Reset => None,
        }
    }

    /// Bytes behind the key, and on the wire.
    fn bytes(&self, signature: Option<&BlockSignature>) -> [usize; 2] {
        let raw = self.list.as_ref().map_or(0, |list| list.0);
        [signature.and_then(BlockSignature::memory), signature.and_then(BlockSignature::wire)]
            .map(|blocks| laid_out(raw, blocks))
    }

    /// The list, of pieces in a row.
    fn list(&self, stage: &Stage, bytes: usize) -> Option<Vec<Sge>> {
        self.list.as_ref().map(|(_, cuts)| stage.places.pieces(cuts, bytes))
    }
}

/// libmlx5 posts all to the key.
fn theirs(
    qp: NonNull<sys::ibv_qp>,
    stage: &Stage,
    key: &SignedKey,
    case: &Case,
    (list, wire): (Option<&[Sge]>, usize),
) {
    let list: Option<Vec<_>> = list.map(|list| list.iter().map(crate::post::sge).collect());
    let domains = match &case.change {
        Change::Sign(signature, _) => [signature.memory(), signature.wire()].map(|blocks| blocks.map(Domain::new)),
        _ => [None, None],
    };
    let domain = |n: usize| domains[n].as_ref().map_or(null(), |domain| &raw const domain.domain);
    let (signs, copy) = match case.change {
        Change::Sign(_, copy) => (true, copy),
        _ => (false, None),
    };
    let attr = SigBlockAttr {
        mem: domain(0),
        wire: domain(1),
        flags: u32::from(copy.is_some()),
        check_mask: case.check.0,
        copy_mask: copy.map_or(0, |copy| copy.0),
        comp_mask: 0,
    };
    let mut conf = mlx5dv_mkey_conf_attr::default();
    conf.conf_flags = u32::from(matches!(case.change, Change::Reset));
    let signaled = |last: bool| if last { sys::IBV_SEND_SIGNALED } else { 0 };
    // SAFETY: objects of the fabric and the stage, which are alive; lists live until the calls return.
    unsafe {
        let ex = sys::ibv_qp_to_qp_ex(qp.as_ptr());
        let dv = mlx5dv_qp_ex_from_ibv_qp_ex(ex);
        let d = &*dv;
        sys::ibv_wr_start(ex);
        let flags = sys::IBV_SEND_INLINE | signaled(case.steps.is_empty());
        ((*ex).wr_id, (*ex).wr_flags) = (case.id, flags);
        let setters = u8::from(signs) + u8::from(list.is_some()) + u8::from(case.rights.is_some());
        d.wr_mkey_configure.expect("for keys")(dv, key.as_raw(), setters, &mut conf);
        let sign = || {
            if signs {
                d.wr_set_mkey_sig_block.expect("for keys")(dv, &attr);
            }
        };
        if case.first {
            sign();
        }
        if let Some(list) = &list {
            d.wr_set_mkey_layout_list.expect("for keys")(dv, list.len() as u16, list.as_ptr());
        }
        if let Some(write) = case.rights {
            let access = if write { sys::IBV_ACCESS_LOCAL_WRITE } else { 0 };
            d.wr_set_mkey_access_flags.expect("for keys")(dv, access);
        }
        if !case.first {
            sign();
        }
        for (n, step) in case.steps.iter().enumerate() {
            let flags = sys::IBV_SEND_FENCE | signaled(n + 1 == case.steps.len());
            ((*ex).wr_id, (*ex).wr_flags) = (case.id, flags);
            let remote = stage.remote(*step);
            match step {
                Step::Write => sys::ibv_wr_rdma_write(ex, remote.rkey.0, remote.addr),
                _ => sys::ibv_wr_rdma_read(ex, remote.rkey.0, remote.addr),
            }
            sys::ibv_wr_set_sge(ex, key.key, 0, wire as u32);
        }
        assert_eq!(sys::ibv_wr_complete(ex), 0, "{case:?}");
    }
}

impl Stage {
    /// Where a step finds the bytes of the wire: in the first half of the buffer. Bytes without signatures are in the
    /// other half.
    fn remote(&self, step: Step) -> Remote {
        let offset = if step == Step::ReadAny { BYTES as u64 } else { 0 };
        Remote { addr: self.places.wire.addr() + offset, rkey: self.places.wire.rkey() }
    }
}

/// This crate posts all to the other key.
fn ours(twins: &mut Twins<Rc>, stage: &Stage, case: &Case, list: Option<&[Sge]>, wire: usize) {
    let (key, psvs, id) = (&stage.keys[1], stage.psvs[1], WrId(case.id));
    let signature = case.signature(stage.signature);
    let ends = case.steps.is_empty();
    let mut configure = wqe::configure_key(Rkey(key.key), ENTRIES).fence(stage.fence).wr_id(id);
    if let Some(write) = case.rights {
        configure = configure.rights(if write { KeyRights::LOCAL_WRITE } else { KeyRights::NONE });
    }
    if signature.is_none() {
        configure = configure.plain();
    }
    if stage.news {
        configure = configure.signature_errors(stage.errors);
    }
    let set = (matches!(case.change, Change::Sign(..)) || stage.news).then_some(signature).flatten();
    let sets: Vec<_> = set.into_iter().flat_map(|signature| signature.set_psvs(psvs)).collect();
    let configure = configure.signaled_if(ends && sets.is_empty(), id);
    let mut batch = twins.ours.sq.batch();
    let signs = matches!(case.change, Change::Sign(..));
    let formats = signs.then(|| Formats::signature(signature.expect("this"), psvs));
    // SAFETY: the stage's memory, which outlives the queue; so below.
    unsafe {
        match (list, &formats) {
            (Some(list), Some(formats)) => batch.push_unchecked(&configure.list(list).formats(formats)),
            (Some(list), None) => batch.push_unchecked(&configure.list(list)),
            (None, Some(formats)) => batch.push_unchecked(&configure.formats(formats)),
            (None, None) => batch.push_unchecked(&configure),
        }
    }
    .expect("room");
    let last = sets.len();
    for (n, set) in sets.into_iter().enumerate() {
        let set: wqe::Request<'_, SetPsv, Nothing> = set;
        batch.push(&set.signaled_if(ends && n + 1 == last, id)).expect("room");
    }
    for (n, step) in case.steps.iter().enumerate() {
        let (sge, remote, signaled) = ([key.sge(wire)], stage.remote(*step), n + 1 == case.steps.len());
        // SAFETY: the stage's memory, which outlives the queue.
        unsafe {
            match step {
                Step::Write => batch.push_unchecked(
                    &wqe::write(remote).gather(sge).fence(Fence::SmallAndReads).signaled_if(signaled, id),
                ),
                _ => batch.push_unchecked(
                    &wqe::read(remote).scatter(sge).fence(Fence::SmallAndReads).signaled_if(signaled, id),
                ),
            }
        }
        .expect("room");
    }
    batch.ring_doorbell();
}

/// Waits for libmlx5's completion, past errors of signatures, which it keeps to itself. Returns how many there were.
fn poll_theirs(twins: &mut Twins<Rc>) -> Result<u32, String> {
    let cq = &mut twins.theirs.send_cq;
    let mut errors = 0;
    wait("libmlx5's completion", || {
        let cqe = cq.peek()?;
        let is_error = cqe.bytes[cqe.size - 1] >> 4 == 12;
        // SAFETY: numbers, for which zero is a value; the queue is alive, `wc` has room for one.
        let (wc, polled) = unsafe {
            let mut wc = sys::ibv_wc::ZERO;
            let polled = sys::ibv_poll_cq(cq.as_raw(), 1, &raw mut wc);
            (wc, polled)
        };
        if is_error {
            errors += 1;
            cq.polled();
        }
        if polled == 0 {
            return None;
        }
        cq.polled();
        Some(match wc.status {
            sys::IBV_WC_SUCCESS => Ok(errors),
            status => Err(format!("libmlx5's: status {status}, vendor syndrome {:#x}", wc.vendor_err)),
        })
    })?
}

/// Waits for ours, and the error of a signature before it.
fn poll_ours(twins: &mut Twins<Rc>, id: u64) -> Result<Option<SignatureError>, String> {
    let (mut error, mut failed) = (None, None);
    let qpn = twins.qpn();
    wait("our completion", || {
        let sq = &mut twins.ours.sq;
        let mut done = false;
        twins.ours.send_cq.poll_with(1, |cqe| {
            if cqe.opcode() == CqeOpcode::SigErr {
                assert!(cqe.side().is_none() && sq.retire(&cqe).is_err(), "no request's");
                assert_eq!(error.replace(cqe.signature_error().expect("its fields")), None, "one at a time");
                return;
            }
            failed = cqe.check().err().map(|error| error.to_string());
            assert_eq!(sq.retire(&cqe).expect("posted").wr_id, WrId(id));
            done = true;
        });
        done.then_some(())
    })?;
    if let Some(error) = &error {
        assert_eq!((error.qpn, error.transaction), (qpn, false));
    }
    failed.map_or(Ok(error), Err)
}

/// libmlx5's report of its key, which must equal this crate's of its own.
fn check_errors(
    stage: &mut Stage,
    signature: Option<&BlockSignature>,
    told: u32,
    ours: Option<SignatureError>,
) -> Result<(), String> {
    let error = stage.keys[0].check();
    let same = match (error.err_type, ours) {
        (0, None) => told == 0,
        (kind, Some(ours)) => {
            let part = [SignaturePart::Guard, SignaturePart::RefTag, SignaturePart::AppTag]
                .get((kind as usize).wrapping_sub(1));
            let in_memory = ours.side == blueflame::cq::cqe::SignatureSide::Memory;
            let blocks = signature.and_then(|all| if in_memory { all.memory() } else { all.wire() });
            let values = blocks.and_then(|blocks| ours.values(blocks.signature.guard_bits()));
            told == 1
                && ours.part().as_ref() == part
                && ours.key == Rkey(stage.keys[1].key)
                && ours.offset == error.offset
                && values == Some([error.expected_value, error.actual_value])
        }
        _ => false,
    };
    stage.errors += told;
    stage.news = told != 0;
    if same {
        return Ok(());
    }
    let MkeyErr { err_type, actual_value, expected_value, offset } = error;
    Err(format!(
        "libmlx5: {told} errors, kind {err_type}, {actual_value:#x}, {expected_value:#x} at {offset}; this crate: \
        {ours:x?}"
    ))
}

fn check(stage: &mut Stage, twins: &mut Twins<Rc>, case: &Case) -> Result<(), String> {
    twins.clear_rings();
    let signature = case.signature(stage.signature);
    let [bytes, wire] = case.bytes(signature.as_ref());
    let list = case.list(stage, bytes);
    // Memory behind a key without the right to write cannot be written.
    stage.writable = case.rights.unwrap_or(stage.writable);
    let mut case = case.clone();
    case.steps.retain(|&step| stage.writable || step == Step::Write);
    stage.places.reset();
    theirs(twins.theirs.raw.raw, stage, &stage.keys[0], &case, (list.as_deref(), wire));
    let told = poll_theirs(twins)?;
    let found = stage.places.bytes();
    stage.places.reset();
    ours(twins, stage, &case, list.as_deref(), wire);
    let error = poll_ours(twins, case.id)?;
    if stage.places.bytes() != found {
        return Err("other bytes".to_owned());
    }

    // Numbers, by where they are.
    let lists = list.map_or(0, |list| list.len().div_ceil(4));
    let formats = usize::from(matches!(case.change, Change::Sign(..)));
    let sets = match signature {
        Some(signature) if formats != 0 || stage.news => {
            [signature.memory(), signature.wire()].map(|blocks| usize::from(blocks.is_some()))
        }
        _ => [0, 0],
    };
    let format = (2 + lists) * WQEBB;
    let requests = 2 + lists + formats;
    let all = requests + sets[0] + sets[1] + case.steps.len();
    let qpns: Vec<_> = [0].into_iter().chain(requests..all).map(|wqebb| wqebb * WQEBB + 4).collect();
    let transfers = all - case.steps.len()..all;
    let keys: Vec<_> = [12].into_iter().chain(transfers.map(|wqebb| wqebb * WQEBB + 36)).collect();
    let (mut of_memory, mut of_wire) = (vec![], vec![]);
    if formats != 0 {
        of_wire.extend(signature.and_then(|all| all.wire().copied()).map(|_| format + 9));
        of_memory.extend(signature.and_then(|all| all.memory().copied()).map(|_| format + 13));
    }
    if sets[0] != 0 {
        of_memory.push(requests * WQEBB + 17);
    }
    if sets[1] != 0 {
        of_wire.push((requests + sets[0]) * WQEBB + 17);
    }
    let [a, b] = &stage.keys;
    let psvs = stage.psvs;
    let numbers = [
        (qpns, [twins.theirs.raw.number(), twins.qpn().get()]),
        (keys, [a.key >> 8, b.key >> 8]),
        (of_memory, psvs.map(|psvs| psvs.memory.get())),
        (of_wire, psvs.map(|psvs| psvs.wire.get())),
    ];
    twins.compare_but(all, &numbers)?;
    stage.fence = if case.steps.is_empty() { Fence::Small } else { Fence::None };
    stage.signature = signature;
    check_errors(stage, signature.as_ref(), told, error)
}

/// libmlx5 does not tell the numbers of a key's signature values; its requests have them.
fn learn(twins: &mut Twins<Rc>, stage: &Stage, key: &SignedKey) -> Psvs {
    let case = Case {
        change: Change::Sign(BlockSignature::on_both(LEARNT, LEARNT), None),
        check: SignatureBytes::ALL,
        list: None,
        rights: None,
        first: true,
        steps: vec![],
        id: 1,
    };
    let begin = twins.pi % twins.wqebbs();
    theirs(twins.theirs.raw.raw, stage, key, &case, (None, 0));
    assert_eq!(poll_theirs(twins), Ok(0));
    let ring = ring(&twins.theirs.raw.parts.sq);
    twins.pi += 5;
    let psv = |wqebb: usize| {
        let at = (begin + wqebb) * WQEBB;
        assert_eq!((ring[at + 3], ring[at + 7]), (0x20, 2), "SET_PSV");
        Psv::truncate(u32::from_be_bytes(ring[at + 16..at + 20].try_into().expect("4 bytes")))
    };
    Psvs { memory: psv(3), wire: psv(4) }
}

#[test]
fn keys_are_configured_and_errors_told_alike() {
    let fabric = Fabric::new();
    let pool = |bytes| Pool::new(&fabric.pd, bytes, Access::ALL).expect("a pool").take(bytes).expect("all of it");
    let none = Psvs { memory: Psv::truncate(0), wire: Psv::truncate(0) };
    let mut stage = Stage {
        keys: [SignedKey::new(&fabric, ENTRIES), SignedKey::new(&fabric, ENTRIES)],
        psvs: [none; 2],
        places: Places { memory: pool(BYTES), wire: pool(2 * BYTES) },
        signature: None,
        writable: false,
        errors: 1,
        news: false,
        fence: Fence::Small,
    };
    let geometry = Geometry { sends: 8, inline: 512, windows: true, keys: true, ..Geometry::default() };
    let mut twins = Twins::<Rc>::new(&fabric, &geometry, true);
    stage.psvs = [0, 1].map(|n| learn(&mut twins, &stage, &stage.keys[n]));
    twins.catch_up();
    stage.signature = Some(BlockSignature::on_both(LEARNT, LEARNT));
    in_turn::run::<Rc, _>(CASES, &["SetPsv"], case(), |case| check(&mut stage, &mut twins, case));
    assert!(stage.errors > CASES / 10, "{} errors", stage.errors);
}
