//! Data that changes on its way through a key: signatures behind its blocks, and encryption.

pub(super) mod encrypted;
#[cfg(test)]
mod model_tests;
pub(super) mod signature;
pub(super) mod signed;
