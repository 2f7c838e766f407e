//! Dynamic connections in front of a hostile host and network: the target that initiators can reach, and the parts of
//! WQEs and packets that lead to it.

use softhca::context::{Access, DctContext};

/// The target's access key and user index.
const KEY: u64 = 0x11;
pub(crate) const UIDX: u32 = 0x77;

/// Bytes of a short address vector, and of what each packet of a connection has after its BTH.
const ADDRESS: usize = 16;
const CONNECTION: usize = 8;
/// The first opcode of dynamic connections, and that of the packet that asks for one.
const SERVICE: u8 = 0xc0;
const CONNECT: u8 = 0xd8;

/// A target that permits everything.
pub(crate) fn target(pd: u32, srqn: u32, cqn: u32, access: Access) -> DctContext {
    DctContext {
        pd,
        srqn,
        cqn,
        access_key: KEY,
        access,
        extended_atomics: 12,
        mtu: 256,
        port: 1,
        lag_port: 0,
        pkey_index: 0,
        sgid_index: 0,
        traffic_class: 0,
        flow_label: 0,
        hop_limit: 1,
        min_rnr_timer: 1,
        uidx: UIDX,
        scatter_to_cqe_res: 0,
        ece: 0,
    }
}

/// Has the address vector of an initiator's WQE, which is behind its control segment, lead to `dctn`, mostly with the
/// right key. Gives where the next segment begins; of other WQEs, behind the control segment.
pub(crate) fn refer_to_target(wqe: &mut [u8], dctn: Option<u32>) -> usize {
    let Some(dctn) = dctn else { return 16 };
    let address = &mut wqe[16..16 + ADDRESS];
    let key = if address[0] & 0xe0 == 0xe0 { KEY + 1 } else { KEY };
    address[..8].copy_from_slice(&key.to_be_bytes());
    address[8..12].copy_from_slice(&dctn.to_be_bytes());
    address[14..].copy_from_slice(&[0, 1]);
    16 + ADDRESS
}

/// Makes the headers of a packet belong to one of the first connections of `source`, or ask for one. Returns the place
/// where RC's headers begin. Other packets stay as they are.
pub(crate) fn refer_to_connection(opcode: u8, headers: &mut [u8; 28], source: Option<&u32>) -> usize {
    let Some(source) = source.filter(|_| opcode >= SERVICE) else { return 0 };
    headers[..4].copy_from_slice(&source.to_be_bytes());
    headers[4..7].fill(0);
    headers[7] &= 3;
    if opcode == CONNECT {
        headers[8..16].copy_from_slice(&KEY.to_be_bytes());
        headers[16] = 8;
    }
    CONNECTION
}
