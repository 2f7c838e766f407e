//! Send queues: any request, at any position of rings of many sizes. libmlx5 posts it by both its ways, and this crate
//! posts it, too.
//!
//! Requests of connected services belong here, special ones in the file of their operation.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use blueflame::cq::cqe::Grh;
use blueflame::transport;
use blueflame::verbs::{Error, QueuePair, XrcTarget};
use blueflame::wqe::Fence;
use blueflame_testkit::request::{Data, Kind, Target, Wr};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

use crate::addresses::arrives;
use crate::again::run_again;
use crate::claims::{CLAIMS, Claim, IN_TURN, Proof, RAW};
use crate::compare::{Rung, units};
use crate::post::{Receive, Way};
use crate::random::{RECEIVED, message_bytes, request};
use crate::twin::{Link, Twins, connect_to_itself};
use crate::verbs::{Fabric, Geometry};
use crate::{cases, is_long};

/// Lists posted to each geometry, usually.
const LISTS: u32 = 1000;
/// Requests of each operation among them, at least.
const LEAST_OF_EACH: u32 = 10;
/// WQEBBs of the longest WQE.
const MAX_WQEBBS: usize = 16;

/// The requests of one doorbell.
#[derive(Clone, Debug)]
struct List {
    way: Way,
    batch: bool,
    wrs: Vec<Wr>,
    /// Lengths of the first receive entries, by request; a last one takes the rest.
    receives: Vec<Vec<u32>>,
}

/// The cases seen so far.
#[derive(Default)]
struct Coverage {
    lists: u32,
    requests: u32,
    slots: BTreeSet<usize>,
    around_the_end: u32,
    blueflame: u32,
    doorbells: u32,
    /// Requests of each operation.
    operations: BTreeMap<&'static str, u32>,
}

impl Coverage {
    /// Operations that `docs/operations.md` lists as compared here, and the raw one, but that too few cases had.
    fn unproved(&self, column: &str) -> Vec<String> {
        let compared = |claim: &&Claim| claim.proof == Proof::Libmlx5 || claim.operations == [RAW];
        let claims = CLAIMS.iter().filter(|claim| claim.column == column).filter(compared);
        let operations = claims.flat_map(|claim| claim.operations.iter().map(move |name| (claim.test, name)));
        let seldom = |name| self.operations.get(name).is_none_or(|&count| count < LEAST_OF_EACH);
        operations
            .filter(|(_, name)| !IN_TURN.contains(name) && seldom(*name))
            .map(|(test, name)| format!("{name} of {column}: {test:?}"))
            .collect()
    }
}

/// The row of `docs/operations.md`.
fn operation(kind: &Kind) -> &'static str {
    match kind {
        Kind::Nop => "Nop",
        Kind::Send | Kind::Datagram(_, None) => "Send",
        Kind::SendImm(_) | Kind::Datagram(_, Some(_)) => "SendImm",
        Kind::SendInval(_) => "SendInval",
        Kind::Write(_) => "Write",
        Kind::WriteImm(..) => "WriteImm",
        Kind::Read(_) => "Read",
        Kind::CompareSwap(..) => "CompareSwap",
        Kind::FetchAdd(..) => "FetchAdd",
        Kind::Frame(..) | Kind::LargeFrame(..) => "Frame",
        other => panic!("not compared with libmlx5: {other:?}"),
    }
}

/// Connections, and whether they are reliable.
macro_rules! connections {
    ($($transport:ty, $column:literal, $reliable:literal;)*) => {
        $(impl Link for $transport {
            const COLUMN: &str = $column;

            fn ready(pair: &mut QueuePair<Self>, fabric: &Fabric, _: Option<&XrcTarget>) -> Result<(), Error> {
                connect_to_itself(pair, fabric)
            }

            fn requests(fabric: &Fabric, max_sge: u32, max_inline: u32) -> BoxedStrategy<(Kind, Data)> {
                request(fabric, $reliable, max_sge, max_inline)
            }
        })*
    };
}
connections! {
    transport::Rc, "RC", true;
    transport::Signed<transport::Rc>, "RC", true;
    transport::Uc, "UC", false;
    transport::Signed<transport::Uc>, "UC", false;
}

fn list<T: Link>(fabric: &Fabric, geometry: &Geometry, granted: (u32, u32)) -> impl Strategy<Value = List> + use<T> {
    let (max_sge, max_inline) = granted;
    let flags =
        (any::<u64>(), any::<bool>(), any::<bool>(), prop_oneof![Just(Fence::None), Just(Fence::SmallAndReads)]);
    let wr = (T::requests(fabric, max_sge, max_inline), T::targets(fabric), flags).prop_map(
        |((kind, data), to, (id, signaled, solicited, fence))| Wr {
            signaled,
            solicited,
            fence,
            to: if kind == Kind::Nop { None } else { to },
            ..Wr::new(kind, data, id)
        },
    );
    let first_entries = vec(0..64_u32, 0..geometry.recv_sge as usize);
    // `ibv_post_send` has no word for a target.
    let way =
        prop::sample::select(if T::INITIATOR { vec![Way::WrBuilders] } else { vec![Way::PostSend, Way::WrBuilders] });
    let size = prop_oneof![3 => Just(1_usize), 2 => 2..=5_usize];
    size.prop_flat_map(move |size| (way.clone(), any::<bool>(), vec((wr.clone(), first_entries.clone()), size)))
        .prop_map(|(way, batch, pairs)| {
            let (wrs, receives) = pairs.into_iter().unzip();
            List { way, batch, wrs, receives }
        })
}

fn consumes_receive(kind: &Kind) -> bool {
    matches!(kind, Kind::Send | Kind::SendImm(_) | Kind::SendInval(_) | Kind::WriteImm(..)) || arrives(kind)
}

/// Bytes that a receive for the message needs.
fn received_bytes(wr: &Wr) -> u32 {
    message_bytes(&wr.data) + if matches!(wr.kind, Kind::Datagram(..)) { Grh::BYTES as u32 } else { 0 }
}

/// Twins, and the operations on them.
struct Run<T: Link> {
    twins: Twins<T>,
    geometry: Geometry,
    coverage: Coverage,
}

impl<T: Link> Run<T> {
    /// Takes the requests from `list` that fit the queues now.
    fn fit(&self, fabric: &Fabric, list: &List) -> (Vec<Wr>, Vec<Vec<u32>>) {
        let ring = self.twins.wqebbs();
        let most = self.twins.theirs.raw.cap.max_send_wr as usize;
        let (mut wqebbs, mut count) = self.twins.held;
        let (mut wrs, mut receives) = (Vec::new(), Vec::new());
        for (wr, entries) in list.wrs.iter().zip(&list.receives) {
            let start: usize = self.twins.pi + wrs.iter().map(|wr| units(wr).div_ceil(4)).sum::<usize>();
            // libmlx5 signs bytes behind the ring in place of a WQE's second half.
            let wr = if T::SIGNS && start % ring + units(wr).div_ceil(4) > ring {
                &small::<T>(fabric, list.way, wr)
            } else {
                wr
            };
            let takes = units(wr).div_ceil(4);
            let no_nop = list.way == Way::PostSend && wr.kind == Kind::Nop;
            let no_receive = consumes_receive(&wr.kind) && receives.len() == self.geometry.receives as usize;
            if no_nop || no_receive || units(wr) > 63 || wqebbs + takes > self.twins.wqebbs() || count == most {
                continue;
            }
            (wqebbs, count) = (wqebbs + takes, count + 1);
            // A NOP of libmlx5 is a raw WQE, to which it does not add the queue's flags.
            let signaled = wr.signaled || wr.kind == Kind::Nop && self.geometry.signal_all;
            wrs.push(Wr { signaled, ..wr.clone() });
            if consumes_receive(&wr.kind) {
                receives.push(entries.clone());
            }
        }
        if let Some(last) = wrs.last_mut()
            && (wqebbs + MAX_WQEBBS > self.twins.wqebbs() || count + 5 > most)
        {
            last.signaled = true;
        }
        (wrs, receives)
    }

    /// Receives for the messages of `wrs`, exactly one each, long enough.
    fn receives(&self, fabric: &Fabric, wrs: &[Wr], first: Vec<Vec<u32>>) -> Vec<Receive> {
        let messages = wrs.iter().filter(|wr| consumes_receive(&wr.kind));
        let mut receives = Vec::new();
        for (n, (wr, mut lengths)) in messages.zip(first).enumerate() {
            lengths.push(received_bytes(wr).saturating_sub(lengths.iter().sum()));
            let mut at = RECEIVED + n * (32 << 10);
            let entry = |bytes: u32| {
                let sge = fabric.buffer.sge_of(at..at + bytes as usize);
                at += bytes as usize;
                sge
            };
            receives.push((!wr.id, lengths.into_iter().map(entry).collect()));
        }
        receives
    }

    fn step(&mut self, fabric: &Fabric, list: &List) -> Result<(), String> {
        let (wrs, first) = self.fit(fabric, list);
        if wrs.is_empty() {
            return Ok(());
        }
        let receives = self.receives(fabric, &wrs, first);
        if !receives.is_empty() {
            self.twins.receive(&receives)?;
        }
        let (pi, ring) = (self.twins.pi, self.twins.wqebbs());
        match self.twins.send(list.way, list.batch, &wrs).map_err(|why| format!("at index {pi:#x}: {why}"))? {
            Rung::Doorbell => self.coverage.doorbells += 1,
            Rung::BlueFlame => self.coverage.blueflame += 1,
            Rung::Unseen => {}
        }
        let mut at = pi;
        for wr in &wrs {
            let takes = units(wr).div_ceil(4);
            self.coverage.slots.insert(at % ring);
            *self.coverage.operations.entry(operation(&wr.kind)).or_default() += 1;
            self.coverage.around_the_end += u32::from(at % ring + takes > ring);
            at += takes;
        }
        self.coverage.lists += 1;
        self.coverage.requests += wrs.len() as u32;
        self.complete(&wrs, receives.len())
    }

    fn complete(&mut self, wrs: &[Wr], receives: usize) -> Result<(), String> {
        let good = |what, completion: crate::completions::Completion| {
            if completion.status == 0 { Ok(()) } else { Err(format!("{what} failed: {completion:?}")) }
        };
        let signaled = |wr: &Wr| wr.signaled || self.geometry.signal_all;
        let last = wrs.iter().rposition(signaled);
        for _ in 0..wrs.iter().filter(|wr| signaled(wr)).count() {
            good("request", self.twins.send_completion()?)?;
        }
        if let Some(last) = last {
            let after = &wrs[last + 1..];
            self.twins.held = (after.iter().map(|wr| units(wr).div_ceil(4)).sum(), after.len());
        }
        for _ in 0..receives {
            good("receive", self.twins.recv_completion()?)?;
        }
        Ok(())
    }
}

/// Posts many lists to twins of `geometry`, beginning at WQEBB index `begin` or a little before.
pub(crate) fn run<T: Link>(name: &str, geometry: Geometry, begin: usize) {
    let started = Instant::now();
    let fabric = Fabric::new();
    let new = |fresh| {
        let twins = Twins::<T>::new(&fabric, &geometry, fresh);
        let mut run = Run { twins, geometry, coverage: Coverage::default() };
        advance(&fabric, &mut run, begin);
        run
    };
    let state = RefCell::new(new(true));
    let granted = {
        let cap = &state.borrow().twins.theirs.raw.cap;
        (cap.max_send_sge, cap.max_inline_data)
    };
    // With fewer, a long ring has now and then a WQEBB at which no WQE of a large datagram begins.
    let lists = cases(LISTS).max(6 * state.borrow().twins.wqebbs() as u32);
    let mut runner =
        TestRunner::new(Config { cases: lists, failure_persistence: None, max_shrink_iters: 40, ..Config::default() });
    let strategy = list::<T>(&fabric, &geometry, granted);
    let outcome = runner.run(&strategy, |list| {
        let stepped = state.borrow_mut().step(&fabric, &list);
        stepped.map_err(|why| {
            // For shrinking: rings that differ would differ for ever.
            state.replace(new(false));
            TestCaseError::fail(why)
        })
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, list)) => panic!("{:?}, {name}: {why}\nof {list:?}\non {geometry:?}", T::TRANSPORT),
        Err(TestError::Abort(why)) => panic!("{name}: {why}"),
    }
    let run = state.into_inner();
    let (seen, ring) = (&run.coverage, run.twins.wqebbs());
    println!(
        "{:?}, {name}: {} lists, {} requests on {ring} WQEBBs ({} gather entries, {} bytes inline): {} slots, {} WQEs \
         around the end, {} BlueFlame copies, {} doorbells, {:.1} s",
        T::TRANSPORT,
        seen.lists,
        seen.requests,
        granted.0,
        granted.1,
        seen.slots.len(),
        seen.around_the_end,
        seen.blueflame,
        seen.doorbells,
        started.elapsed().as_secs_f32()
    );
    assert!(seen.lists >= lists / 2, "most lists fit");
    let unproved = seen.unproved(T::COLUMN);
    assert!(unproved.is_empty(), "not compared: {unproved:?}; compared: {:?}", seen.operations);
    assert_eq!(seen.slots.len(), ring, "WQEs start at every WQEBB");
    assert!(
        T::SIGNS || ring == 1 || granted.0.max(granted.1 / 16) < 4 || seen.around_the_end > 0,
        "WQEs wrap around the ring's end"
    );
    let readable = seen.blueflame + seen.doorbells > 0;
    let blueflame = run.twins.theirs.raw.parts.bf.size != 0 && std::env::var_os(SHUT_UP_BF).is_none();
    assert!(blueflame || seen.blueflame == 0, "WQEs are not copied to BlueFlame");
    assert!(!blueflame || !readable || granted.1 == 0 || seen.blueflame > 10, "WQEs are copied to BlueFlame");
    assert_eq!(run.twins.qpn().get(), run.twins.ours.raw.number());
}

/// A request of one WQEBB in place of another.
fn small<T: Link>(fabric: &Fabric, way: Way, wr: &Wr) -> Wr {
    let nothing = Data::Inline(Vec::new());
    match way {
        Way::PostSend => Wr { to: fabric_target::<T>(fabric), ..Wr::new(T::silent(fabric), nothing, wr.id) },
        Way::WrBuilders => Wr::new(Kind::Nop, nothing, wr.id),
    }
}

/// Any target, if requests are for one.
fn fabric_target<T: Link>(fabric: &Fabric) -> Option<Target> {
    let tree = T::targets(fabric).new_tree(&mut TestRunner::deterministic()).expect("a target");
    tree.current()
}

/// Posts the largest inline WRITEs, or datagrams, until the index is close to `begin`.
fn advance<T: Link>(fabric: &Fabric, run: &mut Run<T>, begin: usize) {
    let len = run.twins.theirs.raw.cap.max_inline_data as usize;
    let kind = T::silent(fabric);
    let to = fabric_target::<T>(fabric);
    let wr = |id| Wr { to, ..Wr::new(kind, Data::Inline((0..len).map(|n| (n + id) as u8).collect()), id as u64) };
    let way = if T::INITIATOR { Way::WrBuilders } else { Way::PostSend };
    while begin > run.twins.pi + 4 * MAX_WQEBBS {
        let wrs: Vec<_> = (0..4).map(|n| wr(run.twins.pi + n)).collect();
        let list = List { way, batch: true, receives: vec![Vec::new(); 4], wrs };
        run.step(fabric, &list).expect("inline requests");
    }
}

#[test]
fn reliable_connections() {
    let small = Geometry { sends: 1, send_sge: 1, receives: 1, recv_sge: 1, ..Geometry::default() };
    run::<transport::Rc>("one WQEBB", small, 0);
    run::<transport::Rc>("tiny", Geometry { sends: 2, send_sge: 3, ..Geometry::default() }, 0);
    run::<transport::Rc>("inline", Geometry { sends: 5, inline: 200, recv_sge: 3, ..Geometry::default() }, 0);
    run::<transport::Rc>("many entries", Geometry { sends: 6, send_sge: 20, inline: 100, ..Geometry::default() }, 0);
    let all = Geometry { inline: 60, signal_all: true, scatter_to_cqe: true, ..Geometry::default() };
    run::<transport::Rc>("all signalled, data in CQEs", all, 0);
    run::<transport::Rc>("128-byte CQEs", Geometry { inline: 400, cqe_bytes: 128, ..Geometry::default() }, 0);
}

#[test]
fn unreliable_connections() {
    run::<transport::Uc>("tiny", Geometry { sends: 2, send_sge: 4, inline: 20, ..Geometry::default() }, 0);
    run::<transport::Uc>("inline", Geometry { sends: 7, inline: 500, recv_sge: 4, ..Geometry::default() }, 0);
}

/// libmlx5's environment variable: WQEs have signatures.
const QP_SIGNATURE: &str = "MLX5_QP_SIGNATURE";

/// Of every service that has them; of connections and datagrams with the receives. Most WQEs to an address take two
/// WQEBBs.
#[test]
fn signed_wqes() {
    if std::env::var_os(QP_SIGNATURE).is_none() {
        return run_again(&["sends::signed_wqes"], &[(QP_SIGNATURE, "1")]);
    }
    let run_rc = run::<transport::Signed<transport::Rc>>;
    run_rc("signed, tiny", Geometry { sends: 2, send_sge: 3, ..Geometry::default() }, 0);
    let geometry = Geometry { sends: 9, send_sge: 3, inline: 200, recv_sge: 3, ..Geometry::default() };
    run_rc("signed, inline", geometry, 0);
    run::<transport::Signed<transport::Uc>>("signed", geometry, 0);
    run::<transport::Signed<transport::Ud>>("signed", geometry, 0);
    let geometry = Geometry { sends: 9, send_sge: 3, inline: 200, ..Geometry::default() };
    run::<transport::Signed<transport::XrcInitiator>>("signed", geometry, 0);
    run::<transport::Signed<transport::Dci>>("signed", geometry, 0);
    run::<transport::Signed<transport::DciStreams>>("signed", Geometry { streams: Some([2, 1]), ..geometry }, 0);
}

/// libmlx5's environment variables: when to copy to BlueFlame.
const PREFER_BF: &str = "MLX5_POST_SEND_PREFER_BF";
const SHUT_UP_BF: &str = "MLX5_SHUT_UP_BF";

/// Runs `tests` in another process, for libmlx5 looks at `variable` when it opens a device.
fn with_variable(variable: &str, value: &str, tests: &[&str]) {
    if [PREFER_BF, SHUT_UP_BF].iter().any(|name| std::env::var_os(name).is_some()) {
        return;
    }
    run_again(tests, &[(variable, value)]);
}

/// libmlx5 copies each WQE that fits to BlueFlame, unless its environment forbids it.
#[test]
fn blueflame_for_inline_requests_only() {
    const TESTS: [&str; 5] = [
        "sends::reliable_connections",
        "ethernet::no_inline_headers",
        "sends::unreliable_connections",
        "datagrams::on_infiniband",
        "ethernet::inline_headers",
    ];
    // Two have requests of each kind: of data inline and in memory, of one WQEBB and of more.
    with_variable(PREFER_BF, "0", if is_long() { &TESTS } else { &TESTS[..2] });
}

/// Doorbells of 8 bytes, whose places alternate as BlueFlame's do.
#[test]
fn blueflame_not_at_all() {
    with_variable(SHUT_UP_BF, "1", &["sends::unreliable_connections", "datagrams::on_infiniband"]);
}

#[test]
fn the_index_wraps() {
    let large = Geometry { sends: 8, inline: 900, send_sge: 30, ..Geometry::default() };
    run::<transport::Rc>("index around 2^16", large, 0x1_0000 - 500);
}
