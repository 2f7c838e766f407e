//! Vital product data: the name of the board, for tools and drivers. Layout: PCI Local Bus Specification 3.0, appendix
//! I.

use crate::config::Generation;

/// Tags: a name, data that is read, the end.
const NAME: u8 = 0x82;
const READ_ONLY: u8 = 0x90;
const END: u8 = 0x78;

/// The data of a board of this generation with this GUID, which tells its serial number.
pub(super) fn of(generation: Generation, guid: u64) -> Vec<u8> {
    let (name, part) = match generation {
        Generation::ConnectX5 => ("software ConnectX-5", "SFT-CX5"),
        Generation::ConnectX6Dx => ("software ConnectX-6 Dx", "SFT-CX6DX"),
        Generation::ConnectX7 => ("software ConnectX-7", "SFT-CX7"),
        Generation::ConnectX8 => ("software ConnectX-8", "SFT-CX8"),
    };
    let serial = format!("{guid:016X}");
    let mut fields = Vec::new();
    for (keyword, text) in [(b"PN", part), (b"EC", "A1"), (b"SN", &serial)] {
        fields.extend(keyword);
        fields.push(text.len() as u8);
        fields.extend(text.bytes());
    }
    // The sum of all bytes up to the one behind this keyword is 0.
    fields.extend(*b"RV\x01");
    let mut data = resource(NAME, name.as_bytes());
    data.extend(resource(READ_ONLY, &[&fields[..], &[0]].concat()));
    let sum = data.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    if let Some(last) = data.last_mut() {
        *last = sum.wrapping_neg();
    }
    data.push(END);
    data
}

fn resource(tag: u8, bytes: &[u8]) -> Vec<u8> {
    let mut resource = vec![tag];
    resource.extend((bytes.len() as u16).to_le_bytes());
    resource.extend(bytes);
    resource
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_that_of_the_specification() {
        let data = of(Generation::ConnectX5, 0x0200_0000_0000_0001);
        assert_eq!(data[..3], [0x82, 19, 0]);
        assert_eq!(&data[3..22], b"software ConnectX-5");
        assert_eq!(data[22], 0x90);
        let len = usize::from(data[23]);
        let fields = &data[25..25 + len];
        assert_eq!(&fields[..10], b"PN\x07SFT-CX5");
        assert_eq!(&fields[10..15], b"EC\x02A1");
        assert_eq!(&fields[15..34], b"SN\x100200000000000001");
        assert_eq!(&fields[34..37], b"RV\x01");
        assert_eq!(data[25 + len..], [0x78]);
        let sum = data[..25 + len].iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        assert_eq!(sum, 0);
    }
}
