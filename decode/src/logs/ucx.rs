//! WQEs as UCX prints them.

use super::fields::{number_field, text_field};
use crate::report::{Field, Kind, Part, Record, Value};

/// The number that a text begins with.
fn number(text: &str, radix: u32) -> Option<u64> {
    let (text, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, radix),
    };
    let end = text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len());
    // No number of this form has more than 64 bits.
    u64::from_str_radix(text.get(..end.min(20))?, radix).ok()
}

/// UCX's text of a WQE: `RC QP 0x169 wqe[3]: SEND s-- [inl len 10] [va 0x7f1c3c800000 len 1 lkey 0xb5d2] [rqpn 0x169
/// dlid=12 …]` (`ib_mlx5_log.c`, `uct_ib_mlx5_wqe_dump`; `src/uct/ib/base/ib_log.c`).
pub(crate) fn wqe(line: &str) -> Option<Record> {
    let (front, behind) = line.split_once(" QP 0x")?;
    let (qpn, rest) = (number(behind, 16)?, behind.split_once("wqe[")?.1);
    let (index, rest) = (number(rest, 10)?, rest.split_once("]: ")?.1);
    let mut record = Record::new(Kind::LoggedWqe, "");
    let transport = front.rsplit(' ').next().unwrap_or_default();
    let mut words =
        rest.trim_start_matches("opcode ").split(' ').filter(|word| !word.is_empty() && !word.starts_with('['));
    let (operation, flags) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let text = |name: &'static str, text: &str| text_field(name, text.to_owned());
    let mut fields = vec![
        text("transport", transport),
        number_field("qpn", qpn),
        number_field("wqe_counter", index),
        text("opcode", operation),
    ];
    // Signalled, fenced, solicited, each a letter or a dash.
    if flags.len() == 3 && flags.chars().all(|c| "sfe-".contains(c)) {
        fields.push(text("flags", flags));
    }
    record.parts.push(Part { name: "mlx5_wqe_ctrl_seg".into(), offset: 0, bytes: 0, fields });
    for group in rest.split('[').skip(1) {
        let group = group.split(']').next().unwrap_or_default();
        let words: Vec<_> = group.split([' ', '=']).filter(|word| !word.is_empty()).collect();
        let part = match words.first() {
            Some(&"va" | &"byte_count") => "mlx5_wqe_data_seg",
            Some(&"inl") => "mlx5_wqe_inl_data_seg",
            Some(&"rva") => "mlx5_wqe_raddr_seg",
            Some(&"rqpn" | &"dlid" | &"rlid") => "address",
            Some(_) => "segment",
            None => continue,
        };
        let words = if words.first() == Some(&"inl") { &words[1..] } else { &words[..] };
        let fields = words.chunks_exact(2).map(|pair| {
            let name = match pair[0] {
                "va" => "addr".to_owned(),
                "rva" => "raddr".to_owned(),
                "len" => "byte_count".to_owned(),
                other => other.to_owned(),
            };
            let exact = pair[1]
                .strip_prefix("0x")
                .map_or_else(|| pair[1].parse().ok(), |hex| u64::from_str_radix(hex, 16).ok());
            let value = match exact {
                Some(number) if pair[1].starts_with("0x") => Value::Hex(number, 8),
                Some(number) => Value::Dec(number),
                None => Value::Text(pair[1].to_owned()),
            };
            Field { name: name.into(), offset: 0, value, meaning: None }
        });
        record.parts.push(Part { name: part.into(), offset: 0, bytes: 0, fields: fields.collect() });
    }
    Some(record)
}
