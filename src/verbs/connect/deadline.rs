//! A stream whose reads and writes all end at one time.

use core::ffi::c_short;
use core::time::Duration;
use std::io::{self, Error, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::time::Instant;

use crate::verbs::wait;

/// A socket or a pipe whose reads and writes, all together, end at one time.
///
/// The time limit of a socket (`TcpStream::set_read_timeout`) restarts with each byte that arrives. A peer that sends
/// one byte at a time holds up a handshake of 272 bytes for 272 limits. This value waits with `poll(2)` until one limit
/// is over:
///
/// ```no_run
/// # use std::{error::Error, net::TcpStream, time::Duration};
/// # use blueflame::{transport, verbs::{Path, QueuePair}};
/// # fn one_side(pair: &mut QueuePair<transport::Rc>, path: &Path, mut stream: TcpStream) -> Result<(), Box<dyn Error>> {
/// use blueflame::verbs::handshake::Deadline;
///
/// let mut limited = Deadline::new(&mut stream, Duration::from_secs(5));
/// pair.connect_over(&mut limited, path, &[])?;
/// # Ok(())
/// # }
/// ```
///
/// A read or a write that would have to wait longer fails with [`ErrorKind::TimedOut`]. A write waits until the stream
/// has room for some bytes. On a stream in blocking mode, it may then wait for room for the rest: the messages of a
/// handshake fit into the buffer of any socket, and longer ones need `set_write_timeout` as well. The stream may be in
/// non-blocking mode.
#[derive(Debug)]
pub struct Deadline<'a, S> {
    stream: &'a mut S,
    /// `None`: never.
    until: Option<Instant>,
}

impl<'a, S: AsFd> Deadline<'a, S> {
    /// Limits the time of `stream` to `limit` from now.
    pub fn new(stream: &'a mut S, limit: Duration) -> Self {
        Self { stream, until: Instant::now().checked_add(limit) }
    }

    /// Limits the time of `stream` to a given instant.
    pub const fn at(stream: &'a mut S, until: Instant) -> Self {
        Self { stream, until: Some(until) }
    }

    /// Calls `act` when the stream is ready for it, until it does something.
    fn when_ready<A>(&mut self, events: c_short, mut act: impl FnMut(&mut S) -> io::Result<A>) -> io::Result<A> {
        loop {
            let left = self.until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
            let is_ready = wait::ready(self.stream.as_fd(), events, left);
            if !is_ready.map_err(|error| Error::from_raw_os_error(error.errno))? {
                return Err(Error::new(ErrorKind::TimedOut, "the time limit of all reads and writes is over"));
            }
            match act(self.stream) {
                // Another reader was faster, or the stream has a shorter limit of its own.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
        }
    }
}

impl<S: Read + AsFd> Read for Deadline<'_, S> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.when_ready(libc::POLLIN, |stream| stream.read(bytes))
    }
}

impl<S: Write + AsFd> Write for Deadline<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.when_ready(libc::POLLOUT, |stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
