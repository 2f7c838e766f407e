//! Indirect memory keys: memory in several places is one region for the peer and for this side.
//!
//! Keys over pieces belong here, windows in `windows.rs`.

use blueflame::cq::WcStatus;
use blueflame::queue::PostError;
use blueflame::transport::Rc;
use blueflame::types::WrId;
use blueflame::verbs::memory::IndirectKey;
use blueflame::verbs::{Access, Buffer, Device, Error, ProtectionDomain};
use blueflame::wqe::keys::{KeyRights, Strided};
use blueflame::wqe::limits::KEY_LIST_ALIGN;
use blueflame::wqe::{self, EncodeError, Fence, Remote, Sge};
use memmap2::MmapMut;

use crate::end::{End, connected};
use crate::on_device::device;

/// `near` asks; `far` has the key.
struct Line {
    device: Device,
    pd: ProtectionDomain,
    near: End<Rc>,
    far: End<Rc>,
    /// The memory behind the key.
    memory: Buffer,
    key: IndirectKey,
}

/// Byte `n` of the memory.
fn byte(n: u64) -> u8 {
    (n ^ n >> 8) as u8
}

impl Line {
    fn new(entries: u16) -> Self {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let (near, far) = connected(&device, &pd);
        let key = pd.indirect_key(entries).expect("a key");
        let memory = pd.register(MmapMut::map_anon(1 << 16).expect("memory"), Access::ALL).expect("registered");
        let mut line = Self { device, pd, near, far, memory, key };
        line.fill();
        line
    }

    fn fill(&mut self) {
        let bytes: Vec<u8> = (0..self.memory.len() as u64).map(byte).collect();
        self.memory.write(0, &bytes);
    }

    fn renew(&mut self) {
        (self.near, self.far) = connected(&self.device, &self.pd);
    }

    fn piece(&self, offset: usize, len: usize) -> Sge {
        self.memory.sge_of(offset..offset + len)
    }

    /// Configures, and waits.
    fn list(&mut self, rights: KeyRights, list: &[Sge]) {
        self.far.post(&self.key.configure().rights(rights).list(list).signaled(WrId(1)));
        assert_eq!(self.far.completion().1, WrId(1));
    }

    /// The peer's view.
    fn read(&mut self, place: Remote, len: usize) -> Vec<u8> {
        self.near.buffer.fill(0);
        self.near.post(&wqe::read(place).scatter([self.near.buffer.sge_of(0..len)]).signaled(WrId(2)));
        assert_eq!(self.near.completion().1, WrId(2));
        self.near.bytes(len)
    }

    fn refused(&mut self, place: Remote) {
        self.near.post(&wqe::write(place).inline(b"no").signaled(WrId(3)));
        assert_eq!(self.near.failure(), WcStatus::RemAccessErr);
        self.renew();
    }

    fn at(&self, offset: usize, len: usize) -> Vec<u8> {
        self.memory.to_vec(offset..offset + len)
    }
}

fn bytes(places: impl IntoIterator<Item = std::ops::Range<u64>>) -> Vec<u8> {
    places.into_iter().flatten().map(byte).collect()
}

#[test]
fn pieces_are_one_region() {
    let mut line = Line::new(52);
    line.refused(line.key.remote(0));
    let all = KeyRights::LOCAL_WRITE | KeyRights::REMOTE_READ | KeyRights::REMOTE_WRITE | KeyRights::REMOTE_ATOMIC;
    // So often that requests of up to 15 WQEBBs go on at the ring's start.
    for round in 0..40_usize {
        let count = 1 + round * 7 % 52;
        let list: Vec<Sge> = (0..count).map(|n| line.piece(1000 * (51 - n) + round, 1 + n)).collect();
        line.list(all, &list);
        let total = count * (count + 1) / 2;
        let places = (0..count as u64).map(|n| {
            let start = 1000 * (51 - n) + round as u64;
            start..start + 1 + n
        });
        let expected = bytes(places);
        assert_eq!(line.read(line.key.remote(0), total), expected);
        assert_eq!(line.read(line.key.remote(total as u64 / 2), total - total / 2), expected[total / 2..]);
        let first = total as u64 - 1;
        line.near.post(&wqe::write(line.key.remote(first)).inline(b"!").signaled(WrId(4)));
        assert_eq!(line.near.completion().1, WrId(4));
        assert_eq!(line.at(1000 * (52 - count) + round + count - 1, 1), b"!");
        line.fill();
    }
    let list = [line.piece(64, 8), line.piece(0, 8)];
    line.list(all, &list);
    line.near.post(
        &wqe::fetch_add(line.key.remote(8), 1)
            .result(line.near.buffer.addr(), line.near.buffer.lkey())
            .signaled(WrId(5)),
    );
    assert_eq!(line.near.completion().1, WrId(5));
    let old = u64::from_ne_bytes(bytes(std::iter::once(0..8)).try_into().expect("8 bytes"));
    assert_eq!(line.at(0, 8), (old + 1).to_ne_bytes());
    line.refused(line.key.remote(15));
}

#[test]
fn what_repeats_is_one_region() {
    let mut line = Line::new(52);
    let start = line.memory.addr();
    let lkey = line.memory.lkey();
    let entry = |offset, bytes, stride| Strided { addr: start + offset, bytes, stride, lkey };
    let list = [entry(0, 3, 16), entry(40_000, 5, 5), entry(30_000, 1, 0)];
    let configure = line.key.configure().rights(KeyRights::REMOTE_READ).interleaved(100, &list);
    line.far.post(&configure.signaled(WrId(1)));
    assert_eq!(line.far.completion().1, WrId(1));
    let turn = |n: u64| [16 * n..16 * n + 3, 40_000 + 5 * n..40_005 + 5 * n, 30_000..30_001];
    assert_eq!(line.read(line.key.remote(0), 900), bytes((0..100).flat_map(turn)));
    assert_eq!(line.read(line.key.remote(898), 2), bytes([40_499..40_500, 30_000..30_001]));
    line.refused(line.key.remote(0));
    // By this side's requests, with the fence that the list needs.
    let write = wqe::write(line.near.buffer.remote()).gather([line.key.sge(450, 9)]);
    line.near.buffer.fill(0);
    line.far.post(&line.key.configure().interleaved(51, &list));
    line.far.post(&write.fence(Fence::Small).signaled(WrId(2)));
    assert_eq!(line.far.completion().1, WrId(2));
    assert_eq!(line.near.bytes(9), bytes(turn(50)));
    // A byte more than is behind the key.
    let past = wqe::write(line.near.buffer.remote()).gather([line.key.sge(451, 9)]);
    line.far.post(&past.signaled(WrId(3)));
    assert_eq!(line.far.failure(), WcStatus::LocProtErr);
}

#[test]
fn a_list_in_memory_is_as_long_as_the_key_has_room() {
    const PIECES: u16 = 1000;
    let mut line = Line::new(PIECES);
    let list: Vec<Sge> = (0..usize::from(PIECES)).map(|n| line.piece(60 * n, 1)).collect();
    let memory = MmapMut::map_anon(16 * 1024).expect("memory");
    let mut place: Buffer = line.pd.register(memory, Access::LOCAL_READ).expect("registered");
    for (n, sge) in list.iter().enumerate() {
        place.write(16 * n, &sge.to_list_entry());
    }
    let configure = line.key.configure().rights(KeyRights::REMOTE_READ);
    line.far.post(&configure.list_at(place.sge(), PIECES, PIECES.into()).signaled(WrId(1)));
    assert_eq!(line.far.completion().1, WrId(1));
    let expected = bytes((0..u64::from(PIECES)).map(|n| 60 * n..60 * n + 1));
    assert_eq!(line.read(line.key.remote(0), PIECES.into()), expected);
    let mut refused = |request| {
        // SAFETY: nothing is posted.
        let PostError::Encode(error) = unsafe { line.far.sq.post_unchecked(&request) }.expect_err("wrong") else {
            panic!("of the request itself")
        };
        error
    };
    let error = refused(configure.list_at(place.sge(), PIECES + 1, 1));
    assert_eq!(error, EncodeError::KeyListTooLong { entries: 1001, limit: PIECES });
    assert_eq!(refused(configure.list_at(place.sge(), 0, 0)), EncodeError::KeyListEmpty);
    let error = refused(configure.list_at(Sge { addr: place.addr() + 64, ..place.sge() }, 4, 4));
    assert_eq!(error, EncodeError::KeyListMisaligned { addr: place.addr() + 64 });
    assert!(place.addr() % KEY_LIST_ALIGN == 0);
    let error = refused(configure.list_at(place.sge_of(0..64), 5, 5));
    assert_eq!(error, EncodeError::KeyListCut { bytes: 64, needed: 128 });
}

#[test]
fn rights_and_keys_are_checked_where_they_are_used() {
    let mut line = Line::new(4);
    let list = [line.piece(0, 8)];
    line.list(KeyRights::REMOTE_READ, &list);
    line.refused(line.key.remote(0));
    // The list stays when the rights change.
    line.far.post(&line.key.configure().rights(KeyRights::REMOTE_WRITE | KeyRights::LOCAL_WRITE).signaled(WrId(1)));
    assert_eq!(line.far.completion().1, WrId(1));
    line.near.post(&wqe::write(line.key.remote(6)).inline(b"ok").signaled(WrId(2)));
    assert_eq!(line.near.completion().1, WrId(2));
    assert_eq!(line.at(0, 8)[6..], *b"ok");
    // A piece that only may be read, and one of no key.
    let fixed = line.pd.register(MmapMut::map_anon(4096).expect("memory"), Access::LOCAL_READ).expect("registered");
    for piece in [fixed.sge_of(0..8), Sge { lkey: blueflame::Lkey(0xffff_ff00), ..fixed.sge_of(0..8) }] {
        line.list(KeyRights::REMOTE_WRITE | KeyRights::LOCAL_WRITE, &[piece]);
        line.refused(line.key.remote(0));
    }
    let list = [line.piece(0, 8)];
    line.list(KeyRights::REMOTE_WRITE | KeyRights::LOCAL_WRITE, &list);
    line.far.sq.post(&line.key.take_back().signaled(WrId(4))).expect("room");
    assert_eq!(line.far.completion().1, WrId(4));
    line.refused(line.key.remote(0));
    // Keys that requests do not change.
    line.far.post(&wqe::configure_key(line.memory.rkey(), 4).rights(KeyRights::REMOTE_READ).signaled(WrId(5)));
    assert_eq!(line.far.failure(), WcStatus::MwBindErr);
    line.renew();
    let elsewhere = line.device.protection_domain().expect("a PD");
    let foreign = elsewhere.indirect_key(4).expect("a key");
    line.far.post(&foreign.configure().rights(KeyRights::REMOTE_READ).signaled(WrId(6)));
    assert_eq!(line.far.failure(), WcStatus::MwBindErr);
}

#[test]
fn what_cannot_be_is_told_before() {
    let mut line = Line::new(5);
    assert_eq!(line.key.entries(), 8, "in fours");
    let piece = line.piece(0, 8);
    // SAFETY: nothing is posted.
    let error = unsafe { line.far.sq.post_unchecked(&line.key.configure().list(&[piece; 9])) };
    assert_eq!(error, Err(PostError::Encode(EncodeError::KeyListTooLong { entries: 9, limit: 8 })));
    let entry = Strided { addr: piece.addr, bytes: 1, stride: 1, lkey: piece.lkey };
    // SAFETY: nothing is posted.
    let error = unsafe { line.far.sq.post_unchecked(&line.key.configure().interleaved(1, &[entry; 8])) };
    assert_eq!(error, Err(PostError::Encode(EncodeError::KeyListTooLong { entries: 9, limit: 8 })));
    let long = Sge { length: 1 << 31, ..piece };
    // SAFETY: nothing is posted.
    let error = unsafe { line.far.sq.post_unchecked(&line.key.configure().list(&[piece, long])) };
    assert_eq!(
        error,
        Err(PostError::Encode(EncodeError::SgeTooLong { bytes: 1 << 31, limit: wqe::limits::MAX_SGE_BYTES }))
    );
    let large = line.pd.indirect_key(100).expect("a key");
    // SAFETY: nothing is posted.
    let error = unsafe { line.far.sq.post_unchecked(&large.configure().list(&[piece; 53])) };
    assert_eq!(error, Err(PostError::Encode(EncodeError::WqeTooLong { ds: 64, limit: 63 })));
    for entries in [0, 0xfffd] {
        let error = line.pd.indirect_key(entries).expect_err("not so many");
        assert!(matches!(error, Error::OutOfRange { min: 1, max: 0xfffc, .. }), "{error}");
    }
}
