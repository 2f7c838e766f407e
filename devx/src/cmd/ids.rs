//! Numbers by which commands name objects.

use crate::mailbox::identifiers;

identifiers! {
    /// A protection domain.
    pub struct Pdn: 24 bits;
    /// A transport domain.
    pub struct Tdn: 24 bits;
    /// An XRC domain.
    pub struct Xrcdn: 24 bits;
    /// A page of doorbell registers.
    pub struct UarPage: 24 bits;
    /// Memory for rings, records and keys.
    pub struct UmemId: 32 bits;
    /// A send queue outside of queue pairs.
    pub struct Sqn: 24 bits;
    /// A receive queue outside of queue pairs.
    pub struct Rqn: 24 bits;
    /// A receive memory pool.
    pub struct Rmpn: 24 bits;
    /// An extended shared receive queue.
    pub struct Xrqn: 24 bits;
    /// A target of dynamically connected queue pairs.
    pub struct Dctn: 24 bits;
    /// A transport interface of sends.
    pub struct Tisn: 24 bits;
    /// A transport interface of receives.
    pub struct Tirn: 24 bits;
    /// A table of receive queues.
    pub struct Rqtn: 24 bits;
}
