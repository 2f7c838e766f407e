//! Shared by the programs of the how-to pages: the device, two ends of a connection, and waiting for a completion.
//!
//! Both ends are on one port of one device, so that a program needs no peer: the device sends to itself. Between two
//! machines, [`connect_over`](blueflame::verbs::QueuePair::connect_over) replaces [`connect`]. The writes of one device
//! reach memory in order, so when a WRITE has completed, its data is at the other end.

mod dmabuf;

use std::error::Error;
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use blueflame::cq::CqeCopy;
use blueflame::cq::mode::PollMode;
use blueflame::transport::Rc;
use blueflame::verbs::device::Gid;
use blueflame::verbs::{self, Access, Buffer, Device, OpenOptions, OwnedCq, Path, Pool, ProtectionDomain, QueuePair};
use blueflame::{CompletionQueue, WrId};

pub use crate::dmabuf::dmabuf;

/// Why a program ends early. `main` prints an error that it returns by `Debug`, which is the text for people here.
pub struct Failure(pub Box<dyn Error>);

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        // The texts of most errors have their causes.
        let mut told = self.0.to_string();
        let mut source = self.0.source();
        while let Some(error) = source {
            let more = error.to_string();
            if !told.contains(&more) {
                write!(f, ": {more}")?;
                told += &more;
            }
            source = error.source();
        }
        Ok(())
    }
}

impl<E: Into<Box<dyn Error>>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

/// The EtherType of frames of these programs: one for experiments (IEEE Std 802, local experimental EtherTypes).
pub const EXPERIMENT: u16 = 0x88b5;

/// No device needs this long.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens the device that the program's first argument names, or the first one.
///
/// # Errors
/// Those of [`OpenOptions::open`].
pub fn open(options: OpenOptions) -> Result<Device, verbs::Error> {
    match std::env::args().nth(1) {
        Some(name) => options.open(&name),
        None => options.open_first(),
    }
}

/// Registered memory of `bytes` bytes, all rights permitted.
///
/// # Errors
/// No memory, or no registration.
pub fn buffer(pd: &ProtectionDomain, bytes: usize) -> Result<Buffer, verbs::Error> {
    Pool::new(pd, bytes, Access::ALL)?.take(bytes)
}

/// A frame to `station`: Ethernet, IPv4, UDP, four bytes, and inside of these IPv4, UDP and four bytes. It has no
/// checksums.
pub fn tunnel(station: [u8; 6]) -> Vec<u8> {
    let ip = |bytes: u8| [0x45, 0, 0, bytes, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    let udp = |bytes: u8| [0x30, 0x39, 0x0f, 0xa0, 0, bytes, 0, 0];
    let ethernet = [&station[..], &station, &[8, 0]].concat();
    [&ethernet[..], &ip(64), &udp(44), b"your", &ip(32), &udp(12), b"data"].concat()
}

/// The address of port 1, which its first GID contains (RFC 4291, appendix A).
///
/// # Errors
/// The port is no Ethernet port.
pub fn own_address(device: &Device) -> Result<[u8; 6], Failure> {
    let entry = device.gid(1, 0)?.ok_or("port 1 has no GID")?;
    match entry.gid {
        Gid([0xfe, 0x80, .., a, b, c, 0xff, 0xfe, d, e, f]) => Ok([a ^ 2, b, c, d, e, f]),
        other => Err(format!("port 1 is no Ethernet port: no MAC address is in its first GID, {other:?}").into()),
    }
}

/// One end of a reliable connection.
///
/// The fields are dropped in this order: the memory is registered longer than the queues that may name it.
pub struct End {
    /// The queues.
    pub pair: QueuePair<Rc>,
    /// Where both queues complete.
    pub cq: OwnedCq,
    /// 64 KiB of memory.
    pub buffer: Buffer,
}

impl End {
    /// Makes an end, in RESET.
    ///
    /// # Errors
    /// A failed call.
    pub fn new(pd: &ProtectionDomain) -> Result<Self, verbs::Error> {
        // 65 completions of sends, and 16 of receives.
        let cq = pd.device().completion_queue(81).build()?;
        let pair = pd.queue_pair::<Rc>(&cq, &cq).sends(64).send_sge(2).inline(64).receives(16).build()?;
        Ok(Self { pair, cq, buffer: buffer(pd, 1 << 16)? })
    }

    /// Waits for the next completion of a send, and returns the request's `wr_id`.
    ///
    /// # Errors
    /// The request failed, the completion belongs to another queue, or there is none within ten seconds.
    pub fn sent(&mut self) -> Result<WrId, Failure> {
        let Self { pair, cq, .. } = self;
        Ok(completion(cq, |cqe| pair.sq.complete(cqe))?.wr_id)
    }

    /// Waits for the next completion of a receive, and returns its `wr_id` and the number of bytes received.
    ///
    /// # Errors
    /// The receive failed, the completion belongs to another queue, or there is none within ten seconds.
    pub fn received(&mut self) -> Result<(WrId, u32), Failure> {
        let Self { pair, cq, .. } = self;
        let rq = &mut pair.rq;
        let received = completion(cq, |cqe| rq.complete(cqe))?;
        Ok((received.buffer, received.bytes))
    }
}

/// Two ends on port 1 that are connected with each other.
///
/// # Errors
/// A failed call.
pub fn connected(pd: &ProtectionDomain) -> Result<(End, End), verbs::Error> {
    let path = pd.device().path(1, None)?;
    let (mut near, mut far) = (End::new(pd)?, End::new(pd)?);
    connect(&path, &mut near.pair, &mut far.pair)?;
    Ok((near, far))
}

/// Connects two queue pairs of one device: from RESET to RTS.
///
/// # Errors
/// A failed call.
pub fn connect(path: &Path, near: &mut QueuePair<Rc>, far: &mut QueuePair<Rc>) -> Result<(), verbs::Error> {
    // Each end tells the other one its address and its first packet number, by any way that both have.
    let (here, there) = (near.qp.endpoint(path), far.qp.endpoint(path));
    far.connect(path, &there, &here)?;
    near.connect(path, &here, &there)
}

/// Waits for the next completion, and gives it to `take`, which takes its request back.
///
/// # Errors
/// The error of `take`, or no completion within ten seconds.
pub fn completion<M: PollMode, T, E: Into<Failure>>(
    cq: &mut CompletionQueue<M>,
    mut take: impl FnMut(&CqeCopy<'_>) -> Result<T, E>,
) -> Result<T, Failure> {
    until(|| cq.poll().map(|cqe| take(&cqe)).transpose().map_err(Into::into))
}

/// Calls `look` until it finds a value.
///
/// # Errors
/// The error of `look`, or no value within ten seconds.
pub fn until<T>(mut look: impl FnMut() -> Result<Option<T>, Failure>) -> Result<T, Failure> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if Instant::now() > deadline {
            return Err("nothing has completed within ten seconds".into());
        }
        // A program that wants the lowest latency spins here, on a CPU of its own.
        thread::yield_now();
    }
}
