//! Changing a QP's state and attributes.

use super::psn::Psn;
use super::responder::Responder;
use super::{Qp, state};
use crate::config::LinkLayer;
use crate::context::{EXTENDED_ATOMICS, Path, QpAttr, QpState, Transport};
use crate::error::Error;
use crate::gsi::MAD_BYTES;
use crate::resources::{BONDED_PORTS, Resources};
use crate::wire::{Grh, Route};

/// Path MTUs there are, in bytes (IBTA vol. 1, 9.6).
const PATH_MTUS: [u32; 5] = [256, 512, 1024, 2048, 4096];

/// Most retries of a kind, and the largest timer code.
const MAX_RETRY: u8 = 7;
const MAX_TIMER: u8 = 31;

impl Qp {
    /// Moves the QP to another state, sets attributes, or both.
    ///
    /// # Errors
    /// A transition that does not exist, an attribute that it lacks or does not permit, or a value out of range.
    /// Nothing has changed then.
    pub(crate) fn modify(&mut self, resources: &mut Resources, a: &QpAttr) -> Result<(), Error> {
        let from = self.core.state;
        let to = state::check(&self.core.context, from, a)?;
        let merged = merge(&self.core.attr, a);
        check_values(resources, a, &merged)?;
        // A DCI's path only says which of the port's addresses it has; where to, its requests say.
        let path = merged.path.filter(|_| self.core.context.transport != Transport::Dc);
        let route = path.map(|path| resolve(resources, &merged, &path)).transpose()?;

        if matches!(to, QpState::Reset | QpState::Err) {
            self.leave_target(resources);
        }
        if to == QpState::Reset {
            let fetches = self.core.fetches;
            *self = Self::new(self.core.qpn, self.core.context);
            self.core.fetches = fetches;
            resources.slaves.begin(self.core.qpn, &self.core.context);
            return Ok(());
        }
        let port = merged.port.and_then(|port| resources.ports.get(usize::from(port) - 1));
        if let Some(port) = port {
            let index = usize::from(merged.pkey_index.unwrap_or(0));
            self.core.pkey = port.pkeys.get(index).copied().unwrap_or(0);
            self.core.mtu = match self.core.context.transport {
                // A management datagram has 256 bytes (IBTA vol. 1, 13.4.2).
                Transport::Ud if self.core.context.privileges.is_qp1 => MAD_BYTES as u32,
                Transport::Ud | Transport::RawPacket | Transport::RegUmr => port.active_mtu,
                Transport::Rc | Transport::Uc | Transport::Xrc | Transport::Dc => {
                    merged.path_mtu.unwrap_or(port.active_mtu)
                }
            };
        }
        self.core.attr = merged;
        self.requester.has_met_peer = false;
        if self.core.context.transport != Transport::Dc {
            self.core.route = route;
        }
        if let Some(psn) = a.rq_psn {
            self.responder = Responder::new(Psn::new(psn));
        }
        if let Some(psn) = a.sq_psn {
            self.requester.start_at(Psn::new(psn));
        }
        match (from, to) {
            (QpState::Err, QpState::Err) => {}
            (_, QpState::Err) => self.enter_error(),
            // WQEs posted before the error are flushed, even if the host changes the state before the flush is done.
            (QpState::Sqe, QpState::Rts) => self.requester.recover(&self.core, resources),
            _ => {}
        }
        if to == QpState::Sqd && from != QpState::Sqd {
            self.drain_reported = !a.sqd_event.unwrap_or(false);
        }
        self.core.state = to;
        Ok(())
    }
}

/// `a` over `old`.
fn merge(old: &QpAttr, a: &QpAttr) -> QpAttr {
    QpAttr {
        state: None,
        cur_state: None,
        sqd_event: None,
        pkey_index: a.pkey_index.or(old.pkey_index),
        port: a.port.or(old.port),
        access: a.access.or(old.access),
        qkey: a.qkey.or(old.qkey),
        path: a.path.or(old.path),
        path_mtu: a.path_mtu.or(old.path_mtu),
        dest_qpn: a.dest_qpn.or(old.dest_qpn),
        rq_psn: a.rq_psn.or(old.rq_psn),
        sq_psn: a.sq_psn.or(old.sq_psn),
        max_dest_rd_atomic: a.max_dest_rd_atomic.or(old.max_dest_rd_atomic),
        max_rd_atomic: a.max_rd_atomic.or(old.max_rd_atomic),
        extended_atomics: a.extended_atomics.or(old.extended_atomics),
        min_rnr_timer: a.min_rnr_timer.or(old.min_rnr_timer),
        timeout: a.timeout.or(old.timeout),
        retry_cnt: a.retry_cnt.or(old.retry_cnt),
        rnr_retry: a.rnr_retry.or(old.rnr_retry),
        out_of_order: a.out_of_order.or(old.out_of_order),
        in_order: a.in_order.or(old.in_order),
        udp_sport: a.udp_sport.or(old.udp_sport),
        lag_port: a.lag_port.or(old.lag_port),
        ece: a.ece.or(old.ece),
    }
}

/// Whether the values that `a` sets are in range; `merged` has the port they refer to.
fn check_values(resources: &Resources, a: &QpAttr, merged: &QpAttr) -> Result<(), Error> {
    let most = |what, value: Option<u64>, limit: u64, permitted| match value {
        Some(value) if value > limit => Err(Error::BadValue { what, value, permitted }),
        _ => Ok(()),
    };
    let limit = u64::from(resources.limits.max_rd_atomic);
    most("port", a.port.map(u64::from), resources.ports.len() as u64, "1 to the number of ports")?;
    if a.port == Some(0) {
        return Err(Error::BadValue { what: "port", value: 0, permitted: "1 to the number of ports" });
    }
    let bonded = if resources.bond.is_some() { BONDED_PORTS as u64 } else { 0 };
    most("lag_port", a.lag_port.map(u64::from), bonded, "0, or a port of the bond")?;
    most("dest_qpn", a.dest_qpn.map(u64::from), 0xff_ffff, "24 bits")?;
    most("max_rd_atomic", a.max_rd_atomic.map(u64::from), limit, "up to the device's max_rd_atomic")?;
    most("max_dest_rd_atomic", a.max_dest_rd_atomic.map(u64::from), limit, "up to the device's max_rd_atomic")?;
    if let Some(sizes) = a.extended_atomics.filter(|sizes| sizes & !EXTENDED_ATOMICS != 0) {
        return Err(Error::BadValue {
            what: "extended_atomics",
            value: sizes.into(),
            permitted: "0, or a sum of 4, 8 and 16",
        });
    }
    most("min_rnr_timer", a.min_rnr_timer.map(u64::from), MAX_TIMER.into(), "0 to 31")?;
    most("timeout", a.timeout.map(u64::from), MAX_TIMER.into(), "0 to 31")?;
    most("retry_cnt", a.retry_cnt.map(u64::from), MAX_RETRY.into(), "0 to 7")?;
    most("rnr_retry", a.rnr_retry.map(u64::from), MAX_RETRY.into(), "0 to 7")?;
    if let Some(mtu) = a.path_mtu.filter(|mtu| !PATH_MTUS.contains(mtu)) {
        return Err(Error::BadValue { what: "path_mtu", value: mtu.into(), permitted: "256, 512, 1024, 2048 or 4096" });
    }
    if let (Some(index), Some(port)) = (merged.pkey_index, merged.port) {
        let pkeys = resources.ports.get(usize::from(port) - 1).map_or(0, |port| port.pkeys.len());
        if usize::from(index) >= pkeys {
            return Err(Error::BadValue {
                what: "pkey_index",
                value: index.into(),
                permitted: "an index into the port's P_Key table",
            });
        }
    }
    Ok(())
}

/// The route along `path`.
fn resolve(resources: &Resources, attr: &QpAttr, path: &Path) -> Result<Route, Error> {
    let bad_port = Error::BadValue { what: "port", value: 0, permitted: "1 to the number of ports" };
    let number = usize::from(attr.port.unwrap_or(0)).checked_sub(1).ok_or_else(|| bad_port.clone())?;
    let port = resources.ports.get(number).ok_or(bad_port)?;
    if port.link == LinkLayer::Ethernet && path.grh.is_none() {
        return Err(Error::BadValue { what: "path without a GRH", value: 0, permitted: "with a GRH on Ethernet" });
    }
    let udp_sport = attr.udp_sport.unwrap_or(0);
    let with_port = |route: Route| Route { grh: route.grh.map(|grh| Grh { udp_sport, ..grh }), ..route };
    Route::along(port, path).map(with_port).ok_or_else(|| Error::BadValue {
        what: "sgid_index",
        value: path.grh.map_or(0, |grh| grh.sgid_index.into()),
        permitted: "an index into the port's GID table",
    })
}
