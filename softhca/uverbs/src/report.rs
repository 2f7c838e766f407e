//! What strict mode found wrong, told to whoever started the program.

use crate::context::lock;
use crate::device_file;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Mutex;

/// Reports a complaint: on standard error, and as a line in the file that the launcher reads, if there is one.
pub(crate) fn complaint(what: &str) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = lock(&ONE_AT_A_TIME);
    eprintln!("softhca: {what}");
    let Some(path) = device_file::settings().and_then(|settings| settings.report.as_ref()) else { return };
    let line = format!("{what}\n");
    // Appending is atomic with respect to the program's other processes.
    let written =
        OpenOptions::new().append(true).create(true).open(path).and_then(|mut f| f.write_all(line.as_bytes()));
    if let Err(error) = written {
        log::error!("{}: {error}", path.display());
    }
}
