//! A network that is not to be trusted.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use softhca::config::GidType;
use softhca::wire::{Frame, Grh, Macs, Route, Wire};

/// Packets go where the device sends them: back to itself. The network may add its own.
#[derive(Clone, Default)]
pub struct Network(Arc<Mutex<VecDeque<Frame>>>);

impl Network {
    /// A packet from LID 1 to LID 1 arrives, with or without a GRH.
    pub fn push(&self, packet: Vec<u8>, global: bool) {
        let kind = GidType::RoceV2;
        let grh =
            Grh { kind, sgid: [1; 16], dgid: [2; 16], traffic_class: 0, flow_label: 0, hop_limit: 1, udp_sport: 0 };
        let route = Route { slid: 1, dlid: 1, sl: 0, grh: global.then_some(grh), macs: Macs::default() };
        let frame = Frame::new(route, packet);
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
