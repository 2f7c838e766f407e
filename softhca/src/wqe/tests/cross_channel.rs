//! WQEs that wait, that let other queues go on, and that only read.
//!
//! Decoding of these WQEs belongs here, their execution in `softhca/tests/engine`.

use super::*;

/// libmlx5 of MLNX_OFED 4.3 `src/qp.c`, `set_wait_en_seg`, counts the index on past 24 and 16 bits; DOCA leaves the
/// last word of the control segment as it was.
#[test]
fn waits_and_enables() {
    let seg = [0, 0, 0, 0, 0, 0, 0, 0, 0x77, 0xfe, 0xdc, 0xba, 0, 0xab, 0xcd, 0xef];
    let enable = Enable { qpn: 0x00ab_cdef, index: 0xdcba };
    for (opcode, op) in [
        (0x0f, SendOp::WaitCqe { cqn: 0x00ab_cdef, index: 0x00fe_dcba }),
        (0x16, SendOp::EnableReceives(enable)),
        (0x17, SendOp::EnableSends(enable)),
    ] {
        let mut bytes = wqe(opcode, &[&seg]);
        bytes[12..16].fill(0xa5);
        for transport in [Transport::Rc, Transport::RawPacket] {
            let found = fetch_at(0, &bytes, transport).unwrap();
            assert_eq!((&found.op, found.payload), (&op, Payload::default()));
        }
        assert_eq!(fault(&bytes, Transport::Uc), WqeFault::WrongTransport { opcode, transport: Transport::Uc });
        assert_eq!(fault(&wqe(opcode, &[&seg, &DATA]), Transport::Rc), WqeFault::Trailing(16));
        assert!(matches!(fault(&wqe(opcode, &[]), Transport::Rc), WqeFault::MissingSegment { needs: 32, .. }));
        for at in [0, 7, 12] {
            let mut odd = seg;
            odd[at] = 1;
            assert!(matches!(fault(&wqe(opcode, &[&odd]), Transport::Rc), WqeFault::Reserved { value: 1.., .. }));
        }
        bytes[0] = 3;
        assert_eq!(fault(&bytes, Transport::Rc), WqeFault::BadOpmod { opcode, opmod: 3 });
        if opcode != 0x0f {
            bytes[0] = 1;
            assert_eq!(fault(&bytes, Transport::Rc), WqeFault::BadOpmod { opcode, opmod: 1 }, "of WAIT alone");
        }
    }
}

/// `struct mlx5_wqe_wseg` of DPDK.
#[test]
fn waits_for_the_clock() {
    let condition = [0, 0, 0, 0x15, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5];
    let value = [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff];
    let timed = |segments: &[&[u8]]| modified(0x0f, 2, segments);
    let wait = Condition {
        comparison: Comparison::CyclicSmaller,
        inverted: true,
        value: 0x0102_0304_0506_0708,
        mask: 0x0000_0007_ffff_ffff,
    };
    let found = fetch_at(0, &timed(&[&condition, &value]), Transport::RawPacket).unwrap();
    assert_eq!(found.op, SendOp::WaitTime(wait));
    assert!(matches!(fault(&timed(&[&condition]), Transport::Rc), WqeFault::MissingSegment { needs: 48, .. }));
    for (at, bits) in [(3, 0x06), (3, 0x20), (0, 0x80)] {
        let mut odd = condition;
        odd[at] |= bits;
        assert!(matches!(fault(&timed(&[&odd, &value]), Transport::Rc), WqeFault::Reserved { field: "operation", .. }));
    }
    // Seconds modulo 8, and nanoseconds: two seconds before the count wraps is behind one second after.
    let at = |seconds: u64, nanos: u64| seconds << 32 | nanos;
    let wait = Condition { inverted: false, value: at(6, 999_999_999), ..wait };
    for (clock, is_over) in
        [(at(6, 999_999_998), false), (at(14, 999_999_999), false), (at(7, 0), true), (at(9, 1), true)]
    {
        assert_eq!(wait.is_over(clock), is_over, "{clock:#x}");
    }
    let left = |clock| wait.time_left(clock, TimestampFormat::RealTime).as_nanos();
    assert_eq!([at(6, 999_999_900), at(5, 999_999_999), at(7, 0)].map(left), [100, 1_000_000_001, 1]);
    let wait = Condition { value: at(8, 5), ..wait };
    let left = |clock| wait.time_left(clock, TimestampFormat::RealTime).as_nanos();
    assert_eq!([at(7, 999_999_999), at(0x17, 0)].map(left), [7, 1_000_000_006], "around the mask's end");
}

/// `struct wait_on_data_seg` of UCC's `ucc_tl_mlx5_post_wait_on_data`, and `struct wod_wait_on_data_seg` of NVIDIA's
/// post-wait-on-data-wqe, which has the action in the address.
#[test]
fn waits_for_a_word() {
    let condition = |action: u8| [0, 0, 0, 0x11, 0, 0, 0x12, 0x34, 1, 2, 3, 4, 5, 6, 7, 0xf8 | action];
    let value = [1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
    let of_data = |segments: &[&[u8]]| modified(0x0f, 1, segments);
    let until = Condition {
        comparison: Comparison::Equal,
        inverted: true,
        value: 0x0102_0304_0506_0708,
        mask: 0xff00_0000_ffff_ffff,
    };
    let word = DataSeg { len: 8, lkey: 0x1234, addr: 0x0102_0304_0506_07f8 };
    for (action, is_check) in [(0, false), (1, true)] {
        let found = fetch_at(0, &of_data(&[&condition(action), &value]), Transport::Rc).unwrap();
        assert_eq!(found.op, SendOp::WaitData(WaitData { word, until, is_check }));
        assert_eq!(found.payload, Payload::default());
    }
    for action in 2..8 {
        let fault = fault(&of_data(&[&condition(action), &value]), Transport::Rc);
        assert_eq!(fault, WqeFault::Reserved { field: "action", at: 31, value: action.into() });
    }
    let missing = fault(&of_data(&[&condition(0)]), Transport::Rc);
    assert!(matches!(missing, WqeFault::MissingSegment { needs: 48, .. }), "{missing}");
    let uc = fault(&of_data(&[&condition(0), &value]), Transport::Uc);
    assert_eq!(uc, WqeFault::WrongTransport { opcode: 0x0f, transport: Transport::Uc });
}

/// Each comparison at the edges of its range. A cyclic one has a half before the value and a half behind it (DPDK
/// `drivers/common/mlx5/mlx5_prm.h`, `MLX5_WAIT_COND_CYCLIC_*`).
#[test]
fn a_wait_ends_when_its_comparison_holds() {
    const MASK: u64 = 0xff;
    for (comparison, holds_at, not_at) in [
        (Comparison::Always, &[0, 100, 255][..], &[][..]),
        (Comparison::Equal, &[100], &[99, 101]),
        (Comparison::Bigger, &[0, 99], &[100, 101, 255]),
        (Comparison::Smaller, &[101, 255], &[0, 99, 100]),
        // The clock is up to 128 ticks before 100, or up to 127 past it.
        (Comparison::CyclicBigger, &[228, 255, 0, 99], &[100, 101, 227]),
        (Comparison::CyclicSmaller, &[101, 227], &[100, 99, 228]),
    ] {
        for (clocks, holds) in [(holds_at, true), (not_at, false)] {
            for &clock in clocks {
                let wait = Condition { comparison, inverted: false, value: 0x700 + 100, mask: MASK };
                assert_eq!(wait.is_over(0x1100 + clock), holds, "{comparison:?} at {clock}");
                let inverted = Condition { inverted: true, ..wait };
                assert_eq!(inverted.is_over(0x1100 + clock), !holds, "not {comparison:?} at {clock}");
            }
        }
    }
}

/// Three bits of seconds, or the ticks of eight seconds, rounded up to a power of two.
#[test]
fn a_wait_compares_so_many_bits_of_the_clock() {
    for (format, most) in
        [(TimestampFormat::RealTime, 0x7_ffff_ffff_u64), (TimestampFormat::FreeRunning, 0x1_ffff_ffff)]
    {
        for (mask, is_compared) in [(most, true), (most + 1, false), (u64::MAX, false)] {
            let wait = Condition { comparison: Comparison::CyclicSmaller, inverted: true, value: 0, mask };
            assert_eq!(wait.is_compared(format), is_compared, "{format:?} {mask:#x}");
        }
    }
}

#[test]
fn a_dump_has_data_by_reference() {
    let found = fetch_at(0, &wqe(0x23, &[&DATA, &DATA]), Transport::RawPacket).unwrap();
    assert_eq!((found.op, found.payload), (SendOp::Dump, Payload::Segs(smallvec![DATA_SEG; 2])));
    assert!(found.headers.is_empty(), "no Ethernet segment");
    let inline = [0x80, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(fault(&wqe(0x23, &[&inline]), Transport::Rc), WqeFault::InlineResult { at: 16 });
}
