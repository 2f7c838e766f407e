//! From one queue pair to another: endpoints, paths, routes, addresses.
pub(super) mod address;
pub(super) mod deadline;
pub(super) mod ece;
pub(super) mod endpoint;
pub(super) mod path;
pub(super) mod route;
