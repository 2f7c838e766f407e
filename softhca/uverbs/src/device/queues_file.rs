//! The queues of a device, as a file for `blueflame top --queues`: one JSON object, written while the folder of such
//! files exists.

use softhca::context::{QpState, ReceiveSource, Transport};
use softhca::device::Device;
use softhca::qp::QpInfo;
use softhca::query::CqInfo;
use softhca_settings::{Settings, queues_folder};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// So often does the device look for the folder, and then write. No counter wraps twice in between.
const INTERVAL: Duration = Duration::from_millis(20);
/// The pause after the file was written is at least `PAUSE` times as long as the write: queues may be thousands.
const PAUSE: u32 = 4;

/// A counter of the device's that wraps, and its sum.
#[derive(Clone, Copy, Default)]
struct Sum {
    last: u32,
    total: u64,
}

impl Sum {
    /// The counter has this value of `bits` bits now.
    fn follow(&mut self, value: u32, bits: u32) -> u64 {
        self.total += u64::from(value.wrapping_sub(self.last) & ((1 << bits) - 1));
        self.last = value;
        self.total
    }
}

/// The sums of a queue: WQEBBs fetched, receives taken, messages received; or completions.
type Sums = [Sum; 3];

/// The device's file.
pub(super) struct QueuesFile {
    folder: PathBuf,
    name: String,
    next: Duration,
    pairs: BTreeMap<u32, Sums>,
    completions: BTreeMap<u32, Sum>,
}

impl QueuesFile {
    /// The file of device `index` of this process; `None` if there is no tree.
    pub(super) fn new(settings: &Settings, index: u32) -> Option<Self> {
        Some(Self {
            folder: queues_folder(settings.sysfs.as_deref()?),
            name: format!("mlx5_{index}"),
            next: Duration::ZERO,
            pairs: BTreeMap::new(),
            completions: BTreeMap::new(),
        })
    }

    /// The device has made a step at `now`.
    pub(super) fn after_step(&mut self, device: &Device, now: Duration) {
        if now < self.next {
            return;
        }
        self.next = now + INTERVAL;
        if !self.folder.is_dir() {
            return;
        }
        let begin = Instant::now();
        let text = self.text(device);
        let file = self.folder.join(format!("{}.{}", std::process::id(), self.name));
        // Readers see the old text or the new one. The folder may be gone; then nobody reads it either.
        let new = file.with_extension("new");
        let _ = fs::write(&new, text).and_then(|()| fs::rename(&new, &file));
        self.next = now + INTERVAL.max(begin.elapsed() * PAUSE);
    }

    fn text(&mut self, device: &Device) -> String {
        let pairs: Vec<_> = device.queue_pairs().collect();
        let completions: Vec<_> = device.completion_queues().collect();
        // They are in order.
        self.pairs.retain(|number, _| pairs.binary_search_by_key(number, |(there, _)| *there).is_ok());
        self.completions.retain(|number, _| completions.binary_search_by_key(number, |(there, _)| *there).is_ok());
        let pairs: Vec<String> =
            pairs.iter().map(|(number, info)| pair(*number, info, self.pairs.entry(*number).or_default())).collect();
        let completions: Vec<String> = completions
            .iter()
            .map(|(number, info)| completion(*number, info, self.completions.entry(*number).or_default()))
            .collect();
        format!(
            "{{\"pid\":{},\"device\":\"{}\",\"queue_pairs\":[{}],\"completion_queues\":[{}]}}\n",
            std::process::id(),
            self.name,
            pairs.join(","),
            completions.join(",")
        )
    }
}

fn pair(number: u32, info: &QpInfo, [sends, receives, messages]: &mut Sums) -> String {
    let transport = match (info.context.transport, info.context.rq) {
        (Transport::Rc, _) => "RC",
        (Transport::Uc, _) => "UC",
        (Transport::Ud, _) => "UD",
        (Transport::Dc, _) => "DCI",
        (Transport::Xrc, ReceiveSource::Domain { .. }) => "XRC target",
        (Transport::Xrc, _) => "XRC",
        (Transport::RawPacket, _) => "raw packet",
        (Transport::RegUmr, _) => "REG_UMR",
    };
    let state = match info.state {
        QpState::Reset => "RESET",
        QpState::Init => "INIT",
        QpState::Rtr => "RTR",
        QpState::Rts => "RTS",
        QpState::Sqd => "SQD",
        QpState::Sqe => "SQE",
        QpState::Err => "ERR",
    };
    let waiting = info.sw_sq_wqebb_counter.wrapping_sub(info.hw_sq_wqebb_counter);
    let posted = info.sw_rq_counter.wrapping_sub(info.hw_rq_counter);
    let mut text = format!("{{\"number\":{number},\"type\":\"{transport}\",\"state\":\"{state}\"");
    if let Some(peer) = info.attr.dest_qpn {
        let _ = write!(text, ",\"peer\":{peer}");
    }
    let _ = write!(
        text,
        ",\"send_cq\":{},\"recv_cq\":{},\"wqebbs\":{},\"wqebbs_waiting\":{waiting},\"receives\":{},\
         \"receives_posted\":{posted},\"messages\":{}}}",
        info.context.send_cqn,
        info.context.recv_cqn,
        sends.follow(info.hw_sq_wqebb_counter.into(), 16),
        receives.follow(info.hw_rq_counter.into(), 16),
        messages.follow(info.rmsn, 24),
    );
    text
}

fn completion(number: u32, info: &CqInfo, sum: &mut Sum) -> String {
    let unread = info.producer.wrapping_sub(info.consumer) & 0xff_ffff;
    format!(
        "{{\"number\":{number},\"entries\":{},\"completions\":{},\"unread\":{unread},\"failed\":{}}}",
        1_u64 << info.context.log_size,
        sum.follow(info.producer, 24),
        info.fault.is_some()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_go_on_where_counters_wrap() {
        let mut sum = Sum::default();
        assert_eq!(sum.follow(0xfff0, 16), 0xfff0);
        assert_eq!(sum.follow(0x10, 16), 0x1_0010);
        assert_eq!(sum.follow(0x10, 16), 0x1_0010);
        let mut sum = Sum { last: 0xff_ffff, total: 7 };
        assert_eq!(sum.follow(1, 24), 9);
    }
}
