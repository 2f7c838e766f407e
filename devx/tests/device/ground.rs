//! The first device, which these tests stand on.

use blueflame_devx::Context;

use crate::carried_out::list_at_exit;
use crate::end::Ground;

pub(crate) fn ground() -> Ground {
    list_at_exit();
    let context = Context::open_first().expect("an mlx5 device with DevX");
    let path = context.device().path(1, None).expect("port 1");
    Ground::over(context, path)
}
