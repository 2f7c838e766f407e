//! The bytes of a CQE.
//!
//! Layout: PRM "Completion Queue Entry", rdma-core `providers/mlx5/mlx5dv.h` (`struct mlx5_cqe64`, `mlx5_err_cqe`).

use super::completion::{
    Completion, FrameInfo, MergedSegments, ReceiveKind, SignatureError, Source, TagReport, TakenStrides,
};

/// Bytes of the part of a CQE that is not scattered data.
pub(crate) const CQE64_BYTES: usize = 64;

/// Offsets in bytes into the 64-byte CQE (the second half of a 128-byte one). All fields are big endian.
mod offset {
    pub(super) const PKT_INFO: usize = 0;
    pub(super) const WQE_ID: usize = 2;
    pub(super) const LRO_TCPPSH_ABORT_DUPACK: usize = 4;
    pub(super) const LRO_MIN_TTL: usize = 5;
    pub(super) const LRO_TCP_WIN: usize = 6;
    pub(super) const LRO_ACK_SEQ_NUM: usize = 8;
    pub(super) const RSS_HASH_RESULT: usize = 12;
    pub(super) const RSS_HASH_TYPE: usize = 16;
    pub(super) const ML_PATH: usize = 17;
    pub(super) const CHECK_SUM: usize = 20;
    /// Of an error CQE.
    pub(super) const STRIDE_INDEX: usize = 20;
    pub(super) const SLID: usize = 22;
    pub(super) const FLAGS_RQPN: usize = 24;
    pub(super) const HDS_IP_EXT: usize = 28;
    pub(super) const L4_L3_HDR_TYPE: usize = 29;
    pub(super) const VLAN_INFO: usize = 30;
    /// The highest byte of the next word (DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_cqe`; Linux
    /// `include/linux/mlx5/device.h`, `get_cqe_lro_num_seg`).
    pub(super) const LRO_NUM_SEG: usize = 32;
    pub(super) const SRQN_UIDX: usize = 32;
    pub(super) const IMM_INVAL_PKEY: usize = 36;
    pub(super) const APP: usize = 40;
    pub(super) const APP_OP: usize = 41;
    pub(super) const APP_INFO: usize = 42;
    pub(super) const BYTE_CNT: usize = 44;
    pub(super) const TIMESTAMP: usize = 48;
    /// UCX `src/uct/ib/mlx5/ib_mlx5.h`, `uct_ib_mlx5_err_cqe_t`; DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct
    /// mlx5_error_cqe`. The byte behind it is the type, 0 in every public dump.
    pub(super) const HARDWARE_SYNDROME: usize = 52;
    pub(super) const VENDOR_SYNDROME: usize = 54;
    pub(super) const SYNDROME: usize = 55;
    pub(super) const OPCODE_QPN: usize = 56;
    pub(super) const WQE_COUNTER: usize = 60;
    pub(super) const SIGNATURE: usize = 62;
    pub(super) const OP_OWN: usize = 63;
}

/// CQE opcodes, bits 7:4 of the last byte (`MLX5_CQE_*`).
mod opcode {
    pub(super) const REQ: u8 = 0;
    pub(super) const RESP_WR_IMM: u8 = 1;
    pub(super) const RESP_SEND: u8 = 2;
    pub(super) const RESP_SEND_IMM: u8 = 3;
    pub(super) const RESP_SEND_INV: u8 = 4;
    pub(super) const RESIZE_CQ: u8 = 5;
    pub(super) const NO_PACKET: u8 = 6;
    pub(super) const SIG_ERR: u8 = 12;
    pub(super) const REQ_ERR: u8 = 13;
    pub(super) const RESP_ERR: u8 = 14;
}

/// Last byte of a CQE the device has not written yet: opcode 15 (`MLX5_CQE_INVALID`), owner 0.
pub(crate) const INVALID_OP_OWN: u8 = 0xf0;

/// Last byte, bit 1: the sender asked for a solicited event.
const SOLICITED: u8 = 1 << 1;
/// Last byte, bits 3:2: data in the first 32 bytes of the CQE (`MLX5_INLINE_SCATTER_32`).
const INLINE_32: u8 = 1 << 2;
/// Last byte, bits 3:2: data in the 64 bytes before it (`MLX5_INLINE_SCATTER_64`).
const INLINE_64: u8 = 2 << 2;

/// `lro_tcppsh_abort_dupack`: a segment has PSH (Linux `include/linux/mlx5/device.h`, `get_cqe_lro_tcppsh`; DPDK
/// `drivers/common/mlx5/mlx5_prm.h`, `MLX5_CQE_LRO_PUSH_MASK`); the timestamp is TCP's (FreeBSD
/// `sys/dev/mlx5/device.h`, `get_cqe_lro_timestamp_valid`).
const LRO_PUSH: u8 = 1 << 6;
const LRO_STAMPED: u8 = 1 << 7;

/// Bits 29:28 of `flags_rqpn`: the packet had a GRH.
const FLAG_GRH: u32 = 1 << 28;

/// `byte_cnt` of a striding queue: no frame in bit 31, strides in bits 29:16, bytes below (Linux
/// `include/linux/mlx5/device.h`, `struct mpwrq_cqe_bc`, with 15 bits of strides; DPDK
/// `drivers/common/mlx5/mlx5_prm.h`, `MLX5_MPRQ_*`, and NVIDIA/daqiri `daqiri_ibverbs_engine.cpp`, with 14).
const FILLER: u32 = 1 << 31;
const MAX_STRIDES: u16 = 0x3fff;

/// Most bytes of scatter-to-CQE data that a CQE of `cqe_bytes` can hold.
#[must_use]
pub(crate) fn inline_capacity(cqe_bytes: u32) -> usize {
    if cqe_bytes == 128 { 64 } else { 32 }
}

fn put16(cqe: &mut [u8; CQE64_BYTES], at: usize, value: u16) {
    cqe[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn put32(cqe: &mut [u8; CQE64_BYTES], at: usize, value: u32) {
    cqe[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

/// The CQE of a completion: up to 128 bytes of which the last byte is the one to publish last.
pub(crate) struct Encoded {
    bytes: [u8; 128],
    len: usize,
    /// How far the WQE counter of the next CQE of the same queue is from this one's.
    span: u16,
}

impl Encoded {
    /// Encodes `c` for a CQ with CQEs of `cqe_bytes` (64 or 128). `owner` is the owner bit of this pass over the ring,
    /// `stamp` is the timestamp.
    ///
    /// Data longer than [`inline_capacity`] is cut. The QP checks that its data fits before it puts them into a CQE.
    pub(crate) fn new(c: &Completion, cqe_bytes: u32, owner: bool, stamp: u64) -> Self {
        let mut tail = [0; CQE64_BYTES];
        tail[offset::TIMESTAMP..offset::TIMESTAMP + 8].copy_from_slice(&stamp.to_be_bytes());
        let (qpn, uidx, wqe_counter) = c.origin();
        let mut sender_opcode = 0;
        let mut data: &[u8] = &[];
        let mut op_own = match c {
            Completion::Request { opcode, byte_cnt, inline, .. } => {
                sender_opcode = *opcode;
                put32(&mut tail, offset::BYTE_CNT, *byte_cnt);
                data = inline.as_deref().unwrap_or_default();
                opcode::REQ << 4
            }
            Completion::Receive { kind, byte_cnt, imm, solicited, source, inline, .. } => {
                put32(&mut tail, offset::BYTE_CNT, *byte_cnt);
                put32(&mut tail, offset::IMM_INVAL_PKEY, *imm);
                if let Some(from) = source {
                    put_source(&mut tail, from, *kind);
                }
                data = inline.as_deref().unwrap_or_default();
                receive_opcode(*kind) << 4 | if *solicited { SOLICITED } else { 0 }
            }
            Completion::Frame { byte_cnt, strides, info, .. } => {
                put32(&mut tail, offset::BYTE_CNT, *byte_cnt);
                put_frame(&mut tail, info);
                if let Some(strides) = strides {
                    put_strides(&mut tail, strides, *byte_cnt);
                }
                opcode::RESP_SEND << 4
            }
            Completion::Filler { strides, .. } => {
                put_strides(&mut tail, strides, FILLER);
                opcode::RESP_SEND << 4
            }
            Completion::Tag { report, .. } => {
                put_tag_report(&mut tail, report);
                match &report.message {
                    None => opcode::NO_PACKET << 4,
                    Some(message) => {
                        put32(&mut tail, offset::BYTE_CNT, message.byte_cnt);
                        put32(&mut tail, offset::IMM_INVAL_PKEY, message.imm);
                        data = message.inline.as_deref().unwrap_or_default();
                        receive_opcode(message.kind) << 4 | if message.solicited { SOLICITED } else { 0 }
                    }
                }
            }
            Completion::Signature { error, .. } => {
                put_signature_error(&mut tail, error);
                opcode::SIG_ERR << 4
            }
            Completion::Error { requester, opcode, syndrome, vendor_syndrome, hardware_syndrome, strides, .. } => {
                sender_opcode = *opcode;
                if let Some(strides) = strides {
                    put_strides(&mut tail, strides, 0);
                    put16(&mut tail, offset::STRIDE_INDEX, strides.first);
                }
                // An error CQE has the syndromes where others have the timestamp's low half.
                tail[offset::TIMESTAMP..offset::TIMESTAMP + 8].fill(0);
                tail[offset::HARDWARE_SYNDROME] = *hardware_syndrome;
                tail[offset::VENDOR_SYNDROME] = *vendor_syndrome;
                tail[offset::SYNDROME] = *syndrome as u8;
                // Every public dump of an error CQE has this bit: libfabric issue 4283, SPDK issue 961, UCX issues 1569
                // and 6414, Juniper/warp17 issue 81. All come from requesters.
                SOLICITED | if *requester { opcode::REQ_ERR << 4 } else { opcode::RESP_ERR << 4 }
            }
        };
        if !matches!(c, Completion::Signature { .. }) {
            put32(&mut tail, offset::SRQN_UIDX, uidx & 0x00ff_ffff);
        }
        if let Completion::Frame { info: FrameInfo { merged: Some(merged), .. }, .. } = c {
            put_merged(&mut tail, merged);
        }
        put32(&mut tail, offset::OPCODE_QPN, u32::from(sender_opcode) << 24 | (qpn & 0x00ff_ffff));
        put16(&mut tail, offset::WQE_COUNTER, wqe_counter);

        let mut bytes = [0; 128];
        let len = if cqe_bytes == 128 { 128 } else { CQE64_BYTES };
        if !data.is_empty() {
            let data = &data[..data.len().min(inline_capacity(cqe_bytes))];
            // The first bytes of the other half may have a message's header.
            if data.len() > 32 || tail[..TagReport::HEAD_BYTES] != [0; TagReport::HEAD_BYTES] {
                bytes[..data.len()].copy_from_slice(data);
                op_own |= INLINE_64;
            } else {
                tail[..data.len()].copy_from_slice(data);
                op_own |= INLINE_32;
            }
        }
        tail[offset::OP_OWN] = op_own | u8::from(owner);
        bytes[len - CQE64_BYTES..len].copy_from_slice(&tail);
        Self { bytes, len, span: c.span() }
    }

    /// The CQE that tells the driver to continue in another ring.
    pub(crate) fn resize(cqe_bytes: u32, owner: bool, stamp: u64) -> Self {
        let mut bytes = [0; 128];
        let len = if cqe_bytes == 128 { 128 } else { CQE64_BYTES };
        let tail = &mut bytes[len - CQE64_BYTES..len];
        tail[offset::TIMESTAMP..offset::TIMESTAMP + 8].copy_from_slice(&stamp.to_be_bytes());
        tail[offset::OP_OWN] = opcode::RESIZE_CQ << 4 | u8::from(owner);
        Self { bytes, len, span: 0 }
    }

    /// How far the WQE counter of the next CQE of the same queue is from this one's.
    pub(super) fn span(&self) -> u16 {
        self.span
    }

    /// The 64 bytes that carry the fields.
    pub(super) fn fields(&self) -> &[u8; CQE64_BYTES] {
        let end = self.bytes[..self.len].last_chunk();
        end.expect("a CQE has 64 bytes at least")
    }

    /// Signs an error CQE, the one with this index of its queue.
    pub(super) fn sign(&mut self, index: u32) {
        let fields = self.bytes[..self.len].last_chunk_mut();
        sign(fields.expect("a CQE has 64 bytes at least"), index);
    }

    /// The bytes to write.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Signs the fields of an error CQE, the one with this index of its queue. Other CQEs stay without a signature: no public
/// dump shows theirs.
///
/// The XOR of all bytes and the index is 0xff. No document says so. It holds for the dumps whose index is known (the
/// tests have them). In every other dump of an error, the byte is not 0 either.
pub(super) fn sign(fields: &mut [u8; CQE64_BYTES], index: u32) {
    if matches!(fields[offset::OP_OWN] >> 4, opcode::REQ_ERR | opcode::RESP_ERR) {
        fields[offset::SIGNATURE] = 0;
        fields[offset::SIGNATURE] = fields.iter().chain(&index.to_be_bytes()).fold(0xff, |sum, byte| sum ^ byte);
    }
}

fn receive_opcode(kind: ReceiveKind) -> u8 {
    match kind {
        ReceiveKind::WriteImm => opcode::RESP_WR_IMM,
        ReceiveKind::Send => opcode::RESP_SEND,
        ReceiveKind::SendImm => opcode::RESP_SEND_IMM,
        ReceiveKind::SendInval => opcode::RESP_SEND_INV,
    }
}

/// `struct mlx5_cqe64` with the fields `app`, `app_op` and `app_info`.
fn put_tag_report(tail: &mut [u8; CQE64_BYTES], report: &TagReport) {
    const TAG_MATCHING: u8 = 1;
    tail[..TagReport::HEAD_BYTES].copy_from_slice(&report.head);
    tail[offset::APP] = TAG_MATCHING;
    tail[offset::APP_OP] = report.outcome as u8;
    put16(tail, offset::APP_INFO, report.index);
}

fn put_frame(tail: &mut [u8; CQE64_BYTES], info: &FrameInfo) {
    tail[offset::PKT_INFO] = info.tunnel;
    put32(tail, offset::RSS_HASH_RESULT, info.rss_hash);
    tail[offset::RSS_HASH_TYPE] = info.rss_hash_type;
    put16(tail, offset::CHECK_SUM, info.sum);
    tail[offset::HDS_IP_EXT] = info.layers_ok;
    tail[offset::L4_L3_HDR_TYPE] = info.headers;
    put16(tail, offset::VLAN_INFO, info.vlan);
    put32(tail, offset::IMM_INVAL_PKEY, info.metadata);
}

fn put_merged(tail: &mut [u8; CQE64_BYTES], merged: &MergedSegments) {
    tail[offset::LRO_TCPPSH_ABORT_DUPACK] = if merged.has_push { LRO_PUSH } else { 0 };
    tail[offset::LRO_MIN_TTL] = merged.min_ttl;
    put16(tail, offset::LRO_TCP_WIN, merged.window);
    put32(tail, offset::LRO_ACK_SEQ_NUM, merged.acknowledgement);
    tail[offset::LRO_NUM_SEG] = merged.segments;
    if let Some([sent, returned]) = merged.stamps {
        tail[offset::LRO_TCPPSH_ABORT_DUPACK] |= LRO_STAMPED;
        put32(tail, offset::TIMESTAMP, sent);
        put32(tail, offset::TIMESTAMP + 4, returned);
    }
}

/// The strides of a WQE, and the low half or the highest bit of `byte_cnt`.
fn put_strides(tail: &mut [u8; CQE64_BYTES], strides: &TakenStrides, byte_cnt: u32) {
    put16(tail, offset::WQE_ID, strides.wqe);
    put32(tail, offset::BYTE_CNT, byte_cnt | u32::from(strides.count.min(MAX_STRIDES)) << 16);
}

/// `struct mlx5_sigerr_cqe` (rdma-core `providers/mlx5/cq.c`); the QPN is where Linux has it
/// (`include/linux/mlx5/device.h`, `struct mlx5_sig_err_cqe`).
fn put_signature_error(tail: &mut [u8; CQE64_BYTES], error: &SignatureError) {
    const EXPECTED: usize = 16;
    const ACTUAL: usize = 20;
    const EXPECTED_REF_TAG: usize = 24;
    const ACTUAL_REF_TAG: usize = 28;
    const SYNDROME: usize = 32;
    const DOMAIN: usize = 35;
    const MKEY: usize = 36;
    const OFFSET: usize = 40;
    let SignatureError { key, mismatch } = error;
    tail[OFFSET..OFFSET + 8].copy_from_slice(&mismatch.offset.to_be_bytes());
    tail[OFFSET + 8..OFFSET + 16].fill(0);
    for (at, number) in [(EXPECTED, mismatch.found), (ACTUAL, mismatch.made)] {
        put32(tail, at, (number >> 32) as u32);
    }
    for (at, number) in [(EXPECTED_REF_TAG, mismatch.found), (ACTUAL_REF_TAG, mismatch.made)] {
        put32(tail, at, number as u32);
    }
    put16(tail, SYNDROME, mismatch.syndrome);
    tail[DOMAIN] = mismatch.in_memory.into();
    put32(tail, MKEY, *key);
}

fn put_source(tail: &mut [u8; CQE64_BYTES], from: &Source, kind: ReceiveKind) {
    tail[offset::ML_PATH] = from.dlid_path_bits & 0x7f;
    put16(tail, offset::SLID, from.slid);
    let grh = if from.grh { FLAG_GRH } else { 0 };
    put32(tail, offset::FLAGS_RQPN, grh | u32::from(from.sl & 0xf) << 24 | (from.src_qpn & 0x00ff_ffff));
    // The word holds immediate data when there is any, else the P_Key index.
    if kind == ReceiveKind::Send {
        put32(tail, offset::IMM_INVAL_PKEY, u32::from(from.pkey_index));
    }
}

#[cfg(test)]
mod tests {
    use super::super::completion::{InCqe, ReceivedTag, Syndrome, TagOutcome};
    use super::*;
    use smallvec::smallvec;

    const NOW: u64 = 0x0102_0304_0506_0708;

    fn receive(kind: ReceiveKind, inline: Option<Vec<u8>>) -> Completion {
        Completion::Receive {
            qpn: 0x00a1_b2c3,
            uidx: 0x0045_6789,
            kind,
            wqe_counter: 0xbeef,
            byte_cnt: 0x1122_3344,
            imm: 0xcafe_f00d,
            solicited: true,
            source: None,
            inline: inline.map(InCqe::from_vec),
        }
    }

    /// A CQE of zeroes with these bytes in it (offsets of `struct mlx5_cqe64`).
    fn cqe(parts: &[(usize, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        for &(at, part) in parts {
            bytes[at..at + part.len()].copy_from_slice(part);
        }
        bytes
    }

    #[test]
    fn request() {
        let c = Completion::Request {
            qpn: 0x00a1_b2c3,
            uidx: 0x0045_6789,
            opcode: 0x10,
            wqe_counter: 0xbeef,
            byte_cnt: 0x1122_3344,
            inline: None,
        };
        let expected = cqe(&[
            (32, &[0x00, 0x45, 0x67, 0x89]),
            (44, &[0x11, 0x22, 0x33, 0x44]),
            (48, &[1, 2, 3, 4, 5, 6, 7, 8]),
            (56, &[0x10, 0xa1, 0xb2, 0xc3]),
            (60, &[0xbe, 0xef, 0x00, 0x01]),
        ]);
        assert_eq!(Encoded::new(&c, 64, true, NOW).as_bytes(), expected);
        let wide = Encoded::new(&c, 128, true, NOW);
        assert_eq!(wide.as_bytes(), [vec![0; 64], expected].concat());
    }

    #[test]
    fn receives_differ_in_opcode() {
        let opcodes = [
            (ReceiveKind::WriteImm, 0x12),
            (ReceiveKind::Send, 0x22),
            (ReceiveKind::SendImm, 0x32),
            (ReceiveKind::SendInval, 0x42),
        ];
        for (kind, op_own) in opcodes {
            let expected = cqe(&[
                (32, &[0x00, 0x45, 0x67, 0x89]),
                (36, &[0xca, 0xfe, 0xf0, 0x0d]),
                (44, &[0x11, 0x22, 0x33, 0x44]),
                (48, &[1, 2, 3, 4, 5, 6, 7, 8]),
                (56, &[0x00, 0xa1, 0xb2, 0xc3]),
                (60, &[0xbe, 0xef, 0x00, op_own]),
            ]);
            assert_eq!(Encoded::new(&receive(kind, None), 64, false, NOW).as_bytes(), expected, "{kind:?}");
        }
    }

    #[test]
    fn datagram() {
        let mut c = receive(ReceiveKind::Send, None);
        if let Completion::Receive { source, imm, .. } = &mut c {
            *imm = 0;
            *source = Some(Source {
                slid: 0x1234,
                src_qpn: 0x00fe_dcba,
                sl: 0xa,
                dlid_path_bits: 0x7f,
                grh: true,
                pkey_index: 0x0506,
            });
        }
        let bytes = Encoded::new(&c, 64, false, NOW);
        let bytes = bytes.as_bytes();
        assert_eq!(bytes[17], 0x7f);
        assert_eq!(bytes[22..28], [0x12, 0x34, 0x1a, 0xfe, 0xdc, 0xba]);
        assert_eq!(bytes[36..40], [0, 0, 0x05, 0x06]);
    }

    #[test]
    fn frame() {
        let info = FrameInfo {
            rss_hash: 0x5566_7788,
            rss_hash_type: 0x44,
            sum: 0x99aa,
            layers_ok: 7,
            headers: 0x29,
            tunnel: 3,
            vlan: 0xa005,
            flow_tag: 0x00c1_c2c3,
            metadata: 0xd1d2_d3d4,
            merged: None,
        };
        let (rqn, uidx, wqe_counter, byte_cnt) = (5, 0x0045_6789, 0xbeef, 0x1122);
        let c = Completion::Frame { rqn, uidx, wqe_counter, byte_cnt, strides: None, info };
        let expected = cqe(&[
            (0, &[3]),
            (12, &[0x55, 0x66, 0x77, 0x88, 0x44]),
            (20, &[0x99, 0xaa]),
            (28, &[7, 0x29, 0xa0, 5]),
            (32, &[0x00, 0x45, 0x67, 0x89]),
            // `ft_metadata` of Linux' `struct mlx5_cqe64`, `flow_table_metadata` of DPDK's `struct mlx5_cqe`.
            (36, &[0xd1, 0xd2, 0xd3, 0xd4]),
            (44, &[0, 0, 0x11, 0x22]),
            (48, &[1, 2, 3, 4, 5, 6, 7, 8]),
            (56, &[0x00, 0xc1, 0xc2, 0xc3]),
            (60, &[0xbe, 0xef, 0x00, 0x21]),
        ]);
        assert_eq!(Encoded::new(&c, 64, true, NOW).as_bytes(), expected);
        // In a striding queue: `wqe_id`, the number of strides, and the first one's index.
        let strides = TakenStrides { wqe: 0x0a0b, first: 0x1c1d, count: 0x123 };
        let c = Completion::Frame { rqn, uidx, wqe_counter, byte_cnt, strides: Some(strides), info };
        let mut strided = expected;
        strided[2..4].copy_from_slice(&[0x0a, 0x0b]);
        strided[44..48].copy_from_slice(&[0x01, 0x23, 0x11, 0x22]);
        strided[60..62].copy_from_slice(&[0x1c, 0x1d]);
        assert_eq!(Encoded::new(&c, 64, true, NOW).as_bytes(), strided);
        let filler = cqe(&[
            (2, &[0x0a, 0x0b]),
            (32, &[0x00, 0x45, 0x67, 0x89]),
            (44, &[0x81, 0x23, 0, 0]),
            (48, &[1, 2, 3, 4, 5, 6, 7, 8]),
            (60, &[0x1c, 0x1d, 0x00, 0x21]),
        ]);
        let c = Completion::Filler { rqn, uidx, strides };
        assert_eq!(Encoded::new(&c, 64, true, NOW).as_bytes(), filler);
    }

    /// The structure `lro` and `lro_num_seg` of Linux' `struct mlx5_cqe64` and DPDK's `struct mlx5_cqe`; the stamps by
    /// FreeBSD's `mlx5e_lro_update_hdr`.
    #[test]
    fn merged_segments() {
        let merged = MergedSegments {
            segments: 9,
            has_push: true,
            min_ttl: 0x3f,
            window: 0x7172,
            acknowledgement: 0x8182_8384,
            stamps: Some([0x9192_9394, 0xa1a2_a3a4]),
        };
        let info = FrameInfo { sum: 0x99aa, merged: Some(merged), ..FrameInfo::default() };
        let c = |info| Completion::Frame { rqn: 5, uidx: 0x45_6789, wqe_counter: 1, byte_cnt: 2, strides: None, info };
        let expected = cqe(&[
            (4, &[0xc0, 0x3f, 0x71, 0x72, 0x81, 0x82, 0x83, 0x84]),
            (20, &[0x99, 0xaa]),
            (32, &[9, 0x45, 0x67, 0x89]),
            (47, &[2, 0x91, 0x92, 0x93, 0x94, 0xa1, 0xa2, 0xa3, 0xa4]),
            (60, &[0, 1, 0, 0x20]),
        ]);
        assert_eq!(Encoded::new(&c(info), 64, false, NOW).as_bytes(), expected);
        let mut plain = expected;
        plain[4] = 0;
        plain[48..56].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
        let merged = MergedSegments { has_push: false, stamps: None, ..merged };
        let info = FrameInfo { merged: Some(merged), ..info };
        assert_eq!(Encoded::new(&c(info), 64, false, NOW).as_bytes(), plain);
    }

    #[test]
    fn tags() {
        let tag = |message, outcome| {
            let report = TagReport { outcome, index: 0x0102, head: *b"0123456789abcdef", message };
            Completion::Tag { qpn: 0x00a1_b2c3, uidx: 0x0045_6789, wqe_counter: 0xbeef, report }
        };
        let parts: [(usize, &[u8]); 5] = [
            (0, b"0123456789abcdef"),
            (32, &[0x00, 0x45, 0x67, 0x89]),
            (48, &[1, 2, 3, 4, 5, 6, 7, 8]),
            (56, &[0x00, 0xa1, 0xb2, 0xc3]),
            (60, &[0xbe, 0xef]),
        ];
        let operation = cqe(&[&parts[..], &[(40, &[1, 5, 1, 2]), (63, &[0x60])]].concat());
        assert_eq!(Encoded::new(&tag(None, TagOutcome::Append), 64, false, NOW).as_bytes(), operation);
        let message = |inline| {
            let kind = ReceiveKind::SendImm;
            Some(ReceivedTag { kind, byte_cnt: 3, imm: 0xcafe_f00d, solicited: true, inline })
        };
        let told: [(usize, &[u8]); 4] =
            [(36, &[0xca, 0xfe, 0xf0, 0x0d]), (40, &[1, 0x0a, 1, 2]), (44, &[0, 0, 0, 3]), (63, &[0x33])];
        let received = cqe(&[&parts[..], &told].concat());
        let outcome = TagOutcome::ConsumedMessage;
        assert_eq!(Encoded::new(&tag(message(None), outcome), 64, true, NOW).as_bytes(), received);
        // However little it is, data lies before the header.
        let encoded = Encoded::new(&tag(message(Some(smallvec![7, 8, 9])), outcome), 128, true, NOW);
        assert_eq!(encoded.as_bytes()[..4], [7, 8, 9, 0]);
        assert_eq!((&encoded.as_bytes()[64..127], encoded.as_bytes()[127]), (&received[..63], 0x3b));
    }

    #[test]
    fn errors() {
        for (requester, op_own) in [(true, 0xd3), (false, 0xe3)] {
            let c = Completion::Error {
                qpn: 0x00a1_b2c3,
                uidx: 0x0045_6789,
                requester,
                opcode: 0x08,
                wqe_counter: 0xbeef,
                strides: None,
                syndrome: Syndrome::RemoteAccess,
                vendor_syndrome: 0x88,
                hardware_syndrome: 0x93,
            };
            let expected = cqe(&[
                (32, &[0x00, 0x45, 0x67, 0x89]),
                (52, &[0x93, 0x00, 0x88, 0x13]),
                (56, &[0x08, 0xa1, 0xb2, 0xc3]),
                (60, &[0xbe, 0xef, 0x00, op_own]),
            ]);
            assert_eq!(Encoded::new(&c, 64, true, NOW).as_bytes(), expected);
            assert!(c.is_solicited());
        }
    }

    /// Dumps of error CQEs from NICs: Juniper/warp17 issue 81, whose addresses show the places 0 and 2 of the rings
    /// (DPDK has written "seen" into bytes 1 to 4, which were 0); UCX issue 6414, of the first request of its queue.
    #[test]
    fn signatures_of_errors_are_those_of_dumps() {
        let dumps: [(u32, u8, [u8; 12]); 3] = [
            (0, 0x13, [0x9d, 0x00, 0x53, 0x04, 0x0a, 0x00, 0x15, 0x42, 0x00, 0x19, 0xb0, 0xd2]),
            (2, 0x0c, [0x9d, 0x00, 0x53, 0x04, 0x0a, 0x00, 0x15, 0x34, 0x00, 0x5a, 0x98, 0xd2]),
            (0, 0x01, [0x92, 0x00, 0x52, 0x04, 0x0a, 0x00, 0x08, 0x2f, 0x00, 0x00, 0xc5, 0xd2]),
        ];
        for (index, uidx, end) in dumps {
            let dump = cqe(&[(35, &[uidx]), (52, &end)]);
            let mut fields = *dump.last_chunk().unwrap();
            fields[62] = 0xa5;
            sign(&mut fields, index);
            assert_eq!(fields[..], dump[..], "{index}");
        }
        let mut success = [0x02; 64];
        sign(&mut success, 7);
        assert_eq!(success, [0x02; 64]);
    }

    /// DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_error_cqe`.
    #[test]
    fn errors_of_strides() {
        let c = Completion::Error {
            qpn: 5,
            uidx: 6,
            requester: false,
            opcode: 0,
            wqe_counter: 0x0a0b,
            strides: Some(TakenStrides { wqe: 0x0a0b, first: 0x1c1d, count: 0xffff }),
            syndrome: Syndrome::WrFlush,
            vendor_syndrome: 0,
            hardware_syndrome: 0,
        };
        let expected = cqe(&[
            (2, &[0x0a, 0x0b]),
            (20, &[0x1c, 0x1d]),
            (32, &[0, 0, 0, 6]),
            (44, &[0x3f, 0xff, 0, 0]),
            (54, &[0, 5]),
            (56, &[0, 0, 0, 5]),
            (60, &[0x0a, 0x0b, 0, 0xe2]),
        ]);
        assert_eq!(Encoded::new(&c, 64, false, NOW).as_bytes(), expected);
    }

    #[test]
    fn scattered_data() {
        let data: Vec<u8> = (1..=64).collect();
        // 32 bytes lie at the start of the CQE64, in a 128-byte CQE too; bits 3:2 of the last byte are 01.
        for (cqe_bytes, at) in [(64, 0), (128, 64)] {
            let e = Encoded::new(&receive(ReceiveKind::Send, Some(data[..32].to_vec())), cqe_bytes, false, NOW);
            assert_eq!(e.as_bytes()[at..at + 32], data[..32]);
            assert_eq!(e.as_bytes()[at + 63], 0x26);
        }
        // 64 bytes lie in the half before; bits 3:2 are 10.
        let e = Encoded::new(&receive(ReceiveKind::Send, Some(data.clone())), 128, false, NOW);
        assert_eq!(e.as_bytes()[..64], data);
        assert_eq!(e.as_bytes()[127], 0x2a);
        // Excess bytes are cut, never written past the end.
        let e = Encoded::new(&receive(ReceiveKind::Send, Some(vec![9; 500])), 64, false, NOW);
        assert_eq!(e.as_bytes().len(), 64);
        assert_eq!(e.as_bytes()[63], 0x26);
    }

    #[test]
    fn resize() {
        let e = Encoded::resize(128, true, NOW);
        assert_eq!(e.as_bytes().len(), 128);
        assert_eq!(e.as_bytes()[127], 0x51);
    }
}
