//! Devices as text for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use blueflame_decode::printable;

use super::device::DeviceInfo;
use crate::machine::Fact;

const TITLE: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const LACKING: Style = AnsiColor::Yellow.on_default();

/// Facts, a line each.
pub(crate) fn facts(out: &mut impl Write, title: &str, facts: &[Fact]) -> io::Result<()> {
    writeln!(out, "{TITLE}{}{TITLE:#}", printable(title))?;
    for Fact { name, value, advice } in facts {
        writeln!(out, "  {name:<26} {}", printable(value))?;
        if let Some(advice) = advice {
            writeln!(out, "  {:<26} {LACKING}{advice}{LACKING:#}", "")?;
        }
    }
    Ok(())
}

/// A device.
pub(crate) fn device(out: &mut impl Write, device: &DeviceInfo) -> io::Result<()> {
    let DeviceInfo { vendor_id, vendor_part_id, node_guid, .. } = device;
    let (name, firmware) = (printable(&device.name), printable(&device.firmware));
    writeln!(out)?;
    facts(out, &name, &device.facts)?;
    writeln!(out, "  {:<26} {firmware}", "firmware")?;
    writeln!(out, "  {:<26} {vendor_id}, device {vendor_part_id}", "vendor")?;
    writeln!(out, "  {:<26} {node_guid}", "node GUID")?;
    for port in &device.ports {
        let rate = printable(port.rate.as_deref().unwrap_or("unknown rate"));
        let (number, layer, state) = (port.number, &port.link_layer, &port.state);
        writeln!(out, "  {:<26} {layer}, {state}, {rate}", format!("port {number}"))?;
        let (lid, mtu, most) = (port.lid, port.active_mtu, port.max_mtu);
        writeln!(out, "  {:<26} LID {lid}, path MTU {mtu} of at most {most} bytes", "")?;
        for gid in &port.gids {
            writeln!(out, "  {:<26} {} {}", format!("  GID {}", gid.index), gid.gid, gid.kind)?;
        }
    }
    let register = &device.register;
    if let (Some(half), Some(file), Some(is_device)) =
        (register.half_bytes, &register.mapped_from, register.device_memory)
    {
        let kind = if is_device { "of the device" } else { "ordinary memory" };
        let file = printable(file);
        writeln!(out, "  {:<26} halves of {half} bytes, {kind}, mapped from {file}", "doorbell register")?;
    }
    if let Some(why) = &register.why {
        writeln!(out, "  {:<26} {LACKING}no BlueFlame: {}{LACKING:#}", "", printable(why))?;
    }
    for limit in &device.limits {
        writeln!(out, "  {:<40} {}", limit.name, limit.value)?;
    }
    writeln!(out, "{TITLE}what the crate can do on {name}{TITLE:#}")?;
    for capability in &device.capabilities {
        match &capability.why_not {
            None => writeln!(out, "  {GOOD}yes{GOOD:#}  {:<32} {}", capability.name, capability.offers)?,
            Some(why) => writeln!(out, "  {LACKING}no{LACKING:#}   {:<32} {}", capability.name, printable(why))?,
        }
    }
    Ok(())
}
