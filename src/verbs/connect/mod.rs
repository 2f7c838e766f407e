//! From one queue pair to another: endpoints, paths, routes, and the handshake.
pub(super) mod address;
mod deadline;
pub(super) mod endpoint;
pub mod handshake;
pub(super) mod path;
pub(super) mod route;
