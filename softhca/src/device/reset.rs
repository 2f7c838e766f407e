//! Resetting a device: all that a driver has made is gone, as after a reset of its PCI function.

use super::Device;
use crate::gsi::Gsi;
use crate::nic::Nic;

impl Device {
    /// Forgets all objects, page lists, events and packets that wait; a failed device works again. Configuration,
    /// memory, wire, plugged cables and the clock stay. New objects get numbers that no earlier object had, as long as
    /// there are such numbers. So late packets reach no object.
    pub fn reset(&mut self) {
        self.end_loans();
        let Self {
            config,
            resources,
            doorbells,
            uar_memory: _,
            xrcds,
            qps,
            reserved_qpns,
            qp1s,
            dcts,
            busy_dcts,
            groups,
            wire: _,
            gsi,
            ports,
            nic,
            variant: _,
            is_behind: _,
            owes_answers: _,
            lent: _,
            next_look_at_loans: _,
            failed,
        } = self;
        config.ports.clone_from(ports);
        resources.reset(config);
        doorbells.clear();
        xrcds.clear();
        qps.clear();
        reserved_qpns.clear();
        qp1s.clear();
        dcts.clear();
        busy_dcts.clear();
        groups.clear();
        *gsi = Gsi::default();
        *nic = Nic::default();
        *failed = false;
        self.announce();
    }

    /// Has UAR pages be `count` from index `first` on: where a PCI function has room for registers. There are none yet.
    pub(crate) fn place_uars(&mut self, first: u32, count: u32) {
        self.doorbells.place(first, count);
    }
}
