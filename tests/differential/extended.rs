//! CQEs with any bytes in their fields: `ibv_wc_read_*` and this crate's views give the same values. Clock pages with
//! any numbers give the same times.
//!
//! A queue pair in the error state completes each request at once. The CQEs are overwritten before they are polled.
//!
//! Values of good CQEs belong here, failures in `statuses.rs`.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use blueflame::cq::cqe::ClockInfo;
use blueflame::cq::{Cqe, CqeOpcode};
use blueflame::transport;
use blueflame::verbs::Device;
use blueflame::verbs::Error;
use blueflame::verbs::adopt::adopt_qp;
use blueflame::verbs::device::Clock;
use blueflame_sys as sys;
use blueflame_testkit::request::{Data, Wr};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

use crate::cases;
use crate::completions::view;
use crate::ethernet::{alone, alone_as};
use crate::post::{self, Way};
use crate::twin::{Link, wait};
use crate::verbs::{CqeBytes, Fabric, Geometry, PolledCq, RawQp};

/// CQEs overwritten at a time.
const BATCH: usize = 256;

/// `struct mlx5dv_clock_info`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct mlx5dv_clock_info {
    nsec: u64,
    last_cycles: u64,
    frac: u64,
    mult: u32,
    shift: u32,
    mask: u64,
}

#[link(name = "mlx5")]
unsafe extern "C" {
    fn mlx5dv_get_clock_info(context: *mut sys::ibv_context, info: *mut mlx5dv_clock_info) -> i32;
}

/// Both reports of a completion.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fields {
    timestamp: u64,
    wall_clock: u64,
    /// `None` where verbs has no such operation.
    opcode: Option<u32>,
    byte_len: u32,
    /// Immediate data as a number, or the key that was invalidated.
    imm_or_key: Option<u32>,
    qp_num: u32,
    src_qp: u32,
    wc_flags: u32,
    slid: u32,
    sl: u8,
    dlid_path_bits: u8,
    /// `None` where no tag was taken out, which verbs does not tell.
    vlan: Option<u16>,
    flow_tag: u32,
}

/// As this crate reads it. `frames`: the device has looked at checksums.
fn ours(cqe: &Cqe<'_>, info: &ClockInfo, frames: bool) -> Fields {
    const GRH: u32 = 1;
    const WITH_IMM: u32 = 1 << 1;
    const IP_CSUM_OK: u32 = 1 << 2;
    const WITH_INV: u32 = 1 << 3;
    let flag = |on: bool, bit: u32| if on { bit } else { 0 };
    // For NOP, SET_PSV, UMR and MMO, libmlx5 reports the opcode of the posted request, here a WRITE.
    let posted = cqe.opcode() == CqeOpcode::Req && matches!(cqe.request_opcode(), 0x00 | 0x20 | 0x25 | 0x2f);
    Fields {
        timestamp: cqe.timestamp(),
        wall_clock: info.nanoseconds(cqe.timestamp()),
        opcode: cqe.wc_opcode().ibv_value().filter(|_| !posted),
        byte_len: cqe.byte_len(),
        imm_or_key: cqe.imm().or(cqe.invalidated_rkey().map(|key| key.0)),
        qp_num: cqe.qpn().get(),
        src_qp: cqe.src_qp().get(),
        wc_flags: flag(cqe.has_grh(), GRH)
            | flag(cqe.imm().is_some(), WITH_IMM)
            | flag(frames && cqe.checksum_ok(), IP_CSUM_OK)
            | flag(cqe.invalidated_rkey().is_some(), WITH_INV),
        slid: cqe.slid().into(),
        sl: cqe.sl(),
        dlid_path_bits: cqe.dlid_path_bits(),
        vlan: cqe.vlan(),
        flow_tag: cqe.flow_tag(),
    }
}

/// As libmlx5 reads it; `like` names the fields to compare.
fn theirs(cq: *mut sys::ibv_cq_ex, like: &Fields) -> Fields {
    // SAFETY: a queue that is alive, made with all these fields, between the start of a poll and its end.
    unsafe {
        let imm = sys::ibv_wc_read_imm_data(cq);
        Fields {
            timestamp: sys::ibv_wc_read_completion_ts(cq),
            wall_clock: sys::ibv_wc_read_completion_wallclock_ns(cq),
            opcode: like.opcode.map(|_| sys::ibv_wc_read_opcode(cq)),
            byte_len: sys::ibv_wc_read_byte_len(cq),
            imm_or_key: like.imm_or_key.map(|_| {
                const WITH_INV: u32 = 1 << 3;
                if like.wc_flags & WITH_INV != 0 { sys::ibv_wc_read_invalidated_rkey(cq) } else { u32::from_be(imm) }
            }),
            qp_num: sys::ibv_wc_read_qp_num(cq),
            src_qp: sys::ibv_wc_read_src_qp(cq),
            wc_flags: sys::ibv_wc_read_wc_flags(cq),
            slid: sys::ibv_wc_read_slid(cq),
            sl: sys::ibv_wc_read_sl(cq),
            dlid_path_bits: sys::ibv_wc_read_dlid_path_bits(cq),
            vlan: like.vlan.map(|_| sys::ibv_wc_read_cvlan(cq)),
            flow_tag: sys::ibv_wc_read_flow_tag(cq),
        }
    }
}

/// A device's clock page, mapped to be written: by the system call itself, for the software device lets nobody have it
/// so that asks.
struct Page(*mut AtomicU32);

/// `struct mlx5_ib_clock_info`: its words.
const NSEC: usize = 2;
const CYCLES: usize = 4;
const FRAC: usize = 6;
const MULT: usize = 8;
const SHIFT: usize = 9;
const MASK: usize = 10;

impl Page {
    fn of(device: &Device) -> Self {
        let (protection, at) = (libc::PROT_READ | libc::PROT_WRITE, 7_i64 << 8 << 12);
        // SAFETY: a new mapping of a file that is open.
        let page = unsafe {
            let file = (*device.as_raw()).cmd_fd;
            libc::syscall(libc::SYS_mmap, 0_usize, 4096_usize, protection, libc::MAP_SHARED, file, at)
        };
        assert!(page > 0, "the software device's page: {}", std::io::Error::last_os_error());
        Self(std::ptr::with_exposed_provenance_mut(page as usize))
    }

    fn word(&self, n: usize) -> &AtomicU32 {
        // SAFETY: within the page, mapped as long as `self`; all its users access it by atomic words.
        unsafe { &*self.0.add(n) }
    }

    fn sign(&self) -> u32 {
        self.word(0).load(Ordering::SeqCst)
    }

    fn put(&self, at: usize, value: u64) {
        // SAFETY: within the page, mapped as long as `self`; even words are aligned.
        unsafe { &*self.0.add(at).cast::<AtomicU64>() }.store(value, Ordering::Relaxed);
    }

    /// Writes `info` as the kernel does, and returns the sign that says so.
    fn write(&self, info: &ClockInfo) -> u32 {
        let sign = (self.sign() & !1).wrapping_add(2);
        self.word(0).store(sign.wrapping_sub(1), Ordering::SeqCst);
        for (at, value) in [(NSEC, info.nsec), (CYCLES, info.last_cycles), (FRAC, info.frac), (MASK, info.mask)] {
            self.put(at, value);
        }
        self.word(MULT).store(info.mult, Ordering::Relaxed);
        self.word(SHIFT).store(info.shift, Ordering::Relaxed);
        self.word(0).store(sign, Ordering::SeqCst);
        sign
    }

    /// Does `f` while the page says `info`: again, if the device has written it meanwhile.
    fn during<R>(&self, info: &ClockInfo, mut f: impl FnMut() -> R) -> R {
        loop {
            let sign = self.write(info);
            let result = f();
            if self.sign() == sign {
                return result;
            }
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: mapped in `of`, unmapped once.
        unsafe { libc::munmap(self.0.cast(), 4096) };
    }
}

fn by_libmlx5(device: &Device) -> Result<mlx5dv_clock_info, i32> {
    let mut info = mlx5dv_clock_info::default();
    // SAFETY: an open device of libmlx5, and room for what it tells.
    match unsafe { mlx5dv_get_clock_info(device.as_raw(), &raw mut info) } {
        0 => Ok(info),
        errno => Err(errno),
    }
}

fn as_c(info: ClockInfo) -> mlx5dv_clock_info {
    let ClockInfo { nsec, last_cycles, frac, mult, shift, mask } = info;
    mlx5dv_clock_info { nsec, last_cycles, frac, mult, shift, mask }
}

/// Numbers of the size that a kernel writes, and any.
fn infos() -> impl Strategy<Value = ClockInfo> {
    let masks = prop_oneof![3 => (1..=64_u32).prop_map(|bits| u64::MAX >> (64 - bits)), 1 => any::<u64>()];
    (any::<[u64; 3]>(), any::<u32>(), 0..64_u32, masks).prop_map(|([nsec, last_cycles, frac], mult, shift, mask)| {
        ClockInfo { nsec, last_cycles, frac, mult, shift, mask }
    })
}

/// Any bytes of a CQE of a request that succeeded, of the side that `responder` names. Half of the timestamps are near
/// the clock's time.
fn cqes(responder: bool) -> impl Strategy<Value = ([u8; 64], i64)> {
    let opcode = if responder { (1..=4_u8).boxed() } else { Just(0).boxed() };
    let request = prop_oneof![
        proptest::sample::select(&[0x08, 0x09, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0x0e, 0x01, 0x1b, 0x18][..]),
        any::<u8>()
    ];
    let fields = proptest::array::uniform32(any::<u8>());
    (fields, proptest::array::uniform32(any::<u8>()), opcode, any::<bool>(), request, any::<i64>(), 0..64_u32).prop_map(
        move |(first, second, opcode, solicited, request, near, bits)| {
            let mut bytes = [0; 64];
            bytes[..32].copy_from_slice(&first);
            bytes[32..].copy_from_slice(&second);
            if !responder {
                bytes[56] = request;
            }
            // 1: tag matching.
            bytes[40] &= !1;
            // Number 0 is no queue pair's.
            bytes[59] |= 1;
            bytes[63] = opcode << 4 | u8::from(solicited) << 1;
            (bytes, if bits < 32 { near >> bits } else { i64::MIN })
        },
    )
}

/// A queue pair that completes each request at once.
struct Failed {
    raw: RawQp,
    send_cq: PolledCq,
    recv_cq: PolledCq,
}

impl Failed {
    /// With all that verbs tells of completions.
    fn new<T: Link>(fabric: &Fabric) -> Self {
        let flags = sys::IBV_WC_EX_WITH_BYTE_LEN
            | sys::IBV_WC_EX_WITH_IMM
            | sys::IBV_WC_EX_WITH_QP_NUM
            | sys::IBV_WC_EX_WITH_SRC_QP
            | sys::IBV_WC_EX_WITH_SLID
            | sys::IBV_WC_EX_WITH_SL
            | sys::IBV_WC_EX_WITH_DLID_PATH_BITS
            | sys::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
            | sys::IBV_WC_EX_WITH_CVLAN
            | sys::IBV_WC_EX_WITH_FLOW_TAG
            | sys::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
        Self::telling::<T>(fabric, flags)
    }

    fn telling<T: Link>(fabric: &Fabric, flags: u32) -> Self {
        let geometry = Geometry { sends: 512, receives: 512, ..Geometry::default() };
        let [send_cq, recv_cq] = [(); 2].map(|()| PolledCq::extended(&fabric.device, 1024, 64, flags.into()));
        let raw = RawQp::new(fabric, T::QP_TYPE, send_cq.as_raw(), recv_cq.as_raw(), null_mut(), &geometry);
        // SAFETY: alive as long as the handle, which is dropped here. The queues are dropped unused.
        let mut pair = unsafe { adopt_qp::<T>(raw.raw) }.expect("adopt");
        T::ready(&mut pair, fabric, None).expect("RTS");
        pair.qp.to_error().expect("ERR");
        drop(pair);
        Self { raw, send_cq, recv_cq }
    }

    /// Has a batch of requests complete, of which libmlx5 has yet to hear, and returns the queue.
    fn complete<T: Link>(&mut self, fabric: &Fabric, responder: bool) -> &mut PolledCq {
        let cq = if responder {
            let list: Vec<_> = (0..BATCH as u64).map(|id| (id, vec![fabric.buffer.sge_of(0..64)])).collect();
            let mut bad = null_mut();
            let raw = self.raw.raw.as_ptr();
            // SAFETY: the queue pair is alive, the list lives until the call returns, the memory is the fabric's.
            post::receive(&list, |first| unsafe { sys::ibv_post_recv(raw, first, &raw mut bad) });
            &mut self.recv_cq
        } else {
            let silent = Wr::new(T::silent(fabric), Data::Sges(vec![fabric.buffer.sge_of(0..64)]), 0);
            let list: Vec<_> = (0..BATCH).map(|_| silent.clone()).collect();
            post::send(self.raw.raw, Way::PostSend, &list, 1, &[]);
            &mut self.send_cq
        };
        wait("flushed requests", || cq.is_written(BATCH as u32 - 1).then_some(())).expect("all");
        cq
    }
}

/// Overwrites batches of CQEs, of pages of any numbers, and compares both readings.
fn compare<T: Link>(frames: bool, batches: u32) {
    let fabric = Fabric::new();
    let (clock, page) = (fabric.device.clock().expect("a clock"), Page::of(&fabric.device));
    let mut failed = Failed::new::<T>(&fabric);
    let mut runner = TestRunner::new(Config::default());
    let mut any_of = |responder| {
        let one = (cqes(responder), infos());
        proptest::collection::vec(one, BATCH).new_tree(&mut runner).expect("bytes").current()
    };
    for batch in 0..batches {
        // Frames are only received here: of a send, the device tells nothing of headers.
        let responder = frames || batch % 2 == 0;
        let list = any_of(responder);
        let cq = failed.complete::<T>(&fabric, responder);
        for (n, ((bytes, near), info)) in list.iter().enumerate() {
            let mut bytes = *bytes;
            if *near != i64::MIN {
                bytes[48..56].copy_from_slice(&info.last_cycles.wrapping_add_signed(*near).to_be_bytes());
            }
            let CqeBytes { bytes: written, .. } = cq.at(n as u32);
            // libmlx5 finds the queue by these bytes and, on a send queue, the request.
            for own in [32..36, 60..62] {
                bytes[own.clone()].copy_from_slice(&written[own]);
            }
            bytes[63] |= written[63] & 1;
            cq.patch(n as u32, 0, &bytes);
        }
        for (n, (_, info)) in list.iter().enumerate() {
            let (mut bytes, read) = read_both(cq, &page, &clock, info, frames);
            let [ours, theirs] = read;
            assert_eq!(ours, theirs, "this crate, libmlx5: batch {batch}, CQE {n}, {info:?}\n{:02x?}", {
                let CqeBytes { bytes, size } = &mut bytes;
                &bytes[..*size]
            });
        }
    }
}

/// Both readings of the next CQE, this crate's first.
fn read_both(cq: &mut PolledCq, page: &Page, clock: &Clock, info: &ClockInfo, frames: bool) -> (CqeBytes, [Fields; 2]) {
    let mut bytes = cq.peek().expect("written");
    let mut like = view(&mut bytes, |cqe| ours(cqe, info, frames));
    let mut attr = sys::ibv_poll_cq_attr { comp_mask: 0 };
    let raw = cq.as_raw().cast();
    // The start of a poll reads the page, and can be done once: of the few that the device has come between, the page
    // counts.
    let sign = page.write(info);
    // SAFETY: an extended queue that is alive.
    assert_eq!(unsafe { sys::ibv_start_poll(raw, &raw mut attr) }, 0, "libmlx5 sees the CQE, too");
    let by_page = clock.info().expect("whole");
    if page.sign() == sign {
        assert_eq!(by_page, *info);
    } else {
        like.wall_clock = theirs(raw, &like).wall_clock;
    }
    let read = [like, theirs(raw, &like)];
    // SAFETY: an extended queue that is alive; its poll has begun.
    unsafe { sys::ibv_end_poll(raw) };
    cq.polled();
    (bytes, read)
}

#[test]
fn any_fields() {
    compare::<transport::Rc>(false, cases(40));
}

#[test]
fn any_fields_of_frames() {
    if alone("extended::any_fields_of_frames", "none") {
        compare::<transport::RawPacket<0>>(true, cases(20));
    }
}

/// Queues whose timestamps are the time: libmlx5 returns any seconds and nanoseconds unchanged.
#[test]
fn any_real_time() {
    if !alone_as("extended::any_real_time", ("SOFTHCA_CLOCK", "both")) {
        return;
    }
    type Frames = transport::RawPacket<0>;
    let fabric = Fabric::new();
    let wall_clock = sys::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    let mut failed = Failed::telling::<Frames>(&fabric, wall_clock);
    let mut runner = TestRunner::new(Config::default());
    for batch in 0..cases(4) {
        let responder = batch % 2 == 0;
        let list = proptest::collection::vec(cqes(responder), BATCH).new_tree(&mut runner).expect("bytes").current();
        let cq = failed.complete::<Frames>(&fabric, responder);
        for (n, (bytes, _)) in list.iter().enumerate() {
            cq.patch(n as u32, 48, &bytes[48..56]);
            // A success, of which libmlx5 looks at nothing else.
            cq.patch(n as u32, 63, &[bytes[63] | cq.at(n as u32).bytes[63] & 1]);
        }
        for n in 0..BATCH {
            let mut bytes = cq.peek().expect("written");
            let stamp = view(&mut bytes, |cqe| cqe.timestamp());
            let mut attr = sys::ibv_poll_cq_attr { comp_mask: 0 };
            let raw = cq.as_raw().cast();
            // SAFETY: an extended queue that is alive.
            let told = unsafe {
                assert_eq!(sys::ibv_start_poll(raw, &raw mut attr), 0, "libmlx5 sees the CQE, too");
                let told = sys::ibv_wc_read_completion_wallclock_ns(raw);
                sys::ibv_end_poll(raw);
                told
            };
            assert_eq!(stamp, told, "this crate, libmlx5: batch {batch}, CQE {n}");
            cq.polled();
        }
    }
}

/// Pages with any numbers; one that is being written; and one that was left in the middle of it.
#[test]
fn the_clock_page_is_read_alike() {
    let device = Fabric::new().device;
    let (clock, page) = (device.clock().expect("a clock"), Page::of(&device));
    let mut runner = TestRunner::new(Config { cases: cases(2000), ..Config::default() });
    runner
        .run(&infos(), |info| {
            let (ours, theirs) = page.during(&info, || (clock.info(), by_libmlx5(&device)));
            prop_assert_eq!(ours, Ok(info));
            prop_assert_eq!(theirs, Ok(as_c(info)));
            Ok(())
        })
        .unwrap();
    // The device may come between, and writes it whole.
    let in_the_middle = || {
        page.word(0).fetch_or(1, Ordering::SeqCst);
        (clock.info(), by_libmlx5(&device))
    };
    let seen =
        wait("the page unfinished", || Some(in_the_middle()).filter(|(ours, theirs)| ours.is_err() && theirs.is_err()));
    let (ours, theirs) = seen.expect("nobody finishes it");
    assert!(matches!(ours, Err(Error::ClockUpdating { .. })), "{ours:?}");
    assert_eq!(theirs, Err(libc::EBUSY));
    page.word(0).fetch_add(1, Ordering::SeqCst);
    assert!(clock.info().is_ok() && by_libmlx5(&device).is_ok());
}

/// The device's own page: what both say is the time.
#[test]
fn the_time_is_the_same() {
    let device = Fabric::new().device;
    let clock = device.clock().expect("a clock");
    let same = wait("one page", || {
        let (ours, theirs) = (clock.info().ok()?, by_libmlx5(&device).ok()?);
        (as_c(ours) == theirs).then_some(ours)
    })
    .expect("both read it between two updates");
    let after = clock.cycles().expect("mapped");
    let wall =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_nanos() as u64;
    let now = clock.now().expect("whole").expect("mapped");
    assert!(now.abs_diff(wall) < 5_000_000_000, "{now} {wall}: seconds apart");
    assert!(same.nanoseconds(after) <= now + 1);
    assert!(clock.update_period() > std::time::Duration::ZERO);
}
