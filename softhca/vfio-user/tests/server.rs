//! The server as its clients see it: machine monitors, good ones and broken ones.
//!
//! The protocol and the sockets belong here. The function behind them belongs in `softhca/tests/pci`, Linux' driver in
//! `guest`.

mod process;

use memmap2::{MmapMut, MmapOptions};
use process::Process;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_EVENTFD, VFIO_IRQ_SET_DATA_NONE, VFIO_PCI_BAR0_REGION_INDEX,
    VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_MSIX_IRQ_INDEX, VFIO_PCI_ROM_REGION_INDEX,
};
use vfio_user::Client;

const CONFIG: u32 = VFIO_PCI_CONFIG_REGION_INDEX;
const BAR: u32 = VFIO_PCI_BAR0_REGION_INDEX;
const PAGE: u64 = 4096;
/// Where the tests' guest has its memory.
const GUEST: u64 = 0x10_0000;

/// Memory that a guest shares.
struct Memory {
    file: File,
    map: MmapMut,
}

impl Memory {
    fn new(pages: u64) -> Self {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(pages * PAGE).expect("room in it");
        // SAFETY: only this process and the server have the file.
        let map = unsafe { MmapOptions::new().map_mut(&file) }.expect("a mapping");
        Self { file, map }
    }
}

/// Puts a command into slot 0 of a queue in the first page of `memory`, which is at [`GUEST`]. Returns the first 16
/// bytes of its output once the device has given the slot back, or `None`.
fn command(client: &mut Client, memory: &mut Memory, input: [u8; 12], wait: Duration) -> Option<[u8; 16]> {
    let mut slot = [0; 64];
    slot[0] = 7;
    slot[7] = 16;
    slot[16..28].copy_from_slice(&input);
    slot[59] = 16;
    slot[63] = 1;
    memory.map[..64].copy_from_slice(&slot);
    client.region_write(BAR, 0x18, &1_u32.to_be_bytes()).expect("a register");
    let end = Instant::now() + wait;
    while Instant::now() < end {
        let mut status = [0];
        // Through the file: what others store to the mapping is not seen by plain loads.
        std::os::unix::fs::FileExt::read_exact_at(&memory.file, &mut status, 63).expect("the slot");
        if status[0] & 1 == 0 {
            let mut output = [0; 16];
            std::os::unix::fs::FileExt::read_exact_at(&memory.file, &mut output, 32).expect("the slot");
            return Some(output);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    None
}

/// Switches the function on, and says where the queue of [`command`] is.
fn start(client: &mut Client) {
    // Memory and bus mastering.
    client.region_write(CONFIG, 4, &6_u16.to_le_bytes()).expect("a register");
    client.region_write(BAR, 0x10, &0_u32.to_be_bytes()).expect("a register");
    client.region_write(BAR, 0x14, &(GUEST as u32).to_be_bytes()).expect("a register");
}

/// ENABLE_HCA, and QUERY_PAGES, which an HCA refuses that is not enabled.
const ENABLE: [u8; 12] = [1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const QUERY: [u8; 12] = [1, 7, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];

#[test]
fn a_monitor_finds_the_function() {
    let server = Process::start(1, &[]);
    let mut client = Client::new(server.socket(0)).expect("a connection");
    let size =
        |client: &Client, region| client.region(region).map(|region| (region.size, region.file_offset.is_some()));
    assert_eq!(size(&client, CONFIG), Some((4096, false)));
    assert_eq!(size(&client, BAR), Some((softhca::pci::BAR_BYTES, false)));
    assert_eq!(size(&client, VFIO_PCI_ROM_REGION_INDEX), Some((0, false)));
    assert_eq!(client.get_irq_info(VFIO_PCI_MSIX_IRQ_INDEX).expect("MSI-X").count, 32);
    assert_eq!(client.get_irq_info(0).expect("INTx").count, 0);
    let mut ids = [0; 4];
    client.region_read(CONFIG, 0, &mut ids).expect("a register");
    assert_eq!(ids, [0xb3, 0x15, 0x17, 0x10]);
}

#[test]
fn commands_are_carried_out_in_memory_that_is_shared_and_only_there() {
    const SOON: Duration = Duration::from_secs(10);
    let server = Process::start(1, &[]);
    let mut client = Client::new(server.socket(0)).expect("a connection");
    let mut memory = Memory::new(4);
    let share = |client: &mut Client, memory: &Memory| {
        client.dma_map(0, GUEST, 4 * PAGE, memory.file.as_raw_fd()).expect("a map");
    };
    share(&mut client, &memory);
    start(&mut client);
    let status = |output: Option<[u8; 16]>| output.map(|output| output[0]);
    assert_eq!(status(command(&mut client, &mut memory, ENABLE, SOON)), Some(0));
    assert_eq!(status(command(&mut client, &mut memory, QUERY, SOON)), Some(0));
    // It goes, and comes again.
    client.dma_unmap(GUEST, 4 * PAGE).expect("an unmap");
    assert_eq!(command(&mut client, &mut memory, QUERY, Duration::from_millis(100)), None);
    share(&mut client, &memory);
    assert_eq!(status(command(&mut client, &mut memory, QUERY, SOON)), Some(0));
    // The next guest does not get the last one's memory.
    drop(client);
    let mut client = Client::new(server.socket(0)).expect("another connection");
    start(&mut client);
    assert_eq!(command(&mut client, &mut memory, QUERY, Duration::from_millis(100)), None, "nothing is shared");
    share(&mut client, &memory);
    assert_ne!(status(command(&mut client, &mut memory, QUERY, SOON)), Some(0), "not enabled");
    assert_eq!(status(command(&mut client, &mut memory, ENABLE, SOON)), Some(0));
    // A reset has this effect, too.
    client.reset().expect("a reset");
    start(&mut client);
    assert_ne!(status(command(&mut client, &mut memory, QUERY, SOON)), Some(0), "not enabled");
}

#[test]
fn a_vector_is_heard_until_it_is_taken_away() {
    let server = Process::start(1, &[]);
    let mut client = Client::new(server.socket(0)).expect("a connection");
    // A pipe does as well as an event descriptor.
    let (mut heard, event) = std::io::pipe().expect("a pipe");
    let (listen, ask) =
        (VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER);
    client.set_irqs(VFIO_PCI_MSIX_IRQ_INDEX, listen, 3, 1, &[event.as_raw_fd()]).expect("a vector");
    client.set_irqs(VFIO_PCI_MSIX_IRQ_INDEX, ask, 3, 1, &[]).expect("an interrupt");
    let mut one = [0; 8];
    heard.read_exact(&mut one).expect("an interrupt");
    assert_eq!(u64::from_ne_bytes(one), 1);
    client.set_irqs(VFIO_PCI_MSIX_IRQ_INDEX, listen, 3, 1, &[]).expect("no vector");
    client.set_irqs(VFIO_PCI_MSIX_IRQ_INDEX, ask, 3, 1, &[]).expect("an interrupt");
    drop(event);
    assert_eq!(heard.read(&mut one).expect("the end"), 0);
}

/// A message: header (id, command, bytes, flags, error), then `rest`.
fn message(command: u16, bytes: u32, rest: &[u8]) -> Vec<u8> {
    let mut message = vec![7, 0];
    message.extend(command.to_le_bytes());
    message.extend(bytes.to_le_bytes());
    message.extend([0; 8]);
    message.extend(rest);
    message
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn impossible_requests_are_refused() {
    let server = Process::start(1, &["--log", "off"]);
    let mut stream = UnixStream::connect(server.socket(0)).expect("a connection");
    let cut = 2 * PAGE;
    let refused = [
        // A read past the configuration space, one of 4 GiB, one of a missing region.
        message(9, 32, &[words(&[4095]), vec![7, 0, 0, 0, 2, 0, 0, 0]].concat()),
        message(9, 32, &[words(&[0]), vec![7, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]].concat()),
        message(9, 32, &[words(&[u64::MAX]), vec![0, 0, 0, 0, 4, 0, 0, 0]].concat()),
        message(9, 32, &[words(&[0]), vec![99, 0, 0, 0, 4, 0, 0, 0]].concat()),
        // Too many vectors, and missing interrupts.
        message(8, 36, &[20, 0, 0, 0, 0x21, 0, 0, 0, 2, 0, 0, 0, 31, 0, 0, 0, 2, 0, 0, 0]),
        message(8, 36, &[20, 0, 0, 0, 0x21, 0, 0, 0, 2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0]),
        message(8, 36, &[20, 0, 0, 0, 0x21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]),
        // Two actions at once.
        message(8, 36, &[20, 0, 0, 0, 0x29, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]),
        // Addresses past the last one.
        message(3, 40, &[vec![24, 0, 0, 0, 0, 0, 0, 0], words(&[u64::MAX - 4095, cut])].concat()),
        // Dirty pages.
        message(3, 40, &[vec![24, 0, 0, 0, 2, 0, 0, 0], words(&[0, cut])].concat()),
        // An unknown command.
        message(99, 16, &[]),
    ];
    for request in &refused {
        stream.write_all(request).expect("a request");
        let mut reply = [0; 16];
        stream.read_exact(&mut reply).expect("an answer");
        assert_eq!((reply[0], reply[8]), (7, 0x21), "an error: {request:02x?}");
    }
    // A store where nothing is, is lost. Nobody may wait for an answer.
    stream
        .write_all(&message(10, 36, &[words(&[1 << 40]), vec![0, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4]].concat()))
        .expect("a store");
    let mut reply = [0; 32];
    stream.read_exact(&mut reply).expect("an answer");
    assert_eq!(reply[8], 1, "no error");
}

#[test]
fn memory_past_the_end_of_its_file_is_refused() {
    let mut server = Process::start(1, &["--log", "error"]);
    let mut client = Client::new(server.socket(0)).expect("a connection");
    let memory = Memory::new(1);
    // The client does not look at the answer; the log has it.
    client.dma_map(0, GUEST, 2 * PAGE, memory.file.as_raw_fd()).expect("an answer");
    client.dma_map(0, GUEST + 1, PAGE, memory.file.as_raw_fd()).expect("an answer");
    server.terminate();
    let (code, said) = server.wait();
    assert_eq!(code, Some(0));
    assert!(said.contains("of a file of 0x1000") && said.contains("whole pages"), "{said}");
}

#[test]
fn a_peer_that_breaks_the_protocol_ends_the_server_with_an_error() {
    let versions = [
        // A message whose length is less than its header; capabilities that are no text; capabilities without an end.
        message(1, 0, &[0, 0, 0, 0]),
        message(1, 24, &[0, 0, 0, 0, 0xff, 0, 0xff, 0]),
        message(1, 22, &[0, 0, 0, 0, b'{', b'}']),
    ];
    for version in versions {
        let mut server = Process::start(1, &["--log", "off"]);
        let mut stream = UnixStream::connect(server.socket(0)).expect("a connection");
        stream.write_all(&version).expect("a message");
        let (code, _) = server.wait();
        assert_eq!(code, Some(70), "{version:02x?}");
        assert!(!server.socket(0).exists(), "the socket is removed");
    }
}

#[test]
fn a_peer_that_dies_within_a_message_leaves_room_for_the_next() {
    let server = Process::start(1, &["--log", "off"]);
    for message in [message(9, 32, &[0; 5]), message(1, 4096, &[0, 0, 0, 0]), vec![1, 2, 3], vec![]] {
        let mut stream = UnixStream::connect(server.socket(0)).expect("a connection");
        stream.write_all(&message).expect("a part of a message");
    }
    assert!(Client::new(server.socket(0)).is_ok());
}

#[test]
fn any_bytes_do_not_hang_the_server() {
    // As xorshift has them: the same in each run.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut server = Process::start(1, &["--log", "off"]);
    for _ in 0..200 {
        if server.has_ended() {
            let (code, _) = server.wait();
            assert_eq!(code, Some(70), "an error, and no signal");
            server = Process::start(1, &["--log", "off"]);
        }
        let Ok(mut stream) = UnixStream::connect(server.socket(0)) else { continue };
        for _ in 0..random() % 8 {
            let command = (random() % 16) as u16;
            let rest: Vec<u8> = (0..random() % 64).map(|_| random() as u8 & random() as u8 & random() as u8).collect();
            let bytes = if random() % 4 == 0 { random() as u32 } else { 16 + rest.len() as u32 };
            if stream.write_all(&message(command, bytes, &rest)).is_err() {
                break;
            }
        }
    }
    server.terminate();
    let (code, _) = server.wait();
    assert!(matches!(code, Some(0 | 70)), "{code:?}");
}

#[test]
fn signals_and_once_end_it_and_remove_the_sockets() {
    let mut server = Process::start(2, &[]);
    let (one, two) = (server.socket(0).to_path_buf(), server.socket(1).to_path_buf());
    assert!(one.exists() && two.exists());
    let clients = [Client::new(&one).expect("a connection"), Client::new(&two).expect("a connection")];
    server.terminate();
    assert_eq!(server.wait().0, Some(0), "also while somebody is connected");
    assert!(!one.exists() && !two.exists());
    drop(clients);

    let mut server = Process::start(2, &["--once"]);
    drop(Client::new(server.socket(0)).expect("a connection"));
    let last = Client::new(server.socket(1)).expect("a connection");
    assert!(!server.has_ended());
    drop(last);
    assert_eq!(server.wait().0, Some(0));
    assert!(!server.socket(1).exists());
}

#[test]
fn a_socket_that_a_dead_server_has_left_is_replaced_and_a_live_one_is_not() {
    let mut server = Process::start(1, &[]);
    server.kill();
    server.wait();
    assert!(server.socket(0).exists());
    let server = server.again(&[]);
    assert!(Client::new(server.socket(0)).is_ok());
    let mut other = server.beside(&[]);
    let (code, said) = other.wait();
    assert_eq!(code, Some(71), "{said}");
    assert!(server.socket(0).exists());
}

#[test]
fn wrong_calls_are_refused() {
    for wrong in
        [&["--index", "16"][..], &["--mac", "01:00:00:00:00:00"], &["--fabric", "/tmp"], &["--link", "token-ring"]]
    {
        let mut server = Process::spawn(1, wrong);
        assert_eq!(server.wait().0, Some(2), "{wrong:?}");
    }
    let mut server = Process::spawn(2, &["--index", "15"]);
    assert_eq!(server.wait().0, Some(71), "no numbers left");
}
