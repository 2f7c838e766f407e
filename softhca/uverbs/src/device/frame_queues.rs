//! The receivers of Ethernet frames, made by commands as Linux' mlx5_ib makes them (`drivers/infiniband/hw/mlx5/qp.c`):
//! receive queues, tables of them, and TIRs, to which rules send frames.

use super::hca::Hca;
use crate::abi::mailbox::{self, HEADER_BYTES, NUMBER, creator};
use crate::process::Errno;
use softhca::context::TimestampFormat;
use softhca::firmware::Uid;

/// Of `create_rq_in`; the addresses of pages follow.
mod rq {
    use crate::abi::mailbox::{fields, sizes};

    fields! {
        pub(super) KEEPS_VLAN: 0x103, 1 = "create_rq_in.ctx.vsd", "modify_rq_in.ctx.vsd";
        pub(super) FLUSH_IN_ERROR: 0x10d, 1 = "create_rq_in.ctx.flush_in_error_en";
        pub(super) TS_FORMAT: 0x11a, 2 = "create_rq_in.ctx.ts_format";
        pub(super) USER_INDEX: 0x128, 24 = "create_rq_in.ctx.user_index";
        pub(super) CQN: 0x148, 24 = "create_rq_in.ctx.cqn";
        pub(super) WQ_TYPE: 0x280, 4 = "create_rq_in.ctx.wq.wq_type";
        pub(super) WQ_SIGNATURE: 0x284, 1 = "create_rq_in.ctx.wq.wq_signature";
        pub(super) PAGE_OFFSET: 0x2ab, 5 = "create_rq_in.ctx.wq.page_offset";
        pub(super) PD: 0x2c8, 24 = "create_rq_in.ctx.wq.pd";
        pub(super) DBR_ADDR: 0x300, 64 = "create_rq_in.ctx.wq.dbr_addr";
        pub(super) LOG_STRIDE: 0x38c, 4 = "create_rq_in.ctx.wq.log_wq_stride";
        pub(super) LOG_SIZE: 0x39b, 5 = "create_rq_in.ctx.wq.log_wq_sz";
        pub(super) STRIDES: 0x3b4, 4 = "create_rq_in.ctx.wq.log_wqe_num_of_strides";
        pub(super) TWO_BYTE_SHIFT: 0x3b8, 1 = "create_rq_in.ctx.wq.two_byte_shift_en";
        pub(super) STRIDE_BYTES: 0x3bd, 3 = "create_rq_in.ctx.wq.log_wqe_stride_size";
    }
    sizes! { pub(super) BYTES: 0x110 = "create_rq_in", "modify_rq_in"; }
    /// `MLX5_TIMESTAMP_FORMAT_FREE_RUNNING`, `MLX5_TIMESTAMP_FORMAT_REAL_TIME`.
    pub(super) const FREE_RUNNING: u64 = 0;
    pub(super) const REAL_TIME: u64 = 2;
    /// `MLX5_WQ_TYPE_CYCLIC`, `MLX5_WQ_TYPE_CYCLIC_STRIDING_RQ`.
    pub(super) const CYCLIC: u64 = 1;
    pub(super) const CYCLIC_STRIDING: u64 = 3;
    /// log2 of the bytes that 0 stands for, and of the strides; fewer strides are counted modulo 16 (`create_rq`,
    /// `fw_map`).
    pub(super) const LEAST_STRIDE_BYTES: u32 = 6;
    pub(super) const USUAL_STRIDES: u32 = 9;
}

/// Of `modify_rq_in`, whose context has its VLAN bit where that of `create_rq_in` has it.
mod modify_rq {
    use crate::abi::mailbox::fields;

    pub(super) const OPCODE: u16 = 0x909;
    fields! {
        pub(super) FROM: 0x40, 4 = "modify_rq_in.rq_state";
        pub(super) BITMASK: 0x80, 64 = "modify_rq_in.modify_bitmask";
        pub(super) TO: 0x108, 4 = "modify_rq_in.ctx.state";
    }
    /// `MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_VSD`.
    pub(super) const VSD: u64 = 1 << 1;
}

/// Of `create_rqt_in`; the queues' numbers follow, in 4 bytes each.
mod rqt {
    use crate::abi::mailbox::{fields, sizes};

    fields! {
        pub(super) MAX_SIZE: 0x1b0, 16 = "create_rqt_in.rqt_context.rqt_max_size";
        pub(super) ACTUAL_SIZE: 0x1d0, 16 = "create_rqt_in.rqt_context.rqt_actual_size";
    }
    sizes! { pub(super) BYTES: 0x110 = "create_rqt_in"; }
}

/// Of `create_tis_in`.
mod tis {
    use crate::abi::mailbox::{fields, sizes};

    fields! { pub(super) TRANSPORT_DOMAIN: 0x228, 24 = "create_tis_in.ctx.transport_domain"; }
    sizes! { pub(super) BYTES: 0xc0 = "create_tis_in", "modify_tis_in"; }
}

/// Of `modify_tis_in`.
mod modify_tis {
    use crate::abi::mailbox::fields;

    pub(super) const OPCODE: u16 = 0x913;
    fields! {
        pub(super) HAS_LAG_PORT: 0xbd, 1 = "modify_tis_in.bitmask.lag_tx_port_affinity";
        pub(super) LAG_PORT: 0x104, 4 = "modify_tis_in.ctx.lag_tx_port_affinity";
    }
}

/// Of `create_tir_in`.
mod tir {
    use crate::abi::mailbox::{fields, sizes};

    fields! {
        pub(super) DISP_TYPE: 0x120, 4 = "create_tir_in.ctx.disp_type";
        pub(super) INLINE_RQN: 0x1e8, 24 = "create_tir_in.ctx.inline_rqn";
        pub(super) TUNNELED_OFFLOAD_EN: 0x202, 1 = "create_tir_in.ctx.tunneled_offload_en";
        pub(super) INDIRECT_TABLE: 0x208, 24 = "create_tir_in.ctx.indirect_table";
        pub(super) HASH_FUNCTION: 0x220, 4 = "create_tir_in.ctx.rx_hash_fn";
        pub(super) TRANSPORT_DOMAIN: 0x228, 24 = "create_tir_in.ctx.transport_domain";
        pub(super) L3_TYPE: 0x380, 1 = "create_tir_in.ctx.rx_hash_field_selector_outer.l3_prot_type";
        pub(super) L4_TYPE: 0x381, 1 = "create_tir_in.ctx.rx_hash_field_selector_outer.l4_prot_type";
        pub(super) SELECTED: 0x382, 30 = "create_tir_in.ctx.rx_hash_field_selector_outer.selected_fields";
        pub(super) INNER_L3_TYPE: 0x3a0, 1 = "create_tir_in.ctx.rx_hash_field_selector_inner.l3_prot_type";
        pub(super) INNER_L4_TYPE: 0x3a1, 1 = "create_tir_in.ctx.rx_hash_field_selector_inner.l4_prot_type";
        pub(super) INNER_SELECTED: 0x3a2, 30 = "create_tir_in.ctx.rx_hash_field_selector_inner.selected_fields";
    }
    sizes! { pub(super) BYTES: 0x110 = "create_tir_in"; }
    /// The first byte of the key.
    pub(super) const KEY: usize = 0x240 / 8;
    /// `MLX5_TIRC_DISP_TYPE_INDIRECT`, `MLX5_RX_HASH_FN_TOEPLITZ`.
    pub(super) const INDIRECT: u64 = 1;
    pub(super) const TOEPLITZ: u64 = 2;
}

/// log2 of the bytes of the device's pages, and the parts of one in which a ring can begin.
const PAGE_SHIFT: u32 = 12;
const PARTS_OF_PAGE: u64 = 64;

/// States of a receive queue (`MLX5_RQC_STATE_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameQueueState {
    Reset = 0,
    Ready = 1,
    Error = 3,
}

/// Strides of the WQEs of a queue, as the program has described them; log2 of both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strides {
    pub(crate) log_bytes: u32,
    pub(crate) log_count: u32,
    pub(crate) shifted: bool,
}

/// A receive queue of frames, as the program has described it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameQueue {
    pub(crate) pd: u32,
    pub(crate) cqn: u32,
    pub(crate) ring: u64,
    pub(crate) record: u64,
    pub(crate) log_size: u32,
    pub(crate) log_stride: u32,
    pub(crate) user_index: u32,
    pub(crate) timestamps: TimestampFormat,
    pub(crate) strips_vlan: bool,
    pub(crate) signed: bool,
    pub(crate) strides: Option<Strides>,
}

/// How frames are spread over a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) table: u32,
    pub(crate) key: [u8; 40],
    /// IPv6's addresses, else IPv4's; UDP's ports, else TCP's.
    pub(crate) ipv6: bool,
    pub(crate) udp: bool,
    /// `MLX5_HASH_FIELD_SEL_*`.
    pub(crate) selected: u32,
    /// Of the headers inside of tunnels.
    pub(crate) inside: bool,
}

/// Where a TIR sends frames.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dispatch {
    /// To one queue.
    Queue(u32),
    /// To one of a table.
    Spread(Spread),
}

impl Hca {
    /// Makes a receive queue in the reset state; its number.
    pub(crate) fn create_frame_queue(&self, user: Uid, queue: &FrameQueue) -> Result<u32, Errno> {
        self.carry_out(&queue_creation(user, queue)?).map(|output| NUMBER.get32(&output))
    }

    /// Moves a receive queue from one state to another, and says whether it takes VLAN tags out, if that changes.
    pub(crate) fn modify_frame_queue(
        &self,
        user: Uid,
        rqn: u32,
        (from, to): (FrameQueueState, FrameQueueState),
        strips_vlan: Option<bool>,
    ) -> Result<(), Errno> {
        let mut input = mailbox::command(modify_rq::OPCODE, user.0, rq::BYTES);
        NUMBER.set(&mut input, rqn.into());
        modify_rq::FROM.set(&mut input, from as u64);
        modify_rq::TO.set(&mut input, to as u64);
        if let Some(strips) = strips_vlan {
            modify_rq::BITMASK.set(&mut input, modify_rq::VSD);
            rq::KEEPS_VLAN.set(&mut input, u64::from(!strips));
        }
        self.carry_out(&input).map(drop)
    }

    /// Makes a table of receive queues; its number.
    pub(crate) fn create_queue_table(&self, user: Uid, rqs: &[u32]) -> Result<u32, Errno> {
        let mut input = mailbox::command(creator::RQT, user.0, rqt::BYTES);
        rqt::MAX_SIZE.set(&mut input, rqs.len() as u64);
        rqt::ACTUAL_SIZE.set(&mut input, rqs.len() as u64);
        input.extend(rqs.iter().flat_map(|rqn| rqn.to_be_bytes()));
        self.carry_out(&input).map(|output| NUMBER.get32(&output))
    }

    /// Makes a TIR, whose CQEs may tell of the headers inside of tunnels; its number.
    pub(crate) fn create_tir(
        &self,
        user: Uid,
        transport_domain: u32,
        dispatch: &Dispatch,
        tunnels: bool,
    ) -> Result<u32, Errno> {
        let mut input = mailbox::command(creator::TIR, user.0, tir::BYTES);
        tir::TRANSPORT_DOMAIN.set(&mut input, transport_domain.into());
        tir::TUNNELED_OFFLOAD_EN.set(&mut input, tunnels.into());
        match dispatch {
            Dispatch::Queue(rqn) => tir::INLINE_RQN.set(&mut input, (*rqn).into()),
            Dispatch::Spread(spread) => {
                tir::DISP_TYPE.set(&mut input, tir::INDIRECT);
                tir::INDIRECT_TABLE.set(&mut input, spread.table.into());
                tir::HASH_FUNCTION.set(&mut input, tir::TOEPLITZ);
                input[tir::KEY..][..spread.key.len()].copy_from_slice(&spread.key);
                let [ipv6, udp, selected] = match spread.inside {
                    true => [tir::INNER_L3_TYPE, tir::INNER_L4_TYPE, tir::INNER_SELECTED],
                    false => [tir::L3_TYPE, tir::L4_TYPE, tir::SELECTED],
                };
                ipv6.set(&mut input, spread.ipv6.into());
                udp.set(&mut input, spread.udp.into());
                selected.set(&mut input, spread.selected.into());
            }
        }
        self.carry_out(&input).map(|output| NUMBER.get32(&output))
    }

    /// Makes the common context of send queues; its number.
    pub(crate) fn create_tis(&self, user: Uid, transport_domain: u32) -> Result<u32, Errno> {
        let mut input = mailbox::command(creator::TIS, user.0, tis::BYTES);
        tis::TRANSPORT_DOMAIN.set(&mut input, transport_domain.into());
        self.carry_out(&input).map(|output| NUMBER.get32(&output))
    }

    /// Has the frames of a TIS leave by port `port` of the bond (mlx5_ib `modify_raw_packet_tx_affinity`).
    pub(crate) fn set_lag_port(&self, (user, tisn): (Uid, u32), port: u8) -> Result<(), Errno> {
        let mut input = mailbox::command(modify_tis::OPCODE, user.0, tis::BYTES);
        NUMBER.set(&mut input, tisn.into());
        modify_tis::HAS_LAG_PORT.set(&mut input, 1);
        modify_tis::LAG_PORT.set(&mut input, port.into());
        self.carry_out(&input).map(drop)
    }

    /// Makes a transport domain; its number.
    pub(crate) fn create_transport_domain(&self, user: Uid) -> Result<u32, Errno> {
        let input = mailbox::command(creator::TRANSPORT_DOMAIN, user.0, HEADER_BYTES);
        self.carry_out(&input).map(|output| NUMBER.get32(&output))
    }
}

/// The mailbox that makes a receive queue. The ring is in memory of the program, all of which is in a row for the
/// device.
fn queue_creation(user: Uid, queue: &FrameQueue) -> Result<Vec<u8>, Errno> {
    let page = 1_u64 << PAGE_SHIFT;
    let (offset, part) = (queue.ring % page, page / PARTS_OF_PAGE);
    if offset % part != 0 {
        return Err(Errno::EINVAL);
    }
    let len = 1_u64 << (queue.log_size + queue.log_stride);
    let mut input = mailbox::command(creator::RQ, user.0, rq::BYTES);
    for (place, value) in [
        (rq::KEEPS_VLAN, u64::from(!queue.strips_vlan)),
        (rq::FLUSH_IN_ERROR, 1),
        (
            rq::TS_FORMAT,
            match queue.timestamps {
                TimestampFormat::FreeRunning => rq::FREE_RUNNING,
                TimestampFormat::RealTime => rq::REAL_TIME,
            },
        ),
        (rq::USER_INDEX, queue.user_index.into()),
        (rq::CQN, queue.cqn.into()),
        (rq::WQ_TYPE, if queue.strides.is_some() { rq::CYCLIC_STRIDING } else { rq::CYCLIC }),
        (rq::WQ_SIGNATURE, queue.signed.into()),
        (rq::PAGE_OFFSET, offset / part),
        (rq::PD, queue.pd.into()),
        (rq::DBR_ADDR, queue.record),
        (rq::LOG_STRIDE, queue.log_stride.into()),
        (rq::LOG_SIZE, queue.log_size.into()),
    ] {
        place.set(&mut input, value);
    }
    if let Some(strides) = queue.strides {
        rq::STRIDES.set(&mut input, (strides.log_count.wrapping_sub(rq::USUAL_STRIDES) & 0xf).into());
        rq::STRIDE_BYTES.set(&mut input, (strides.log_bytes - rq::LEAST_STRIDE_BYTES).into());
        rq::TWO_BYTE_SHIFT.set(&mut input, strides.shifted.into());
    }
    let pages = (offset + len).div_ceil(page);
    input.extend((0..pages).flat_map(|index| (queue.ring - offset).wrapping_add(index * page).to_be_bytes()));
    Ok(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::mailbox::linux::known;

    #[test]
    fn lists_and_keys_are_where_linux_has_them() {
        for (list, bytes) in [("create_rq_in.ctx.wq.pas", rq::BYTES), ("create_rqt_in.rqt_context.rq_num", rqt::BYTES)]
        {
            assert_eq!(known(list).at, bytes * 8, "{list}");
        }
        let key = known("create_tir_in.ctx.rx_hash_toeplitz_key");
        assert_eq!((tir::KEY * 8, 40 * 8), (key.at, key.width));
    }

    #[test]
    fn rings_are_listed_by_page_and_begin_where_a_part_of_one_does() {
        let queue = FrameQueue {
            pd: 1,
            cqn: 2,
            ring: 0x7000_1040,
            record: 0x5008,
            log_size: 6,
            log_stride: 6,
            user_index: 7,
            timestamps: TimestampFormat::RealTime,
            strips_vlan: false,
            signed: false,
            strides: None,
        };
        let input = queue_creation(Uid(3), &queue).unwrap();
        assert_eq!(input.len(), 0x110 + 2 * 8);
        assert_eq!((rq::PAGE_OFFSET.get(&input), rq::KEEPS_VLAN.get(&input)), (1, 1));
        assert_eq!(rq::TS_FORMAT.get(&input), 2);
        assert_eq!(input[0x110..], [0, 0, 0, 0, 0x70, 0, 0x10, 0, 0, 0, 0, 0, 0x70, 0, 0x20, 0]);
        assert_eq!((rq::WQ_TYPE.get(&input), rq::STRIDES.get(&input)), (1, 0));
        // `create_rq`: {10, 11, 12, 13, 14, 15, 0, 1, …, 9} from 2^3 on.
        for (log_count, expected) in [(3, 10), (8, 15), (9, 0), (16, 7)] {
            let strides = Some(Strides { log_bytes: 11, log_count, shifted: true });
            let input = queue_creation(Uid(3), &FrameQueue { strides, ..queue }).unwrap();
            assert_eq!((rq::WQ_TYPE.get(&input), rq::STRIDES.get(&input)), (3, expected));
            assert_eq!((rq::STRIDE_BYTES.get(&input), rq::TWO_BYTE_SHIFT.get(&input)), (5, 1));
        }
        let askew = FrameQueue { ring: 0x7000_1020, ..queue };
        assert_eq!(queue_creation(Uid(3), &askew), Err(Errno::EINVAL));
    }
}
