//! Twins of XRC and of dynamic connections: both post to one destination.

use blueflame::WrId;
use blueflame::transport::{Dci, XrcInitiator};
use blueflame::types::{DcKey, Psn};
use blueflame::verbs::{Buffer, OwnedSrq};
use blueflame::wqe::{self, Fence, Sge};

use super::pair::Sizes;
use super::request::{Data, Request, To, Verb, WAYS, Way};
use super::twin::{RELIABLE, TAKEN, Twins, reliable};
use crate::doctor::found::{Failure, Seen};
use crate::doctor::lab::{DEPTH, Lab, pattern};

/// Posts the receives that both twins take. Nothing polls them.
fn receives(srq: &mut OwnedSrq, memory: &Buffer) -> Result<(), Failure> {
    for n in 0..2 * TAKEN * WAYS.len() as u64 {
        // SAFETY: the memory is registered longer than the queue lives.
        unsafe { srq.post_unchecked(WrId(n), &[memory.sge()]) }?;
    }
    Ok(())
}

pub(super) fn xrc(lab: &Lab) -> Result<Seen, Failure> {
    let path = lab.path()?;
    let memory = lab.memory(4096)?;
    let domain = lab.device().xrc_domain()?;
    let received = lab.device().completion_queue(DEPTH).build()?;
    let mut srq = lab.pd().xrc_shared_recv_queue(&domain, received.handle(), DEPTH, 1)?;
    receives(&mut srq, &memory)?;
    // A target is connected with one initiator.
    let targets = [domain.target()?, domain.target()?];
    let mut twins = Twins::<XrcInitiator>::new(lab, Sizes::default(), |n, pair| {
        let target = &targets[n];
        let here = pair.qp.endpoint_with(&path, Psn::truncate(0xff_fff0));
        let there = target.endpoint(&path);
        target.qp().to_init(&path)?;
        target.connect(&path, &there, &here)?;
        pair.qp.to_init(&path)?;
        Ok(pair.sq.connect(&path, &here, &there)?)
    })?;
    let srqn = srq.handle().srqn();
    for way in WAYS {
        reliable!(lab, &mut twins, way, To::Shared(srqn), srqn)?;
    }
    Ok(Seen::new(format!("{RELIABLE}, by both of libmlx5's ways")).figure("requests", twins.posted))
}

pub(super) fn dc(lab: &Lab) -> Result<Seen, Failure> {
    const KEY: DcKey = DcKey(0x0123_4567_89ab_cdef);
    let path = lab.path()?;
    let memory = lab.memory(4096)?;
    let received = lab.device().completion_queue(DEPTH).build()?;
    let mut srq = lab.pd().shared_recv_queue(DEPTH, 1)?;
    receives(&mut srq, &memory)?;
    let target = lab.pd().target(&received, srq.handle()).build(&path, KEY)?;
    let mut twins = Twins::<Dci>::new(lab, Sizes::default(), |_, pair| Ok(pair.activate(&path)?))?;
    let handle = lab.pd().address(&path.route(&target.endpoint(&path))?)?;
    let to = handle.target(target.dctn(), target.key());
    // `ibv_post_send` has no dynamic connections.
    reliable!(lab, &mut twins, Way::Builders, To::Target(&handle, target.dctn(), KEY), to)?;
    Ok(Seen::new(RELIABLE).figure("requests", twins.posted))
}
