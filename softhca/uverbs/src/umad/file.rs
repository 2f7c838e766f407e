//! An open `/dev/infiniband/umadN`: its agents, and the datagrams that wait to be read (`user_mad.c` of Linux).
//!
//! The descriptor that the program has is an eventfd that counts the datagrams, so that it can be polled, and read to
//! wait for one.

use super::abi::{AGENTS, Header, OLD_HEADER_BYTES, Registration, Registration2, request};
use super::agent::{Agent, Wish};
use super::mad::{HEADER_BYTES, Mad};
use super::route;
use super::subnet::{Port, Subnet};
use super::timer::Timer;
use crate::device::Taken;
use crate::process::fds::{self, OpenFile, Own};
use crate::process::{Errno, lock, real, user};
use rustix::io::fcntl_dupfd_cloexec;
use softhca::gsi::MAD_BYTES;
use softhca_settings::Settings;
use std::collections::VecDeque;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use zerocopy::IntoBytes;

/// Least bytes of a datagram that is sent (`IB_MGMT_RMPP_HDR`).
const LEAST_BYTES: usize = 36;
/// Most datagrams that wait to be read. Later ones are lost, as when a port has no room for them.
const MOST_READY: usize = 4096;
/// Most requests that wait for answers. Linux has no limit but memory.
const MOST_WAITING: usize = 4096;

/// A datagram for the program.
pub(super) struct Packet {
    pub(super) header: Header,
    pub(super) bytes: Vec<u8>,
}

/// A request without an answer.
struct Waiting {
    /// When the program is told.
    deadline: Instant,
    header: Header,
    mad: Mad,
}

#[derive(Default)]
struct State {
    /// The program knows the header with a P_Key index.
    has_pkey_index: bool,
    /// An agent was registered.
    is_used: bool,
    agents: [Option<Agent>; AGENTS],
    ready: VecDeque<Packet>,
    waiting: Vec<Waiting>,
}

/// An open file.
pub(crate) struct UmadFile {
    /// Its port.
    pub(super) port: Port,
    settings: Arc<Settings>,
    _own: Own,
    /// The eventfd, by a descriptor of ours.
    counter: OwnedFd,
    state: Mutex<State>,
    timer: Arc<Timer>,
}

impl UmadFile {
    /// Opens the file of `port` with these flags of `open`; also gives the program's descriptor.
    pub(super) fn new(port: Port, settings: Arc<Settings>, flags: i32) -> Result<(Arc<Self>, OwnedFd), Errno> {
        let program = fds::counter(flags)?;
        let counter = fcntl_dupfd_cloexec(&program, 0)?;
        let file =
            Self { port, settings, _own: Own::new(&counter), counter, state: Mutex::default(), timer: Arc::default() };
        Ok((Arc::new(file), program))
    }

    /// One more is there to read. The counter cannot be full: it has 64 bits.
    fn count(&self) {
        let one = 1_u64;
        // SAFETY: eight bytes of a local variable; past our own definition of write.
        unsafe { real::write(self.counter.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    fn deliver(&self, state: &mut State, packet: Packet) {
        if state.ready.len() < MOST_READY {
            state.ready.push_back(packet);
            self.count();
        }
    }

    /// Answers a request of `ioctl` (`ib_umad_ioctl`).
    pub(crate) fn ioctl(&self, number: u64, argument: u64) -> Result<(), Errno> {
        match number {
            request::REGISTER_AGENT => self.register(argument),
            request::REGISTER_AGENT2 => self.register2(argument),
            request::UNREGISTER_AGENT => self.unregister(argument),
            request::ENABLE_PKEY => {
                let mut state = lock(&self.state);
                if state.is_used {
                    return Err(Errno::EINVAL);
                }
                state.has_pkey_index = true;
                Ok(())
            }
            _ => Err(Errno::ENOTTY),
        }
    }

    fn register(&self, at: u64) -> Result<(), Errno> {
        let asked: Registration = user::read_prefix(at, size_of::<Registration>())?;
        let wish = Wish {
            qpn: asked.qpn.into(),
            class: asked.mgmt_class,
            version: asked.mgmt_class_version,
            oui: asked.oui,
            rmpp_version: asked.rmpp_version,
        };
        self.add(&wish, at + std::mem::offset_of!(Registration, id) as u64, false)
    }

    fn register2(&self, at: u64) -> Result<(), Errno> {
        let asked: Registration2 = user::read_prefix(at, size_of::<Registration2>())?;
        if asked.qpn > 1 {
            return Err(Errno::EINVAL);
        }
        if asked.flags != 0 {
            // No flags exist.
            user::write(at + std::mem::offset_of!(Registration2, flags) as u64, &[0; 4])?;
            return Err(Errno::EINVAL);
        }
        let [top, oui @ ..] = asked.oui.to_be_bytes();
        if asked.mgmt_class != 0 && top != 0 {
            return Err(Errno::EINVAL);
        }
        let wish = Wish {
            qpn: asked.qpn,
            class: asked.mgmt_class,
            version: asked.mgmt_class_version,
            oui,
            rmpp_version: asked.rmpp_version,
        };
        self.add(&wish, at + std::mem::offset_of!(Registration2, id) as u64, true)
    }

    /// Adds an agent, and writes its number to `id_at`.
    fn add(&self, wish: &Wish, id_at: u64, has_pkey_index: bool) -> Result<(), Errno> {
        let mut state = lock(&self.state);
        let id = state.agents.iter().position(Option::is_none).ok_or(Errno::ENOMEM)?;
        let agent = Agent::new(wish, self.settings.link)?;
        user::write(id_at, &(id as u32).to_ne_bytes())?;
        state.agents[id] = Some(agent);
        state.has_pkey_index |= has_pkey_index && !state.is_used;
        state.is_used = true;
        Ok(())
    }

    fn unregister(&self, at: u64) -> Result<(), Errno> {
        let mut id = [0; 4];
        user::read(at, &mut id)?;
        let id = u32::from_ne_bytes(id);
        let mut state = lock(&self.state);
        let place = state.agents.get_mut(id as usize).filter(|place| place.is_some()).ok_or(Errno::EINVAL)?;
        *place = None;
        // Nobody is left to be told.
        state.waiting.retain(|waiting| waiting.header.id != id);
        Ok(())
    }

    /// Sends the datagram of `len` bytes at `address`, with its header before it (`ib_umad_write`).
    pub(crate) fn write(self: &Arc<Self>, address: u64, len: usize) -> Result<usize, Errno> {
        let header_bytes = header_bytes(&lock(&self.state));
        let mad_bytes = len.checked_sub(header_bytes).filter(|bytes| *bytes >= LEAST_BYTES).ok_or(Errno::EINVAL)?;
        let header: Header = user::read_prefix(address, header_bytes)?;
        if mad_bytes > MAD_BYTES {
            return Err(Errno::EINVAL);
        }
        let mut mad = Mad([0; MAD_BYTES]);
        user::read(address + header_bytes as u64, &mut mad.0[..mad_bytes])?;
        self.send(header, mad)?;
        Ok(len)
    }

    /// Sends a datagram. The program can then read its answer, or the report that none came.
    fn send(self: &Arc<Self>, header: Header, mut mad: Mad) -> Result<(), Errno> {
        let mut state = lock(&self.state);
        let agent = state.agents.get(header.id as usize).copied().flatten().ok_or(Errno::EINVAL)?;
        agent.claim(&mut mad);
        let is_duplicate = |waiting: &Waiting| {
            let same = (waiting.mad.transaction(), waiting.mad.class()) == (mad.transaction(), mad.class());
            same && !mad.is_response()
        };
        if state.waiting.iter().any(is_duplicate) {
            return Err(Errno::EINVAL);
        }
        let subnet = Subnet { settings: &self.settings };
        let answer = route::send(subnet, self.port, agent.qpn, &header, &mad)?;
        // Without a time, the program waits for no answer.
        if header.timeout_ms == 0 || mad.is_response() {
            return Ok(());
        }
        // The manager gives a message up whose first segment nobody acknowledges.
        let answer = answer.filter(|(_, bytes)| bytes.len() <= MAD_BYTES || agent.has_rmpp);
        if let Some((answered, bytes)) = answer {
            let length = (header_bytes(&state) + bytes.len()) as u32;
            let header = Header { length, ..answered };
            self.deliver(&mut state, Packet { header, bytes });
            return Ok(());
        }
        if state.waiting.len() >= MOST_WAITING {
            return Err(Errno::ENOMEM);
        }
        let tries = header.retries.saturating_add(1);
        let patience = Duration::from_millis(header.timeout_ms.into()).saturating_mul(tries);
        // Some centuries are enough.
        let now = Instant::now();
        let deadline = now.checked_add(patience).unwrap_or(now + Duration::from_secs(u32::MAX.into()));
        state.waiting.push(Waiting { deadline, header, mad });
        drop(state);
        let file = self.clone();
        self.timer.look(move |now| file.expire(now))
    }

    /// Tells the program of the requests whose time is over at `now`; gives the time of the next.
    fn expire(&self, now: Instant) -> Option<Instant> {
        let mut state = lock(&self.state);
        let (over, waiting): (Vec<_>, Vec<_>) = state.waiting.drain(..).partition(|waiting| waiting.deadline <= now);
        state.waiting = waiting;
        for request in over {
            let header = Header { status: libc::ETIMEDOUT as u32, ..request.header };
            let bytes = request.mad.0[..HEADER_BYTES].to_vec();
            self.deliver(&mut state, Packet { header, bytes });
        }
        state.waiting.iter().map(|waiting| waiting.deadline).min()
    }

    /// Whether a read of `len` bytes can begin.
    pub(crate) fn may_read(&self, len: usize) -> Result<(), Errno> {
        if len < header_bytes(&lock(&self.state)) { Err(Errno::EINVAL) } else { Ok(()) }
    }

    /// Copies the next datagram to `len` bytes at `address`, after one was taken from the counter (`ib_umad_read`).
    pub(crate) fn take(&self, address: u64, len: usize) -> Result<Taken, Errno> {
        let mut state = lock(&self.state);
        let header_bytes = header_bytes(&state);
        let Some(packet) = state.ready.front() else { return Ok(Taken::Nothing) };
        let whole = header_bytes + packet.bytes.len();
        // Of a message that does not fit, the program gets the first segment, which has the length.
        let (part, result) = if len >= whole {
            (packet.bytes.len(), Ok(Taken::Bytes(whole)))
        } else if packet.bytes.len() > MAD_BYTES && len >= header_bytes + MAD_BYTES {
            (MAD_BYTES, Err(Errno::ENOSPC))
        } else {
            (0, Err(Errno::EINVAL))
        };
        let copied = if part == 0 {
            Ok(())
        } else {
            let bytes = [&packet.header.as_bytes()[..header_bytes], &packet.bytes[..part]].concat();
            user::write(address, &bytes)
        };
        let result = copied.and(result);
        if result.is_ok() {
            state.ready.pop_front();
        } else {
            self.count();
        }
        result
    }
}

/// Bytes of the header that the program knows.
fn header_bytes(state: &State) -> usize {
    if state.has_pkey_index { size_of::<Header>() } else { OLD_HEADER_BYTES }
}

impl OpenFile for UmadFile {
    fn close(self: Arc<Self>, _: RawFd) {
        let mut state = lock(&self.state);
        state.waiting.clear();
        state.ready.clear();
        drop(state);
        self.timer.end();
    }
}
