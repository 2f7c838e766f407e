//! What lies between devices: packets of the IB transport, carried by whatever [`Wire`] the device was given.

mod address;
pub mod fault;
pub mod in_process;
mod outbox;
#[cfg(target_os = "linux")]
pub mod shm;
#[cfg(test)]
pub(crate) mod test_frames;

pub use address::Address;
pub use outbox::Outbox;

use crate::config::GidType;

/// Global route header fields of a packet (IBTA vol. 1, 8.3), or what stands for them in the IP header of RoCE v2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grh {
    /// How the packet travels.
    pub kind: GidType,
    /// Source GID.
    pub sgid: [u8; 16],
    /// Destination GID.
    pub dgid: [u8; 16],
    /// Traffic class.
    pub traffic_class: u8,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Hop limit.
    pub hop_limit: u8,
}

/// Where a packet comes from and goes to: what LRH and GRH carry (IBTA vol. 1, 7.7 and 8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Source LID; 0 where the link has none (Ethernet).
    pub slid: u16,
    /// Destination LID; 0 where the link has none (Ethernet).
    pub dlid: u16,
    /// Service level.
    pub sl: u8,
    /// Present on Ethernet always, on InfiniBand when the path is global.
    pub grh: Option<Grh>,
}

/// One packet: a route, and the IB transport packet from BTH to the end of the (padded) payload, without CRCs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// From where to where.
    pub route: Route,
    /// BTH, extended headers, payload and padding as IBTA vol. 1 chapter 9 lays them out.
    pub packet: Vec<u8>,
}

/// The port's way to other devices. Delivers in order per sender unless a fault injector sits on it.
pub trait Wire: Send {
    /// Sends `frame`.
    ///
    /// # Errors
    /// The frame comes back when the receiver has no room now; the caller keeps it and tries again later. Others may
    /// have room: the caller goes on with frames for them.
    /// A frame to nobody is dropped silently, as a switch does.
    fn send(&mut self, frame: Frame) -> Result<(), Frame>;

    /// The next frame for this port, if one has arrived.
    fn recv(&mut self) -> Option<Frame>;

    /// Whether frames wait inside of the wire for later calls (a fault injector that delays them), so that a device with
    /// nothing else to do is not idle yet.
    fn is_holding(&self) -> bool {
        false
    }
}

impl<W: Wire + ?Sized> Wire for Box<W> {
    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        (**self).send(frame)
    }

    fn recv(&mut self) -> Option<Frame> {
        (**self).recv()
    }

    fn is_holding(&self) -> bool {
        (**self).is_holding()
    }
}
