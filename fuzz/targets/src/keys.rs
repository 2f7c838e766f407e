//! Requests that change memory keys, of the target `wqe_build`: windows, indirect keys. The device must read each
//! request as posted.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use blueflame::cq::CqId;
use blueflame::db::{ExclusiveRegister, RegisterParts};
use blueflame::queue::send::{SqParts, WqeRecord};
use blueflame::queue::{PostError, SendQueue};
use blueflame::transport;
use blueflame::types::{Psv, Qpn, Rkey, SqPi, WrId};
use blueflame::wqe::formats::{Formats, Psvs};
use blueflame::wqe::keys::{KeyRights, Strided, Window, WindowRights};
use blueflame::wqe::limits::{KEY_LIST_ALIGN, MAX_SGE_BYTES};
use blueflame::wqe::{self as wqe, EncodeError};
use blueflame::{Lkey, Sge};
use softhca::context::{InlineHeaders, SqContext, Transport};
use softhca::wqe::{self as device, DataSeg, KeyChange, SendOp, SendWqe, Umr, UmrList};

use super::memory::{Arena, BASE};
use super::request::{Input, Request};

/// Entries that a WQE has room for: 63 DS, of which 8 are not theirs, in fours.
const FIT: usize = 52;

/// Entries that fit with one format behind them, and with two.
const FIT_FORMATTED: usize = 48;
const FIT_FORMATTED_TWICE: usize = 44;
/// Kinds of requests.
const KINDS: u8 = 11;

/// The result of a post, and the request that the device must read.
type Outcome = (Result<(), PostError>, Asked);

/// The request that the device must read.
pub(crate) enum Asked {
    /// A change of a key.
    Key(Umr),
    /// A signature value, and its new contents.
    SignatureValue(u32, u64),
}

impl Request {
    fn changed_key(&self) -> Rkey {
        Rkey(self.rkey)
    }

    /// Four rights, from the highest bits of `flags`.
    fn rights(&self) -> (KeyRights, [bool; 4]) {
        let said = [4, 5, 6, 7].map(|bit| self.flags >> bit & 1 != 0);
        let all = [KeyRights::LOCAL_WRITE, KeyRights::REMOTE_READ, KeyRights::REMOTE_WRITE, KeyRights::REMOTE_ATOMIC];
        let rights = all.into_iter().zip(said).filter(|(_, said)| *said);
        (rights.fold(KeyRights::NONE, |rights, (right, _)| rights | right), said)
    }

    fn sges(&self) -> Vec<Sge> {
        self.entries.iter().map(|e| Sge { addr: e.addr, length: e.bytes, lkey: Lkey(e.lkey) }).collect()
    }

    fn strided(&self) -> Vec<Strided> {
        let entry = |e: &super::request::Entry| {
            let (bytes, stride) = (e.bytes as u16, (e.bytes >> 16) as u16);
            Strided { addr: e.addr, bytes, stride, lkey: Lkey(e.lkey) }
        };
        self.entries.iter().map(entry).collect()
    }

    /// A UMR with nothing but the key.
    fn plain(&self) -> Umr {
        let change = KeyChange { free: Some(false), variant: Some(self.rkey as u8), ..KeyChange::default() };
        Umr {
            key: self.rkey,
            must_be_free: None,
            must_be_of_qp: false,
            change,
            at: 0,
            octwords: 0,
            list: UmrList::Inline(vec![]),
            format_octwords: 0,
            signatures: None,
            encryption: None,
        }
    }

    fn configured(&self, len: Option<u64>, octwords: usize, list: UmrList) -> Umr {
        let mut umr = Umr { octwords: octwords as u16, list, ..self.plain() };
        umr.change.len = len;
        if self.flags & 1 != 0 {
            let (_, [local_write, remote_read, remote_write, remote_atomic]) = self.rights();
            umr.change.local_write = Some(local_write);
            umr.change.remote_read = Some(remote_read);
            umr.change.remote_write = Some(remote_write);
            umr.change.remote_atomic = Some(remote_atomic);
        }
        umr
    }

    /// Posts it.
    fn post_key(&self, sq: &mut SendQueue<transport::Rc>, id: u64) -> Outcome {
        let id = WrId(id);
        let configure = wqe::configure_key(self.changed_key(), self.inline_len).signaled(id);
        let configure = if self.flags & 1 != 0 { configure.rights(self.rights().0) } else { configure };
        let (sges, strided) = (self.sges(), self.strided());
        // SAFETY: no device acts on the posted WQEs, throughout.
        let (done, umr) = unsafe {
            match self.kind % KINDS {
                0 => (sq.post_unchecked(&configure), self.configured(None, 0, UmrList::Inline(vec![]))),
                1 => {
                    let done = sq.post_unchecked(&configure.list(&sges));
                    let bytes: u64 = sges.iter().map(|sge| u64::from(sge.length)).sum();
                    let list = in_fours(sges.iter().map(klm).collect());
                    (done, self.configured(Some(bytes), list.len() / 16, UmrList::Inline(list)))
                }
                2 => {
                    let done = sq.post_unchecked(&configure.interleaved(self.imm, &strided));
                    let turn: u64 = strided.iter().map(|entry| u64::from(entry.bytes)).sum();
                    let mut list = vec![repeat(turn as u32, self.imm, strided.len() as u16)];
                    list.extend(strided.iter().map(turn_of));
                    let list = in_fours(list);
                    let bytes = turn * u64::from(self.imm);
                    (done, self.configured(Some(bytes), list.len() / 16, UmrList::Inline(list)))
                }
                3 => {
                    let (entries, bytes) = (self.imm as u16, self.addr);
                    let done = sq.post_unchecked(&configure.list_at(self.place(), entries, bytes));
                    let octwords = usize::from(entries).next_multiple_of(4);
                    let Sge { addr, lkey, .. } = self.place();
                    let seg = DataSeg { len: 16 * octwords as u32, lkey: lkey.0, addr };
                    (done, self.configured(Some(bytes), octwords, UmrList::Reference(seg)))
                }
                4 => {
                    let rights = [WindowRights::READ, WindowRights::WRITE, WindowRights::ATOMIC];
                    let (_, [_, said @ ..]) = self.rights();
                    let rights = rights.into_iter().zip(said).filter(|(_, said)| *said);
                    let rights = rights.fold(WindowRights::NONE, |all, (right, _)| all | right);
                    let (piece, rkey, qpn) = (self.piece(), self.changed_key(), sq.qpn());
                    let two = self.inline;
                    let window = if two { Window::Type2 { rkey, qpn } } else { Window::Type1 { rkey } };
                    let bind = wqe::bind_window(window, Rkey(self.imm), piece, rights).signaled(id);
                    let bind = if self.flags & 1 != 0 { bind.zero_based() } else { bind };
                    let mut umr = self.plain();
                    umr.must_be_free = two.then_some(true);
                    umr.octwords = 4;
                    umr.list = UmrList::Inline(in_fours(vec![klm(&piece)]));
                    umr.change = KeyChange {
                        variant: Some(self.imm as u8),
                        qpn: two.then_some(Some(qpn.get())),
                        start: Some(if self.flags & 1 != 0 { 0 } else { piece.addr }),
                        len: Some(piece.length.into()),
                        local_write: Some(false),
                        remote_read: Some(said[0]),
                        remote_write: Some(said[1]),
                        remote_atomic: Some(said[2]),
                        ..umr.change
                    };
                    // All ones are any queue pair.
                    if qpn.get() == 0xff_ffff && two {
                        umr.change.qpn = Some(None);
                    }
                    (sq.post_unchecked(&bind), umr)
                }
                5 => {
                    let mut umr = Umr { must_be_of_qp: true, ..self.plain() };
                    umr.change =
                        KeyChange { free: Some(true), variant: Some(0), qpn: Some(None), ..KeyChange::default() };
                    (sq.post(&wqe::local_invalidate(self.changed_key()).signaled(id)), umr)
                }
                kind @ (7 | 9 | 10) => {
                    let (asked, signed) = self.signature();
                    let (encryption, encrypted) = self.encryption();
                    let psvs = Psvs { memory: Psv::truncate(self.imm), wire: Psv::truncate(self.rkey) };
                    let bytes: u64 = sges.iter().map(|sge| u64::from(sge.length)).sum();
                    let list = in_fours(sges.iter().map(klm).collect());
                    let mut umr = self.configured(Some(bytes), list.len() / 16, UmrList::Inline(list));
                    umr.change.formatted = Some(true);
                    let (signing, encrypting) = (Formats::signature(asked, psvs), Formats::encryption(encryption));
                    let both = signing.and_encryption(encryption);
                    let (plain, counted) = (configure.list(&sges), configure.signature_errors(self.imm).list(&sges));
                    if kind != 9 {
                        umr.format_octwords += 4;
                        umr.signatures = Some(signed);
                        umr.change.errors = Some(self.imm & 1 != 0);
                    }
                    if kind != 7 {
                        umr.format_octwords += 4;
                        umr.encryption = Some(encrypted);
                    }
                    let done = match kind {
                        7 => sq.post_unchecked(&counted.formats(&signing)),
                        9 => sq.post_unchecked(&plain.formats(&encrypting)),
                        _ => sq.post_unchecked(&counted.formats(&both)),
                    };
                    (done, umr)
                }
                8 => {
                    let psv = Psv::truncate(self.imm);
                    let done = sq.post(&wqe::set_psv(psv, self.addr).signaled(id));
                    return (done, Asked::SignatureValue(psv.get(), self.addr));
                }
                _ => {
                    let mut umr = self.plain();
                    umr.change = KeyChange { free: Some(true), variant: Some(self.imm as u8), ..KeyChange::default() };
                    (sq.post(&wqe::unbind_window(self.changed_key(), Rkey(self.imm)).signaled(id)), umr)
                }
            }
        };
        (done, Asked::Key(umr))
    }

    /// Where a list in memory is.
    fn place(&self) -> Sge {
        let mut place = self.piece();
        if self.inline {
            place.addr -= place.addr % KEY_LIST_ALIGN;
        }
        place
    }

    fn piece(&self) -> Sge {
        self.sges().first().copied().unwrap_or(Sge { addr: self.addr, length: 1, lkey: Lkey(self.imm) })
    }

    /// Whether a refusal names a limit that the request is past.
    fn is_past(&self, error: &PostError, input: &Input, ring: u32) -> bool {
        let (room, count) = (usize::from(self.inline_len.min(0xfffc)), self.entries.len());
        let entries = match self.kind % KINDS {
            1 | 7 | 9 | 10 => count,
            2 => count + 1,
            3 => usize::from(self.imm as u16),
            _ => 0,
        };
        let long = |sges: &[Sge]| sges.iter().any(|sge| sge.length > MAX_SGE_BYTES);
        match error {
            PostError::Encode(EncodeError::KeyListTooLong { entries: said, limit }) => {
                (*said, usize::from(*limit)) == (entries, room) && entries > room
            }
            PostError::Encode(EncodeError::SgeTooLong { .. }) => match self.kind % KINDS {
                1 | 7 | 9 | 10 => long(&self.sges()),
                4 => long(&[self.piece()]),
                _ => false,
            },
            PostError::Encode(EncodeError::WqeTooLong { .. }) => match self.kind % KINDS {
                1 | 2 => entries > FIT,
                7 | 9 => entries > FIT_FORMATTED,
                10 => entries > FIT_FORMATTED_TWICE,
                _ => false,
            },
            PostError::Encode(EncodeError::FormattedTooLong { bytes, .. }) => {
                matches!(self.kind % KINDS, 7 | 9 | 10) && *bytes > u32::MAX.into()
            }
            PostError::Encode(EncodeError::DataUnitTooShort { bytes, limit }) => {
                matches!(self.kind % KINDS, 9 | 10)
                    && self.only_unit() == Some(u64::from(*limit))
                    && *bytes > u64::from(*limit)
            }
            PostError::Encode(EncodeError::EncryptedSignatures) => {
                self.kind % KINDS == 10 && self.signs_encrypted_twice()
            }
            PostError::Encode(EncodeError::KeyListMisaligned { addr }) => {
                self.kind % KINDS == 3 && *addr == self.place().addr && addr % KEY_LIST_ALIGN != 0
            }
            PostError::Encode(EncodeError::KeyListCut { bytes, needed }) => {
                self.kind % KINDS == 3 && *needed > *bytes as usize && *needed == 16 * entries.next_multiple_of(4)
            }
            PostError::Encode(EncodeError::KeyListEmpty) => self.kind % KINDS == 3 && entries == 0,
            PostError::LargerThanRing { needed, ring: said } => {
                *said == ring && u32::from(needed.0) > ring && input.log_wqebbs & 7 < 4
            }
            _ => false,
        }
    }
}

fn klm(sge: &Sge) -> [u8; 16] {
    entry([sge.length, sge.lkey.0], sge.addr)
}

fn repeat(bytes: u32, turns: u32, entries: u16) -> [u8; 16] {
    entry([bytes, 0x400], u64::from(turns) << 32 | u64::from(entries))
}

fn turn_of(strided: &Strided) -> [u8; 16] {
    entry([u32::from(strided.stride) << 16 | u32::from(strided.bytes), strided.lkey.0], strided.addr)
}

fn entry(words: [u32; 2], last: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&words[0].to_be_bytes());
    bytes[4..8].copy_from_slice(&words[1].to_be_bytes());
    bytes[8..].copy_from_slice(&last.to_be_bytes());
    bytes
}

fn in_fours(mut list: Vec<[u8; 16]>) -> Vec<u8> {
    list.resize(list.len().next_multiple_of(4), [0; 16]);
    list.into_flattened()
}

/// Posts and decodes.
pub(crate) fn run(input: &Input) {
    let wqebbs = 1_u32 << (input.log_wqebbs & 7);
    post_all(
        input,
        Request::post_key,
        |request, error| request.is_past(error, input, wqebbs),
        |found, expected| {
            assert!(found.signaled);
            match expected {
                Asked::Key(umr) => assert_eq!((&found.op, found.umr.as_deref()), (&SendOp::Umr, Some(umr))),
                Asked::SignatureValue(psv, value) => {
                    assert_eq!((&found.op, &found.umr), (&SendOp::SetPsv { psv: *psv, value: *value }, &None));
                }
            }
        },
    );
}

/// Posts all requests to a queue that takes no data, and has each checked: either the refusal, or the request that the
/// device has read.
pub(super) fn post_all<E>(
    input: &Input,
    post: impl Fn(&Request, &mut SendQueue<transport::Rc>, u64) -> (Result<(), PostError>, E),
    is_due: impl Fn(&Request, &PostError) -> bool,
    agree: impl Fn(&SendWqe, &E),
) {
    let log_size = input.log_wqebbs & 7;
    let wqebbs = 1_u32 << log_size;
    let (ring, record, page) = (Arena::new(64 << log_size, 0xa5), Arena::new(8, 0xa5), Arena::new(8, 0xa5));
    let mut shadow = vec![MaybeUninit::<WqeRecord>::uninit(); wqebbs as usize];
    let qpn = Qpn::truncate(input.qpn);
    let parts = SqParts {
        ring: ring.ptr(),
        wqebbs,
        dbrec: record.ptr().cast(),
        qpn,
        cq: CqId::NONE,
        max_inline: 0,
        // Among the requests posted here, only DUMP uses the queue's entries.
        max_sge: if input.service & 0x20 != 0 { input.max_sge.into() } else { 0 },
        signal_all: false,
        pi: SqPi(input.pi),
        shadow: NonNull::from(&mut shadow[..]).cast(),
    };
    // SAFETY: the arenas and the shadow outlive the queue, and nothing else uses them while it posts.
    let mut sq = unsafe {
        let register = ExclusiveRegister::from_parts(RegisterParts { reg: page.ptr(), size: 0 }).expect("a register");
        SendQueue::<transport::Rc>::from_parts(parts, register).expect("a send queue")
    };
    let context = SqContext {
        buf: BASE,
        log_size,
        inline_headers: InlineHeaders::None,
        multi_packet: true,
        software_parser: true,
        ..SqContext::default()
    };
    for (n, request) in input.requests.iter().enumerate() {
        let (before, pi) = (ring.bytes(), sq.pi());
        let (done, expected) = post(request, &mut sq, n as u64);
        if let Err(error) = done {
            assert!(ring.bytes() == before && sq.pi() == pi, "{error}, but something was written");
            assert!(is_due(request, &error), "{error:?} of {request:?}");
            continue;
        }
        let found =
            device::fetch(&context, qpn.get(), (Transport::Rc, false), pi.0, sq.pi().0, device::Source::Ring(&ring));
        let found = found.unwrap_or_else(|fault| panic!("{request:?}: {fault}"));
        agree(&found, &expected);
        // SAFETY: there is no device but `fetch`, which is done.
        unsafe { sq.retire_index(pi.0) }.expect("outstanding");
    }
}
