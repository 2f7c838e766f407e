//! The flows of a device: each is one rule of its tables, or several.

use super::flow_commands::{FlowCommands, FlowDirection};
use super::flow_tables::{FlowHandle, FlowRule};
use super::hca::Hca;
use crate::process::{Errno, lock};
use std::sync::Mutex;

/// The rules that a flow is.
#[derive(Debug)]
pub(crate) struct Flows {
    direction: FlowDirection,
    rules: Mutex<Vec<FlowHandle>>,
}

impl Hca {
    /// Adds rules, all or none.
    pub(crate) fn add_flows(&self, direction: FlowDirection, rules: &[FlowRule]) -> Result<Flows, Errno> {
        let mut tables = lock(&self.flow_tables);
        let carry_out = |input: &[u8]| self.carry_out(input);
        let (tables, commands) = (&mut tables[direction as usize], FlowCommands { carry_out: &carry_out, direction });
        let mut added = Vec::new();
        for rule in rules {
            match tables.add(&commands, rule) {
                Ok(handle) => added.push(handle),
                Err(error) => {
                    for handle in &added {
                        if let Err(error) = tables.remove(&commands, handle) {
                            log::warn!("a rule stays: {error:?}");
                        }
                    }
                    return Err(error);
                }
            }
        }
        Ok(Flows { direction, rules: Mutex::new(added) })
    }

    /// Removes the rules of a flow.
    pub(crate) fn remove_flows(&self, flows: &Flows) -> Result<(), Errno> {
        let mut tables = lock(&self.flow_tables);
        let carry_out = |input: &[u8]| self.carry_out(input);
        let commands = FlowCommands { carry_out: &carry_out, direction: flows.direction };
        let mut rules = lock(&flows.rules);
        while let Some(handle) = rules.last() {
            tables[flows.direction as usize].remove(&commands, handle)?;
            rules.pop();
        }
        Ok(())
    }
}
