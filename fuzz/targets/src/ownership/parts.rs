//! The values that a program can take apart and exchange, with labels that say where each part came from.

use std::mem::swap;

use blueflame::CompletionQueue;
use blueflame::queue::owning::DeviceBuffer;
use blueflame::queue::{Owned, OwningSendQueue, RecvQueue, SendQueue};
use blueflame::transport::{self, PlainRecv};

use super::owners::Label;

/// A value with two labels: of its holder, and of the queue in it. They differ after an exchange.
#[derive(Debug)]
pub struct Part<V> {
    /// The value.
    pub value: V,
    /// Whose the holder is: what keeps the object.
    pub holder: Label,
    /// Whose the queue in it is.
    pub held: Label,
}

impl<V> Part<V> {
    /// A part as it was made.
    pub fn new(value: V, label: Label) -> Self {
        Self { value, holder: label, held: label }
    }

    /// A part with the labels of another.
    pub fn labelled(value: V, (holder, held): (Label, Label)) -> Self {
        Self { value, holder, held }
    }

    /// Holder and held.
    pub fn labels(&self) -> (Label, Label) {
        (self.holder, self.held)
    }

    /// Whether the queue is the holder's own.
    pub fn is_whole(&self) -> bool {
        self.holder == self.held
    }

    /// These labels with another value.
    pub fn map<W>(self, f: impl FnOnce(V) -> W) -> Part<W> {
        Part { value: f(self.value), holder: self.holder, held: self.held }
    }
}

/// A queue that owns its buffers.
pub trait Queue: Sized {
    /// The queue and the objects that it needs.
    type Holder;

    /// Takes it out, and gives up the buffers of requests that are outstanding.
    fn into_holder(self) -> Self::Holder;

    /// The way back.
    ///
    /// # Errors
    /// The holder, if requests are outstanding.
    fn of_holder(holder: Self::Holder) -> Result<Self, Self::Holder>;

    /// Whether requests are.
    fn is_outstanding(&self) -> bool;

    /// Exchanges the queues of two holders.
    fn swap(a: &mut Self::Holder, b: &mut Self::Holder);
}

impl<H, B: DeviceBuffer> Queue for OwningSendQueue<Owned<SendQueue<transport::Rc>, H>, B> {
    type Holder = Owned<SendQueue<transport::Rc>, H>;

    fn into_holder(self) -> Self::Holder {
        self.into_inner()
    }

    fn of_holder(holder: Self::Holder) -> Result<Self, Self::Holder> {
        Self::new(holder)
    }

    fn is_outstanding(&self) -> bool {
        self.queue().free() != self.queue().depth()
    }

    fn swap(a: &mut Self::Holder, b: &mut Self::Holder) {
        swap(&mut **a, &mut **b);
    }
}

impl<H, B: DeviceBuffer> Queue for Owned<RecvQueue<PlainRecv, B>, H> {
    type Holder = Self;

    fn into_holder(self) -> Self::Holder {
        self
    }

    fn of_holder(holder: Self::Holder) -> Result<Self, Self::Holder> {
        if holder.is_outstanding() { Err(holder) } else { Ok(holder) }
    }

    fn is_outstanding(&self) -> bool {
        self.posted() != 0
    }

    fn swap(a: &mut Self::Holder, b: &mut Self::Holder) {
        swap(&mut **a, &mut **b);
    }
}

type Completions<H> = Part<Owned<CompletionQueue, H>>;

/// Exchanges the completion queues in the holders at two places, if both have one. No buffers are given up.
pub fn swap_held<H>(a: &mut Option<Completions<H>>, b: &mut Option<Completions<H>>) -> Vec<Label> {
    if let (Some(a), Some(b)) = (a, b) {
        swap(&mut *a.value, &mut *b.value);
        swap(&mut a.held, &mut b.held);
    }
    Vec::new()
}

/// Gives each holder of a list its own queue again, since a holder with a foreign queue leaks. All must be in the list.
pub fn mend<V>(parts: &mut [Part<V>], exchange: impl Fn(&mut V, &mut V)) {
    for at in 0..parts.len() {
        let own = parts[at].holder;
        if let Some(behind) = parts[at + 1..].iter().position(|part| part.held == own) {
            let (before, from) = parts.split_at_mut(at + 1 + behind);
            let (a, b) = (&mut before[at], &mut from[0]);
            exchange(&mut a.value, &mut b.value);
            swap(&mut a.held, &mut b.held);
        }
    }
}

/// Exchanges the queues in the holders at two places, if both have one. A queue that has requests outstanding goes to
/// the attic with the others out of use. Its buffers are the device's for good: whose they were is returned.
pub fn exchange_held<Q: Queue>(
    a: &mut Option<Part<Q>>,
    b: &mut Option<Part<Q>>,
    attic: &mut Vec<Part<Q::Holder>>,
) -> Vec<Label> {
    if a.is_none() || b.is_none() {
        return Vec::new();
    }
    let mut lost = Vec::new();
    let [mut x, mut y] = [&mut *a, &mut *b].map(|place| {
        let part = place.take()?;
        let outstanding = part.value.is_outstanding();
        let holder = part.map(Q::into_holder);
        if !outstanding {
            return Some(holder);
        }
        lost.push(holder.held);
        attic.push(holder.map(|holder| Q::of_holder(holder).err().expect("its tags are not known to be buffers")));
        None
    });
    if let (Some(x), Some(y)) = (&mut x, &mut y) {
        Q::swap(&mut x.value, &mut y.value);
        swap(&mut x.held, &mut y.held);
    }
    let again = |part: Part<Q::Holder>| part.map(|holder| Q::of_holder(holder).ok().expect("nothing is outstanding"));
    [*a, *b] = [x.map(again), y.map(again)];
    lost
}
