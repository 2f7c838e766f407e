//! Datagrams, and requests of initiators, of the target `wqe_build`: addresses for the crate, and the values that the
//! device must read from them.

use blueflame::types::{DcKey, Qkey, Qpn};
use blueflame::wqe::address::{CompactAv, FullAv, GlobalRoute, StaticRate};
use blueflame::wqe::seg::{BaseAvSeg, Be16, Be32, Be64, DatagramSeg, GrhAvSeg};
use blueflame::wqe::{DcAddress, UdAddress};
use blueflame_testkit::request::{Kind, Target, Whom};
use softhca::context::PathGrh;
use softhca::wqe::{AddressVector, DcTarget as FoundTarget, UdAddress as Found};

use super::request::Request;

/// Static rates, by the device's code.
const RATES: [StaticRate; 10] = [
    StaticRate::Port,
    StaticRate::Gbps2_5,
    StaticRate::Gbps10,
    StaticRate::Gbps30,
    StaticRate::Gbps5,
    StaticRate::Gbps20,
    StaticRate::Gbps40,
    StaticRate::Gbps60,
    StaticRate::Gbps80,
    StaticRate::Gbps120,
];

/// The bytes of a request as the parts of an address.
struct Parts {
    qpn: u32,
    lid: u16,
    level: u8,
    bits: u8,
    rate: usize,
    mac: [u8; 6],
}

impl Request {
    fn parts(&self) -> Parts {
        let [q0, q1, q2, l0, l1, level, bits, rate] = self.addr.to_le_bytes();
        Parts {
            qpn: u32::from_le_bytes([q0, q1, q2, 0]),
            lid: u16::from_le_bytes([l0, l1]),
            level: level & 0xf,
            bits: bits & 0x7f,
            rate: usize::from(rate) % RATES.len(),
            mac: [q0, q1, q2, l0, l1, level],
        }
    }

    fn route(&self) -> GlobalRoute {
        let [index, f0, f1, f2] = self.rkey.to_le_bytes();
        let flow_label = u32::from_le_bytes([f0, f1, f2 & 0xf, 0]);
        GlobalRoute { dgid: self.operands, sgid_index: index, flow_label, hop_limit: f2, traffic_class: f1 ^ index }
    }

    /// By LID.
    fn near(&self) -> CompactAv {
        let parts = self.parts();
        CompactAv::new(parts.lid).service_level(parts.level).static_rate(RATES[parts.rate]).path_bits(parts.bits)
    }

    /// An initiator's target: by LID, with a GRH, of RoCE, or by a stream.
    pub(crate) fn target(&self) -> Target {
        let (parts, near) = (self.parts(), self.near());
        let (dctn, key) = (Qpn::truncate(parts.qpn), self.key());
        match self.form() {
            0 => Target::Compact(DcAddress::new(near, dctn, key)),
            1 => Target::Full(DcAddress::new(near, dctn, key).to_full()),
            2 => Target::Full(DcAddress::new(near.with_grh(&self.route()), dctn, key)),
            _ => Target::Full(DcAddress::new(self.roce(&parts), dctn, key)),
        }
    }

    fn key(&self) -> DcKey {
        DcKey(u64::from(self.imm) << 32 | u64::from(self.rkey))
    }

    /// Which address vector a target has: bits that say nothing else.
    fn form(&self) -> u8 {
        self.flags >> 6
    }

    /// The values that the device must read from the target's address.
    pub(crate) fn found_target(&self) -> FoundTarget {
        FoundTarget { access_key: self.key().0, vector: self.vector(self.form()) }
    }

    /// The datagram: by LID, with a GRH, or of RoCE.
    pub(crate) fn datagram(&self) -> Kind {
        let (parts, near) = (self.parts(), self.near());
        let (qpn, qkey) = (Qpn::truncate(parts.qpn), Qkey(self.rkey));
        let whom = match self.kind % 4 {
            0 => Whom::Compact(UdAddress::new(near, qpn, qkey)),
            1 => Whom::Full(UdAddress::new(near, qpn, qkey).to_full()),
            2 => Whom::Full(UdAddress::new(near.with_grh(&self.route()), qpn, qkey)),
            _ => Whom::Full(UdAddress::new(self.roce(&parts), qpn, qkey)),
        };
        Kind::Datagram(whom, (self.imm & 1 != 0).then_some(self.imm))
    }

    /// As libmlx5 would give it.
    fn roce(&self, parts: &Parts) -> FullAv {
        let route = self.route();
        FullAv::from_seg(DatagramSeg {
            base: BaseAvSeg {
                key: Be64::new(self.addr),
                dqp_dct: Be32::new(self.imm),
                stat_rate_sl: parts.level << 1,
                fl_mlid: 0,
                rlid: Be16::new(parts.lid),
            },
            grh: GrhAvSeg {
                reserved0: Be32::new(0),
                rmac: parts.mac,
                tclass: route.traffic_class,
                hop_limit: route.hop_limit,
                grh_gid_fl: Be32::new(u32::from(route.sgid_index) << 20 | route.flow_label),
            },
            rgid: route.dgid,
        })
    }

    /// The values that the device must read from the address.
    pub(crate) fn address(&self) -> Found {
        Found { qkey: self.rkey, vector: self.vector(self.kind % 4) }
    }

    fn vector(&self, form: u8) -> AddressVector {
        let (parts, route) = (self.parts(), self.route());
        let none = PathGrh { dgid: [0; 16], sgid_index: 0, flow_label: 0, hop_limit: 0, traffic_class: 0 };
        let grh = PathGrh {
            dgid: route.dgid,
            sgid_index: route.sgid_index,
            flow_label: route.flow_label,
            hop_limit: route.hop_limit,
            traffic_class: route.traffic_class,
        };
        // The codes of libmlx5's table: 0, then 7 to 15.
        let rate = if parts.rate == 0 { 0 } else { parts.rate as u8 + 6 };
        let vector = AddressVector {
            dest_qpn: parts.qpn,
            stat_rate_sl: rate << 4 | parts.level,
            src_path_bits: parts.bits,
            rlid: parts.lid,
            grh_present: false,
            grh: none,
            dmac: [0; 6],
        };
        match form {
            0 | 1 => vector,
            2 => AddressVector { grh_present: true, grh, ..vector },
            _ => AddressVector { stat_rate_sl: parts.level << 1, src_path_bits: 0, dmac: parts.mac, grh, ..vector },
        }
    }
}
