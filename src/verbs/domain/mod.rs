//! Protection domains, thread domains, XRC domains: who may use memory, and where rings, records and registers are.
pub(super) mod area;
pub(super) mod placement;
pub(super) mod protection;
pub(super) mod register;
pub(super) mod thread;
pub(super) mod xrc;
