//! Work requests as the tests encode them.

pub(crate) fn data_seg(addr: u64, len: u32, key: u32) -> [u8; 16] {
    (u128::from(len) << 96 | u128::from(key) << 64 | u128::from(addr)).to_be_bytes()
}

pub(crate) const QKEY: u32 = 0x1111_2222;
pub(crate) const SIGNALED: u8 = 0x08;
pub(crate) const SOLICITED: u8 = 0x02;
pub(crate) const FENCE: u8 = 0x80;

/// A work request: opcode byte, flags, immediate, and the segments after the control segment.
#[derive(Clone)]
pub(crate) struct Wr {
    pub(crate) opcode: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u16,
    pub(crate) imm: u32,
    pub(crate) opmod: u8,
    pub(crate) body: Vec<u8>,
}

impl Wr {
    pub(crate) fn new(opcode: u8) -> Self {
        Self { opcode, flags: SIGNALED, stream: 0, imm: 0, opmod: 0, body: Vec::new() }
    }

    pub(crate) fn nop() -> Self {
        Self::new(0)
    }

    pub(crate) fn send() -> Self {
        Self::new(0x0a)
    }

    pub(crate) fn write(addr: u64, rkey: u32) -> Self {
        Self::new(0x08).remote(addr, rkey)
    }

    pub(crate) fn read(addr: u64, rkey: u32) -> Self {
        Self::new(0x10).remote(addr, rkey)
    }

    pub(crate) fn swap(addr: u64, rkey: u32, compare: u64, swap: u64) -> Self {
        let mut wr = Self::new(0x11).remote(addr, rkey);
        wr.body.extend(swap.to_be_bytes());
        wr.body.extend(compare.to_be_bytes());
        wr
    }

    pub(crate) fn add(addr: u64, rkey: u32, add: u64) -> Self {
        let mut wr = Self::new(0x12).remote(addr, rkey);
        wr.body.extend(add.to_be_bytes());
        wr.body.extend([0; 8]);
        wr
    }

    /// A masked compare and swap of 4 bytes: values, then masks.
    pub(crate) fn masked_swap(addr: u64, rkey: u32, [compare, compare_mask, swap, swap_mask]: [u32; 4]) -> Self {
        let mut wr = Self { opmod: 8, ..Self::new(0x14) }.remote(addr, rkey);
        wr.body.extend([swap, compare, swap_mask, compare_mask].map(u32::to_be_bytes).as_flattened());
        wr
    }

    /// A masked fetch and add of 8 bytes.
    pub(crate) fn masked_add(addr: u64, rkey: u32, add: u64, boundary: u64) -> Self {
        let mut wr = Self { opmod: 9, ..Self::new(0x15) }.remote(addr, rkey);
        wr.body.extend([add, boundary].map(u64::to_be_bytes).as_flattened());
        wr
    }

    /// A masked compare and swap of 16 bytes: values, then masks.
    pub(crate) fn masked_swap_16(addr: u64, rkey: u32, [compare, compare_mask, swap, swap_mask]: [u128; 4]) -> Self {
        let mut wr = Self { opmod: 10, ..Self::new(0x14) }.remote(addr, rkey);
        wr.body.extend([swap, compare, swap_mask, compare_mask].map(u128::to_be_bytes).as_flattened());
        wr
    }

    /// A masked fetch and add of 16 bytes.
    pub(crate) fn masked_add_16(addr: u64, rkey: u32, add: u128, boundary: u128) -> Self {
        let mut wr = Self { opmod: 10, ..Self::new(0x15) }.remote(addr, rkey);
        wr.body.extend([add, boundary].map(u128::to_be_bytes).as_flattened());
        wr
    }

    /// A copy of `len` bytes, by the key of all three: the device's own memory, source, destination.
    pub(crate) fn copy(key: u32, scratch: u64, from: u64, to: u64, len: u32) -> Self {
        let mut wr = Self { opmod: 1, ..Self::new(0x2f) };
        wr.body.extend(data_seg(scratch, 0, key));
        wr.sge(from, len, key).sge(to, len, key)
    }

    /// WAIT, RCV_EN or SEND_EN: a queue's number, and an index.
    pub(crate) fn queue(opcode: u8, number: u32, index: u32) -> Self {
        let mut wr = Self::new(opcode);
        wr.body.extend([0, 0, index, number].map(u32::to_be_bytes).as_flattened());
        wr
    }

    /// WAIT for the clock; the further fields of a WAIT for data may be anything.
    pub(crate) fn wait_time(operation: u32, value: u64, mask: u64) -> Self {
        let mut wr = Self { opmod: 2, ..Self::new(0x0f) };
        wr.body.extend(operation.to_be_bytes());
        wr.body.extend([0xa5; 12]);
        wr.body.extend([value, mask].map(u64::to_be_bytes).as_flattened());
        wr
    }

    /// WAIT for the 8 bytes at `va`, whose low bits are the action.
    pub(crate) fn wait_data(operation: u32, (va, lkey): (u64, u32), value: u64, mask: u64) -> Self {
        let mut wr = Self { opmod: 1, ..Self::new(0x0f) };
        wr.body.extend([operation, lkey].map(u32::to_be_bytes).as_flattened());
        wr.body.extend([va, value, mask].map(u64::to_be_bytes).as_flattened());
        wr
    }

    /// Operation `operation` on tags, with a CQE: 0 none, 1 append, 2 remove.
    pub(crate) fn tags(operation: u8, index: u16, sw_count: Option<u16>) -> Self {
        let mut wr = Self::new(0x28).flags(0);
        let [high, low] = index.to_be_bytes();
        let [count_high, count_low] = sw_count.unwrap_or(0x5a5a).to_be_bytes();
        let flags = 1 << 7 | if sw_count.is_some() { 1 << 6 } else { 0 };
        wr.body.extend([operation << 4, flags, high, low, 0, 0, count_high, count_low]);
        wr.body.extend([0; 24]);
        wr
    }

    /// Appends a tag with this buffer.
    pub(crate) fn append(next: u16, (tag, mask): (u64, u64), sw_count: Option<u16>, buffer: (u64, u32, u32)) -> Self {
        let mut wr = Self::tags(1, next, sw_count);
        wr.body[16..24].copy_from_slice(&tag.to_be_bytes());
        wr.body[24..32].copy_from_slice(&mask.to_be_bytes());
        wr.sge(buffer.0, buffer.1, buffer.2)
    }

    pub(crate) fn with_imm(mut self, imm: u32) -> Self {
        self.opcode |= 1;
        self.imm = imm;
        self
    }

    pub(crate) fn invalidating(mut self, key: u32) -> Self {
        self.opcode = 0x01;
        self.imm = key;
        self
    }

    fn remote(mut self, addr: u64, rkey: u32) -> Self {
        self.body.extend(addr.to_be_bytes());
        self.body.extend(rkey.to_be_bytes());
        self.body.extend([0; 4]);
        self
    }

    pub(crate) fn to(mut self, lid: u16, qpn: u32, qkey: u32, gid: Option<[u8; 16]>) -> Self {
        let mut av = [0; 48];
        av[..4].copy_from_slice(&qkey.to_be_bytes());
        av[8..12].copy_from_slice(&(qpn | 1 << 31).to_be_bytes());
        av[14..16].copy_from_slice(&lid.to_be_bytes());
        if let Some(gid) = gid {
            av[26] = 9;
            av[27] = 33;
            av[28..32].copy_from_slice(&(1u32 << 30 | 0x777).to_be_bytes());
            av[32..].copy_from_slice(&gid);
        }
        self.body.splice(0..0, av);
        self
    }

    /// The address vector of a DCI's request: with a GID the extended one, else the short one.
    pub(crate) fn at_dct(mut self, lid: u16, dctn: u32, key: u64, gid: Option<[u8; 16]>) -> Self {
        let mut av = vec![0; 16];
        av[..8].copy_from_slice(&key.to_be_bytes());
        av[8..12].copy_from_slice(&dctn.to_be_bytes());
        av[14..16].copy_from_slice(&lid.to_be_bytes());
        if let Some(gid) = gid {
            av.resize(48, 0);
            av[8] = 0x80;
            av[27] = 33;
            av[28..32].copy_from_slice(&(1u32 << 30).to_be_bytes());
            av[32..].copy_from_slice(&gid);
        }
        self.body.splice(0..0, av);
        self
    }

    /// The segment of XRC, whose reserved bytes may be anything.
    pub(crate) fn of_srq(mut self, srqn: u32) -> Self {
        let mut seg = [0xa5; 16];
        seg[..4].copy_from_slice(&srqn.to_be_bytes());
        self.body.splice(0..0, seg);
        self
    }

    /// The Ethernet segment: checksum flags, and the first bytes of the frame.
    pub(crate) fn eth(mut self, cs_flags: u8, headers: &[u8]) -> Self {
        let mut seg = vec![0, 0, 0, 0, cs_flags, 0, 0, 0, 0, 0, 0, 0];
        seg.extend((headers.len() as u16).to_be_bytes());
        seg.extend(headers);
        seg.resize(seg.len().next_multiple_of(16), 0);
        self.body.splice(0..0, seg);
        self
    }

    pub(crate) fn sge(mut self, addr: u64, len: u32, key: u32) -> Self {
        self.body.extend(data_seg(addr, len, key));
        self
    }

    pub(crate) fn inline(mut self, data: &[u8]) -> Self {
        self.body.extend((data.len() as u32 | 1 << 31).to_be_bytes());
        self.body.extend(data);
        self.body.resize(self.body.len().next_multiple_of(16), 0);
        self
    }

    /// By a DCI's stream.
    pub(crate) fn on(mut self, stream: u16) -> Self {
        self.stream = stream;
        self
    }

    pub(crate) fn flags(mut self, flags: u8) -> Self {
        self.flags = flags;
        self
    }

    pub(crate) fn bytes(&self, index: u16, qpn: u32) -> Vec<u8> {
        let ds = 1 + self.body.len() as u32 / 16;
        let mut bytes = Vec::new();
        bytes.extend((u32::from(self.opmod) << 24 | u32::from(index) << 8 | u32::from(self.opcode)).to_be_bytes());
        bytes.extend((qpn << 8 | ds).to_be_bytes());
        let [high, low] = self.stream.to_be_bytes();
        bytes.extend([0, high, low, self.flags]);
        bytes.extend(self.imm.to_be_bytes());
        bytes.extend(&self.body);
        bytes
    }
}
