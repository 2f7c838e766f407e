//! Polling completions of one request each: floors, this crate, libmlx5; see `common`.
mod common;

use blueflame::db::ExclusiveRegister;
use blueflame::wqe;

use common::MESSAGES;
use common::contest::{Bench, Contestant, Group, Timed};
use common::cpus::OtherCore;
use common::floor::{Floor, floor};
use common::floor_cq::FloorCq;
use common::libmlx5::{SIGNALED, Theirs, set_inline, theirs};
use common::ours::{Ours, exclusive, ours, remote, tag};
use common::rig::{ENTRIES, SMALL, Threads};

/// Completions of one call, where it takes several.
const BURST: usize = 16;

fn main() {
    let mut bench = Bench::new("poll");
    cases(Group::new("poll", Timed::Poll, BURST, ENTRIES), 1).measure(&mut bench);
    match OtherCore::new() {
        Some(other) => {
            let group = Group::new("poll other core", Timed::Poll, BURST, ENTRIES).completed_by(&other);
            cases(group, 1).measure(&mut bench);
        }
        None => println!("poll other core: left out, since this program may use one CPU only"),
    }
    cases(Group::new("poll empty", Timed::Empty, 1, ENTRIES), BURST).measure(&mut bench);
    cold(&mut bench);
    bench.finish();
}

/// One completion, after work that has taken all caches, TLBs and predictors.
fn cold(bench: &mut Bench) {
    Group::cold("cold poll", Timed::Poll, BURST)
        .case("floor fields", "", floor_by(|floor, count| floor.cq.poll::<1>(count, FloorCq::fields)))
        .case("poll_with(1) fields", "floor fields", ours_by(|ours, count| ours.poll_fields::<1>(count)))
        .case("poll() copy", "floor fields", ours_by(|ours, count| ours.poll_copies(count)))
        .case("ibv_poll_cq(1) default", "floor fields", theirs_by(Threads::Any, Theirs::poll_cq::<1>))
        .case("ibv_start_poll default", "floor fields", theirs_by(Threads::Any, Theirs::start_poll::<1>))
        .measure(bench);
}

/// Adds the ways to poll, alike in every group. A contestant that polls several completions a call gets `per_call`
/// times as many.
fn cases(group: Group<'_>, per_call: usize) -> Group<'_> {
    use Threads::{Any, One};
    let many = per_call;
    group
        .case("floor fields", "", floor_by(|floor, count| floor.cq.poll::<1>(count, FloorCq::fields)))
        .case("poll_with(1) fields", "floor fields", ours_by(|ours, count| ours.poll_fields::<1>(count)))
        .case("floor copy", "", floor_by(|floor, count| floor.cq.poll::<1>(count, FloorCq::copied)))
        .case("poll() copy", "floor copy", ours_by(|ours, count| ours.poll_copies(count)))
        .case("floor fields 16", "", floor_by(move |floor, n| floor.cq.poll::<BURST>(many * n, FloorCq::fields)))
        .case("poll_with(16) fields", "floor fields 16", ours_by(move |ours, n| ours.poll_fields::<BURST>(many * n)))
        .case("poll_with(1) tags", "floor fields", ours_by(|ours, count| ours.poll_tags::<1>(count)))
        .case("poll_with(16) tags", "floor fields 16", ours_by(move |ours, n| ours.poll_tags::<BURST>(many * n)))
        .case("ibv_poll_cq(1) default", "floor fields", theirs_by(Any, Theirs::poll_cq::<1>))
        .case("ibv_poll_cq(1) single-threaded", "floor fields", theirs_by(One, Theirs::poll_cq::<1>))
        .case("ibv_poll_cq(16) default", "floor fields 16", theirs_by(Any, move |t, n| t.poll_cq::<BURST>(many * n)))
        .case(
            "ibv_poll_cq(16) single-threaded",
            "floor fields 16",
            theirs_by(One, move |t, n| t.poll_cq::<BURST>(many * n)),
        )
        .case("ibv_start_poll default", "floor fields", theirs_by(Any, Theirs::start_poll::<1>))
        .case("ibv_start_poll single-threaded", "floor fields", theirs_by(One, Theirs::start_poll::<1>))
        .case(
            "ibv_start_poll(16) default",
            "floor fields 16",
            theirs_by(Any, move |t, n| t.start_poll::<BURST>(many * n)),
        )
        .case(
            "ibv_start_poll(16) single-threaded",
            "floor fields 16",
            theirs_by(One, move |t, n| t.start_poll::<BURST>(many * n)),
        )
}

fn floor_by(poll: impl FnMut(&mut Floor, usize) -> u64) -> impl Contestant {
    floor(SMALL, |sq, n| sq.post::<true>(&sq.inline(MESSAGES.get(n), true))).polling(poll)
}

fn ours_by(poll: impl FnMut(&mut Ours<ExclusiveRegister>, usize) -> u64) -> impl Contestant {
    ours(Ours::new(SMALL, exclusive), |sq, n| {
        let m = MESSAGES.get(n);
        sq.post(&wqe::write(remote(m)).inline(&m.payload).signaled(tag(n))).expect("space");
    })
    .polling(poll)
}

fn theirs_by(threads: Threads, poll: impl FnMut(&mut Theirs, usize) -> u64) -> impl Contestant {
    theirs(SMALL, threads, 1, |theirs, n| theirs.wr(n, 1, |_| SIGNALED, set_inline)).polling(poll)
}
