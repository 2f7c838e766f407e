//! Raw packet queue pairs: libibverbs and libmlx5 as installed, frames posted by this crate.
//!
//! Needs an mlx5 device with an Ethernet port, and `CAP_NET_RAW`; the software one will do: `./run test` runs it under
//! `softhca-run --link ethernet --inline-headers l2`.

use std::time::{Duration, Instant};

use blueflame::cq::{CqeCopy, CqeError, WcStatus};
use blueflame::queue::RetireError;
use blueflame::transport::{self, InlineIp, InlineL2, InlineMode, InlineTcpUdp};
use blueflame::types::WrId;
use blueflame::verbs::{Access, Device, OwnedCq, Pool, ProtectionDomain, QpState, QueuePair};
use blueflame::wqe::{self, SupportedOn};

fn device() -> Device {
    Device::open_first().expect("these tests need an mlx5 device: run them by ./run test, or under softhca-run")
}

fn pair(pd: &ProtectionDomain, cq: &OwnedCq) -> QueuePair<transport::RawPacket> {
    pd.queue_pair(cq, cq).sends(16).receives(16).inline(100).build().expect("a raw packet queue pair: is it permitted?")
}

/// What the next completion says, and the index of its request.
fn completion(
    cq: &mut OwnedCq,
    mut retire: impl FnMut(&CqeCopy<'_>) -> Result<WrId, RetireError>,
) -> (Result<(), WcStatus>, WrId) {
    let begin = Instant::now();
    loop {
        if let Some(cqe) = cq.poll() {
            let status = match cqe.check() {
                Ok(_) => Ok(()),
                Err(CqeError::Completion(error) | CqeError::Aborted(error)) => Err(error.status()),
                Err(error) => panic!("{error}"),
            };
            return (status, retire(&cqe).expect("outstanding"));
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
        std::thread::yield_now();
    }
}

#[test]
fn frames_leave_in_every_form() {
    let device = device();
    let port = device.port(1).expect("port 1");
    let pd = device.protection_domain().expect("a PD");
    let buffer = Pool::new(&pd, 4096, Access::LOCAL_WRITE).expect("a pool").take(4096).expect("all of it");
    let mut cq = device.completion_queue(64).build().expect("a CQ");
    let mut pair = pair(&pd, &cq);
    pair.activate(&port).expect("ready to send");
    assert_eq!(pair.qp.state().expect("queried"), QpState::ReadyToSend);

    let sq = &mut pair.sq;
    // To nobody: addresses of the range for documentation (RFC 7042, 2.1.2), an EtherType for experiments.
    let headers: [u8; 18] = [0, 0, 0x5e, 0, 0x53, 1, 0, 0, 0x5e, 0, 0x53, 2, 0x81, 0, 0, 1, 0x88, 0xb5];
    let frame = wqe::frame().inline_headers(&headers);
    let shot =
        sq.template(wqe::frame().inline_headers(headers).inline_len::<64>().signaled(WrId(4))).expect("a template");
    sq.post(&frame.inline(&[0x5a; 46]).signaled(WrId(1))).expect("room");
    // SAFETY: the buffer lives as long as the queue, and nobody writes it.
    unsafe { sq.post_unchecked(&frame.gather([buffer.sge_of(0..1000)]).signaled(WrId(2))) }.expect("room");
    sq.post(&wqe::frame().inline_headers([0x11; 60]).l3_checksum().signaled(WrId(3))).expect("room");
    sq.fire(&shot, &[7; 64]).expect("room");
    for tag in 1..=4 {
        let done = completion(&mut cq, |cqe| pair.sq.retire(cqe).map(|retired| retired.wr_id));
        assert_eq!(done, (Ok(()), WrId(tag)));
    }
}

#[test]
fn receives_posted_early_are_kept() {
    let device = device();
    let port = device.port(1).expect("port 1");
    let pd = device.protection_domain().expect("a PD");
    let buffer = Pool::new(&pd, 4096, Access::LOCAL_WRITE).expect("a pool").take(4096).expect("all of it");
    let mut cq = device.completion_queue(64).build().expect("a CQ");
    let mut pair = pair(&pd, &cq);
    let rq = pair.rq.as_mut().expect("a receive queue");
    for tag in 0..3 {
        // SAFETY: the buffer lives as long as the queue, and nobody looks at it.
        unsafe { rq.post(WrId(tag), &[buffer.sge()]) }.expect("room");
    }
    pair.activate(&port).expect("ready to send");
    // On its way libmlx5 tells the device that there are none. No rule brings frames here, so only an error completes them.
    pair.qp.to_error().expect("ERR");
    for tag in 0..3 {
        let rq = pair.rq.as_mut().expect("a receive queue");
        assert_eq!(completion(&mut cq, |cqe| rq.retire(cqe)), (Err(WcStatus::WrFlushErr), WrId(tag)));
    }
}

/// What the device needs of the frame's headers, by the launcher's option: names of the modes, in their order.
fn mode() -> usize {
    let name = std::env::var("SOFTHCA_INLINE_HEADERS").expect("the software device");
    ["none", "l2", "ip", "tcp_udp"].iter().position(|mode| *mode == name).expect("a mode")
}

#[test]
fn packets_have_the_headers_that_the_device_needs() {
    const UDP: [u8; 45] = [
        2, 0, 0x5e, 0, 0x53, 1, 2, 0, 0x5e, 0, 0x53, 2, 8, 0, 0x45, 0, 0, 31, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1,
        10, 0, 0, 2, 0, 1, 0, 2, 0, 11, 0, 0, 1, 2, 3,
    ];
    /// Posts the packet with its first `N` bytes inline, and tells what comes of it. In RTS again after an error.
    fn post<M: InlineMode, const N: usize>() -> Result<(), WcStatus>
    where
        wqe::Frame<[u8; N]>: SupportedOn<transport::RawPacket<M>>,
    {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let mut cq = device.completion_queue(64).build().expect("a CQ");
        let builder = pd.queue_pair::<transport::RawPacket<M>>(&cq, &cq);
        let mut pair = builder.inline(100).build().expect("a raw packet queue pair");
        pair.activate(&device.port(1).expect("port 1")).expect("ready to send");
        let (headers, rest) = UDP.split_first_chunk::<N>().expect("so many");
        let frame = wqe::frame().inline_headers(*headers).l3_checksum().l4_checksum().inline(rest);
        pair.sq.post(&frame.signaled(WrId(1))).expect("room");
        let begin = Instant::now();
        loop {
            if let Some(cqe) = cq.poll() {
                return match cqe.check() {
                    Ok(_) => Ok(()),
                    Err(CqeError::Completion(error)) => Err(error.status()),
                    Err(error) => panic!("{error}"),
                };
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
        }
    }
    let expected = |enough: usize| if mode() <= enough { Ok(()) } else { Err(WcStatus::LocQpOpErr) };
    assert_eq!(post::<InlineL2, 18>(), expected(1));
    assert_eq!(post::<InlineIp, { InlineIp::LEAST }>(), expected(2));
    assert_eq!(post::<InlineTcpUdp, { InlineTcpUdp::LEAST }>(), expected(3));
}
