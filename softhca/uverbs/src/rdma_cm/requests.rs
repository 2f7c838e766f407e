//! Requests and their replies: of a connection (REQ, REP), of a service ID's resolution (SIDR_REQ, SIDR_REP), with
//! their fields as the messages have them (IBTA vol. 1, 12.6 to 12.11).

use super::mad::{Kind, Message};

/// Private data of each.
pub(super) const REQ_PRIVATE: usize = 92;
pub(super) const REP_PRIVATE: usize = 196;
pub(super) const SIDR_REQ_PRIVATE: usize = 216;
pub(super) const SIDR_REP_PRIVATE: usize = 136;

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
    }
}
