//! The headers that the device needs inline belong here, all other frames in `frames.rs`.

use blueflame::cq::WcStatus;
use blueflame::transport::{self, InlineLayers};
use blueflame::types::WrId;
use blueflame::verbs::Error;
use blueflame::wqe;

use crate::on_device::device;
use crate::{INLINE_HEADERS, completion};

/// The headers that the device needs, by the launcher's option: names of the modes, in their order.
fn mode() -> usize {
    let name = std::env::var(INLINE_HEADERS).expect("the software device");
    ["none", "l2", "ip", "tcp_udp"].iter().position(|mode| *mode == name).expect("a mode")
}

#[test]
fn packets_have_the_headers_that_the_device_needs() {
    const UDP: [u8; 45] = [
        2, 0, 0x5e, 0, 0x53, 1, 2, 0, 0x5e, 0, 0x53, 2, 8, 0, 0x45, 0, 0, 31, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1,
        10, 0, 0, 2, 0, 1, 0, 2, 0, 11, 0, 0, 1, 2, 3,
    ];
    /// Posts the packet with its first `N` bytes inline, and returns its end. An error if there is no such queue pair.
    fn post<const N: usize>() -> Result<Result<(), WcStatus>, Error> {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let mut cq = device.completion_queue(512).build().expect("a CQ");
        let mut pair = pd.queue_pair::<transport::RawPacket<N>>(&cq, &cq).inline(100).build()?;
        pair.activate(&device.port(1).expect("port 1")).expect("ready to send");
        let (headers, rest) = UDP.split_first_chunk::<N>().expect("so many");
        let frame = wqe::frame().inline_headers(headers).l3_checksum().l4_checksum().inline_slice(rest);
        pair.sq.post(&frame.signaled(WrId(1))).expect("room");
        Ok(completion(&mut cq, |cqe| pair.sq.retire(cqe).map(|done| done.wr_id)).0)
    }
    let needs = [InlineLayers::None, InlineLayers::L2, InlineLayers::Ip, InlineLayers::TcpUdp][mode()];
    assert_eq!(device().inline_layers(), Some(needs));
    let expected = |has| if needs <= has { Ok(Ok(())) } else { Err(Error::InlineLayers { has, needs }) };
    assert_eq!(post::<18>(), expected(InlineLayers::L2));
    assert_eq!(post::<34>(), expected(InlineLayers::Ip));
    assert_eq!(post::<42>(), expected(InlineLayers::TcpUdp));
}
