//! Queue pairs put together of any parts: RESET, and the end of a connection.

use blueflame_fuzz_targets::ownership::Label;
use blueflame_fuzz_targets::ownership::parts::{Part, Queue};

use crate::host::{AnyCq, Cq, Pair, QueuePair, drain};
use crate::lab::{Lab, Made, PLACES, Sends};

/// A queue pair of the parts at three places.
struct Together {
    pair: Pair,
    /// Of the handle.
    label: Label,
    /// The queues' own state, and their places.
    sends: (usize, (Label, Label)),
    recvs: (usize, (Label, Label)),
    made: Made,
    /// Whether the parts are one queue pair's, and all of it.
    whole: bool,
}

/// The places in a set.
fn chosen(cqs: u8) -> impl Iterator<Item = usize> {
    (0..PLACES).filter(move |at| cqs >> at & 1 == 1)
}

impl Lab<'_> {
    /// Moves a queue pair to RESET, with completion queues of those places, and connects it again.
    pub(crate) fn reset(&mut self, at: [usize; 3], cqs: u8) {
        let Some(mut one) = self.put_together(at) else { return };
        let given = self.are_given(&one.made, cqs);
        let mut given_cqs: Vec<&mut dyn AnyCq<Cq>> = Vec::new();
        for (at, place) in self.places.iter_mut().enumerate() {
            if let (true, Some(cq)) = (cqs >> at & 1 == 1, &mut place.cq) {
                given_cqs.push(&mut cq.value);
            }
        }
        if one.pair.reset(&mut given_cqs, |_| ()).is_ok() {
            assert!(one.whole, "RESET with queues of others, or without its own");
            assert!(given, "RESET without the completion queues, whole, that it completes to");
            // The device has given up its requests.
            self.lost.insert(one.label);
            self.hosts[one.made.host].connect(&mut one.pair);
        }
        self.take_apart(one);
    }

    /// Ends a connection, and accounts for what completes to the completion queues of those places.
    pub(crate) fn drain(&mut self, at: [usize; 3], cqs: u8) {
        let Some(mut one) = self.put_together(at) else { return };
        let Made { sends, recvs, .. } = one.made;
        let mut begun = false;
        // Completions of others come meanwhile.
        for at in chosen(cqs) {
            let Some(mut cq) = self.places[at].cq.take() else { continue };
            begun |= drain(&mut one.pair, &mut cq.value, &mut |cqe, taken| {
                if taken {
                    assert!([sends, recvs].contains(&cq.held), "took a completion of another completion queue");
                } else {
                    self.offer(cqe, cq.held, 0);
                }
            });
            self.places[at].cq = Some(cq);
        }
        if begun {
            assert!(one.whole, "the end of a connection with queues of others, or without its own");
            // The tags were taken, and are not known to be buffers.
            self.lost.insert(one.label);
        }
        self.take_apart(one);
    }

    /// Takes the parts from three places: handle, send queue, and receive queue.
    fn put_together(&mut self, [qp, sends, recvs]: [usize; 3]) -> Option<Together> {
        let (handle, label) = self.places[qp % PLACES].qp.clone()?;
        let (sends, recvs) = (sends % PLACES, recvs % PLACES);
        if self.places[sends].sends.is_none() || self.places[recvs].recvs.is_none() {
            return None;
        }
        let (sq, rq) = (self.places[sends].sends.take()?, self.places[recvs].recvs.take()?);
        let whole = [sq.labels(), rq.labels()] == [(label, label); 2];
        let (sends, recvs) = ((sends, sq.labels()), (recvs, rq.labels()));
        let pair = QueuePair { qp: handle, sq: sq.map(Queue::into_holder).value, rq: rq.value };
        Some(Together { pair, label, sends, recvs, made: self.made[&label], whole })
    }

    /// Puts the parts back. A send queue that has requests outstanding is out of use, since its tags are not known to
    /// be buffers.
    fn take_apart(&mut self, one: Together) {
        let (at, labels) = one.sends;
        match Sends::new(one.pair.sq) {
            Ok(queue) => self.places[at].sends = Some(Part::labelled(queue, labels)),
            Err(holder) => {
                self.lost.insert(labels.1);
                self.old_sends.push(Part::labelled(holder, labels));
            }
        }
        let (at, labels) = one.recvs;
        self.places[at].recvs = Some(Part::labelled(one.pair.rq, labels));
    }

    /// Whether the completion queues of a queue pair are at those places, whole.
    fn are_given(&self, made: &Made, cqs: u8) -> bool {
        [made.sends, made.recvs].iter().all(|label| {
            let mut cqs = chosen(cqs).filter_map(|at| self.places[at].cq.as_ref());
            cqs.any(|cq| cq.is_whole() && cq.held == *label)
        })
    }
}
