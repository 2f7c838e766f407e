//! The launcher's settings, which this process has got by its environment.

use super::log;
use crate::process::forked;
use softhca_settings::{BadScript, Chaos, Settings};
use std::sync::{Arc, OnceLock};

/// The launcher's settings; `None` if the process was not started by it.
pub(crate) fn settings() -> Option<&'static Arc<Settings>> {
    static SETTINGS: OnceLock<Option<Arc<Settings>>> = OnceLock::new();
    let read = || match Settings::from_env(|name| std::env::var_os(name)) {
        Ok(settings) => settings.map(|settings| {
            log::begin(&settings.log);
            Arc::new(settings)
        }),
        Err(error) => {
            log::print(&format!("softhca: {error}; there are no devices\n"));
            None
        }
    };
    forked::once(&SETTINGS, read).as_ref()
}

/// The launcher's script; `None` if there is none.
pub(crate) fn chaos() -> Option<&'static Chaos> {
    static CHAOS: OnceLock<Option<Chaos>> = OnceLock::new();
    let settings = settings();
    let read = || {
        let (path, _) = settings?.script.as_ref()?;
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
        let chaos = text.and_then(|text| text.parse().map_err(|error: BadScript| error.to_string()));
        chaos.inspect_err(|error| ::log::error!("{}: {error}", path.display())).ok()
    };
    forked::once(&CHAOS, read).as_ref()
}
