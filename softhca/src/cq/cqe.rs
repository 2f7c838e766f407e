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
mod tests;
