//! The way of a datagram: which node gets it, and the header of the answer. Datagrams need no wire, since every process
//! of a launcher knows all ports.

use super::abi::Header;
use super::mad::{Mad, Status, class};
use super::subnet::{Place, Port, Subnet};
use super::{pma, sa, sma};
use crate::process::Errno;
use softhca_settings::{self as settings, Link};

/// The LID of a datagram without a destination: the end of a directed route (`IB_LID_PERMISSIVE`).
const PERMISSIVE: u16 = 0xffff;
/// The version that a datagram's format has.
const BASE_VERSION: u8 = 1;

/// The bytes of an answer, and its header.
pub(super) type Answer = (Header, Vec<u8>);

/// Sends `mad` from QP `qpn` of `port`. Gives the answer; `None` if it gets none.
///
/// # Errors
/// `EINVAL` for a route that does not begin at the port, and for an address that the port cannot reach in principle.
pub(super) fn send(
    subnet: Subnet<'_>,
    port: Port,
    qpn: u32,
    header: &Header,
    mad: &Mad,
) -> Result<Option<Answer>, Errno> {
    check_address(subnet, port, header)?;
    // Packets of subnet management pass QP 0, all others do not; and a node drops other versions.
    let is_for_agents = mad.is_subnet_management() == (qpn == 0) && mad.u8(0) == BASE_VERSION;
    let is_directed = qpn == 0 && mad.class() == class::DIRECTED;
    let reached = if is_directed {
        directed(subnet, port, header, mad)?
    } else if u32::from_be_bytes(header.qpn) != qpn {
        None
    } else if header.grh_present != 0 && subnet.settings.link == Link::Ethernet {
        subnet.at_gid(port, &header.gid).map(|place| (place, mad.clone()))
    } else {
        subnet.at_lid(port, u16::from_be_bytes(header.lid)).map(|place| (place, mad.clone()))
    };
    let Some((place, request)) = reached.filter(|_| is_for_agents && !mad.is_response()) else { return Ok(None) };
    let Some(answer) = answer(subnet, place, request) else { return Ok(None) };
    let lid = if is_directed { PERMISSIVE.to_be_bytes() } else { header.lid };
    let header =
        Header { status: 0, timeout_ms: 0, retries: 0, qpn: qpn.to_be_bytes(), qkey: [0; 4], lid, ..header.clone() };
    Ok(Some((header, answer)))
}

/// Refuses an address for which there is no address handle (`rdma_create_user_ah`).
fn check_address(subnet: Subnet<'_>, port: Port, header: &Header) -> Result<(), Errno> {
    let (link, index) = (subnet.settings.link, usize::from(header.gid_index));
    if header.grh_present == 0 {
        return if link == Link::Ethernet { Err(Errno::EINVAL) } else { Ok(()) };
    }
    if index < settings::gids(subnet.settings, port.device, port.number).len() { Ok(()) } else { Err(Errno::EINVAL) }
}

/// The answer of the node at `place`; `None` if it has none.
fn answer(subnet: Subnet<'_>, place: Place, request: Mad) -> Option<Vec<u8>> {
    if request.class() == class::ADMINISTRATION {
        return sa::answer(subnet, place, request);
    }
    let answered = match request.class() {
        class::SUBNET => sma::answer(subnet, place, request),
        class::DIRECTED => sma::answer(subnet, place, request).map(|mut answer| {
            returned(&mut answer);
            answer
        }),
        class::PERFORMANCE => pma::answer(subnet, place, request),
        // Linux refuses a request that no agent of the node takes (`generate_unmatched_resp`).
        _ if request.is_get_or_set() => Some(request.answer(Err(Status::Unsupported))),
        _ => None,
    };
    answered.map(|answer| answer.0.to_vec())
}

/// Fields of a packet with a directed route (IBTA vol. 1, 14.2.1.2).
mod field {
    pub(super) const STATUS: usize = 4;
    pub(super) const HOP_POINTER: usize = 6;
    pub(super) const HOP_COUNT: usize = 7;
    pub(super) const SOURCE_LID: usize = 32;
    pub(super) const DESTINATION_LID: usize = 34;
    pub(super) const INITIAL_PATH: usize = 128;
    pub(super) const RETURN_PATH: usize = 192;
}
/// The bit of the status that says that a packet is on its way back.
const RETURNING: u16 = 1 << 15;
/// Ports in a path: the first of them is not used.
const PATH_PORTS: u8 = 64;

/// The end of a directed route, and the packet as it arrives there: with the way back.
fn directed(subnet: Subnet<'_>, port: Port, header: &Header, mad: &Mad) -> Result<Option<(Place, Mad)>, Errno> {
    let (hops, pointer) = (mad.u8(field::HOP_COUNT), mad.u8(field::HOP_POINTER));
    let begins_here = mad.u16(field::SOURCE_LID) == PERMISSIVE;
    let ends_there = mad.u16(field::DESTINATION_LID) == PERMISSIVE;
    if hops >= PATH_PORTS || mad.u16(field::STATUS) & RETURNING != 0 {
        return Err(Errno::EINVAL);
    }
    let exits = &mad.0[field::INITIAL_PATH + 1..][..hops.into()];
    // The rules of a device for a packet that it sends first (IBTA vol. 1, 14.2.2.2, C14-9).
    let is_proper = match exits {
        _ if pointer > hops => pointer == hops + 1,
        [] => ends_there,
        [first, ..] => pointer == 0 && u32::from(*first) == port.number,
    };
    if begins_here && !is_proper {
        return Err(Errno::EINVAL);
    }
    let start = if begins_here {
        Some(Place::Device(port))
    } else {
        // The route begins where the LID leads: at the switch.
        subnet
            .at_lid(port, u16::from_be_bytes(header.lid))
            .filter(|place| exits.is_empty() || *place == Place::Switch(0))
    };
    // A packet whose pointer is at the end already is for the node itself.
    let exits = if pointer > hops { &[] } else { exits };
    let reached = start.filter(|_| ends_there).and_then(|start| subnet.follow(start, exits));
    Ok(reached.map(|(place, entries)| {
        let mut arrived = mad.clone();
        arrived.put(field::RETURN_PATH + 1, &entries);
        (place, arrived)
    }))
}

/// Has the answer be one that has come back by its route.
fn returned(answer: &mut Mad) {
    let status = answer.u16(field::STATUS) | RETURNING;
    answer.put(field::STATUS, &status.to_be_bytes());
    answer.put(field::HOP_POINTER, &[0]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::umad::test_settings;
    use softhca::gsi::MAD_BYTES;
    use zerocopy::FromBytes;

    const FROM: Port = Port { device: 0, number: 2 };

    /// A request for `NodeInfo` along a route.
    fn along(exits: &[u8]) -> Mad {
        let mut mad = Mad([0; MAD_BYTES]);
        mad.put(0, &[1, class::DIRECTED, 1, 1, 0, 0, 0, exits.len() as u8]);
        mad.put(16, &[0, 0x11]);
        mad.put(field::SOURCE_LID, &[0xff; 4]);
        mad.put(field::INITIAL_PATH + 1, exits);
        mad
    }

    fn header() -> Header {
        Header::read_from_bytes(&[0; size_of::<Header>()]).unwrap()
    }

    #[test]
    fn a_directed_route_leads_to_its_end_and_back() {
        let settings = test_settings("infiniband");
        let subnet = Subnet { settings: &settings };
        let ask = |mad: &Mad| send(subnet, FROM, 0, &header(), mad);
        // Local port, then the port of entry; and the ports of entry on the way.
        for (exits, entry, way) in
            [(&[][..], 2, &[][..]), (&[2], 2, &[2]), (&[2, 5], 1, &[2, 1]), (&[2, 2], 2, &[2, 2])]
        {
            let (_, answer) = ask(&along(exits)).unwrap().unwrap();
            assert_eq!(answer[3..8], [0x81, 0x80, 0, 0, exits.len() as u8], "{exits:?}");
            assert_eq!((answer[64 + 36], &answer[193..193 + way.len()]), (entry, way), "{exits:?}");
        }
        // The switch has six ports, and a device forwards nothing.
        for exits in [&[2, 7][..], &[2, 0], &[2, 5, 1]] {
            assert_eq!(ask(&along(exits)), Ok(None), "{exits:?}");
        }
        assert_eq!(ask(&along(&[1])), Err(Errno::EINVAL), "the other port");
        let mut partial = along(&[5]);
        partial.put(field::SOURCE_LID, &[0, 2]);
        let by_switch = Header { lid: 1000_u16.to_be_bytes(), ..header() };
        let found = send(subnet, FROM, 0, &by_switch, &partial).unwrap().unwrap();
        assert_eq!(found.1[64 + 36], 1, "a LID, and a route from there");
        let by_device = Header { lid: 3_u16.to_be_bytes(), ..header() };
        assert_eq!(send(subnet, FROM, 0, &by_device, &partial), Ok(None));
    }

    /// The port itself answers, and says that it is down.
    #[test]
    fn a_port_without_a_cable_is_alone() {
        let fabric = tempfile::tempdir().unwrap();
        let mut settings = test_settings("infiniband");
        settings.fabric = fabric.path().into();
        std::fs::write(settings::cable_file(fabric.path(), 0, 2), "").unwrap();
        let subnet = Subnet { settings: &settings };
        let mut own = along(&[]);
        own.put(16, &[0, 0x15]);
        let (_, answer) = send(subnet, FROM, 0, &header(), &own).unwrap().unwrap();
        assert_eq!((answer[64 + 32] & 0xf, answer[64 + 33] >> 4), (1, 2), "down, polling");
        assert_eq!(send(subnet, FROM, 0, &header(), &along(&[2])), Ok(None));
        let mut by_lid = along(&[]);
        by_lid.put(1, &[class::SUBNET]);
        for lid in [1_u16, 2, 1000] {
            assert_eq!(
                send(subnet, FROM, 0, &Header { lid: lid.to_be_bytes(), ..header() }, &by_lid),
                Ok(None),
                "{lid}"
            );
        }
    }

    /// Random bytes have an answer, get lost, or are refused.
    #[test]
    fn any_bytes_are_survived() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut ends = [0; 3];
        for link in ["infiniband", "ethernet"] {
            let settings = test_settings(link);
            let subnet = Subnet { settings: &settings };
            for round in 0..20_000 {
                let mut bytes = [0; size_of::<Header>() + MAD_BYTES];
                random.fill(&mut bytes);
                let (address, mad) = bytes.split_at_mut(size_of::<Header>());
                // Most headers are proper, so that agents see the rest.
                mad[..3].copy_from_slice(&[
                    1,
                    *random.choice(&[1, 0x81, 3, 4, 9]).unwrap(),
                    1 + u8::from(round % 4 == 0),
                ]);
                mad[3] = *random.choice(&[1, 2, 3, 0x12]).unwrap();
                mad[16..20].copy_from_slice(&[0, random.u8(0..0x40), 0, 0]);
                mad[20..24].copy_from_slice(&random.u32(0..9).to_be_bytes());
                mad[6..8].copy_from_slice(&[0, random.u8(0..70)]);
                if round % 3 != 0 {
                    mad[4..8].copy_from_slice(&[0, 0, 0, random.u8(0..4)]);
                    mad[field::SOURCE_LID..field::SOURCE_LID + 4].fill(0xff);
                    mad[field::INITIAL_PATH..].iter_mut().for_each(|exit| *exit %= 4);
                }
                let qpn = u32::from(mad[1] != 1 && mad[1] != 0x81);
                let mut header = Header::read_from_bytes(address).unwrap();
                header.qpn = qpn.to_be_bytes();
                header.lid = (*random.choice(&[1_u16, 2, 5, 6, 7, 1000, 0xffff]).unwrap()).to_be_bytes();
                header.grh_present = round as u8 & 1;
                header.gid_index = random.u8(0..3);
                let end = send(subnet, FROM, qpn, &header, &Mad(mad.try_into().unwrap()));
                ends[match end {
                    Ok(Some((_, answer))) => {
                        assert_eq!(answer[3] & 0x80, 0x80);
                        0
                    }
                    Ok(None) => 1,
                    Err(_) => 2,
                }] += 1;
            }
        }
        assert!(ends.iter().all(|count| *count > 1000), "{ends:?}");
    }
}
