//! TIS: the common context of send queues.

use super::lag;
use super::work_queue::check_absent;
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::{Field, ViewMut, layout};
use crate::firmware::status::Refusal;
use crate::nic::TisContext;

layout! {
    /// TIS context.
    struct tisc: 0xa0 bytes {
        STRICT_LAG_TX_PORT_AFFINITY: 0x0, 1;
        TLS_EN: 0x1, 1;
        LAG_TX_PORT_AFFINITY: 0x4, 4;
        PRIO: 0xc, 4;
        TRANSPORT_DOMAIN: 0x128, 24;
        UNDERLAY_QPN: 0x148, 24;
        PD: 0x168, 24;
    }
    struct create_tis_in: command 0xc0 bytes {} parts { CTX: 0x100, tisc; }
    struct create_tis_out: answer { TISN: 0x48, 24; }
    struct destroy_tis_in: command { TISN: 0x48, 24; }
    struct query_tis_in: query { TISN: 0x48, 24; }
    /// Which fields are modified.
    struct modify_tis_bitmask: 0x8 bytes {
        LAG_TX_PORT_AFFINITY: 0x3d, 1;
        STRICT_LAG_TX_PORT_AFFINITY: 0x3e, 1;
        PRIO: 0x3f, 1;
    }
    struct modify_tis_in: command 0xc0 bytes {
        TISN: 0x48, 24;
    } parts {
        BITMASK: 0x80, modify_tis_bitmask;
        CTX: 0x100, tisc;
    }
    struct query_tis_out: answer 0xb0 bytes {} parts { TIS_CONTEXT: 0x80, tisc; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x912, "CREATE_TIS", create_tis_in, create_tis_out, create),
    command!(0x913, "MODIFY_TIS", modify_tis_in, bare_out, modify),
    command!(0x914, "DESTROY_TIS", destroy_tis_in, bare_out, destroy),
    command!(0x915, "QUERY_TIS", query_tis_in, query_tis_out, query),
];

/// Features that no TIS has here, as the capabilities say.
const ABSENT: [(Field, &str); 4] = [
    (tisc::STRICT_LAG_TX_PORT_AFFINITY, "a port of a bond that hands over to none"),
    (tisc::TLS_EN, "TLS offloads"),
    // The PD is that of the keys of TLS.
    (tisc::PD, "TLS offloads"),
    (tisc::UNDERLAY_QPN, "enhanced IPoIB"),
];

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let view = call.input.part(create_tis_in::CTX);
    check_absent(view, &ABSENT)?;
    let transport_domain = view.get32(tisc::TRANSPORT_DOMAIN);
    call.in_transport_domain(transport_domain)?;
    let lag_port = lag::port(call, view.get(tisc::LAG_TX_PORT_AFFINITY))?;
    let tisn = call.device.nic().create_tis(TisContext { transport_domain, lag_port })?;
    call.created(Object::Tis, tisn);
    call.state.contexts.add(Object::Tis, tisn, view.0);
    call.output.set(create_tis_out::TISN, tisn.into());
    Ok(())
}

fn modify(call: &mut Call<'_>) -> Result<(), Refusal> {
    let tisn = call.owned(Object::Tis, modify_tis_in::TISN)?;
    call.device.nic().tis(tisn)?;
    let mask = call.input.part(modify_tis_in::BITMASK);
    if mask.flag(modify_tis_bitmask::STRICT_LAG_TX_PORT_AFFINITY) {
        return Err(Refusal::parameter("a port of a bond that hands over to none is not a capability of this device"));
    }
    if mask.flag(modify_tis_bitmask::LAG_TX_PORT_AFFINITY) {
        if !call.device.config().bonded {
            return Err(Refusal::parameter("the device bonds no ports"));
        }
        let port = lag::port(call, call.input.part(modify_tis_in::CTX).get(tisc::LAG_TX_PORT_AFFINITY))?;
        call.device.nic().set_lag_port(tisn, port)?;
        ViewMut(call.state.contexts.get_mut(Object::Tis, tisn)).set(tisc::LAG_TX_PORT_AFFINITY, port.into());
    }
    if mask.flag(modify_tis_bitmask::PRIO) {
        // There is one way out, so that priorities change no order.
        let prio = call.input.part(modify_tis_in::CTX).get(tisc::PRIO);
        ViewMut(call.state.contexts.get_mut(Object::Tis, tisn)).set(tisc::PRIO, prio);
    }
    Ok(())
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.destroy(Object::Tis, destroy_tis_in::TISN, |device, tisn| device.nic().destroy_tis(tisn))
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let tisn = call.usable(Object::Tis, query_tis_in::TISN)?;
    call.device.nic().tis(tisn)?;
    let context = call.state.contexts.get(Object::Tis, tisn);
    call.output.put(query_tis_out::TIS_CONTEXT.at, &context);
    Ok(())
}
