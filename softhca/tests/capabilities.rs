//! The table of capabilities in `docs/firmware.md`, compared with the answers of `QUERY_HCA_CAP`.
//!
//! Each generation is asked, on InfiniBand and on Ethernet. The place of each field is that of the drivers' headers
//! (`devx/prm/mlx5_ifc.txt`), and the numbers of the sets are Linux' (`enum mlx5_cap_type`,
//! `include/linux/mlx5/device.h`). A row fails if a capability is on that the page calls missing, or off that the page
//! calls implemented. The test also fails if a capability is on and has no row.
//!
//! Checks of reported capabilities belong here. Tests of the features themselves belong in `engine` and `ethernet`.

use std::collections::BTreeMap;

use softhca::config::{DeviceConfig, Generation, PortConfig};
use softhca::device::Device;
use softhca::firmware::{Firmware, Status};
use softhca::memory::ProcessMemory;
use softhca::wire::Address;
use softhca::wire::in_process::Fabric;

/// Sets by the names of their structures in Linux' `hca_cap_union`, and their numbers in `op_mod`.
const SETS: [(&str, u16); 12] = [
    ("cmd_hca_cap", 0x0),
    ("per_protocol_networking_offload_caps", 0x1),
    ("odp_cap", 0x2),
    ("atomic_caps", 0x3),
    ("roce_cap", 0x4),
    ("flow_table_nic_cap", 0x7),
    ("e_switch_cap", 0x9),
    ("qos_cap", 0xc),
    ("device_mem_cap", 0xf),
    ("tls_cap", 0x11),
    ("crypto_caps", 0x1a),
    ("cmd_hca_cap_2", 0x20),
];
/// The sets that Linux asks for if one of these general capabilities is on, by their numbers (`mlx5_query_hca_caps`,
/// `drivers/net/ethernet/mellanox/mlx5/core/fw.c`, Linux 7.2).
const PROMISED_BY: [(u16, &[&str]); 24] = [
    (0x1, &["eth_net_offloads"]),
    (0x2, &["pg"]),
    (0x3, &["atomic"]),
    (0x4, &["roce"]),
    (0x6, &["ipoib_enhanced_offloads"]),
    (0x7, &["nic_flow_table", "ipoib_enhanced_offloads"]),
    (0x8, &["eswitch_manager"]),
    (0x9, &["eswitch_manager"]),
    (0xc, &["qos"]),
    (0xd, &["debug"]),
    (0xf, &["device_memory"]),
    (0x11, &["tls_tx", "tls_rx"]),
    (0x13, &["general_obj_types[13]"]),
    (0x14, &["event_cap"]),
    (0x15, &["ipsec_offload"]),
    (0x1a, &["crypto"]),
    (0x1d, &["shampo"]),
    (0x1e, &["psp"]),
    (0x1f, &["general_obj_types[39]"]),
    (0x20, &["hca_cap_2"]),
    (0x25, &["port_selection_cap"]),
    (0x26, &["adv_virtualization"]),
    (0x28, &["adv_rdma"]),
    (0x2a, &["tlp_device_emulation_manager"]),
];
/// The part of the page that has the table.
const HEADING: &str = "## Capabilities";
const PAGE: &str = include_str!("../../docs/firmware.md");
/// The table of the headers, and that of fields which others have.
const HEADERS: [&str; 2] = [include_str!("../../devx/prm/mlx5_ifc.txt"), include_str!("../../devx/prm/more.txt")];

/// First bit and bits of each field of a set.
type Fields = BTreeMap<String, (usize, usize)>;

/// The fields of a set, from the tables of the headers.
fn fields(set: &str) -> Fields {
    let number = |text: &str| usize::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number");
    let lines = HEADERS.into_iter().flat_map(|table| {
        let lines = table.lines().skip_while(|line| line.split(' ').next() != Some(set)).skip(1);
        lines.take_while(|line| line.starts_with(' '))
    });
    let fields: Fields = lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (words[0].to_owned(), (number(words[1]), number(words[2])))
        })
        .collect();
    assert!(!fields.is_empty(), "the headers have no {set}");
    fields
}

/// A capability of the page: `FIELD`, or `FIELD[BIT]` for one bit of a list of bits, counted from the lowest.
fn bits_of(fields: &Fields, capability: &str) -> Vec<usize> {
    let (name, bit) = match capability.split_once('[') {
        Some((name, bit)) => (name, Some(bit.trim_end_matches(']').parse::<usize>().expect("a bit"))),
        None => (capability, None),
    };
    let &(first, width) = fields.get(name).unwrap_or_else(|| panic!("the headers have no {name}"));
    match bit {
        Some(bit) => vec![first + width - 1 - bit],
        None => (first..first + width).collect(),
    }
}

/// A row of the page.
struct Row {
    feature: &'static str,
    set: &'static str,
    capabilities: Vec<&'static str>,
    devices: &'static str,
}

fn rows() -> Vec<Row> {
    let part = PAGE.split_once(HEADING).expect("the part about capabilities").1;
    let part = part.split("\n## ").next().unwrap_or(part);
    let rows = part.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = rows.map(|row| row.split(" | ").collect::<Vec<_>>()).filter(|row| row.len() == 4);
    let rows = rows.filter(|row| row[1].starts_with('`')).map(|row| {
        let capabilities = row[2].split(", ").map(|name| name.trim_matches('`')).collect();
        Row { feature: row[0], set: row[1].trim_matches('`'), capabilities, devices: row[3] }
    });
    rows.collect()
}

/// A device: its generation, and whether its port is an Ethernet port, and then a bond.
#[derive(Clone, Copy, Debug)]
struct Asked {
    generation: Generation,
    ethernet: bool,
    bonded: bool,
}

/// Whether the page says that the device has the capabilities of a row.
fn has(row: &Row, asked: Asked) -> bool {
    let (devices, on_link) = match row.devices.strip_prefix("Ethernet: ") {
        Some(generations) => (generations, asked.ethernet),
        None => (row.devices, true),
    };
    on_link
        && match devices {
            "all" => true,
            "none" => false,
            "Ethernet" => asked.ethernet,
            "InfiniBand" => !asked.ethernet,
            "bonded" => asked.bonded,
            names => names.split(", ").any(|name| match name {
                "connectx5" => asked.generation == Generation::ConnectX5,
                "connectx6dx" => asked.generation == Generation::ConnectX6Dx,
                "connectx7" => asked.generation == Generation::ConnectX7,
                "connectx8" => asked.generation == Generation::ConnectX8,
                other => panic!("{}: {other:?} names no devices", row.feature),
            }),
        }
}

/// The bytes of each set of [`SETS`] that the device has.
fn answers(asked: Asked) -> BTreeMap<&'static str, Vec<u8>> {
    let mut query = asker(asked);
    SETS.into_iter().filter_map(|(set, number)| Some((set, query(number)?))).collect()
}

/// Asks the device for the set of a number: its bytes, if the device has it.
fn asker(asked: Asked) -> impl FnMut(u16) -> Option<Vec<u8>> {
    const QUERY_HCA_CAP: u8 = 1;
    // The values that are in force (Linux `HCA_CAP_OPMOD_GET_CUR`).
    const CURRENT: u16 = 1;
    let port = if asked.ethernet { PortConfig::ethernet(1) } else { PortConfig::infiniband(1) };
    let Asked { generation, bonded, .. } = asked;
    let config =
        DeviceConfig { generation, bonded, device_memory: 1 << 17, on_demand: true, ..DeviceConfig::with_port(port) };
    let address = Address { qpns: 0x100..0x200, lids: vec![1], gids: vec![] };
    let wire = Fabric::new().attach(address).expect("a wire");
    let memory = Box::new(ProcessMemory::new());
    let mut device = Device::new(config, memory, Box::new(wire)).expect("a device");
    let mut firmware = Firmware::new();
    move |number| {
        let mut input = [0; 16];
        input[0] = QUERY_HCA_CAP;
        input[6..8].copy_from_slice(&(number << 1 | CURRENT).to_be_bytes());
        let mut output = vec![0; 16 + 0x1000];
        let status = firmware.execute(&mut device, &input, &mut output);
        (status == Status::Ok).then(|| output.split_off(16))
    }
}

fn is_on(bytes: &[u8], bit: usize) -> bool {
    bytes[bit / 8] >> (7 - bit % 8) & 1 != 0
}

fn devices() -> impl Iterator<Item = Asked> {
    let ports = [(false, false), (true, false), (true, true)];
    Generation::ALL
        .into_iter()
        .flat_map(move |generation| ports.map(|(ethernet, bonded)| Asked { generation, ethernet, bonded }))
}

#[test]
fn the_book_has_the_capabilities_that_devices_report() {
    let rows = rows();
    assert!(rows.iter().any(|row| row.devices == "none"), "the page has no list of missing capabilities");
    let mut wrong = Vec::new();
    for asked in devices() {
        let answers = answers(asked);
        assert!(answers.contains_key("cmd_hca_cap"), "{asked:?} answers nothing");
        for row in &rows {
            assert!(SETS.iter().any(|(set, _)| *set == row.set), "{}: no set {}", row.feature, row.set);
            let fields = fields(row.set);
            for capability in &row.capabilities {
                let bits = bits_of(&fields, capability);
                let on = answers.get(row.set).is_some_and(|bytes| bits.iter().any(|&bit| is_on(bytes, bit)));
                if on != has(row, asked) {
                    let page = row.devices;
                    wrong.push(format!("{asked:?}: {}.{capability} is {on}, the page says {page:?}", row.set));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Numbers (limits, sizes, formats) need no row. Lists of bits do, for each bit that is on.
#[test]
fn the_book_has_every_capability_that_is_on() {
    const LISTS: [&str; 1] = ["general_obj_types"];
    let rows = rows();
    let mut unsaid = Vec::new();
    for (asked, set, bytes) in
        devices().flat_map(|asked| answers(asked).into_iter().map(move |(set, bytes)| (asked, set, bytes)))
    {
        let fields = fields(set);
        let said = rows.iter().filter(|row| row.set == set).flat_map(|row| &row.capabilities);
        let said: Vec<usize> = said.flat_map(|capability| bits_of(&fields, capability)).collect();
        for (name, &(first, width)) in &fields {
            let flags = width == 1 || LISTS.contains(&name.as_str());
            for bit in (first..first + width).filter(|_| flags) {
                if is_on(&bytes, bit) && !said.contains(&bit) {
                    unsaid.push(format!("{asked:?}: {set}.{name}[{}]", first + width - 1 - bit));
                }
            }
        }
    }
    assert!(unsaid.is_empty(), "docs/firmware.md has no row of {unsaid:#?}");
}

#[test]
fn every_set_that_is_promised_is_answered() {
    let general = fields("cmd_hca_cap");
    let mut wrong = Vec::new();
    for asked in devices() {
        let mut query = asker(asked);
        let bytes = query(0).expect("general capabilities");
        for (number, capabilities) in PROMISED_BY {
            let bits = capabilities.iter().flat_map(|capability| bits_of(&general, capability));
            let promised = bits.into_iter().any(|bit| is_on(&bytes, bit));
            let answer = query(number);
            // A driver that asks in any case must find nothing in a set that nothing promises.
            if promised && answer.is_none() || !promised && answer.is_some_and(|set| set.iter().any(|&byte| byte != 0))
            {
                wrong.push(format!("{asked:?}: set {number:#x}, promised: {promised}"));
            }
        }
        // libmlx5 asks for these without a promise (rdma-core `providers/mlx5/dr_devx.c`, `dr_devx_query_device`).
        wrong.extend(
            [0x7, 0xf].into_iter().filter(|&n| query(n).is_none()).map(|n| format!("{asked:?}: no set {n:#x}")),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
