//! Management datagrams that the driver asks the port to answer (`MAD_IFC`), as an agent of subnet management on it
//! would.
//!
//! The only attribute is PortInfo, on InfiniBand (`port_info.rs`). Linux reads a port's state and tables by commands
//! of the vport, and asks for Mellanox' own extended port information, which devices need not have. So any other
//! datagram is answered as IBTA vol. 1, 13.4.7 has it for an attribute that an agent does not know.

use super::port_info;
use crate::firmware::call::{Call, Command, command};
use crate::firmware::layout::{Field, View, ViewMut, layout};
use crate::firmware::status::Refusal;

layout! {
    /// `MAD_IFC`. The modifier has two bits: M_Key and B_Key are not checked.
    struct mad_ifc_in: query 0x110 bytes {
        REMOTE_LID: 0x40, 16;
        PORT: 0x58, 8;
        MAD: 0x80, 2048;
    }
    struct mad_ifc_out: answer 0x110 bytes { RESPONSE_MAD_PACKET: 0x80, 2048; }
}

pub(super) const COMMANDS: &[Command] = &[command!(0x50d, "MAD_IFC", mad_ifc_in, mad_ifc_out, answer).with_modifiers()];

/// The header of all datagrams (IBTA vol. 1, 13.4.2).
mod header {
    use super::Field;

    const fn field(name: &'static str, at: usize, width: usize) -> Field {
        Field { name, at, width }
    }

    pub(super) const BASE_VERSION: Field = field("BaseVersion", 0, 8);
    pub(super) const CLASS: Field = field("MgmtClass", 8, 8);
    pub(super) const RESPONSE: Field = field("R", 24, 1);
    pub(super) const METHOD: Field = field("Method", 25, 7);
    pub(super) const STATUS: Field = field("Status", 32, 16);
    pub(super) const ATTRIBUTE: Field = field("AttributeID", 128, 16);
    pub(super) const MODIFIER: Field = field("AttributeModifier", 160, 32);
}

/// The version of all datagrams, and methods that have an answer: Get, and Set.
const VERSION: u64 = 1;
const GET: u64 = 1;
/// Subnet management, by LIDs or along a path (IBTA vol. 1, 13.4.4).
const SUBNET: [u64; 2] = [0x01, 0x81];
const SET: u64 = 2;
const GET_RESPONSE: u64 = 1;
/// Statuses (IBTA vol. 1, 13.4.7): a version, and a method or an attribute that an agent has not.
const BAD_VERSION: u64 = 1 << 2;
const NO_ATTRIBUTE: u64 = 3 << 2;
const NO_METHOD: u64 = 2 << 2;

fn answer(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.check_driver()?;
    let port = call.input.get(mad_ifc_in::PORT);
    if call.op_mod > 3 {
        return Err(Refusal::parameter(format!("modifier {:#x}", call.op_mod)));
    }
    if !(1..=call.device.config().ports.len() as u64).contains(&port) {
        return Err(Refusal::parameter(format!("port {port}")));
    }
    let mut mad: [u8; 256] = call.input.bytes(mad_ifc_in::MAD);
    let request = View(&mad);
    let about_port = SUBNET.contains(&request.get(header::CLASS))
        && request.get(header::ATTRIBUTE) == port_info::ATTRIBUTE
        // 0 is the port that is asked.
        && [0, port].contains(&request.get(header::MODIFIER));
    let status = match (request.get(header::BASE_VERSION), request.get(header::METHOD)) {
        (VERSION, GET) if about_port => {
            // As was checked above.
            let number = port as u8;
            let up = call.device.port_is_up(number);
            let known =
                port_info::tell(&mut ViewMut(&mut mad), number, &call.device.config().ports[port as usize - 1], up);
            if known { 0 } else { NO_ATTRIBUTE }
        }
        (VERSION, GET | SET) => NO_ATTRIBUTE,
        (VERSION, _) => NO_METHOD,
        _ => BAD_VERSION,
    };
    let mut answer = ViewMut(&mut mad);
    answer.set(header::STATUS, status);
    answer.set(header::METHOD, GET_RESPONSE);
    answer.set(header::RESPONSE, 1);
    call.output.put(mad_ifc_out::RESPONSE_MAD_PACKET.at / 8, &mad);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::config::{DeviceConfig, PortConfig};
    use crate::firmware::Status;
    use crate::firmware::test_bench::Bench;

    #[test]
    fn datagrams_are_answered_that_there_is_no_such_attribute() {
        let mut bench = Bench::new();
        let mut input = vec![0; 0x110];
        input[..2].copy_from_slice(&[0x05, 0x0d]);
        input[7] = 3;
        input[11] = 1;
        // SubnGet(0xff90), with a number of the transaction.
        input[16..20].copy_from_slice(&[1, 1, 1, 1]);
        input[24..34].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0x90]);
        let output = bench.execute(&input, 0x110).expect("an answer");
        assert_eq!(output[16..24], [1, 1, 1, 0x81, 0, 0x0c, 0, 0]);
        assert_eq!(output[24..34], input[24..34]);
        for (method, version, status) in [(2, 1, 0x0c), (0x12, 1, 8), (1, 2, 4)] {
            (input[16], input[19]) = (version, method);
            assert_eq!(bench.execute(&input, 0x110).expect("an answer")[19..22], [0x81, 0, status]);
        }
        for (at, value) in [(7, 4), (11, 2), (11, 0)] {
            let mut input = input.clone();
            input[at] = value;
            assert_eq!(bench.execute(&input, 0x110), Err(Status::BadParameter), "byte {at}");
        }
    }

    #[test]
    fn a_port_tells_of_itself() {
        let mut bench = Bench::new();
        let lid = bench.device.config().ports[0].lid.to_be_bytes();
        let mut input = vec![0; 0x110];
        input[..2].copy_from_slice(&[0x05, 0x0d]);
        input[11] = 1;
        // SubnGet(PortInfo), of port 1.
        input[16..20].copy_from_slice(&[1, 1, 1, 1]);
        input[32..34].copy_from_slice(&[0, 0x15]);
        input[39] = 1;
        let told = |bench: &mut Bench| bench.execute(&input, 0x110).expect("an answer")[16..].to_vec();
        let up = told(&mut bench);
        assert_eq!((up[3], &up[4..6]), (0x81, &[0, 0][..]));
        assert_eq!((&up[64 + 8..64 + 10], &up[64 + 16..64 + 18], up[64 + 28]), (&[0xfe, 0x80][..], &lid[..], 1));
        // Speeds and state; physical state and polling; MTUs.
        assert_eq!((&up[64 + 32..64 + 34], up[64 + 36] >> 4, up[64 + 41]), (&[0x74, 0x52][..], 5, 5));
        bench.device.set_port_up(1, false).expect("a port");
        assert_eq!(told(&mut bench)[64 + 32..64 + 34], [0x71, 0x32]);
        // Of another port, by another class, and to be set.
        for (at, byte) in [(39, 2), (17, 4), (19, 2)] {
            let mut other = input.clone();
            other[at] = byte;
            assert_eq!(bench.execute(&other, 0x110).expect("an answer")[20..22], [0, 0x0c], "byte {at}");
        }
        let mut ethernet = Bench::of(DeviceConfig::with_port(PortConfig::ethernet(1)));
        assert_eq!(told(&mut ethernet)[4..6], [0, 0x0c], "an Ethernet port has no agent");
    }
}
