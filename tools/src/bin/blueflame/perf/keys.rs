//! The texts by which perftest's programs tell each other their queue pairs, and the fields that come before.
//!
//! The format is public in perftest's sources (`perftest_communication.h`), and alike in its releases 4.5 to 26.04.
//! Numbers are hexadecimal, and each field has a fixed width.

use blueflame::Remote;
use blueflame::types::{Psn, Qpn, Rkey, Srqn};
use blueflame::verbs::Endpoint;
use blueflame::verbs::device::{Gid, Mtu};
use common::Failure;

/// Bytes of the text without a GID, its final zero byte included.
const SHORT: usize = 59;
/// Bytes of the text with a GID.
const LONG: usize = 108;

/// A queue pair, and memory that its peer may reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Keys {
    pub(super) endpoint: Endpoint,
    pub(super) memory: Remote,
    /// READs and atomics that this end answers at once.
    pub(super) out_reads: u8,
    /// The shared receive queue, if requests name one.
    pub(super) srqn: Srqn,
}

/// The queue pairs of a connection at one end. Only dynamic connections and XRC have two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sides {
    /// The initiator.
    pub(super) sends: Keys,
    /// The target.
    pub(super) receives: Keys,
}

impl Sides {
    /// One queue pair for both.
    pub(super) const fn one(keys: Keys) -> Self {
        Self { sends: keys, receives: keys }
    }

    /// The keys in perftest's order: all initiators, then all targets; or those of one side, if messages go one way.
    pub(super) fn list(all: &[Self], goes_both_ways: bool, is_sender: bool) -> Vec<Keys> {
        let sends = all.iter().map(|sides| sides.sends);
        let receives = all.iter().map(|sides| sides.receives);
        match (goes_both_ways, is_sender) {
            (true, _) => sends.chain(receives).collect(),
            (false, true) => sends.collect(),
            (false, false) => receives.collect(),
        }
    }

    /// The sides in such a list. If messages go one way, the peer has one queue pair a connection.
    pub(super) fn of(list: &[Keys], goes_both_ways: bool) -> Vec<Self> {
        if !goes_both_ways {
            return list.iter().copied().map(Self::one).collect();
        }
        let (sends, receives) = list.split_at(list.len() / 2);
        sends.iter().zip(receives).map(|(&sends, &receives)| Self { sends, receives }).collect()
    }
}

impl Keys {
    /// Bytes of the text. Both ends need addresses of one kind.
    pub(super) const fn bytes(has_gid: bool) -> usize {
        if has_gid { LONG } else { SHORT }
    }

    /// The text.
    pub(super) fn to_bytes(self, has_gid: bool) -> Vec<u8> {
        let Self { endpoint: Endpoint { lid, qpn, psn, gid, .. }, memory, out_reads, srqn } = self;
        let (rkey, addr, srqn) = (memory.rkey.0, memory.addr, srqn.get());
        let mut text = format!("{lid:04x}:{out_reads:04x}:{:06x}:{:06x}:{rkey:08x}:{addr:016x}:", qpn.get(), psn.get());
        if has_gid {
            text.extend(gid.0.map(|byte| format!("{byte:02x}:")));
        }
        text += &format!("{srqn:08x}{}", if has_gid { ":" } else { "" });
        let mut bytes = text.into_bytes();
        bytes.resize(Self::bytes(has_gid), 0);
        bytes
    }

    /// The peer's text. It has no MTU, which the peer has told before, and neither a type of GID nor
    /// options.
    ///
    /// # Errors
    /// A text of another form.
    pub(super) fn from_bytes(bytes: &[u8], has_gid: bool, mtu: Mtu) -> Result<Self, Failure> {
        let text = String::from_utf8_lossy(bytes);
        let bad = || Failure::from(format!("the peer's keys are not those of perftest: {text:?}"));
        let fields: Vec<&str> = text.trim_end_matches('\0').trim_end_matches(':').split(':').collect();
        let number = |at: usize| {
            let field = fields.get(at).ok_or_else(bad)?;
            u64::from_str_radix(field, 16).map_err(|_| bad())
        };
        let narrow = |at: usize| number(at).and_then(|wide| u32::try_from(wide).map_err(|_| bad()));
        let mut gid = [0; 16];
        if has_gid {
            for (n, byte) in gid.iter_mut().enumerate() {
                *byte = number(6 + n)?.try_into().map_err(|_| bad())?;
            }
        }
        if fields.len() != if has_gid { 23 } else { 7 } {
            return Err(bad());
        }
        Ok(Self {
            endpoint: Endpoint {
                lid: number(0)?.try_into().map_err(|_| bad())?,
                gid: Gid(gid),
                gid_type: None,
                qpn: Qpn::new(narrow(2)?).ok_or_else(bad)?,
                psn: Psn::new(narrow(3)?).ok_or_else(bad)?,
                mtu,
                ece: None,
            },
            memory: Remote { addr: number(5)?, rkey: Rkey(narrow(4)?) },
            out_reads: number(1)?.try_into().map_err(|_| bad())?,
            srqn: Srqn::new(narrow(fields.len() - 1)?).ok_or_else(bad)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        let mut gid = [0; 16];
        (gid[10], gid[11], gid[15]) = (0xff, 0xff, 0x1a);
        Keys {
            endpoint: Endpoint {
                lid: 0x1b,
                gid: Gid(gid),
                gid_type: None,
                qpn: Qpn::truncate(0x12_3456),
                psn: Psn::truncate(0xff),
                mtu: Mtu::B1024,
                ece: None,
            },
            memory: Remote { addr: 0x7f00_0000_1000, rkey: Rkey(0x0abc) },
            out_reads: 16,
            srqn: Srqn::truncate(0),
        }
    }

    /// The texts that `ib_write_lat` of perftest 4.5 sent, with other numbers.
    #[test]
    fn texts_are_those_of_perftest() {
        let short = b"001b:0010:123456:0000ff:00000abc:00007f0000001000:00000000\0";
        assert_eq!(keys().to_bytes(false), short);
        let long = keys().to_bytes(true);
        let text = "001b:0010:123456:0000ff:00000abc:00007f0000001000:\
            00:00:00:00:00:00:00:00:00:00:ff:ff:00:00:00:1a:00000000:";
        assert_eq!(String::from_utf8_lossy(&long).trim_end_matches('\0'), text);
        assert_eq!(long.len(), 108);
        assert_eq!(Keys::from_bytes(&long, true, Mtu::B1024).expect("our own"), keys());
        let mut without = keys();
        without.endpoint.gid = Gid([0; 16]);
        assert_eq!(Keys::from_bytes(short, false, Mtu::B1024).expect("our own"), without);
        let named = Keys { srqn: Srqn::truncate(0x4a), ..without };
        assert_eq!(named.to_bytes(false), b"001b:0010:123456:0000ff:00000abc:00007f0000001000:0000004a\0");
        for keys in [named, Keys { srqn: named.srqn, ..keys() }] {
            let has_gid = keys != named;
            assert_eq!(Keys::from_bytes(&keys.to_bytes(has_gid), has_gid, Mtu::B1024).expect("our own"), keys);
        }
    }

    #[test]
    fn initiators_come_before_targets() {
        let of = |srqn| Keys { srqn: Srqn::truncate(srqn), ..keys() };
        let all = [Sides { sends: of(1), receives: of(2) }, Sides { sends: of(3), receives: of(4) }];
        let list = Sides::list(&all, true, true);
        assert_eq!(list, [of(1), of(3), of(2), of(4)]);
        assert_eq!(Sides::of(&list, true), all);
        assert_eq!(Sides::list(&all, false, true), [of(1), of(3)]);
        assert_eq!(Sides::list(&all, false, false), [of(2), of(4)]);
        assert_eq!(Sides::of(&list[..1], false), [Sides::one(of(1))]);
    }

    #[test]
    fn other_texts_are_refused() {
        let bad = |text: &[u8], has_gid| Keys::from_bytes(text, has_gid, Mtu::B1024).is_err();
        assert!(bad(&keys().to_bytes(true), false), "a peer with a GID, where this end has none");
        assert!(bad(b"001b:0010:1234567:0000ff:00000abc:00007f0000001000:00000000\0", false), "25 bits");
        assert!(bad(b"001b:0010:12345g:0000ff:00000abc:00007f0000001000:00000000\0", false));
        assert!(bad(&[0xff; 59], false));
        assert!(bad(&[], false));
    }
}
