//! The words of a WQE: big endian fields, and the 16 bytes (DS) that the device counts in.
pub(super) mod be;
pub(crate) mod bytes;
pub(super) mod ds;
