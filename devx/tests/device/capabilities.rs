//! Capabilities that the device reports, against those of verbs for the same device.
//!
//! Queries belong here, refusals for lack of a capability in `errors.rs`.

use blueflame_devx::cmd::{AtomicCaps, CmdHcaCap, CmdHcaCap2, RoceCap};
use blueflame_devx::{CapMode, Context, Error, cmd};

#[test]
fn general_capabilities_agree_with_verbs() {
    let context = Context::open_first().expect("an mlx5 device with DevX");
    let general = context.general().expect("general capabilities");
    let attr = context.device().attr();
    assert_eq!(u32::from(general.num_ports()), u32::from(attr.ports));
    // Linux reckons with requests of four WQEBBs.
    assert_eq!((1_u32 << general.log_max_qp_sz()) / 4, attr.max_qp_wr);
    assert_eq!(general.atomic(), attr.atomics);
    assert!(general.bf() && general.log_bf_reg_size() == 9, "{general:?}");
    let most = context.capabilities::<CmdHcaCap>(CapMode::Max).expect("the most");
    assert!(most.log_max_qp() >= general.log_max_qp());
}

#[test]
fn other_sets_are_told_or_refused() {
    let context = Context::open_first().expect("an mlx5 device with DevX");
    for told in [
        context.capabilities::<CmdHcaCap2>(CapMode::Current).map(drop),
        context.capabilities::<AtomicCaps>(CapMode::Current).map(drop),
        context.capabilities::<RoceCap>(CapMode::Current).map(drop),
    ] {
        match told {
            Ok(()) => {}
            Err(Error::Command(error)) => assert_eq!(error.status, cmd::Status::BAD_PARAM_ERR, "{error}"),
            Err(other) => panic!("{other}"),
        }
    }
}
