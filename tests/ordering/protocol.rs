//! The protocols between CPUs and a device, as the steps of each.

/// One access, barrier or decision.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Step {
    /// Stores the value at the place.
    Store(&'static str, u8),
    /// Loads the place.
    Load(&'static str),
    /// Goes on only if the value loaded from the place is not 0.
    If(&'static str),
    /// Stores the value that was loaded from the first place at the second.
    Keep(&'static str, &'static str),
    /// A barrier of `src/arch`, by its name.
    Barrier(&'static str),
}

use Step::{Barrier, If, Keep, Load, Store};

/// Which side has loaded a value.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Side {
    Cpu,
    Device,
}

/// A protocol: the steps of both sides, and the outcome that breaks it.
pub(crate) struct Protocol {
    pub(crate) name: &'static str,
    pub(crate) cpu: &'static [Step],
    /// The steps of a second CPU.
    pub(crate) second: &'static [Step],
    /// The device's steps. A full barrier is between each two: the device reads after its last read has told it to.
    pub(crate) device: &'static [Step],
    /// A side has loaded these values, all in one execution.
    pub(crate) bad: &'static [(Side, &'static str, u8)],
    /// Whether no architecture may show the bad outcome. `docs/evidence/ordering.md` says why two protocols may.
    pub(crate) ordered: bool,
    /// The barrier without which weak architectures must show it.
    pub(crate) needs: Option<&'static str>,
}

/// Each shape that the crate's rings have. `docs/evidence/ordering.md` says where each one is in the source.
pub(crate) const PROTOCOLS: &[Protocol] = &[
    Protocol {
        name: "publish",
        cpu: &[Store("wqe", 1), Barrier("to_device"), Store("record", 1)],
        second: &[],
        device: &[Load("record"), Load("wqe")],
        bad: &[(Side::Device, "record", 1), (Side::Device, "wqe", 0)],
        ordered: true,
        needs: Some("to_device"),
    },
    Protocol {
        name: "ring",
        cpu: &[Store("record", 1), Barrier("mmio_wc_start"), Store("register", 1)],
        second: &[],
        device: &[Load("register"), Load("record")],
        bad: &[(Side::Device, "register", 1), (Side::Device, "record", 0)],
        ordered: true,
        needs: Some("mmio_wc_start"),
    },
    Protocol {
        name: "flush",
        cpu: &[Store("register", 1), Barrier("mmio_flush_writes"), Store("register_of_another_queue", 1)],
        second: &[],
        device: &[Load("register_of_another_queue"), Load("register")],
        bad: &[(Side::Device, "register_of_another_queue", 1), (Side::Device, "register", 0)],
        ordered: true,
        needs: Some("mmio_flush_writes"),
    },
    Protocol {
        // The lock of a shared register is a plain store and a plain load here, so the flush alone keeps the order.
        name: "hand over",
        cpu: &[Store("register", 1), Barrier("mmio_flush_writes"), Store("open", 1)],
        second: &[Load("open"), If("open"), Store("other_half", 1)],
        device: &[Load("other_half"), Load("register")],
        bad: &[(Side::Device, "other_half", 1), (Side::Device, "register", 0)],
        ordered: true,
        needs: Some("mmio_flush_writes"),
    },
    Protocol {
        name: "take",
        cpu: &[Load("owner"), If("owner"), Barrier("from_device"), Load("cqe")],
        second: &[],
        device: &[Store("cqe", 1), Store("owner", 1)],
        bad: &[(Side::Cpu, "owner", 1), (Side::Cpu, "cqe", 0)],
        ordered: true,
        needs: Some("from_device"),
    },
    Protocol {
        name: "take, conservative",
        cpu: &[Load("owner"), If("owner"), Barrier("from_device_conservative"), Load("cqe")],
        second: &[],
        device: &[Store("cqe", 1), Store("owner", 1)],
        bad: &[(Side::Cpu, "owner", 1), (Side::Cpu, "cqe", 0)],
        ordered: true,
        needs: Some("from_device_conservative"),
    },
    Protocol {
        name: "give back, looked at",
        cpu: &[Load("data"), If("data"), Store("wqe", 1), Barrier("to_device"), Store("record", 1)],
        second: &[],
        device: &[Store("data", 1), Load("record"), If("record"), Store("data", 2)],
        bad: &[(Side::Cpu, "data", 2)],
        ordered: true,
        needs: None,
    },
    Protocol {
        name: "give back, copied",
        cpu: &[Load("data"), Keep("data", "copy"), Barrier("to_device"), Store("record", 1)],
        second: &[],
        device: &[Store("data", 1), Load("record"), If("record"), Store("data", 2)],
        bad: &[(Side::Cpu, "data", 2)],
        ordered: true,
        needs: Some("to_device"),
    },
    Protocol {
        name: "free a CQE, looked at",
        cpu: &[Load("owner"), If("owner"), Barrier("from_device"), Load("cqe"), If("cqe"), Store("index", 1)],
        second: &[],
        device: &[Store("cqe", 1), Store("owner", 1), Load("index"), If("index"), Store("cqe", 2)],
        bad: &[(Side::Cpu, "cqe", 2)],
        ordered: true,
        needs: None,
    },
    Protocol {
        name: "give back, only loaded",
        cpu: &[Load("data"), Store("wqe", 1), Barrier("to_device"), Store("record", 1)],
        second: &[],
        device: &[Store("data", 1), Load("record"), If("record"), Store("data", 2)],
        bad: &[(Side::Cpu, "data", 2)],
        ordered: false,
        needs: None,
    },
    Protocol {
        name: "free a CQE, only loaded",
        cpu: &[Load("owner"), If("owner"), Barrier("from_device"), Load("cqe"), Store("index", 1)],
        second: &[],
        device: &[Store("cqe", 1), Store("owner", 1), Load("index"), If("index"), Store("cqe", 2)],
        bad: &[(Side::Cpu, "cqe", 2)],
        ordered: false,
        needs: None,
    },
];
