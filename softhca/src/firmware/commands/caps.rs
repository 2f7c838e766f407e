//! Capabilities: a driver asks for a set of them, and says which it will use.

use crate::context::FetchedOrder;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::capabilities::{self, SET_BYTES, Set};
use crate::firmware::layout::{View, ViewMut, layout};
use crate::firmware::life::Stage;
use crate::firmware::status::Refusal;

layout! {
    /// A set. Which one it is, the command's modifier says.
    struct hca_cap_union: 0x1000 bytes opaque {}
    /// `QUERY_HCA_CAP`. Bit 0 of the modifier asks for the values in use, and not for the possible ones; the rest is
    /// the set.
    struct query_hca_cap_in: command { OTHER_FUNCTION: 0x40, 1; FUNCTION_ID: 0x50, 16; }
    struct query_hca_cap_out: answer 0x1010 bytes {} parts { CAPABILITY: 0x80, hca_cap_union; }
    struct set_hca_cap_in: query 0x1010 bytes {
        OTHER_FUNCTION: 0x40, 1;
        FUNCTION_ID: 0x50, 16;
    } parts { CAPABILITY: 0x80, hca_cap_union; }
}

/// Bytes of the output that drivers have room for which know sets of 2048 bytes (rdma-core `tests/mlx5_prm_structs.py`,
/// `QueryCmdHcaCapOut`).
const LEAST_ROOM: usize = 0x810;

pub(super) const COMMANDS: &[Command] = &[
    command!(0x100, "QUERY_HCA_CAP", query_hca_cap_in, query_hca_cap_out, query)
        .with_modifiers()
        .with_least_room(LEAST_ROOM),
    command!(0x109, "SET_HCA_CAP", set_hca_cap_in, bare_out, set).with_modifiers(),
];

/// The set that the command's modifier names. `other` are its fields for another function, of which there are none.
fn find(call: &Call<'_>, other: [u64; 2]) -> Result<(&'static Set, Vec<u8>), Refusal> {
    if other != [0, 0] {
        return Err(Refusal::parameter(format!("function {:#x}: there is no other", other[1])));
    }
    let kind = call.op_mod >> 1;
    let set = capabilities::set(kind);
    let bytes = set.and_then(|set| Some((set, capabilities::answer(set, call.device.config())?)));
    bytes.ok_or_else(|| Refusal::parameter(format!("no capabilities of kind {kind:#x}")))
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    use query_hca_cap_in::{FUNCTION_ID, OTHER_FUNCTION};
    let other = [OTHER_FUNCTION, FUNCTION_ID].map(|field| call.input.get(field));
    // All possible values are in use, except for the two that a driver chooses.
    let (set, mut bytes) = find(call, other)?;
    let in_use = call.op_mod & 1 != 0;
    let chosen = match set.kind {
        capabilities::GENERAL => Some((capabilities::CMDIF_CHECKSUM, call.state.life.checksum(in_use))),
        capabilities::ATOMIC => {
            let order = if in_use { call.device.fetched_order() } else { FetchedOrder::Host };
            Some((capabilities::ATOMIC_REQ_8B_ENDIANNESS_MODE, order as u64))
        }
        _ => None,
    };
    if let Some((field, value)) = chosen {
        ViewMut(&mut bytes).set(field, value);
    }
    call.output.part(query_hca_cap_out::CAPABILITY).put(0, &bytes);
    Ok(())
}

/// All features of the device can be used at the same time. So a driver can choose only whether it signs commands, and
/// the byte order of the words that atomics fetch. All its other values must equal the present ones.
fn set(call: &mut Call<'_>) -> Result<(), Refusal> {
    use set_hca_cap_in::{FUNCTION_ID, OTHER_FUNCTION};
    call.check_driver()?;
    let other = [OTHER_FUNCTION, FUNCTION_ID].map(|field| call.input.get(field));
    let (set, mut bytes) = find(call, other)?;
    bytes.resize(SET_BYTES, 0);
    let wanted = call.input.part(set_hca_cap_in::CAPABILITY).0;
    let mut signed = None;
    if set.kind == capabilities::GENERAL {
        let checksum = View(wanted).get(capabilities::CMDIF_CHECKSUM);
        signed = Some(call.state.life.choose_checksum(checksum)?);
        ViewMut(&mut bytes).set(capabilities::CMDIF_CHECKSUM, checksum);
    }
    let mut order = None;
    if set.kind == capabilities::ATOMIC {
        let mode = View(wanted).get(capabilities::ATOMIC_REQ_8B_ENDIANNESS_MODE);
        order = Some(choose_order(call, mode)?);
        ViewMut(&mut bytes).set(capabilities::ATOMIC_REQ_8B_ENDIANNESS_MODE, mode);
        // Linux gives the one field that is a driver's to set, and zeros (`handle_hca_cap_atomic`).
        let mut mode_alone = vec![0; SET_BYTES];
        ViewMut(&mut mode_alone).set(capabilities::ATOMIC_REQ_8B_ENDIANNESS_MODE, mode);
        if wanted == mode_alone {
            bytes = mode_alone;
        }
    }
    let other = bytes.iter().zip(wanted).position(|(is, wanted)| is != wanted);
    match other {
        None if call.op_mod & 1 == 0 => {
            call.state.life.checksum = signed.unwrap_or(call.state.life.checksum);
            if let Some(order) = order {
                call.device.set_fetched_order(order);
            }
            Ok(())
        }
        None => Err(Refusal::parameter("what is in use is set, not what could be")),
        Some(at) => {
            let name = set.name_at(at).unwrap_or("a capability that is not there");
            let reason =
                format!("{name}: byte {at:#x} of {} is {:#x}, not {:#x}", set.layout.name, bytes[at], wanted[at]);
            Err(Refusal::parameter(reason))
        }
    }
}

/// The byte order of this number. A driver chooses it before it initializes the HCA, as Linux does
/// (`mlx5_function_setup`).
fn choose_order(call: &Call<'_>, mode: u64) -> Result<FetchedOrder, Refusal> {
    let known = [FetchedOrder::Network, FetchedOrder::Host].into_iter().find(|&order| order as u64 == mode);
    let order = known.ok_or_else(|| Refusal::parameter(format!("atomic_req_8B_endianness_mode {mode}: 0 or 1")))?;
    if order != call.device.fetched_order() {
        call.state.life.check_stage(Stage::Enabled)?;
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use crate::config::{DeviceConfig, Generation, PortConfig};
    use crate::context::{RqContext, SrqContext};
    use crate::error::{Error, Object};
    use crate::firmware::Firmware;
    use crate::firmware::capabilities;
    use crate::firmware::layout::{Field, View};
    use crate::firmware::status::Status;
    use crate::firmware::test_bench::Bench;
    use crate::memory::test_memory::BASE;

    fn query(bench: &mut Bench, modifier: u8) -> Result<Vec<u8>, Status> {
        let input = [1, 0, 0, 0, 0, 0, 0, modifier, 0, 0, 0, 0, 0, 0, 0, 0];
        bench.execute(&input, 0x1010).map(|output| output[0x10..].to_vec())
    }

    fn set(bench: &mut Bench, kind: u8, bytes: &[u8]) -> Result<(), Status> {
        let mut input = vec![1, 9, 0, 0, 0, 0, 0, kind << 1, 0, 0, 0, 0, 0, 0, 0, 0];
        input.extend(bytes);
        bench.execute(&input, 16).map(drop)
    }

    /// The number of `width` bits at bit `at`.
    fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
        View(bytes).get(Field { name: "", at, width })
    }

    #[test]
    fn a_driver_that_knows_less_gets_the_first_of_it() {
        let mut bench = Bench::new();
        let whole = query(&mut bench, 1).expect("general capabilities");
        let input = [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        for room in [0x810, 0x814, 0x100f] {
            let output = bench.execute(&input, room).expect("general capabilities");
            assert_eq!(output[0x10..], whole[..room - 0x10], "{room:#x}");
        }
        assert_eq!(bench.execute(&input, 0x80f), Err(Status::BadOutputLength));
    }

    #[test]
    fn what_drivers_look_for_is_there() {
        let mut bench = Bench::new();
        let caps = query(&mut bench, 1).expect("general capabilities");
        assert_eq!(Ok(&caps), query(&mut bench, 0).as_ref(), "in use, and possible");
        // Offsets as UCX 1.13 has them (src/uct/ib/mlx5/dv/ib_mlx5_ifc.h); UCX takes no device with another
        // log_max_msg.
        assert_eq!(number(&caps, 0x1c3, 5), 30, "log_max_msg");
        assert_eq!(number(&caps, 0x1fc, 4), 1, "cqe_version");
        assert_eq!(number(&caps, 0x21e, 1), 1, "atomic");
        assert_eq!(number(&caps, 0x9b, 5), 18, "log_max_qp: QPNs up to 2^18");
        // As libmlx5 has it (providers/mlx5/mlx5_ifc.h).
        assert_eq!(number(&caps, 0x290, 16), 1024, "max_wqe_sz_sq");
        assert_eq!(number(&caps, 0x1b8, 8), 1, "num_ports");
    }

    #[test]
    fn as_many_srqs_as_capabilities_say() {
        let config = DeviceConfig { qpn_count: 200, ..DeviceConfig::with_port(PortConfig::infiniband(1)) };
        let mut bench = Bench::of(config);
        let caps = query(&mut bench, 1).expect("general capabilities");
        // log_max_srq, log_max_rmp, log_max_xrq: one table has them all.
        assert_eq!([0xab, 0x383, 0x5fb].map(|at| number(&caps, at, 5)), [7; 3]);
        let pd = bench.device.alloc_pd().expect("a PD");
        let rq = RqContext { buf: BASE, log_size: 0, log_stride: 6 };
        let srq = SrqContext { pd, rq, dbr: BASE + 0x1000, ..SrqContext::default() };
        for _ in 0..128 {
            bench.device.create_srq(srq).expect("an SRQ");
        }
        assert_eq!(bench.device.create_srq(srq), Err(Error::Exhausted { object: Object::Srq, limit: 128 }));
    }

    #[test]
    fn sets_that_are_not_there_are_refused() {
        let mut bench = Bench::new();
        // An InfiniBand device has no Ethernet offloads, and there is no set 10.
        for kind in [1, 4, 10, 0x7f] {
            assert_eq!(query(&mut bench, kind << 1), Err(Status::BadParameter), "{kind}");
            assert_eq!(set(&mut bench, kind, &[0; 0x1000]), Err(Status::BadParameter), "{kind}");
        }
        let mut other_function = [1, 0, 0, 0, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(bench.execute(&other_function, 0x1010), Err(Status::BadParameter));
        other_function[8..12].copy_from_slice(&[0, 0, 0, 2]);
        assert_eq!(bench.execute(&other_function, 0x1010), Err(Status::BadParameter));
    }

    #[test]
    fn a_driver_sets_what_there_is() {
        let mut bench = Bench::new();
        let mut caps = query(&mut bench, 0).expect("general capabilities");
        assert_eq!(set(&mut bench, 0, &caps), Ok(()));
        // Bit 0 of the modifier, which asks for the values in use.
        let of_use = [&[1, 9, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0][..], &caps].concat();
        assert_eq!(bench.execute(&of_use, 16), Err(Status::BadParameter));
        // rndv_offload_dc, which is not there; then cqe_version 0.
        caps[0x5f2 / 8] ^= 0x20;
        assert_eq!(set(&mut bench, 0, &caps), Err(Status::BadParameter));
        caps[0x5f2 / 8] ^= 0x20;
        caps[0x1fc / 8] ^= 1;
        assert_eq!(set(&mut bench, 0, &caps), Err(Status::BadParameter));
        let user = bench.user();
        let mut of_a_user = vec![1, 9, 0, user.0 as u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        of_a_user.extend(query(&mut bench, 0).expect("general capabilities"));
        assert_eq!(bench.execute(&of_a_user, 16), Err(Status::BadOperation));
    }

    #[test]
    fn of_atomics_a_driver_sets_the_mode_that_there_is() {
        let mut bench = Bench::new();
        let caps = query(&mut bench, 3 << 1).expect("atomics");
        assert_eq!(query(&mut bench, 3 << 1 | 1), Ok(caps.clone()), "a kernel has set the mode");
        let mut whole = vec![0; 0x1000];
        whole[..caps.len()].copy_from_slice(&caps);
        assert_eq!(set(&mut bench, 3, &whole), Ok(()));
        // As Linux does it: bits 0x40 and 0x41 alone. It is late for another mode.
        let others = [(0x40, Ok(())), (0x00, Err(Status::BadSystemState)), (0x80, Err(Status::BadParameter))];
        for (mode, outcome) in others {
            let mut alone = vec![0; 0x1000];
            alone[8] = mode;
            assert_eq!(set(&mut bench, 3, &alone), outcome, "{mode:#x}");
        }
    }

    #[test]
    fn a_function_that_is_enabled_fetches_in_network_order_until_a_driver_chooses() {
        let mut bench = Bench { firmware: Firmware::at_power_on(), ..Bench::new() };
        let enable = [1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        bench.execute(&enable, 16).expect("ENABLE_HCA");
        let mode = |bench: &mut Bench, modifier| number(&query(bench, modifier).expect("atomics"), 0x40, 2);
        assert_eq!([mode(&mut bench, 7), mode(&mut bench, 6)], [0, 1], "in use, and possible");
        for (bits, in_use) in [(0x40, 1), (0, 0), (0x40, 1)] {
            let mut alone = vec![0; 0x1000];
            alone[8] = bits;
            assert_eq!(set(&mut bench, 3, &alone), Ok(()));
            assert_eq!(mode(&mut bench, 7), in_use);
        }
        let mut unknown = vec![0; 0x1000];
        unknown[8] = 0xc0;
        assert_eq!(set(&mut bench, 3, &unknown), Err(Status::BadParameter));
        assert_eq!(mode(&mut bench, 7), 1);
    }

    #[test]
    fn all_values_fit_their_fields_on_every_generation() {
        for port in [PortConfig::infiniband(1), PortConfig::ethernet(1)] {
            for generation in Generation::ALL {
                let config = DeviceConfig { generation, ..DeviceConfig::with_port(port.clone()) };
                for set in capabilities::sets() {
                    assert_eq!(set.misfit(&config), None, "{}", set.layout.name);
                }
            }
        }
    }
}
