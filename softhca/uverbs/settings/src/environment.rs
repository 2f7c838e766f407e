//! The settings as environment variables, by which the preloaded object learns them.

use crate::local_address;
use crate::{Clock, DEFAULT_MTU, Generation, InlineHeaders, Link, MAX_DEVICES, MAX_INDEX, MAX_PORTS, MTUS};
use crate::{MEMORY_KEYS, Memlock, Settings, WireKind};
use std::borrow::Cow;
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// A setting that is missing or has an impossible value.
#[derive(Debug, thiserror::Error)]
#[error("{name}={value:?}: {expected}")]
pub struct BadSetting {
    /// The environment variable.
    pub name: &'static str,
    /// What it holds.
    pub value: String,
    /// Its possible values.
    pub expected: Cow<'static, str>,
}

/// Names the launcher to programs that it has not started: the object that they preload starts them by it.
pub const LAUNCHER_VARIABLE: &str = "SOFTHCA_LAUNCHER";
/// The options of that launcher, with white space between.
pub const OPTIONS_VARIABLE: &str = "SOFTHCA_OPTIONS";

const DEVICES: &str = "SOFTHCA_DEVICES";
const VFIO: &str = "SOFTHCA_VFIO";
const PORTS: &str = "SOFTHCA_PORTS";
const BOND: &str = "SOFTHCA_BOND";
const LINK: &str = "SOFTHCA_LINK";
const MTU: &str = "SOFTHCA_MTU";
const GENERATION: &str = "SOFTHCA_GENERATION";
const ADDRESSES: &str = "SOFTHCA_ADDRESSES";
const OWN_ROUTE: &str = "SOFTHCA_OWN_ROUTE";
const INLINE_HEADERS: &str = "SOFTHCA_INLINE_HEADERS";
const MEMLOCK: &str = "SOFTHCA_MEMLOCK";
const MAX_MR: &str = "SOFTHCA_MAX_MR";
const STRICT: &str = "SOFTHCA_STRICT";
const STATIC_UARS: &str = "SOFTHCA_STATIC_UARS";
const NO_WRITE_COMBINING: &str = "SOFTHCA_NO_WRITE_COMBINING";
const CLOCK: &str = "SOFTHCA_CLOCK";
const REUSE_QPN: &str = "SOFTHCA_REUSE_QPN";
const KEEP_REGISTERS: &str = "SOFTHCA_KEEP_REGISTERS";
const SINK: &str = "SOFTHCA_SINK";
const FAULTS: &str = "SOFTHCA_FAULTS";
const DAMAGE: &str = "SOFTHCA_DAMAGE";
const PCAP: &str = "SOFTHCA_PCAP";
const WIRE: &str = "SOFTHCA_WIRE";
const INDEX: &str = "SOFTHCA_INDEX";
const MAC: &str = "SOFTHCA_MAC";
const FABRIC: &str = "SOFTHCA_FABRIC";
const REPORT: &str = "SOFTHCA_REPORT";
const EXPLANATIONS: &str = "SOFTHCA_EXPLANATIONS";
const SYSFS: &str = "SOFTHCA_SYSFS";
const SCRIPT: &str = "SOFTHCA_SCRIPT";
const TIMELINE: &str = "SOFTHCA_TIMELINE";
const NAMESPACE: &str = "SOFTHCA_NAMESPACE";
const LOG: &str = "SOFTHCA_LOG";

impl Settings {
    /// The settings as environment variables.
    #[must_use]
    pub fn to_env(&self) -> Vec<(&'static str, OsString)> {
        let words = [
            (DEVICES, self.devices.to_string()),
            (VFIO, self.vfio.to_string()),
            (PORTS, self.ports.to_string()),
            (BOND, u8::from(self.bond).to_string()),
            (LINK, self.link.name().to_owned()),
            (MTU, self.mtu.to_string()),
            (GENERATION, self.generation.name().to_owned()),
            (ADDRESSES, local_address::to_text(&self.addresses)),
            (INLINE_HEADERS, self.inline_headers.name().to_owned()),
            (MEMLOCK, self.memlock.name().to_owned()),
            (MAX_MR, self.max_mr.to_string()),
            (STRICT, u8::from(self.strict).to_string()),
            (STATIC_UARS, u8::from(self.static_uars).to_string()),
            (NO_WRITE_COMBINING, u8::from(self.no_write_combining).to_string()),
            (CLOCK, self.clock.name().to_owned()),
            (REUSE_QPN, u8::from(self.reuse_qpn).to_string()),
            (KEEP_REGISTERS, u8::from(self.keep_registers).to_string()),
            (SINK, u8::from(self.sink).to_string()),
            (NAMESPACE, u8::from(self.namespace).to_string()),
            (WIRE, self.wire.to_string()),
            (INDEX, self.index.to_string()),
            (LOG, self.log.clone()),
        ];
        let faults = self.faults.clone().map(|faults| (FAULTS, faults));
        let damage = self.damage.clone().map(|damage| (DAMAGE, damage));
        let mac = self.mac.map(|mac| (MAC, mac_to_text(mac)));
        let own_route = self.own_route.clone().map(|interface| (OWN_ROUTE, interface));
        let pcap = self.pcap.clone().map(|pcap| (PCAP, pcap.into()));
        let report = self.report.clone().map(|report| (REPORT, report.into()));
        let explanations = self.explanations.clone().map(|explanations| (EXPLANATIONS, explanations.into()));
        let sysfs = self.sysfs.clone().map(|sysfs| (SYSFS, sysfs.into()));
        let (script, timeline) = self.script.clone().unzip();
        let script = script.map(|script| (SCRIPT, script.into()));
        let timeline = timeline.map(|timeline| (TIMELINE, timeline.into()));
        let files = pcap.into_iter().chain(report).chain(explanations).chain(sysfs).chain(script).chain(timeline);
        let words = words.into_iter().chain(faults).chain(damage).chain(mac).chain(own_route);
        let words = words.map(|(name, value)| (name, value.into()));
        words.chain([(FABRIC, self.fabric.clone().into())]).chain(files).collect()
    }

    /// Reads them back through `variable`; `Ok(None)` if the process was not started by the launcher.
    ///
    /// # Errors
    /// [`BadSetting`] for the first variable that is missing or impossible.
    pub fn from_env(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Self>, BadSetting> {
        if variable(DEVICES).is_none() {
            return Ok(None);
        }
        // These values are text. Paths may be any bytes.
        let text = |name| variable(name).map(|value| value.to_string_lossy().into_owned());
        let path = |name| variable(name).map(PathBuf::from);
        let switch = |name| text(name).is_some_and(|value| value == "1");
        let words = |name| text(name).filter(|words| !words.is_empty());
        let number = |name, default, possible: RangeInclusive<u32>, expected| {
            let parse = |value: &str| value.parse().ok().filter(|number| possible.contains(number));
            setting(name, text(name), default, parse, expected)
        };
        let devices = number(DEVICES, None, 1..=MAX_DEVICES, "1 to 16")?;
        Ok(Some(Self {
            devices,
            vfio: number(VFIO, Some(0), 0..=MAX_DEVICES - devices, "0 to 15, 16 with the devices")?,
            ports: number(PORTS, None, 1..=MAX_PORTS, "1 or 2")?,
            bond: switch(BOND),
            link: choice(LINK, text(LINK), Link::ALL, Link::name)?,
            mtu: number(MTU, Some(DEFAULT_MTU), MTUS, "352 to 9978")?,
            generation: choice(GENERATION, text(GENERATION), Generation::ALL, Generation::name)?,
            addresses: {
                let expected = "interface/address, a space between each";
                setting(ADDRESSES, text(ADDRESSES), Some(Vec::new()), local_address::from_text, expected)?
            },
            own_route: words(OWN_ROUTE),
            inline_headers: choice(INLINE_HEADERS, text(INLINE_HEADERS), InlineHeaders::ALL, InlineHeaders::name)?,
            memlock: choice(MEMLOCK, text(MEMLOCK), Memlock::ALL, Memlock::name)?,
            max_mr: number(MAX_MR, Some(*MEMORY_KEYS.end()), MEMORY_KEYS, "1 to 2^20")?,
            strict: switch(STRICT),
            static_uars: switch(STATIC_UARS),
            no_write_combining: switch(NO_WRITE_COMBINING),
            clock: choice(CLOCK, text(CLOCK), Clock::ALL, Clock::name)?,
            reuse_qpn: switch(REUSE_QPN),
            keep_registers: switch(KEEP_REGISTERS),
            sink: switch(SINK),
            faults: words(FAULTS),
            damage: words(DAMAGE),
            pcap: path(PCAP),
            wire: setting(WIRE, text(WIRE), Some(WireKind::Shm), |value| value.parse().ok(), "a wire")?,
            index: number(INDEX, Some(0), 0..=MAX_INDEX, "0 to 239")?,
            mac: setting(MAC, text(MAC), Some(None), |value| mac_from_text(value).map(Some), "an Ethernet address")?,
            fabric: path(FABRIC).ok_or(BadSetting {
                name: FABRIC,
                value: String::new(),
                expected: "a directory".into(),
            })?,
            report: path(REPORT),
            explanations: path(EXPLANATIONS),
            script: path(SCRIPT).zip(path(TIMELINE)),
            sysfs: path(SYSFS),
            namespace: switch(NAMESPACE),
            log: text(LOG).unwrap_or_else(|| "warn".to_owned()),
        }))
    }
}

/// The value that `parse` finds in a variable, or `default` where the variable is missing.
fn setting<T>(
    name: &'static str,
    value: Option<String>,
    default: Option<T>,
    parse: impl Fn(&str) -> Option<T>,
    expected: &'static str,
) -> Result<T, BadSetting> {
    value.as_deref().map_or(default, parse).ok_or_else(|| BadSetting {
        name,
        value: value.unwrap_or_default(),
        expected: expected.into(),
    })
}

/// The one of `all` that has the name in a variable; the first where the variable is missing.
fn choice<T: Copy, const N: usize>(
    name: &'static str,
    value: Option<String>,
    all: [T; N],
    name_of: fn(T) -> &'static str,
) -> Result<T, BadSetting> {
    let Some(value) = value else { return Ok(all[0]) };
    let found = all.into_iter().find(|known| name_of(*known) == value);
    found.ok_or_else(|| BadSetting { name, value, expected: all.map(name_of).join(" or ").into() })
}

fn mac_to_text(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

fn mac_from_text(text: &str) -> Option<[u8; 6]> {
    let bytes: Option<Vec<u8>> = text.split(':').map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    bytes?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::settings;
    use std::collections::HashMap;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn settings_survive_the_environment() {
        for link in Link::ALL {
            let headers = InlineHeaders::ALL.map(|inline_headers| Settings { inline_headers, ..settings(link) });
            let generations = Generation::ALL.map(|generation| Settings { generation, ..settings(link) });
            let clocks = Clock::ALL.map(|clock| Settings { clock, ..settings(link) });
            for settings in headers.into_iter().chain(generations).chain(clocks) {
                let env: HashMap<_, _> = settings.to_env().into_iter().collect();
                assert_eq!(Settings::from_env(|name| env.get(name).cloned()).unwrap(), Some(settings));
            }
        }
    }

    #[test]
    fn paths_are_any_bytes() {
        let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let (fabric, report) = (path(b"/a/\xff:b"), Some(path(b"\xc3\x28")));
        let settings = Settings { fabric, report, ..settings(Link::Ethernet) };
        let env: HashMap<_, _> = settings.to_env().into_iter().collect();
        assert_eq!(Settings::from_env(|name| env.get(name).cloned()).unwrap(), Some(settings));
    }

    #[test]
    fn impossible_settings_are_named() {
        let mut env: HashMap<_, _> = settings(Link::Infiniband).to_env().into_iter().collect();
        env.insert(PORTS, "3".into());
        let error = Settings::from_env(|name| env.get(name).cloned()).unwrap_err();
        assert_eq!((error.name, error.value.as_str()), (PORTS, "3"));
        assert_eq!(Settings::from_env(|_| None).unwrap(), None);
    }
}
