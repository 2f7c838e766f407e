//! Whole mailboxes, byte by byte, written out by hand after the layouts of Linux' `include/linux/mlx5/mlx5_ifc.h`: what
//! setters write, where, and that they write nothing else.
//!
//! The bytes of a whole mailbox belong here. Single fields belong in `layouts.rs`.

use blueflame::types::{Cqn, Psn, Qpn};
use blueflame_devx::cmd::{
    AccessMode, CapabilitySelector, CapabilitySet, CqeSize, CreateCqIn, CreateMkeyIn, CreateQpIn, Init2rtrQpIn, Klm,
    PathMigration, PathMtu, Pdn, QueryHcaCapIn, RqType, ServiceType, UarPage, UmemId,
};
use blueflame_devx::mailbox::{List, Structure};

/// The bytes that are not zero: where a run begins, and the run.
fn runs(bytes: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut runs: Vec<(usize, Vec<u8>)> = Vec::new();
    for (at, &byte) in bytes.iter().enumerate().filter(|&(_, &byte)| byte != 0) {
        match runs.last_mut() {
            Some((start, run)) if *start + run.len() == at => run.push(byte),
            _ => runs.push((at, vec![byte])),
        }
    }
    runs
}

#[test]
fn query_hca_cap() {
    let mut inbox = QueryHcaCapIn::new();
    inbox.set_op_mod(CapabilitySelector { set: CapabilitySet::ROCE, current: true });
    // QUERY_HCA_CAP is 0x100; the set is above the bit that says "current".
    assert_eq!(inbox.as_bytes(), [1, 0, 0, 0, 0, 0, 0, 4 << 1 | 1, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn create_cq() {
    let mut inbox = CreateCqIn::new();
    inbox.set_cq_umem_valid(true).set_cq_umem_id(UmemId::new(0x0a0b_0c0d).expect("32 bits")).set_cq_umem_offset(0x3000);
    let context = inbox.cq_context_mut();
    context
        .set_cqe_sz(CqeSize::BYTES_128)
        .set_oi(true)
        .set_page_offset(0x21)
        .set_log_cq_size(10)
        .set_uar_page(UarPage::new(0x12_3456).expect("24 bits"))
        .set_c_eqn_or_apu_element(7)
        .set_dbr_umem_valid(true)
        .set_dbr_umem_id(UmemId::new(0x0a0b_0c0d).expect("32 bits"))
        .set_dbr_addr(0x48);
    assert_eq!(
        runs(inbox.as_bytes()),
        [
            (0x00, vec![0x04]),                   // opcode 0x400
            (0x10, vec![0x02, 0x22]),             // dbr_umem_valid; cqe_sz 1 of 3 bits at 8, oi at 14
            (0x14, vec![0x0a, 0x0b, 0x0c, 0x0d]), // dbr_umem_id
            // page_offset 0x21, six bits at 0x54; log_cq_size; uar_page
            (0x1a, vec![0x08, 0x40, 0x0a, 0x12, 0x34, 0x56]),
            (0x27, vec![0x07]),                         // c_eqn
            (0x4f, vec![0x48]),                         // dbr_addr
            (0x56, vec![0x30]),                         // cq_umem_offset
            (0x58, vec![0x0a, 0x0b, 0x0c, 0x0d, 0x80]), // cq_umem_id, cq_umem_valid
        ]
    );
}

#[test]
fn create_qp() {
    let mut inbox = CreateQpIn::new();
    inbox.set_wq_umem_valid(true).set_wq_umem_id(UmemId::new(9).expect("32 bits")).set_wq_umem_offset(0x1000);
    inbox
        .qpc_mut()
        .set_st(ServiceType::UC)
        .set_pm_state(PathMigration::MIGRATED)
        .set_pd(Pdn::new(0x00_0102).expect("24 bits"))
        .set_uar_page(UarPage::new(5).expect("24 bits"))
        .set_user_index(0xff_ffff)
        .set_cqn_snd(Cqn::truncate(0x11))
        .set_cqn_rcv(Cqn::truncate(0x22))
        .set_log_sq_size(6)
        .set_log_rq_size(5)
        .set_log_rq_stride(1)
        .set_page_offset(3)
        .set_rq_type(RqType::ZERO_SIZE)
        .set_dbr_umem_valid(true)
        .set_dbr_umem_id(UmemId::new(9).expect("32 bits"))
        .set_dbr_addr(0x208);
    // The context begins at byte 0x18.
    assert_eq!(
        runs(inbox.as_bytes()),
        [
            (0x00, vec![0x05]),             // opcode 0x500
            (0x19, vec![0x01, 0x18]),       // st, pm_state 3 of 2 bits at 0x13
            (0x1e, vec![0x01, 0x02]),       // pd
            (0x21, vec![0x29, 0x30]),       // log_rq_size 5 at 0x49, log_rq_stride 1 at 0x4d; log_sq_size 6 at 0x51
            (0x27, vec![0x05]),             // uar_page
            (0x29, vec![0xff, 0xff, 0xff]), // user_index
            (0x97, vec![0x11]),             // cqn_snd at 0x3e8
            (0xab, vec![0xc0]),             // page_offset 3: six bits at 0x494, of which the last two are here
            (0xb7, vec![0x22]),             // cqn_rcv at 0x4e8
            (0xbe, vec![0x02, 0x08]),       // dbr_addr
            (0xc4, vec![0x03]),             // rq_type 3 of 3 bits at 0x565
            (0xe8, vec![0x10]),             // dbr_umem_valid at 0x683
            (0xff, vec![0x09]),             // dbr_umem_id at 0x720
            (0x106, vec![0x10]),            // wq_umem_offset
            (0x10b, vec![0x09, 0x80]),      // wq_umem_id, wq_umem_valid
        ]
    );
}

#[test]
fn init2rtr_qp() {
    let mut inbox = Init2rtrQpIn::new();
    inbox.set_qpn(Qpn::truncate(0x123)).set_opt_param_mask(0xe);
    let context = inbox.qpc_mut();
    context
        .set_mtu(PathMtu::BYTES_1024)
        .set_log_msg_max(30)
        .set_remote_qpn(Qpn::truncate(0x456))
        .set_next_rcv_psn(Psn::truncate(0x78_9abc))
        .set_min_rnr_nak(12)
        .set_log_rra_max(4)
        .set_rwe(true);
    let path = context.primary_address_path_mut();
    path.set_rmac_47_32(0x0102).set_rmac_31_0(0x0304_0506).set_udp_sport(0xc123).set_vhca_port_num(1).set_hop_limit(64);
    path.rgid_rip_mut()[15] = 0xee;
    assert_eq!(
        runs(inbox.as_bytes()),
        [
            (0x00, vec![0x05, 0x03]),                               // opcode
            (0x0a, vec![0x01, 0x23]),                               // qpn
            (0x13, vec![0x0e]),                                     // opt_param_mask
            (0x20, vec![0x7e]),                                     // mtu 3, log_msg_max 30
            (0x2e, vec![0x04, 0x56]),                               // remote_qpn
            (0x3b, vec![0x40]),                                     // hop_limit: the path begins at 0x30
            (0x4f, vec![0xee]),                                     // rgid_rip
            (0x52, vec![0xc1, 0x23]),                               // udp_sport at 0x110
            (0x55, vec![0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06]), // vhca_port_num, rmac
            (0xa9, vec![0x80, 0x40]),                               // log_rra_max 4 of 3 bits at 0x488; rwe at 0x491
            (0xac, vec![0x0c, 0x78, 0x9a, 0xbc]),                   // min_rnr_nak, next_rcv_psn
        ]
    );
}

#[test]
fn create_mkey_of_pieces() {
    let mut inbox = List::<CreateMkeyIn, Klm>::new(CreateMkeyIn::new().set_translations_octword_actual_size(1));
    let context = inbox.memory_key_mkey_entry_mut();
    context
        .set_access_mode(AccessMode::KLMS)
        .set_lr(true)
        .set_rw(true)
        .set_qpn(Qpn::truncate(0xff_ffff))
        .set_mkey_7_0(0x42);
    inbox.push(Klm::zeroed().set_byte_count(0x1000).set_mkey(0xabcd_ef42).set_address(0x7f00_0000_1000));
    assert_eq!(
        runs(inbox.as_bytes()),
        [
            (0x00, vec![0x02]),                    // opcode 0x200
            (0x12, vec![0x26]),                    // rw, lr; access_mode_1_0 2 at 0x16
            (0x14, vec![0xff, 0xff, 0xff, 0x42]),  // qpn, mkey_7_0
            (0x63, vec![0x01]),                    // translations_octword_actual_size
            (0x112, vec![0x10]),                   // byte_count: the list begins at 0x110
            (0x114, vec![0xab, 0xcd, 0xef, 0x42]), // mkey
            (0x11a, vec![0x7f]),                   // address
            (0x11e, vec![0x10]),
        ]
    );
}

/// Fields that are new, moved or wider in Linux 7.2.
#[test]
fn create_mkey_of_large_pages() {
    let mut inbox = CreateMkeyIn::new();
    inbox.set_data_direct(true).memory_key_mkey_entry_mut().set_log_page_size(33).set_crossing_target_vhca_id(0x1234);
    assert_eq!(
        runs(inbox.as_bytes()),
        [
            (0x00, vec![0x02]),       // opcode 0x200
            (0x0c, vec![0x20]),       // data_direct at 0x62
            (0x40, vec![0x12, 0x34]), // crossing_target_vhca_id at 0x180 of the context, which begins at byte 0x10
            (0x4b, vec![0x21]),       // log_page_size 33: six bits at 0x1da
        ]
    );
}

#[test]
#[should_panic(expected = "log_cq_size is 0x20, but the field has 5 bits")]
fn a_value_that_does_not_fit_does_not_become_another() {
    CreateCqIn::new().cq_context_mut().set_log_cq_size(32);
}
