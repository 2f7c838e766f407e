//! Users of the device: each has a number, which commands on its behalf carry.

use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::capabilities::user_caps;
use crate::firmware::layout::layout;
use crate::firmware::owners::Uid;
use crate::firmware::status::{Refusal, Status};

layout! {
    /// The rights of a user.
    struct uctx: 0x30 bytes { CAP: 0x0, 32; }
    struct create_uctx_in: query 0x40 bytes {} parts { UCTX: 0x80, uctx; }
    struct create_uctx_out: answer { UID: 0x50, 16; }
    struct destroy_uctx_in: query { UID: 0x50, 16; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0xa04, "CREATE_UCTX", create_uctx_in, create_uctx_out, create),
    command!(0xa06, "DESTROY_UCTX", destroy_uctx_in, bare_out, destroy),
];

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.check_driver()?;
    let caps = call.input.part(create_uctx_in::UCTX).get32(uctx::CAP);
    let known = user_caps(call.device.config());
    if caps & !known != 0 {
        return Err(Refusal::parameter(format!("capabilities {caps:#x}, of which only {known:#x} exist")));
    }
    let uid = call.state.owners.add_user(caps);
    let uid = uid.ok_or_else(|| Refusal::new(Status::NoResources, "no numbers for users are left"))?;
    call.output.set(create_uctx_out::UID, uid.0.into());
    Ok(())
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.check_driver()?;
    // No user has the driver's number.
    call.state.owners.remove_user(Uid(call.input.get32(destroy_uctx_in::UID) as u16))
}

#[cfg(test)]
mod tests {
    use crate::firmware::Status;
    use crate::firmware::test_bench::Bench;

    #[test]
    fn a_user_is_there_until_it_is_destroyed() {
        let mut bench = Bench::new();
        let mut create = [0; 0x40];
        create[..2].copy_from_slice(&[0x0a, 4]);
        let uid = bench.execute(&create, 0x10).expect("a user")[11];
        let alloc_pd = |uid: u8| [8, 0, 0, uid, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let free_pd = |uid: u8, pd: u8| [8, 1, 0, uid, 0, 0, 0, 0, 0, 0, 0, pd, 0, 0, 0, 0];
        let destroy = |uid: u8| [0x0a, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, uid, 0, 0, 0, 0];
        let pd = bench.execute(&alloc_pd(uid), 0x10).expect("a domain of the user")[11];
        assert_eq!(bench.execute(&destroy(0), 0x10), Err(Status::BadResource), "the driver");
        assert_eq!(bench.execute(&destroy(uid + 1), 0x10), Err(Status::BadResource));
        assert_eq!(bench.execute(&destroy(uid), 0x10), Err(Status::ResourceBusy), "the domain is its");
        assert!(bench.execute(&free_pd(uid, pd), 0x10).is_ok());
        assert!(bench.execute(&destroy(uid), 0x10).is_ok());
        assert_eq!(bench.execute(&destroy(uid), 0x10), Err(Status::BadResource), "again");
        assert_eq!(bench.execute(&alloc_pd(uid), 0x10), Err(Status::BadResource));
        // Unknown rights.
        create[0x10] = 0x80;
        assert_eq!(bench.execute(&create, 0x10), Err(Status::BadParameter));
    }
}
