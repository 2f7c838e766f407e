//! Completion queues against a device written out by hand: this file's own offsets, taken from the PRM's table, and any
//! bytes at all.
use std::ptr::NonNull;

use blueflame::cq::layout::OpOwn;
use blueflame::cq::{
    CompletionQueue, Conservative, CqError, CqParts, CqeCopy, CqeError, CqeFormat, CqeOpcode, InlineError, NoOverrun,
    Notify, OncePerCall, PollMode, Prefetch, Publish, Side, Standard, Syndrome, WcOpcode, WcStatus,
};
use blueflame::types::{CqCi, Cqn, Qpn, Rkey};
use proptest::prelude::*;

/// One 64-byte line, so that buffers are aligned as a page would be.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
struct Line([u8; 128]);

/// The device's side of a completion queue: it writes CQEs and looks at record and doorbell.
struct Device {
    ring: Box<[Line]>,
    record: Box<[u64; 1]>,
    uar: Box<[u64; 8]>,
    cqe_cnt: u32,
    cqe_size: u32,
    /// CQEs written, ever.
    pi: u64,
}

impl Device {
    fn new(cqe_cnt: u32, cqe_size: u32, pi: u32) -> Self {
        let mut device = Self {
            ring: vec![Line([0xa5; 128]); ((cqe_cnt * cqe_size) as usize).div_ceil(128)].into(),
            record: Box::new([0xa5a5_a5a5_a5a5_a5a5]),
            uar: Box::new([0xa5a5_a5a5_a5a5_a5a5; 8]),
            cqe_cnt,
            cqe_size,
            pi: u64::from(pi),
        };
        // An entry never written is marked so; the others are as the pass that wrote them left them.
        for slot in 0..cqe_cnt {
            let last = (pi / cqe_cnt * cqe_cnt + slot).wrapping_sub(if slot < pi % cqe_cnt { 0 } else { cqe_cnt });
            device.cqe(slot)[63] = if last > pi { 0xf0 } else { ((last / cqe_cnt) & 1) as u8 };
        }
        device
    }

    fn parts(&mut self) -> CqParts {
        CqParts {
            buf: NonNull::from(&mut self.ring[0]).cast(),
            cqe_cnt: self.cqe_cnt,
            cqe_size: self.cqe_size,
            dbrec: NonNull::from(&mut self.record[0]).cast(),
            cq_uar: NonNull::from(&mut self.uar[0]).cast(),
            cqn: Cqn::new(0x00ab_cdef).unwrap(),
            ci: CqCi::truncate(self.pi as u32),
        }
    }

    fn queue<M: PollMode>(&mut self) -> CompletionQueue<M> {
        // SAFETY: the memory lives in boxes that outlive the queue in every test, and nothing else polls; the tests write no more
        // CQEs than there is room for.
        unsafe { CompletionQueue::from_parts(self.parts()).unwrap().with_mode_unchecked() }
    }

    /// The 64 bytes of fields in a slot, through a pointer as the device has it.
    fn cqe(&mut self, slot: u32) -> &mut [u8] {
        let at = (slot * self.cqe_size + self.cqe_size - 64) as usize;
        let bytes = self.ring.as_mut_ptr().cast::<u8>();
        // SAFETY: `slot` is less than the number of CQEs; the queue under test holds no references.
        unsafe { std::slice::from_raw_parts_mut(bytes.add(at), 64) }
    }

    fn first_half(&mut self, slot: u32) -> &mut [u8] {
        assert_eq!(self.cqe_size, 128);
        // SAFETY: as above; a 128-byte CQE has 64 bytes before its fields.
        unsafe { std::slice::from_raw_parts_mut(self.cqe(slot).as_mut_ptr().sub(64), 64) }
    }

    /// Writes a CQE: opcode and format from `op_own`, owner bit as the pass demands.
    fn complete(&mut self, op_own: u8, fields: impl FnOnce(&mut [u8])) {
        let (slot, owner) = ((self.pi % u64::from(self.cqe_cnt)) as u32, (self.pi / u64::from(self.cqe_cnt)) & 1);
        let cqe = self.cqe(slot);
        fields(cqe);
        cqe[63] = op_own & !1 | owner as u8;
        self.pi += 1;
    }

    fn record_words(&self) -> [u32; 2] {
        let bytes = self.record[0].to_ne_bytes();
        [u32::from_be_bytes(bytes[..4].try_into().unwrap()), u32::from_be_bytes(bytes[4..].try_into().unwrap())]
    }
}

const POISON: u32 = 0xa5a5_a5a5;

fn put32(cqe: &mut [u8], at: usize, value: u32) {
    cqe[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

fn put16(cqe: &mut [u8], at: usize, value: u16) {
    cqe[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Completion `n` of a series: a requester's, with every field different.
fn nth(device: &mut Device, n: u32) {
    device.complete(0x00, |cqe| {
        put32(cqe, 44, n);
        put32(cqe, 56, 0x0a00_0000 | n & 0x00ff_ffff);
        put16(cqe, 60, n as u16);
    });
}

fn many_passes<M: PollMode>(cqe_cnt: u32, cqe_size: u32, start: u32, per_call: usize) {
    let mut device = Device::new(cqe_cnt, cqe_size, start);
    let mut cq = device.queue::<M>();
    assert_eq!(cq.poll_with(usize::MAX, |_| ()), 0, "nothing was written");
    assert_eq!(device.record_words()[0], POISON, "an empty call stores nothing");
    let (mut written, mut seen) = (0_u32, 0_u32);
    let total = cqe_cnt * 5 + 3;
    while seen < total {
        while written - seen < cqe_cnt && written < total {
            nth(&mut device, written);
            written += 1;
        }
        let before = seen;
        let found = cq.poll_with(per_call, |cqe| {
            assert_eq!(cqe.check(), Ok(Side::Requester));
            assert_eq!(cqe.wqe_counter(), seen as u16);
            assert_eq!(cqe.byte_len(), seen);
            assert_eq!(cqe.qpn().get(), seen & 0x00ff_ffff);
            seen += 1;
        });
        assert_eq!(found as u32, seen - before);
        assert_eq!(found, per_call.min((written - before) as usize), "all that was there, up to the limit");
        let ci = if M::PUBLISH != Publish::Never { start.wrapping_add(seen) & 0x00ff_ffff } else { POISON };
        assert_eq!(device.record_words(), [ci, POISON]);
    }
    assert_eq!(cq.poll_with(1, |_| ()), 0, "the last pass's entries do not look new");
    assert!(cq.poll().is_none());
    assert_eq!(cq.consumer_index().get(), start.wrapping_add(total) & 0x00ff_ffff);
}

#[test]
fn every_completion_is_seen_once_over_many_passes() {
    for cqe_size in [64, 128] {
        for cqe_cnt in [1, 2, 8, 64] {
            for per_call in [1, 3, usize::MAX] {
                many_passes::<Standard>(cqe_cnt, cqe_size, 0, per_call);
                many_passes::<Conservative>(cqe_cnt, cqe_size, 0, per_call);
                many_passes::<NoOverrun>(cqe_cnt, cqe_size, 0, per_call);
                many_passes::<Prefetch>(cqe_cnt, cqe_size, 0, per_call);
                many_passes::<OncePerCall>(cqe_cnt, cqe_size, 0, per_call);
                many_passes::<Prefetch<NoOverrun, 1>>(cqe_cnt, cqe_size, 0, per_call);
            }
        }
    }
}

#[test]
fn the_consumer_index_wraps_at_24_bits() {
    for start in [0x00ff_fff8_u32, 0x0080_0000, 0x007f_fff8] {
        many_passes::<Standard>(8, 64, start, 3);
    }
}

#[test]
fn the_largest_queue_has_2_to_the_23_entries() {
    let mut device = Device::new(1, 64, 0);
    let parts = device.parts();
    // SAFETY: refused before anything is touched, or, the valid one, with a buffer of its size; nothing is polled.
    let build = |parts| unsafe { CompletionQueue::from_parts(parts) }.map(|cq| cq.capacity());
    for bad in [0, 3, 1 << 24, u32::MAX] {
        assert_eq!(build(CqParts { cqe_cnt: bad, ..parts }), Err(CqError::CqeCount(bad)));
    }
    // Half a gigabyte, of which the operating system gives what is touched: nothing.
    let layout = std::alloc::Layout::from_size_align(64 << 23, 64).unwrap();
    // SAFETY: not of size 0.
    let buf = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).expect("address space");
    let last = (1 << 23) - 1;
    let zeros = Err(CqError::Cqe { slot: last, opcode: 0 });
    assert_eq!(build(CqParts { buf, cqe_cnt: 1 << 23, ..parts }), zeros, "of the largest size");
    // SAFETY: allocated with this layout, and the queue is gone.
    unsafe { std::alloc::dealloc(buf.as_ptr(), layout) };
}

#[test]
fn parts_that_cannot_be_are_refused() {
    let mut device = Device::new(4, 64, 0);
    let parts = device.parts();
    // SAFETY: refused before anything is touched.
    let build = |parts| unsafe { CompletionQueue::from_parts(parts) }.err();
    // SAFETY: within the buffers.
    let (buf, dbrec, uar) = unsafe { (parts.buf.add(8), parts.dbrec.add(1), parts.cq_uar.add(4)) };
    assert_eq!(build(CqParts { cqe_size: 32, ..parts }), Some(CqError::CqeSize(32)));
    assert_eq!(build(CqParts { buf, ..parts }), Some(CqError::BufferAlignment(buf.addr().get())));
    assert_eq!(build(CqParts { dbrec, ..parts }), Some(CqError::RecordAlignment(dbrec.addr().get())));
    assert_eq!(build(CqParts { cq_uar: uar, ..parts }), Some(CqError::UarAlignment(uar.addr().get())));
    // SAFETY: within the buffer. A 128-byte CQE must be aligned to its size.
    let half = unsafe { parts.buf.add(64) };
    assert_eq!(build(CqParts { buf: half, cqe_size: 128, ..parts }), Some(CqError::BufferAlignment(half.addr().get())));
}

/// Lends the one completion that `fields` make, and copies it, to the same checks.
fn one(
    op_own: u8,
    fields: impl Fn(&mut [u8]),
    lent: impl FnOnce(&blueflame::cq::Cqe<'_>),
    copied: impl FnOnce(&CqeCopy),
) {
    let mut device = Device::new(2, 64, 0);
    let mut cq = device.queue::<Standard>();
    device.complete(op_own, &fields);
    let mut lent = Some(lent);
    assert_eq!(cq.poll_with(2, |cqe| lent.take().unwrap()(&cqe)), 1);
    device.complete(op_own, &fields);
    copied(&cq.poll().expect("one was written"));
    assert_eq!(device.record_words()[0], 2);
}

macro_rules! both {
    ($op_own:expr, $fields:expr, |$cqe:ident| $body:expr) => {
        one($op_own, $fields, |$cqe| $body, |$cqe| $body)
    };
}

#[test]
fn fields_are_where_the_prm_has_them() {
    let fields = |cqe: &mut [u8]| {
        for (i, byte) in cqe.iter_mut().enumerate().take(63) {
            *byte = i as u8 | 0x80;
        }
    };
    both!(0x32, fields, |cqe| {
        assert_eq!(cqe.check(), Ok(Side::Responder));
        assert_eq!(cqe.opcode(), CqeOpcode::RespSendImm);
        assert_eq!(cqe.wc_opcode(), WcOpcode::Recv);
        assert_eq!(cqe.format(), CqeFormat::Plain);
        assert!(cqe.solicited());
        assert_eq!(cqe.dlid_path_bits(), 0x91 & 0x7f);
        assert_eq!(cqe.slid(), 0x9697);
        assert_eq!(cqe.sl(), 0x98 & 0xf);
        assert!(cqe.has_grh());
        assert_eq!(cqe.src_qp(), Qpn::new(0x0099_9a9b).unwrap());
        assert_eq!(cqe.uidx(), 0x00a1_a2a3);
        assert_eq!(cqe.srqn().get(), 0x00a1_a2a3);
        assert_eq!(cqe.imm(), Some(0xa4a5_a6a7));
        assert_eq!(cqe.invalidated_rkey(), None);
        assert_eq!(cqe.pkey_index(), 0xa6a7);
        assert_eq!(cqe.byte_len(), 0xacad_aeaf);
        assert_eq!(cqe.timestamp(), 0xb0b1_b2b3_b4b5_b6b7);
        assert_eq!(cqe.request_opcode(), 0xb8);
        assert_eq!(cqe.qpn(), Qpn::new(0x00b9_babb).unwrap());
        assert_eq!(cqe.wqe_counter(), 0xbcbd);
    });
}

#[test]
fn immediate_data_and_keys_only_where_they_mean_something() {
    let fields = |cqe: &mut [u8]| put32(cqe, 36, 0x0102_0304);
    for (opcode, imm, rkey) in [
        (0, None, None),
        (1, Some(0x0102_0304), None),
        (2, None, None),
        (3, Some(0x0102_0304), None),
        (4, None, Some(Rkey(0x0102_0304))),
    ] {
        both!(opcode << 4, fields, |cqe| {
            assert_eq!((cqe.imm(), cqe.invalidated_rkey()), (imm, rkey));
            assert!(!cqe.solicited());
        });
    }
}

#[test]
fn datagram_flags_and_checksums() {
    both!(
        0x20,
        |cqe: &mut [u8]| {
            put32(cqe, 24, 0x0f00_0001);
            (cqe[28], cqe[29]) = (0x06, 0x08);
        },
        |cqe| {
            assert!(!cqe.has_grh(), "bits 29:28 are clear");
            assert_eq!(cqe.sl(), 15);
            assert!(cqe.checksum_ok());
        }
    );
    for (ok, kind) in [(0x04, 0x08), (0x02, 0x08), (0x06, 0x04), (0x06, 0x00)] {
        both!(0x20, |cqe: &mut [u8]| (cqe[28], cqe[29]) = (ok, kind), |cqe| assert!(!cqe.checksum_ok()));
    }
}

#[test]
fn requests_are_told_apart_as_verbs_does() {
    // mlx5 opcode, ibv_wc_opcode (libibverbs/verbs.h)
    for (opcode, ibv) in [
        (0x01, Some(0)),
        (0x0a, Some(0)),
        (0x0b, Some(0)),
        (0x08, Some(1)),
        (0x09, Some(1)),
        (0x10, Some(2)),
        (0x11, Some(3)),
        (0x12, Some(4)),
        (0x0e, Some(7)),
        (0x00, None),
        (0x25, None),
        (0x77, None),
    ] {
        both!(0x00, |cqe: &mut [u8]| cqe[56] = opcode, |cqe| assert_eq!(cqe.wc_opcode().ibv_value(), ibv));
    }
    both!(0x10, |_: &mut [u8]| (), |cqe| assert_eq!(cqe.wc_opcode().ibv_value(), Some(129)));
    both!(0x40, |_: &mut [u8]| (), |cqe| assert_eq!(cqe.wc_opcode().ibv_value(), Some(128)));
}

#[test]
fn error_cqes_become_statuses_of_verbs() {
    // syndrome (mlx5dv.h), ibv_wc_status (verbs.h)
    let known = [
        (0x01, 1),
        (0x02, 2),
        (0x04, 4),
        (0x05, 5),
        (0x06, 6),
        (0x10, 7),
        (0x11, 8),
        (0x12, 9),
        (0x13, 10),
        (0x14, 11),
        (0x15, 12),
        (0x16, 13),
        (0x22, 16),
    ];
    for syndrome in 0..=255 {
        let status = known.iter().find(|(known, _)| *known == syndrome).map_or(21, |(_, status)| *status);
        for (op_own, side) in [(0xd0, Side::Requester), (0xe0, Side::Responder), (0xdc, Side::Requester)] {
            let fields = |cqe: &mut [u8]| {
                (cqe[54], cqe[55]) = (0x8a, syndrome);
                put32(cqe, 56, 0x0812_3456);
                put16(cqe, 60, 0xfffe);
            };
            both!(op_own, fields, |cqe| {
                let error = match cqe.check() {
                    Err(CqeError::Completion(error)) if syndrome != 0x22 => error,
                    Err(CqeError::Aborted(error)) if syndrome == 0x22 => error,
                    other => panic!("{other:?}: {cqe:?}"),
                };
                assert_eq!(error.status() as u32, status);
                assert_eq!(error.syndrome.value(), syndrome);
                assert_eq!(matches!(error.syndrome, Syndrome::Known(_)), status != 21);
                assert_eq!((error.side, error.vendor_err_synd), (side, 0x8a));
                assert_eq!((error.qpn.get(), error.wqe_counter), (0x0012_3456, 0xfffe));
                let text = error.to_string();
                assert!(text.contains(error.status().name()) && text.contains("0x8a"), "{text}");
            });
        }
    }
}

#[test]
fn every_last_byte_is_taken_apart_as_libmlx5_does() {
    for byte in 0..=255_u8 {
        let (opcode, format, owner) = (byte >> 4, byte >> 2 & 3, byte & 1);
        for phase in 0..=1 {
            assert_eq!(OpOwn(byte).is_software_owned(phase), opcode != 15 && owner == phase, "{byte:#x}");
        }
        assert_eq!(OpOwn(byte).is_success(), opcode <= 4 && format == 0, "{byte:#x}");
        assert_eq!(OpOwn(byte).is_requester_success(), opcode == 0 && format == 0, "{byte:#x}");
        if !OpOwn(byte).is_success() {
            let [send, receive] = [Side::Requester, Side::Responder].map(|side| OpOwn(byte).ends_otherwise(side));
            assert_eq!(send, opcode == 13 || opcode == 0 && format != 3, "{byte:#x}");
            assert_eq!(receive, opcode == 14 || matches!(opcode, 1..=4) && format != 3, "{byte:#x}");
        }
        assert_eq!(OpOwn(byte).solicited(), byte >> 1 & 1 == 1);
    }
}

#[test]
fn statuses_have_the_values_of_verbs() {
    let values: Vec<u32> = WcStatus::ALL.iter().map(|status| *status as u32).collect();
    assert_eq!(values, (0..24).collect::<Vec<_>>());
    assert_eq!(WcStatus::RnrRetryExcErr.name(), "IBV_WC_RNR_RETRY_EXC_ERR");
    let mut texts: Vec<_> = WcStatus::ALL.iter().map(|status| status.text()).collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), 24, "every status has its own text");
}

#[test]
fn what_is_no_completion_is_an_error_value() {
    for (op_own, error) in [
        (0x0c, CqeError::Compressed),
        (0x2e, CqeError::Compressed),
        (0x50, CqeError::ResizeCq),
        (0x60, CqeError::NoPacket),
        (0x70, CqeError::UnknownOpcode(7)),
        (0xb0, CqeError::UnknownOpcode(11)),
        (0xc0, CqeError::Signature),
    ] {
        both!(op_own, |_: &mut [u8]| (), |cqe| {
            assert_eq!(cqe.check(), Err(error));
            assert!(!error.to_string().is_empty());
        });
    }
}

#[test]
fn messages_inside_32_byte_formats() {
    let fields = |cqe: &mut [u8]| {
        for (i, byte) in cqe.iter_mut().enumerate().take(32) {
            *byte = i as u8 + 1;
        }
        put32(cqe, 44, 13);
        put32(cqe, 56, 0x1000_0000);
    };
    for op_own in [0x04, 0x24] {
        both!(op_own, fields, |cqe| {
            let side = if op_own == 0x04 { Side::Requester } else { Side::Responder };
            assert_eq!(
                cqe.check(),
                Err(CqeError::DataInCqe { side, qpn: cqe.qpn() }),
                "never as if it were in the buffer"
            );
            assert_eq!(cqe.side(), Some(side), "and yet complete");
            let mut dst = [0xa5; 16];
            assert_eq!(cqe.copy_inline(&mut dst), Ok(13));
            assert_eq!(dst[..13], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
            assert_eq!(dst[13..], [0xa5; 3]);
            let mut short = [0xa5; 12];
            let error = InlineError::DestinationTooShort { len: 13, room: 12 };
            assert_eq!(cqe.copy_inline(&mut short), Err(error));
            assert_eq!(short, [0xa5; 12]);
        });
    }
}

#[test]
fn atomics_are_eight_bytes_whatever_the_count_says() {
    for opcode in [0x11_u8, 0x12] {
        let fields = |cqe: &mut [u8]| {
            cqe[..8].copy_from_slice(&[9, 8, 7, 6, 5, 4, 3, 2]);
            put32(cqe, 44, 0xffff_ffff);
            put32(cqe, 56, u32::from(opcode) << 24);
        };
        both!(0x04, fields, |cqe| {
            let mut dst = [0; 32];
            assert_eq!(cqe.copy_inline(&mut dst), Ok(8));
            assert_eq!(dst[..8], [9, 8, 7, 6, 5, 4, 3, 2]);
        });
    }
}

#[test]
fn messages_inside_128_byte_cqes() {
    let mut device = Device::new(2, 128, 0);
    let mut cq = device.queue::<Standard>();
    for len in [0_u32, 1, 31, 64, 65, u32::MAX] {
        let slot = (device.pi % 2) as u32;
        for (i, byte) in device.first_half(slot).iter_mut().enumerate() {
            *byte = i as u8 ^ len as u8;
        }
        device.complete(0x28, |cqe| put32(cqe, 44, len));
        let found = cq.poll_with(1, |cqe| {
            let mut dst = [0xa5; 80];
            let result = cqe.copy_inline(&mut dst);
            if len > 64 {
                assert_eq!(result, Err(InlineError::TooLong { len, capacity: 64 }));
                assert_eq!(dst, [0xa5; 80]);
            } else {
                assert_eq!(result, Ok(len as usize));
                assert!(dst[..len as usize].iter().enumerate().all(|(i, byte)| *byte == i as u8 ^ len as u8));
                assert!(dst[len as usize..].iter().all(|byte| *byte == 0xa5));
                if len != 0 {
                    assert_eq!(cqe.copy().copy_inline(&mut dst), Err(InlineError::NotInReach));
                }
            }
        });
        assert_eq!(found, 1);
    }
}

#[test]
fn a_64_byte_cqe_never_reads_its_neighbour() {
    both!(0x28, |cqe: &mut [u8]| put32(cqe, 44, 64), |cqe| {
        assert_eq!(cqe.copy_inline(&mut [0; 64]), Err(InlineError::NotInReach));
    });
    both!(0x20, |cqe: &mut [u8]| put32(cqe, 44, 8), |cqe| {
        assert_eq!(cqe.copy_inline(&mut [0; 64]), Err(InlineError::NotInline));
    });
}

#[test]
fn arming_writes_record_and_doorbell() {
    let mut device = Device::new(8, 64, 0x00ff_fffe);
    let mut cq = device.queue::<Standard>();
    assert_eq!(cq.cqn().get(), 0x00ab_cdef);
    for _ in 0..5 {
        nth(&mut device, 0);
    }
    assert_eq!(cq.poll_with(8, |_| ()), 5);
    // 0xfffffe + 5 is 3 in 24 bits; the sequence number counts events modulo 4, in bits 29:28.
    let expected = [
        (Notify::Any, 0, 0x0000_0003_u32),
        (Notify::Solicited, 1, 0x1100_0003),
        (Notify::Any, 1, 0x2000_0003),
        (Notify::Solicited, 1, 0x3100_0003),
        (Notify::Any, 1, 0x0000_0003),
    ];
    for (notify, events, request) in expected {
        for _ in 0..events {
            cq.event_received();
        }
        device.uar.fill(0xa5a5_a5a5_a5a5_a5a5);
        cq.arm(notify);
        assert_eq!(device.record_words(), [3, request]);
        let mut doorbell = [0; 8];
        doorbell[..4].copy_from_slice(&request.to_be_bytes());
        doorbell[4..].copy_from_slice(&[0x00, 0xab, 0xcd, 0xef]);
        for (i, word) in device.uar.iter().enumerate() {
            let expected = if i == 4 { doorbell } else { [0xa5; 8] };
            assert_eq!(word.to_ne_bytes(), expected, "word {i}: only offset 0x20 is written");
        }
    }
}

#[test]
fn a_panic_in_the_closure_consumes_what_it_was_given() {
    // Three completions, so that each is the last of a ring of four once, also where the index wraps.
    for start in (0..4).chain(0x00ff_fffc..0x0100_0000) {
        for fails in 0..3 {
            let mut device = Device::new(4, 64, start);
            let mut cq = device.queue::<Standard>();
            for n in 0..3 {
                nth(&mut device, n);
            }
            let mut seen = Vec::new();
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                cq.poll_with(3, |cqe| {
                    seen.push(cqe.wqe_counter());
                    assert_ne!(cqe.wqe_counter(), fails, "this one fails");
                });
            }));
            assert!(panicked.is_err());
            assert_eq!(cq.consumer_index(), CqCi::truncate(start).add(u32::from(fails) + 1));
            let told = if fails == 0 { POISON } else { start.wrapping_add(fails.into()) & 0x00ff_ffff };
            assert_eq!(device.record_words()[0], told, "of this one the next call tells the device");
            nth(&mut device, 3);
            cq.poll_with(4, |cqe| seen.push(cqe.wqe_counter()));
            assert_eq!(seen, [0, 1, 2, 3], "neither lost nor reported twice");
            assert_eq!(device.record_words()[0], start.wrapping_add(4) & 0x00ff_ffff);
        }
    }
}

/// The same when it returns an error: that one is told to the device, too, unless the mode tells nothing.
fn an_error_consumes<M: PollMode>(tells: bool) {
    for fails in 0..3 {
        let start = 0x00ff_fffe;
        let mut device = Device::new(4, 64, start);
        let mut cq = device.queue::<M>();
        (0..3).for_each(|n| nth(&mut device, n));
        let mut seen = Vec::new();
        let polled = cq.poll_with(3, |cqe| {
            seen.push(cqe.wqe_counter());
            if cqe.wqe_counter() == fails { Err("this one fails") } else { Ok(()) }
        });
        assert_eq!(polled, Err("this one fails"));
        assert_eq!(cq.consumer_index(), CqCi::truncate(start).add(u32::from(fails) + 1));
        let told = start.wrapping_add(u32::from(fails) + 1) & 0x00ff_ffff;
        assert_eq!(device.record_words()[0], if tells { told } else { POISON });
        let rest = cq.poll_with(4, |cqe| {
            seen.push(cqe.wqe_counter());
            Ok::<_, ()>(())
        });
        assert_eq!(rest, Ok(2 - usize::from(fails)), "how many there were");
        assert_eq!(seen, [0, 1, 2], "neither lost nor reported twice");
    }
}

#[test]
fn an_error_of_the_closure_consumes_what_it_was_given() {
    an_error_consumes::<Standard>(true);
    an_error_consumes::<OncePerCall>(true);
    an_error_consumes::<Conservative>(true);
    an_error_consumes::<NoOverrun>(false);
}

/// Every accessor, so that none of them can fail on any bytes.
fn look_at<S: blueflame::cq::Source>(cqe: &blueflame::cq::CqeView<S>) {
    let text = format!("{cqe:?}");
    assert!(text.contains("wqe_counter"));
    let mut dst = [0xa5; 70];
    let inline = cqe.copy_inline(&mut dst);
    match inline {
        Ok(len) => assert!(len <= 64 && dst[len..].iter().all(|byte| *byte == 0xa5)),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(dst, [0xa5; 70]);
        }
    }
    assert!(cqe.qpn().get() <= 0x00ff_ffff && cqe.src_qp().get() <= 0x00ff_ffff && cqe.uidx() <= 0x00ff_ffff);
    assert!(cqe.sl() < 16 && cqe.dlid_path_bits() < 128);
    let _ = (cqe.imm(), cqe.invalidated_rkey(), cqe.timestamp(), cqe.slid(), cqe.has_grh(), cqe.pkey_index());
    let _ = (cqe.checksum_ok(), cqe.srqn(), cqe.solicited(), cqe.wc_opcode().ibv_value(), cqe.request_opcode());
    match cqe.check() {
        Ok(_) => assert!(inline.is_ok() || cqe.format() != CqeFormat::Compressed),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_value(
        bytes in prop::collection::vec(any::<u8>(), 4 * 128),
        wide: bool,
        ci in 0_u32..0x0100_0000,
    ) {
        let (cqe_cnt, cqe_size) = if wide { (4, 128) } else { (8, 64) };
        let mut device = Device::new(cqe_cnt, cqe_size, ci);
        let mut cq = device.queue::<Standard>();
        // SAFETY: the ring is 512 bytes either way.
        unsafe { device.ring.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        // A slot whose bytes do not change looks new on one of two passes.
        let found = cq.poll_with(usize::MAX, |cqe| {
            look_at(&cqe);
            look_at(&cqe.copy());
        });
        prop_assert!(found <= cqe_cnt as usize);
        prop_assert!(cq.poll().is_none());
        prop_assert_eq!(cq.consumer_index(), CqCi::truncate(ci).add(found as u32));
        let record = device.record_words()[0];
        prop_assert_eq!(record, if found == 0 { POISON } else { cq.consumer_index().get() });
    }
}

/// Completion `n` of a series, of queue pair `qpn`: every byte of it different, but for the number.
fn of_qp(device: &mut Device, qpn: u32, n: u32) {
    if device.cqe_size == 128 {
        let slot = (device.pi % u64::from(device.cqe_cnt)) as u32;
        device.first_half(slot).fill(n as u8);
    }
    device.complete(0x00, |cqe| {
        cqe[..56].fill(n as u8);
        put32(cqe, 56, 0x0a00_0000 | qpn);
        put16(cqe, 60, n as u16);
    });
}

const GONE: u32 = 0x11;
const STAYS: u32 = 0x22;

/// `kinds[n]` tells whether completion `n` is of the queue pair that is gone. All are in the ring, then it is forgotten.
fn forgotten<M: PollMode>(cqe_size: u32, start: u32, kinds: &[bool]) {
    let cqe_cnt = kinds.len().next_power_of_two() as u32;
    let mut device = Device::new(cqe_cnt, cqe_size, start);
    let mut cq = device.queue::<M>();
    for (n, &gone) in kinds.iter().enumerate() {
        of_qp(&mut device, if gone { GONE } else { STAYS }, n as u32);
    }
    let mut lent = Vec::new();
    let removed = cq.forget_with(Qpn::truncate(GONE), |cqe| {
        assert_eq!((cqe.qpn().get(), cqe.check()), (GONE, Ok(Side::Requester)));
        lent.push(usize::from(cqe.wqe_counter()));
    });
    let (gone, stay): (Vec<_>, Vec<_>) = (0..kinds.len()).partition(|&n| kinds[n]);
    assert_eq!(removed, gone.len());
    lent.reverse();
    assert_eq!(lent, gone, "each one, the newest first");
    let ci = start.wrapping_add(removed as u32) & 0x00ff_ffff;
    assert_eq!(cq.consumer_index().get(), ci);
    let published = if M::PUBLISH != Publish::Never && removed != 0 { ci } else { POISON };
    assert_eq!(device.record_words(), [published, POISON]);
    let mut seen = Vec::new();
    // One more that the device writes afterwards, where it goes on.
    let after = kinds.len() < cqe_cnt as usize || removed != 0;
    if after {
        of_qp(&mut device, GONE, kinds.len() as u32);
    }
    cq.poll_with(usize::MAX, |cqe| {
        let n = cqe.wqe_counter();
        assert_eq!(cqe.timestamp(), u64::from_be_bytes([n as u8; 8]));
        assert_eq!(cqe.byte_len(), u32::from_be_bytes([n as u8; 4]));
        seen.push(usize::from(n));
    });
    let expected: Vec<_> = stay.into_iter().chain(after.then_some(kinds.len())).collect();
    assert_eq!(seen, expected, "the others, in order");
    assert_eq!(cq.forget(Qpn::truncate(GONE)), 0);
    assert_eq!(cq.poll_with(usize::MAX, |_| ()), 0);
}

proptest! {
    #[test]
    fn completions_of_a_queue_pair_that_is_gone_are_removed(
        wide: bool,
        start in prop::sample::select(vec![0, 5, 8, 0x007f_fffb, 0x00ff_fff9, 0x00ff_ffff]),
        kinds in prop::collection::vec(prop::bool::ANY, 1..17),
    ) {
        let cqe_size = if wide { 128 } else { 64 };
        forgotten::<Standard>(cqe_size, start, &kinds);
        forgotten::<NoOverrun>(cqe_size, start, &kinds);
    }
}

#[test]
fn messages_in_a_completion_move_with_it() {
    let mut device = Device::new(4, 128, 3);
    let mut cq = device.queue::<Standard>();
    of_qp(&mut device, GONE, 1);
    let slot = (device.pi % 4) as u32;
    device.first_half(slot).copy_from_slice(&std::array::from_fn::<u8, 64, _>(|i| i as u8));
    device.complete(2 << 4 | 8, |cqe| {
        put32(cqe, 44, 64);
        put32(cqe, 56, STAYS);
    });
    of_qp(&mut device, GONE, 2);
    assert_eq!(cq.forget(Qpn::truncate(GONE)), 2);
    let mut message = [0; 64];
    cq.poll_with(4, |cqe| assert_eq!(cqe.copy_inline(&mut message), Ok(64)));
    assert_eq!(message, std::array::from_fn(|i| i as u8));
}

#[test]
fn a_panic_while_forgetting_forgets_the_rest() {
    let mut device = Device::new(8, 64, 6);
    let mut cq = device.queue::<Standard>();
    for (n, qpn) in [STAYS, GONE, STAYS, GONE, STAYS].into_iter().enumerate() {
        of_qp(&mut device, qpn, n as u32);
    }
    let forget = std::panic::AssertUnwindSafe(|| cq.forget_with(Qpn::truncate(GONE), |_| panic!("on purpose")));
    assert!(std::panic::catch_unwind(forget).is_err());
    let mut seen = Vec::new();
    cq.poll_with(8, |cqe| seen.push(cqe.wqe_counter()));
    assert_eq!(seen, [0, 2, 4]);
}

proptest! {
    /// Whatever is in the ring, forgetting ends, and removes the completions of that number that polling would find.
    #[test]
    fn forgetting_among_any_bytes(
        wide: bool,
        ci in 0_u32..0x0100_0000,
        lines in prop::collection::vec(prop::array::uniform32(0_u8..), 8),
        op_own in prop::collection::vec(0_u8.., 8),
        qpns in prop::collection::vec(0x10_u32..0x13, 8),
    ) {
        let mut device = Device::new(8, if wide { 128 } else { 64 }, ci);
        let mut cq = device.queue::<Standard>();
        let mut copy = Device::new(8, device.cqe_size, ci);
        let mut other = copy.queue::<NoOverrun>();
        for slot in 0..8 {
            let cqe = device.cqe(slot);
            cqe[..32].copy_from_slice(&lines[slot as usize]);
            put32(cqe, 56, qpns[slot as usize]);
            cqe[63] = op_own[slot as usize];
        }
        let mut all = Vec::new();
        copy.ring.copy_from_slice(&device.ring);
        other.poll_with(8, |cqe| all.push((cqe.qpn().get(), cqe.timestamp(), cqe.opcode(), cqe.wqe_counter())));
        let (gone, stay): (Vec<_>, Vec<_>) = all.into_iter().partition(|&(qpn, ..)| qpn == GONE);
        prop_assert_eq!(cq.forget(Qpn::truncate(GONE)), gone.len());
        let mut seen = Vec::new();
        cq.poll_with(stay.len(), |cqe| seen.push((cqe.qpn().get(), cqe.timestamp(), cqe.opcode(), cqe.wqe_counter())));
        prop_assert_eq!(seen, stay);
    }
}

/// What a queue over this ring is, whose CQEs are `op_own` of queue pair `qpn` each.
fn adopted(ci: u32, cqes: &[(u8, u32)]) -> Result<u32, CqError> {
    let mut device = Device::new(cqes.len() as u32, 64, ci);
    for (slot, &(op_own, qpn)) in cqes.iter().enumerate() {
        let cqe = device.cqe(slot as u32);
        put32(cqe, 56, qpn);
        cqe[63] = op_own;
    }
    // SAFETY: as in `Device::queue`.
    let mut cq = unsafe { CompletionQueue::from_parts(device.parts()) }?;
    Ok(cq.poll_with(8, |_| ()) as u32)
}

#[test]
fn a_ring_that_was_never_initialised_is_refused() {
    const INVALID: (u8, u32) = (0xf0, 0);
    let refused = |slot, opcode| Err(CqError::Cqe { slot, opcode });
    for ci in [0, 1, 4, 6, 0x00ff_fffc] {
        assert_eq!(adopted(ci, &[(0, 0); 4]), refused((ci + 3) % 4, 0), "zeros, at {ci}");
        assert_eq!(adopted(ci, &[INVALID; 4]), Ok(0));
        assert_eq!(adopted(ci, &[(0xff, u32::MAX); 4]), Ok(0));
        assert_eq!(adopted(ci, &[(0xa5, 0xa5a5_a5a5); 4]), refused((ci + 3) % 4, 0xa));
    }
    // In use: completions of sends, of receives, with errors, pending or of the pass before.
    let (now, before) = ([0x00, 0x20, 0xd0, 0xe0].map(|op_own| (op_own, 7)), [(0x01, 7); 4]);
    assert_eq!(adopted(0, &now), Ok(4));
    assert_eq!(adopted(8, &before), Ok(0));
    assert_eq!(adopted(0, &[now[0], now[1], INVALID, INVALID]), Ok(2));
    assert_eq!(adopted(10, &now), Ok(2));
    assert_eq!(adopted(10, &[(0x21, 7), now[1], now[2], now[3]]), Ok(3), "on into the next pass");
    assert_eq!(adopted(2, &[now[0], now[1], INVALID, INVALID]), Ok(0), "polled");
    // A completion behind one that is missing.
    assert_eq!(adopted(0, &[now[0], INVALID, now[2], INVALID]), refused(1, 0xf));
    assert_eq!(adopted(8, &[before[0], now[1], before[2], before[3]]), refused(0, 0));
    // Of no queue pair; of no opcode that exists.
    assert_eq!(adopted(0, &[now[0], (0x20, 0), INVALID, INVALID]), refused(1, 2));
    assert_eq!(adopted(0, &[(0x70, 7), INVALID, INVALID, INVALID]), refused(0, 7));
}
