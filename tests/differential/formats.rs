//! Memory keys with block signatures and encryption: libmlx5 and this crate configure them, and data moves through
//! them.
//!
//! Both formats together belong here, each alone in `encryption.rs` and `signatures.rs`.

use blueflame::transport::Rc;
use blueflame::types::{Dek, Psv, Rkey, WrId};
use blueflame::verbs::{Access, Pool};
use blueflame::wqe::formats::{
    BlockSignature, BlockSize, DataUnits, EncryptedSide, Encryption, Formats, Psvs, SignatureBytes, SignatureOrder,
    SignedBlocks,
};
use blueflame::wqe::keys::KeyRights;
use blueflame::wqe::{self, Fence, Sge};
use blueflame_sys as sys;
use proptest::prelude::*;

use crate::crypto::{CryptoAttr, OwnedDek, TAG, learnt, units};
use crate::in_turn::{self, Places, WQEBB};
use crate::post::begin_key;
use crate::sig_block::{Domain, SigBlockAttr, SignedKey};
use crate::signatures::{LEARNT, blocks, laid_out};
use crate::twin::{Twins, ring, wait};
use crate::verbs::{Fabric, Geometry};

const CASES: u32 = 400;
/// Entries that keys have room for.
const ENTRIES: u16 = 8;
/// Bytes of memory behind a key, and on the wire.
const BYTES: usize = 16 << 10;

/// Which sides have signatures.
#[derive(Clone, Copy, Debug)]
enum Sides {
    Memory,
    Wire,
    /// Both sides, with equal signatures or different ones.
    Both(bool),
}

#[derive(Clone, Debug)]
struct Case {
    signature: BlockSignature,
    /// Checked data is good, so there are no error reports: data with signatures is written first.
    check: SignatureBytes,
    encryption: Encryption,
    /// Which key of encryption.
    dek: usize,
    /// Bytes without signatures.
    raw: usize,
    cuts: Vec<prop::sample::Index>,
    /// The first data comes from the wire.
    reads_first: bool,
    /// libmlx5 is told of encryption before signatures.
    crypto_first: bool,
    id: u64,
}

/// Whether data of that length can be encrypted by such units.
fn can_end(unit: BlockSize, units: DataUnits, bytes: usize) -> bool {
    let unit = unit.bytes() as usize;
    let within = bytes % unit;
    let ends = within == 0 || within % 16 == 0 && within <= unit - 16;
    ends && (units == DataUnits::Many || bytes <= unit)
}

/// The bytes of data units: between signatures and the wire, or between memory and signatures.
fn encrypted_bytes(encryption: &Encryption, signature: &BlockSignature, raw: usize) -> usize {
    let behind = encryption.order == SignatureOrder::BeforeCrypto;
    laid_out(raw, if behind { signature.wire() } else { signature.memory() })
}

fn signed(sides: Sides, memory: SignedBlocks, wire: SignedBlocks) -> BlockSignature {
    match sides {
        Sides::Memory => BlockSignature::in_memory(memory),
        Sides::Wire => BlockSignature::on_wire(wire),
        Sides::Both(same) => BlockSignature::on_both(memory, if same { memory } else { wire }),
    }
}

fn case(units: DataUnits) -> impl Strategy<Value = Case> {
    let sides = prop_oneof![Just(Sides::Memory), Just(Sides::Wire), any::<bool>().prop_map(Sides::Both)];
    let unit = prop::sample::select(&BlockSize::ALL[..]);
    let cuts = proptest::collection::vec(any::<prop::sample::Index>(), 0..usize::from(ENTRIES));
    let encryption = (any::<bool>(), any::<bool>(), unit, any::<u128>(), 0..4_usize);
    let check = prop_oneof![Just(SignatureBytes::ALL), any::<u8>().prop_map(SignatureBytes)];
    let rest = (1..12_000_usize, cuts, any::<bool>(), any::<bool>(), any::<u64>());
    (sides, blocks(), blocks(), check, encryption, rest).prop_map(
        move |(sides, memory, wire, check, (on_wire, before, unit, first_unit, dek), rest)| {
            let signature = signed(sides, memory, wire);
            let side = if on_wire { EncryptedSide::Wire } else { EncryptedSide::Memory };
            let before = match sides {
                // No device has it the other way round.
                Sides::Both(_) => on_wire,
                _ => before,
            };
            let order = if before { SignatureOrder::BeforeCrypto } else { SignatureOrder::AfterCrypto };
            let encryption = Encryption { dek: Dek::truncate(0), keytag: TAG, side, unit, first_unit, units, order };
            let (wish, cuts, reads_first, crypto_first, id) = rest;
            let fits = |&raw: &usize| can_end(unit, units, encrypted_bytes(&encryption, &signature, raw));
            let raw = (1..=wish).rev().find(fits).or_else(|| (wish..).find(fits)).expect("some length");
            let (check, reads_first) = match sides {
                Sides::Memory => (check, true),
                Sides::Wire => (check, false),
                // The first data has no good signatures.
                Sides::Both(_) => (SignatureBytes(0), reads_first),
            };
            Case { signature, check, encryption, dek, raw, cuts, reads_first, crypto_first, id }
        },
    )
}

impl Case {
    fn signature(&self) -> BlockSignature {
        self.signature.check(self.check)
    }

    /// The list, of pieces in a row.
    fn list(&self, stage: &Stage) -> Vec<Sge> {
        let bytes = laid_out(self.raw, self.signature.memory());
        stage.places.pieces(&self.cuts, bytes)
    }

    fn wire_bytes(&self) -> usize {
        laid_out(self.raw, self.signature.wire())
    }
}

/// What requests name.
struct Stage {
    keys: [SignedKey; 2],
    psvs: [Psvs; 2],
    deks: Vec<OwnedDek>,
    numbers: Vec<Dek>,
    places: Places,
    /// The fence that the next request needs.
    fence: Fence,
}

/// libmlx5 configures that key, and moves data both ways.
fn theirs(twins: &mut Twins<Rc>, stage: &Stage, key: &SignedKey, case: &Case) -> Result<(), String> {
    let list: Vec<_> = case.list(stage).iter().map(crate::post::sge).collect();
    let domains = [case.signature.memory(), case.signature.wire()].map(|blocks| blocks.map(Domain::new));
    let domain = |n: usize| domains[n].as_ref().map_or(std::ptr::null(), |domain| &raw const domain.domain);
    let check_mask = case.check.0;
    let signature = SigBlockAttr { mem: domain(0), wire: domain(1), flags: 0, check_mask, copy_mask: 0, comp_mask: 0 };
    let encryption = CryptoAttr::new(&case.encryption, &stage.deks[case.dek]);
    let (remote, wire) = (stage.places.wire.remote(), case.wire_bytes() as u32);
    // SAFETY: objects of the fabric and the stage, which are alive; lists live until the calls return.
    unsafe {
        let (ex, dv) = begin_key(twins.theirs.raw.raw, key.as_raw(), 4, &list, case.id);
        let d = &*dv;
        if case.crypto_first {
            d.wr_set_mkey_crypto.expect("for keys")(dv, &raw const encryption);
        }
        d.wr_set_mkey_sig_block.expect("for keys")(dv, &signature);
        if !case.crypto_first {
            d.wr_set_mkey_crypto.expect("for keys")(dv, &raw const encryption);
        }
        for (n, reads) in [case.reads_first, !case.reads_first].into_iter().enumerate() {
            let signaled = if n == 1 { sys::IBV_SEND_SIGNALED } else { 0 };
            (*ex).wr_flags = sys::IBV_SEND_FENCE | signaled;
            if reads {
                sys::ibv_wr_rdma_read(ex, remote.rkey.0, remote.addr);
            } else {
                sys::ibv_wr_rdma_write(ex, remote.rkey.0, remote.addr);
            }
            sys::ibv_wr_set_sge(ex, key.key, 0, wire);
        }
        assert_eq!(sys::ibv_wr_complete(ex), 0, "{case:?}");
    }
    let (_, wc) = wait("libmlx5's completion", || twins.theirs.send_cq.poll())?;
    match (wc.status, key.check().err_type) {
        (sys::IBV_WC_SUCCESS, 0) => Ok(()),
        (status, kind) => Err(format!("libmlx5's: status {status}, error of signatures {kind}")),
    }
}

/// This crate does the same with the other key.
fn ours(twins: &mut Twins<Rc>, stage: &Stage, case: &Case) {
    let (key, psvs, id) = (&stage.keys[1], stage.psvs[1], WrId(case.id));
    let list = case.list(stage);
    let encryption = Encryption { dek: stage.numbers[case.dek], ..case.encryption };
    let signature = case.signature();
    let formats = Formats::signature(signature, psvs).and_encryption(encryption);
    let configure = wqe::configure_key(Rkey(key.key), ENTRIES).rights(KeyRights::LOCAL_WRITE).list(&list);
    let configure = configure.formats(&formats).fence(stage.fence).wr_id(id);
    let (sge, wire) = ([key.sge(case.wire_bytes())], stage.places.wire.remote());
    let mut batch = twins.ours.sq.batch();
    // SAFETY: the stage's memory, which outlives the queue; so below.
    unsafe { batch.push_unchecked(&configure) }.expect("room");
    for set in signature.set_psvs(psvs) {
        batch.push(&set.wr_id(id)).expect("room");
    }
    for (n, reads) in [case.reads_first, !case.reads_first].into_iter().enumerate() {
        let fence = Fence::SmallAndReads;
        // SAFETY: the stage's memory, which outlives the queue.
        unsafe {
            match reads {
                true => batch.push_unchecked(&wqe::read(wire).scatter(sge).fence(fence).signaled_if(n == 1, id)),
                false => batch.push_unchecked(&wqe::write(wire).gather(sge).fence(fence).signaled_if(n == 1, id)),
            }
        }
        .expect("room");
    }
    batch.ring_doorbell();
}

fn check(stage: &mut Stage, twins: &mut Twins<Rc>, case: &Case) -> Result<(), String> {
    twins.clear_rings();
    stage.places.reset();
    let before = stage.places.bytes();
    theirs(twins, stage, &stage.keys[0], case)?;
    let found = stage.places.bytes();
    // A first read decrypts or encrypts memory; a first write does so on the wire.
    let moved = if case.reads_first { 0..64 } else { BYTES..BYTES + 64 };
    let from = if case.reads_first { BYTES..BYTES + 64 } else { 0..64 };
    if case.raw >= 64 && (found[moved.clone()] == before[from] || found[moved.clone()] == before[moved]) {
        return Err("nothing has been encrypted".to_owned());
    }
    stage.places.reset();
    ours(twins, stage, case);
    twins.done(case.id)?;
    if stage.places.bytes() != found {
        return Err("other bytes".to_owned());
    }
    let format = (2 + case.list(stage).len().div_ceil(4)) * WQEBB;
    let configure = format / WQEBB + 2;
    let sets = [case.signature.memory(), case.signature.wire()].map(|blocks| usize::from(blocks.is_some()));
    let transfers = configure + sets[0] + sets[1];
    let all = transfers + 2;
    let qpns = [0].into_iter().chain(configure..all).map(|wqebb| wqebb * WQEBB + 4).collect();
    let keys = [12].into_iter().chain((transfers..all).map(|wqebb| wqebb * WQEBB + 36)).collect();
    let (mut of_memory, mut of_wire) = (vec![], vec![]);
    if sets[0] != 0 {
        of_memory.extend([format + 13, configure * WQEBB + 17]);
    }
    if sets[1] != 0 {
        of_wire.extend([format + 9, (configure + sets[0]) * WQEBB + 17]);
    }
    let ([a, b], psvs) = (&stage.keys, stage.psvs);
    let numbers = [
        (qpns, [twins.theirs.raw.number(), twins.qpn().get()]),
        (keys, [a.key >> 8, b.key >> 8]),
        (of_memory, psvs.map(|psvs| psvs.memory.get())),
        (of_wire, psvs.map(|psvs| psvs.wire.get())),
    ];
    stage.fence = Fence::None;
    twins.compare_but(all, &numbers)
}

/// libmlx5 does not tell the numbers of signature values and keys of encryption; its requests have them.
fn learn(twins: &mut Twins<Rc>, stage: &Stage, key: &SignedKey, units: DataUnits, dek: usize) -> (Psvs, Dek) {
    let (signature, check) = (BlockSignature::on_both(LEARNT, LEARNT), SignatureBytes(0));
    let encryption = learnt(units);
    let (raw, cuts, reads_first, crypto_first, id) = (256, vec![], false, false, 1);
    let case = Case { signature, check, encryption, dek, raw, cuts, reads_first, crypto_first, id };
    let begin = twins.pi % twins.wqebbs();
    assert_eq!(theirs(twins, stage, key, &case), Ok(()));
    let ring = ring(&twins.theirs.raw.parts.sq);
    twins.pi += 9;
    let word = |wqebb: usize, byte: usize| {
        let at = ((begin + wqebb) * WQEBB + byte) % ring.len();
        u32::from_be_bytes(std::array::from_fn(|n| ring[at + n]))
    };
    assert_eq!([word(3, 0) >> 24, word(4, 0) >> 24], [0xd0, 0xc1], "signatures on both sides, and encryption");
    assert_eq!([word(5, 0), word(6, 0)].map(|word| word & 0xff), [0x20; 2], "SET_PSV");
    (Psvs { memory: Psv::truncate(word(5, 16)), wire: Psv::truncate(word(6, 16)) }, Dek::truncate(word(4, 32)))
}

#[test]
fn keys_sign_and_encrypt_alike() {
    let fabric = Fabric::new();
    let Some(units) = units(&fabric, "formats::keys_sign_and_encrypt_alike") else { return };
    let pool = |bytes| Pool::new(&fabric.pd, bytes, Access::ALL).expect("a pool").take(bytes).expect("all of it");
    let none = Psvs { memory: Psv::truncate(0), wire: Psv::truncate(0) };
    let mut stage = Stage {
        keys: [0, 1].map(|_| SignedKey::encrypting(&fabric, ENTRIES)),
        psvs: [none; 2],
        deks: OwnedDek::all(&fabric),
        numbers: vec![],
        places: Places { memory: pool(BYTES), wire: pool(BYTES) },
        fence: Fence::None,
    };
    let geometry = Geometry { sends: 8, inline: 512, windows: true, keys: true, ..Geometry::default() };
    let mut twins = Twins::<Rc>::new(&fabric, &geometry, true);
    stage.psvs = [0, 1].map(|key| learn(&mut twins, &stage, &stage.keys[key], units, 0).0);
    stage.numbers = (0..stage.deks.len()).map(|dek| learn(&mut twins, &stage, &stage.keys[0], units, dek).1).collect();
    twins.catch_up();
    in_turn::run::<Rc, _>(CASES, &["SetPsv"], case(units), |case| check(&mut stage, &mut twins, case));
}
