//! Memory keys that encrypt: libmlx5 and this crate configure them, and data moves through them.
//!
//! Encryption alone belongs here, together with block signatures in `formats.rs`.

use blueflame::transport::Rc;
use blueflame::types::{Dek, WrId};
use blueflame::verbs::memory::IndirectKey;
use blueflame::verbs::{Access, Pool};
use blueflame::wqe::formats::{BlockSize, DataUnits, EncryptedSide, Encryption, Formats, SignatureOrder};
use blueflame::wqe::keys::KeyRights;
use blueflame::wqe::{self, Fence, Sge};
use blueflame_sys as sys;
use proptest::prelude::*;

use crate::crypto::{CryptoAttr, OwnedDek, TAG, learnt, units};
use crate::in_turn::{self, Places, WQEBB};
use crate::post::begin_key;
use crate::twin::{Twins, ring, wait};
use crate::verbs::{Fabric, Geometry};

const CASES: u32 = 600;
/// Entries that keys have room for.
const ENTRIES: u16 = 8;
/// Bytes of memory behind a key.
const BYTES: usize = 16 << 10;
#[derive(Clone, Debug)]
struct Case {
    encryption: Encryption,
    /// Which key of encryption.
    dek: usize,
    /// Whole units, and blocks behind them.
    units: usize,
    blocks: usize,
    cuts: Vec<prop::sample::Index>,
    id: u64,
}

fn case(units: DataUnits) -> impl Strategy<Value = Case> {
    let side = prop_oneof![Just(EncryptedSide::Wire), Just(EncryptedSide::Memory)];
    let order = prop_oneof![Just(SignatureOrder::BeforeCrypto), Just(SignatureOrder::AfterCrypto)];
    let most = if units == DataUnits::One { 0..1_usize } else { 0..3 };
    let unit = prop::sample::select(&BlockSize::ALL[..]);
    let cuts = proptest::collection::vec(any::<prop::sample::Index>(), 0..usize::from(ENTRIES));
    let first = prop_oneof![any::<u128>(), Just(u128::MAX)];
    (side, order, unit, first, most, any::<usize>(), cuts, 0..4_usize, any::<u64>()).prop_map(
        move |(side, order, unit, first_unit, whole, blocks, cuts, dek, id)| Case {
            encryption: Encryption { dek: Dek::truncate(0), keytag: TAG, side, unit, first_unit, units, order },
            dek,
            units: whole,
            blocks,
            cuts,
            id,
        },
    )
}

impl Case {
    /// Bytes behind the key: whole units, and blocks before the last one of a unit; or one more unit.
    fn bytes(&self) -> usize {
        let unit = self.encryption.unit.bytes() as usize;
        let blocks = (unit - 16) / 16;
        match self.blocks % (blocks + 1) {
            0 => (self.units + 1) * unit,
            blocks => self.units * unit + blocks * 16,
        }
    }

    /// The list, of pieces in a row.
    fn list(&self, stage: &Stage) -> Vec<Sge> {
        let bytes = self.bytes();
        stage.places.pieces(&self.cuts, bytes)
    }
}

/// What requests name.
struct Stage {
    keys: [IndirectKey; 2],
    deks: Vec<OwnedDek>,
    numbers: Vec<Dek>,
    places: Places,
}

/// libmlx5 configures its key, writes the memory behind it to the wire, and reads it back.
fn theirs(twins: &mut Twins<Rc>, stage: &Stage, case: &Case) -> Result<(), String> {
    let list: Vec<_> = case.list(stage).iter().map(crate::post::sge).collect();
    let attr = CryptoAttr::new(&case.encryption, &stage.deks[case.dek]);
    let (key, remote, bytes) = (&stage.keys[0], stage.places.wire.remote(), case.bytes() as u32);
    // SAFETY: objects of the fabric and the stage, which are alive; lists live until the calls return.
    unsafe {
        let (ex, dv) = begin_key(twins.theirs.raw.raw, key.as_raw(), 3, &list, case.id);
        let d = &*dv;
        d.wr_set_mkey_crypto.expect("for keys")(dv, &raw const attr);
        (*ex).wr_flags = sys::IBV_SEND_FENCE;
        sys::ibv_wr_rdma_write(ex, remote.rkey.0, remote.addr);
        sys::ibv_wr_set_sge(ex, key.lkey().0, 0, bytes);
        (*ex).wr_flags = sys::IBV_SEND_FENCE | sys::IBV_SEND_SIGNALED;
        sys::ibv_wr_rdma_read(ex, remote.rkey.0, remote.addr);
        sys::ibv_wr_set_sge(ex, key.lkey().0, 0, bytes);
        assert_eq!(sys::ibv_wr_complete(ex), 0, "{case:?}");
    }
    let (_, wc) = wait("libmlx5's completion", || twins.theirs.send_cq.poll())?;
    match wc.status {
        sys::IBV_WC_SUCCESS => Ok(()),
        status => Err(format!("libmlx5's: status {status}, vendor syndrome {:#x}", wc.vendor_err)),
    }
}

/// This crate does the same with the other key.
fn ours(twins: &mut Twins<Rc>, stage: &Stage, case: &Case) {
    let (key, id) = (&stage.keys[1], WrId(case.id));
    let list = case.list(stage);
    let formats = Formats::encryption(Encryption { dek: stage.numbers[case.dek], ..case.encryption });
    let configure = key.configure().rights(KeyRights::LOCAL_WRITE).list(&list).formats(&formats).wr_id(id);
    let sge = [key.sge(0, case.bytes() as u32)];
    let write = wqe::write(stage.places.wire.remote()).gather(sge).fence(Fence::SmallAndReads).wr_id(id);
    let read = wqe::read(stage.places.wire.remote()).scatter(sge).fence(Fence::SmallAndReads).signaled(id);
    let mut batch = twins.ours.sq.batch();
    // SAFETY: the stage's memory, which outlives the queue.
    unsafe {
        batch.push_unchecked(&configure).expect("room");
        batch.push_unchecked(&write).expect("room");
        batch.push_unchecked(&read).expect("room");
    }
    batch.ring_doorbell();
}

fn check(stage: &mut Stage, twins: &mut Twins<Rc>, case: &Case) -> Result<(), String> {
    twins.clear_rings();
    stage.places.reset();
    let before = stage.places.bytes();
    theirs(twins, stage, case)?;
    let found = stage.places.bytes();
    let bytes = case.bytes();
    if found[..BYTES] != before[..BYTES] || found[BYTES + bytes..] != before[BYTES + bytes..] {
        return Err("what was written and read is not what was there".to_owned());
    }
    if bytes >= 64 && found[BYTES..BYTES + 64] == before[..64] {
        return Err("the wire had what is in memory".to_owned());
    }
    stage.places.reset();
    ours(twins, stage, case);
    twins.done(case.id)?;
    if stage.places.bytes() != found {
        return Err("other bytes".to_owned());
    }
    let configure = 3 + case.list(stage).len().div_ceil(4);
    let qpns = [0, configure, configure + 1].map(|wqebb| wqebb * WQEBB + 4).to_vec();
    let keys = [12, configure * WQEBB + 36, (configure + 1) * WQEBB + 36].to_vec();
    let [a, b] = &stage.keys;
    let numbers = [(qpns, [twins.theirs.raw.number(), twins.qpn().get()]), (keys, [a.lkey().0 >> 8, b.lkey().0 >> 8])];
    twins.compare_but(configure + 2, &numbers)
}

/// libmlx5 does not tell the number of a key of encryption; its requests have it.
fn learn(twins: &mut Twins<Rc>, stage: &Stage, units: DataUnits, dek: usize) -> Dek {
    let case = Case { encryption: learnt(units), dek, units: 0, blocks: 0, cuts: vec![], id: 1 };
    let begin = twins.pi % twins.wqebbs();
    assert_eq!(theirs(twins, stage, &case), Ok(()));
    let ring = ring(&twins.theirs.raw.parts.sq);
    twins.pi += 6;
    let at = (begin + 3) * WQEBB % ring.len();
    assert_eq!(ring[at], 0x81, "encryption");
    Dek::truncate(u32::from_be_bytes(std::array::from_fn(|n| ring[at + 32 + n])))
}

#[test]
fn keys_encrypt_alike() {
    let fabric = Fabric::new();
    let Some(units) = units(&fabric, "encryption::keys_encrypt_alike") else { return };
    let pool = |bytes| Pool::new(&fabric.pd, bytes, Access::ALL).expect("a pool").take(bytes).expect("all of it");
    let mut stage = Stage {
        keys: [0, 1].map(|_| fabric.pd.encrypting_key(ENTRIES).expect("a key that encrypts")),
        deks: OwnedDek::all(&fabric),
        numbers: vec![],
        places: Places { memory: pool(BYTES), wire: pool(BYTES) },
    };
    let geometry = Geometry { sends: 8, inline: 512, windows: true, keys: true, ..Geometry::default() };
    let mut twins = Twins::<Rc>::new(&fabric, &geometry, true);
    stage.numbers = (0..stage.deks.len()).map(|dek| learn(&mut twins, &stage, units, dek)).collect();
    twins.catch_up();
    in_turn::run::<Rc, _>(CASES, &["ConfigureKey"], case(units), |case| check(&mut stage, &mut twins, case));
}
