//! Any bytes as a completion queue: polling ends, every accessor gives a value, and a copy gives the same values as the
//! original.

use blueflame::cq::cqe::{Grh, GrhKind, TagCqe, TagMatch};
use blueflame::cq::mode::{Conservative, NoOverrun, OncePerCall, PollMode, Publish, Standard};
use blueflame::cq::setup::CqParts;
use blueflame::cq::{CompletionQueue, CqeError, CqeFormat, CqeView, Source};
use blueflame::types::{CqCi, Cqn};

use super::memory::Arena;

input_struct! {
    /// A queue, and its contents.
    Input {
        /// CQEs of 128 bytes, not 64.
        wide: bool,
        /// log2 of the number of CQEs; the low 2 bits count.
        log_cqes: u8,
        /// Consumer index to begin with; the low 24 bits count.
        ci: u32,
        /// Which [`PollMode`].
        mode: u8,
        /// Bytes that a message in a CQE is copied to, at most; the low 7 bits count.
        room: u8,
        /// The ring's first bytes; the rest is as the driver leaves it.
        cqes: Vec<[u8; 64]>,
    }
}

/// Polls everything there is.
pub fn run(input: &Input) {
    match input.mode % 4 {
        0 => poll::<Standard>(input),
        1 => poll::<Conservative>(input),
        3 => poll::<OncePerCall>(input),
        _ => poll::<NoOverrun>(input),
    }
}

fn poll<M: PollMode<Compression = ()>>(input: &Input) {
    let cqe_cnt = 1 << (input.log_cqes & 3);
    let cqe_size = if input.wide { 128 } else { 64 };
    let ring = Arena::new((cqe_cnt * cqe_size) as usize, 0xf0);
    let (record, uar) = (Arena::new(8, 0), Arena::new(0x28, 0));
    let ci = CqCi::truncate(input.ci);
    let parts = CqParts {
        buf: ring.ptr(),
        cqe_cnt,
        cqe_size,
        dbrec: record.ptr().cast(),
        cq_uar: uar.ptr(),
        cqn: Cqn::truncate(7),
        ci,
    };
    // SAFETY: the arenas outlive the queue; nobody else uses them; the ring does not change, so nothing overruns.
    let mut cq = unsafe { CompletionQueue::from_parts(parts).expect("parts of a queue").with_mode_unchecked::<M>() };
    for (i, bytes) in input.cqes.iter().enumerate().take(ring.len() / 64) {
        ring.scribble(i * 64, bytes);
    }
    let room = vec![0xa5; usize::from(input.room & 0x7f)];
    let mut slot = ci.get();
    let found = cq.poll_with(1000, |cqe| {
        let at = ((slot % cqe_cnt + 1) * cqe_size) as usize - 64;
        slot = slot.wrapping_add(1);
        let bytes = &ring.bytes()[at..at + 64];
        let copy = cqe.copy();
        let both = (look(&cqe, bytes, &mut room.clone()), look(&copy, bytes, &mut room.clone()));
        if cqe.format() != CqeFormat::Inline64 {
            assert_eq!(both.0, both.1);
        }
    });
    // Each CQE belongs to the driver in every other pass only, and the ring does not change.
    assert!(found <= cqe_cnt as usize, "{found} completions in a ring of {cqe_cnt}");
    assert_eq!(cq.consumer_index(), ci.add(found as u32));
    assert_eq!(cq.poll_with(1000, |_| ()), 0);
    assert!(cq.poll().is_none());
    let published = u32::from_be_bytes(record.bytes()[..4].try_into().expect("4 bytes"));
    let expected = if M::PUBLISH != Publish::Never && found != 0 { cq.consumer_index().get() } else { 0 };
    assert_eq!(published, expected);
}

/// Takes the bytes for the header in front of a datagram, and calls every accessor.
fn look_at_header(bytes: &[u8]) -> String {
    let (header, rest) = Grh::split(bytes).expect("40 bytes and more");
    assert_eq!((header.bytes().as_slice(), rest), bytes.split_at(Grh::BYTES));
    assert!(header.flow_label() < 1 << 20);
    let mapped = |gid: [u8; 16]| gid[..12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
    let gids = [header.source_gid(), header.destination_gid()];
    assert!(header.kind() != GrhKind::Ipv4 || gids.into_iter().all(mapped));
    let numbers = (header.traffic_class(), header.flow_label(), header.hop_limit());
    format!("{:?} {numbers:?} {gids:?} {}", header.kind(), header.is_multicast())
}

/// Reads everything that a completion can say, compares some of it with the bytes, and gives all of it as text.
fn look<S: Source>(cqe: &CqeView<S>, bytes: &[u8], room: &mut [u8]) -> String {
    let be32 = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
    assert_eq!(cqe.byte_len(), be32(44));
    assert_eq!(cqe.qpn().get(), be32(56) & 0xff_ffff);
    assert_eq!(u32::from(cqe.wqe_counter()), be32(60) >> 16);
    let check = match cqe.check() {
        Ok(side) => {
            assert!(bytes[63] >> 4 <= 4, "success of opcode {}", bytes[63] >> 4);
            format!("{side:?}")
        }
        Err(CqeError::Completion(error) | CqeError::Aborted(error)) => {
            assert!(matches!(bytes[63] >> 4, 13 | 14));
            assert_eq!((error.syndrome.value(), error.vendor_err_synd), (bytes[55], bytes[54]));
            assert_eq!((error.hw_synd_type, error.hw_err_synd), (bytes[53], bytes[52]));
            format!("{error} {:?} {:?} {:?}", error.syndrome.status(), error.syndrome.advice(), error.vendor_advice())
        }
        Err(error) => error.to_string(),
    };
    let tags = cqe.tag_matching();
    assert!(tags.is_none() || bytes[40] == 1 && matches!(bytes[63] >> 4, 1..=4 | 6), "{tags:?}");
    if let Some(TagCqe::Match(TagMatch { entry, header, .. })) = tags {
        assert_eq!(u32::from(entry.0), be32(40) & 0xffff);
        assert!(header.is_none_or(|header| header.app_ctx == be32(4) && header.kind.byte() == bytes[0]));
    }
    let signature = cqe.signature_error();
    assert_eq!(signature.is_some(), bytes[63] >> 4 == 12, "{signature:?}");
    if let Some(error) = signature {
        assert_eq!((error.key.0, error.qpn.get()), (be32(36), be32(56) & 0xff_ffff));
        let values = [0, 8, 16, 32, 64, 65].map(|bits| error.values(bits));
        assert!(error.part().is_some() || values == [None; 6], "{values:?}");
    }
    assert_eq!(cqe.flow_tag(), be32(56) & 0xff_ffff);
    let be16 = |at: usize| (be32(at & !3) >> (16 - at % 4 * 8)) as u16;
    assert_eq!(cqe.vlan(), (bytes[29] & 1 != 0).then(|| be16(30)));
    assert_eq!(cqe.rx_hash().map(|hash| (hash.value, hash.kind)), (bytes[16] != 0).then(|| (be32(12), bytes[16])));
    assert_eq!((cqe.packet_sum(), cqe.wqe_id(), cqe.slid()), (be16(20), be16(2), be16(22)));
    assert_eq!(cqe.timestamp(), u64::from(be32(48)) << 32 | u64::from(be32(52)));
    let verdicts = cqe.verdicts();
    let found = (cqe.l3_ok(), cqe.l4_ok(), cqe.checksum_ok(), cqe.l3_header(), cqe.l4_header());
    // `MLX5_CQE_L3_OK`, `MLX5_CQE_L4_OK`, and an IPv4 header (rdma-core `providers/mlx5/mlx5dv.h`, `cq.c`).
    let (l3, l4, is_ipv4) = (bytes[28] & 2 != 0, bytes[28] & 4 != 0, bytes[29] >> 2 & 3 == 2);
    assert_eq!((found.0, found.1, found.2), (l3, l4, l3 && l4 && is_ipv4));
    assert_eq!(cqe.tunnel().is_some(), bytes[0] & 1 != 0);
    assert_eq!(cqe.flow_metadata(), be32(36));
    let merged = cqe.merged();
    assert_eq!(merged.map(|merged| (merged.ack, merged.window)), (bytes[32] > 1).then(|| (be32(8), be16(6))));
    let inline = cqe.copy_inline(room);
    if let Ok(len) = inline {
        assert!(len <= 64 && len <= room.len());
        assert!(room[len..].iter().all(|&byte| byte == 0xa5), "bytes behind the message");
    }
    format!(
        "{check} {tags:?} {signature:?} {inline:?} {} {found:?} {verdicts:?} {merged:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        look_at_header(bytes),
        (cqe.wqe_id(), cqe.vlan(), cqe.rx_hash(), cqe.packet_sum(), cqe.wc_opcode().ibv_value(), cqe.side()),
        (cqe.opcode(), cqe.wc_opcode(), cqe.format(), cqe.solicited()),
        (cqe.imm(), cqe.invalidated_rkey(), cqe.timestamp(), cqe.request_opcode()),
        (cqe.uidx(), cqe.srqn(), cqe.slid(), cqe.src_qp()),
        (cqe.sl(), cqe.has_grh(), cqe.dlid_path_bits(), cqe.pkey_index(), cqe.checksum_ok()),
        cqe.byte_len(),
        cqe.qpn(),
        cqe.wqe_counter(),
        &room,
    )
}
