//! Why bytes are no such packet.

use core::fmt;
use core::net::IpAddr;

/// Bytes that are not the packet that was asked for. Nothing has been changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PacketError {
    /// A payload beyond the packet's room.
    Payload {
        /// Bytes of the payload, or where a part of it ends.
        bytes: usize,
        /// The room: bytes of the frame behind the headers, or bytes of the present payload for a part of it.
        room: usize,
    },
    /// A frame that is too short for the headers, or too long for the packet.
    Frame {
        /// Bytes of the frame.
        bytes: usize,
        /// Bytes of the headers.
        least: usize,
        /// Bytes of the longest frame.
        most: usize,
    },
    /// A header of another kind.
    Header {
        /// The field that tells.
        field: &'static str,
        /// Its value.
        found: u16,
        /// The value of such a packet.
        expected: u16,
    },
    /// A header's length field that contradicts the frame.
    Length {
        /// The field.
        field: &'static str,
        /// Its value.
        found: usize,
        /// The least value.
        least: usize,
        /// The greatest value.
        most: usize,
    },
    /// A fragment of an IP packet.
    Fragment,
    /// An address that is not a multicast group's, so that no MAC address follows from it.
    NotGroup {
        /// The address.
        address: IpAddr,
    },
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Payload { bytes, room } => write!(f, "a payload of {bytes} bytes, at most {room} possible"),
            Self::Frame { bytes, least, most } => write!(f, "a frame of {bytes} bytes, {least} to {most} possible"),
            Self::Header { field, found, expected } => {
                write!(f, "the frame has {field} {found:#06x}, this kind of packet has {expected:#06x}")
            }
            Self::Length { field, found, least, most } => {
                write!(f, "the frame's {field} is {found}, {least} to {most} possible")
            }
            Self::Fragment => f.write_str("the frame has a fragment of an IP packet"),
            Self::NotGroup { address } => {
                write!(f, "{address} is no multicast group: its MAC address comes from the router or neighbour table")
            }
        }
    }
}

impl core::error::Error for PacketError {}
