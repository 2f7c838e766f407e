//! Queue pairs of datagrams. They have no peer, so their state changes need no address.

use blueflame_sys as sys;

use crate::db::Register;
use crate::queue::owning::Posted;
use crate::transport;
use crate::types::{Psn, Qkey};
use crate::verbs::qp::transitions::zeroed_attr;
use crate::verbs::{Error, Path, QueuePair, VerbsTransport};
use crate::wqe::address::FullAv;

impl VerbsTransport for transport::Ud {
    const QP_TYPE: sys::ibv_qp_type = sys::IBV_QPT_UD;
    const RELIABLE: bool = false;
    const OPERAND_DS: usize = FullAv::DS;
    const CONNECTED: bool = false;
    const NAME: &'static str = "UD";
}

impl<R: Register, B: Posted> QueuePair<transport::Ud, R, B> {
    /// RESET to INIT to RTR to RTS: from here on, datagrams may be posted, and the queue pair receives datagrams with
    /// `qkey` that arrive at the path's port, in its partition.
    ///
    /// Receives may be posted before. The device drops datagrams that find no receive. Tell peers [where it
    /// is](crate::verbs::Qp::endpoint), and the Q_Key.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::NoPort`], [`Error::WrongState`], [`Error::ResetElsewhere`], or a failed call.
    pub fn activate(&mut self, path: &Path, qkey: Qkey) -> Result<(), Error> {
        ready(self, path, qkey)
    }
}

impl<R: Register, B: Posted> QueuePair<transport::Signed<transport::Ud>, R, B> {
    /// As [of plain datagrams](QueuePair::<transport::Ud, R>::activate).
    ///
    /// # Errors
    /// The same.
    pub fn activate(&mut self, path: &Path, qkey: Qkey) -> Result<(), Error> {
        ready(self, path, qkey)
    }
}

fn ready<T: VerbsTransport, R: Register, B: Posted>(
    pair: &mut QueuePair<T, R, B>,
    path: &Path,
    qkey: Qkey,
) -> Result<(), Error> {
    path.check()?;
    pair.qp.check_port(path.port.number)?;
    let mut init = zeroed_attr(sys::IBV_QPS_INIT);
    (init.pkey_index, init.port_num, init.qkey) = (path.pkey_index, path.port.number, qkey.0);
    let mask = sys::IBV_QP_STATE | sys::IBV_QP_PKEY_INDEX | sys::IBV_QP_PORT | sys::IBV_QP_QKEY;
    pair.qp.modify(&mut init, mask)?;
    let mut rtr = zeroed_attr(sys::IBV_QPS_RTR);
    pair.qp.modify(&mut rtr, sys::IBV_QP_STATE)?;
    let mut rts = zeroed_attr(sys::IBV_QPS_RTS);
    rts.sq_psn = Psn::random().get();
    pair.sq.open_by(&mut rts, sys::IBV_QP_STATE | sys::IBV_QP_SQ_PSN)
}
