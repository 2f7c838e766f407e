//! Frames that the device changes before it sends them, as literal bytes: large sends. And the refusals where the
//! device lacks the offload, or a value is out of its limits.
//!
//! Offsets are those of Linux (`include/linux/mlx5/qp.h`, `struct mlx5_wqe_eth_seg`) and of DPDK
//! (`drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_wqe_eseg`).
//!
//! Offloads belong here, frames without them in `ethernet.rs`.

use blueflame::queue::{PostError, SendQueue};
use blueflame::transport::{InlineNone, RawPacket};
use blueflame::types::{Lkey, Wqebbs, WrId};
use blueflame::wqe::limits::{FrameOffload, FrameOffloads};
use blueflame::wqe::{self, EncodeError, Sge};

use crate::rig::{OLD, Rig, Setup};

const LOCAL: Sge = Sge { addr: 0x2122_2324_2526_2728, length: 0x3100, lkey: Lkey(0x4142_4344) };
const DATA: [u8; 16] = [0, 0, 0x31, 0, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28];
const ALL: FrameOffloads = FrameOffloads { multi_packet: true, max_large_send: 1 << 18 };

/// A queue of a device with these offloads, whose next WQE has the index 0x1234.
fn queue(rig: &Rig, offloads: FrameOffloads) -> SendQueue<RawPacket<InlineNone>> {
    let mut sq = rig.queue();
    sq.set_frame_offloads(offloads);
    sq
}

fn rig() -> Rig {
    Rig::new(Setup { wqebbs: 16, pi: 0x1234, ..Setup::default() })
}

/// The ring's bytes from 0x1234 on, and the rest as it was.
fn assert_written(rig: &Rig, wqe: &[[u8; 16]]) {
    let mut ring = vec![OLD; 16 * 64];
    for (n, byte) in wqe.concat().into_iter().enumerate() {
        ring[(0x1234 % 16 * 64 + n) % (16 * 64)] = byte;
    }
    assert_eq!(rig.ring(), ring);
}

/// 1, 2, 3, …
fn count<const N: usize>() -> [u8; N] {
    core::array::from_fn(|i| i as u8 + 1)
}

/// rdma-core `providers/mlx5/qp.c`, `set_tso_eth_seg`; DPDK `drivers/net/mlx5/mlx5_tx.h`, `mlx5_tx_packet_multi_tso`.
#[test]
fn a_large_send_has_its_headers_and_the_size_of_its_frames() {
    let rig = rig();
    let mut sq = queue(&rig, ALL);
    let request = wqe::frame().inline_headers(count::<54>()).l3_checksum().l4_checksum().large(1460);
    // SAFETY: no device looks, nor below.
    unsafe { sq.post_unchecked(&request.gather([LOCAL]).signaled(WrId(1))) }.expect("room");
    let wqe = [
        [0, 0x12, 0x34, 0x0e, 0xc0, 0xff, 0xee, 7, 0, 0, 0, 0x08, 0, 0, 0, 0],
        [0, 0, 0, 0, 0xc0, 0, 0x05, 0xb4, 0, 0, 0, 0, 0, 54, 1, 2],
        [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18],
        [19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34],
        [35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50],
        [51, 52, 53, 54, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        DATA,
    ];
    assert_written(&rig, &wqe);
}

/// A device without the offload: whatever way a request goes, and nothing is written.
#[test]
fn a_device_without_the_offload_gets_no_such_request() {
    let rig = rig();
    let large = PostError::Encode(EncodeError::NoOffload { offload: FrameOffload::LargeSends });
    let mut sq = queue(&rig, FrameOffloads { max_large_send: 0, ..ALL });
    let request = wqe::frame().inline_headers([0; 54]).large(1);
    let short = wqe::frame().inline_headers([0; 18]).large(1);
    assert_eq!(sq.post(&short), Err(large), "one WQEBB");
    assert_eq!(sq.post(&request.inline(&[0; 2])), Err(large), "two WQEBBs");
    assert_eq!(sq.post(&request.inline(&[0; 60][..])), Err(large), "any length");
    assert_eq!(sq.batch().push(&request.inline(&[0; 2])), Err(large), "a batch");
    let burst = sq.batch_of(2).map(|mut burst| burst.push(&request.inline(&[0; 2])));
    assert_eq!(burst.err(), Some(large), "a burst");
    assert!(rig.ring().iter().all(|&byte| byte == OLD));

    let mut sq = queue(&rig, ALL);
    sq.set_depth(Wqebbs(16)).expect("the ring's");
    sq.post(&request.inline(&[0; 2])).expect("a large send");
}

#[test]
fn values_past_their_limits_are_named() {
    let rig = rig();
    let mut sq = queue(&rig, FrameOffloads { max_large_send: 1000, ..ALL });
    let headers = wqe::frame().inline_headers([0; 54]);
    assert_eq!(sq.post(&headers.large(0).inline(&[0; 2])), Err(EncodeError::LargeSendMss.into()));
    let piece = |length| Sge { length, ..LOCAL };
    let too_long = |bytes| Err(PostError::Encode(EncodeError::LargeSendTooLong { bytes, limit: 1000 }));
    // SAFETY: no device looks.
    let mut post = |pieces: [Sge; 2]| unsafe { sq.post_unchecked(&headers.large(1).gather(pieces)) };
    assert_eq!(post([piece(1000), piece(1)]), too_long(1001));
    // The sum has more than 32 bits.
    assert_eq!(post([piece(u32::MAX), piece(1001)]), too_long(u64::from(u32::MAX) + 1001));
    assert!(rig.ring().iter().all(|&byte| byte == OLD));
    assert_eq!(post([piece(500), piece(500)]), Ok(()));
    let said = [EncodeError::LargeSendMss, EncodeError::NoOffload { offload: FrameOffload::LargeSends }];
    assert_eq!(
        said.map(|error| error.to_string()),
        [
            "large send with an mss of 0 bytes, 1 to 65535 are possible",
            "the device has no large sends for frames of this queue"
        ]
    );
}
