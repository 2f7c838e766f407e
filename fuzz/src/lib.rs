//! What the fuzz targets do with their input, apart from libFuzzer, so that the repository's tests run the seeds, too.

#[macro_use]
pub mod encode;
pub mod cqe_parse;
pub mod device_fetch;
pub mod guard;
pub mod ledger;
pub mod memory;
pub mod queue_ops;
#[expect(dead_code, reason = "shared with the tests, which use all of it")]
#[path = "../../tests/common/request.rs"]
mod request;
pub mod wqe_build;
