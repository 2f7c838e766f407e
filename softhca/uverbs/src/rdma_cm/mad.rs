//! Messages of the communication manager: their fields, to and from management datagrams (IBTA vol. 1, 12.6 to 12.11,
//! and annex A11 for what IP addresses add). All big endian.

use softhca::gsi::MAD_BYTES;

/// A management datagram.
pub(super) type Bytes = [u8; MAD_BYTES];

/// Bytes of the common header (IBTA vol. 1, 13.4.3); offsets below count from its end.
const HEADER_BYTES: usize = 24;
/// Communication management class, version 2, method Send.
const CLASS: u8 = 7;
const CLASS_VERSION: u8 = 2;
const METHOD_SEND: u8 = 3;

/// Private data of each message.
pub(super) const REQ_PRIVATE: usize = 92;
pub(super) const REP_PRIVATE: usize = 196;
pub(super) const REJ_PRIVATE: usize = 148;
pub(super) const SIDR_REQ_PRIVATE: usize = 216;
pub(super) const SIDR_REP_PRIVATE: usize = 136;

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
        /// What a message is.
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
    fn new(kind: Kind, transaction: u64, modifier: u32) -> Self {
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
    fn modifier(&self) -> u32 {
        u32::from_be_bytes(std::array::from_fn(|byte| self.bytes[20 + byte]))
    }

    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        std::array::from_fn(|byte| self.bytes[HEADER_BYTES + at + byte])
    }

    fn u8(&self, at: usize) -> u8 {
        self.bytes[HEADER_BYTES + at]
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes(self.array(at))
    }

    fn u24(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.array(at)) >> 8
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.array(at))
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[HEADER_BYTES + at..][..bytes.len()].copy_from_slice(bytes);
    }

    fn put_u32(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_be_bytes());
    }

    /// 24 bits and the byte after them.
    fn put_u24(&mut self, at: usize, value: u32, last: u8) {
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

/// REQ (IBTA vol. 1, 12.6.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Req {
    pub(super) local_id: u32,
    pub(super) service_id: u64,
    pub(super) ca_guid: u64,
    pub(super) local_qpn: u32,
    pub(super) responder_resources: u8,
    pub(super) initiator_depth: u8,
    pub(super) flow_control: u8,
    pub(super) starting_psn: u32,
    /// How long the receiver, and the sender, may take to answer.
    pub(super) response_timeouts: [u8; 2],
    pub(super) retry_count: u8,
    pub(super) rnr_retry_count: u8,
    pub(super) max_cm_retries: u8,
    pub(super) srq: u8,
    /// 1: 256 bytes, to 5: 4096.
    pub(super) mtu: u8,
    pub(super) local_gid: [u8; 16],
    pub(super) remote_gid: [u8; 16],
    pub(super) traffic_class: u8,
    pub(super) hop_limit: u8,
    pub(super) sl: u8,
    pub(super) ack_timeout: u8,
    /// Enhanced connection establishment: vendor and its options.
    pub(super) ece: [u32; 2],
    pub(super) private: [u8; REQ_PRIVATE],
}

impl Req {
    /// As a message of this transaction.
    pub(super) fn encode(&self, transaction: u64) -> Message {
        let mut m = Message::new(Kind::Req, transaction, self.ece[1]);
        m.put_u32(0, self.local_id);
        m.put_u24(4, 0, 0);
        m.put(5, &self.ece[0].to_be_bytes()[1..]);
        m.put(8, &self.service_id.to_be_bytes());
        m.put(16, &self.ca_guid.to_be_bytes());
        m.put_u24(32, self.local_qpn, self.responder_resources);
        m.put_u24(36, 0, self.initiator_depth);
        // Transport service type 0: reliable connection.
        m.put_u24(40, 0, self.response_timeouts[0] << 3 | self.flow_control & 1);
        m.put_u24(44, self.starting_psn, self.response_timeouts[1] << 3 | self.retry_count & 7);
        m.put(48, &[0xff, 0xff, self.mtu << 4 | self.rnr_retry_count & 7]);
        m.put(51, &[self.max_cm_retries << 4 | (self.srq & 1) << 3]);
        m.put(56, &self.local_gid);
        m.put(72, &self.remote_gid);
        // Traffic class, hop limit, SL (and the path lies within the subnet), local ACK timeout.
        m.put(92, &[self.traffic_class, self.hop_limit, self.sl << 4 | 1 << 3, self.ack_timeout << 3]);
        m.put(140, &self.private);
        m
    }

    /// From a message of this kind; `None` for other services than a reliable connection.
    pub(super) fn decode(m: &Message) -> Option<Self> {
        let flags = m.u8(43);
        (flags >> 1 & 3 == 0).then(|| Self {
            local_id: m.u32(0),
            service_id: u64::from_be_bytes(m.array(8)),
            ca_guid: u64::from_be_bytes(m.array(16)),
            local_qpn: m.u24(32),
            responder_resources: m.u8(35),
            initiator_depth: m.u8(39),
            flow_control: flags & 1,
            starting_psn: m.u24(44),
            response_timeouts: [flags >> 3, m.u8(47) >> 3],
            retry_count: m.u8(47) & 7,
            rnr_retry_count: m.u8(50) & 7,
            max_cm_retries: m.u8(51) >> 4,
            srq: m.u8(51) >> 3 & 1,
            mtu: m.u8(50) >> 4,
            local_gid: m.array(56),
            remote_gid: m.array(72),
            traffic_class: m.u8(92),
            hop_limit: m.u8(93),
            sl: m.u8(94) >> 4,
            ack_timeout: m.u8(95) >> 3,
            ece: [m.u32(4) & 0xff_ffff, m.modifier()],
            private: m.array(140),
        })
    }
}

/// REP (IBTA vol. 1, 12.6.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rep {
    pub(super) local_id: u32,
    pub(super) remote_id: u32,
    pub(super) local_qpn: u32,
    pub(super) starting_psn: u32,
    pub(super) responder_resources: u8,
    pub(super) initiator_depth: u8,
    pub(super) target_ack_delay: u8,
    pub(super) flow_control: u8,
    pub(super) rnr_retry_count: u8,
    pub(super) srq: u8,
    pub(super) ca_guid: u64,
    /// Enhanced connection establishment: vendor and its options.
    pub(super) ece: [u32; 2],
    pub(super) private: [u8; REP_PRIVATE],
}

impl Rep {
    /// As a message of this transaction.
    pub(super) fn encode(&self, transaction: u64) -> Message {
        let mut m = Message::new(Kind::Rep, transaction, self.ece[1]);
        let [_, high, middle, low] = self.ece[0].to_be_bytes();
        m.put_u32(0, self.local_id);
        m.put_u32(4, self.remote_id);
        m.put_u24(12, self.local_qpn, high);
        m.put_u24(16, 0, middle);
        m.put_u24(20, self.starting_psn, low);
        m.put(24, &[self.responder_resources, self.initiator_depth]);
        m.put(26, &[self.target_ack_delay << 3 | self.flow_control & 1]);
        m.put(27, &[self.rnr_retry_count << 5 | (self.srq & 1) << 4]);
        m.put(28, &self.ca_guid.to_be_bytes());
        m.put(36, &self.private);
        m
    }

    /// From a message of this kind.
    pub(super) fn decode(m: &Message) -> Self {
        Self {
            local_id: m.u32(0),
            remote_id: m.u32(4),
            local_qpn: m.u24(12),
            starting_psn: m.u24(20),
            responder_resources: m.u8(24),
            initiator_depth: m.u8(25),
            target_ack_delay: m.u8(26) >> 3,
            flow_control: m.u8(26) & 1,
            rnr_retry_count: m.u8(27) >> 5,
            srq: m.u8(27) >> 4 & 1,
            ca_guid: u64::from_be_bytes(m.array(28)),
            ece: [u32::from_be_bytes([0, m.u8(15), m.u8(19), m.u8(23)]), m.modifier()],
            private: m.array(36),
        }
    }
}

/// SIDR_REQ (IBTA vol. 1, 12.11.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SidrReq {
    pub(super) request_id: u32,
    pub(super) service_id: u64,
    pub(super) private: [u8; SIDR_REQ_PRIVATE],
}

impl SidrReq {
    /// As a message of this transaction.
    pub(super) fn encode(&self, transaction: u64) -> Message {
        let mut m = Message::new(Kind::SidrReq, transaction, 0);
        m.put_u32(0, self.request_id);
        m.put(4, &[0xff, 0xff]);
        m.put(8, &self.service_id.to_be_bytes());
        m.put(16, &self.private);
        m
    }

    /// From a message of this kind.
    pub(super) fn decode(m: &Message) -> Self {
        Self { request_id: m.u32(0), service_id: u64::from_be_bytes(m.array(8)), private: m.array(16) }
    }
}

/// SIDR_REP (IBTA vol. 1, 12.11.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SidrRep {
    pub(super) request_id: u32,
    pub(super) status: u8,
    pub(super) qpn: u32,
    pub(super) service_id: u64,
    pub(super) qkey: u32,
    pub(super) private: [u8; SIDR_REP_PRIVATE],
}

impl SidrRep {
    /// As a message of this transaction.
    pub(super) fn encode(&self, transaction: u64) -> Message {
        let mut m = Message::new(Kind::SidrRep, transaction, 0);
        m.put_u32(0, self.request_id);
        m.put(4, &[self.status]);
        m.put_u24(8, self.qpn, 0);
        m.put(12, &self.service_id.to_be_bytes());
        m.put_u32(20, self.qkey);
        m.put(96, &self.private);
        m
    }

    /// From a message of this kind.
    pub(super) fn decode(m: &Message) -> Self {
        Self {
            request_id: m.u32(0),
            status: m.u8(4),
            qpn: m.u24(8),
            service_id: u64::from_be_bytes(m.array(12)),
            qkey: m.u32(20),
            private: m.array(96),
        }
    }
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

    fn req() -> Req {
        Req {
            local_id: 0x0102_0304,
            service_id: 0x0106_1d2b,
            ca_guid: 0x0200_5f03_0000_0001,
            local_qpn: 0x4_0041,
            responder_resources: 3,
            initiator_depth: 4,
            flow_control: 1,
            starting_psn: 0xab_cdef,
            response_timeouts: [20, 19],
            retry_count: 7,
            rnr_retry_count: 6,
            max_cm_retries: 15,
            srq: 1,
            mtu: 5,
            local_gid: [0xa; 16],
            remote_gid: [0xb; 16],
            traffic_class: 0x60,
            hop_limit: 64,
            sl: 3,
            ack_timeout: 18,
            ece: [0x15b3, 0x8000_0001],
            private: [0x77; REQ_PRIVATE],
        }
    }

    #[test]
    fn a_request_lies_as_the_specification_says() {
        let message = req().encode(0x1111_2222_3333_4444);
        let b = &message.bytes;
        assert_eq!(b[..4], [1, 7, 2, 3]);
        assert_eq!(b[8..18], [0x11, 0x11, 0x22, 0x22, 0x33, 0x33, 0x44, 0x44, 0, 0x10]);
        // Table "REQ message contents": byte offsets after the header of 24.
        let at = |offset: usize, len: usize| &b[24 + offset..24 + offset + len];
        assert_eq!(at(0, 4), [1, 2, 3, 4]);
        assert_eq!(at(8, 8), [0, 0, 0, 0, 1, 6, 0x1d, 0x2b]);
        assert_eq!(at(32, 4), [4, 0, 0x41, 3]);
        assert_eq!(at(39, 1), [4]);
        assert_eq!(at(43, 1), [20 << 3 | 1]);
        assert_eq!(at(44, 4), [0xab, 0xcd, 0xef, 19 << 3 | 7]);
        assert_eq!(at(48, 4), [0xff, 0xff, 5 << 4 | 6, 15 << 4 | 1 << 3]);
        assert_eq!((at(56, 16), at(72, 16)), (&[0xa; 16][..], &[0xb; 16][..]));
        assert_eq!(at(92, 4), [0x60, 64, 3 << 4 | 8, 18 << 3]);
        assert_eq!((b.len(), at(139, 2), b[255]), (256, &[0, 0x77][..], 0x77));
    }

    #[test]
    fn messages_survive_the_wire() {
        let rep = Rep {
            local_id: 1,
            remote_id: 2,
            local_qpn: 0x12_3456,
            starting_psn: 0x65_4321,
            responder_resources: 5,
            initiator_depth: 6,
            target_ack_delay: 16,
            flow_control: 1,
            rnr_retry_count: 7,
            srq: 1,
            ca_guid: 9,
            ece: [0x15b3, 7],
            private: [3; REP_PRIVATE],
        };
        let sidr_req = SidrReq { request_id: 4, service_id: 5, private: [6; SIDR_REQ_PRIVATE] };
        let sidr_rep =
            SidrRep { request_id: 4, status: 2, qpn: 0x9999, service_id: 5, qkey: 8, private: [1; SIDR_REP_PRIVATE] };
        let again = |message: Message| Message::parse(&message.bytes).unwrap();
        assert_eq!(Req::decode(&again(req().encode(1))), Some(req()));
        assert_eq!(Rep::decode(&again(rep.encode(2))), rep);
        assert_eq!(SidrReq::decode(&again(sidr_req.encode(3))), sidr_req);
        assert_eq!(SidrRep::decode(&again(sidr_rep.encode(4))), sidr_rep);
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
