//! Domains that are numbers for other objects to name: transport domains and XRC domains.

use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::objects::Domain;
use crate::firmware::status::Refusal;

layout! {
    struct alloc_transport_domain_in: command {}
    struct alloc_transport_domain_out: answer { TRANSPORT_DOMAIN: 0x48, 24; }
    struct dealloc_transport_domain_in: command { TRANSPORT_DOMAIN: 0x48, 24; }
    struct alloc_xrcd_in: command {}
    struct alloc_xrcd_out: answer { XRCD: 0x48, 24; }
    struct dealloc_xrcd_in: command { XRCD: 0x48, 24; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x816, "ALLOC_TRANSPORT_DOMAIN", alloc_transport_domain_in, alloc_transport_domain_out, alloc_td),
    command!(0x817, "DEALLOC_TRANSPORT_DOMAIN", dealloc_transport_domain_in, bare_out, dealloc_td),
    command!(0x80e, "ALLOC_XRCD", alloc_xrcd_in, alloc_xrcd_out, alloc_xrcd),
    command!(0x80f, "DEALLOC_XRCD", dealloc_xrcd_in, bare_out, dealloc_xrcd),
];

fn alloc_td(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = call.state.transport_domains.reserve()?;
    call.state.transport_domains.insert(number, Domain::default());
    call.created(Object::TransportDomain, number);
    call.output.set(alloc_transport_domain_out::TRANSPORT_DOMAIN, number.into());
    Ok(())
}

fn dealloc_td(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = call.owned(Object::TransportDomain, dealloc_transport_domain_in::TRANSPORT_DOMAIN)?;
    call.state.transport_domains.remove_unused(number, |domain| domain.users)?;
    call.destroyed(Object::TransportDomain, number);
    Ok(())
}

fn alloc_xrcd(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = call.device.alloc_xrcd()?;
    call.created(Object::Xrcd, number);
    call.output.set(alloc_xrcd_out::XRCD, number.into());
    Ok(())
}

fn dealloc_xrcd(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.destroy(Object::Xrcd, dealloc_xrcd_in::XRCD, |device, number| device.free_xrcd(number))
}
