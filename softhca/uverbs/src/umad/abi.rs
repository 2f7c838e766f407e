//! The structures and numbers of `rdma/ib_user_mad.h`.

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// The letter of the requests (`IB_IOCTL_MAGIC`).
pub(super) const LETTER: u32 = 0x1b;

/// Requests of `ioctl`: direction, bytes of the argument, letter and number (`_IOC`).
pub(super) mod request {
    const fn number(direction: u32, bytes: usize, number: u32) -> u64 {
        // An argument has less than 2^14 bytes.
        (direction << 30 | (bytes as u32) << 16 | super::LETTER << 8 | number) as u64
    }
    pub(in super::super) const REGISTER_AGENT: u64 = number(3, size_of::<super::Registration>(), 1);
    pub(in super::super) const UNREGISTER_AGENT: u64 = number(1, 4, 2);
    pub(in super::super) const ENABLE_PKEY: u64 = number(0, 0, 3);
    pub(in super::super) const REGISTER_AGENT2: u64 = number(3, size_of::<super::Registration2>(), 4);
}

/// Most agents of a file (`IB_UMAD_MAX_AGENTS`).
pub(super) const AGENTS: usize = 32;

/// `struct ib_user_mad_hdr`. The header of older programs ends before the P_Key index.
#[derive(Clone, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Header {
    /// The agent's number.
    pub(super) id: u32,
    pub(super) status: u32,
    pub(super) timeout_ms: u32,
    pub(super) retries: u32,
    pub(super) length: u32,
    /// Big endian, as all fields of addresses.
    pub(super) qpn: [u8; 4],
    pub(super) qkey: [u8; 4],
    pub(super) lid: [u8; 2],
    pub(super) sl: u8,
    pub(super) path_bits: u8,
    pub(super) grh_present: u8,
    pub(super) gid_index: u8,
    pub(super) hop_limit: u8,
    pub(super) traffic_class: u8,
    pub(super) gid: [u8; 16],
    pub(super) flow_label: [u8; 4],
    pub(super) pkey_index: u16,
    pub(super) reserved: [u8; 6],
}

/// Bytes of the older header.
pub(super) const OLD_HEADER_BYTES: usize = std::mem::offset_of!(Header, pkey_index);

/// `struct ib_user_mad_reg_req`.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Registration {
    pub(super) id: u32,
    method_mask: [u32; 4],
    pub(super) qpn: u8,
    pub(super) mgmt_class: u8,
    pub(super) mgmt_class_version: u8,
    pub(super) oui: [u8; 3],
    pub(super) rmpp_version: u8,
    padding: u8,
}

/// `struct ib_user_mad_reg_req2`.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Registration2 {
    pub(super) id: u32,
    pub(super) qpn: u32,
    pub(super) mgmt_class: u8,
    pub(super) mgmt_class_version: u8,
    res: u16,
    pub(super) flags: u32,
    method_mask: [u64; 2],
    pub(super) oui: u32,
    pub(super) rmpp_version: u8,
    reserved: [u8; 3],
}

const _: () = assert!(size_of::<Header>() == 64 && OLD_HEADER_BYTES == 56);
const _: () = assert!(request::REGISTER_AGENT == 0xc01c_1b01 && request::UNREGISTER_AGENT == 0x4004_1b02);
const _: () = assert!(request::ENABLE_PKEY == 0x1b03 && request::REGISTER_AGENT2 == 0xc028_1b04);
