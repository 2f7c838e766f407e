//! The flows of a device: each is one rule of its tables, or several.

use super::flow_commands::{FlowCommands, FlowDirection};
use super::flow_tables::{FlowHandle, FlowRule, FlowTables};
use super::hca::Hca;
use crate::process::{Errno, lock};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The rules that a flow is, each in its direction.
#[derive(Debug)]
pub(crate) struct Flows {
    rules: Mutex<Vec<(FlowDirection, FlowHandle)>>,
}

impl Hca {
    /// Adds rules, all or none.
    pub(crate) fn add_flows(&self, rules: &[(FlowDirection, FlowRule)]) -> Result<Flows, Errno> {
        let log_most = self.capabilities.frames.log_max_flow_table;
        let mut all = lock(&self.flow_tables);
        let carry_out = |input: &[u8]| self.carry_out(input);
        let mut added = Vec::new();
        for (direction, rule) in rules {
            let commands = FlowCommands { carry_out: &carry_out, direction: *direction };
            let tables = all.entry(*direction).or_insert_with(|| FlowTables::new(log_most));
            match tables.add(&commands, rule) {
                Ok(handle) => added.push((*direction, handle)),
                Err(error) => {
                    for place in &added {
                        if let Err(error) = self.remove_flow(&mut all, place) {
                            log::warn!("a rule stays: {error:?}");
                        }
                    }
                    return Err(error);
                }
            }
        }
        Ok(Flows { rules: Mutex::new(added) })
    }

    /// Removes the rules of a flow.
    pub(crate) fn remove_flows(&self, flows: &Flows) -> Result<(), Errno> {
        let mut all = lock(&self.flow_tables);
        let mut rules = lock(&flows.rules);
        while let Some(place) = rules.last() {
            self.remove_flow(&mut all, place)?;
            rules.pop();
        }
        Ok(())
    }

    fn remove_flow(
        &self,
        all: &mut BTreeMap<FlowDirection, FlowTables>,
        (direction, handle): &(FlowDirection, FlowHandle),
    ) -> Result<(), Errno> {
        let carry_out = |input: &[u8]| self.carry_out(input);
        let commands = FlowCommands { carry_out: &carry_out, direction: *direction };
        all.get_mut(direction).ok_or(Errno::EINVAL)?.remove(&commands, handle)
    }
}
