//! Where to look when a request has failed.

use crate::cq::error::status::{KnownSyndrome, Syndrome};

impl KnownSyndrome {
    /// Where to look, likeliest first. IBTA vol. 1, 11.6.2, "Completion return status", says which side may see each
    /// status, and why. Issues of UCX, libfabric and SPDK show which of the causes people meet.
    #[must_use]
    pub const fn advice(self) -> &'static [&'static str] {
        match self {
            Self::LocalLength => &[
                "a receive: its buffers must be as long as the longest message; a datagram needs 40 bytes more, for \
                its GRH",
                "a send: no message may be longer than the port's max_msg_sz, no datagram longer than the path MTU",
            ],
            Self::LocalQpOp => &[
                "look at the WQE: an opcode, a size or a number of entries that the queue pair does not allow",
                "more READs and atomics outstanding than the queue pair's max_rd_atomic, or none allowed (0)",
            ],
            Self::LocalProt => &[
                "the lkey must be of a registration that covers address and length, in the queue pair's protection \
                domain",
                "memory that the device writes (receives, READs, atomics) needs IBV_ACCESS_LOCAL_WRITE",
                "the memory must stay registered, and mapped, until the completion; also over fork() and cudaFree()",
            ],
            Self::WrFlush => &[
                "look for the first completion with another status: it says why the queue pair went to the error \
                 state; if there is none, somebody has moved it there, as when a connection is closed",
                "to go on, drain the queue pair, reset it and connect it again",
            ],
            Self::MwBind => &[
                "a memory window: its region needs IBV_ACCESS_MW_BIND, and must cover the window; its rkey is that of \
                the last bind",
                "a UMR: the memory key must be free, of this protection domain, and large enough for the list",
            ],
            Self::BadResp => &[
                "the answer does not fit the request: are PSNs and queue pair numbers those that the sides have told \
                each other?",
                "a queue pair number that is used again while the peer still talks to the one before",
            ],
            Self::LocalAccess => &[
                "a WRITE with immediate data came for memory that this side does not let the peer write: look at the \
                 rkey that it was given, the range, and IBV_ACCESS_REMOTE_WRITE of region and queue pair",
            ],
            Self::RemoteInvalReq => &[
                "the peer's receive buffer is shorter than the message",
                "the peer's queue pair does not allow the operation: its qp_access_flags",
                "more READs and atomics outstanding than the peer's max_dest_rd_atomic; an atomic's address that is \
                not aligned",
            ],
            Self::RemoteAccess => &[
                "the rkey must be of a registration of the peer that covers address and length: print both at both \
                sides, and compare",
                "the peer's region and queue pair need IBV_ACCESS_REMOTE_WRITE, _READ or _ATOMIC",
                "the peer may have deregistered the memory, or be another process than the one that told the key",
            ],
            Self::RemoteOp => &[
                "the peer could not do its part: its completions and its log have a local error, as of receive buffers",
            ],
            Self::TransportRetryExc => &[
                "the peer's queue pair must be in RTR or RTS, with this one's number, and its process alive",
                "the route: LID, or GID index and RoCE version at both sides, path MTU, VLAN, a firewall that drops \
                UDP port 4791",
                "losses on RoCE: flow control (PFC) or ECN along the path; a longer timeout and more retries \
                (timeout, retry_cnt)",
            ],
            Self::RnrRetryExc => &[
                "the peer must post receives before messages come, and more of them",
                "rnr_retry 7 waits for ever; a longer min_rnr_timer at the peer gives it time",
            ],
            Self::RemoteAborted => &[
                "the queue pair lives on. A receive of a shared queue: post the buffer again, the sender repeats its \
                message",
                "a send: the peer's device gave the request up; send it again",
            ],
        }
    }
}

impl Syndrome {
    /// Where to look, likeliest first; empty for an unknown syndrome.
    #[must_use]
    pub const fn advice(self) -> &'static [&'static str] {
        match self {
            Self::Known(known) => known.advice(),
            Self::Unknown(_) => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_advice_for_each() {
        for (n, known) in KnownSyndrome::ALL.iter().enumerate() {
            let advice = Syndrome::new(*known as u8).advice();
            assert!(!advice.is_empty(), "{known}");
            assert!(KnownSyndrome::ALL[..n].iter().all(|other| other.advice() != advice), "{known}");
        }
        assert!(Syndrome::new(0x77).advice().is_empty());
    }
}
