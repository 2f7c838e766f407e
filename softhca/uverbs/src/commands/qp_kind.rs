//! `QP_CREATE`, by the kind of object: targets are QPs to a program only.

use super::request::Request;
use super::{dct, qp, rss, xrc_target};
use crate::abi::UHW_IN;
use crate::abi::mlx5::{CreateQp, qp_flag};
use crate::context::Context;
use crate::process::Errno;
use std::sync::Arc;

/// `QP_CREATE`: attributes as [`qp::create`] has them.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    if request.optional_handle(6).is_some() {
        return rss::create(context, request);
    }
    let driver: CreateQp = request.input(UHW_IN)?;
    match request.input(9)? {
        qp::OF_DRIVER if driver.flags & qp_flag::TYPE_DCT != 0 => dct::create(context, request),
        xrc_target::TARGET => xrc_target::create_target(context, request),
        _ => qp::create(context, request),
    }
}
