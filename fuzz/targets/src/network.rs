//! A network that is not to be trusted.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use softhca::wire::{Frame, Wire};

/// Packets go where the device sends them: back to itself. The network may add its own.
#[derive(Clone, Default)]
pub struct Network(Arc<Mutex<VecDeque<Frame>>>);

impl Network {
    /// A frame arrives.
    pub fn push(&self, frame: Frame) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(frame);
    }
}

impl Wire for Network {
    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        let mut frames = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if frames.len() >= 64 {
            return Err(frame);
        }
        frames.push_back(frame);
        Ok(())
    }

    fn recv(&mut self) -> Option<Frame> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}
