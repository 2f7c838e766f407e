//! Queues as the kernel tells them by RDMA netlink, like `rdma resource show` (Linux `include/uapi/rdma/rdma_netlink.h`,
//! `drivers/infiniband/core/nldev.c`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};

use super::queue::{Kind, Queue};

/// `NETLINK_RDMA`, and `RDMA_NL_NLDEV`, the client of its messages.
const NETLINK_RDMA: i32 = 20;
const CLIENT: u16 = 5 << 10;
/// `RDMA_NLDEV_CMD_GET`, `_RES_QP_GET` and `_RES_CQ_GET`.
const DEVICES: u16 = CLIENT + 1;
const PAIRS: u16 = CLIENT + 10;
const COMPLETIONS: u16 = CLIENT + 12;
/// `RDMA_NLDEV_ATTR_*`.
const DEV_INDEX: u16 = 1;
const DEV_NAME: u16 = 2;
const RES_QP: u16 = 19;
const LQPN: u16 = 21;
const RQPN: u16 = 22;
const TYPE: u16 = 26;
const STATE: u16 = 27;
const PID: u16 = 28;
const KERN_NAME: u16 = 29;
const RES_CQ: u16 = 35;
const CQE: u16 = 37;
const CQN: u16 = 61;
/// `NLM_F_REQUEST | NLM_F_DUMP`, `NLMSG_ERROR`, `NLMSG_DONE`.
const DUMP: u16 = 0x301;
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// Bytes of a message's header, and of an attribute's.
const HEADER: usize = 16;
const ATTRIBUTE: usize = 4;
/// Bits of an attribute's type that are flags (`NLA_TYPE_MASK`).
const TYPE_MASK: u16 = 0x3fff;

/// The queues of all devices.
pub(super) fn queues() -> io::Result<Vec<Queue>> {
    let mut kernel = Netlink::open()?;
    let mut devices = Vec::new();
    kernel.dump(DEVICES, None, |attributes| {
        if let (Some(index), Some(name)) = (number(attributes.get(&DEV_INDEX)), text(attributes.get(&DEV_NAME))) {
            devices.push((index, name));
        }
    })?;
    let mut queues = Vec::new();
    for (index, device) in devices {
        for (command, list, kind) in [(PAIRS, RES_QP, Kind::Pair), (COMPLETIONS, RES_CQ, Kind::Completions)] {
            kernel.dump(command, Some(index), |attributes| {
                let entries = attributes.get(&list).copied().unwrap_or_default();
                queues.extend(Attributes(entries).filter_map(|(_, entry)| queue(&device, kind, entry)));
            })?;
        }
    }
    Ok(queues)
}

/// A queue, by its entry.
fn queue(device: &str, kind: Kind, entry: &[u8]) -> Option<Queue> {
    let attributes: BTreeMap<u16, &[u8]> = Attributes(entry).collect();
    let of = |name: u16| number(attributes.get(&name));
    let mut queue = Queue::new(device, of(PID), kind, of(if kind == Kind::Pair { LQPN } else { CQN })?);
    queue.program = queue.program.or_else(|| text(attributes.get(&KERN_NAME)));
    match kind {
        Kind::Pair => {
            queue.transport = byte(attributes.get(&TYPE)).map(|value| transport(value).to_owned());
            queue.state = byte(attributes.get(&STATE)).map(|value| state(value).to_owned());
            queue.peer = of(RQPN);
        }
        Kind::Completions => queue.entries = of(CQE).map(u64::from),
    }
    Some(queue)
}

/// `enum ib_qp_type` (Linux `include/rdma/ib_verbs.h`).
fn transport(value: u8) -> &'static str {
    match value {
        0 => "SMI",
        1 => "GSI",
        2 => "RC",
        3 => "UC",
        4 => "UD",
        8 => "raw packet",
        9 => "XRC",
        10 => "XRC target",
        0xff => "driver",
        _ => "other",
    }
}

/// `enum ib_qp_state`.
fn state(value: u8) -> &'static str {
    ["RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"].get(usize::from(value)).copied().unwrap_or("other")
}

fn number(value: Option<&&[u8]>) -> Option<u32> {
    Some(u32::from_ne_bytes(value?.get(..4)?.try_into().ok()?))
}

fn byte(value: Option<&&[u8]>) -> Option<u8> {
    value?.first().copied()
}

fn text(value: Option<&&[u8]>) -> Option<String> {
    let bytes = value?.split(|&byte| byte == 0).next()?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// The attributes of a message, or within an attribute: type and value. Ends where the bytes make no whole one.
struct Attributes<'a>(&'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let len = usize::from(u16::from_ne_bytes(self.0.get(..2)?.try_into().ok()?));
        let name = u16::from_ne_bytes(self.0.get(2..4)?.try_into().ok()?) & TYPE_MASK;
        let value = self.0.get(ATTRIBUTE..len)?;
        self.0 = self.0.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some((name, value))
    }
}

/// The end of a datagram.
#[derive(Debug, PartialEq, Eq)]
enum End {
    More,
    Done,
    /// An errno.
    Refused(i32),
}

/// Gives the attributes of each message in a datagram to `take`.
fn messages(mut datagram: &[u8], mut take: impl FnMut(&BTreeMap<u16, &[u8]>)) -> End {
    while let Some(header) = datagram.get(..HEADER) {
        let word = |at: usize| u32::from_ne_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (len, kind) = (word(0) as usize, u16::from_ne_bytes([header[4], header[5]]));
        let Some(body) = datagram.get(HEADER..len) else { return End::Done };
        match kind {
            DONE => return End::Done,
            ERROR => {
                let errno = body.get(..4).and_then(|errno| errno.try_into().ok()).map_or(0, i32::from_ne_bytes);
                return if errno == 0 { End::Done } else { End::Refused(-errno) };
            }
            _ => take(&Attributes(body).collect()),
        }
        datagram = datagram.get(len.next_multiple_of(4)..).unwrap_or_default();
    }
    End::More
}

/// The request for a dump, of one device or of all.
fn request(command: u16, device: Option<u32>) -> Vec<u8> {
    let attribute = device.map_or(Vec::new(), |index| {
        [&8_u16.to_ne_bytes()[..], &DEV_INDEX.to_ne_bytes(), &index.to_ne_bytes()].concat()
    });
    let len = (HEADER + attribute.len()) as u32;
    let sequence = [0; 8];
    [&len.to_ne_bytes()[..], &command.to_ne_bytes(), &DUMP.to_ne_bytes(), &sequence, &attribute].concat()
}

/// A netlink socket.
struct Netlink(File);

impl Netlink {
    fn open() -> io::Result<Self> {
        // SAFETY: a plain call.
        let socket = unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, NETLINK_RDMA) };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just made, and nobody else's.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(socket) }.into()))
    }

    /// Asks for a list, and gives the attributes of each message of the answer to `take`.
    fn dump(
        &mut self,
        command: u16,
        device: Option<u32>,
        mut take: impl FnMut(&BTreeMap<u16, &[u8]>),
    ) -> io::Result<()> {
        self.0.write_all(&request(command, device))?;
        // The kernel's datagrams are shorter (`netlink_dump`: 32 KiB at most).
        let mut room = vec![0; 1 << 16];
        loop {
            let bytes = self.0.read(&mut room)?;
            match messages(&room[..bytes], &mut take) {
                End::More if bytes > 0 => {}
                End::More | End::Done => return Ok(()),
                End::Refused(errno) => return Err(io::Error::from_raw_os_error(errno)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = [&((ATTRIBUTE + value.len()) as u16).to_ne_bytes()[..], &name.to_ne_bytes(), value].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let len = (HEADER + body.len()) as u32;
        [&len.to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 10], body].concat()
    }

    /// Nested attributes have a flag in their type.
    const NESTED: u16 = 0x8000;

    #[test]
    fn queues_are_read_from_the_kernels_messages() {
        let pair = [
            attribute(LQPN, &0x1f_u32.to_ne_bytes()),
            attribute(RQPN, &0x20_u32.to_ne_bytes()),
            attribute(TYPE, &[2]),
            attribute(STATE, &[3]),
            attribute(KERN_NAME, b"ib_core\0"),
        ]
        .concat();
        // An entry without a number is none.
        let list = [attribute(20 | NESTED, &pair), attribute(20 | NESTED, &attribute(TYPE, &[4]))].concat();
        let body = [attribute(DEV_INDEX, &[0; 4]), attribute(RES_QP | NESTED, &list)].concat();
        let mut found = Vec::new();
        let end = messages(&[message(PAIRS, &body), message(DONE, &[0; 4])].concat(), |attributes| {
            found.extend(Attributes(attributes[&RES_QP]).filter_map(|(_, entry)| queue("mlx5_0", Kind::Pair, entry)));
        });
        assert_eq!(end, End::Done);
        let [queue] = &found[..] else { panic!("{found:?}") };
        assert_eq!((queue.number, queue.peer, queue.pid), (0x1f, Some(0x20), None));
        assert_eq!((queue.transport.as_deref(), queue.state.as_deref()), (Some("RC"), Some("RTS")));
        assert_eq!(queue.program.as_deref(), Some("ib_core"));
    }

    #[test]
    fn no_bytes_of_the_kernel_panic() {
        assert_eq!(messages(&message(ERROR, &(-1_i32).to_ne_bytes()), |_| ()), End::Refused(1));
        assert_eq!(messages(&message(PAIRS, &[]), |_| ()), End::More);
        let whole = message(PAIRS, &attribute(RES_QP, &attribute(20, &attribute(LQPN, &[1; 4]))));
        for len in 0..whole.len() {
            messages(&whole[..len], |_| ());
            for byte in [0, 1, 0xff] {
                let mut bytes = whole.clone();
                bytes[len] = byte;
                messages(&bytes, |attributes| {
                    let list = attributes.get(&RES_QP).copied().unwrap_or_default();
                    Attributes(list).for_each(|(_, entry)| drop(queue("mlx5_0", Kind::Pair, entry)));
                });
            }
        }
    }

    /// `struct nlmsghdr` (Linux `include/uapi/linux/netlink.h`).
    #[test]
    fn a_request_names_its_device() {
        let bytes = request(PAIRS, Some(3));
        assert_eq!(bytes.len(), 24);
        assert_eq!(bytes[..4], 24_u32.to_ne_bytes());
        assert_eq!(
            (bytes[4..6].to_vec(), bytes[6..8].to_vec()),
            ((5 << 10 | 10_u16).to_ne_bytes().to_vec(), vec![1, 3])
        );
        let found: Vec<_> = Attributes(&bytes[HEADER..]).collect();
        assert_eq!(found, [(DEV_INDEX, &3_u32.to_ne_bytes()[..])]);
        assert_eq!(request(DEVICES, None).len(), HEADER);
    }
}
