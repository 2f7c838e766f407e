//! All copy routines of this CPU post alike: requests of every inline size, from one WQEBB to several, around the
//! ring's end, and prepared requests, on registers of every type.
//!
//! Routines belong here, their choice in `probe.rs`.

use blueflame::arch::copy::{BlockCopy, CopyRoutine, CopyVisitor};
use blueflame::db::{DoorbellFence, ExclusiveRegister, OneFence, Register, SharedRegister};
use blueflame::types::WrId;
use blueflame::{transport, wqe};
use blueflame_testkit::{ConnectOptions, Device, End, Shape, register};
use softhca::embedded::QpParts;

/// Bytes of half a register.
const HALF: usize = 256;
/// The most that a WQE of a half's size carries inline, behind control, remote address and length.
const LONGEST: usize = HALF - 16 - 16 - 4;

/// Whether the last WQE in the ring, of `wqe` bytes, is also in the register's half.
fn same(qp: &QpParts, n: usize, slot: usize, wqe: usize) -> bool {
    // SAFETY: the device does nothing until it is stepped; ring and register are readable.
    let (ring, half) =
        unsafe { (qp.sq.buf.cast::<[[u8; 64]; 8]>().read(), qp.bf_reg.add(n % 2 * HALF).cast::<[u8; HALF]>().read()) };
    (slot..).flat_map(|slot| ring[slot % 8]).take(wqe).eq(half.into_iter().take(wqe))
}

/// Writes of every inline size, from registers and from the ring. Each must arrive, and the register must hold the same bytes as
/// the ring.
fn writes<R: Register>(ring_by: impl FnOnce(&QpParts) -> R) {
    let hca = Device::standalone().expect("a device");
    let mut qp = None;
    // A ring of eight WQEBBs and WQEs of up to four: they wrap at every place.
    let ring_by = |parts: &QpParts| {
        qp = Some(*parts);
        Ok(ring_by(parts))
    };
    // SAFETY: callers make the register of the parts that they are given.
    let mut end = unsafe { End::<transport::Rc, R>::with_register(&hca, &Shape::SMALL, ring_by) }.expect("an end");
    let qp = qp.expect("the queue pair's parts");
    end.connect(&end.endpoint(), &ConnectOptions::default()).expect("a connection");
    let window = hca.buffer(LONGEST).expect("memory");
    let to = wqe::write(window.remote());
    let small = end.sq.prepare::<_, _, 28, 0>(&to).expect("within the limits");
    let large = end.sq.prepare::<_, _, 200, 0>(&to).expect("within the limits");
    let known = [8, 28, 60, 200].into_iter().cycle().take(40).map(|len| (len, true));
    for (n, (len, is_known)) in (0..=LONGEST).map(|len| (len, false)).chain(known).enumerate() {
        let bytes: Vec<u8> = (0..len).map(|i| (n * 31 + i) as u8).collect();
        let slot = usize::from(end.sq.pi().0) % 8;
        let tag = WrId(n as u64);
        // Requests of one and two WQEBBs whose size the compiler knows go out of registers, prepared ones, too; others out
        // of the ring.
        let posted = if let (true, Ok(bytes)) = (is_known, <&[u8; 8]>::try_from(&*bytes)) {
            end.sq.post(&to.inline(bytes).signaled(tag))
        } else if let (true, Ok(bytes)) = (is_known, <&[u8; 28]>::try_from(&*bytes)) {
            end.sq.post(&small.signaled_if(true, tag).inline(bytes))
        } else if let (true, Ok(bytes)) = (is_known, <&[u8; 60]>::try_from(&*bytes)) {
            end.sq.post(&to.inline(bytes).signaled(tag))
        } else if let (true, Ok(bytes)) = (is_known, <&[u8; 200]>::try_from(&*bytes)) {
            end.sq.post(&large.signaled_if(true, tag).inline(bytes))
        } else {
            end.sq.post(&to.inline_slice(&bytes).signaled(tag))
        };
        posted.expect("room");
        // Without bytes there is no inline segment.
        let wqe = if len == 0 { 32 } else { 36 + len };
        assert!(same(&qp, n, slot, wqe), "{len} bytes");
        hca.run_until_idle().expect("an end");
        assert_eq!(hca.complaints(), []);
        let cqe = end.cq.poll().expect("a completion");
        cqe.check().expect("success");
        assert_eq!(end.sq.retire(&cqe).expect("outstanding").wr_id, tag);
        assert!(window.to_vec(..len) == bytes, "{len} bytes");
    }
}

struct Everywhere;

impl CopyVisitor for Everywhere {
    type Output = ();

    fn run<C: BlockCopy>(self, copy: C) {
        // SAFETY: the register belongs to the new queue pair, and this is the one value made of it.
        let own = |qp: &QpParts| unsafe { ExclusiveRegister::from_parts(register(qp)) }.expect("a register");
        writes(|qp| own(qp).with_copy(copy));
        writes(|qp| own(qp).with_copy(copy).with_mode::<OneFence>());
        writes(|qp| own(qp).with_copy(copy).with_mode::<DoorbellFence>());
        let mut place = None;
        writes(|qp| {
            // SAFETY: the register belongs to the new queue pair, and its one value is shared by reference.
            let shared = unsafe { SharedRegister::from_parts(register(qp)) }.expect("a register");
            &*place.insert(shared.with_copy(copy))
        });
    }
}

#[test]
fn every_routine_posts_the_same() {
    // ST64B faults on memory in place of a register.
    for routine in CopyRoutine::available().filter(|&routine| routine != CopyRoutine::St64b) {
        routine.dispatch(Everywhere).expect("available");
    }
}
