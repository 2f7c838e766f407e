//! Domains that are numbers for other objects to name: transport domains and XRC domains.

use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::objects::Domain;
use crate::firmware::status::Refusal;

layout! {
    /// `ALLOC_TRANSPORT_DOMAIN`.
    alloc_transport_domain_in: 0x10 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
    }
}
layout! {
    /// Its output.
    alloc_transport_domain_out: 0x10 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
        TRANSPORT_DOMAIN: 0x48, 24;
    }
}
layout! {
    /// `DEALLOC_TRANSPORT_DOMAIN`.
    dealloc_transport_domain_in: 0x10 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
        TRANSPORT_DOMAIN: 0x48, 24;
    }
}
layout! {
    /// `ALLOC_XRCD`.
    alloc_xrcd_in: 0x10 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
    }
}
layout! {
    /// Its output.
    alloc_xrcd_out: 0x10 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
        XRCD: 0x48, 24;
    }
}
layout! {
    /// `DEALLOC_XRCD`.
    dealloc_xrcd_in: 0x10 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
        XRCD: 0x48, 24;
    }
}

pub(super) const COMMANDS: &[Command] = &[
    command(
        0x816,
        "ALLOC_TRANSPORT_DOMAIN",
        &alloc_transport_domain_in::LAYOUT,
        &alloc_transport_domain_out::LAYOUT,
        alloc_transport_domain,
    ),
    command(
        0x817,
        "DEALLOC_TRANSPORT_DOMAIN",
        &dealloc_transport_domain_in::LAYOUT,
        &bare_out::LAYOUT,
        dealloc_transport_domain,
    ),
    command(0x80e, "ALLOC_XRCD", &alloc_xrcd_in::LAYOUT, &alloc_xrcd_out::LAYOUT, alloc_xrcd),
    command(0x80f, "DEALLOC_XRCD", &dealloc_xrcd_in::LAYOUT, &bare_out::LAYOUT, dealloc_xrcd),
];

fn alloc_transport_domain(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = call.state.transport_domains.reserve()?;
    call.state.transport_domains.insert(number, Domain::default());
    call.created(Object::TransportDomain, number);
    call.output.set(alloc_transport_domain_out::TRANSPORT_DOMAIN, number.into());
    Ok(())
}

fn dealloc_transport_domain(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = call.input.get32(dealloc_transport_domain_in::TRANSPORT_DOMAIN);
    call.check_owner(Object::TransportDomain, number)?;
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
    let number = call.input.get32(dealloc_xrcd_in::XRCD);
    call.check_owner(Object::Xrcd, number)?;
    call.device.free_xrcd(number)?;
    call.destroyed(Object::Xrcd, number);
    Ok(())
}
