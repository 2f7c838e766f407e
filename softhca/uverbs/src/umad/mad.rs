//! A management datagram: its common header (IBTA vol. 1, 13.4.3), and its fields by offset, all big endian.

use softhca::gsi::MAD_BYTES;

/// Bytes of the common header.
pub(super) const HEADER_BYTES: usize = 24;

/// Management classes.
pub(super) mod class {
    /// Subnet management, by LIDs.
    pub(in super::super) const SUBNET: u8 = 0x01;
    /// Subnet administration.
    pub(in super::super) const ADMINISTRATION: u8 = 0x03;
    /// Performance management.
    pub(in super::super) const PERFORMANCE: u8 = 0x04;
    /// Subnet management, by a directed route.
    pub(in super::super) const DIRECTED: u8 = 0x81;
}

/// Methods.
pub(super) mod method {
    pub(in super::super) const GET: u8 = 0x01;
    pub(in super::super) const SET: u8 = 0x02;
    pub(in super::super) const GET_TABLE: u8 = 0x12;
    pub(in super::super) const DELETE: u8 = 0x15;
    /// A requester no longer wants a trap repeated. It counts as an answer.
    pub(in super::super) const TRAP_REPRESS: u8 = 0x07;
    /// The bit of answers.
    pub(in super::super) const RESPONSE: u8 = 0x80;
}

/// The reasons of refusals (IBTA vol. 1, tables 116 and 188).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// No such class, or another version of it.
    BadVersion = 1 << 2,
    /// No such method for this attribute.
    Unsupported = 3 << 2,
    /// A value in the attribute or in its modifier is invalid.
    BadValue = 7 << 2,
    /// Of subnet administration: the manager cannot keep more.
    NoResources = 1 << 8,
    /// Of subnet administration: the question has components that the manager does not compare.
    InvalidRequest = 2 << 8,
    /// Of subnet administration: no record fits.
    NoRecords = 3 << 8,
    /// Of subnet administration: several records fit, and one is wanted.
    TooManyRecords = 4 << 8,
    /// Of subnet administration: a GID that the subnet does not have.
    InvalidGid = 5 << 8,
    /// Of subnet administration: components are missing.
    InsufficientComponents = 6 << 8,
}

/// Its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mad(pub(super) [u8; MAD_BYTES]);

impl Mad {
    pub(super) fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        std::array::from_fn(|byte| self.0[at + byte])
    }

    pub(super) fn u8(&self, at: usize) -> u8 {
        self.0[at]
    }

    pub(super) fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes(self.array(at))
    }

    pub(super) fn u32(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.array(at))
    }

    pub(super) fn u64(&self, at: usize) -> u64 {
        u64::from_be_bytes(self.array(at))
    }

    pub(super) fn put(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    pub(super) fn class(&self) -> u8 {
        self.u8(1)
    }

    pub(super) fn class_version(&self) -> u8 {
        self.u8(2)
    }

    pub(super) fn method(&self) -> u8 {
        self.u8(3)
    }

    /// Ties request and answer.
    pub(super) fn transaction(&self) -> u64 {
        self.u64(8)
    }

    pub(super) fn set_transaction(&mut self, transaction: u64) {
        self.put(8, &transaction.to_be_bytes());
    }

    /// The attribute that it is about.
    pub(super) fn attribute(&self) -> u16 {
        self.u16(16)
    }

    /// Which part of the attribute.
    pub(super) fn modifier(&self) -> u32 {
        self.u32(20)
    }

    /// Whether it is for QP 0.
    pub(super) fn is_subnet_management(&self) -> bool {
        matches!(self.class(), class::SUBNET | class::DIRECTED)
    }

    /// Whether it answers another one.
    pub(super) fn is_response(&self) -> bool {
        self.method() & method::RESPONSE != 0 || self.method() == method::TRAP_REPRESS
    }

    /// Whether every agent answers it, if only with a refusal.
    pub(super) fn is_get_or_set(&self) -> bool {
        matches!(self.method(), method::GET | method::SET)
    }

    /// Makes the request its own answer, `Ok` or a refusal.
    pub(super) fn answer(mut self, result: Result<(), Status>) -> Self {
        let status = result.map_or_else(|status| status as u16, |()| 0);
        // GetResp answers both Get and Set.
        let method = if self.is_get_or_set() { method::GET } else { self.method() };
        self.0[3] = method | method::RESPONSE;
        self.put(4, &status.to_be_bytes());
        self
    }
}
