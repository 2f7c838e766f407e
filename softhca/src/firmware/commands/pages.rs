//! Pages of host memory, from the driver to the device and back.

use super::hca::check_function;
use crate::firmware::call::{Call, Command, command};
use crate::firmware::layout::layout;
use crate::firmware::life::Stage;
use crate::firmware::pages::BadPage;
use crate::firmware::status::{Refusal, Status};

layout! {
    struct query_pages_in: query { EMBEDDED_CPU_FUNCTION: 0x40, 1; FUNCTION_ID: 0x50, 16; }
    /// Output of `QUERY_PAGES`: the number of pages that the device wants. The number has a sign: if it is negative,
    /// the device gives pages back.
    struct query_pages_out: answer {
        EMBEDDED_CPU_FUNCTION: 0x40, 1;
        FUNCTION_ID: 0x50, 16;
        NUM_PAGES: 0x60, 32;
    }
    /// `MANAGE_PAGES`. The pages follow that the driver gives.
    struct manage_pages_in: query {
        EMBEDDED_CPU_FUNCTION: 0x40, 1;
        FUNCTION_ID: 0x50, 16;
        INPUT_NUM_ENTRIES: 0x60, 32;
    } list of 8 bytes
    /// Output of `MANAGE_PAGES`: the pages that the driver takes.
    struct manage_pages_out: answer { OUTPUT_NUM_ENTRIES: 0x40, 32; } list of 8 bytes
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x107, "QUERY_PAGES", query_pages_in, query_pages_out, query).with_modifiers(),
    command!(0x108, "MANAGE_PAGES", manage_pages_in, manage_pages_out, manage).with_modifiers(),
];

/// Modifiers of `QUERY_PAGES`: the pages in question.
const BOOT: u16 = 1;
const INIT: u16 = 2;
const REGULAR: u16 = 3;
/// Modifiers of `MANAGE_PAGES`: the driver's action.
const CANNOT_GIVE: u16 = 0;
const GIVE: u16 = 1;
const TAKE: u16 = 2;

/// Refuses a driver that has no pages to give, since another party has brought the HCA to life.
fn check(call: &Call<'_>, embedded: u64, function: u64) -> Result<(), Refusal> {
    call.check_driver()?;
    check_function(embedded, function)?;
    match call.state.life.stage {
        Stage::Given => call.state.life.check_stage(Stage::Initialized),
        _ => Ok(()),
    }
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    use query_pages_in::{EMBEDDED_CPU_FUNCTION, FUNCTION_ID};
    check(call, call.input.get(EMBEDDED_CPU_FUNCTION), call.input.get(FUNCTION_ID))?;
    let life = &call.state.life;
    let wanted = match call.op_mod {
        BOOT => life.pages.for_boot() as i32,
        INIT => life.pages.for_init() as i32,
        REGULAR if life.stage == Stage::Initialized => life.pages.wanted(),
        REGULAR => 0,
        other => return Err(Refusal::parameter(format!("QUERY_PAGES: modifier {other:#x}"))),
    };
    call.output.set(query_pages_out::NUM_PAGES, u64::from(wanted as u32));
    Ok(())
}

fn manage(call: &mut Call<'_>) -> Result<(), Refusal> {
    use manage_pages_in::{EMBEDDED_CPU_FUNCTION, FUNCTION_ID, INPUT_NUM_ENTRIES, LAYOUT};
    check(call, call.input.get(EMBEDDED_CPU_FUNCTION), call.input.get(FUNCTION_ID))?;
    let count = call.input.get(INPUT_NUM_ENTRIES) as usize;
    let pages = &mut call.state.life.pages;
    match call.op_mod {
        CANNOT_GIVE => pages.deny(),
        GIVE => {
            let mut given = call.input.words(&LAYOUT);
            if given.len() < count {
                let reason = format!("{count} pages, and a list of {}", given.len());
                return Err(Refusal::new(Status::BadInputLength, reason));
            }
            given.truncate(count);
            // The device never touches the pages, but a driver must have them.
            let memory = call.device.host_memory();
            if let Some(&page) = given.iter().find(|&&page| memory.read(page, &mut [0]).is_err()) {
                return Err(BadPage::Address(page).into());
            }
            pages.give(&given)?;
        }
        TAKE => {
            // Room for pages in the driver's output.
            let room = (call.output.0.len() - manage_pages_out::LAYOUT.bytes) / manage_pages_out::LAYOUT.element;
            if room < count {
                let reason = format!("{count} pages, and room for {room}");
                return Err(Refusal::new(Status::BadOutputLength, reason));
            }
            let taken = pages.take(count, call.state.life.stage == Stage::Initialized);
            call.output.set(manage_pages_out::OUTPUT_NUM_ENTRIES, taken.len() as u64);
            for (index, page) in taken.iter().enumerate() {
                let at = manage_pages_out::LAYOUT.bytes + index * manage_pages_out::LAYOUT.element;
                call.output.put(at, &page.to_be_bytes());
            }
        }
        other => return Err(Refusal::parameter(format!("MANAGE_PAGES: modifier {other:#x}"))),
    }
    Ok(())
}

impl From<BadPage> for Refusal {
    fn from(bad: BadPage) -> Self {
        match bad {
            BadPage::Address(page) => Self::parameter(format!("page {page:#x}: no page of the host's")),
            BadPage::Twice(page) => Self::parameter(format!("page {page:#x}: the device has it")),
            BadPage::TooMany => Self::new(Status::LimitExceeded, "more pages than the device can use"),
        }
    }
}
