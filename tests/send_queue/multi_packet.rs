//! WQEs of several frames (enhanced multi-packet, opcode 0x29) as literal bytes, worked out from two drivers. And any
//! session at any place of a ring against bytes appended to a vector.
//!
//! Sessions belong here, their frames on the wire in `tests/loopback/frames.rs`.

use proptest::prelude::*;

use blueflame::queue::{BlueFlamePolicy, Done, PostError, RetireError, SendQueue};
use blueflame::transport::RawPacket;
use blueflame::types::{Ds, SqPi, Wqebbs, WrId};
use blueflame::wqe::limits::FrameOffloads;
use blueflame::wqe::{self, CompletionMode, EncodeError, Sge};

use crate::oracle::{any_sge, wqe_of};
use crate::requests::{self, count, ctrl, entry, inline};
use crate::rig::{OLD, Rig, Setup, put};

/// A queue that takes sessions.
fn queue(rig: &Rig) -> SendQueue<RawPacket<0>> {
    let mut sq = rig.queue();
    sq.set_frame_offloads(FrameOffloads { multi_packet: true, ..FrameOffloads::NONE });
    sq
}

const LOCAL: Sge = Sge { length: 0x5ea, ..requests::LOCAL };

/// DPDK `drivers/net/mlx5/mlx5_tx.h`, `mlx5_tx_burst_empw_simple`: `mlx5_tx_cseg_init` with
/// `MLX5_OPCODE_ENHANCED_MPSW` (index, number and size, `MLX5_COMP_ONLY_FIRST_ERR`), `mlx5_tx_eseg_none` with the flags
/// of `txq_ol_cksum_to_cs`, and `mlx5_tx_dseg_ptr` for each packet. Behind the ring's end, it goes on at its start.
#[test]
fn pointers_are_the_bytes_of_dpdk() {
    let rig = Rig::new(Setup { pi: 0x1234, ..Setup::default() });
    let mut sq = queue(&rig);
    let mut batch = sq.batch();
    let head = wqe::frame().l3_checksum().l4_checksum().completion(CompletionMode::OnFirstError).wr_id(WrId(7));
    let mut session = batch.session(&head).expect("room");
    for n in 0..15 {
        // SAFETY: no device looks.
        unsafe { session.gather_unchecked(Sge { addr: LOCAL.addr + n, ..LOCAL }) }.expect("room");
    }
    assert_eq!((session.len(), session.free()), (15, Ds(15)));
    session.close();
    batch.ring_doorbell();
    let mut wqe = vec![ctrl(0, 0x29, 17, 0x04), [0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]];
    wqe.extend(
        (0..15).map(|n| [0, 0, 0x05, 0xea, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28 + n]),
    );
    assert_eq!(rig.ring(), rig.ring_with(0x1234, wqe.as_flattened()));
    assert_eq!(rig.dbrec(), [[OLD; 4], [0, 0, 0x12, 0x39]]);
}

/// Linux `drivers/net/ethernet/mellanox/mlx5/core/en/xdp.h`, `mlx5e_xdp_mpwqe_add_dseg`: one frame inline, which is
/// padded to 16 bytes, and one by pointer. `en/xdp.c`, `mlx5e_xdp_mpwqe_complete`: the first two words.
/// `en/txrx.h`, `mlx5e_notify_hw`: a completion, and a doorbell of 8 bytes.
#[test]
fn both_kinds_of_frames_are_the_bytes_of_linux() {
    let rig = Rig::new(Setup { pi: 0x1234, ..Setup::default() });
    let mut sq = queue(&rig);
    sq.set_blueflame_policy(BlueFlamePolicy::Prefer);
    let mut batch = sq.batch();
    let mut session = batch.session(&wqe::frame().signaled(WrId(7))).expect("room");
    session.inline(&count::<21>()).expect("room");
    // SAFETY: no device looks.
    unsafe { session.gather_unchecked(LOCAL) }.expect("room");
    session.close();
    assert_eq!((batch.len(), batch.free()), (2, Wqebbs(6)));
    batch.ring_doorbell();
    let wqe = [
        ctrl(0, 0x29, 5, 0x08),
        [0; 16],
        [0x80, 0, 0, 21, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
        [13, 14, 15, 16, 17, 18, 19, 20, 21, 0, 0, 0, 0, 0, 0, 0],
        entry(LOCAL),
    ];
    assert_eq!(rig.ring(), rig.ring_with(0x1234, wqe.as_flattened()));
    assert_eq!(rig.dbrec(), [[OLD; 4], [0, 0, 0x12, 0x36]]);
    let page = rig.page();
    assert_eq!(page[..8], wqe[0][..8]);
    assert!(page[8..].iter().all(|&byte| byte == OLD), "not copied to BlueFlame, although it fits");
}

#[test]
fn one_completion_gives_the_tags_of_all_frames() {
    let rig = Rig::new(Setup { pi: 0xfffe, ..Setup::default() });
    let mut sq = queue(&rig);
    let mut batch = sq.batch();
    batch.push(&wqe::frame().inline(b"alone").wr_id(WrId(1))).expect("room");
    let mut session = batch.session(&wqe::frame().signaled(WrId(u64::MAX - 1))).expect("room");
    for _ in 0..3 {
        session.inline(&count::<60>()).expect("room");
    }
    session.close();
    batch.push(&wqe::frame().inline(b"alone").signaled(WrId(9))).expect("room");
    batch.ring_doorbell();
    // SAFETY: no device looks, nor below.
    let mut retire = |counter| unsafe { sq.retire_index(counter) };
    assert_eq!(retire(0), Err(RetireError::InsideWqe { wqe_counter: 0 }));
    let retired = retire(0xffff).expect("outstanding");
    // One WQEBB of the first frame, and 2 + 3 * 4 DS.
    assert_eq!(retired, Done { wr_id: WrId(u64::MAX - 1), frames: 3, freed: Wqebbs(1 + 4) });
    assert_eq!(retired.wr_ids().collect::<Vec<_>>(), [WrId(u64::MAX - 1), WrId(u64::MAX), WrId(0)]);
    let retired = retire(3).expect("outstanding");
    assert_eq!(retired, Done { wr_id: WrId(9), frames: 1, freed: Wqebbs(1) });
    assert_eq!(retired.wr_ids().collect::<Vec<_>>(), [WrId(9)]);
}

#[test]
fn the_limits_of_a_session_are_named() {
    let rig = Rig::new(Setup { wqebbs: 32, ..Setup::default() });
    let mut sq = rig.queue::<RawPacket<0>>();
    assert_eq!(sq.batch().session(&wqe::frame()).err(), Some(PostError::NoMultiPacket));
    sq.set_frame_offloads(FrameOffloads { multi_packet: true, ..FrameOffloads::NONE });
    let mut batch = sq.batch();
    let mut session = batch.session(&wqe::frame()).expect("room");
    // SAFETY: no device looks, nor below.
    let mut gather = |length| unsafe { session.gather_unchecked(Sge { length, ..LOCAL }) };
    assert_eq!(gather(0), Err(EncodeError::EmptyFrame.into()));
    assert_eq!(gather(1 << 31), Err(EncodeError::SgeTooLong { bytes: 1 << 31, limit: i32::MAX as u32 }.into()));
    assert_eq!(session.inline(b"".as_slice()), Err(EncodeError::EmptyFrame.into()));
    assert_eq!(session.inline(&[0; 973]), Err(EncodeError::WqeTooLong { ds: 64, limit: 63 }.into()));
    assert!(session.is_empty());
    for _ in 0..61 {
        // SAFETY: no device looks.
        unsafe { session.gather_unchecked(LOCAL) }.expect("room");
    }
    assert_eq!(session.free(), Ds(0));
    assert_eq!(session.inline(&[1]), Err(EncodeError::WqeTooLong { ds: 64, limit: 63 }.into()));
    session.close();
    assert_eq!(batch.free(), Wqebbs(16));
    let mut session = batch.session(&wqe::frame()).expect("room");
    session.inline(&[1; 972]).expect("the longest frame");
    session.close();
    // The ring is full; a session needs one WQEBB.
    assert_eq!(batch.session(&wqe::frame()).err(), Some(PostError::Full { needed: Wqebbs(1), free: Wqebbs(0) }));
    drop(batch);

    // At the ring's start, and around its end.
    for pi in [0, 31] {
        let rig = Rig::new(Setup { wqebbs: 32, pi, ..Setup::default() });
        let mut sq = queue(&rig);
        sq.set_depth(Wqebbs(2)).expect("within the ring");
        let mut batch = sq.batch();
        let mut session = batch.session(&wqe::frame()).expect("room");
        session.inline(&[1; 92]).expect("all of two WQEBBs");
        assert_eq!(session.inline(&[1; 13]), Err(PostError::Full { needed: Wqebbs(3), free: Wqebbs(2) }));
        assert_eq!((session.len(), session.free()), (1, Ds(0)));
        session.close();
        batch.ring_doorbell();
        assert_eq!(sq.free(), Wqebbs(0));
    }
}

#[test]
fn a_session_that_is_dropped_or_empty_adds_nothing() {
    let rig = Rig::new(Setup::default());
    let mut sq = queue(&rig);
    let mut batch = sq.batch();
    let mut session = batch.session(&wqe::frame()).expect("room");
    session.inline(&count::<60>()).expect("room");
    drop(session);
    batch.session(&wqe::frame()).expect("room").close();
    assert_eq!((batch.len(), batch.free()), (0, Wqebbs(8)));
    batch.ring_doorbell();
    assert_eq!(sq.pi(), SqPi(0));
    assert_eq!(rig.dbrec(), [[OLD; 4]; 2]);
    // SAFETY: no device looks.
    let outstanding = unsafe { sq.retire_index(0) };
    assert_eq!(outstanding, Err(RetireError::NotOutstanding { wqe_counter: 0, oldest: 0, next: 0 }));
}

/// A frame as data.
#[derive(Clone, Debug)]
enum Data {
    Pointer(Sge),
    Inline(Vec<u8>),
    /// Inline bytes, with a length that the compiler knows.
    Sixty(u8),
}

fn data() -> impl Strategy<Value = Data> {
    prop_oneof![
        any_sge(1..=i32::MAX as u32).prop_map(Data::Pointer),
        prop::collection::vec(any::<u8>(), 1..200).prop_map(Data::Inline),
        any::<u8>().prop_map(Data::Sixty),
    ]
}

impl Data {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Pointer(sge) => entry(*sge).to_vec(),
            Self::Inline(bytes) => inline(bytes).concat(),
            Self::Sixty(byte) => inline(&[*byte; 60]).concat(),
        }
    }
}

proptest! {
    /// Every place of small rings, so that sessions go around the end at every DS.
    #[test]
    fn sessions_at_every_place(
        sessions in prop::collection::vec((prop::collection::vec(data(), 0..70), any::<(bool, bool)>()), 1..5),
        log in 0_u32..6, pi in any::<u16>(),
    ) {
        let wqebbs = 1 << log;
        let rig = Rig::new(Setup { wqebbs, pi, ..Setup::default() });
        let mut sq = queue(&rig);
        let mut batch = sq.batch();
        let (mut ring, mut at, mut free, mut tag) = (vec![OLD; wqebbs as usize * 64], pi, wqebbs as usize, 0);
        let mut expected = Vec::new();
        for (frames, (l3, signaled)) in &sessions {
            let head = wqe::frame().signaled_if(*signaled, WrId(tag));
            let head = if *l3 { head.l3_checksum() } else { head };
            let begun = batch.session(&head);
            if free == 0 {
                prop_assert_eq!(begun.err(), Some(PostError::Full { needed: Wqebbs(1), free: Wqebbs(0) }));
                break;
            }
            let mut session = begun.expect("room");
            let limit = (free * 4).min(63);
            let (mut body, mut count) = (vec![0; 16], 0);
            body[4] = if *l3 { 0x40 } else { 0 };
            for frame in frames {
                let put = match frame {
                    // SAFETY: no device looks.
                    Data::Pointer(sge) => unsafe { session.gather_unchecked(*sge) },
                    Data::Inline(bytes) => session.inline(&bytes[..]),
                    Data::Sixty(byte) => session.inline(&[*byte; 60]),
                };
                let bytes = frame.bytes();
                let ds = 1 + (body.len() + bytes.len()) / 16;
                if ds <= limit {
                    prop_assert_eq!(put, Ok(()));
                    body.extend(bytes);
                    count += 1;
                } else if ds > 63 {
                    prop_assert_eq!(put, Err(EncodeError::WqeTooLong { ds, limit: 63 }.into()));
                } else {
                    let (needed, free) = (Wqebbs(ds.div_ceil(4) as u16), Wqebbs(free as u16));
                    prop_assert_eq!(put, Err(PostError::Full { needed, free }));
                }
            }
            prop_assert_eq!(session.len(), count);
            prop_assert_eq!(usize::from(session.free().0), limit - 1 - body.len() / 16);
            session.close();
            let ds = 1 + body.len() / 16;
            if count == 0 {
                continue;
            }
            put(&mut ring, at, &wqe_of(at, 0x29, if *signaled { 8 } else { 0 }, 0, &body));
            let wqebbs = ds.div_ceil(4);
            expected.push((at, tag, count, wqebbs as u16));
            at = at.wrapping_add(wqebbs as u16);
            free -= wqebbs;
            tag += count as u64;
        }
        batch.ring_doorbell();
        // Refused frames have written nothing.
        prop_assert_eq!(rig.ring(), ring);
        for (at, tag, count, wqebbs) in expected {
            // SAFETY: no device looks.
            let retired = unsafe { sq.retire_index(at) };
            let expected = Done { wr_id: WrId(tag), frames: count as u16, freed: Wqebbs(wqebbs) };
            prop_assert_eq!(retired, Ok(expected));
        }
    }
}
