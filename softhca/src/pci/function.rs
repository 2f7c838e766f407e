//! One PCI function: its registers, and the effects of accesses to them.

use super::command_queue::Outcome;
use super::config_space::{Change, ConfigSpace};
use super::init_segment::{self, Facts, InitSegment, Request};
use super::{BAR_BYTES, FIRST_UAR, command_queue, identity};
use crate::device::Device;
use crate::event::Event;
use crate::firmware::Firmware;
use crate::resources::real_time;
use crate::runner::Step;
use crate::uar::UAR_PAGE_BYTES;
use std::time::Duration;

/// How often the health counter advances.
const HEALTH_TICK: Duration = Duration::from_millis(10);

/// The front end's part of MSI-X: it has the table that says where interrupts go.
pub trait Interrupts: Send {
    /// Raises the interrupt of this entry of the table.
    fn raise(&mut self, vector: u16);
}

/// A PCI function. It does no I/O: accesses come in by its methods, memory is reached as its device reaches it, and
/// interrupts leave by [`Interrupts`].
///
/// Commands are carried out when their doorbell rings. Other effects of an access happen in the next [`Step::step`].
/// If the function runs on a thread, wake the thread after each [`Self::write`] and [`Self::write_config`].
pub struct Function {
    config: ConfigSpace,
    segment: InitSegment,
    /// Slots whose doorbell has rung, a bit for each.
    commands: u32,
    firmware: Firmware,
    device: Device,
    interrupts: Box<dyn Interrupts>,
    now: Duration,
    /// When the device failed.
    failed_at: Option<Duration>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Function")
            .field("segment", &self.segment)
            .field("commands", &self.commands)
            .finish_non_exhaustive()
    }
}

impl Function {
    /// A function of `device`, which has no objects yet and takes doorbells from calls alone
    /// ([`crate::config::DoorbellSource::Calls`]). As after power-on, it decodes no memory and reaches none until the
    /// driver permits both in the configuration space.
    #[must_use]
    pub fn new(mut device: Device, interrupts: Box<dyn Interrupts>) -> Self {
        device.place_uars(FIRST_UAR, (BAR_BYTES / UAR_PAGE_BYTES as u64) as u32 - FIRST_UAR);
        Self {
            config: ConfigSpace::new(device.config().generation, device.config().node_guid),
            segment: InitSegment::default(),
            commands: 0,
            firmware: Firmware::at_power_on(),
            device,
            interrupts,
            now: Duration::ZERO,
            failed_at: None,
        }
    }

    /// The device behind the function.
    pub fn device(&mut self) -> &mut Device {
        &mut self.device
    }

    /// Reads the configuration space from byte `at` on. Bytes past its end read as zeros.
    pub fn read_config(&self, at: usize, out: &mut [u8]) {
        self.config.read(at, out);
    }

    /// Writes to the configuration space from byte `at` on. Bytes past its end are lost.
    pub fn write_config(&mut self, at: usize, bytes: &[u8]) {
        match self.config.write(at, bytes) {
            Some(Change::Reset) => self.reset(),
            None => {}
        }
    }

    /// Reads BAR 0 from byte `at` on. Bytes that are not decoded read as ones, and UAR pages as zeros: they are for
    /// stores.
    pub fn read(&mut self, at: u64, out: &mut [u8]) {
        if !self.config.decodes_memory() {
            return out.fill(0xff);
        }
        let facts = self.facts();
        for (index, byte) in out.iter_mut().enumerate() {
            let at = at.saturating_add(index as u64);
            *byte = match at {
                ..init_segment::BYTES => self.segment.read(at & !3, &facts).to_be_bytes()[at as usize % 4],
                init_segment::BYTES..BAR_BYTES => 0,
                BAR_BYTES.. => 0xff,
            };
        }
    }

    /// Writes to BAR 0 from byte `at` on. Bytes that are not decoded are lost. Doorbells are lost while no driver has
    /// the interface: Linux rings some after it has shut the HCA down.
    pub fn write(&mut self, at: u64, bytes: &[u8]) {
        if !self.config.decodes_memory() {
            return;
        }
        let (mut at, mut rest) = (at, bytes);
        while !rest.is_empty() && at < BAR_BYTES {
            let unit = if at < init_segment::BYTES { 4 } else { UAR_PAGE_BYTES as u64 };
            let len = rest.len().min((unit - at % unit) as usize);
            let (piece, after) = rest.split_at(len);
            if at < init_segment::BYTES {
                self.write_register(at, piece);
            } else if at >= u64::from(FIRST_UAR) * UAR_PAGE_BYTES as u64 && self.segment.queue().is_some() {
                self.device.doorbell((at / unit) as u32, (at % unit) as usize, piece);
            }
            (at, rest) = (at + len as u64, after);
        }
        // At once: a thread that has to be woken for it would double the time of a command.
        self.answer();
    }

    /// Resets the function: all objects, pages and commands are forgotten, and its registers are as at first.
    pub fn reset(&mut self) {
        log::info!("the function is reset");
        self.config.reset();
        self.segment = InitSegment::default();
        self.forget();
    }

    /// Stores `bytes` inside of one 32-bit register.
    fn write_register(&mut self, at: u64, bytes: &[u8]) {
        let (mut word, mut mask) = ([0; 4], [0; 4]);
        let within = at as usize % 4;
        word[within..within + bytes.len()].copy_from_slice(bytes);
        mask[within..within + bytes.len()].fill(0xff);
        match self.segment.write(at & !3, u32::from_be_bytes(word), u32::from_be_bytes(mask)) {
            Some(Request::Commands(slots)) => self.commands |= slots,
            // Forget the objects of an earlier driver, such as that of a crashed kernel: they would be in the way. A
            // failure stays until the firmware restarts.
            Some(Request::Begin | Request::Disable) if !self.device.has_failed() => self.forget(),
            Some(Request::Restart) => self.forget(),
            Some(Request::Begin | Request::Disable) | None => {}
        }
    }

    /// Forgets all objects of the driver. Its registers stay.
    fn forget(&mut self) {
        self.commands = 0;
        self.firmware = Firmware::at_power_on();
        self.device.reset();
        self.failed_at = None;
    }

    fn facts(&self) -> Facts {
        let generation = self.device.config().generation;
        Facts {
            firmware: identity::firmware(generation),
            hardware: identity::device(generation),
            timer: self.now.as_nanos() as u64,
            real_time: self.device.config().real_time.map_or(0, |zero| real_time(zero.saturating_add(self.now))),
            health_counter: (self.failed_at.unwrap_or(self.now).as_millis() / HEALTH_TICK.as_millis()) as u32,
            failed_at: self.failed_at.map(|at| at.as_secs() as u32),
        }
    }

    /// The device may reach memory and interrupt, and is well.
    fn works(&self) -> bool {
        self.config.masters_bus() && !self.device.has_failed()
    }

    /// Does the work that needs no clock: carries out commands, and interrupts the driver; `true` if there was a
    /// command.
    fn answer(&mut self) -> bool {
        if !self.works() {
            return false;
        }
        let worked = self.run_commands();
        self.interrupt();
        worked
    }

    /// Carries out the commands that wait, but for those that wait for pages; `true` if there were any.
    fn run_commands(&mut self) -> bool {
        let slots = std::mem::take(&mut self.commands);
        let mut worked = false;
        for slot in (0..u32::BITS).filter(|slot| slots >> slot & 1 != 0) {
            // A command may have ended all others.
            let Some(queue) = self.segment.queue() else { break };
            // A driver polls for the answer to the command that makes the event queue.
            let is_awaited = self.device.takes_event(Event::CommandDone { slots: 0 }.number());
            match command_queue::run(&mut self.device, &mut self.firmware, queue, slot) {
                Outcome::Nothing => {}
                Outcome::Waits => self.commands |= 1 << slot,
                Outcome::Answered => {
                    worked = true;
                    if is_awaited {
                        self.device.raise(Event::CommandDone { slots: 1 << slot });
                    }
                    self.ask_for_pages();
                }
            }
        }
        worked
    }

    /// Asks the driver for pages, or offers some, if it listens.
    fn ask_for_pages(&mut self) {
        let can_ask = self.device.takes_event(Event::PageRequest { function: 0, pages: 0 }.number());
        if let Some(pages) = self.firmware.page_request(&self.device, can_ask) {
            self.device.raise(Event::PageRequest { function: 0, pages });
        }
    }

    /// Interrupts the driver as its event queues demand.
    fn interrupt(&mut self) {
        while let Some(vector) = self.device.next_interrupt() {
            self.interrupts.raise(vector);
        }
        // The driver has made no event queue for it: it polls, or does not want to know.
        while let Some(event) = self.device.next_event() {
            log::debug!("no event queue takes {event:?}");
        }
    }
}

impl Step for Function {
    fn doorbell(&mut self, uar: u32, offset: usize, stored: &[u8]) {
        self.device.doorbell(uar, offset, stored);
    }

    fn step(&mut self, now: Duration) -> bool {
        self.now = self.now.max(now);
        if self.config.masters_bus() && self.device.has_failed() {
            // The device no longer answers.
            self.failed_at.get_or_insert(self.now);
            self.interrupt();
        }
        if !self.works() {
            return false;
        }
        let mut worked = self.answer();
        worked |= self.device.step(self.now);
        self.interrupt();
        worked
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.device.next_deadline()
    }

    fn next_event(&mut self) -> Option<Event> {
        // Each step has given them to the driver, or dropped them.
        None
    }
}
