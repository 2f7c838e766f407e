//! A PCI function against a hostile guest. The guest accesses registers and configuration space, sends commands, and
//! shares memory and takes it away; packets and resets come in any order while the function works.
//!
//! In every case nothing panics or hangs, the function raises only vectors that exist, and it changes no byte that the
//! guest does not share.

use std::ptr::NonNull;
use std::time::Duration;

use memmap2::{MmapMut, MmapRaw};
use softhca::config::{DeviceConfig, DoorbellSource, Limits, PortConfig};
use softhca::device::Device;
use softhca::firmware::{CommandInfo, commands};
use softhca::memory::{DmaFault, DmaMap, HostMemory};
use softhca::pci::{BAR_BYTES, CONFIG_BYTES, Function, Interrupts, VECTORS};
use softhca::runner::Step;

use super::firmware::{Change, Word, composed};
use super::memory::BASE;
use super::network::Network;

/// Bytes that the guest shares or takes away at a time.
const RANGE: usize = 1 << 16;
const RANGES: usize = 16;
/// Guard bytes before and after each range in this process.
const GUARD: usize = 4096;
const GUARD_BYTE: u8 = 0x5a;
/// Bytes of the guest's memory.
const GUEST: u64 = (RANGE * RANGES) as u64;
/// The queue of commands: the first page. Mailboxes: the last range, half of it each way.
const SLOTS: u64 = 32;
const MAILBOXES: u64 = BASE + GUEST - RANGE as u64;
const MAILBOX_ROOM: u64 = 1024;
const CHAIN: usize = RANGE / 2 / MAILBOX_ROOM as usize;
/// Most actions of an input.
const ACTIONS: usize = 600;
/// Steps that the function may take after each.
const STEPS: usize = 32;

input_enum! {
    /// An action of a guest or the network.
    Action {
        /// A store to BAR 0.
        Write { at: u32, bytes: Vec<u8> },
        /// A load from BAR 0.
        Read { at: u32, len: u8 },
        /// A store to the configuration space.
        WriteConfig { at: u16, bytes: [u8; 4] },
        /// A load from it.
        ReadConfig { at: u16, len: u8 },
        /// A store of eight bytes to a UAR page.
        Doorbell { page: u8, at: u16, bytes: [u8; 8] },
        /// The driver switches the function on and sets the address of the command queue.
        Start { page: u8 },
        /// A command as a driver gives it: `bytes` bytes, of which these words are not 0.
        Execute { slot: u8, bytes: u16, words: Vec<Word>, room: u16 },
        /// A known command, with any words and a list.
        Command { slot: u8, which: u8, uid: u8, modifier: u8, words: Vec<Word>, list: Vec<u64>, room: u8 },
        /// A slot is changed, and its doorbell rung.
        Slot { slot: u8, changes: Vec<Change> },
        /// The guest stores to its memory.
        Store { at: u32, bytes: [u8; 64] },
        /// A range is shared, to be written to or not.
        Share { range: u8, writable: bool },
        /// Ranges are taken away.
        Take { range: u8, count: u8 },
        /// A packet arrives.
        Packet { bytes: Vec<u8> },
        /// Time passes, in units of 100 us.
        Wait { time: u16 },
        /// The function is reset.
        Reset {},
    }
}

input_struct! {
    /// A function, and what happens to it.
    Input {
        /// Its port is an Ethernet port.
        ethernet: bool,
        /// The guest's memory repeats itself, so that any address leads to it.
        folded: bool,
        actions: Vec<Action>,
    }
}

/// The guest's memory as the function sees it.
struct Folded(DmaMap, bool);

impl Folded {
    fn at(&self, addr: u64) -> u64 {
        if self.1 { BASE + addr % GUEST } else { addr }
    }
}

impl HostMemory for Folded {
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        let addr = self.at(addr);
        // SAFETY: the caller promises that the memory stays valid until it is unmapped.
        unsafe { self.0.map(addr, len) }
    }

    fn unmap(&mut self, _: u64, _: usize) {}

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        self.0.read(self.at(addr), out)
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.0.write(self.at(addr), data)
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        self.0.load_be32(self.at(addr))
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        self.0.fetch_update_u64(self.at(addr), f)
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.0.write_last_byte_last(self.at(addr), data)
    }
}

/// There are no others.
struct Vectors;

impl Interrupts for Vectors {
    fn raise(&mut self, vector: u16) {
        assert!(vector < VECTORS, "vector {vector}");
    }
}

/// The guest's memory as this process has it: ranges, with guards around each.
struct Guest {
    memory: std::sync::Arc<MmapRaw>,
    map: DmaMap,
    /// The contents of the ranges that the function must not write to.
    closed: Vec<Option<Vec<u8>>>,
}

impl Guest {
    fn new() -> Self {
        let mut memory = MmapMut::map_anon(GUARD + RANGES * (RANGE + GUARD)).expect("memory");
        memory.fill(GUARD_BYTE);
        for range in 0..RANGES {
            memory[Self::place(range)..][..RANGE].fill(0);
        }
        let closed = vec![Some(vec![0; RANGE]); RANGES];
        let guest = Self { memory: std::sync::Arc::new(memory.into()), map: DmaMap::new(), closed };
        (0..RANGES).fold(guest, |mut guest, range| {
            guest.share(range, true);
            guest
        })
    }

    fn place(range: usize) -> usize {
        GUARD + range * (RANGE + GUARD)
    }

    fn pointer(&self, range: usize) -> NonNull<u8> {
        NonNull::new(self.memory.as_mut_ptr().wrapping_add(Self::place(range))).expect("a place in the memory")
    }

    fn bytes(&self, at: usize, len: usize) -> &[u8] {
        assert!(at + len <= self.memory.len());
        // SAFETY: within the memory; the device, which could write to it, is not at work: there is one thread.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(at), len) }
    }

    fn check(&self, range: usize) {
        if let Some(closed) = &self.closed[range] {
            assert!(self.bytes(Self::place(range), RANGE) == closed, "range {range} has changed, which is not shared");
        }
    }

    fn check_all(&self) {
        for range in 0..=RANGES {
            let guard = self.bytes(range * (RANGE + GUARD), GUARD);
            assert!(guard.iter().all(|&byte| byte == GUARD_BYTE), "a byte of nobody's has changed");
        }
        (0..RANGES).for_each(|range| self.check(range));
    }

    fn share(&mut self, range: usize, writable: bool) {
        self.check(range);
        let addr = BASE + (range * RANGE) as u64;
        // SAFETY: the owner keeps the memory, of which no reference exists while the device works.
        let shared = unsafe {
            self.map.insert(addr, self.pointer(range), RANGE as u64, writable, Box::new(self.memory.clone()))
        };
        if shared.is_ok() && writable {
            self.closed[range] = None;
        }
    }

    fn take(&mut self, range: usize, count: usize) {
        let count = count.min(RANGES - range);
        let taken = self.map.remove(BASE + (range * RANGE) as u64, (count * RANGE) as u64);
        if taken.is_ok() {
            for range in range..range + count {
                self.check(range);
                self.closed[range] = Some(self.bytes(Self::place(range), RANGE).to_vec());
            }
        }
    }

    /// The guest stores to its memory at byte `at` (modulo its size), as much as fits into a range.
    fn store(&mut self, at: u64, data: &[u8]) {
        let at = (at % GUEST) as usize;
        let (range, within) = (at / RANGE, at % RANGE);
        let len = data.len().min(RANGE - within);
        // SAFETY: within the range; no reference to it exists.
        unsafe { self.pointer(range).add(within).copy_from_nonoverlapping(NonNull::from(data).cast(), len) };
        if let Some(closed) = &mut self.closed[range] {
            closed[within..within + len].copy_from_slice(&data[..len]);
        }
    }
}

struct Lab {
    function: Function,
    commands: Vec<CommandInfo>,
    guest: Guest,
    network: Network,
    now: Duration,
}

impl Lab {
    fn new(input: &Input) -> Self {
        let (guest, network) = (Guest::new(), Network::default());
        let port = if input.ethernet { PortConfig::ethernet(1) } else { PortConfig::infiniband(1) };
        let config = DeviceConfig {
            // As the wire numbers the first device on it.
            qpn_first: 0x40,
            qpn_count: 64,
            doorbells: DoorbellSource::Calls,
            limits: Limits { max_cqe_log: 12, max_wqe_log: 12, max_objects: 256, max_mkeys: 256, ..Limits::default() },
            ..DeviceConfig::with_port(port)
        };
        let memory = Folded(guest.map.clone(), input.folded);
        let device = Device::new(config, Box::new(memory), Box::new(network.clone())).expect("a device");
        let function = Function::new(device, Box::new(Vectors));
        Self { function, commands: commands().collect(), guest, network, now: Duration::ZERO }
    }

    /// Bits of the doorbell of commands.
    fn ring(&mut self, slot: u64) {
        self.function.write(0x18, &(1_u32 << slot).to_be_bytes());
    }

    /// Puts a command into a slot, puts the bytes that do not fit into mailboxes, and rings the doorbell.
    fn execute(&mut self, slot: u8, input: &[u8], room: usize) {
        let slot = u64::from(slot) % SLOTS;
        let input = &input[..input.len().min(16 + CHAIN * 512)];
        let room = room.min(16 + CHAIN * 512);
        let mut bytes = [0_u8; 64];
        let (first, rest) = input.split_at(input.len().min(16));
        bytes[0] = 7;
        bytes[4..8].copy_from_slice(&(input.len() as u32).to_be_bytes());
        bytes[16..16 + first.len()].copy_from_slice(first);
        bytes[56..60].copy_from_slice(&(room as u32).to_be_bytes());
        bytes[60] = slot as u8;
        bytes[63] = 1;
        let chains = [(8, MAILBOXES, rest), (48, MAILBOXES + RANGE as u64 / 2, &vec![0; room.saturating_sub(16)])];
        for (at, first, data) in chains {
            if data.is_empty() {
                continue;
            }
            bytes[at..at + 8].copy_from_slice(&first.to_be_bytes());
            for (number, data) in data.chunks(512).enumerate() {
                let here = first + number as u64 * MAILBOX_ROOM;
                let mut mailbox = [0_u8; 576];
                mailbox[..data.len()].copy_from_slice(data);
                mailbox[560..568].copy_from_slice(&(here + MAILBOX_ROOM).to_be_bytes());
                mailbox[568..572].copy_from_slice(&(number as u32).to_be_bytes());
                mailbox[573] = slot as u8;
                self.guest.store(here - BASE, &mailbox);
            }
        }
        self.guest.store(slot * 64, &bytes);
        self.ring(slot);
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Write { at, bytes } => self.function.write(u64::from(*at) % (BAR_BYTES + 64), bytes),
            Action::Read { at, len } => {
                self.function.read(u64::from(*at) % (BAR_BYTES + 64), &mut vec![0; usize::from(*len)]);
            }
            Action::WriteConfig { at, bytes } => {
                self.function.write_config(usize::from(*at) % (CONFIG_BYTES + 8), bytes);
            }
            Action::ReadConfig { at, len } => {
                self.function.read_config(usize::from(*at) % (CONFIG_BYTES + 8), &mut vec![0; usize::from(*len)]);
            }
            Action::Doorbell { page, at, bytes } => {
                let at = 0x10_000 + u64::from(*page) * 4096 + u64::from(*at) % 4096 / 8 * 8;
                self.function.write(at, bytes);
            }
            Action::Start { page } => {
                // Memory and bus mastering; the queue.
                self.function.write_config(4, &[6, 0]);
                self.function.write(0x10, &[0; 4]);
                let queue = BASE as u32 + u32::from(*page % 16) * 4096;
                self.function.write(0x14, &queue.to_be_bytes());
            }
            Action::Execute { slot, bytes, words, room } => {
                let mut input = vec![0; usize::from(*bytes).next_multiple_of(4)];
                for Word { at, value } in words {
                    let word = input.chunks_exact_mut(4).nth(usize::from(*at) / 4);
                    word.into_iter().for_each(|word| word.copy_from_slice(&value.to_be_bytes()));
                }
                self.execute(*slot, &input[..usize::from(*bytes)], usize::from(*room));
            }
            Action::Command { slot, which, uid, modifier, words, list, room } => {
                let command = self.commands[usize::from(*which) % self.commands.len()];
                let bytes = composed(command, *uid, *modifier, words, list);
                self.execute(*slot, &bytes, command.output_bytes + usize::from(*room));
            }
            Action::Slot { slot, changes } => {
                let slot = u64::from(*slot) % SLOTS;
                for Change { at, value } in changes {
                    self.guest.store(slot * 64 + u64::from(*at) % 64, &[*value]);
                }
                self.ring(slot);
            }
            Action::Store { at, bytes } => self.guest.store((*at).into(), bytes),
            Action::Share { range, writable } => self.guest.share(usize::from(*range) % RANGES, *writable),
            Action::Take { range, count } => self.guest.take(usize::from(*range) % RANGES, 1 + usize::from(*count) % 4),
            Action::Packet { bytes } => self.network.push(bytes.clone(), false),
            Action::Wait { time } => self.now += Duration::from_micros(100 * u64::from(*time)),
            Action::Reset {} => self.function.reset(),
        }
    }
}

/// Does it all.
pub fn run(input: &Input) {
    let mut lab = Lab::new(input);
    for action in input.actions.iter().take(ACTIONS) {
        lab.act(action);
        for _ in 0..STEPS {
            if !lab.function.step(lab.now) {
                break;
            }
        }
        while lab.function.next_event().is_some() {}
        lab.function.device().complaints();
    }
    lab.guest.check_all();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer in slot 0: the status of the delivery, and of the command.
    fn answer(lab: &Lab) -> (u8, u8) {
        let slot = lab.guest.bytes(Guest::place(0), 64);
        (slot[63], slot[32])
    }

    #[test]
    fn commands_are_carried_out() {
        for folded in [false, true] {
            let mut lab = Lab::new(&Input { ethernet: true, folded, actions: vec![] });
            lab.act(&Action::Start { page: 0 });
            // ENABLE_HCA, and one of more than a slot: QUERY_HCA_CAP.
            for (opcode, room) in [(0x104_u16, 16), (0x100, 0x1010)] {
                let words = vec![Word { at: 0, value: u32::from(opcode) << 16 }];
                lab.act(&Action::Execute { slot: 0, bytes: 16, words, room });
                assert_eq!(answer(&lab), (0, 0), "{opcode:#x}");
            }
        }
    }

    #[test]
    fn what_is_taken_away_is_not_written_to() {
        let mut lab = Lab::new(&Input { ethernet: true, folded: true, actions: vec![] });
        lab.act(&Action::Start { page: 0 });
        lab.act(&Action::Take { range: 0, count: 0 });
        lab.act(&Action::Execute { slot: 0, bytes: 16, words: vec![], room: 16 });
        lab.function.step(lab.now);
        lab.guest.check_all();
        assert_eq!(answer(&lab).0, 1, "still the device's");
        lab.act(&Action::Share { range: 0, writable: false });
        lab.guest.check_all();
    }
}
