//! The sections of a page: which groups share a chart and a table.

/// A chart, and the table of the same figures.
pub(crate) struct Section {
    /// Name of the chart's file, without extension.
    pub(crate) file: &'static str,
    pub(crate) title: &'static str,
    /// The unit of a figure.
    pub(crate) unit: &'static str,
    pub(crate) form: Form,
}

/// How a section is shown.
pub(crate) enum Form {
    /// A bar per case, a panel per group: name of the group, and its title on the page.
    Bars(&'static [(&'static str, &'static str)]),
    /// A line per case of one group over its axis, with the axis' title.
    Lines(&'static str, &'static str),
}

impl Section {
    /// The section's groups.
    pub(crate) fn groups(&self) -> Vec<&'static str> {
        match self.form {
            Form::Bars(panels) => panels.iter().map(|(group, _)| *group).collect(),
            Form::Lines(group, _) => vec![group],
        }
    }
}

pub(crate) const SECTIONS: &[Section] = &[
    Section {
        file: "post",
        title: "Posting one request and ringing",
        unit: "nanoseconds a request",
        form: Form::Bars(&[
            ("post", "8 bytes inline, RDMA WRITE, BlueFlame"),
            ("post doorbell", "8 bytes inline, RDMA WRITE, 8-byte doorbell"),
            ("post one entry", "one scatter/gather entry, RDMA WRITE"),
            ("post doorbell one entry", "one scatter/gather entry, RDMA WRITE, 8-byte doorbell"),
            ("prepared entry", "prepared: one scatter/gather entry, RDMA WRITE"),
            ("prepared send", "prepared: SEND"),
        ]),
    },
    Section {
        file: "bursts",
        title: "Posting many requests with one doorbell",
        unit: "nanoseconds a request",
        form: Form::Bars(&[
            ("burst of 1", "1 request"),
            ("burst of 16", "16 requests"),
            ("burst of 64", "64 requests"),
            ("burst of 16 and poll", "16 requests, and polling their completions"),
            ("burst of 64 and poll", "64 requests, and polling their completions"),
        ]),
    },
    Section {
        file: "post_frame",
        title: "Sending one Ethernet frame",
        unit: "nanoseconds a frame",
        form: Form::Bars(&[
            ("post frame", "60 bytes inline"),
            ("post frame one entry", "from registered memory"),
            ("order", "an order of 98 bytes, one shot after the other: UDP, and a delegated TCP segment"),
        ]),
    },
    Section {
        file: "send_frames",
        title: "Sending Ethernet frames",
        unit: "nanoseconds a frame",
        form: Form::Bars(&[
            ("frames inline 8", "8 frames of 60 bytes inline, one doorbell"),
            ("frames inline 15", "15 frames of 60 bytes inline, one doorbell"),
            ("frames pointer 8", "8 frames from registered memory, one doorbell"),
            ("frames pointer 32", "32 frames from registered memory, one doorbell"),
            ("large send", "one large send (TSO): nanoseconds a request"),
        ]),
    },
    Section {
        file: "poll",
        title: "Polling",
        unit: "nanoseconds a completion",
        form: Form::Bars(&[
            ("poll", "CQEs in this core's cache"),
            ("poll other core", "CQEs just written by another core"),
            ("poll empty", "nothing to poll: nanoseconds a call"),
        ]),
    },
    Section {
        file: "cold",
        title: "Once, after work that has taken all caches, TLBs and branch predictors",
        unit: "nanoseconds",
        form: Form::Bars(&[
            ("cold post", "8 bytes inline, RDMA WRITE, BlueFlame"),
            ("cold frame", "a frame of 60 bytes, BlueFlame"),
            ("cold poll", "a completion, three fields read"),
        ]),
    },
    Section {
        file: "shared-cq",
        title: "Polling a completion queue that queue pairs share, and retiring",
        unit: "nanoseconds a completion",
        form: Form::Bars(&[("shared CQ", "by how the completion's queue pair is found")]),
    },
    Section {
        file: "frames",
        title: "Receiving frames of a striding queue",
        unit: "nanoseconds a frame",
        form: Form::Bars(&[("receive frames", "by how completions come, and where frames go")]),
    },
    Section {
        file: "doorbell",
        title: "The doorbell alone, by copy routine of this CPU",
        unit: "nanoseconds a doorbell",
        form: Form::Bars(&[("doorbell", "")]),
    },
    Section {
        file: "ring-depth",
        title: "Posting against the depth of the ring",
        unit: "nanoseconds a request",
        form: Form::Lines("ring depth", "WQEBBs in the ring"),
    },
    Section {
        file: "queues",
        title: "Posting to many queues in turn",
        unit: "nanoseconds a request",
        form: Form::Lines("queues", "queues"),
    },
    Section {
        file: "inline-bytes",
        title: "Posting against the bytes that are inline",
        unit: "nanoseconds a request",
        form: Form::Lines("inline bytes", "bytes inline"),
    },
    Section {
        file: "entries",
        title: "Posting against the number of scatter/gather entries",
        unit: "nanoseconds a request",
        form: Form::Lines("entries", "entries"),
    },
    Section {
        file: "set-up",
        title: "Making queue pairs and connecting them",
        unit: "nanoseconds a queue pair",
        form: Form::Lines("set-up", "queue pairs that exist at a time"),
    },
];
