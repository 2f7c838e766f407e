//! The measurement of `./run bench --device`, part by part: a queue of NOPs on a register of its own, ways to ring it,
//! and the verdict on write combining.

#[path = "../../../../benches/nic/clock.rs"]
pub(crate) mod clock;
#[path = "../../../../benches/nic/measure.rs"]
pub(crate) mod measure;
#[path = "../../../../benches/nic/queue.rs"]
pub(crate) mod queue;
#[path = "../../../../benches/nic/register.rs"]
pub(crate) mod register;
#[path = "../../../../benches/nic/verdict.rs"]
pub(crate) mod verdict;
