//! Flow tables, and groups of rules.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::check::in_range;
use crate::cmd::{
    CreateFlowGroupIn, CreateFlowTableIn, FlowTableContext, FlowTableType, FteMatchParam, ModifyFlowTableIn,
    QueryFlowGroupIn, QueryFlowGroupOut, QueryFlowTableIn,
};
use crate::context::{Context, Object};
use crate::error::Error;

/// A flow table: rules by which packets are matched. Cheap to clone.
///
/// Only the kernel links tables to the root, where packets come from. A table made here gets its packets from another
/// table's rule ([`Destination::Table`](crate::object::Destination::Table)), from another table's misses
/// ([`set_miss`](Self::set_miss)), or from libmlx5 (`mlx5dv_create_flow`).
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
    /// The object also keeps it.
    miss: Arc<Mutex<Option<FlowTable>>>,
}

/// `table_miss_action` (Linux `include/linux/mlx5/mlx5_ifc.h`, `MLX5_FLOW_TABLE_MISS_ACTION_*`): the default of the
/// table's type, or another table.
const MISS_DEFAULT: u8 = 0;
const MISS_FORWARD: u8 = 1;
/// `modify_field_select` (`MLX5_MODIFY_FLOW_TABLE_MISS_TABLE_ID`).
const MODIFY_MISS: u16 = 1;

impl TableHandle {
    fn kept(&self) -> MutexGuard<'_, Option<FlowTable>> {
        self.miss.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FlowTable {
    /// Makes a table of 2^`log_size` entries. Its rules send packets on only to tables of a higher `level`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Command`].
    pub fn new(context: &Context, kind: FlowTableType, level: u8, log_size: u8) -> Result<Self, Error> {
        in_range("log2 of a table's size", log_size, 0..=24)?;
        let mut inbox = CreateFlowTableIn::new();
        inbox.set_table_type(kind);
        inbox.flow_table_context_mut().set_level(level).set_log_size(log_size);
        let miss = Arc::default();
        let (object, out) = context.make(&inbox, Arc::clone(&miss))?;
        Ok(Self { handle: Arc::new(TableHandle { object, id: out.table_id(), kind, log_size, miss }) })
    }

    /// The number that identifies it in commands, 24 bits.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.handle.id
    }

    /// The traffic that the table sees.
    #[must_use]
    pub fn kind(&self) -> FlowTableType {
        self.handle.kind
    }

    /// The object: for commands.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.handle.object
    }

    /// The destination of packets that match no rule, if [`set_miss`](Self::set_miss) has set one.
    #[must_use]
    pub fn miss(&self) -> Option<Self> {
        self.handle.kept().clone()
    }

    /// Sends packets that match no rule to another table, of a higher level. With `None`, they go to the device's
    /// default destination (MODIFY_FLOW_TABLE). The other table lives as long as packets go there.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`], [`Error::Command`]. Nothing has changed then, unless the answer got lost (a status of
    /// OK): the device may send packets to the new table, and [`miss`](Self::miss) names the earlier one.
    pub fn set_miss(&self, to: Option<&Self>) -> Result<(), Error> {
        let handle = &*self.handle;
        let mut inbox = ModifyFlowTableIn::new();
        inbox.set_table_type(handle.kind).set_table_id(handle.id).set_modify_field_select(MODIFY_MISS);
        let context = inbox.flow_table_context_mut();
        match to {
            Some(to) => context.set_table_miss_action(MISS_FORWARD).set_table_miss_id(to.id()),
            None => context.set_table_miss_action(MISS_DEFAULT),
        };
        // The lock is held over the command, so that the table kept is the one that the last command named.
        let mut kept = handle.kept();
        let to = to.cloned();
        handle.object.change_to(&inbox, &to)?;
        let before = std::mem::replace(&mut *kept, to);
        // Dropping the earlier table may destroy it. That takes a command of its own, so the lock is released first.
        drop(kept);
        drop(before);
        Ok(())
    }

    /// Queries the context (QUERY_FLOW_TABLE).
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<FlowTableContext, Error> {
        let mut inbox = QueryFlowTableIn::new();
        inbox.set_table_type(self.kind()).set_table_id(self.id());
        Ok(self.object().query(&inbox)?.flow_table_context().clone())
    }
}

/// The parts of [`FteMatchParam`] that a mask has (`match_criteria_enable`).
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
    /// The bits of contexts.
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
    object: Object,
    id: u32,
    first: u32,
    last: u32,
    mask: Box<FteMatchParam>,
    table: FlowTable,
}

impl FlowGroup {
    /// Makes a group of the entries `first` to `last` of the table. Its rules match the bits that are ones in `mask`.
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
        let (object, out) = table.object().context().make(&inbox, table.clone())?;
        let mask = Box::new(mask.clone());
        let handle = GroupHandle { object, id: out.group_id(), first, last, mask, table: table.clone() };
        Ok(Self { handle: Arc::new(handle) })
    }

    /// The number that identifies it in commands, 24 bits.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.handle.id
    }

    /// The table that it belongs to.
    #[must_use]
    pub fn table(&self) -> &FlowTable {
        &self.handle.table
    }

    /// The bits that its rules match.
    #[must_use]
    pub fn mask(&self) -> &FteMatchParam {
        &self.handle.mask
    }

    /// The entries of the table that it has, from the first to the last.
    #[must_use]
    pub fn entries(&self) -> std::ops::RangeInclusive<u32> {
        self.handle.first..=self.handle.last
    }

    /// Queries the entries and the mask (QUERY_FLOW_GROUP).
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<QueryFlowGroupOut, Error> {
        let mut inbox = QueryFlowGroupIn::new();
        inbox.set_table_type(self.table().kind()).set_table_id(self.table().id()).set_group_id(self.id());
        self.handle.object.query(&inbox)
    }
}
