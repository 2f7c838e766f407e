//! Which paths are VFIO's, and whose.

use crate::launch::settings;
use softhca_settings as names;

/// A file below `/dev/vfio`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// `/dev/vfio/vfio`.
    Container,
    /// `/dev/vfio/GROUP`: that of the device with this number.
    Group(u32),
}

impl Path {
    /// The file that `path` names, if it is ours. Without functions, no file is.
    pub(crate) fn of(path: &[u8]) -> Option<Self> {
        let name = path.strip_prefix(b"/dev/vfio/")?;
        let devices = devices()?;
        if name == b"vfio" {
            return Some(Self::Container);
        }
        let group: u32 = std::str::from_utf8(name).ok()?.parse().ok()?;
        devices.into_iter().find(|&device| names::vfio_group(device) == group).map(Self::Group)
    }

    /// Its major and minor number.
    pub(crate) fn number(self) -> (u32, u32) {
        match self {
            Self::Container => names::VFIO_NUMBER,
            Self::Group(device) => names::vfio_group_number(names::vfio_group(device)),
        }
    }
}

/// The numbers of the functions that programs drive; `None` if there are none.
fn devices() -> Option<std::ops::Range<u32>> {
    let settings = settings().filter(|settings| settings.vfio > 0)?;
    Some(settings.devices..settings.devices + settings.vfio)
}
