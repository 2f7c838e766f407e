//! The device files: which paths name one, opening and closing them.

use crate::context::Context;
use crate::errno::Errno;
use crate::fds::{self, File};
use crate::hca::Hca;
use softhca_settings::Settings;
use std::os::fd::RawFd;
use std::sync::{Arc, OnceLock};

/// The launcher's settings; `None` if the process was not started by it.
pub(crate) fn settings() -> Option<&'static Arc<Settings>> {
    static SETTINGS: OnceLock<Option<Arc<Settings>>> = OnceLock::new();
    SETTINGS
        .get_or_init(|| match Settings::from_env(|name| std::env::var(name).ok()) {
            Ok(settings) => settings.map(|settings| {
                // The program may have a logger of its own, but not of our copy of the crate.
                let _ = env_logger::Builder::new().parse_filters(&settings.log).try_init();
                Arc::new(settings)
            }),
            Err(error) => {
                eprintln!("softhca: {error}; there are no devices");
                None
            }
        })
        .as_ref()
}

/// The device that `path` names: `/dev/infiniband/uverbsN` for an N that exists.
pub(crate) fn index(path: &[u8]) -> Option<u32> {
    let number = path.strip_prefix(b"/dev/infiniband/uverbs")?;
    let number: u32 = std::str::from_utf8(number).ok()?.parse().ok()?;
    settings().filter(|settings| number < settings.devices).map(|_| number)
}

/// Makes `fd` an open file of device `index`.
pub(crate) fn open(index: u32, fd: RawFd) -> Result<(), Errno> {
    let settings = settings().ok_or(Errno::ENOENT)?;
    let hca = Hca::get(index, settings)?;
    fds::insert(fd, File::Device(Arc::new(Context::new(hca))))
}

/// The last of an open file.
pub(crate) fn close(context: &Context) {
    context.close();
    context.hca.settle();
}
