//! Negative controls: with each fault of the program, a schedule breaks a rule. Faults belong here, schedules in
//! `schedules.rs`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::faults::{Fault, Function, made, make};
use crate::schedules::{
    arms, every_schedule, posts_a_batch, posts_and_copies, posts_and_polls, receives_one_by_one, receives_out_of_order,
    resizes,
};

/// The stores of a WQE, of a receive, of a record, of a consumer index, of a link of the free list, of a register.
const WQE: Function = ("src/arch/wide.rs", "store");
const WQE_BY_WORDS: Function = ("src/arch/ds.rs", "store");
const RECEIVE: Function = ("recv/scatter.rs", "store_words");
const RECORD: Function = ("db/record.rs", "store");
const CQ_RECORD: Function = ("cq/completion_queue.rs", "store_record");
const LINK: Function = ("recv/shared.rs", "retire_index");
const REGISTER: Function = ("arch/copy.rs", "copy_held");
const ARM: Function = ("cq/completion_queue.rs", "arm");
/// The load of a CQE's word with the owner bit.
const OWNER: Function = ("cq/ring.rs", "load_tail");

/// Some schedule breaks a rule with the fault.
fn breaks(fault: Fault, schedules: fn()) {
    make(Some(fault));
    let broken = catch_unwind(AssertUnwindSafe(|| every_schedule(schedules))).is_err();
    assert!(made() > 0, "{fault:?} was not made");
    assert!(broken, "{fault:?}, made {} times, breaks no rule", made());
    make(None);
}

macro_rules! controls {
    ($($name:ident: $schedules:ident $fault:expr;)*) => {$(
        #[test]
        fn $name() {
            breaks($fault, $schedules);
        }
    )*};
}

const fn lacks(barrier: &'static str, function: Function) -> Fault {
    Fault::Lacks { barrier, function }
}

const fn late(function: Function, behind: Function) -> Fault {
    Fault::Late { function, behind }
}

const EARLY: Fault = Fault::Early { function: OWNER };

controls! {
    a_post_has_a_barrier: posts_and_polls lacks("to_device", ("send/post.rs", "publish"));
    a_batch_has_a_barrier: posts_a_batch lacks("to_device", ("send/post.rs", "publish"));
    a_doorbell_has_a_barrier: posts_a_batch lacks("mmio_wc_start", ("db/exclusive.rs", "ring_doorbell"));
    polling_has_a_barrier: posts_and_polls lacks("from_device", ("cq/completion_queue.rs", "barrier"));
    copying_has_a_barrier: posts_and_copies lacks("from_device", ("cq/completion_queue.rs", "barrier"));
    the_wqe_precedes_the_record: posts_and_polls late(WQE, RECORD);
    the_wqes_of_a_batch_precede_the_record: posts_a_batch late(WQE_BY_WORDS, RECORD);
    the_record_precedes_the_doorbell: posts_and_polls late(RECORD, REGISTER);
    the_owner_precedes_the_rest_of_a_cqe: posts_and_polls EARLY;
    the_owner_precedes_the_rest_of_a_copied_cqe: posts_and_copies EARLY;
    the_consumer_index_precedes_the_next_post: posts_and_polls late(CQ_RECORD, RECORD);
    a_receive_has_a_barrier: receives_one_by_one lacks("to_device", ("recv/shared.rs", "ring_doorbell"));
    received_data_has_a_barrier: receives_out_of_order lacks("from_device", ("cq/completion_queue.rs", "barrier"));
    the_receive_precedes_its_record: receives_one_by_one late(RECEIVE, RECORD);
    the_link_precedes_the_record_of_its_wqe: receives_one_by_one late(LINK, RECORD);
    the_owner_precedes_received_fields: receives_one_by_one EARLY;
    the_consumer_index_precedes_the_next_receive: receives_one_by_one late(CQ_RECORD, RECORD);
    the_consumer_index_after_a_resize_precedes_the_next_post: resizes late(CQ_RECORD, RECORD);
    arming_has_a_barrier: arms lacks("mmio_wc_start", ("cq/completion_queue.rs", "arm"));
    the_record_precedes_the_doorbell_that_arms: arms late(CQ_RECORD, ARM);
}
