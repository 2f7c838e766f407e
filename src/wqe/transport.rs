use super::operation::{CompareSwap, FetchAdd, Nop, Operation, Read, Send, SendImm, SendInval, Write, WriteImm};
use super::sealed::Sealed;

/// The service a queue pair offers, known by the type of its queue: [`Rc`] or [`Uc`].
pub trait Transport: Sealed + 'static {}

/// Reliable connection: acknowledged, in order, with READ and atomics (IBTA vol. 1, 9.7).
#[derive(Clone, Copy, Debug)]
pub struct Rc;

/// Unreliable connection: SEND and WRITE only, lost messages are not repeated (IBTA vol. 1, 9.8.2).
#[derive(Clone, Copy, Debug)]
pub struct Uc;

impl Sealed for Rc {}
impl Sealed for Uc {}
impl Transport for Rc {}
impl Transport for Uc {}

/// An operation that the transport `T` knows (IBTA vol. 1, 9.2.1, table "OpCode field": which operations each service
/// has). What it does not know does not compile:
///
/// ```
/// # use blueflame::wqe::{LegalOn, Rc, Read, Uc, Write};
/// fn legal<T: blueflame::wqe::Transport, O: LegalOn<T>>() {}
/// legal::<Rc, Read>();
/// legal::<Uc, Write>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::wqe::{LegalOn, Read, Uc};
/// # fn legal<T: blueflame::wqe::Transport, O: LegalOn<T>>() {}
/// legal::<Uc, Read>(); // an unreliable connection has no responses that could carry data
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::wqe::{LegalOn, FetchAdd, Uc};
/// # fn legal<T: blueflame::wqe::Transport, O: LegalOn<T>>() {}
/// legal::<Uc, FetchAdd>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::wqe::{LegalOn, CompareSwap, Uc};
/// # fn legal<T: blueflame::wqe::Transport, O: LegalOn<T>>() {}
/// legal::<Uc, CompareSwap>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::wqe::{LegalOn, SendInval, Uc};
/// # fn legal<T: blueflame::wqe::Transport, O: LegalOn<T>>() {}
/// legal::<Uc, SendInval>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the transport `{T}` does not have the operation `{Self}`",
    label = "READ, atomics and SEND with invalidate need a reliable connection"
)]
pub trait LegalOn<T: Transport>: Operation {}

impl<T: Transport> LegalOn<T> for Nop {}
impl<T: Transport> LegalOn<T> for Send {}
impl<T: Transport> LegalOn<T> for SendImm {}
impl<T: Transport> LegalOn<T> for Write {}
impl<T: Transport> LegalOn<T> for WriteImm {}
impl LegalOn<Rc> for SendInval {}
impl LegalOn<Rc> for Read {}
impl LegalOn<Rc> for FetchAdd {}
impl LegalOn<Rc> for CompareSwap {}
