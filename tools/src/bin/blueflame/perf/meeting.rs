//! The meeting of both ends over TCP: perftest's exchange, as its releases 4.5 and later have it, and a few lines of
//! our own where the peer is this tool as well.
//!
//! ```text
//!   version (16 bytes), page size and cache line (4 and 4), MTU (2)         always
//!   plan, as JSON                                                            if the peer is this tool
//!   keys of each queue pair, connect, keys again                             always; initiators before targets
//!   start, run, finish                                                       of each size
//!   end
//! ```
//!
//! In each step, the client writes first, and the server answers. A peer of this tool has a mark in the version's
//! spare bytes, which perftest does not look at.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use blueflame::verbs::Path;
use blueflame::verbs::device::Mtu;
use blueflame::verbs::handshake::Deadline;
use blueflame_decode::printable;
use common::{Failure, PATIENCE, Role};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::keys::{Keys, Sides};
use super::plan::{Figure, Limit, Plan, Service, Verb, name};

/// The version of the exchange, a zero byte, and the mark.
const VERSION: [u8; 16] = *b"6.06\0blueflame\0\0";
/// The place of the mark.
const MARK: usize = 5;
/// The oldest exchange that is spoken. perftest 4.5 has 6.06, and refuses older ones than this, too.
const OLDEST: f64 = 5.70;
/// Bytes that a message moves within, at least.
const PAGE: u32 = 4096;
/// The longest page of a peer: of all CPUs that Linux runs on, none has longer ones by default.
const LONGEST_PAGE: u32 = 1 << 18;
const CACHE_LINE: u32 = 64;
/// The last word of perftest's programs.
const DONE: &[u8; 5] = b"done\0";
/// Bytes of a line of ours, at most.
const LONGEST: u32 = 1 << 20;
/// How often the stream is looked at, while the peer runs.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// How long the kernel may take to close the connection of a process that has ended.
const CLOSING: Duration = Duration::from_millis(200);
/// The time that each queue pair may add to a step: the peer makes and connects them one by one.
const EACH: Duration = Duration::from_millis(20);
/// Says that an end has sent its last message.
const WORD: &[u8; 1] = b"W";

/// Message counts of an end. Peers of this tool tell each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    /// Messages sent, of all queues, measured or not.
    pub(super) sent: u64,
    /// Messages received.
    pub(super) received: u64,
}

/// The figures that perftest's ends tell each other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rates {
    pub(super) bytes: u64,
    pub(super) messages: u64,
    /// MB/s of 2^20 bytes.
    pub(super) megabytes: f64,
    /// Millions of messages a second.
    pub(super) millions: f64,
}

/// Signs of the peer, while a run is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// It has said nothing.
    None,
    /// It has said something: its run is over.
    Word,
    /// It has closed the stream.
    End,
}

/// An exchange.
pub(super) struct Meeting {
    stream: TcpStream,
    /// The end of the step. A peer that sends byte after byte has no more time than one that is silent.
    until: Instant,
    role: Role,
    is_ours: bool,
    version: String,
    has_gid: bool,
    mtu: Mtu,
    /// Bytes that the peer moves within, at least.
    pub(super) page: usize,
    plan: Plan,
    /// The first queue pair's.
    keys: Option<Keys>,
}

impl Meeting {
    /// Tells the peer the plan. A server whose client is this tool takes the client's plan.
    ///
    /// # Errors
    /// A peer that speaks otherwise, or has another plan.
    pub(super) fn begin(stream: TcpStream, role: Role, plan: &Plan, path: &Path) -> Result<Self, Failure> {
        let mut meeting = Self {
            stream,
            until: Instant::now() + PATIENCE,
            role,
            is_ours: false,
            version: String::new(),
            has_gid: path.sgid.is_some(),
            mtu: path.mtu,
            page: PAGE as usize,
            plan: plan.clone(),
            keys: None,
        };
        let version = meeting.swap(&VERSION)?;
        meeting.is_ours = version[MARK..] == VERSION[MARK..];
        let text = String::from_utf8_lossy(version.split(|&byte| byte == 0).next().unwrap_or(&[])).into_owned();
        let number: f64 = text.parse().map_err(|_| format!("the peer is no perftest: its version is {text:?}"))?;
        if number.is_nan() || number < OLDEST {
            return Err(format!("the peer's exchange has version {text}; {OLDEST:.2} is the oldest spoken").into());
        }
        meeting.version = text;
        let page = number_of(&meeting.swap(&PAGE.to_be_bytes())?);
        if page > LONGEST_PAGE {
            return Err(format!("the peer's page has {page} bytes; {LONGEST_PAGE} is the most").into());
        }
        meeting.page = meeting.page.max(page.try_into()?);
        meeting.swap(&CACHE_LINE.to_be_bytes())?;
        // perftest's raw_ethernet programs have no exchange.
        let has_mtu = plan.service != Service::Raw;
        if has_mtu {
            let mtu = meeting.swap(&[b'0' + path.mtu as u8, 0])?;
            let theirs = Mtu::ALL.into_iter().find(|&known| known as u8 + b'0' == mtu[0]);
            meeting.mtu = theirs.ok_or_else(|| format!("the peer's MTU is {mtu:?}"))?.min(path.mtu);
        }
        if meeting.is_ours {
            meeting.agree()?
        } else {
            meeting.bear_with_perftest()?
        }
        Ok(meeting)
    }

    /// Both ends are this tool.
    fn agree(&mut self) -> Result<(), Failure> {
        let theirs: Plan = self.swap_line(&self.plan.clone())?;
        let what = |plan: &Plan| format!("{} {}", name(&plan.verb), name(&plan.figure));
        let (mine, peers) = (what(&self.plan), what(&theirs));
        if mine != peers {
            return Err(format!("this end measures {mine}, the peer {peers}").into());
        }
        if self.role == Role::Server {
            let mine = &self.plan;
            self.plan = Plan {
                tx_depth: mine.tx_depth,
                rx_depth: mine.rx_depth,
                post_list: mine.post_list,
                cq_mod: mine.cq_mod,
                inline: mine.inline,
                rate: None,
                ..theirs
            };
            self.plan.check().map_err(|error| format!("the peer's plan: {error}"))?;
        }
        Ok(())
    }

    /// The peer is perftest, which knows less.
    fn bear_with_perftest(&self) -> Result<(), Failure> {
        let Plan { verb, figure, service, warm_up, rate, .. } = self.plan;
        let not = |what: &str| Err(format!("the peer is perftest: {what}").into());
        match service {
            Service::Raw => return not("its programs for frames have no exchange"),
            Service::Rc | Service::Uc | Service::Ud | Service::Dc | Service::Xrc => {}
        }
        if warm_up > 0 && (verb == Verb::Send || figure == Figure::Lat && verb == Verb::Write) {
            return not("it counts the messages, so that --warm-up has no place: use -D");
        }
        if rate.is_some() && figure == Figure::Lat && verb == Verb::Write {
            return not("its server writes first, so that --rate has no place");
        }
        if figure == Figure::Lat && self.plan.queues > 1 {
            return not("it measures latency on one queue");
        }
        Ok(())
    }

    /// The plan of both ends.
    pub(super) const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether the peer is this tool.
    pub(super) const fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// The peer's name.
    pub(super) fn peer(&self) -> String {
        if self.is_ours { "blueflame".into() } else { format!("perftest, exchange {}", self.version) }
    }

    /// The lesser MTU.
    pub(super) const fn mtu(&self) -> Mtu {
        self.mtu
    }

    /// Tells the queue pairs, and learns the peer's.
    ///
    /// # Errors
    /// A peer that speaks otherwise.
    pub(super) fn keys(&mut self, ours: &[Sides]) -> Result<Vec<Sides>, Failure> {
        let ours = self.list(ours);
        self.begin_step(ours.len());
        self.keys = ours.first().copied();
        if self.plan.figure == Figure::Lat && self.plan.verb != Verb::Send {
            self.first_keys()?;
        }
        self.all_keys(&ours)
    }

    fn list(&self, ours: &[Sides]) -> Vec<Keys> {
        Sides::list(ours, self.plan.has_two_sides(), self.role == Role::Client)
    }

    /// Waits until both ends are connected, to peers whose keys are `ours`, and learns the peer's anew: perftest's
    /// targets of dynamic connections have no numbers before.
    ///
    /// # Errors
    /// As for [`keys`](Self::keys).
    pub(super) fn connected(&mut self, ours: &[Sides]) -> Result<Vec<Sides>, Failure> {
        let ours = self.list(ours);
        self.begin_step(ours.len());
        if self.plan.verb == Verb::Send {
            self.first_keys()?;
            self.all_keys(&ours)
        } else {
            let theirs = self.all_keys(&ours)?;
            self.first_keys()?;
            Ok(theirs)
        }
    }

    fn all_keys(&mut self, ours: &[Keys]) -> Result<Vec<Sides>, Failure> {
        let theirs = ours.iter().map(|keys| self.swap_keys(keys)).collect::<Result<Vec<_>, _>>()?;
        Ok(Sides::of(&theirs, self.plan.has_two_sides()))
    }

    fn first_keys(&mut self) -> Result<(), Failure> {
        let keys = self.keys.ok_or("no queue pairs")?;
        self.swap_keys(&keys).map(drop)
    }

    fn swap_keys(&mut self, keys: &Keys) -> Result<Keys, Failure> {
        let bytes = self.swap(&keys.to_bytes(self.has_gid))?;
        Keys::from_bytes(&bytes, self.has_gid, self.mtu)
    }

    const fn is_bw(&self) -> bool {
        !matches!(self.plan.figure, Figure::Lat)
    }

    /// Begins a size at both ends.
    ///
    /// # Errors
    /// As for [`keys`](Self::keys).
    pub(super) fn start(&mut self) -> Result<(), Failure> {
        self.begin_step(0);
        if self.is_ours {
            self.swap(b"S").map(drop)
        } else if self.plan.verb == Verb::Send || self.is_bw() && self.plan.both_ways {
            self.first_keys()
        } else {
            Ok(())
        }
    }

    /// Tells the peer that this end has nothing more to send.
    ///
    /// # Errors
    /// The peer is gone.
    pub(super) fn say(&mut self) -> Result<(), Failure> {
        if self.is_ours { self.put(WORD) } else { Ok(()) }
    }

    /// Waits until the peer has said that.
    ///
    /// # Errors
    /// The peer is gone.
    pub(super) fn hear(&mut self) -> Result<(), Failure> {
        if self.is_ours {
            self.wait()?;
            self.get(&mut [0])?;
        }
        Ok(())
    }

    /// The peer's counts, if it is this tool.
    ///
    /// # Errors
    /// The peer is gone.
    pub(super) fn compare(&mut self, seen: Seen) -> Result<Option<Seen>, Failure> {
        if self.is_ours { self.swap_line(&seen).map(Some) } else { Ok(None) }
    }

    /// Ends a size, of perftest.
    ///
    /// # Errors
    /// As for [`keys`](Self::keys).
    pub(super) fn finish(&mut self, rates: &Rates) -> Result<(), Failure> {
        if self.is_ours || !self.is_bw() {
            return Ok(());
        }
        self.begin_step(0);
        let is_timed = matches!(self.plan.limit, Limit::Time(_));
        let (all, both) = (self.plan.sizes.len() > 1, self.plan.both_ways);
        match self.plan.verb {
            Verb::Send => {
                if both && !is_timed {
                    self.swap_rates(rates)?;
                }
                if all {
                    self.wait()?;
                    self.first_keys()?;
                }
            }
            _ if both => {
                if all {
                    self.wait()?;
                    self.first_keys()?;
                }
                self.swap_rates(rates)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the meeting. A passive server waits here for its client's run.
    ///
    /// # Errors
    /// As for [`keys`](Self::keys).
    pub(super) fn end(mut self, rates: &Rates) -> Result<(), Failure> {
        if self.is_ours {
            return Ok(());
        }
        match (self.plan.verb, self.is_bw()) {
            // The client leaves with its last message.
            (Verb::Write, false) => return Ok(()),
            (Verb::Send, _) | (_, false) => {}
            _ if self.plan.both_ways => {}
            _ => {
                self.wait()?;
                self.first_keys()?;
                self.swap_rates(rates)?;
            }
        }
        self.wait()?;
        self.first_keys()?;
        // perftest does not read it, and may have closed the stream.
        let _ = self.limited().write_all(DONE);
        Ok(())
    }

    fn swap_rates(&mut self, rates: &Rates) -> Result<(), Failure> {
        let Rates { bytes, messages, megabytes, millions } = *rates;
        for word in [bytes, messages, megabytes.to_bits(), megabytes.to_bits(), millions.to_bits()] {
            self.swap(&word.to_be_bytes())?;
        }
        Ok(())
    }

    /// Looks for a sign of the peer, without waiting.
    ///
    /// # Errors
    /// A failed call.
    pub(super) fn look(&self) -> Result<Sign, Failure> {
        self.stream.set_nonblocking(true)?;
        let found = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false)?;
        match found {
            Ok(0) => Ok(Sign::End),
            Ok(_) => Ok(Sign::Word),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Sign::None),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(Sign::End),
            Err(error) => Err(error.into()),
        }
    }

    /// The error of a run, with the cause if the peer's process has ended: requests to it fail before, or after, the
    /// kernel closes its connection.
    pub(super) fn explain(&self, error: Failure) -> Failure {
        let begin = Instant::now();
        while begin.elapsed() < CLOSING {
            match self.look() {
                Ok(Sign::End) => return format!("the peer has left: {error}").into(),
                Ok(Sign::None) => thread::sleep(LOOK_EVERY),
                Ok(Sign::Word) | Err(_) => break,
            }
        }
        error
    }

    /// Waits for a sign of the peer, if the peer speaks first: it may run for as long as it likes. Its words are a step.
    fn wait(&mut self) -> Result<(), Failure> {
        while (self.role == Role::Server || self.is_ours) && self.look()? == Sign::None {
            thread::sleep(LOOK_EVERY);
        }
        self.begin_step(0);
        Ok(())
    }

    /// From now on, the peer has the time of a step for all its messages about `queue_pairs` queue pairs.
    fn begin_step(&mut self, queue_pairs: usize) {
        self.until = Instant::now() + PATIENCE + EACH * queue_pairs as u32;
    }

    /// The client's bytes, then the server's.
    fn swap(&mut self, mine: &[u8]) -> Result<Vec<u8>, Failure> {
        let mut theirs = vec![0; mine.len()];
        if self.role == Role::Client {
            self.put(mine)?;
        }
        self.get(&mut theirs)?;
        if self.role == Role::Server {
            self.put(mine)?;
        }
        Ok(theirs)
    }

    /// Swaps a value, if both ends are this tool.
    ///
    /// # Errors
    /// The errors of [`keys`](Self::keys).
    pub(super) fn swap_line<T: Serialize + DeserializeOwned>(&mut self, mine: &T) -> Result<T, Failure> {
        self.begin_step(0);
        if self.role == Role::Client {
            self.write_line(mine)?;
            return self.read_line();
        }
        let theirs = self.read_line()?;
        self.write_line(mine)?;
        Ok(theirs)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.limited().write_all(bytes).map_err(|error| said(&error))?)
    }

    fn get(&mut self, bytes: &mut [u8]) -> Result<(), Failure> {
        Ok(self.limited().read_exact(bytes).map_err(|error| said(&error))?)
    }

    const fn limited(&mut self) -> Deadline<'_, TcpStream> {
        Deadline::at(&mut self.stream, self.until)
    }

    fn write_line<T: Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        let text = serde_json::to_vec(value)?;
        let mut line = u32::try_from(text.len())?.to_be_bytes().to_vec();
        line.extend(text);
        self.put(&line)
    }

    fn read_line<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        let mut length = [0; 4];
        self.get(&mut length)?;
        let length = u32::from_be_bytes(length);
        if length > LONGEST {
            return Err(format!("the peer's line has {length} bytes").into());
        }
        let mut text = vec![0; length as usize];
        self.get(&mut text)?;
        Ok(serde_json::from_slice(&text)
            .map_err(|error| format!("the peer's line: {}", printable(&error.to_string())))?)
    }
}

fn number_of(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

fn said(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
            "the peer has left: did it say why?".into()
        }
        ErrorKind::TimedOut => "the peer says nothing, or too little: do both ends have the same options?".into(),
        _ => format!("the peer: {error}"),
    }
}
