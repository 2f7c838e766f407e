//! Streams of initiators, by mailboxes: places and values are those of rdma-core's `mlx5_ifc.h` and of
//! `mlx5dv_dci_stream_id_reset`, written down by hand.

use super::qp_tests::{DCI, RC, query};
use crate::config::LinkLayer;
use crate::firmware::pair_bench::{Node, Qp, connect, data_seg, pair, settle};
use crate::firmware::status::Status;
use crate::memory::test_memory::BASE;
use std::time::Duration;

/// `qpc.log_num_dci_stream_channels` and `qpc.log_num_dci_errored_streams` in `CREATE_QP`.
const CHANNELS: usize = 0x18 + 0x3e0 / 8;
const ERRORED: usize = 0x18 + 0x400 / 8;

fn create(node: &Node, st: u8, channels: u8, errored: u8) -> Vec<u8> {
    let mut bytes = node.qp_mailbox(&Qp { st, srqn: None });
    (bytes[CHANNELS], bytes[ERRORED]) = (channels, errored);
    bytes
}

/// The bytes that libmlx5 sends: `qpc_ext` 1, bit 0 of `opt_param_mask_95_32`, and the stream.
fn reset(node: &Node, stream: u16) -> Vec<u8> {
    let mut bytes = node.transition(5, &[]);
    bytes.resize(0x1d0, 0);
    bytes[8] = 0x80;
    bytes[0x10f] = 1;
    bytes[0x112..0x114].copy_from_slice(&stream.to_be_bytes());
    bytes
}

/// A WRITE without a peer, of a stream: `dci_stream_channel_id` is in bytes 9 and 10. It gives the syndrome.
fn post(node: &mut Node, stream: u16, now: &mut Duration) -> u8 {
    let vector = [&[0; 8][..], &[0, 0, 0, 99, 0, 0, 0, 2]].concat();
    let body = [vector, vec![0; 16], data_seg(BASE, 8, 0x7777_7700).to_vec()].concat();
    node.post_on(8, stream, &body);
    loop {
        node.bench.device.step(*now);
        if let Some(cqe) = node.poll() {
            return cqe[55];
        }
        *now += Duration::from_millis(100);
        assert!(*now < Duration::from_secs(1000), "it has failed long ago");
    }
}

#[test]
fn a_stream_that_has_failed_works_again_by_command() {
    let mut nodes = pair(LinkLayer::InfiniBand);
    nodes.iter_mut().for_each(|node| {
        let mailbox = create(node, DCI, 2, 1);
        node.create_qp_by(&mailbox);
    });
    connect(&mut nodes);
    settle(&mut nodes);
    let ([node, _], mut now) = (&mut nodes, Duration::from_secs(1));
    let context = query(node);
    assert_eq!((context[CHANNELS], context[ERRORED]), (2, 1), "as it was made");
    assert_eq!(post(node, 0x1234, &mut now), 0x15, "nobody answers");
    assert_eq!(post(node, 0x1234, &mut now), 0x05, "flushed");
    let input = reset(node, 0x1235);
    assert_eq!(node.status(&input), Status::BadParameter, "another");
    assert_eq!(post(node, 0x1234, &mut now), 0x05, "still flushed");
    let input = reset(node, 0x1234);
    assert_eq!(node.status(&input), Status::Ok);
    assert_eq!(post(node, 0x1234, &mut now), 0x15, "executed again");

    // Requests without a meaning are refused.
    let good = reset(node, 0x1234);
    for (at, value) in
        [(8, 0), (0x10f, 0), (0x10f, 3), (0x10e, 1), (0x108, 0x80), (0x110, 0x20), (0x114, 1), (0x1cf, 1)]
    {
        let mut bad = good.clone();
        bad[at] = value;
        assert_eq!(node.status(&bad), Status::BadParameter, "{value:#x} at {at:#x}");
    }
    assert_eq!(node.status(&good), Status::Ok);
    assert_eq!(node.status(&good), Status::BadParameter, "it works");
    assert_eq!(post(node, 0, &mut now), 0x15);
    assert_eq!(node.status(&good[..0x110]), Status::Ok, "what is missing is zeros: stream 0");
    assert_eq!(post(node, 7, &mut now), 0x15);
    // The second stream that fails ends the QP, and one in error is not reset.
    assert_eq!(post(node, 1, &mut now), 0x15);
    assert_eq!(query(node)[0x18] >> 4, 6);
    assert_eq!(node.status(&good), Status::BadQpState);
}

#[test]
fn streams_are_initiators() {
    let mut nodes = pair(LinkLayer::InfiniBand);
    let [node, _] = &mut nodes;
    for (st, channels, errored) in [(RC, 1, 0), (RC, 0, 1), (DCI, 7, 0), (DCI, 0, 7), (DCI, 31, 31), (DCI, 0x20, 0)] {
        let mailbox = create(node, st, channels, errored);
        assert_eq!(node.status(&mailbox), Status::BadParameter, "{st} {channels} {errored}");
    }
    for (channels, errored) in [(0, 0), (6, 6), (2, 3), (0, 1)] {
        let mailbox = create(node, DCI, channels, errored);
        node.create_qp_by(&mailbox);
        let context = query(node);
        assert_eq!((context[CHANNELS], context[ERRORED]), (channels, errored));
    }
    let mailbox = create(node, DCI, 0, 0);
    node.create_qp_by(&mailbox);
    let input = reset(node, 0);
    assert_eq!(node.status(&input), Status::BadQpState, "it is in reset");

    // One that was made without.
    let mut nodes = pair(LinkLayer::InfiniBand);
    nodes.iter_mut().for_each(|node| node.create_qp(&Qp { st: DCI, srqn: None }));
    connect(&mut nodes);
    let input = reset(&nodes[0], 0);
    assert_eq!(nodes[0].status(&input), Status::BadParameter);
}
