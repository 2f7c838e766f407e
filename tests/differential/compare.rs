//! Comparing what two drivers left in a ring and in a register, with the few bytes that may differ.
//!
//! The rules of comparison belong here, the compared requests in the file of each operation.

use std::collections::BTreeMap;

use blueflame::db::RegisterParts;
use blueflame_testkit::request::{Data, Kind, Target, Whom, Wr};

use crate::addresses::is_to_itself;
use crate::post::Way;

/// Bytes of a WQEBB.
const WQEBB: usize = 64;
/// The fill of rings and registers before a test.
pub(crate) const FILL: u8 = 0xa5;

/// Whether a byte of a ring is the same in both, or why not.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    Same,
    /// The queue pair's number; each has its own.
    Number(u8, u8),
    /// libmlx5 leaves it, this crate stores zero.
    ZeroHere,
    /// The signature of all the other bytes, some of which differ: looked at by [`is_signed`].
    Signature,
}

impl Rule {
    fn holds(self, theirs: u8, ours: u8) -> bool {
        match self {
            Self::Same => theirs == ours,
            Self::Number(a, b) => (theirs, ours) == (a, b),
            Self::ZeroHere => ours == 0,
            Self::Signature => true,
        }
    }
}

/// Whether the signature of a WQE is right: with it, the XOR of all bytes is 255.
pub(crate) fn is_signed(wqe: &[u8]) -> bool {
    wqe.iter().fold(0, |sum, byte| sum ^ byte) == 0xff
}

/// Where a WQE is in the ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// WQEBB it starts at.
    pub(crate) slot: usize,
    /// 16-byte units.
    pub(crate) ds: usize,
}

impl Place {
    pub(crate) fn wqebbs(self) -> usize {
        self.ds.div_ceil(4)
    }

    /// The WQE's bytes; it may wrap around the ring's end.
    pub(crate) fn wqe(self, ring: &[u8]) -> Vec<u8> {
        let (start, len) = (self.slot * WQEBB, self.ds * 16);
        let before_the_end = len.min(ring.len() - start);
        [&ring[start..start + before_the_end], &ring[..len - before_the_end]].concat()
    }
}

/// 16-byte units that `wr` takes.
pub(crate) fn units(wr: &Wr) -> usize {
    if wr.kind == Kind::Nop {
        return 1;
    }
    head_units(wr)
        + match &payload(wr) {
            Data::Inline(bytes) if bytes.is_empty() => 0,
            Data::Inline(bytes) => (4 + bytes.len()).div_ceil(16),
            Data::Sges(sges) => sges.iter().filter(|sge| sge.length != 0).count(),
        }
}

/// 16-byte units before the payload.
fn head_units(wr: &Wr) -> usize {
    let destination = match wr.to {
        None => 0,
        Some(Target::Compact(_) | Target::Srq(_)) => 1,
        Some(Target::Full(_) | Target::Stream(_)) => 3,
    };
    1 + destination
        + match wr.kind {
            Kind::Nop | Kind::Send | Kind::SendImm(_) | Kind::SendInval(_) => 0,
            Kind::Write(_) | Kind::WriteImm(..) | Kind::Read(_) => 1,
            Kind::CompareSwap(..) | Kind::FetchAdd(..) => 2,
            Kind::Frame(headers, _) | Kind::LargeFrame(headers, ..) => (14 + headers).div_ceil(16),
            Kind::Datagram(Whom::Compact(_), _) => 1,
            Kind::Datagram(Whom::Full(_), _) => 3,
            other => panic!("not compared with libmlx5: {other:?}"),
        }
}

/// The data that is in data segments, or in an inline segment.
fn payload(wr: &Wr) -> Data {
    wr.data.rest(wr.kind.inline_headers())
}

/// The rules for each byte of a send ring, kept up as WQEs are written.
pub(crate) struct RingRules {
    /// Bytes of the ring.
    len: usize,
    /// The bytes with another rule than [`Rule::Same`]. They are few, so most of a ring is compared as one slice.
    exceptions: BTreeMap<usize, Rule>,
    /// The numbers of libmlx5's queue pair and of ours.
    numbers: [u32; 2],
    /// Those that requests to themselves are for: the same, or the initiators' targets, or on XRC shared receive
    /// queues.
    receivers: [u32; 2],
    /// WQEs have signatures.
    signed: bool,
}

impl RingRules {
    pub(crate) fn new(wqebbs: u32, numbers: [u32; 2], receivers: [u32; 2], signed: bool) -> Self {
        Self { len: wqebbs as usize * WQEBB, exceptions: BTreeMap::new(), numbers, receivers, signed }
    }

    /// Both have written `wr` at `place`, libmlx5 by `way`.
    pub(crate) fn written(&mut self, wr: &Wr, place: Place, way: Way) {
        let (start, end, len) = (place.slot * WQEBB, place.slot * WQEBB + place.ds * 16, self.len);
        // The second part belongs to a WQE that wraps around the ring's end.
        for part in [start..end.min(len), 0..end.saturating_sub(len)] {
            self.exceptions.retain(|at, _| !part.contains(at));
        }
        let mut set = |offset: usize, rule| self.exceptions.insert((start + offset) % len, rule);
        let [theirs, ours] = self.numbers.map(u32::to_be_bytes);
        for n in 1..4 {
            set(3 + n, Rule::Number(theirs[n], ours[n]));
        }
        if self.signed {
            set(8, Rule::Signature);
        }
        if let Some(Target::Srq(_)) = wr.to {
            let [theirs, ours] = self.receivers.map(u32::to_be_bytes);
            for n in 0..16 {
                set(16 + n, if n < 4 { Rule::Number(theirs[n], ours[n]) } else { Rule::ZeroHere });
            }
        } else if is_to_itself(wr) {
            let [theirs, ours] = self.receivers.map(u32::to_be_bytes);
            for n in 1..4 {
                set(24 + n, Rule::Number(theirs[n], ours[n]));
            }
        }
        if let Some(end) = payload_end(wr) {
            for offset in end..place.ds * 16 {
                set(offset, Rule::ZeroHere);
            }
        }
        // As behind inline data, for headers that do not end with a unit.
        if let Kind::LargeFrame(headers, ..) = wr.kind {
            for offset in 30 + headers..head_units(wr) * 16 {
                set(offset, Rule::ZeroHere);
            }
        }
        let names_imm = matches!(
            wr.kind,
            Kind::Nop | Kind::SendImm(_) | Kind::SendInval(_) | Kind::WriteImm(..) | Kind::Datagram(_, Some(_))
        );
        if way == Way::WrBuilders && !names_imm {
            for offset in 12..16 {
                set(offset, Rule::ZeroHere);
            }
        }
        if let Kind::FetchAdd(..) = wr.kind {
            let end = head_units(wr) * 16;
            for offset in end - 8..end {
                set(offset, Rule::ZeroHere);
            }
        }
    }

    /// Compares whole rings.
    pub(crate) fn compare(&self, theirs: &[u8], ours: &[u8]) -> Result<(), String> {
        assert_eq!([theirs.len(), ours.len()], [self.len; 2]);
        let mut expected = theirs.to_vec();
        for (&n, rule) in &self.exceptions {
            expected[n] = if rule.holds(theirs[n], ours[n]) { ours[n] } else { !ours[n] };
        }
        if expected == ours {
            return Ok(());
        }
        let n = (0..self.len).find(|&n| expected[n] != ours[n]).expect("a byte that differs");
        Err(format!(
            "ring byte {n:#x} (WQEBB {}, byte {:#x}): libmlx5 {:#04x}, this crate {:#04x}, to be {:?}\nlibmlx5    \
             {:02x?}\nthis crate {:02x?}",
            n / WQEBB,
            n % WQEBB,
            theirs[n],
            ours[n],
            self.rule(n),
            &theirs[n / WQEBB * WQEBB..][..WQEBB],
            &ours[n / WQEBB * WQEBB..][..WQEBB],
        ))
    }

    /// The rule for byte `n` of the ring.
    fn rule(&self, n: usize) -> Rule {
        self.exceptions.get(&n).copied().unwrap_or(Rule::Same)
    }

    /// Compares the poisoned register after one doorbell, given the WQE it was rung for (the last one). `turned` is
    /// whether the two ring different halves, if that is known already.
    pub(crate) fn compare_register(
        &self,
        last: Place,
        theirs: &[u8],
        ours: &[u8],
        turned: &mut Option<bool>,
    ) -> Result<Rung, String> {
        let half = theirs.len() / 2;
        let touched = |bytes: &[u8]| (bytes[..half] != *poison(half), bytes[half..] != *poison(half));
        let halves = [touched(theirs), touched(ours)];
        let [Some(their_half), Some(our_half)] = halves.map(|halves| match halves {
            (true, false) => Some(0),
            (false, true) => Some(half),
            _ => None,
        }) else {
            return Err(format!(
                "halves stored to (lower, upper): libmlx5 {:?}, this crate {:?}",
                halves[0], halves[1]
            ));
        };
        if *turned.get_or_insert(their_half != our_half) != (their_half != our_half) {
            return Err(format!("half stored to, at: libmlx5 {their_half:#x}, this crate {our_half:#x}"));
        }
        let (theirs, ours) = (&theirs[their_half..][..half], &ours[our_half..][..half]);
        let stored = |bytes: &[u8]| if bytes[8..] == *poison(half - 8) { 8 } else { last.ds * 16 };
        let rung = [stored(theirs), stored(ours)];
        if rung[0] != rung[1] {
            return Err(format!("doorbell bytes: libmlx5 {}, this crate {}", rung[0], rung[1]));
        }
        let wrong = |n: &usize| !self.rule((last.slot * WQEBB + n) % self.len).holds(theirs[*n], ours[*n]);
        if let Some(n) = (0..rung[0]).find(wrong) {
            return Err(format!(
                "register byte {n:#x}: libmlx5 {:#04x}, this crate {:#04x}\n{theirs:02x?}\n{ours:02x?}",
                theirs[n], ours[n]
            ));
        }
        let rest = if rung[0] == 8 { 8 } else { last.wqebbs() * WQEBB };
        for (who, bytes) in [("libmlx5", theirs), ("this crate", ours)] {
            if bytes[rest..] != *poison(half - rest) {
                return Err(format!("{who} stored past {rest} bytes of the register: {bytes:02x?}"));
            }
        }
        Ok(if rung[0] == 8 { Rung::Doorbell } else { Rung::BlueFlame })
    }
}

/// How a register was rung.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rung {
    Doorbell,
    BlueFlame,
    /// The register cannot be read.
    Unseen,
}

fn poison(len: usize) -> &'static [u8] {
    const POISON: [u8; 4096] = [FILL; 4096];
    &POISON[..len]
}

/// Where inline data ends, counted from the WQE's start.
fn payload_end(wr: &Wr) -> Option<usize> {
    match payload(wr) {
        Data::Inline(bytes) if !bytes.is_empty() => Some(head_units(wr) * 16 + 4 + bytes.len()),
        _ => None,
    }
}

/// A register that can be poisoned and read back.
#[derive(Clone, Copy)]
pub(crate) struct Window(RegisterParts);

impl Window {
    /// `None` if the page is not open.
    pub(crate) fn new(parts: RegisterParts) -> Option<Self> {
        Self::is_open(parts.reg.addr().get()).then_some(Self(parts))
    }

    /// Whether the mapped page of this address can be accessed with no trap: not in strict mode.
    pub(crate) fn is_open(address: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
        maps.lines().any(|line| {
            let (range, rest) = line.split_once(' ').expect("range, permissions");
            let (start, end) = range.split_once('-').expect("start-end");
            let number = |text| usize::from_str_radix(text, 16).expect("hexadecimal");
            (number(start)..number(end)).contains(&address) && rest.as_bytes()[1] == b'w'
        })
    }

    /// Both halves; of a register without BlueFlame, what would be the halves of the smallest.
    fn len(self) -> usize {
        2 * self.0.size.max(64) as usize
    }

    pub(crate) fn poison(self) {
        for n in 0..self.len() {
            // SAFETY: both halves of the mapped register; the owner does not ring now, and the software device takes
            // doorbells from the records in this mode.
            unsafe { self.0.reg.add(n).write_volatile(FILL) };
        }
    }

    pub(crate) fn read(self) -> Vec<u8> {
        // SAFETY: both halves of the mapped register. It is mapped for writing, which on Linux's architectures with an
        // MMU here is readable as well.
        (0..self.len()).map(|n| unsafe { self.0.reg.add(n).read_volatile() }).collect()
    }
}

/// Rings that are equal but for the numbers, then with one byte that differs, at each byte of a WQE and behind it.
#[test]
fn a_byte_that_differs_is_told() {
    let mut rules = RingRules::new(4, [0x11_2233, 0x44_5566], [0; 2], false);
    let wr = Wr { to: None, ..Wr::new(Kind::Send, Data::Inline(vec![7; 10]), 1) };
    // The last WQEBB, and the first one: the WQE wraps around.
    let place = Place { slot: 3, ds: 5 };
    rules.written(&wr, place, Way::PostSend);
    let ring = |number: [u8; 3]| {
        let mut ring = vec![0; 4 * WQEBB];
        ring[3 * WQEBB + 4..][..3].copy_from_slice(&number);
        ring
    };
    let (theirs, ours) = (ring([0x11, 0x22, 0x33]), ring([0x44, 0x55, 0x66]));
    assert_eq!(rules.compare(&theirs, &ours), Ok(()));
    for n in 0..ours.len() {
        let mut wrong = ours.clone();
        wrong[n] ^= 0x80;
        let complaint = rules.compare(&theirs, &wrong).expect_err("it differs");
        assert!(complaint.starts_with(&format!("ring byte {n:#x} ")), "{n}: {complaint}");
    }
    // The number of the other one is wrong, although the bytes are equal.
    assert!(rules.compare(&theirs, &theirs).is_err());
    // libmlx5 leaves the ring's old bytes behind inline data.
    let mut old = theirs.clone();
    old[3 * WQEBB + 16 + 4 + 10] = 0xa5;
    assert_eq!(rules.compare(&old, &ours), Ok(()));
}
