//! Files that give one record a read, and are readable while there is one: what commands answer later, and the events
//! that a program has asked for (`devx_async_cmd_event_read`, `devx_async_event_read`).
//!
//! Behind the descriptor is an eventfd that counts records, so that the kernel lets programs wait for them in any way:
//! `poll`, a blocking `read`, a signal. The records themselves are here, for our own `read`.

use crate::process::fds::{self, OpenFile, Own};
use crate::process::{Errno, lock, user};
use rustix::io::fcntl_dupfd_cloexec;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::os::fd::{OwnedFd, RawFd};
use std::sync::{Arc, Mutex};

/// The purpose of a file, which decides its behaviour at its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordKind {
    /// Outputs of commands: a number of the program's, then the output.
    Answers,
    /// Events: a number of the program's, then the device's data.
    Events,
    /// Events, but the number only: another event of the same source is not told before the program has read the first.
    BareEvents,
}

impl RecordKind {
    /// The error of a read with too little room for the next record.
    fn too_small(self) -> Errno {
        match self {
            Self::Answers => Errno::ENOSPC,
            Self::Events | Self::BareEvents => Errno::EINVAL,
        }
    }
}

/// A file of records.
pub(crate) struct RecordFile {
    pub(crate) kind: RecordKind,
    _own: Own,
    /// The eventfd, by a descriptor of ours.
    counter: File,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: VecDeque<Record>,
    /// Bytes of outputs in them.
    bytes: usize,
    /// Its context is closed: nothing comes any more.
    ended: bool,
}

struct Record {
    /// Its source: bare events of one source are reported once.
    source: u64,
    bytes: Vec<u8>,
}

/// Most bytes of outputs that wait in a file (`MAX_ASYNC_BYTES_IN_USE`).
const MAX_BYTES: usize = 1 << 20;
/// Bytes of the program's number, which each record begins with.
const COOKIE_BYTES: usize = 8;

/// How reading goes on.
pub(crate) enum Taken {
    /// This many bytes are read.
    Bytes(usize),
    /// Empties the file: counted events are gone.
    Nothing,
}

impl RecordFile {
    /// A new file, and the program's descriptor.
    pub(crate) fn new(kind: RecordKind) -> Result<(Arc<Self>, OwnedFd), Errno> {
        let program = fds::counter(libc::O_CLOEXEC)?;
        let own = fcntl_dupfd_cloexec(&program, 0)?;
        let file = Self { kind, _own: Own::new(&own), counter: own.into(), state: Mutex::default() };
        Ok((Arc::new(file), program))
    }

    /// Puts the output of a command, which the program calls `cookie`. `EAGAIN` if too much waits already.
    pub(crate) fn answer(&self, cookie: u64, len: usize, output: impl FnOnce(&mut [u8])) -> Result<(), Errno> {
        let mut bytes = cookie.to_ne_bytes().to_vec();
        bytes.resize(COOKIE_BYTES + len, 0);
        {
            let mut state = lock(&self.state);
            if state.bytes + len > MAX_BYTES {
                return Err(Errno::EAGAIN);
            }
            state.bytes += len;
        }
        output(&mut bytes[COOKIE_BYTES..]);
        self.put(&mut lock(&self.state), Record { source: 0, bytes });
        Ok(())
    }

    /// Puts an event of `source`, named `cookie` by the program, with the device's data.
    pub(super) fn event(&self, source: u64, cookie: u64, entry: &[u8]) {
        let mut state = lock(&self.state);
        let bare = self.kind == RecordKind::BareEvents;
        if bare && state.records.iter().any(|record| record.source == source) {
            return;
        }
        let mut bytes = cookie.to_ne_bytes().to_vec();
        if !bare {
            bytes.extend(entry);
        }
        self.put(&mut state, Record { source, bytes });
    }

    fn put(&self, state: &mut State, record: Record) {
        if !state.ended {
            state.records.push_back(record);
            self.count();
        }
    }

    /// One more is there to read. It never blocks: nobody has 2^64 of them.
    fn count(&self) {
        if let Err(error) = (&self.counter).write(&1_u64.to_ne_bytes()) {
            log::warn!("an event is not signalled: {error}");
        }
    }

    /// Copies the next record to `len` bytes at `address`, after one was taken from the counter.
    pub(crate) fn take(&self, address: u64, len: usize) -> Result<Taken, Errno> {
        let mut state = lock(&self.state);
        let Some(record) = state.records.front() else {
            if !state.ended {
                return Ok(Taken::Nothing);
            }
            // So others, too, hear of it.
            self.count();
            return Err(Errno::EIO);
        };
        if record.bytes.len() > len {
            self.count();
            return Err(self.kind.too_small());
        }
        let bytes = state.records.pop_front().map(|record| record.bytes).unwrap_or_default();
        if self.kind == RecordKind::Answers {
            state.bytes -= bytes.len() - COOKIE_BYTES;
        }
        drop(state);
        user::write(address, &bytes)?;
        Ok(Taken::Bytes(bytes.len()))
    }

    /// Its context is closed: the records are gone, and no more will come.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.state);
        if !std::mem::replace(&mut state.ended, true) {
            state.records.clear();
            self.count();
        }
    }

    /// Whether nothing comes any more.
    pub(super) fn has_ended(&self) -> bool {
        lock(&self.state).ended
    }
}

impl OpenFile for RecordFile {
    fn close(self: Arc<Self>, _: RawFd) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// The bytes of a read with room for `len`.
    fn read(file: &RecordFile, program: &OwnedFd, len: usize) -> Result<Vec<u8>, Errno> {
        let mut count = [0; 8];
        let mut descriptor = File::from(program.try_clone().unwrap());
        descriptor.read_exact(&mut count).unwrap();
        let mut bytes = vec![0xee; len];
        match file.take(bytes.as_mut_ptr() as u64, len)? {
            Taken::Bytes(read) => bytes.truncate(read),
            Taken::Nothing => bytes.clear(),
        }
        Ok(bytes)
    }

    #[test]
    fn a_record_is_read_whole_or_stays() {
        let (file, program) = RecordFile::new(RecordKind::Answers).unwrap();
        for number in [1, 2] {
            file.answer(number, 4, |output| output.fill(number as u8)).unwrap();
        }
        assert_eq!(read(&file, &program, 11), Err(Errno::ENOSPC));
        for number in [1_u8, 2] {
            assert_eq!(
                read(&file, &program, 100),
                Ok(vec![number, 0, 0, 0, 0, 0, 0, 0, number, number, number, number])
            );
        }
        file.end();
        assert_eq!(read(&file, &program, 100), Err(Errno::EIO));
        assert_eq!(read(&file, &program, 100), Err(Errno::EIO), "for everybody");
    }

    #[test]
    fn outputs_that_wait_are_limited() {
        let (file, program) = RecordFile::new(RecordKind::Answers).unwrap();
        let half = MAX_BYTES / 2;
        assert_eq!(file.answer(1, half, |_| {}), Ok(()));
        assert_eq!(file.answer(2, half + 1, |_| {}), Err(Errno::EAGAIN));
        assert_eq!(file.answer(3, half, |_| {}), Ok(()));
        assert_eq!(read(&file, &program, half + 8).map(|bytes| bytes[0]), Ok(1));
        assert_eq!(file.answer(4, 1, |_| {}), Ok(()));
    }

    #[test]
    fn bare_events_of_a_source_are_told_once_until_they_are_read() {
        let (file, program) = RecordFile::new(RecordKind::BareEvents).unwrap();
        for source in [7, 7, 8] {
            file.event(source, source + 1, &[1; 64]);
        }
        assert_eq!(read(&file, &program, 7), Err(Errno::EINVAL));
        assert_eq!(read(&file, &program, 8), Ok(8_u64.to_ne_bytes().to_vec()));
        file.event(7, 8, &[1; 64]);
        assert_eq!(read(&file, &program, 8), Ok(9_u64.to_ne_bytes().to_vec()));
        assert_eq!(read(&file, &program, 8), Ok(8_u64.to_ne_bytes().to_vec()));
    }
}
