//! Ethernet frames as literal bytes, by the layout of `struct mlx5_wqe_eth_seg` (rdma-core `providers/mlx5/mlx5dv.h`),
//! and any frame at any place of a ring against bytes appended to a vector.
//!
//! Frames belong here, their checksums on the wire in `tests/loopback/frames.rs`.

use proptest::prelude::*;

use blueflame::queue::{BlueFlamePolicy, PostError, SendQueue};
use blueflame::transport;
use blueflame::types::{Wqebbs, WrId};
use blueflame::wqe::data;
use blueflame::wqe::{self, EncodeError, Request, SupportedOn};
use blueflame_testkit::request::Data;

use crate::golden::check;
use crate::oracle::{any_sge, payload, wqe_of};
use crate::requests::{DATA, LOCAL, count, ctrl, inline};
use crate::rig::{self, OLD, Rig, Setup};

#[test]
fn eighteen_bytes_and_an_entry_are_one_wqebb() {
    let headers = count::<18>();
    let frame = wqe::frame().inline_headers(&headers).gather([LOCAL]).signaled(WrId(1));
    let wqe = [
        ctrl(0, 0x0a, 4, 8),
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 18, 1, 2],
        [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18],
        DATA,
    ];
    check::<transport::RawPacket, _, _>(frame, &wqe, false);
    check::<transport::RawPacket<0>, _, _>(frame, &wqe, false);
}

#[test]
fn a_device_that_needs_none_gets_none() {
    let segment = [0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let frame = wqe::frame().l3_checksum().l4_checksum().signaled(WrId(1));
    check::<transport::RawPacket<0>, _, _>(
        frame.gather([LOCAL, LOCAL]),
        &[ctrl(0, 0x0a, 4, 8), segment, DATA, DATA],
        false,
    );
    let data = inline(&count::<12>())[0];
    check::<transport::RawPacket<0>, _, _>(frame.inline(&count::<12>()), &[ctrl(0, 0x0a, 3, 8), segment, data], true);
}

#[test]
fn each_checksum_has_its_bit() {
    let headers = count::<18>();
    let frame = wqe::frame().inline_headers(&headers).signaled(WrId(1));
    let l3 = wqe::frame().l3_checksum().inline_headers(&headers).signaled(WrId(1));
    for (frame, cs_flags) in [(frame, 0), (l3, 0x40), (frame.l4_checksum(), 0x80), (l3.l4_checksum(), 0xc0)] {
        let wqe = [
            ctrl(0, 0x0a, 3, 8),
            [0, 0, 0, 0, cs_flags, 0, 0, 0, 0, 0, 0, 0, 0, 18, 1, 2],
            [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18],
        ];
        // All of the frame is in the segment: nothing is left to fetch, as of inline data.
        check::<transport::RawPacket, _, _>(frame, &wqe, true);
    }
}

#[test]
fn a_datagram_inline_is_two_wqebbs() {
    // Ethernet, IPv4 and UDP headers, and as many bytes as fit.
    let headers = count::<42>();
    let frame = wqe::frame().inline_headers(&headers).inline(&[0xdd; 44]).signaled(WrId(1));
    let mut wqe = Vec::from([
        ctrl(0, 0x0a, 8, 8),
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 42, 1, 2],
        [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18],
        [19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34],
        [35, 36, 37, 38, 39, 40, 41, 42, 0, 0, 0, 0, 0, 0, 0, 0],
    ]);
    wqe.extend(inline(&[0xdd; 44]));
    check::<transport::RawPacket, _, _>(frame, &wqe, true);
}

#[test]
fn what_is_too_long_is_refused() {
    let rig = Rig::new(Setup { wqebbs: 8, ..Setup::default() });
    let mut sq = rig.queue::<transport::RawPacket>();
    let headers = wqe::frame().inline_headers(&[0; 458]);
    let mut post = |data: &[u8]| sq.post(&headers.inline_slice(data));
    // 1 + 30 units, and an inline segment of 33: only with the headers is it too much.
    assert_eq!(post(&[0; 512]), Err(EncodeError::WqeTooLong { ds: 64, limit: 63 }.into()));
    assert_eq!(post(&[0; 513]), Err(EncodeError::InlineTooLong { bytes: 513, limit: 512 }.into()));
    assert_eq!(post(&[0; 500]), Err(PostError::LargerThanRing { needed: Wqebbs(16), ring: 8 }));
    let sges = [LOCAL; 31];
    // SAFETY: no device looks.
    let posted = unsafe { sq.post_unchecked(&headers.gather_slice(&sges)) };
    assert_eq!(posted, Err(EncodeError::TooManySges { count: 31, limit: 30 }.into()));
    assert!(rig.ring().iter().all(|&byte| byte == OLD));
}

/// A frame as data.
#[derive(Clone, Debug)]
struct Case {
    headers: Vec<u8>,
    data: Data,
    l3: bool,
    l4: bool,
}

/// Lengths of inline headers: none, the least, around units, the most.
const HEADERS: [usize; 12] = [0, 18, 19, 33, 34, 35, 42, 50, 51, 66, 114, 978];

fn case() -> impl Strategy<Value = Case> {
    let bytes = |len| prop::collection::vec(any::<u8>(), len);
    let data = prop_oneof![
        Just(Data::Sges(vec![])),
        prop::collection::vec(any_sge(0..3_u32), 0..5).prop_map(Data::Sges),
        bytes(0..=70_usize).prop_map(Data::Inline),
        bytes(0..=512).prop_map(Data::Inline),
    ];
    let headers = prop::sample::select(&HEADERS[..]).prop_flat_map(move |len| bytes(len..=len));
    (headers, data, any::<(bool, bool)>()).prop_map(|(headers, data, (l3, l4))| Case { headers, data, l3, l4 })
}

impl Case {
    /// The WQE's bytes if it starts at WQEBB `pi`.
    fn wqe(&self, pi: u16) -> Vec<u8> {
        let cs_flags = if self.l3 { 0x40 } else { 0 } | if self.l4 { 0x80 } else { 0 };
        let [high, low] = (self.headers.len() as u16).to_be_bytes();
        let mut body = Vec::from([0, 0, 0, 0, cs_flags, 0, 0, 0, 0, 0, 0, 0, high, low]);
        body.extend(&self.headers);
        body.resize(body.len().next_multiple_of(16), 0);
        body.extend(payload(&self.data));
        wqe_of(pi, 0x0a, 8, 0, &body)
    }

    fn post(&self, rig: &Rig) -> Result<(), PostError> {
        /// The headers as an array of one of the lengths given.
        macro_rules! by_length {
            ($($len:literal)*) => {
                match self.headers.len() {
                    0 => self.carry(wqe::frame(), rig),
                    $($len => {
                        let headers: &[u8; $len] = self.headers[..].try_into().expect("the length that was matched");
                        self.carry(wqe::frame().inline_headers(headers), rig)
                    })*
                    len => panic!("{len} is not in `HEADERS`"),
                }
            };
        }
        by_length!(18 19 33 34 35 42 50 51 66 114 978)
    }

    fn carry<const N: usize>(
        &self,
        mut frame: Request<'_, wqe::operations::Frame<N>>,
        rig: &Rig,
    ) -> Result<(), PostError> {
        if self.l3 {
            frame = frame.l3_checksum();
        }
        if self.l4 {
            frame = frame.l4_checksum();
        }
        match &self.data {
            Data::Sges(sges) => match sges[..] {
                [] => post(frame, rig),
                [one] => post(frame.gather([one]), rig),
                _ => post(frame.gather_slice(sges), rig),
            },
            Data::Inline(data) => match <&[u8; 12]>::try_from(&**data) {
                Ok(array) => post(frame.inline(array), rig),
                Err(_) => post(frame.inline_slice(data), rig),
            },
        }
    }
}

fn post<O: SupportedOn<transport::RawPacket<0>>, D: data::Data>(
    request: Request<'_, O, D>,
    rig: &Rig,
) -> Result<(), PostError> {
    let mut sq = rig.queue::<transport::RawPacket<0>>();
    sq.set_blueflame_policy(BlueFlamePolicy::Prefer);
    // SAFETY: no device looks.
    unsafe { sq.post_unchecked(&request.signaled(WrId(0))) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn any_frame_at_any_position(case in case(), log in 0_u32..6, pi in any::<u16>()) {
        let setup = Setup { wqebbs: 1 << log, pi, ..Setup::default() };
        let rig = Rig::new(setup);
        let wqe = case.wqe(pi);
        let wqebbs = wqe.len().div_ceil(64);
        let mut ring = std::vec![OLD; 64 << log];
        let posted = case.post(&rig);
        if wqe.len() > 63 * 16 {
            prop_assert_eq!(posted, Err(EncodeError::WqeTooLong { ds: wqe.len() / 16, limit: 63 }.into()));
        } else if wqebbs > 1 << log {
            let needed = Wqebbs(wqebbs as u16);
            prop_assert_eq!(posted, Err(PostError::LargerThanRing { needed, ring: setup.wqebbs }));
        } else {
            prop_assert_eq!(posted, Ok(()));
            rig::put(&mut ring, pi, &wqe);
            let copied = if wqebbs * 64 <= setup.bf_size as usize { wqe.len() } else { 8 };
            prop_assert_eq!(&rig.page()[..copied], &wqe[..copied]);
        }
        prop_assert_eq!(rig.ring(), ring);
    }
}

/// Posts frames that are kept and prepared with other headers, and fresh frames of these headers, on twin queues where
/// the ring and the index wrap. The first headers leave nothing behind.
fn other_headers<const N: usize>() {
    let setup = Setup { wqebbs: 8, pi: 0xfffd, ..Setup::default() };
    let (fresh, kept) = (Rig::new(setup), Rig::new(setup));
    let mut by_fresh = fresh.queue::<transport::RawPacket>();
    let mut by_kept = kept.queue::<transport::RawPacket>();
    let options = wqe::frame().l3_checksum().wr_id(WrId(1));
    let (bare, first_headers) = (options, [0xff; N]);
    let whole = options.inline_headers(&first_headers);
    let prepared = by_kept.prepare::<_, _, 0, 0>(&whole).expect("within the limits");
    let open = by_kept.prepare::<_, _, 5, 0>(&whole).expect("within the limits");
    for n in 0..24 {
        let headers: [u8; N] = core::array::from_fn(|i| (i * 7) as u8 ^ n as u8);
        let frame = wqe::frame().inline_headers(&headers).l3_checksum().wr_id(WrId(1));
        let (first, signaled, wr_id) = (by_fresh.pi(), n % 3 == 0, WrId(100 + n));
        let (posted, changed) = match n % 8 {
            0 => (by_fresh.post(&frame), by_kept.post(&bare.inline_headers(&headers))),
            4 => (by_fresh.post(&frame), by_kept.post(&prepared.inline_headers(&headers))),
            5 => {
                let changed = by_kept.post(&open.inline_headers(&headers).inline(b"order"));
                (by_fresh.post(&frame.inline(b"order")), changed)
            }
            6 => {
                let changed = prepared.inline_headers(&headers).signaled_if(signaled, wr_id);
                (by_fresh.post(&frame.signaled_if(signaled, wr_id)), by_kept.post(&changed))
            }
            7 => {
                let changed = open.signaled_if(signaled, wr_id).inline(b"order").inline_headers(&headers);
                (by_fresh.post(&frame.inline(b"order").signaled_if(signaled, wr_id)), by_kept.post(&changed))
            }
            1 => {
                let changed = by_kept.post(&whole.inline_headers(&headers).inline(b"order"));
                (by_fresh.post(&frame.inline(b"order")), changed)
            }
            2 => {
                let changed = whole.inline_headers(&headers).signaled_if(signaled, wr_id);
                (by_fresh.post(&frame.signaled_if(signaled, wr_id)), by_kept.post(&changed))
            }
            _ => {
                let changed = bare.signaled_if(signaled, wr_id).inline(b"order").inline_headers(&headers);
                let request = frame.inline(b"order").signaled_if(signaled, wr_id);
                (by_fresh.post(&request), by_kept.post(&changed))
            }
        };
        assert_eq!((posted, changed), (Ok(()), Ok(())));
        assert_eq!(fresh.ring(), kept.ring(), "{N} bytes, frame {n}");
        assert_eq!(fresh.dbrec(), kept.dbrec());
        // SAFETY: no device looks.
        let retired = [&mut by_fresh, &mut by_kept].map(|sq| unsafe { sq.retire_index(first.0) });
        assert_eq!(retired[0].expect("outstanding").wr_id, if n % 4 < 2 { WrId(1) } else { wr_id });
        assert_eq!(retired[1], retired[0]);
    }
}

#[test]
fn a_frame_that_is_kept_takes_other_headers() {
    other_headers::<18>();
    other_headers::<19>();
    other_headers::<42>();
    other_headers::<60>();
    other_headers::<98>();
    other_headers::<200>();
}

#[test]
fn warming_changes_nothing() {
    let rig = Rig::new(Setup { wqebbs: 4, pi: 0xffff, ..Setup::default() });
    let mut sq = rig.queue::<transport::RawPacket>();
    let (headers, others) = ([7; 98], [8; 98]);
    let frame = wqe::frame().inline_headers(&headers);
    let everything = |sq: &SendQueue<_>| (rig.ring(), rig.dbrec(), rig.page().to_vec(), format!("{sq:?}"));
    for _ in 0..3 {
        let before = everything(&sq);
        sq.warm(&frame);
        sq.warm(&frame.inline_headers(&others).signaled_if(true, WrId(3)));
        assert_eq!(everything(&sq), before);
        let first = sq.pi();
        sq.post(&frame).expect("room");
        // SAFETY: no device looks.
        unsafe { sq.retire_index(first.0) }.expect("outstanding");
        assert_ne!(everything(&sq), before);
    }
}
