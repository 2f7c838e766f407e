//! Rings and doorbell records in a dma-buf, for which the software device takes the memory of a memfd.
//!
//! Memory of other devices belongs here, this process's own in `memory.rs`.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd};
use std::os::unix::net::UnixStream;
use std::ptr::NonNull;

use blueflame::transport::Rc;
use blueflame::types::WrId;
use blueflame::wqe;
use blueflame_devx::Error;
use blueflame_devx::memory::{Rings, ThreadRings, Umem};
use memmap2::{MmapMut, MmapOptions};

use crate::end::{End, Ground};
use crate::ground::ground;

const PAGE: usize = 4096;
/// Where the rings begin in the file.
const OFFSET: u64 = 2 * PAGE as u64;

/// A file in memory, and its bytes from [`OFFSET`] on.
fn file(len: usize) -> (File, MmapMut) {
    // SAFETY: a plain call; the descriptor is new.
    let fd = unsafe { libc::memfd_create(c"rings".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(fd >= 0, "{}", io::Error::last_os_error());
    // SAFETY: nobody else has it.
    let file = unsafe { File::from_raw_fd(fd) };
    file.set_len(OFFSET + len as u64).expect("memory");
    // SAFETY: the device and these tests have it; they access it as a ring.
    let map = unsafe { MmapOptions::new().offset(OFFSET).len(len).map_mut(&file) }.expect("mapped");
    (file, map)
}

/// Registers it. The mapping outlives the queues.
fn register(ground: &Ground, fd: BorrowedFd<'_>, offset: u64, map: &mut MmapMut) -> Result<Umem, Error> {
    let (start, len) = (NonNull::from(&mut map[..]).cast(), map.len());
    // SAFETY: the bytes of the file from there on, which the tests leave to the queues.
    unsafe { Umem::of_dma_buf(&ground.context, fd, offset, start, len) }
}

#[test]
fn queues_work_in_a_dma_buf() {
    let mut ground = ground();
    let (mut file, mut map) = file(64 * PAGE);
    let memory = register(&ground, file.as_fd(), OFFSET, &mut map).expect("the device takes it");
    assert_eq!(memory.page_bytes(), Some(PAGE));
    ground.rings = ThreadRings::new(&Rings::over(memory));
    let (mut a, mut b) = crate::end::connected::<Rc>(&ground);
    for n in 0..200_u64 {
        b.post_receive(n);
        a.post(&wqe::send().inline(&n.to_ne_bytes()).signaled(WrId(n)));
        assert_eq!(b.completion().1, WrId(n));
        assert_eq!(a.completion().1, WrId(n));
        assert_eq!(b.bytes(8), n.to_ne_bytes());
    }
    // The device has written its CQEs there, and the queues their WQEs and records.
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes)).expect("the file");
    let (before, rings) = bytes.split_at(OFFSET as usize);
    assert!(before.iter().all(|&byte| byte == 0));
    assert!(rings.windows(8).any(|window| window == 199_u64.to_ne_bytes()), "the last WQE");
    drop((a, b, ground, map));
}

#[test]
fn a_ring_that_does_not_fit_is_refused() {
    let mut ground = ground();
    let (file, mut map) = file(4 * PAGE);
    ground.rings = ThreadRings::new(&Rings::over(register(&ground, file.as_fd(), OFFSET, &mut map).expect("taken")));
    let small = End::<Rc>::new(&ground);
    let ring = ground.pd.queue_pair::<Rc>(&ground.rings, &small.cq, &small.cq).sends(1024).build();
    let refused = ring.expect_err("64 KiB of WQEBBs");
    assert!(matches!(refused, Error::OutOfRange { value: 65_536.., max: ..16_384, .. }), "{refused}");
    drop((small, ground, map));
}

#[test]
fn other_files_and_places_are_refused() {
    let ground = ground();
    let (file, mut map) = file(4 * PAGE);
    let crooked = register(&ground, file.as_fd(), OFFSET + 64, &mut map).expect_err("inside of a page");
    assert!(matches!(crooked, Error::OutOfRange { value: 64, max: 0, .. }), "{crooked}");
    let past = register(&ground, file.as_fd(), OFFSET + 4096, &mut map).expect_err("longer than the file");
    assert!(matches!(past, Error::Call(call) if call.errno == libc::EINVAL), "{past}");
    let (socket, _other) = UnixStream::pair().expect("a socket");
    let no_memory = register(&ground, socket.as_fd(), 0, &mut map).expect_err("a socket");
    assert!(matches!(no_memory, Error::Call(call) if call.errno == libc::EINVAL), "{no_memory}");
}
