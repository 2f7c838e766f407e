//! Scripts of chaos as files: TOML.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use softhca::faults::Faults;
use softhca::firmware::Status;
use softhca::script::{BadNetwork, EventFate, EventFault, EventKind, Flap, Script, Window, WqeFault};
use std::str::FromStr;
use std::time::Duration;

/// A script for the devices of a launcher's programs, and for the commands that they get.
///
/// As text, each table any number of times, and each with `device = N` if it is about one device:
///
/// ```toml
/// seed = 7                        # of the network's faults
///
/// [[wqe]]                         # a send WQE completes in error
/// queue = 1                       # the first queue pair that sends; each without it
/// nth = 3                         # its third WQE
/// syndrome = 0x15
/// vendor = 0x81
///
/// [[event]]                       # an event comes otherwise
/// kind = "srq-limit"
/// nth = 1                         # the first one; each without it
/// fate = "never"                  # "twice", "late"
/// # by = "5ms"                    # how late
///
/// [[port]]                        # a cable is pulled
/// port = 1                        # of a bond: 1 or 2
/// from = "10ms"
/// to = "20ms"                     # for good without it
///
/// [[not_ready]]                   # receivers are not ready
/// from = "0ms"
/// to = "50ms"
///
/// [[stall]]                       # the device does nothing
/// from = "10ms"
/// to = "1s"
///
/// [[network]]                     # the words of --faults, for a time
/// from = "10ms"
/// to = "20ms"
/// faults = "drop=100,latency=500"
///
/// [[fail]]                        # the device fails for good
/// at = "30ms"
///
/// [[refuse]]                      # the kernel refuses a command of the process
/// command = 5                     # the fifth
/// errno = "ENOMEM"                # or a number
///
/// [[refuse]]                      # the firmware refuses a mailbox
/// mailbox = 0x500                 # the opcode; 0 is any
/// nth = 1
/// status = 0x0f
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chaos {
    file: File,
}

/// A text that is no script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadScript(String);

/// A valid command that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// By the kernel, with this `errno`.
    Command {
        /// Its number among the commands of the process, from 1.
        nth: u64,
        /// The result.
        errno: i32,
    },
    /// By the firmware, with this status.
    Mailbox {
        /// The opcode that counts; 0 is any.
        opcode: u16,
        /// Its number among these mailboxes of the process, from 1.
        nth: u64,
        /// The status (`MLX5_CMD_STAT_*`).
        status: u8,
    },
}

impl Chaos {
    /// The script of device `device`.
    #[must_use]
    pub fn of_device(&self, device: u32) -> Script {
        fn rows<'a, R: Row, T>(rows: &'a [R], device: u32, value: impl Fn(&'a R) -> T + 'a) -> Vec<T> {
            rows.iter().filter(|row| row.device().is_none_or(|of| of == device)).map(value).collect()
        }
        let file = &self.file;
        Script {
            wqes: rows(&file.wqe, device, |row| WqeFault {
                queue: row.queue,
                nth: row.nth,
                syndrome: row.syndrome,
                vendor: row.vendor,
            }),
            events: rows(&file.event, device, |row| EventFault { kind: row.kind, nth: row.nth, fate: row.fate() }),
            ports: rows(&file.port, device, |row| Flap {
                port: row.port,
                window: Window { from: row.from, to: row.to },
            }),
            not_ready: rows(&file.not_ready, device, Times::window),
            stalls: rows(&file.stall, device, Times::window),
            fails: rows(&file.fail, device, |row| row.at).into_iter().min(),
            network: rows(&file.network, device, |row| BadNetwork {
                window: Window { from: row.from, to: row.to },
                faults: row.faults,
            }),
        }
    }

    /// Whether it asks for anything but a seed.
    #[must_use]
    pub fn has_rows(&self) -> bool {
        self.file != File { seed: self.file.seed, ..File::default() }
    }

    /// The seed of the network's faults.
    #[must_use]
    pub fn seed(&self) -> Option<u64> {
        self.file.seed
    }

    /// Commands that are refused.
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        let refusal = |row: &Refuse| match *row {
            Refuse::Command { command: nth, errno } => Refusal::Command { nth, errno },
            Refuse::Mailbox { mailbox: opcode, nth, status } => Refusal::Mailbox { opcode, nth, status },
        };
        self.file.refuse.iter().map(refusal).collect()
    }
}

impl FromStr for Chaos {
    type Err = BadScript;

    fn from_str(text: &str) -> Result<Self, BadScript> {
        let file: File = toml::from_str(text).map_err(|error| BadScript(error.to_string().trim_end().to_owned()))?;
        let chaos = Self { file };
        chaos.check().map_err(BadScript)?;
        Ok(chaos)
    }
}

impl Chaos {
    fn check(&self) -> Result<(), String> {
        let file = &self.file;
        for row in &file.wqe {
            let fault = WqeFault { queue: row.queue, nth: row.nth, syndrome: row.syndrome, vendor: row.vendor };
            if !fault.has_known_syndrome() {
                return Err(format!("[[wqe]]: no syndrome {:#04x}", row.syndrome));
            }
            if row.nth == 0 || row.queue == Some(0) {
                return Err("[[wqe]]: queues and WQEs count from 1".to_owned());
            }
        }
        for row in &file.event {
            if row.nth == Some(0) {
                return Err("[[event]]: events count from 1".to_owned());
            }
            if (row.fate == FateWord::Late) != row.by.is_some() {
                return Err(format!("[[event]] {}: `by` belongs to a late event", row.kind.name()));
            }
        }
        let times = file.stall.iter().chain(&file.not_ready).map(|row| (row.from, row.to));
        let times = times.chain(file.port.iter().map(|row| (row.from, row.to)));
        for (from, to) in times.chain(file.network.iter().map(|row| (row.from, row.to))) {
            if to.is_some_and(|to| to <= from) {
                return Err(format!("from {from:?} to {to:?}: the end is not after the beginning"));
            }
        }
        for row in &file.refuse {
            match *row {
                Refuse::Command { command: 0, .. } | Refuse::Mailbox { nth: 0, .. } => {
                    return Err("[[refuse]]: commands count from 1".to_owned());
                }
                Refuse::Mailbox { status, .. }
                    if Status::from_number(status).is_none_or(|status| status == Status::Ok) =>
                {
                    return Err(format!("[[refuse]]: no status {status:#04x}"));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    seed: Option<u64>,
    wqe: Vec<Wqe>,
    event: Vec<Event>,
    port: Vec<Port>,
    not_ready: Vec<Times>,
    stall: Vec<Times>,
    network: Vec<Network>,
    fail: Vec<Fail>,
    refuse: Vec<Refuse>,
}

/// A row that may be about one device.
trait Row {
    fn device(&self) -> Option<u32>;
}

macro_rules! rows {
    ($($row:ty),*) => {
        $(impl Row for $row {
            fn device(&self) -> Option<u32> {
                self.device
            }
        })*
    };
}

rows!(Wqe, Event, Port, Times, Network, Fail);

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wqe {
    device: Option<u32>,
    queue: Option<u32>,
    nth: u64,
    syndrome: u8,
    #[serde(default)]
    vendor: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    device: Option<u32>,
    #[serde(deserialize_with = "kind")]
    kind: EventKind,
    nth: Option<u64>,
    fate: FateWord,
    #[serde(default, deserialize_with = "some_time")]
    by: Option<Duration>,
}

impl Event {
    fn fate(&self) -> EventFate {
        match self.fate {
            FateWord::Late => EventFate::Late(self.by.unwrap_or_default()),
            FateWord::Twice => EventFate::Twice,
            FateWord::Never => EventFate::Never,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FateWord {
    Late,
    Twice,
    Never,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Port {
    device: Option<u32>,
    port: u8,
    #[serde(deserialize_with = "time")]
    from: Duration,
    #[serde(default, deserialize_with = "some_time")]
    to: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Times {
    device: Option<u32>,
    #[serde(deserialize_with = "time")]
    from: Duration,
    #[serde(default, deserialize_with = "some_time")]
    to: Option<Duration>,
}

impl Times {
    fn window(&self) -> Window {
        Window { from: self.from, to: self.to }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Network {
    device: Option<u32>,
    #[serde(deserialize_with = "time")]
    from: Duration,
    #[serde(default, deserialize_with = "some_time")]
    to: Option<Duration>,
    #[serde(deserialize_with = "words")]
    faults: Faults,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fail {
    device: Option<u32>,
    #[serde(deserialize_with = "time")]
    at: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "`command` with `errno`, or `mailbox` with `nth` and `status`")]
enum Refuse {
    Command {
        command: u64,
        #[serde(deserialize_with = "errno")]
        errno: i32,
    },
    Mailbox {
        mailbox: u16,
        nth: u64,
        status: u8,
    },
}

fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(from)?;
    humantime::parse_duration(&text).map_err(|error| D::Error::custom(format!("`{text}`: {error}")))
}

fn some_time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    time(from).map(Some)
}

fn words<'de, D: Deserializer<'de>>(from: D) -> Result<Faults, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

fn kind<'de, D: Deserializer<'de>>(from: D) -> Result<EventKind, D::Error> {
    let name = String::deserialize(from)?;
    EventKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let names = EventKind::ALL.map(EventKind::name).join(", ");
        D::Error::custom(format!("`{name}` is none of {names}"))
    })
}

/// Error numbers that commands of verbs end with, by their names.
const ERRNOS: [(&str, i32); 14] = [
    ("EPERM", 1),
    ("ENOENT", 2),
    ("EIO", 5),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("EBUSY", 16),
    ("ENODEV", 19),
    ("EINVAL", 22),
    ("ENOSPC", 28),
    ("ENOSYS", 38),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
];

fn errno<'de, D: Deserializer<'de>>(from: D) -> Result<i32, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Word {
        Number(i32),
        Name(String),
    }
    match Word::deserialize(from)? {
        Word::Number(number) if (1..4096).contains(&number) => Ok(number),
        Word::Number(number) => Err(D::Error::custom(format!("{number} is no error number"))),
        Word::Name(name) => {
            let known = ERRNOS.iter().find(|(known, _)| *known == name);
            known.map(|(_, number)| *number).ok_or_else(|| D::Error::custom(format!("`{name}`: give the number")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn each_table_is_read() {
        let text = r#"
            seed = 7
            [[wqe]]
            queue = 1
            nth = 3
            syndrome = 0x15
            vendor = 0x81
            [[event]]
            kind = "srq-limit"
            fate = "never"
            [[event]]
            kind = "completion"
            nth = 2
            fate = "late"
            by = "5ms"
            [[port]]
            device = 1
            port = 2
            from = "10ms"
            to = "20ms"
            [[not_ready]]
            from = "0ms"
            to = "50ms"
            [[stall]]
            from = "1s"
            [[network]]
            from = "10ms"
            faults = "drop=100,latency=500"
            [[fail]]
            at = "30ms"
            [[refuse]]
            command = 5
            errno = "ENOMEM"
            [[refuse]]
            mailbox = 0x500
            nth = 1
            status = 0x0f
        "#;
        let chaos: Chaos = text.parse().unwrap();
        let first = chaos.of_device(0);
        assert_eq!(first.wqes, [WqeFault { queue: Some(1), nth: 3, syndrome: 0x15, vendor: 0x81 }]);
        let late = EventFault { kind: EventKind::Completion, nth: Some(2), fate: EventFate::Late(millis(5)) };
        assert_eq!(first.events, [EventFault { kind: EventKind::SrqLimit, nth: None, fate: EventFate::Never }, late]);
        assert_eq!(first.ports, []);
        let port = Flap { port: 2, window: Window { from: millis(10), to: Some(millis(20)) } };
        assert_eq!(chaos.of_device(1).ports, [port]);
        assert_eq!(first.not_ready, [Window { from: millis(0), to: Some(millis(50)) }]);
        assert_eq!(first.stalls, [Window { from: millis(1000), to: None }]);
        assert_eq!(first.network[0].faults, "drop=100,latency=500".parse().unwrap());
        assert_eq!((first.fails, chaos.seed()), (Some(millis(30)), Some(7)));
        let mailbox = Refusal::Mailbox { opcode: 0x500, nth: 1, status: 0x0f };
        assert_eq!(chaos.refusals(), [Refusal::Command { nth: 5, errno: 12 }, mailbox]);
        assert_eq!("".parse::<Chaos>().unwrap().of_device(0), Script::default());
    }

    #[test]
    fn mistakes_are_named() {
        for (text, why) in [
            ("[[wqe]]\nnth = 1\nsyndrome = 0x77", "no syndrome 0x77"),
            ("[[wqe]]\nnth = 0\nsyndrome = 0x15", "count from 1"),
            ("[[wqe]]\nsyndrome = 0x15", "missing field `nth`"),
            ("[[event]]\nkind = \"srq\"\nfate = \"never\"", "`srq` is none of completion, cq-error"),
            ("[[event]]\nkind = \"srq-limit\"\nfate = \"late\"", "`by` belongs to a late event"),
            ("[[event]]\nkind = \"srq-limit\"\nfate = \"gone\"", "unknown variant"),
            ("[[stall]]\nfrom = \"5 apples\"", "5 apples"),
            ("[[stall]]\nfrom = \"5ms\"\nto = \"5ms\"", "the end is not after"),
            ("[[network]]\nfrom = \"0s\"\nfaults = \"lose=1\"", "`lose` is none of"),
            ("[[refuse]]\ncommand = 1\nerrno = \"EWHAT\"", "[[refuse]]"),
            ("[[refuse]]\nmailbox = 0x500\nnth = 1\nstatus = 0x33", "no status 0x33"),
            ("[[chaos]]", "unknown field `chaos`"),
        ] {
            let error = text.parse::<Chaos>().unwrap_err().to_string();
            let found = error.contains(why) || why == "[[refuse]]" && error.contains("refuse");
            assert!(found, "{text:?}: {error}");
        }
    }
}
