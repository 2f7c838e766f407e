//! What tests on a device through libibverbs share: the device, its paths, waiting, and how a request ended.

use std::time::{Duration, Instant};

use blueflame::cq::{CqeCopy, CqeError, WcStatus};
use blueflame::verbs::device::LinkLayer;
use blueflame::verbs::{Device, Path};

pub(crate) fn device() -> Device {
    match Device::open_first() {
        Ok(device) => device,
        Err(error) => panic!("{error}\nthese tests need an mlx5 device: run them by ./run test, or under softhca-run"),
    }
}

/// Every path from port 1: with each GID, and on InfiniBand with none.
pub(crate) fn paths(device: &Device) -> Vec<Path> {
    let port = device.port(1).expect("port 1");
    let gids = device.gids(&port).expect("the GID table");
    let without = (port.link_layer == LinkLayer::InfiniBand).then(|| Path::new(port, None));
    without.into_iter().chain(gids.into_iter().map(|entry| Path::new(port, Some(entry)))).collect()
}

/// Calls `ready` until it says something; a device that hangs fails the test.
pub(crate) fn wait_for<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ready() {
            return answer;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}: waited for a minute");
        std::thread::yield_now();
    }
}

/// The status of a completion. Panics if it is none of a request.
pub(crate) fn status(cqe: &CqeCopy<'_>) -> Result<(), WcStatus> {
    match cqe.check() {
        Ok(_) => Ok(()),
        Err(CqeError::Completion(error) | CqeError::Aborted(error)) => Err(error.status()),
        Err(error) => panic!("{error}"),
    }
}
