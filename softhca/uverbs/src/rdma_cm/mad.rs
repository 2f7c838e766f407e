//! Messages of the communication manager: management datagrams with fields at offsets, all big endian (IBTA vol. 1,
//! 12.6 to 12.11). Requests and their replies have a file of their own (`requests`).

use softhca::gsi::MAD_BYTES;

/// A management datagram.
pub(super) type Bytes = [u8; MAD_BYTES];

/// Bytes of the common header (IBTA vol. 1, 13.4.3); offsets below count from its end.
const HEADER_BYTES: usize = 24;
/// Communication management class, version 2, method Send.
const CLASS: u8 = 7;
const CLASS_VERSION: u8 = 2;
const METHOD_SEND: u8 = 3;

/// Private data of a rejection.
pub(super) const REJ_PRIVATE: usize = 148;

/// Reasons of a rejection (IBTA vol. 1, 12.6.7.2).
pub(super) mod reason {
    pub(crate) const TIMEOUT: u16 = 4;
    pub(crate) const INVALID_COMM_ID: u16 = 6;
    pub(crate) const INVALID_SERVICE_ID: u16 = 8;
    pub(crate) const CONSUMER: u16 = 28;
    pub(crate) const VENDOR_OPTION: u16 = 35;
}

/// Answers to a service ID resolution (IBTA vol. 1, 12.11.2.1).
pub(super) mod sidr {
    pub(crate) const SUCCESS: u8 = 0;
    pub(crate) const UNSUPPORTED: u8 = 1;
    pub(crate) const REJECT: u8 = 2;
}

/// Declares the kinds of messages with their attribute ids.
macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident = $id:literal,)*) => {
        /// The kinds of messages.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Kind { $($(#[$meta])* $kind = $id,)* }

        impl Kind {
            fn new(id: u16) -> Option<Self> {
                match id {
                    $($id => Some(Self::$kind),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    /// Request for communication.
    Req = 0x10,
    /// Message receipt acknowledgement: the answer takes longer.
    Mra = 0x11,
    /// Rejection.
    Rej = 0x12,
    /// Reply to a request.
    Rep = 0x13,
    /// Ready to use.
    Rtu = 0x14,
    /// Request for release.
    Dreq = 0x15,
    /// Reply to it.
    Drep = 0x16,
    /// Service ID resolution request.
    SidrReq = 0x17,
    /// Its response.
    SidrRep = 0x18,
}

/// A message, with access to its fields by offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) kind: Kind,
    pub(super) bytes: Bytes,
}

impl Message {
    pub(super) fn new(kind: Kind, transaction: u64, modifier: u32) -> Self {
        let mut bytes = [0; MAD_BYTES];
        bytes[..4].copy_from_slice(&[1, CLASS, CLASS_VERSION, METHOD_SEND]);
        bytes[8..16].copy_from_slice(&transaction.to_be_bytes());
        bytes[16..18].copy_from_slice(&(kind as u16).to_be_bytes());
        bytes[20..24].copy_from_slice(&modifier.to_be_bytes());
        Self { kind, bytes }
    }

    /// The message that `bytes` are; `None` if they are none of the class.
    pub(super) fn parse(bytes: &Bytes) -> Option<Self> {
        let kind = Kind::new(u16::from_be_bytes([bytes[16], bytes[17]]))?;
        (bytes[..4] == [1, CLASS, CLASS_VERSION, METHOD_SEND]).then_some(Self { kind, bytes: *bytes })
    }

    /// Ties request and answer.
    pub(super) fn transaction(&self) -> u64 {
        u64::from_be_bytes(std::array::from_fn(|byte| self.bytes[8 + byte]))
    }

    /// The attribute modifier, in which vendors' options travel.
    pub(super) fn modifier(&self) -> u32 {
        u32::from_be_bytes(std::array::from_fn(|byte| self.bytes[20 + byte]))
    }

    pub(super) fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        std::array::from_fn(|byte| self.bytes[HEADER_BYTES + at + byte])
    }

    pub(super) fn u8(&self, at: usize) -> u8 {
        self.bytes[HEADER_BYTES + at]
    }

    pub(super) fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes(self.array(at))
    }

    pub(super) fn u24(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.array(at)) >> 8
    }

    pub(super) fn u32(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.array(at))
    }

    pub(super) fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[HEADER_BYTES + at..][..bytes.len()].copy_from_slice(bytes);
    }

    pub(super) fn put_u32(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_be_bytes());
    }

    /// 24 bits and the byte after them.
    pub(super) fn put_u24(&mut self, at: usize, value: u32, last: u8) {
        self.put_u32(at, value << 8 | u32::from(last));
    }

    /// The sender's number of the conversation.
    pub(super) fn local_id(&self) -> u32 {
        self.u32(0)
    }

    /// The receiver's number of the conversation; not in requests, which begin it.
    pub(super) fn remote_id(&self) -> u32 {
        self.u32(4)
    }

    /// A message of two numbers and no more: RTU, DREP.
    pub(super) fn plain(kind: Kind, transaction: u64, local_id: u32, remote_id: u32) -> Self {
        let mut message = Self::new(kind, transaction, 0);
        message.put_u32(0, local_id);
        message.put_u32(4, remote_id);
        message
    }

    /// A request to release the connection of the receiver's QP `remote_qpn`.
    pub(super) fn dreq(transaction: u64, local_id: u32, remote_id: u32, remote_qpn: u32) -> Self {
        let mut message = Self::plain(Kind::Dreq, transaction, local_id, remote_id);
        message.put_u24(8, remote_qpn, 0);
        message
    }

    /// The QP whose release is requested.
    pub(super) fn dreq_qpn(&self) -> u32 {
        self.u24(8)
    }

    /// A rejection of a message of this kind.
    pub(super) fn rej(of: Kind, transaction: u64, ids: [u32; 2], reason: u16, private: &[u8]) -> Self {
        let mut message = Self::plain(Kind::Rej, transaction, ids[0], ids[1]);
        let rejected = match of {
            Kind::Req => 0,
            Kind::Rep => 1,
            _ => 2,
        };
        message.put(8, &[rejected << 6]);
        message.put(10, &reason.to_be_bytes());
        message.put(84, &private[..private.len().min(REJ_PRIVATE)]);
        message
    }

    /// A rejection's reason.
    pub(super) fn reason(&self) -> u16 {
        self.u16(10)
    }

    /// A rejection's private data.
    pub(super) fn rej_private(&self) -> [u8; REJ_PRIVATE] {
        self.array(84)
    }

    /// An acknowledgement that a REQ has come, and that its answer takes up to `timeout` (as [`milliseconds`]).
    pub(super) fn mra(transaction: u64, local_id: u32, remote_id: u32, timeout: u8) -> Self {
        let mut message = Self::plain(Kind::Mra, transaction, local_id, remote_id);
        message.put(9, &[timeout << 3]);
        message
    }

    /// An acknowledgement's time.
    pub(super) fn mra_timeout(&self) -> u8 {
        self.u8(9) >> 3
    }
}

/// A time that a message states as 4.096 us times a power of two, as the kernel takes it.
pub(super) fn milliseconds(code: u8) -> u64 {
    1 << code.min(31).saturating_sub(8)
}

/// `N` bytes that begin with `data`; `None` if there are more.
pub(super) fn padded<const N: usize>(data: &[&[u8]]) -> Option<[u8; N]> {
    let mut all = [0; N];
    let mut at = 0;
    for part in data {
        all.get_mut(at..at + part.len())?.copy_from_slice(part);
        at += part.len();
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_without_a_structure_survive_the_wire() {
        let again = |message: Message| Message::parse(&message.bytes).unwrap();
        let rej = again(Message::rej(Kind::Req, 5, [6, 7], reason::CONSUMER, b"no"));
        assert_eq!(
            (rej.kind, rej.transaction(), rej.reason(), &rej.rej_private()[..3]),
            (Kind::Rej, 5, 28, &b"no\0"[..])
        );
        assert_eq!(again(Message::mra(1, 2, 3, 24)).mra_timeout(), 24);
        assert_eq!(Message::parse(&[0; MAD_BYTES]), None);
    }

    #[test]
    fn too_much_private_data_is_refused() {
        assert_eq!(padded::<4>(&[b"ab", b"c"]), Some(*b"abc\0"));
        assert_eq!(padded::<4>(&[b"ab", b"cde"]), None);
    }
}
