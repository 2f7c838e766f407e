//! Initiators of dynamic connections (DCI). Their requests name the target, so their state changes need no address.

use blueflame_sys as sys;

use crate::db::Register;
use crate::queue::owning::Posted;
use crate::transport::{self, DciStreams, Signed};
use crate::types::{DS_BYTES, DciStream, Psn};
use crate::verbs::device::DeviceAttr;
use crate::verbs::error::{in_range, zero};
use crate::verbs::event::event;
use crate::verbs::qp::transitions::zeroed_attr;
use crate::verbs::{Error, Path, QueuePair, VerbsTransport};
use crate::wqe::address::FullAv;
use crate::wqe::seg::RaddrSeg;

/// The name of dynamic connections in the error for a device without them.
pub(in crate::verbs) const DYNAMIC: &str = "dynamic connections (DC)";
/// The name of DCI streams in errors.
const STREAMS: &str = "streams of initiators (DCI streams)";

impl VerbsTransport for transport::Dci {
    const QP_TYPE: sys::ibv_qp_type = sys::IBV_QPT_DRIVER;
    const RELIABLE: bool = true;
    const OPERAND_DS: usize = FullAv::DS + size_of::<RaddrSeg>() / DS_BYTES;
    const INITIATOR: bool = true;
    const RECEIVES: bool = false;
    const CONNECTED: bool = false;
    const NAME: &'static str = "DCI";
}

impl VerbsTransport for DciStreams {
    const QP_TYPE: sys::ibv_qp_type = transport::Dci::QP_TYPE;
    const RELIABLE: bool = transport::Dci::RELIABLE;
    const OPERAND_DS: usize = transport::Dci::OPERAND_DS;
    const INITIATOR: bool = true;
    const RECEIVES: bool = false;
    const CONNECTED: bool = false;
    const STREAMS: Option<[u8; 2]> = Some([1, 1]);
    const NAME: &'static str = "DCI with streams";
}

/// Asks for an initiator. `streams` asks for streams: log2 of their number, and log2 of the number of failed streams
/// with which the initiator fails.
pub(in crate::verbs) fn attributes(
    attr: &mut sys::mlx5dv_qp_init_attr,
    streams: Option<[u8; 2]>,
    device: &DeviceAttr,
) -> Result<(), Error> {
    attr.comp_mask |= sys::MLX5DV_QP_INIT_ATTR_MASK_DC;
    attr.dc_init_attr.dc_type = sys::MLX5DV_DCTYPE_DCI;
    if let Some([count, errored]) = streams {
        if device.max_log_dci_streams == 0 {
            return Err(Error::Unsupported { what: STREAMS });
        }
        in_range("log2 of an initiator's streams", count.into(), 0..=device.max_log_dci_streams.into())?;
        in_range("log2 of an initiator's failed streams", errored.into(), 0..=device.max_log_dci_errored.into())?;
        attr.comp_mask |= sys::MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
        attr.dc_init_attr.dct_access_key = u64::from_ne_bytes([count, errored, 0, 0, 0, 0, 0, 0]);
    }
    Ok(())
}

/// Declares `activate` for the transports of initiators. Other transports have other functions of this name.
macro_rules! activate {
    ($($transport:ty;)*) => {$(
        impl<R: Register, B: Posted> QueuePair<$transport, R, B> {
            /// RESET to INIT to RTR to RTS of an initiator: requests to [targets](crate::verbs::Dct) may be posted
            /// from here on. They leave by the path's port, in its partition, in packets of its MTU.
            ///
            /// # Errors
            /// [`Error::OutOfRange`], [`Error::NoPort`], [`Error::WrongState`], [`Error::ResetElsewhere`], or a failed
            /// call.
            pub fn activate(&mut self, path: &Path) -> Result<(), Error> {
                ready(self, path)
            }
        }
    )*};
}

activate! {
    transport::Dci;
    DciStreams;
    Signed<transport::Dci>;
    Signed<DciStreams>;
}

fn ready<T: VerbsTransport, R: Register, B: Posted>(pair: &mut QueuePair<T, R, B>, path: &Path) -> Result<(), Error> {
    path.check()?;
    pair.qp.check_port(path.port.number)?;
    let mut init = zeroed_attr(sys::IBV_QPS_INIT);
    (init.pkey_index, init.port_num) = (path.pkey_index, path.port.number);
    pair.qp.modify(&mut init, sys::IBV_QP_STATE | sys::IBV_QP_PKEY_INDEX | sys::IBV_QP_PORT)?;
    let mut rtr = zeroed_attr(sys::IBV_QPS_RTR);
    rtr.path_mtu = path.mtu as sys::ibv_mtu;
    pair.qp.modify(&mut rtr, sys::IBV_QP_STATE | sys::IBV_QP_PATH_MTU)?;
    let mut rts = zeroed_attr(sys::IBV_QPS_RTS);
    rts.sq_psn = Psn::random().get();
    (rts.timeout, rts.retry_cnt, rts.rnr_retry) = (path.timeout, path.retry_cnt, path.rnr_retry);
    rts.max_rd_atomic = path.max_rd_atomic.min(pair.qp.device_attr().max_qp_init_rd_atom);
    let mask = sys::IBV_QP_STATE
        | sys::IBV_QP_SQ_PSN
        | sys::IBV_QP_TIMEOUT
        | sys::IBV_QP_RETRY_CNT
        | sys::IBV_QP_RNR_RETRY
        | sys::IBV_QP_MAX_QP_RD_ATOMIC;
    pair.sq.open_by(&mut rts, mask)
}

impl<T: VerbsTransport, R: Register, B: Posted> QueuePair<T, R, B> {
    /// Makes a stream work again after one of its requests failed and the later requests of the stream were flushed.
    /// Reset the stream when all these requests have completed. Without streams ([`DciStreams`]) this does not compile.
    ///
    /// # Errors
    /// A failed call: `EINVAL` if the stream works; `EOPNOTSUPP` if the device does not reset streams, or if the queue
    /// pair is not ready to send, for example because too many streams had failed.
    #[doc(alias = "mlx5dv_dci_stream_id_reset")]
    pub fn reset_stream(&mut self, stream: DciStream) -> Result<(), Error> {
        const { assert!(T::STREAMS.is_some(), "queue pairs of this transport have no streams") };
        // SAFETY: the queue pair is alive, of libmlx5.
        zero("mlx5dv_dci_stream_id_reset", unsafe { sys::mlx5dv_dci_stream_id_reset(self.qp.as_raw(), stream.0) })?;
        event!(DEBUG, "stream reset", qpn = self.qp.qpn().get(), stream = stream.0);
        Ok(())
    }
}
