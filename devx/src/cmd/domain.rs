//! Protection domains, transport domains, XRC domains, and doorbell pages.

use super::{Opcode, Pdn, Status, Tdn, UarPage, Xrcdn};
use crate::mailbox::{commands, structures};

structures! {
    /// Allocates a protection domain.
    pub struct AllocPdIn: "alloc_pd_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }

    /// Answer to [`AllocPdIn`].
    pub struct AllocPdOut: "alloc_pd_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        pd: 0x48, 24, Pdn;
    }

    /// Allocates a transport domain.
    pub struct AllocTransportDomainIn: "alloc_transport_domain_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }

    /// Answer to [`AllocTransportDomainIn`].
    pub struct AllocTransportDomainOut: "alloc_transport_domain_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        transport_domain: 0x48, 24, Tdn;
    }

    /// Allocates an XRC domain.
    pub struct AllocXrcdIn: "alloc_xrcd_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }

    /// Answer to [`AllocXrcdIn`].
    pub struct AllocXrcdOut: "alloc_xrcd_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        xrcd: 0x48, 24, Xrcdn;
    }

    /// Allocates a doorbell page. `mlx5dv_devx_alloc_uar` makes the kernel do this, and also maps the page.
    pub struct AllocUarIn: "alloc_uar_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }

    /// Answer to [`AllocUarIn`].
    pub struct AllocUarOut: "alloc_uar_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        uar: 0x48, 24, UarPage;
    }
}

commands! {
    AllocPdIn => AllocPdOut, ALLOC_PD, Creates;
    AllocTransportDomainIn => AllocTransportDomainOut, ALLOC_TRANSPORT_DOMAIN, Creates;
    AllocXrcdIn => AllocXrcdOut, ALLOC_XRCD, Creates;
    AllocUarIn => AllocUarOut, ALLOC_UAR, Creates;
}
