//! Objects of `sideway`, driven by blueflame. sideway hands out the C structures by `unsafe` methods; the rest is as in
//! `examples/adopt/main.rs`.

#[path = "../../../traffic.rs"]
mod traffic;

use std::error::Error;
use std::sync::Arc;

use blueflame::transport;
use blueflame::verbs::adopt::{adopt_context, adopt_cq, adopt_pd, adopt_qp};
use sideway::ibverbs::completion::{CompletionQueue, GenericCompletionQueue};
use sideway::ibverbs::device::DeviceList;
use sideway::ibverbs::queue_pair::{QueuePair, QueuePairType};

fn main() -> Result<(), Box<dyn Error>> {
    let devices = DeviceList::new()?;
    let context = devices.iter().next().ok_or("no RDMA device")?.open()?;
    let pd = context.alloc_pd()?;
    let cq = GenericCompletionQueue::from(Arc::clone(&context.create_cq_builder().setup_cqe(64).build()?));
    let mut builder = pd.create_qp_builder();
    builder.setup_qp_type(QueuePairType::ReliableConnection).setup_max_send_wr(16).setup_max_inline_data(64);
    let qp = builder.setup_send_cq(cq.clone()).setup_recv_cq(cq.clone()).build()?;

    // SAFETY: declared before the values made of them, so they are dropped after those; sideway does not post, poll or
    // arm here, and the queue pair is the only one of its context.
    let (device, domain, mut queue, mut pair) = unsafe {
        (
            adopt_context(context.context().cast())?,
            adopt_pd(pd.pd().cast())?,
            adopt_cq(cq.cq().cast())?,
            adopt_qp::<transport::Rc>(qp.qp().cast())?,
        )
    };
    traffic::run(&device, &domain, &mut pair, &mut queue)
}
