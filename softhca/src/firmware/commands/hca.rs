//! The HCA's life: a driver starts it, and stops it.

use crate::context::FetchedOrder;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::life::{Life, Stage};
use crate::firmware::state::State;
use crate::firmware::status::{Refusal, Status};

layout! {
    struct enable_hca_in: query { EMBEDDED_CPU_FUNCTION: 0x40, 1; FUNCTION_ID: 0x50, 16; }
    /// Its output, which is shorter than others.
    struct enable_hca_out: answer 0xc bytes {}
    struct disable_hca_in: query { EMBEDDED_CPU_FUNCTION: 0x40, 1; FUNCTION_ID: 0x50, 16; }
    struct disable_hca_out: answer 0xc bytes {}
    struct init_hca_in: query 0x20 bytes { SW_VHCA_ID: 0x62, 14; SW_OWNER_ID: 0x80, 128; }
    struct teardown_hca_in: query { PROFILE: 0x50, 16; }
    /// Output of `TEARDOWN_HCA`. The state is set if the device cannot stop at once; this device always can.
    struct teardown_hca_out: answer { STATE: 0x7f, 1; }
    /// `SET_DRIVER_VERSION`: a text, and zeros.
    struct set_driver_version_in: query 0x50 bytes { DRIVER_VERSION: 0x80, 512; }
}

pub(super) const COMMANDS: &[Command] = &[
    // rdma-core's driver does not know the owner's name (`mlx5_ifc_init_hca_in_bits` of its own header).
    command!(0x102, "INIT_HCA", init_hca_in, bare_out, init).with_least(0x10),
    command!(0x103, "TEARDOWN_HCA", teardown_hca_in, teardown_hca_out, teardown),
    command!(0x104, "ENABLE_HCA", enable_hca_in, enable_hca_out, enable),
    command!(0x105, "DISABLE_HCA", disable_hca_in, disable_hca_out, disable),
    command!(0x10d, "SET_DRIVER_VERSION", set_driver_version_in, bare_out, set_driver_version),
];

/// Profiles of `TEARDOWN_HCA`: when all is done, at once, or when the driver disables the interface.
const GRACEFUL: u64 = 0;
const FORCED: u64 = 1;
const FAST: u64 = 2;

/// Refuses any other function than the one that the command comes by; `embedded` is a CPU on the adapter.
pub(super) fn check_function(embedded: u64, function: u64) -> Result<(), Refusal> {
    if (embedded, function) == (0, 0) {
        return Ok(());
    }
    Err(Refusal::parameter(format!("function {function:#x} (embedded: {embedded}): there is no other")))
}

fn enable(call: &mut Call<'_>) -> Result<(), Refusal> {
    use enable_hca_in::{EMBEDDED_CPU_FUNCTION, FUNCTION_ID};
    call.check_driver()?;
    check_function(call.input.get(EMBEDDED_CPU_FUNCTION), call.input.get(FUNCTION_ID))?;
    call.state.life.check_stage(Stage::Off)?;
    call.state.life = Life::new(Stage::Enabled);
    call.device.set_fetched_order(FetchedOrder::Network);
    Ok(())
}

/// The driver has taken its pages back before, or keeps those that it does not ask for.
fn disable(call: &mut Call<'_>) -> Result<(), Refusal> {
    use disable_hca_in::{EMBEDDED_CPU_FUNCTION, FUNCTION_ID};
    call.check_driver()?;
    check_function(call.input.get(EMBEDDED_CPU_FUNCTION), call.input.get(FUNCTION_ID))?;
    call.state.life.check_stage(Stage::Enabled)?;
    call.state.life = Life::new(Stage::Off);
    Ok(())
}

fn init(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.check_driver()?;
    call.state.life.check_stage(Stage::Enabled)?;
    let missing = call.state.life.pages.for_init();
    if missing > 0 {
        return Err(Refusal::new(Status::BadSystemState, format!("{missing} pages are missing")));
    }
    let named: [u8; 16] = call.input.bytes(init_hca_in::SW_OWNER_ID);
    if call.input.get(init_hca_in::SW_VHCA_ID) != 0 || named != [0; 16] {
        return Err(Refusal::parameter("an owner; nobody else can share the HCA"));
    }
    call.state.life.stage = Stage::Initialized;
    Ok(())
}

/// All objects are gone; the driver still has to take its pages.
fn teardown(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.check_driver()?;
    call.state.life.check_stage(Stage::Initialized)?;
    match call.input.get(teardown_hca_in::PROFILE) {
        GRACEFUL => stop(call, Stage::Enabled),
        // From now on the driver sends only commands that start the HCA again.
        FORCED => stop(call, Stage::Off),
        // There is nothing to prepare: the objects go when the interface is disabled.
        FAST => {}
        other => return Err(Refusal::parameter(format!("profile {other:#x}"))),
    }
    call.output.set(teardown_hca_out::STATE, 0);
    Ok(())
}

fn stop(call: &mut Call<'_>, stage: Stage) {
    call.device.reset();
    let life = std::mem::replace(&mut call.state.life, Life::new(stage));
    *call.state = State::new(stage);
    if stage != Stage::Off {
        call.state.life.pages = life.pages;
        call.state.life.checksum = life.checksum;
    }
}

fn set_driver_version(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.check_driver()?;
    let text: [u8; 64] = call.input.bytes(set_driver_version_in::DRIVER_VERSION);
    let len = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let text = &text[..len];
    if text.is_empty() || !text.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return Err(Refusal::parameter("no text, or none of printable characters"));
    }
    let text = String::from_utf8_lossy(text).into_owned();
    log::info!("the driver is {text}");
    call.state.life.driver = Some(text);
    Ok(())
}
