//! All queues at a time, and the speeds between two times.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use blueflame_decode::printable;
use serde::Serialize;

use super::kernel;
use super::queue::{Name, Queue, Wanted};
use super::software::Folder;

/// Where the queues are looked up.
pub(crate) enum Source {
    /// Files of the software devices of one launcher.
    Software(Folder),
    /// RDMA netlink.
    Kernel,
}

/// All queues at a time.
#[derive(Debug)]
pub(crate) struct Reading {
    queues: Vec<Queue>,
    at: Instant,
}

impl Source {
    /// The software device's, if there is one.
    pub(crate) fn open() -> Self {
        match env::var_os("SOFTHCA_SYSFS") {
            Some(tree) => Self::Software(Folder::in_tree(&PathBuf::from(tree))),
            None => Self::Kernel,
        }
    }

    /// The source, and its limits, for people.
    pub(crate) const fn says(&self) -> &'static str {
        match self {
            Self::Software(_) => {
                "software devices of this launcher: WQEBBs fetched, receives taken, messages, completions"
            }
            Self::Kernel => {
                "RDMA netlink: queues, states, peers and processes. A NIC's kernel has no counters of single queues; \
                 the ports' are those of `blueflame top`"
            }
        }
    }

    /// The wanted queues now.
    ///
    /// # Errors
    /// The kernel or the folder refuses.
    pub(crate) fn read(&self, wanted: &Wanted) -> Result<Reading> {
        let mut queues = match self {
            Self::Software(folder) => folder.queues().context("the queues of the software device")?,
            Self::Kernel => kernel::queues().context("RDMA netlink")?,
        };
        queues.retain(|queue| wanted.has(queue));
        queues.sort_by_key(Queue::name);
        Ok(Reading { queues, at: Instant::now() })
    }
}

impl Reading {
    /// The queues with their speeds since an earlier reading.
    pub(crate) fn since(&self, before: &Self) -> Vec<Queue> {
        self.after(before, self.at.saturating_duration_since(before.at).as_secs_f64())
    }

    fn after(&self, before: &Self, seconds: f64) -> Vec<Queue> {
        let earlier: BTreeMap<Name, &Queue> = before.queues.iter().map(|queue| (queue.name(), queue)).collect();
        let speed = |queue: &Queue| {
            let then = earlier.get(&queue.name());
            let speed = |(&name, &now): (&&'static str, &u64)| {
                // A new queue has done all of its work since.
                let then = then.and_then(|then| then.counters.get(name)).copied().unwrap_or(0);
                let change = now.checked_sub(then).unwrap_or(now);
                (name, if seconds > 0.0 { change as f64 / seconds } else { 0.0 })
            };
            Queue { per_second: queue.counters.iter().map(speed).collect(), ..queue.clone() }
        };
        self.queues.iter().map(speed).collect()
    }
}

/// A sample, for JSON.
#[derive(Serialize)]
pub(crate) struct Sample<'a> {
    pub(crate) source: &'static str,
    pub(crate) queues: &'a [Queue],
}

/// Prints a sample as text.
pub(crate) fn print(out: &mut impl Write, source: &Source, queues: &[Queue]) -> io::Result<()> {
    writeln!(out, "{}", source.says())?;
    for queue in queues {
        let word = |text: &Option<String>| text.as_ref().map_or(String::new(), |text| format!(", {}", printable(text)));
        let peer = queue.peer.map_or(String::new(), |peer| format!(", peer {peer:#x}"));
        let entries = queue.entries.map_or(String::new(), |entries| format!(", {entries} entries"));
        let owner = queue.pid.map_or(String::new(), |pid| format!(", pid {pid}"));
        writeln!(
            out,
            "{} {} {:#x}{}{}{peer}{entries}{owner}{}",
            printable(&queue.device),
            queue.kind.word(),
            queue.number,
            word(&queue.transport),
            word(&queue.state),
            word(&queue.program),
        )?;
        for (name, value) in &queue.counters {
            let per_second = queue.per_second.get(name).copied().unwrap_or_default();
            writeln!(out, "  {name:<34} {value:<22} {per_second:.1} a second")?;
        }
        for (name, value) in &queue.waiting {
            writeln!(out, "  {name:<34} {value}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::queue::Kind;
    use super::*;

    fn queue(number: u32, messages: u64) -> Queue {
        let mut queue = Queue::new("mlx5_0", None, Kind::Pair, number);
        queue.counters.insert("messages", messages);
        queue
    }

    fn reading(queues: Vec<Queue>) -> Reading {
        Reading { queues, at: Instant::now() }
    }

    #[test]
    fn speeds_are_those_of_the_same_queue() {
        let before = reading(vec![queue(1, 10), queue(2, 100), queue(4, 9)]);
        // Another queue with the number of an old one, and a new queue.
        let now = reading(vec![queue(1, 30), queue(2, 4), queue(3, 8)]);
        let speeds: Vec<_> = now.after(&before, 2.0).iter().map(|queue| queue.per_second["messages"]).collect();
        assert_eq!(speeds, [10.0, 2.0, 4.0]);
        assert_eq!(now.after(&before, 0.0)[0].per_second["messages"], 0.0);
    }

    #[test]
    fn the_wanted_queues_are_those_of_a_device_and_a_process() {
        let mut own = queue(1, 0);
        own.pid = Some(7);
        let wanted = |device: Option<&str>, pid| Wanted { device: device.map(str::to_owned), pid };
        assert!(wanted(None, None).has(&own) && wanted(Some("mlx5_0"), Some(7)).has(&own));
        assert!(!wanted(Some("mlx5_1"), None).has(&own) && !wanted(None, Some(8)).has(&own));
        assert!(!wanted(None, Some(7)).has(&queue(1, 0)));
    }

    /// A program gives itself any name, by `prctl(PR_SET_NAME)`, and writes the other words into its file.
    #[test]
    fn names_of_others_cannot_steer_the_terminal() {
        let mut all = queue(0x1f, 5);
        all.device = "mlx\u{1b}[2J".into();
        all.program = Some("\u{1b}]0;owned\u{7}\n\u{202e}moor".into());
        (all.transport, all.state) = (Some("RC\r".into()), Some("RTS\u{2028}\u{2066}".into()));
        let mut text = Vec::new();
        print(&mut text, &Source::Kernel, &[all]).expect("written");
        let text = String::from_utf8(text).expect("text");
        let expected =
            "mlx\\u{1b}[2J QP 0x1f, RC\\u{d}, RTS\\u{2028}\\u{2066}, \\u{1b}]0;owned\\u{7}\\u{a}\\u{202e}moor";
        assert_eq!(text.lines().nth(1), Some(expected), "{text}");
    }

    #[test]
    fn text_has_all_that_is_known() {
        let mut all = queue(0x1f, 5);
        (all.transport, all.state, all.peer) = (Some("RC".into()), Some("RTS".into()), Some(0x20));
        all.waiting.insert("receives posted", 3);
        let mut text = Vec::new();
        print(&mut text, &Source::Kernel, &[all]).expect("written");
        let text = String::from_utf8(text).expect("text");
        assert!(text.contains("mlx5_0 QP 0x1f, RC, RTS, peer 0x20\n  messages"), "{text}");
        assert!(text.contains("receives posted") && text.starts_with("RDMA netlink"), "{text}");
    }
}
