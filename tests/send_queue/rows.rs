//! The requests of `tests/requests`: their bytes, typed and erased, alone and in a batch.
//!
//! Ways to post the rows belong here, the rows in `tests/requests`, operations of one service in files of their own.

use blueflame::queue::SendQueue;
use blueflame::transport::{Dci, DciStreams, RawPacket, Rc, Uc, Ud, XrcInitiator};
use blueflame_testkit::request::{Data, Service, Target, Whom, Wr};

use crate::golden::posted;
use crate::requests::{self, Destination, Row, datagram, dynamic, near};

fn check<T: Service>(rows: Vec<Row>) {
    for row in rows {
        // libmlx5 copies what is inline to BlueFlame.
        let copied = matches!(&row.wr.data, Data::Inline(_));
        // READs and atomics go by their types if the identifier is even.
        for id in [2, 3] {
            let wr = Wr { id, ..row.wr.clone() };
            // SAFETY: no device looks, nor below.
            posted::<T>(&row.name, &row.wqe, copied, |sq| unsafe { T::put(sq, &wr) });
            posted::<T>(&row.name, &row.wqe, copied, |sq: &mut SendQueue<T>| {
                let mut batch = sq.batch();
                // SAFETY: no device looks.
                unsafe { T::put(&mut batch, &wr) }?;
                batch.ring_doorbell();
                Ok(())
            });
        }
    }
}

#[test]
fn nop() {
    check::<Rc>(requests::nops());
    check::<Uc>(requests::nops());
    check::<XrcInitiator>(requests::nops());
    check::<Ud>(requests::nops());
    check::<Dci>(requests::nops());
    check::<DciStreams>(requests::nops());
    check::<RawPacket>(requests::nops());
}

#[test]
fn on_connections() {
    check::<Rc>(requests::rows(Destination::Reliable));
    check::<Uc>(requests::rows(Destination::Unreliable));
}

#[test]
fn for_shared_receive_queues() {
    check::<XrcInitiator>(requests::rows(requests::srq()));
}

#[test]
fn as_datagrams() {
    check::<Ud>(requests::rows(Destination::Datagram(Whom::Compact(datagram(near())))));
    check::<Ud>(requests::rows(requests::full_datagram()));
}

#[test]
fn for_dynamic_targets() {
    check::<Dci>(requests::rows(Destination::Target(Target::Compact(dynamic(near())))));
    check::<Dci>(requests::rows(requests::full_target()));
    // A request without a stream uses the first one.
    check::<DciStreams>(requests::rows(requests::full_target()));
    check::<DciStreams>(requests::rows(requests::stream()));
}
