//! Flow rules: the destinations of packets that match.

use std::sync::{Arc, Mutex, PoisonError};

use super::modify_header::ModifyHeader;
use super::table::{FlowGroup, FlowTable};
use super::tir::Tir;
use crate::check::in_range;
use crate::cmd::{
    DestFormatStruct, DestinationType, FlowContext, FlowCounterList, FteMatchParam, QueryFteIn, QueryFteOut, SetFteIn,
};
use crate::context::{Context, Object, Under};
use crate::error::Error;
use crate::mailbox::{List, Structure};
use crate::object::simple::FlowCounter;

/// Where a rule sends packets.
#[derive(Clone, Copy, Debug)]
pub enum Destination<'a> {
    /// To receive queues.
    Tir(&'a Arc<Tir>),
    /// To another table.
    Table(&'a FlowTable),
}

/// A rule. Dropping it removes it from its table.
#[derive(Debug)]
pub struct FlowRule {
    object: Object,
    place: Place,
    actions: RuleActions,
    value: Box<FteMatchParam>,
    /// The object also keeps them.
    to: Arc<Mutex<Vec<Kept>>>,
    counter: Option<Arc<FlowCounter>>,
}

/// Where a rule is.
#[derive(Clone, Debug)]
struct Place {
    group: FlowGroup,
    index: u32,
}

/// A rule's actions besides the destinations.
#[derive(Clone, Debug, Default)]
struct RuleActions {
    tag: u32,
    modification: Option<Arc<ModifyHeader>>,
}

/// A rule, as the device reports it.
#[derive(Clone, Debug)]
pub struct FlowRuleContext {
    /// Action, group, and match value.
    pub context: FlowContext,
    /// Where packets go.
    pub to: Vec<DestFormatStruct>,
    /// The counters that count them.
    pub counters: Vec<u32>,
}

/// A destination of a rule, which must outlive the rule.
#[derive(Debug)]
enum Kept {
    Tir(Arc<Tir>),
    Table(FlowTable),
}

impl Under for Kept {
    fn check(&self, context: &Context) -> Result<(), Error> {
        match self {
            Self::Tir(tir) => tir.check(context),
            Self::Table(table) => table.check(context),
        }
    }
}

/// The actions of a rule on a packet (`flow_context.action`; Linux `MLX5_FLOW_CONTEXT_ACTION_*`).
mod action {
    pub(super) const DROP: u16 = 1 << 1;
    pub(super) const FWD_DEST: u16 = 1 << 2;
    pub(super) const COUNT: u16 = 1 << 3;
    pub(super) const MOD_HDR: u16 = 1 << 6;
}

/// `op_mod` of SET_FLOW_TABLE_ENTRY that changes the existing rule.
const CHANGE: u16 = 1;
/// Which parts to change (`modify_enable_mask`; Linux `include/linux/mlx5/mlx5_ifc.h`,
/// `MLX5_SET_FTE_MODIFY_ENABLE_MASK_*`).
const CHANGE_ACTION: u8 = 1 << 0;
const CHANGE_DESTINATIONS: u8 = 1 << 2;

/// The command that sets the rule in a place.
fn entry(
    place: &Place,
    (actions, value): (&RuleActions, &FteMatchParam),
    to: &[Destination<'_>],
    counter: Option<&Arc<FlowCounter>>,
) -> Result<List<SetFteIn, DestFormatStruct>, Error> {
    in_range("destinations of a rule", to.len() as u64, 0..=64)?;
    let (group, table) = (&place.group, place.group.table());
    let mut inbox = List::<SetFteIn, DestFormatStruct>::new(&SetFteIn::new());
    inbox.set_table_type(table.kind()).set_table_id(table.id()).set_flow_index(place.index);
    let rule = inbox.flow_context_mut();
    let mut bits = if to.is_empty() { action::DROP } else { action::FWD_DEST };
    bits |= if counter.is_some() { action::COUNT } else { 0 };
    if let Some(modification) = &actions.modification {
        bits |= action::MOD_HDR;
        rule.set_modify_header_id(modification.id());
    }
    rule.set_group_id(group.id())
        .set_flow_tag(actions.tag)
        .set_action(bits)
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
        inbox.push(&entry);
    }
    if let Some(counter) = counter {
        let mut entry = FlowCounterList::zeroed();
        entry.set_flow_counter_id(counter.id());
        // The counter follows the destinations, in an entry of the same length.
        const { assert!(FlowCounterList::BYTES == DestFormatStruct::BYTES) };
        inbox.push(&DestFormatStruct::copied(entry.as_bytes()));
    }
    Ok(inbox)
}

fn kept(to: &[Destination<'_>]) -> Vec<Kept> {
    let kept = to.iter().map(|destination| match destination {
        Destination::Tir(tir) => Kept::Tir(Arc::clone(tir)),
        Destination::Table(table) => Kept::Table((*table).clone()),
    });
    kept.collect()
}

impl FlowRule {
    /// Puts a rule at entry `index`. It matches packets that have the bits of `value` where the group's mask has ones.
    /// They go to all of `to`; if `to` is empty, they are dropped.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an entry outside of the group, [`Error::ForeignDevice`], [`Error::Command`].
    pub fn new(
        group: &FlowGroup,
        index: u32,
        value: &FteMatchParam,
        to: &[Destination<'_>],
        counter: Option<&Arc<FlowCounter>>,
    ) -> Result<Self, Error> {
        Self::tagged(group, index, 0, value, to, counter)
    }

    /// The same. Completions of matching packets carry this tag of 24 bits
    /// ([`flow_tag`](blueflame::cq::CqeView::flow_tag)); those of rules without a tag carry 0.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`Error::OutOfRange`] for a tag.
    pub fn tagged(
        group: &FlowGroup,
        index: u32,
        tag: u32,
        value: &FteMatchParam,
        to: &[Destination<'_>],
        counter: Option<&Arc<FlowCounter>>,
    ) -> Result<Self, Error> {
        in_range("flow tag", tag, 0..=0xff_ffff)?;
        Self::make(group, index, RuleActions { tag, modification: None }, value, to, counter)
    }

    /// Puts a rule without a tag at entry `index` that modifies packets before they go to `to`. Rules of later tables
    /// match the outcome. The list of actions and the group's table have the same kind.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn modifying(
        group: &FlowGroup,
        index: u32,
        modification: &Arc<ModifyHeader>,
        value: &FteMatchParam,
        to: &[Destination<'_>],
        counter: Option<&Arc<FlowCounter>>,
    ) -> Result<Self, Error> {
        let actions = RuleActions { tag: 0, modification: Some(Arc::clone(modification)) };
        Self::make(group, index, actions, value, to, counter)
    }

    fn make(
        group: &FlowGroup,
        index: u32,
        actions: RuleActions,
        value: &FteMatchParam,
        to: &[Destination<'_>],
        counter: Option<&Arc<FlowCounter>>,
    ) -> Result<Self, Error> {
        let (first, last) = group.entries().into_inner();
        in_range("entry of a group", index, first.into()..=last.into())?;
        let place = Place { group: group.clone(), index };
        let inbox = entry(&place, (&actions, value), to, counter)?;
        let (to, counter) = (Arc::new(Mutex::new(kept(to))), counter.cloned());
        let under = (group.clone(), Arc::clone(&to), (counter.clone(), actions.modification.clone()));
        let (object, _) = group.table().object().context().make(&inbox, under)?;
        Ok(Self { object, place, actions, value: Box::new(value.clone()), to, counter })
    }

    /// Sends matching packets to all of `to` from now on, or drops them if `to` is empty (SET_FLOW_TABLE_ENTRY,
    /// changing). Meanwhile no packet meets the table without the rule.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::ForeignDevice`], [`Error::Command`]. The rule is unchanged then,
    /// unless the answer got lost (a status of OK): the device may send packets to the new destinations, and the rule
    /// keeps the earlier ones.
    pub fn set_destinations(&mut self, to: &[Destination<'_>]) -> Result<(), Error> {
        let mut inbox = entry(&self.place, (&self.actions, &self.value), to, self.counter.as_ref())?;
        inbox.set_op_mod(CHANGE).set_modify_enable_mask(CHANGE_ACTION | CHANGE_DESTINATIONS);
        let to = kept(to);
        self.object.change_to(&inbox, &to)?;
        *self.to.lock().unwrap_or_else(PoisonError::into_inner) = to;
        Ok(())
    }

    /// Queries it (QUERY_FLOW_TABLE_ENTRY).
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<FlowRuleContext, Error> {
        let table = self.place.group.table();
        let mut inbox = QueryFteIn::new();
        inbox.set_table_type(table.kind()).set_table_id(table.id()).set_flow_index(self.place.index);
        let listed = self.to.lock().unwrap_or_else(PoisonError::into_inner).len() + usize::from(self.counter.is_some());
        let outbox = self.object.query_into(&inbox, List::<QueryFteOut, DestFormatStruct>::zeroed(listed))?;
        let context = outbox.flow_context();
        let (to, counters) = (context.destination_list_size() as usize, context.flow_counter_list_size() as usize);
        Ok(FlowRuleContext {
            context: context.clone(),
            to: outbox.iter().take(to).collect(),
            counters: (outbox.iter().skip(to).take(counters))
                .map(|entry| FlowCounterList::copied(entry.as_bytes()).flow_counter_id())
                .collect(),
        })
    }
}
