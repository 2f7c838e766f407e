//! Raw Ethernet: a queue pair that sends frames, and receives those that a flow rule gives it. Here it sends one to the
//! port's own address.
//!
//! It needs an Ethernet port, and `CAP_NET_RAW`.

use std::io;
use std::ptr::NonNull;

use blueflame::transport::RawPacket;
use blueflame::verbs::device::Gid;
use blueflame::verbs::{Device, Qp, QueuePair, ffi};
use blueflame::{WrId, wqe};
use howto::Failure;
use rdma_sys as sys;

/// The EtherType of frames of this program: one for experiments (IEEE Std 802, local experimental EtherTypes).
const EXPERIMENT: u16 = 0x88b5;

/// A rule that gives frames of [`EXPERIMENT`] for one station to a queue pair, as long as it lives.
struct Rule {
    flow: NonNull<sys::ibv_flow>,
    /// Keeps the queue pair as long as the rule.
    _qp: Qp,
}

/// `struct ibv_flow_attr`, with its specification behind it.
#[repr(C)]
struct Flow {
    attr: sys::ibv_flow_attr,
    eth: sys::ibv_flow_spec_eth,
}

impl Rule {
    fn new(qp: &Qp, station: [u8; 6]) -> io::Result<Self> {
        let filter = |dst_mac, ether_type: u16| sys::ibv_flow_eth_filter {
            dst_mac,
            src_mac: [0; 6],
            ether_type: ether_type.to_be(),
            vlan_tag: 0,
        };
        // ANCHOR: rule
        let mut flow = Flow {
            attr: sys::ibv_flow_attr {
                comp_mask: 0,
                type_: sys::ibv_flow_attr_type::IBV_FLOW_ATTR_NORMAL,
                size: size_of::<Flow>() as u16,
                priority: 0,
                num_of_specs: 1,
                port: 1,
                flags: 0,
            },
            eth: sys::ibv_flow_spec_eth {
                type_: sys::ibv_flow_spec_type::IBV_FLOW_SPEC_ETH,
                size: size_of::<sys::ibv_flow_spec_eth>() as u16,
                val: filter(station, EXPERIMENT),
                mask: filter([0xff; 6], 0xffff),
            },
        };
        // SAFETY: the rule keeps the queue pair; the specification lies behind the attributes.
        let flow = unsafe { ffi::create_flow(qp.as_raw(), (&raw mut flow).cast()) };
        // ANCHOR_END: rule
        let flow = NonNull::new(flow).ok_or_else(io::Error::last_os_error)?;
        Ok(Self { flow, _qp: qp.clone() })
    }
}

impl Drop for Rule {
    fn drop(&mut self) {
        // SAFETY: from `create_flow`, and not used again. If the call fails, the rule ends with the device.
        let _ = unsafe { ffi::destroy_flow(self.flow.as_ptr()) };
    }
}

/// The port's own address, which its first GID contains (RFC 4291, appendix A).
fn own_address(device: &Device) -> Result<[u8; 6], Failure> {
    let entry = device.gid(1, 0)?.ok_or("port 1 has no GID")?;
    match entry.gid {
        Gid([0xfe, 0x80, .., a, b, c, 0xff, 0xfe, d, e, f]) => Ok([a ^ 2, b, c, d, e, f]),
        other => Err(format!("the first GID of port 1 is {other:?}, without the port's address").into()),
    }
}

fn main() -> Result<(), Failure> {
    let device = howto::open(Device::options())?;
    let port = device.port(1)?;
    let pd = device.protection_domain()?;
    let buffer = howto::buffer(&pd, 2048)?;

    // ANCHOR: queues
    let (mut sends, mut receives) = (device.completion_queue(17).build()?, device.completion_queue(16).build()?);
    // No other queue pair may receive on `receives`: completions of frames do not name their queue pair.
    let mut pair = pd.queue_pair::<RawPacket>(&sends, &receives).sends(16).receives(16).inline(64).build()?;
    pair.activate(&port)?;
    // ANCHOR_END: queues
    let station = own_address(&device)?;
    let _rule = Rule::new(&pair.qp, station)?;
    let QueuePair { mut sq, rq, .. } = pair;
    let mut rq = rq.ok_or("no receive queue")?;
    // SAFETY: the buffer is registered longer than the queue lives, and read after the completion.
    unsafe { rq.post_unchecked(WrId(1), &[buffer.sge()])? };

    // ANCHOR: send
    // Destination, source, EtherType, data: as many bytes as Ethernet wants at least.
    let mut frame = [0x5a; 60];
    frame[..6].copy_from_slice(&station);
    frame[6..12].copy_from_slice(&station);
    frame[12..14].copy_from_slice(&EXPERIMENT.to_be_bytes());
    // Older devices need the first 18 bytes in the Ethernet segment; the rest is inline data like any other.
    let (headers, rest) = frame.split_first_chunk::<18>().ok_or("too short a frame")?;
    sq.post(&wqe::frame().inline_headers(headers).inline(rest).signaled(WrId(2)))?;
    // ANCHOR_END: send
    howto::completion(&mut sends, |cqe| Ok(sq.retire(cqe)?))?;
    // ANCHOR: receive
    let bytes = howto::completion(&mut receives, |cqe| {
        rq.retire(cqe)?;
        Ok(cqe.byte_len() as usize)
    })?;
    // ANCHOR_END: receive
    assert_eq!(buffer.to_vec(0..bytes), frame);
    println!("a frame of {bytes} bytes has left and arrived");
    Ok(())
}
