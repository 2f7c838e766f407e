//! The commands about devices (`drivers/infiniband/core/nldev.c` of Linux), from the facts that the launcher writes into
//! sysfs.

use super::abi::{DRIVER_MLX5, NETNS_SHARED, NODE_CA, attr, command, flag};
use super::message::{Answer, Request};
use crate::device::resources;
use crate::process::{Errno, route};
use softhca_settings::{self as settings, Link, Resource, Settings};

/// Carries a command out: the messages that answer it, for the socket at `port`.
///
/// # Errors
/// `EINVAL` for a device or a port that is not there, and for a request that does not name one; `EOPNOTSUPP` for other
/// commands.
pub(super) fn answer(request: &Request<'_>, port: u32, settings: &Settings) -> Result<Vec<Vec<u8>>, Errno> {
    let all = request.is_dump();
    let flags = if all { flag::MULTI } else { 0 };
    let begin = |kind| Answer::new(request, port, kind, flags);
    let devices = || if all { Ok(0..settings.devices) } else { one_device(request, settings).map(|one| one..one + 1) };
    match request.kind {
        command::GET => Ok(devices()?.map(|device| describe_device(begin(command::GET), settings, device)).collect()),
        command::PORT_GET => {
            let device = one_device(request, settings)?;
            let ports =
                if all { 1..settings.ports + 1 } else { one_port(request, settings).map(|one| one..one + 1)? };
            // Linux answers a question for one port as if it were for a device (`nldev_port_get_doit`).
            let kind = if all { command::PORT_GET } else { command::GET };
            Ok(ports.map(|number| describe_port(begin(kind), settings, device, number)).collect())
        }
        command::RES_GET => {
            Ok(devices()?.map(|device| count_resources(begin(command::RES_GET), settings, device)).collect())
        }
        command::SYS_GET if !all => Ok(vec![describe_system(begin(command::SYS_GET))]),
        command::GET_CHARDEV if !all => Ok(vec![describe_file(request, begin(command::GET_CHARDEV), settings)?]),
        _ => Err(Errno::EOPNOTSUPP),
    }
}

/// As kernels since 5.12, this one copies registered pages for the child of a fork: libibverbs keeps no memory from
/// children then.
fn describe_system(answer: Answer) -> Vec<u8> {
    answer.put_u8(attr::SYS_NETNS_MODE, NETNS_SHARED).put_u8(attr::SYS_COPY_ON_FORK, 1).end()
}

/// The device that the request names.
fn one_device(request: &Request<'_>, settings: &Settings) -> Result<u32, Errno> {
    request.number(attr::DEV_INDEX)?.filter(|device| *device < settings.devices).ok_or(Errno::EINVAL)
}

/// The port that the request names.
fn one_port(request: &Request<'_>, settings: &Settings) -> Result<u32, Errno> {
    request.number(attr::PORT_INDEX)?.filter(|port| (1..=settings.ports).contains(port)).ok_or(Errno::EINVAL)
}

/// Begins each answer about a device.
fn handle(answer: Answer, device: u32) -> Answer {
    answer.put_u32(attr::DEV_INDEX, device).put_text(attr::DEV_NAME, &format!("mlx5_{device}"))
}

/// A device. Its capabilities are not there, because they are known only once it has been opened.
fn describe_device(answer: Answer, settings: &Settings, device: u32) -> Vec<u8> {
    let guid = settings::node_guid(settings.number(device));
    let [major, minor, sub_minor] = settings.generation.firmware();
    let protocol = match settings.link {
        Link::Infiniband => "ib",
        Link::Ethernet => "roce",
    };
    handle(answer, device)
        .put_u32(attr::PORT_INDEX, settings.ports)
        .put_text(attr::FW_VERSION, &format!("{major}.{minor}.{sub_minor:04}"))
        .put_u64(attr::NODE_GUID, guid)
        .put_u64(attr::SYS_IMAGE_GUID, guid)
        .put_u8(attr::DEV_NODE_TYPE, NODE_CA)
        .put_text(attr::DEV_PROTOCOL, protocol)
        .end()
}

fn describe_port(answer: Answer, settings: &Settings, device: u32, port: u32) -> Vec<u8> {
    // `ib_port_state`: down, active; the physical state: polling, link up.
    let is_down = settings::cable_file(&settings.fabric, device, port).exists();
    let (state, physical) = if is_down { (1, 2) } else { (4, 5) };
    let mut answer = handle(answer, device)
        .put_u32(attr::PORT_INDEX, port)
        .put_u64(attr::CAP_FLAGS, settings::port_capabilities(settings.link).into());
    if settings.link == Link::Infiniband {
        // Of the first GID, which each port has.
        let gid = settings::gids(settings, device, port).first().map_or([0; 16], |(gid, _)| *gid);
        // A prefix has the first half of its 128 bits.
        let prefix = (u128::from_be_bytes(gid) >> 64) as u64;
        answer = answer
            .put_u64(attr::SUBNET_PREFIX, prefix)
            .put_u32(attr::LID, settings::lid(settings, device, port).into())
            .put_u32(attr::SM_LID, settings::sm_lid(settings.link).into())
            .put_u8(attr::LMC, 0);
    }
    answer = answer.put_u8(attr::PORT_STATE, state).put_u8(attr::PORT_PHYS_STATE, physical);
    if settings.link == Link::Ethernet {
        let interface = settings::interface(settings, device, port);
        let index = route::interface_index(interface);
        if index != 0 {
            answer = answer.put_u32(attr::NDEV_INDEX, index).put_text(attr::NDEV_NAME, interface);
        }
    }
    answer.end()
}

fn count_resources(answer: Answer, settings: &Settings, device: u32) -> Vec<u8> {
    let counts = resources::all(settings, device);
    let summary = |summary| {
        Resource::ALL.iter().zip(counts).fold(summary, |summary: Answer, (kind, count)| {
            summary.put_nested(attr::RES_SUMMARY_ENTRY, |entry| {
                entry.put_text(attr::RES_SUMMARY_ENTRY_NAME, kind.name()).put_u64(attr::RES_SUMMARY_ENTRY_CURR, count)
            })
        })
    };
    handle(answer, device).put_nested(attr::RES_SUMMARY, summary).end()
}

/// A file of a device or of a port in `/dev/infiniband`. Others are not described: librdmacm looks for its own in sysfs
/// then, and its programs get the error of a file that cannot be opened.
fn describe_file(request: &Request<'_>, answer: Answer, settings: &Settings) -> Result<Vec<u8>, Errno> {
    /// `MLX5_IB_UVERBS_ABI_VERSION`, `IB_USER_MAD_ABI_VERSION`.
    const ABIS: [u64; 2] = [1, 5];
    let (answer, number, abi, name) = match request.text(attr::CHARDEV_TYPE)?.ok_or(Errno::EINVAL)? {
        b"uverbs" => {
            let device = one_device(request, settings)?;
            let answer = answer.put_u32(attr::UVERBS_DRIVER_ID, DRIVER_MLX5);
            (answer, settings::device_number(device), ABIS[0], format!("uverbs{device}"))
        }
        b"umad" => {
            let index = settings::port_index(settings, one_device(request, settings)?, one_port(request, settings)?);
            (answer, settings::umad_number(index), ABIS[1], format!("umad{index}"))
        }
        _ => return Err(Errno::EOPNOTSUPP),
    };
    Ok(answer
        .put_u64(attr::CHARDEV, encoded(number))
        .put_u64(attr::CHARDEV_ABI, abi)
        .put_text(attr::CHARDEV_NAME, &name)
        .end())
}

/// The number of a character device as Linux writes it (`huge_encode_dev`).
fn encoded((major, minor): (u32, u32)) -> u64 {
    u64::from(minor & 0xff) | u64::from(major) << 8 | u64::from(minor & !0xff) << 12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_character_devices_are_encoded_as_by_linux() {
        // By the kernel's arithmetic: 231:192 and 10:0x17a.
        assert_eq!(encoded((231, 192)), 0xe7c0);
        assert_eq!(encoded((10, 0x17a)), 0x10_0a7a);
    }
}
