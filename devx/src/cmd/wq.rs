//! Work queues: the context that receive and send queues, pools and XRQs share.

use super::{Pdn, UarPage, UmemId};
use crate::mailbox::{names, structures};

names! {
    /// How a work queue is laid out (`wq.wq_type`).
    pub struct WqType(u8) {
        LINKED_LIST = 0x0,
        CYCLIC = 0x1,
        LINKED_LIST_STRIDING_RQ = 0x2,
        CYCLIC_STRIDING_RQ = 0x3,
    }
}

structures! {
    /// Work queue.
    pub struct Wq: "wq", 0x600 {
        wq_type: 0x0, 4, WqType;
        wq_signature: 0x4, 1, bool;
        end_padding_mode: 0x5, 2, u8;
        cd_slave: 0x7, 1, bool;
        hds_skip_first_sge: 0x20, 1, bool;
        log2_hds_buf_size: 0x21, 3, u8;
        page_offset: 0x2b, 5, u8;
        lwm: 0x30, 16, u16;
        pd: 0x48, 24, Pdn;
        uar_page: 0x68, 24, UarPage;
        dbr_addr: 0x80, 64, u64;
        hw_counter: 0xc0, 32, u32;
        sw_counter: 0xe0, 32, u32;
        log_wq_stride: 0x10c, 4, u8;
        log_wq_pg_sz: 0x113, 5, u8;
        log_wq_sz: 0x11b, 5, u8;
        dbr_umem_valid: 0x120, 1, bool;
        wq_umem_valid: 0x121, 1, bool;
        log_hairpin_num_packets: 0x123, 5, u8;
        log_hairpin_data_sz: 0x12b, 5, u8;
        log_wqe_num_of_strides: 0x134, 4, u8;
        two_byte_shift_en: 0x138, 1, bool;
        log_wqe_stride_size: 0x13d, 3, u8;
        dbr_umem_id: 0x140, 32, UmemId;
        wq_umem_id: 0x160, 32, UmemId;
        wq_umem_offset: 0x180, 64, u64;
        headers_mkey: 0x1c0, 32, u32;
        shampo_enable: 0x1e0, 1, bool;
        shampo_mode: 0x1e2, 2, u8;
        log_reservation_size: 0x1e5, 3, u8;
        log_max_num_of_packets_per_reservation: 0x1ed, 3, u8;
        log_headers_entry_size: 0x1f6, 2, u8;
        log_headers_buffer_entry_num: 0x1fc, 4, u8;
    }
}
