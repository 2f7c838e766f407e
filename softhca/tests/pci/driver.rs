//! A driver of a PCI function: registers, the command queue, and how an HCA is started and stopped.

use crate::memory::{BASE, Memory};
use softhca::config::{DeviceConfig, DoorbellSource, PortConfig};
use softhca::device::Device;
use softhca::pci::{Function, Interrupts};
use softhca::runner::Step;
use softhca::wire::Address;
use softhca::wire::in_process::Fabric;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The layout of the host's memory: command queue, mailboxes of inputs and of outputs, pages for the device, and the
/// rest for objects.
pub(crate) const QUEUE: u64 = BASE + 0x1000;
pub(crate) const IN_BOXES: u64 = BASE + 0x10_0000;
pub(crate) const OUT_BOXES: u64 = BASE + 0x20_0000;
pub(crate) const PAGES: u64 = BASE + 0x40_0000;
pub(crate) const OBJECTS: u64 = BASE + 0xc0_0000;
/// Bytes from one mailbox to the next.
pub(crate) const BOX_STRIDE: u64 = 1024;

/// Registers in BAR 0.
pub(crate) const QUEUE_HIGH: u64 = 0x10;
pub(crate) const QUEUE_LOW: u64 = 0x14;
pub(crate) const DOORBELL: u64 = 0x18;

/// Numbers of commands.
pub(crate) const QUERY_HCA_CAP: u16 = 0x100;
pub(crate) const INIT_HCA: u16 = 0x102;
pub(crate) const TEARDOWN_HCA: u16 = 0x103;
pub(crate) const ENABLE_HCA: u16 = 0x104;
pub(crate) const DISABLE_HCA: u16 = 0x105;
pub(crate) const QUERY_PAGES: u16 = 0x107;
pub(crate) const MANAGE_PAGES: u16 = 0x108;
pub(crate) const SET_HCA_CAP: u16 = 0x109;
pub(crate) const QUERY_ISSI: u16 = 0x10a;
pub(crate) const SET_ISSI: u16 = 0x10b;
pub(crate) const ALLOC_PD: u16 = 0x800;
pub(crate) const DEALLOC_PD: u16 = 0x801;
pub(crate) const ALLOC_UAR: u16 = 0x802;
pub(crate) const ALLOC_FLOW_COUNTER: u16 = 0x939;

/// Why a command failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It did not get to the firmware.
    Delivery(u8),
    /// The firmware refused it.
    Status(u8),
    /// The slot is the device's yet.
    NoAnswer,
}

/// Statuses.
pub(crate) const BAD_PARAM: Failure = Failure::Status(0x03);
pub(crate) const BAD_SYS_STATE: Failure = Failure::Status(0x04);
pub(crate) const NO_RESOURCES: Failure = Failure::Status(0x0f);

#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Vec<u16>>>);

impl Raised {
    /// Takes all.
    pub(crate) fn take(&self) -> Vec<u16> {
        std::mem::take(&mut self.0.lock().expect("nobody has panicked"))
    }
}

impl Interrupts for Raised {
    fn raise(&mut self, vector: u16) {
        self.0.lock().expect("nobody has panicked").push(vector);
    }
}

pub(crate) struct Driver {
    pub(crate) function: Function,
    pub(crate) memory: Memory,
    pub(crate) raised: Raised,
    now: Duration,
    token: u8,
    /// It signs slots and mailboxes.
    pub(crate) signs: bool,
    /// Numbers of the pages that the device has.
    pub(crate) given: Vec<u64>,
    next_page: u64,
}

/// The command's number in a mailbox of `bytes` bytes, and its modifier.
pub(crate) fn mailbox(opcode: u16, op_mod: u16, bytes: usize) -> Vec<u8> {
    let mut input = vec![0; bytes];
    input[..2].copy_from_slice(&opcode.to_be_bytes());
    input[6..8].copy_from_slice(&op_mod.to_be_bytes());
    input
}

/// The big-endian number at byte `at`.
pub(crate) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn xor(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum ^ byte)
}

impl Driver {
    /// A function as it is after power-on, of an Ethernet device.
    pub(crate) fn new() -> Self {
        let memory = Memory::new();
        let config =
            DeviceConfig { doorbells: DoorbellSource::Calls, ..DeviceConfig::with_port(PortConfig::ethernet(1)) };
        let gids = config.ports[0].gids.clone();
        let wire = Fabric::new().attach(Address { qpns: 0x100..0x1_0000, lids: vec![], gids }).expect("a wire");
        let device = Device::new(config, Box::new(memory.0.clone()), Box::new(wire)).expect("a device");
        let raised = Raised::default();
        Self {
            function: Function::new(device, Box::new(raised.clone())),
            memory,
            raised,
            now: Duration::ZERO,
            token: 0,
            signs: false,
            given: Vec::new(),
            next_page: PAGES,
        }
    }

    /// A function whose driver has told it where the command queue is.
    pub(crate) fn started() -> Self {
        let mut driver = Self::new();
        driver.start();
        driver
    }

    /// A function whose HCA is initialized.
    pub(crate) fn initialized() -> Self {
        let mut driver = Self::started();
        driver.initialize();
        driver
    }

    /// Memory and bus mastering on; the address of the command queue.
    pub(crate) fn start(&mut self) {
        self.function.write_config(4, &[6, 0]);
        self.store(QUEUE_HIGH, (QUEUE >> 32) as u32);
        self.store(QUEUE_LOW, QUEUE as u32);
    }

    /// `ENABLE_HCA` to `INIT_HCA`, as Linux sends them.
    pub(crate) fn initialize(&mut self) {
        self.run(ENABLE_HCA, 0, 0x10, 0x10).expect("ENABLE_HCA");
        let issi = self.run(QUERY_ISSI, 0, 0x10, 0x70).expect("QUERY_ISSI");
        assert_eq!(word(&issi, 0x6c) & 2, 2, "interface 1");
        let mut set = mailbox(SET_ISSI, 0, 0x10);
        set[0xb] = 1;
        self.command(&set, 0x10).expect("SET_ISSI");
        self.satisfy(1);
        self.choose_signatures(0).expect("SET_HCA_CAP");
        self.satisfy(2);
        self.run(INIT_HCA, 0, 0x20, 0x10).expect("INIT_HCA");
    }

    /// Sets the capabilities that are in use, with another choice of signatures.
    pub(crate) fn choose_signatures(&mut self, choice: u8) -> Result<(), Failure> {
        let current = self.run(QUERY_HCA_CAP, 1, 0x10, 0x1010)?;
        let mut set = mailbox(SET_HCA_CAP, 0, 0x10);
        set.extend(&current[0x10..]);
        // Bits 0x210 and 0x211 of the set.
        set[0x10 + 0x42] = set[0x10 + 0x42] & 0x3f | choice << 6;
        self.command(&set, 0x10).map(drop)
    }

    /// Gives the pages that the device asks for: to boot (1), or to be initialized (2).
    pub(crate) fn satisfy(&mut self, which: u16) -> u32 {
        let wanted = word(&self.run(QUERY_PAGES, which, 0x10, 0x10).expect("QUERY_PAGES"), 0xc);
        self.give(wanted as usize).expect("MANAGE_PAGES");
        wanted
    }

    /// Gives `count` pages that no device has.
    pub(crate) fn give(&mut self, count: usize) -> Result<(), Failure> {
        let pages: Vec<u64> = (0..count as u64).map(|page| self.next_page + page * 4096).collect();
        self.give_these(&pages)?;
        self.next_page += count as u64 * 4096;
        self.given.extend(pages);
        Ok(())
    }

    pub(crate) fn give_these(&mut self, pages: &[u64]) -> Result<(), Failure> {
        let mut input = mailbox(MANAGE_PAGES, 1, 0x10);
        input[0xc..0x10].copy_from_slice(&(pages.len() as u32).to_be_bytes());
        input.extend(pages.iter().flat_map(|page| page.to_be_bytes()));
        self.command_in(31, &input, 0x10).map(drop)
    }

    /// Takes up to `count` pages back.
    pub(crate) fn take(&mut self, count: usize) -> Result<usize, Failure> {
        let mut input = mailbox(MANAGE_PAGES, 2, 0x10);
        input[0xc..0x10].copy_from_slice(&(count as u32).to_be_bytes());
        let output = self.command_in(31, &input, 0x10 + 8 * count)?;
        let taken = word(&output, 8) as usize;
        for page in output[0x10..].chunks(8).take(taken) {
            let page = u64::from_be_bytes(page.try_into().expect("eight bytes"));
            let index = self.given.iter().position(|&given| given == page).expect("a page that was given");
            self.given.swap_remove(index);
        }
        Ok(taken)
    }

    /// Takes all back, as Linux does when it stops the HCA.
    pub(crate) fn take_all(&mut self) {
        while !self.given.is_empty() {
            assert_ne!(self.take(100).expect("MANAGE_PAGES"), 0, "{} pages are left", self.given.len());
        }
    }

    /// Lets the function work.
    pub(crate) fn step(&mut self) {
        self.now += Duration::from_micros(10);
        for _ in 0..1000 {
            if !self.function.step(self.now) {
                return;
            }
        }
        panic!("the function always has work");
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, time: Duration) {
        self.now += time;
        self.step();
    }

    pub(crate) fn store(&mut self, at: u64, word: u32) {
        self.function.write(at, &word.to_be_bytes());
    }

    pub(crate) fn load(&mut self, at: u64) -> u32 {
        let mut word = [0; 4];
        self.function.read(at, &mut word);
        u32::from_be_bytes(word)
    }

    /// A command whose input is nothing but its number and modifier.
    pub(crate) fn run(&mut self, opcode: u16, op_mod: u16, bytes: usize, room: usize) -> Result<Vec<u8>, Failure> {
        self.command(&mailbox(opcode, op_mod, bytes), room)
    }

    pub(crate) fn command(&mut self, input: &[u8], room: usize) -> Result<Vec<u8>, Failure> {
        self.command_in(0, input, room)
    }

    /// Sends a command in a slot, and waits for its answer.
    pub(crate) fn command_in(&mut self, slot: u32, input: &[u8], room: usize) -> Result<Vec<u8>, Failure> {
        self.fill(slot, input, room);
        self.store(DOORBELL, 1 << slot);
        self.step();
        self.answer(slot, room)
    }

    /// Where a slot is.
    pub(crate) fn slot(slot: u32) -> u64 {
        QUEUE + u64::from(slot) * 64
    }

    /// Fills a slot and its mailboxes, which begin at mailbox `1000 * slot`, so that few slots can be used at a time.
    pub(crate) fn fill(&mut self, slot: u32, input: &[u8], room: usize) {
        self.token = self.token.wrapping_add(1).max(1);
        let first = |boxes: u64| boxes + u64::from(slot % 8) * 100 * BOX_STRIDE;
        let mut entry = vec![0; 64];
        entry[0] = 7;
        entry[4..8].copy_from_slice(&(input.len() as u32).to_be_bytes());
        entry[16..16 + input.len().min(16)].copy_from_slice(&input[..input.len().min(16)]);
        entry[56..60].copy_from_slice(&(room as u32).to_be_bytes());
        entry[60] = self.token;
        entry[63] = 1;
        let rest = input.get(16..).unwrap_or(&[]);
        if self.chain(first(IN_BOXES), rest, rest.len()) {
            entry[8..16].copy_from_slice(&first(IN_BOXES).to_be_bytes());
        }
        if self.chain(first(OUT_BOXES), &[], room.saturating_sub(16)) {
            entry[48..56].copy_from_slice(&first(OUT_BOXES).to_be_bytes());
        }
        if self.signs {
            entry[61] = !xor(&entry);
        }
        self.memory.put(Self::slot(slot), &entry);
    }

    /// A chain of mailboxes from `first` on with room for `len` bytes, and `data` in it; `false` if it has none.
    fn chain(&self, first: u64, data: &[u8], len: usize) -> bool {
        let count = len.div_ceil(512);
        for number in 0..count {
            let at = first + number as u64 * BOX_STRIDE;
            let mut bytes = vec![0; 576];
            let piece = data.chunks(512).nth(number).unwrap_or(&[]);
            bytes[..piece.len()].copy_from_slice(piece);
            let next = if number + 1 < count { at + BOX_STRIDE } else { 0 };
            bytes[560..568].copy_from_slice(&next.to_be_bytes());
            bytes[568..572].copy_from_slice(&(number as u32).to_be_bytes());
            bytes[573] = self.token;
            if self.signs {
                bytes[574] = !xor(&bytes[512..574]);
                bytes[575] = !xor(&bytes[..575]);
            }
            self.memory.put(at, &bytes);
        }
        count > 0
    }

    /// The device's answer, checked as a driver may check it.
    pub(crate) fn answer(&self, slot: u32, room: usize) -> Result<Vec<u8>, Failure> {
        let entry = self.memory.get(Self::slot(slot), 64);
        if entry[63] & 1 != 0 {
            return Err(Failure::NoAnswer);
        }
        assert_eq!(xor(&entry), 0xff, "the slot's signature");
        if entry[63] != 0 {
            return Err(Failure::Delivery(entry[63] >> 1));
        }
        let mut output = entry[32..48].to_vec();
        let mut at = u64::from_be_bytes(entry[48..56].try_into().expect("eight bytes"));
        while output.len() < room {
            let mailbox = self.memory.get(at, 576);
            assert_eq!(mailbox[573], entry[60], "the token");
            assert_eq!((xor(&mailbox), xor(&mailbox[512..575])), (0xff, 0xff), "the mailbox' signatures");
            output.extend(&mailbox[..512]);
            at = u64::from_be_bytes(mailbox[560..568].try_into().expect("eight bytes"));
        }
        output.truncate(room);
        match output[0] {
            0 => Ok(output),
            status => {
                assert_ne!(word(&output, 4), 0, "a syndrome");
                Err(Failure::Status(status))
            }
        }
    }
}
