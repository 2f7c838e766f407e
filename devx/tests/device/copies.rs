//! Copies of memory, by queue pairs that commands have made. Devices of older generations make none.
//!
//! Copies belong here, keys of memory in `memory.rs`.

use blueflame::cq::Side;
use blueflame::transport::Rc;
use blueflame::types::WrId;
use blueflame::wqe::operations::Opaque;
use blueflame::wqe::{self};
use blueflame_devx::Error;
use blueflame_devx::object::Uar;

use crate::end::End;
use crate::ground::ground;

#[test]
fn memory_is_copied_by_who_was_made_for_it() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 64).build().expect("a completion queue");
    let builder = ground.pd.queue_pair::<Rc>(&ground.rings, &cq, &cq).memcpy(true);
    let built = builder.sends(16).receives(16).build_on(uar);
    let max_bytes = match ground.context.max_memcpy() {
        Ok(bytes) => bytes,
        Err(error) => {
            assert_eq!(error.to_string(), "the device's cmd_hca_cap.dma_mmo_sq or dma_mmo_qp is 0, but 1 is needed");
            assert!(matches!(built, Err(Error::Capability { .. })), "{built:?}");
            return;
        }
    };
    assert_eq!(max_bytes, ground.context.device().attr().max_memcpy, "as libmlx5 says");
    let mut end = End::over(&ground, built.expect("a queue pair"), cq);
    let itself = end.pair.qp.endpoint(&ground.path);
    end.pair.qp.to_init(&ground.path).expect("INIT");
    end.pair.connect(&ground.path, &itself, &itself).expect("RTS");
    let message: Vec<u8> = (0..5000_u32).map(|n| (n * 7) as u8).collect();
    end.buffer.write(0, &message);
    let opaque = Opaque { addr: end.buffer.addr() + 60_032, lkey: end.buffer.lkey(), max_bytes };
    let copy = wqe::memcpy(opaque, end.buffer.sge_of(0..5000), end.buffer.addr() + 10_001, end.buffer.lkey());
    end.post(&copy.signaled(WrId(1)));
    assert_eq!(end.completion(), (Side::Requester, WrId(1), 5000));
    assert_eq!(end.bytes(15_002)[10_001..], [&message[..], &[0]].concat());
}
