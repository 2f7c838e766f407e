//! Posts compared with literal bytes, in memory filled with 0xa5, and with other ways to post the same request.
//!
//! Requests that `tests/requests` cannot say belong here, special operations in files of their own.

use blueflame::queue::{BlueFlamePolicy, PostError, SendQueue};
use blueflame::transport;
use blueflame::transport::{Rc, Transport, Ud};
use blueflame::types::{Lkey, Qkey, Qpn, Rkey, WrId};
use blueflame::wqe::address::CompactAv;
use blueflame::wqe::atomics::Masked;
use blueflame::wqe::data::Data;
use blueflame::wqe::operations::Prepared;
use blueflame::wqe::{self, EncodeError, Fence, Remote, Request, Sge, UdAddress};
use blueflame::wqe::{CompletionMode, SupportedOn};

use crate::requests::{DATA, Ds, LOCAL, RADDR, REMOTE, count, ctrl};
use crate::rig::{OLD, Rig, Setup};

/// Posts by `post` at producer index 0x1234 of a ring of 8 WQEBBs (slot 4) and compares all bytes: ring, record, register.
pub(crate) fn posted<T: Transport>(
    name: &str,
    wqe: &[Ds],
    copied: bool,
    post: impl FnOnce(&mut SendQueue<T>) -> Result<(), PostError>,
) {
    let rig = Rig::new(Setup { pi: 0x1234, ..Setup::default() });
    let mut sq = rig.queue::<T>();
    sq.set_blueflame_policy(BlueFlamePolicy::Inline);
    assert_eq!(post(&mut sq), Ok(()), "{name}");
    assert_eq!(rig.ring(), rig.ring_with(0x1234, wqe.as_flattened()), "ring: {name}");
    let wqe = wqe.as_flattened();
    let pi = 0x1234 + wqe.len().div_ceil(64) as u16;
    let [high, low] = pi.to_be_bytes();
    assert_eq!(rig.dbrec(), [[OLD; 4], [0, 0, high, low]], "record: {name}");
    let register = if copied { wqe } else { &wqe[..8] };
    let page = rig.page();
    assert_eq!(page[..register.len()], *register, "register: {name}");
    let end = if copied { wqe.len().next_multiple_of(64) } else { 8 };
    assert!(page[end..].iter().all(|&byte| byte == OLD), "more than the doorbell reached the register: {name}");
}

/// Does so with one request, by its type.
#[track_caller]
pub(crate) fn check<T: Transport, O: SupportedOn<T>, D: Data>(request: Request<'_, O, D>, wqe: &[Ds], copied: bool) {
    let name = std::panic::Location::caller().to_string();
    // SAFETY: no device looks.
    posted::<T>(&name, wqe, copied, |sq| unsafe { sq.post_unchecked(&request) });
}

/// A WQE that UCX wrote, in hexadecimal digits, at the place of [`check`] and for its queue pair: those are no part of
/// a request.
pub(crate) fn by_ucx(digits: &str) -> Vec<Ds> {
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("a digit") as u8;
    let bytes: Vec<u8> = digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
    let mut wqe: Vec<Ds> = bytes.chunks_exact(16).map(|ds| ds.try_into().expect("16 bytes")).collect();
    assert_eq!(wqe.len() * 32, digits.len());
    wqe[0][1..3].copy_from_slice(&[0x12, 0x34]);
    wqe[0][4..7].copy_from_slice(&[0xc0, 0xff, 0xee]);
    wqe
}

#[test]
fn entries_of_no_bytes_are_left_out() {
    let (send, empty) = (wqe::send().signaled(WrId(1)), Sge { length: 0, ..LOCAL });
    check::<Rc, _, _>(send.gather([empty, LOCAL, LOCAL]), &[ctrl(0, 0x0a, 3, 8), DATA, DATA], false);
}

/// Completion modes as DPDK names them (`drivers/common/mlx5/mlx5_prm.h`): `MLX5_COMP_ONLY_ERR` 0,
/// `MLX5_COMP_ONLY_FIRST_ERR` 1, `MLX5_COMP_ALWAYS` 2, all shifted by `MLX5_COMP_MODE_OFFSET`, which is 2.
#[test]
fn completion_modes() {
    use blueflame::wqe::CompletionMode::{Always, OnError, OnFirstError};
    let check = |request, fm_ce_se| check::<transport::Rc, _, _>(request, &[ctrl(0, 0x0a, 1, fm_ce_se)], false);
    check(wqe::send().completion(OnError), 0);
    check(wqe::send().completion(OnFirstError), 1 << 2);
    check(wqe::send().completion(Always), 2 << 2);
    // The last call counts, and the other flags stay.
    check(wqe::send().completion(OnFirstError).signaled(WrId(1)), 2 << 2);
    check(wqe::send().signaled(WrId(1)).completion(OnFirstError), 1 << 2);
    check(wqe::send().fence(Fence::Small).fence(Fence::None), 0);
    check(wqe::send().solicited().fence(Fence::Strong).completion(OnFirstError), 0x60 | 1 << 2 | 2);
    // A queue that signals all requests signals these, too.
    let rig = Rig::new(Setup { signal_all: true, ..Setup::default() });
    let mut sq = rig.queue::<transport::Rc>();
    sq.post(&wqe::send().completion(OnFirstError)).expect("posted");
    assert_eq!(rig.ring()[11], 2 << 2);
}

#[test]
fn inline_of_nothing_is_no_segment() {
    let write = [ctrl(0, 0x08, 2, 0), RADDR];
    // Its type makes it a message without data, as `gather([])` would: libmlx5 does not copy that to BlueFlame.
    check::<transport::Rc, _, _>(wqe::write(REMOTE).inline(b""), &write, false);
    // Inline still, and of more than one unit: libmlx5 copies it.
    check::<transport::Rc, _, _>(wqe::write(REMOTE).inline_slice(&[]), &write, true);
    check::<transport::Rc, _, _>(wqe::send().inline(b""), &[ctrl(0, 0x0a, 1, 0)], false);
}

#[test]
fn an_atomic_without_a_place_for_its_result() {
    let operands = [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0, 0, 0, 0, 0, 0, 0, 0];
    let add = wqe::fetch_add(REMOTE, 0x6162_6364_6566_6768).fence(Fence::Small);
    check::<transport::Rc, _, _>(add, &[ctrl(0, 0x12, 3, 0x20), RADDR, operands], false);
}

#[test]
fn inline_wraps_in_the_middle_of_the_data() {
    // A ring of two WQEBBs, starting at the second: control segment, header and 44 bytes before the end, 16 bytes
    // after.
    let rig = Rig::new(Setup { wqebbs: 2, pi: 0xffff, ..Setup::default() });
    let data: [u8; 60] = core::array::from_fn(|i| i as u8);
    rig.queue::<transport::Rc>().post(&wqe::send().inline(&data)).expect("posted");
    let mut wqe = Vec::from([0, 0xff, 0xff, 0x0a, 0xc0, 0xff, 0xee, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 60]);
    wqe.extend(data);
    let ring = rig.ring();
    assert_eq!(ring[64..], wqe[..64]);
    assert_eq!(ring[..16], wqe[64..]);
    assert!(ring[16..64].iter().all(|&byte| byte == OLD));
    // The index wraps at 16 bits, and the register's copy follows the ring's wrap.
    assert_eq!(rig.dbrec()[1], [0, 0, 0, 1]);
    assert_eq!(rig.page()[..80], wqe);
}

/// Posts the same request three times by each of two ways, on twin queues where the ring and the index wrap. Compares
/// all stores, and the retired requests.
fn twins<T: Transport>(one: impl Fn(&mut SendQueue<T>, WrId), other: impl Fn(&mut SendQueue<T>, WrId)) {
    let setup = Setup { wqebbs: 4, pi: 0xfffe, ..Setup::default() };
    let rigs = [Rig::new(setup), Rig::new(setup)];
    let [mut a, mut b] = [rigs[0].queue::<T>(), rigs[1].queue::<T>()];
    for n in 0..3 {
        let wr_id = WrId(9 + n);
        let (first, free) = (a.pi(), a.free());
        one(&mut a, wr_id);
        other(&mut b, wr_id);
        assert_eq!(rigs[0].ring(), rigs[1].ring());
        assert_eq!(rigs[0].dbrec(), rigs[1].dbrec());
        // The device does not read the register's bytes past the WQE's end: old bytes of the ring, or zeros.
        let slot = usize::from(first.0 % 4) * 64;
        let wqe_bytes = 16 * usize::from(rigs[0].ring()[slot + 7] & 0x3f);
        for half in [0, 256] {
            let register = |rig: &Rig| rig.page()[half..half + wqe_bytes.min(256)].to_vec();
            assert_eq!(register(&rigs[0]), register(&rigs[1]));
        }
        assert_eq!(a.free(), b.free());
        assert_eq!(free.0 - a.free().0, wqe_bytes.div_ceil(64) as u16);
        // SAFETY: no device looks.
        let retired = [&mut a, &mut b].map(|sq| unsafe { sq.retire_index(first.0) });
        assert_eq!(retired[0].expect("outstanding").wr_id, wr_id);
        assert_eq!(retired[1], retired[0]);
    }
}

/// A request by its type, and erased.
pub(crate) fn erased_as_typed<T: Transport, O: SupportedOn<T>, D: Data>(request: Request<'_, O, D>) {
    assert!(request.erased().is_supported_on::<T>());
    // SAFETY: no device looks; so below.
    let typed = |sq: &mut SendQueue<T>, id| unsafe { sq.post_unchecked(&request.wr_id(id)) }.expect("posted");
    // SAFETY: no device looks.
    twins(typed, |sq, id| unsafe { sq.post_erased_unchecked(&request.wr_id(id).erased()) }.expect("posted"));
}

/// A request, and one that is prepared for `BYTES` bytes and `ENTRIES` entries, and gets them later by `give`.
pub(crate) fn prepared_as_posted<'d, T, O, D, E, const BYTES: usize, const ENTRIES: usize>(
    posted: Request<'d, O, E>,
    open: Request<'d, O, D>,
    give: impl Fn(Request<'d, Prepared<O, BYTES, ENTRIES>, D>) -> Request<'d, Prepared<O, BYTES, ENTRIES>, E>,
) where
    T: Transport,
    O: SupportedOn<T>,
    D: Data,
    E: Data,
{
    // SAFETY: no device looks; so below.
    let whole = |sq: &mut SendQueue<T>, id| unsafe { sq.post_unchecked(&posted.wr_id(id)) }.expect("posted");
    twins(whole, |sq, id| {
        let prepared = sq.prepare(&open).expect("within the limits");
        // SAFETY: no device looks.
        unsafe { sq.post_unchecked(&give(prepared).wr_id(id)) }.expect("posted");
    });
}

/// A request with its data.
pub(crate) fn given<R, G>(request: R, give: impl FnOnce(R) -> G) -> G {
    give(request)
}

/// Compares the three ways of a request with its data: posted whole, erased, and prepared.
macro_rules! every_way {
    ($transport:ty, $request:expr, $bytes:expr, $entries:expr, |$open:ident| $given:expr) => {{
        let posted = crate::golden::given($request, |$open| $given);
        crate::golden::erased_as_typed::<$transport, _, _>(posted);
        crate::golden::prepared_as_posted::<$transport, _, _, _, { $bytes }, { $entries }>(posted, $request, |$open| {
            $given
        });
    }};
}
pub(crate) use every_way;

#[test]
fn every_way_writes_the_same() {
    fn inline<const N: usize>(payload: [u8; N]) {
        let write = wqe::write(REMOTE).imm(5).fence(Fence::Small).signaled(WrId(0));
        erased_as_typed::<Rc, _, _>(write.inline_slice(&payload));
        erased_as_typed::<Rc, _, _>(write.inline(&payload));
        prepared_as_posted::<Rc, _, _, _, N, 0>(write.inline(&payload), write, |write| write.inline(&payload));
        let send = wqe::send().solicited();
        erased_as_typed::<Rc, _, _>(send.inline(&payload));
        prepared_as_posted::<Rc, _, _, _, N, 0>(send.inline(&payload), send, |send| send.inline(&payload));
    }
    inline([]);
    inline([1]);
    inline(count::<7>());
    inline(count::<8>());
    inline(count::<11>());
    inline(count::<12>());
    inline(count::<13>());
    inline(count::<20>());
    inline(count::<28>());
    inline(count::<29>());
    inline(count::<44>());
    inline(count::<45>());
    inline(count::<200>());
    let other = Sge { addr: 0x9192_9394_9596_9798, length: 0x7fff_ffff, lkey: Lkey(0xa1a2_a3a4) };
    let write = wqe::write(REMOTE).signaled(WrId(0));
    every_way!(Rc, write, 0, 1, |write| write.gather([LOCAL]));
    every_way!(Rc, write, 0, 2, |write| write.gather([LOCAL, other]));
    every_way!(Rc, write, 0, 7, |write| write.gather([other; 7]));
    erased_as_typed::<Rc, _, _>(write.gather_slice(&[LOCAL, other]));
    erased_as_typed::<Rc, _, _>(write.inline(b"header").then_gather([LOCAL, other]));
    every_way!(Rc, wqe::read(REMOTE).signaled(WrId(0)), 0, 1, |read| read.scatter([other]));
    every_way!(Rc, wqe::fetch_add(REMOTE, 3), 0, 1, |add| add.result(LOCAL.addr, LOCAL.lkey));
    every_way!(Rc, wqe::nop(), 0, 0, |nop| nop);
    // These set the opcode's modifier as well.
    let (eight, sixteen) = (Masked { value: 7_u64, mask: 8 }, Masked { value: 7_u128, mask: 8 });
    let swap = wqe::masked_compare_swap(REMOTE, eight, eight).signaled(WrId(1));
    every_way!(Rc, swap, 0, 1, |swap| swap.result(LOCAL.addr, LOCAL.lkey));
    let swap = wqe::masked_compare_swap(REMOTE, sixteen, sixteen).signaled(WrId(1));
    every_way!(Rc, swap, 0, 1, |swap| swap.result(LOCAL.addr, LOCAL.lkey));
    let headers: [u8; 42] = count();
    let frame = wqe::frame().inline_headers(&headers).l4_checksum();
    every_way!(transport::RawPacket, frame, 64, 0, |frame| frame.inline(&[7; 64]));
    every_way!(transport::RawPacket, frame, 0, 1, |frame| frame.gather([LOCAL]));
    every_way!(transport::RawPacket, frame, 0, 0, |frame| frame);
}

#[test]
fn an_erased_request_goes_only_where_its_type_would() {
    let rig = Rig::new(Setup::default());
    let headers = [7; 18];
    let rc = rig.queue::<Rc>().post_erased(&wqe::frame().inline_headers(&headers).erased());
    assert_eq!(rc, Err(PostError::NotSupported));
    assert_eq!(rig.queue::<Rc>().batch().push_erased(&wqe::frame().erased()), Err(PostError::NotSupported));
    assert_eq!(rig.queue::<Ud>().post_erased(&wqe::send().erased()), Err(PostError::NotSupported), "no destination");
    let read = rig.queue::<transport::Uc>().post_erased(&wqe::read(REMOTE).erased());
    assert_eq!(read, Err(PostError::NotSupported));
    // The device needs 18 bytes inline.
    let bare = rig.queue::<transport::RawPacket>().post_erased(&wqe::frame().inline(b"a frame").erased());
    assert_eq!(bare, Err(PostError::NotSupported));
    let gathers = wqe::send().gather([LOCAL]).erased();
    assert_eq!(rig.queue::<Rc>().post_erased(&gathers), Err(PostError::NamesMemory));
    assert_eq!(rig.queue::<Rc>().batch().push_erased(&gathers), Err(PostError::NamesMemory));
    assert!(rig.ring().iter().chain(&rig.page()).all(|&byte| byte == OLD), "an error leaves no trace");
    assert_eq!(rig.queue::<Rc>().post_erased(&wqe::send().inline_slice(&headers).erased()), Ok(()));
}

/// Posts requests that are kept and that are prepared, with changes, and the requests that they must equal, on queues
/// where the ring and the index wrap.
#[test]
fn a_request_that_is_kept_writes_what_it_is_changed_to_and_the_rest_as_before() {
    let elsewhere = |n| Remote { addr: REMOTE.addr.wrapping_mul(n + 2), rkey: Rkey(0x0102_0304 * (n as u32 + 1)) };
    let (short, long) = ([0x5a; 8], [0xc3; 50]);
    let modes = [CompletionMode::OnError, CompletionMode::Always, CompletionMode::OnFirstError];
    for (signal_all, mode) in [false, true].iter().flat_map(|&all| modes.map(|mode| (all, mode))) {
        let setup = Setup { wqebbs: 8, pi: 0xfffd, signal_all, ..Setup::default() };
        let rigs = [Rig::new(setup), Rig::new(setup), Rig::new(setup)];
        let [mut by_fresh, mut by_kept, mut by_prepared] = [0, 1, 2].map(|n| rigs[n].queue::<Rc>());
        let unsignaled = if mode == CompletionMode::Always { CompletionMode::OnError } else { mode };
        // A request's own completion mode counts only where it is not changed.
        let write = wqe::write(REMOTE).imm(7).fence(Fence::Small).completion(mode).wr_id(WrId(1));
        let read = wqe::read(REMOTE).completion(mode);
        let small = by_prepared.prepare::<_, _, 8, 0>(&write).expect("within the limits");
        let large = by_prepared.prepare::<_, _, 50, 0>(&write).expect("within the limits");
        let entry = by_prepared.prepare::<_, _, 0, 1>(&read).expect("within the limits");
        for n in 0..12 {
            let (to, signaled, wr_id) = (elsewhere(n), n % 3 == 0, WrId(100 + n));
            let first = by_fresh.pi();
            let asked = if signaled { CompletionMode::Always } else { unsignaled };
            let moved = wqe::write(to).imm(7).fence(Fence::Small).completion(asked).wr_id(wr_id);
            let (posted, tag) = match n % 4 {
                0 => {
                    let fresh = by_fresh.post(&moved.completion(mode).wr_id(WrId(1)).inline(&short));
                    let kept = by_kept.post(&write.at(to).inline(&short));
                    ([fresh, kept, by_prepared.post(&small.at(to).inline(&short))], WrId(1))
                }
                1 => {
                    let plain = wqe::write(REMOTE).imm(7).fence(Fence::Small).completion(asked).wr_id(wr_id);
                    let fresh = by_fresh.post(&plain.inline(&short));
                    let kept = by_kept.post(&write.signaled_if(signaled, wr_id).inline(&short));
                    let prepared = by_prepared.post(&small.signaled_if(signaled, wr_id).inline(&short));
                    ([fresh, kept, prepared], wr_id)
                }
                2 => {
                    let fresh = by_fresh.post(&moved.inline(&long));
                    let kept = by_kept.post(&write.inline(&long).at(to).signaled_if(signaled, wr_id));
                    let prepared = by_prepared.post(&large.at(to).signaled_if(signaled, wr_id).inline(&long));
                    ([fresh, kept, prepared], wr_id)
                }
                _ => {
                    let fresh = wqe::read(to).scatter([LOCAL]).completion(asked).wr_id(wr_id);
                    let kept = read.at(to).signaled_if(signaled, wr_id).scatter([LOCAL]);
                    let prepared = entry.at(to).signaled_if(signaled, wr_id).scatter([LOCAL]);
                    // SAFETY: no device looks.
                    let posted = unsafe {
                        let [fresh, kept] = [by_fresh.post_unchecked(&fresh), by_kept.post_unchecked(&kept)];
                        [fresh, kept, by_prepared.post_unchecked(&prepared)]
                    };
                    (posted, wr_id)
                }
            };
            assert_eq!(posted, [Ok(()); 3]);
            for other in &rigs[1..] {
                assert_eq!((rigs[0].ring(), rigs[0].dbrec()), (other.ring(), other.dbrec()), "{mode:?}, {n}");
            }
            // SAFETY: no device looks.
            let retired = [&mut by_fresh, &mut by_kept, &mut by_prepared].map(|sq| unsafe { sq.retire_index(first.0) });
            assert_eq!(retired[0].expect("outstanding").wr_id, tag);
            assert_eq!([retired[1], retired[2]], [retired[0]; 2]);
        }
    }
}

/// A queue refuses to prepare a request that it would not take.
#[test]
fn what_exceeds_the_limits_is_not_prepared() {
    let rig = Rig::new(Setup { wqebbs: 4, max_sge: 2, max_inline: 20, ..Setup::default() });
    let mut sq = rig.queue::<Rc>();
    let many = sq.prepare::<_, _, 0, 3>(&wqe::send()).err();
    assert_eq!(many, Some(EncodeError::TooManySges { count: 3, limit: 2 }));
    let long = sq.prepare::<_, _, 21, 0>(&wqe::send()).err();
    assert_eq!(long, Some(EncodeError::InlineTooLong { bytes: 21, limit: 20 }));
    let prepared = sq.prepare::<_, _, 0, 2>(&wqe::send()).expect("within the limits");
    let long = Sge { length: 0x8000_0000, ..LOCAL };
    let limit = 0x7fff_ffff;
    // SAFETY: no device looks; so below.
    let posted = unsafe { sq.post_unchecked(&prepared.gather([long, LOCAL])) };
    assert_eq!(posted, Err(PostError::Encode(EncodeError::SgeTooLong { bytes: 0x8000_0000, limit })));
    assert!(rig.ring().iter().chain(&rig.page()).all(|&byte| byte == OLD), "an error leaves no trace");
    // An entry of zero bytes would be left out, and the request shorter than it was prepared for.
    let empty = Sge { length: 0, ..LOCAL };
    // SAFETY: no device looks.
    let posted = unsafe { sq.post_unchecked(&prepared.gather([LOCAL, empty])) };
    assert_eq!(posted, Err(PostError::Encode(EncodeError::EmptySge)));
    assert!(rig.ring().iter().chain(&rig.page()).all(|&byte| byte == OLD), "an error leaves no trace");
}

/// Entries given by value: entries of no bytes are left out, and entries of too many refused, whichever way the request
/// goes.
#[test]
fn entries_that_the_device_would_misread_are_refused() {
    let rig = Rig::new(Setup { wqebbs: 4, max_sge: 2, ..Setup::default() });
    let mut sq = rig.queue::<transport::Rc>();
    let long = Sge { length: 0x8000_0000, ..LOCAL };
    let send = wqe::send().wr_id(WrId(1));
    let many = Err(PostError::Encode(EncodeError::TooManySges { count: 3, limit: 2 }));
    let too_long = Err(EncodeError::SgeTooLong { bytes: 0x8000_0000, limit: 0x7fff_ffff }.into());
    // SAFETY: no device looks.
    unsafe {
        assert_eq!(sq.post_unchecked(&send.gather([LOCAL; 3])), many);
        assert_eq!(sq.post_erased_unchecked(&send.gather([LOCAL; 3]).erased()), many);
        assert_eq!(sq.post_unchecked(&send.gather([long, LOCAL])), too_long);
        assert_eq!(sq.post_erased_unchecked(&send.gather_slice(&[LOCAL, long]).erased()), too_long);
        assert_eq!(sq.batch().push_unchecked(&send.gather([LOCAL, long])), too_long);
    }
    assert!(rig.ring().iter().chain(&rig.page()).all(|&byte| byte == OLD), "an error leaves no trace");
}

#[test]
fn blueflame_copies_what_is_not_inline_by_default() {
    let rig = Rig::new(Setup::default());
    let mut sq = rig.queue::<transport::Rc>();
    // SAFETY: no device looks.
    unsafe { sq.post_unchecked(&wqe::send().gather([LOCAL])) }.expect("posted");
    assert_eq!(rig.page()[..32], rig.ring()[..32]);
    // One unit is one unit: nothing but the doorbell.
    rig.clear_page();
    sq.post(&wqe::nop()).expect("posted");
    let page = rig.page();
    assert_eq!(page[256..264], rig.ring()[64..72]);
    assert!(page[264..].iter().all(|&byte| byte == OLD));
}

/// UCX 1.13.1's WQEs of `rc_mlx5` and `ud_mlx5` (`ucx_perftest -t am_bw -D zcopy -H 8`), as the software device has
/// fetched it (`softhca-run --log softhca::wqe=trace`): its headers inline, its user's message by reference.
#[test]
fn ucx_writes_the_same_of_inline_data_and_what_follows() {
    let message = |addr, lkey| [Sge { addr, length: 0x3f8, lkey: Lkey(lkey) }];
    let wqe = by_ucx(
        "0000000a000042030000000800000000 8000000a000501000000000000000000
         000003f80000190200007f7533d6a008",
    );
    let header = [0, 5, 1, 0, 0, 0, 0, 0, 0, 0];
    let request = wqe::send().inline(&header).then_gather(message(0x7f75_33d6_a008, 0x1902)).signaled(WrId(1));
    check::<Rc, _, _>(request, &wqe, false);
    // Sizes that are known only at run time.
    let slice = message(0x7f75_33d6_a008, 0x1902);
    check::<Rc, _, _>(wqe::send().inline_slice(&header).then_gather_slice(&slice).signaled(WrId(1)), &wqe, false);

    let wqe = by_ucx(
        "0000000a000042070000000000000000 1ee7a330000000008000004200000001
         00000000000000000000000000000000 00000000000000000000000000000000
         800000100000002b0100000001000000 00000000000000000000000000000000
         000003f800001a0300007fbd42c95008",
    );
    let to = UdAddress::new(CompactAv::new(1), Qpn::truncate(0x42), Qkey(0x1ee7_a330)).to_full();
    let mut header = [0; 16];
    (header[3], header[4], header[8]) = (0x2b, 1, 1);
    check::<Ud, _, _>(wqe::send().to(to).inline(&header).then_gather(message(0x7fbd_42c9_5008, 0x1a03)), &wqe, false);
}

/// Each part has its own limit; an absent part takes no room.
#[test]
fn inline_data_and_what_follows_have_limits_of_their_own() {
    let rig = Rig::new(Setup { max_inline: 20, max_sge: 2, ..Setup::default() });
    let mut sq = rig.queue::<Rc>();
    let entry = Sge { addr: 0x1000, length: 8, lkey: Lkey(7) };
    // SAFETY: no device looks; so below.
    let posted = unsafe { sq.post_unchecked(&wqe::send().inline(&[1; 21]).then_gather([entry])) };
    assert_eq!(posted, Err(PostError::Encode(EncodeError::InlineTooLong { bytes: 21, limit: 20 })));
    // SAFETY: no device looks.
    let posted = unsafe { sq.post_unchecked(&wqe::send().inline(&[1; 20]).then_gather([entry; 3])) };
    assert_eq!(posted, Err(PostError::Encode(EncodeError::TooManySges { count: 3, limit: 2 })));
    let data = [0, 0, 0, 8, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0x10, 0];
    let nothing = Sge { length: 0, ..entry };
    check::<Rc, _, _>(wqe::send().inline(&[]).then_gather([nothing, entry]), &[ctrl(0, 0x0a, 2, 0), data], false);
}
