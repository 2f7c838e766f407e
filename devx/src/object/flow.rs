//! Flow tables, groups of rules, and rules.

use std::sync::Arc;

use super::eth::Tir;
use super::simple::FlowCounter;
use crate::check::in_range;
use crate::cmd::{
    CreateFlowGroupIn, CreateFlowTableIn, DestFormatStruct, DestinationType, FlowCounterList, FlowTableType,
    FteMatchParam, SetFteIn,
};
use crate::context::{Context, Object};
use crate::error::Error;
use crate::mailbox::{Element, List, Structure};

/// A flow table: rules by which packets are matched. Cheap to clone.
///
/// Only the kernel links tables to the root, where packets come from: a table made here sees what another table's rule sends to it
/// ([`Destination::Table`]), or what libmlx5 does (`mlx5dv_create_flow`).
#[derive(Clone, Debug)]
pub struct FlowTable {
    handle: Arc<TableHandle>,
}

#[derive(Debug)]
struct TableHandle {
    object: Object,
    id: u32,
    kind: FlowTableType,
    log_size: u8,
}

impl FlowTable {
    /// Makes a table of 2^`log_size` entries. Rules send on to tables of higher `level`s only.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Command`].
    pub fn new(context: &Context, kind: FlowTableType, level: u8, log_size: u8) -> Result<Self, Error> {
        in_range("log2 of a table's size", log_size, 0..=24)?;
        let mut inbox = CreateFlowTableIn::new();
        inbox.set_table_type(kind);
        inbox.flow_table_context_mut().set_level(level).set_log_size(log_size);
        let (object, out) = context.make(&inbox)?;
        Ok(Self { handle: Arc::new(TableHandle { object, id: out.table_id(), kind, log_size }) })
    }

    /// What commands call it, 24 bits.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.handle.id
    }

    /// The object: for commands.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.handle.object
    }
}

/// Which parts of [`FteMatchParam`] a mask has (`match_criteria_enable`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MatchCriteria {
    /// `outer_headers`.
    pub outer_headers: bool,
    /// `misc_parameters`.
    pub misc_parameters: bool,
    /// `inner_headers`.
    pub inner_headers: bool,
    /// `misc_parameters_2`.
    pub misc_parameters_2: bool,
    /// `misc_parameters_3`.
    pub misc_parameters_3: bool,
}

impl MatchCriteria {
    fn bits(self) -> u8 {
        let all = [
            self.outer_headers,
            self.misc_parameters,
            self.inner_headers,
            self.misc_parameters_2,
            self.misc_parameters_3,
        ];
        all.iter().rev().fold(0, |bits, &on| bits << 1 | u8::from(on))
    }
}

/// A group of rules of a table that match the same fields. Cheap to clone.
#[derive(Clone, Debug)]
pub struct FlowGroup {
    handle: Arc<GroupHandle>,
}

#[derive(Debug)]
struct GroupHandle {
    _object: Object,
    id: u32,
    first: u32,
    last: u32,
    table: FlowTable,
}

impl FlowGroup {
    /// The entries `first` to `last` of the table match what has ones in `mask`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Command`].
    pub fn new(
        table: &FlowTable,
        first: u32,
        last: u32,
        criteria: MatchCriteria,
        mask: &FteMatchParam,
    ) -> Result<Self, Error> {
        in_range("last entry of a group", last, u64::from(first)..=(1 << table.handle.log_size) - 1)?;
        let mut inbox = CreateFlowGroupIn::new();
        inbox
            .set_table_type(table.handle.kind)
            .set_table_id(table.id())
            .set_start_flow_index(first)
            .set_end_flow_index(last)
            .set_match_criteria_enable(criteria.bits());
        *inbox.match_criteria_mut() = mask.clone();
        let (object, out) = table.object().context().make(&inbox)?;
        let handle = GroupHandle { _object: object, id: out.group_id(), first, last, table: table.clone() };
        Ok(Self { handle: Arc::new(handle) })
    }

    /// What commands call it, 24 bits.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.handle.id
    }
}

/// Where a rule sends packets.
#[derive(Clone, Copy, Debug)]
pub enum Destination<'a> {
    /// To receive queues.
    Tir(&'a Arc<Tir>),
    /// To another table.
    Table(&'a FlowTable),
}

/// A rule. Taken out of its table when dropped.
#[derive(Debug)]
pub struct FlowRule {
    _object: Object,
    _group: FlowGroup,
    _to: Vec<Kept>,
    _counter: Option<Arc<FlowCounter>>,
}

/// What a rule sends to, which must outlive it.
#[derive(Debug)]
enum Kept {
    Tir { _tir: Arc<Tir> },
    Table { _table: FlowTable },
}

/// What follows a rule: destinations, then counters, all as long.
enum Entry {
    To(DestFormatStruct),
    Count(FlowCounterList),
}

impl Element for Entry {
    const BYTES: usize = {
        assert!(<DestFormatStruct as Structure>::BYTES == <FlowCounterList as Structure>::BYTES);
        <DestFormatStruct as Structure>::BYTES
    };

    fn read(bytes: &[u8]) -> Self {
        Self::To(DestFormatStruct::copied(bytes))
    }

    fn write(&self, bytes: &mut [u8]) {
        bytes.copy_from_slice(match self {
            Self::To(entry) => entry.as_bytes(),
            Self::Count(entry) => entry.as_bytes(),
        });
    }
}

/// What a rule does with a packet (`flow_context.action`; Linux `MLX5_FLOW_CONTEXT_ACTION_*`).
mod action {
    pub(super) const DROP: u16 = 1 << 1;
    pub(super) const FWD_DEST: u16 = 1 << 2;
    pub(super) const COUNT: u16 = 1 << 3;
}

impl FlowRule {
    /// Puts a rule at entry `index`: what has `value` where the group's mask has ones goes to all of `to`, or, if there are none, is
    /// dropped.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an entry outside of the group, [`Error::Command`].
    pub fn new(
        group: &FlowGroup,
        index: u32,
        value: &FteMatchParam,
        to: &[Destination<'_>],
        counter: Option<&Arc<FlowCounter>>,
    ) -> Result<Self, Error> {
        let handle = &group.handle;
        in_range("entry of a group", index, handle.first.into()..=handle.last.into())?;
        in_range("destinations of a rule", to.len() as u64, 0..=64)?;
        let mut inbox = List::<SetFteIn, Entry>::new(&SetFteIn::new());
        inbox.set_table_type(handle.table.handle.kind).set_table_id(handle.table.id()).set_flow_index(index);
        let rule = inbox.flow_context_mut();
        let does = if to.is_empty() { action::DROP } else { action::FWD_DEST };
        rule.set_group_id(group.id())
            .set_action(does | if counter.is_some() { action::COUNT } else { 0 })
            .set_destination_list_size(to.len() as u32)
            .set_flow_counter_list_size(counter.map_or(0, |_| 1));
        *rule.match_value_mut() = value.clone();
        for destination in to {
            let mut entry = DestFormatStruct::zeroed();
            match destination {
                Destination::Tir(tir) => {
                    entry.set_destination_type(DestinationType::TIR).set_destination_id(tir.tirn().get());
                }
                Destination::Table(table) => {
                    entry.set_destination_type(DestinationType::FLOW_TABLE).set_destination_id(table.id());
                }
            }
            inbox.push(&Entry::To(entry));
        }
        if let Some(counter) = counter {
            let mut entry = FlowCounterList::zeroed();
            entry.set_flow_counter_id(counter.id());
            inbox.push(&Entry::Count(entry));
        }
        let (object, _) = handle.table.object().context().make(&inbox)?;
        let kept = to.iter().map(|destination| match destination {
            Destination::Tir(tir) => Kept::Tir { _tir: Arc::clone(tir) },
            Destination::Table(table) => Kept::Table { _table: (*table).clone() },
        });
        Ok(Self { _object: object, _group: group.clone(), _to: kept.collect(), _counter: counter.cloned() })
    }
}
