//! WQEs: their segments, and their oddities.
use crate::layout::{Layout, bsf, wqe as seg};
use crate::names;
use crate::operation::{self, Step};
use crate::options::Transport;
use crate::report::{Field, Kind, Part, Record, Value};

/// Bytes of a DS.
const DS: usize = 16;
/// The lkey that ends the list of a receive WQE (`MLX5_INVALID_LKEY`).
const INVALID_LKEY: u64 = 0x100;
/// The `op` of a repeat block (rdma-core `providers/mlx5/qp.c`).
const REPEAT: u64 = 0x400;

/// The segment between the control segment and the operation's own segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lead {
    None,
    FullAv,
    CompactAv,
    Xrc,
    Eth,
}

impl Lead {
    /// In the order of trial: if two fit, the first is taken.
    const ALL: [Self; 5] = [Self::None, Self::FullAv, Self::CompactAv, Self::Xrc, Self::Eth];

    const fn text(self) -> &'static str {
        match self {
            Self::None => "no address segment",
            Self::FullAv => "a full address vector (UD, DC)",
            Self::CompactAv => "a compact address vector (UD, DC)",
            Self::Xrc => "an XRC segment",
            Self::Eth => "an Ethernet segment",
        }
    }

    fn fits(self, transport: Option<Transport>) -> bool {
        match transport {
            None => true,
            Some(Transport::Rc | Transport::Uc) => self == Self::None,
            Some(Transport::Ud | Transport::Dc) => matches!(self, Self::FullAv | Self::CompactAv),
            Some(Transport::Xrc) => self == Self::Xrc,
            Some(Transport::Eth) => self == Self::Eth,
        }
    }
}

/// A walk over the segments of a WQE.
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    parts: Vec<Part>,
    /// Impossible or unlikely values: the fewer, the better the guess.
    odd: Vec<String>,
}

impl Walk<'_> {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.at.min(self.bytes.len())..]
    }

    /// Reads a segment, and continues after it. Returns the segment's offset.
    fn fixed(&mut self, layout: &Layout) -> usize {
        let at = self.at;
        if self.rest().is_empty() {
            self.odd.push(format!("{} is missing", layout.name));
            return at;
        }
        let part = layout.read(&self.bytes[at..], at, &mut self.odd);
        self.at += part.bytes;
        self.parts.push(part);
        at
    }

    /// A field of the segment at `at`; 0 where it is cut short.
    fn get(&self, layout: &Layout, at: usize, name: &str) -> u64 {
        layout.get(self.bytes.get(at..).unwrap_or(&[]), name)
    }

    /// Takes `len` bytes, or fewer at the end, as the last field of the last part.
    fn bytes_field(&mut self, name: &'static str, len: usize) {
        let len = len.min(self.rest().len());
        if len == 0 {
            // A field lies in its part.
            return;
        }
        let value = Value::Bytes(self.rest()[..len].to_vec());
        let field = Field { name: name.into(), offset: self.at, value, meaning: None };
        self.at += len;
        if let Some(part) = self.parts.last_mut() {
            part.bytes += len;
            part.fields.push(field);
        }
    }

    /// Continues at the next DS.
    fn pad(&mut self) {
        self.at = self.at.next_multiple_of(DS).min(self.bytes.len());
    }

    /// Takes the remaining bytes up to `end`, DS by DS.
    fn raw(&mut self, name: &'static str, end: usize) {
        let end = end.min(self.bytes.len());
        while self.at < end {
            let len = (end - self.at).min(DS);
            self.parts.push(Part { name: name.into(), offset: self.at, bytes: 0, fields: Vec::new() });
            self.bytes_field("data", len);
        }
    }

    /// Notes whether the signature in the control segment is right: a right one makes the XOR of all bytes of the WQE
    /// 255 (rdma-core `providers/mlx5/qp.c`, `wq_sig`). Zero means no signature.
    fn signature(&mut self) {
        let found = seg::CTRL.get(self.bytes, "signature") as u8;
        if found == 0 || self.bytes.len() < len(self.bytes) {
            return;
        }
        let right = self.bytes.iter().fold(!found, |sum, byte| sum ^ byte);
        if found == right {
            self.name_last("signature", "right");
        } else {
            let means = format!(
                "wrong: these bytes need {right:#04x}. It is an error on queues with WQE signatures, and ignored on \
                others"
            );
            self.name_last("signature", &means);
        }
    }

    fn lead(&mut self, lead: Lead) {
        match lead {
            Lead::None => {}
            Lead::Xrc => {
                let at = self.fixed(&seg::XRC);
                if self.get(&seg::XRC, at, "xrc_srqn") == 0 {
                    self.odd.push("xrc_srqn is 0".to_owned());
                }
            }
            Lead::Eth => self.eth(),
            Lead::FullAv | Lead::CompactAv => {
                let layout = if lead == Lead::FullAv { &seg::DATAGRAM } else { &seg::BASE_AV };
                let at = self.fixed(layout);
                if (self.get(layout, at, "dqp_dct:ext") == 1) != (lead == Lead::FullAv) {
                    self.odd.push("dqp_dct:ext does not fit the size of the address vector".to_owned());
                }
                if self.get(layout, at, "dqp_dct:dqp_dct") == 0 {
                    self.odd.push("dqp_dct is 0".to_owned());
                }
            }
        }
    }

    fn eth(&mut self) {
        let at = self.fixed(&seg::ETH);
        if self.get(&seg::ETH, at, "rsvd0") != 0 {
            self.odd.push("mlx5_wqe_eth_seg.rsvd0 is not 0: offsets for software parsing".to_owned());
        }
        let inline = self.get(&seg::ETH, at, "inline_hdr_sz") as usize;
        // Linux `MLX5_ETH_WQE_INSERT_VLAN`: no headers, but a tag.
        if inline & 0x8000 != 0 || inline <= 2 {
            return;
        }
        let rest = inline - 2;
        if rest > self.rest().len() {
            self.odd.push(format!("inline_hdr_sz is {inline}, but only {} bytes follow", self.rest().len() + 2));
        }
        self.bytes_field("inline_hdr", rest);
        self.pad();
    }

    fn data(&mut self) {
        while !self.rest().is_empty() {
            let at = self.at;
            if self.get(&seg::INLINE, at, "byte_count:inline") == 1 {
                self.fixed(&seg::INLINE);
                let len = self.get(&seg::INLINE, at, "byte_count:byte_count") as usize;
                if len > self.rest().len() {
                    self.odd.push(format!("{len} bytes of inline data, but only {} follow", self.rest().len()));
                }
                self.bytes_field("data", len);
                self.pad();
                continue;
            }
            self.fixed(&seg::DATA);
            let get = |name| self.get(&seg::DATA, at, name);
            let (lkey, count, addr) = (get("lkey"), get("byte_count"), get("addr"));
            if lkey == INVALID_LKEY {
                self.name_last("lkey", "MLX5_INVALID_LKEY: the list ends here");
            } else if count == 0 {
                self.odd.push(format!("byte_count at {at} is 0, which the device takes for 2 GiB"));
            }
            if lkey == 0 {
                self.odd.push(format!("lkey at {} is 0, which no registration has", at + 4));
            }
            if addr >> 63 == 1 {
                self.odd.push(format!("addr at {} is no address of user space", at + 8));
            }
        }
    }

    /// Sets the meaning of a field of the last part.
    fn name_last(&mut self, name: &str, meaning: &str) {
        let fields = self.parts.last_mut().map(|part| &mut part.fields);
        if let Some(field) = fields.into_iter().flatten().find(|field| field.name == name) {
            field.meaning = Some(meaning.to_owned());
        }
    }

    fn umr(&mut self) {
        let ctrl = self.fixed(&seg::UMR_CTRL);
        self.fixed(&seg::MKEY_CONTEXT);
        let flags = self.get(&seg::UMR_CTRL, ctrl, "flags");
        let translation = self.get(&seg::UMR_CTRL, ctrl, "klm_octowords") as usize * DS;
        if flags & 1 << 7 == 0 {
            // The list is in memory; a data segment points to it.
            if translation > 0 && !self.rest().is_empty() {
                self.fixed(&seg::DATA);
            }
        } else {
            let end = (self.at + translation.next_multiple_of(64)).min(self.bytes.len());
            self.klms(end);
        }
        let has_offset = flags & 1 << 4 != 0;
        let signature = if has_offset { 0 } else { self.get(&seg::UMR_CTRL, ctrl, "bsf_octowords") as usize * DS };
        self.formats(self.at + signature);
    }

    /// Formats after the list, up to `end`: whole ones, then the remaining bytes.
    fn formats(&mut self, end: usize) {
        while self.at + bsf::BSF.bytes <= end.min(self.bytes.len()) {
            let is_crypto = self.get(&bsf::CRYPTO_BSF, self.at, "bsf_size_type:type") == bsf::CRYPTO;
            self.fixed(if is_crypto { &bsf::CRYPTO_BSF } else { &bsf::BSF });
        }
        self.raw("mlx5_bsf", end);
    }

    /// Entries of a translation up to `end`.
    fn klms(&mut self, end: usize) {
        let get = |name| self.get(&seg::REPEAT_BLOCK, self.at, name);
        // A KLM may have a key of this number; but then its address does not fit the size.
        let size = (1 + get("num_ent") as usize) * DS;
        let fits = get("num_ent") > 0 && get("reserved") == 0 && size.next_multiple_of(64) == end - self.at;
        if get("op") == REPEAT && fits {
            let block = self.fixed(&seg::REPEAT_BLOCK);
            let entries = self.get(&seg::REPEAT_BLOCK, block, "num_ent") as usize;
            for _ in 0..entries.min((end - self.at) / DS) {
                self.fixed(&seg::REPEAT_ENTRY);
            }
        } else {
            // Zeros are padding to 64 bytes.
            while self.at + DS <= end && self.bytes[self.at..self.at + DS] != [0; DS] {
                self.fixed(&seg::KLM);
            }
        }
        self.at = end;
    }

    fn step(&mut self, step: Step, opmod: u64) {
        // UCX: if bit 3 of the modifier is set, its low bits give the operands' size; otherwise the size is 8 bytes.
        // Operands of 16 bytes follow libmlx5 of MLNX_OFED 4 (`set_ext_atomic_seg`).
        let size = if opmod & 8 == 0 { 8 } else { 4 << (opmod & 7) };
        match step {
            Step::Fixed(layout) => {
                self.fixed(layout);
            }
            Step::MaskedSwap if size == 4 => _ = self.fixed(&seg::MASKED_SWAP_32),
            Step::MaskedSwap if size == 8 => _ = self.fixed(&seg::MASKED_ATOMIC),
            Step::MaskedSwap if size == 16 => _ = self.fixed(&seg::MASKED_SWAP_128),
            Step::MaskedSwap => self.raw("masked compare-and-swap operands", self.at + 4 * size),
            Step::MaskedAdd if size == 4 => _ = self.fixed(&seg::MASKED_ADD_32),
            Step::MaskedAdd if size == 8 => _ = self.fixed(&seg::MASKED_ADD),
            Step::MaskedAdd if size == 16 => _ = self.fixed(&seg::MASKED_ADD_128),
            Step::MaskedAdd => self.raw("masked fetch-and-add operands", self.at + 2 * size),
            Step::Eth => self.eth(),
            Step::Data => self.data(),
            Step::Umr => self.umr(),
            // DPDK: the modifier is 0 for a CQ (MLX5_OPC_MOD_WAIT_CQ_PI), 1 for data and 2 for time.
            Step::Wait => _ = self.fixed(if opmod == 0 { &seg::QUEUE } else { &seg::WAIT }),
        }
    }
}

/// Bytes of the WQE at the start of `bytes`, by its control segment; at least 16.
pub(crate) fn len(bytes: &[u8]) -> usize {
    (seg::CTRL.get(bytes, "qpn_ds:ds") as usize).max(1) * DS
}

/// Whether eight bytes can be the first ones of a WQE.
pub(crate) fn is_first_word(bytes: &[u8]) -> bool {
    let get = |name| seg::CTRL.get(bytes, name);
    get("qpn_ds:ds") > 0
        && get("qpn_ds:qpn") > 0
        && get("qpn_ds:reserved") == 0
        && names::opcode(get("opmod_idx_opcode:opcode")).is_some()
}

/// The number of oddities of `bytes` as a WQE of a send queue; `None` if they cannot be one.
pub(crate) fn oddity(bytes: &[u8], transport: Option<Transport>) -> Option<usize> {
    let get = |name| seg::CTRL.get(bytes, name);
    let possible =
        bytes.len() >= DS && is_first_word(bytes) && len(bytes) <= bytes.len() && get("fm_ce_se:reserved4") == 0;
    possible.then(|| walk(bytes, transport).0.odd.len())
}

/// The walk with the fewest oddities, its lead segment, and whether another lead fits equally well.
fn walk(bytes: &[u8], transport: Option<Transport>) -> (Walk<'_>, Lead, bool) {
    let bytes = &bytes[..bytes.len().min(len(bytes))];
    let opmod = seg::CTRL.get(bytes, "opmod_idx_opcode:opmod");
    let operation = operation::of(seg::CTRL.get(bytes, "opmod_idx_opcode:opcode") as u8);
    let addressed = operation.is_some_and(|operation| operation.addressed);
    let mut walks = Vec::new();
    for lead in Lead::ALL {
        if !(if addressed { lead.fits(transport) } else { lead == Lead::None }) {
            continue;
        }
        let mut walk = Walk { bytes, at: 0, parts: Vec::new(), odd: Vec::new() };
        walk.fixed(&seg::CTRL);
        walk.signature();
        walk.lead(lead);
        for step in operation.map_or(&[][..], |operation| operation.steps) {
            walk.step(*step, opmod);
        }
        walk.raw("raw DS", bytes.len());
        walks.push((walk, lead));
    }
    let least = walks.iter().map(|(walk, _)| walk.odd.len()).min().unwrap_or(0);
    let ambiguous = walks.iter().filter(|(walk, _)| walk.odd.len() == least).count() > 1;
    let best = walks.into_iter().find(|(walk, _)| walk.odd.len() == least);
    let (walk, lead) = best.unwrap_or((Walk { bytes, at: 0, parts: Vec::new(), odd: Vec::new() }, Lead::None));
    (walk, lead, ambiguous)
}

/// The WQE of a send queue at the start of `bytes`.
pub(crate) fn send(bytes: &[u8], transport: Option<Transport>) -> Record {
    let ds = seg::CTRL.get(bytes, "qpn_ds:ds") as usize;
    let (opcode, qpn) = (seg::CTRL.get(bytes, "opmod_idx_opcode:opcode"), seg::CTRL.get(bytes, "qpn_ds:qpn"));
    let name = names::opcode(opcode).map_or_else(|| format!("WQE of unknown opcode {opcode:#04x}"), str::to_owned);
    let index = seg::CTRL.get(bytes, "opmod_idx_opcode:idx");
    let mut record = Record::new(Kind::SendWqe, format!("{name}, queue pair {qpn:#x}, WQE {index:#06x}, {ds} DS"));
    let (walk, lead, ambiguous) = walk(bytes, transport);
    record.bytes = walk.bytes.to_vec();
    record.parts = walk.parts;
    record.notes = walk.odd;
    if ds == 0 {
        record.notes.push("ds is 0: no device executes this".to_owned());
    } else if bytes.len() < ds * DS {
        record.notes.push(format!("cut short: ds says {} bytes, there are {}", ds * DS, bytes.len()));
    }
    if transport.is_none() && (lead != Lead::None || ambiguous) {
        let doubt = if ambiguous { ", but other readings fit, too: say which by --transport" } else { "" };
        record.notes.push(format!("a WQE does not say its transport; this fits {}{doubt}", lead.text()));
    }
    record
}

/// A WQE of a receive queue; of a shared one if `shared`.
pub(crate) fn receive(bytes: &[u8], shared: bool) -> Record {
    let mut walk = Walk { bytes, at: 0, parts: Vec::new(), odd: Vec::new() };
    if shared {
        walk.fixed(&seg::SRQ_NEXT);
    }
    while !walk.rest().is_empty() {
        let at = walk.fixed(&seg::DATA);
        if walk.get(&seg::DATA, at, "lkey") == INVALID_LKEY {
            walk.name_last("lkey", "MLX5_INVALID_LKEY: the list ends here");
            walk.raw("unused DS", bytes.len());
        }
    }
    let (kind, title) = if shared {
        (Kind::SrqWqe, "WQE of a shared receive queue")
    } else {
        (Kind::RecvWqe, "WQE of a receive queue")
    };
    let mut record = Record::new(kind, format!("{title}, {} bytes", bytes.len()));
    record.bytes = bytes.to_vec();
    record.parts = walk.parts;
    record.notes = walk.odd;
    record
}
