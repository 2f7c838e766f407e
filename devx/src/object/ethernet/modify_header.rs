//! Lists of actions on headers and registers, for rules to name.

use crate::caps::CapMode;
use crate::check::in_range;
use crate::cmd::{
    AllocModifyHeaderContextIn, CopyActionIn, FlowTableNicCap, FlowTablePropLayout, FlowTableType, HeaderField,
    SetActionIn,
};
use crate::context::{Context, Object};
use crate::error::Error;
use crate::mailbox::{List, Structure};
use crate::support::ask;

/// The kinds of actions (`action_type`; Linux `include/linux/mlx5/mlx5_ifc.h`, `MLX5_ACTION_TYPE_*`).
const SET: u8 = 1;
const ADD: u8 = 2;
const COPY: u8 = 3;
/// Bits of the longest field.
const MOST_BITS: u8 = 32;
/// Most bits of a field's number.
const NUMBER_BITS: u8 = 12;

/// An action of a rule on a field of a packet. A packet without the header stays as it is. The device corrects the
/// checksums of IPv4, TCP and UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeaderAction {
    /// Puts the lowest `bits` bits of `value` into the field, from its bit `offset` on.
    Set {
        /// The field.
        field: HeaderField,
        /// The lowest bit that changes.
        offset: u8,
        /// How many bits change, 1 to 32.
        bits: u8,
        /// Their value.
        value: u32,
    },
    /// Adds to the field, without a carry out of it: all ones are -1.
    Add {
        /// The field.
        field: HeaderField,
        /// The summand.
        value: u32,
    },
    /// Copies bits of a field to another.
    Copy {
        /// From this field, and its lowest bit that is copied.
        from: (HeaderField, u8),
        /// To this field, and its lowest bit that changes.
        to: (HeaderField, u8),
        /// How many bits, 1 to 32.
        bits: u8,
    },
}

impl HeaderAction {
    /// Sets a whole field.
    #[must_use]
    pub const fn set(field: HeaderField, value: u32) -> Self {
        Self::Set { field, offset: 0, bits: width(field), value }
    }

    /// The action as commands have it.
    fn encode(self) -> Result<SetActionIn, Error> {
        let checked = |offset: u8, bits: u8| {
            in_range("bits of a header action", bits, 1..=MOST_BITS.into())?;
            in_range("first bit of a header action", offset, 0..=u64::from(MOST_BITS - bits))?;
            // 0 means 32.
            Ok::<_, Error>(bits % MOST_BITS)
        };
        let known = |field: HeaderField| in_range("number of a header's field", field.0, 0..=(1 << NUMBER_BITS) - 1);
        let mut action = SetActionIn::zeroed();
        match self {
            Self::Set { field, offset, bits, value } => {
                known(field)?;
                let length = checked(offset, bits)?;
                action.set_action_type(SET).set_field(field).set_offset(offset).set_length(length).set_data(value);
            }
            Self::Add { field, value } => {
                known(field)?;
                action.set_action_type(ADD).set_field(field).set_data(value);
            }
            Self::Copy { from, to, bits } => {
                known(from.0).and_then(|()| known(to.0))?;
                let length = checked(from.1, bits).and_then(|_| checked(to.1, bits))?;
                let mut copy = CopyActionIn::zeroed();
                copy.set_action_type(COPY).set_src_field(from.0).set_src_offset(from.1).set_length(length);
                copy.set_dst_field(to.0).set_dst_offset(to.1);
                const { assert!(CopyActionIn::BYTES == SetActionIn::BYTES) };
                action = SetActionIn::copied(copy.as_bytes());
            }
        }
        Ok(action)
    }
}

/// The bits of a field (rdma-core `providers/mlx5/dr_ste_v0.c`, `dr_ste_v0_action_modify_field_arr`; of the VLAN, DPDK
/// `drivers/net/mlx5/mlx5_flow_dv.c`, `modify_vlan_out_first_vid`). The device refuses a field that it does not know.
const fn width(field: HeaderField) -> u8 {
    match field {
        HeaderField::IP_ECN => 2,
        HeaderField::IP_DSCP => 6,
        HeaderField::IPV4_TTL | HeaderField::IPV6_HOPLIMIT => 8,
        HeaderField::TCP_FLAGS => 9,
        HeaderField::FIRST_VID => 12,
        HeaderField::SMAC_15_0
        | HeaderField::DMAC_15_0
        | HeaderField::ETHERTYPE
        | HeaderField::TCP_SPORT
        | HeaderField::TCP_DPORT
        | HeaderField::UDP_SPORT
        | HeaderField::UDP_DPORT => 16,
        _ => MOST_BITS,
    }
}

/// A list of actions on headers and registers. Rules of tables of its kind carry them out
/// ([`FlowRule::modifying`](crate::object::FlowRule::modifying)).
///
/// ```no_run
/// use std::sync::Arc;
///
/// use blueflame_devx::cmd::{FlowTableType, HeaderField};
/// use blueflame_devx::object::{Destination, FlowGroup, FlowRule, HeaderAction, ModifyHeader, Tir};
/// use blueflame_devx::{Context, Error};
///
/// # fn f(context: &Context, group: &FlowGroup, tir: &Arc<Tir>) -> Result<(), Error> {
/// let metadata = HeaderAction::set(HeaderField::METADATA_REG_B, 7);
/// let modification = Arc::new(ModifyHeader::new(context, FlowTableType::NIC_RX, &[metadata])?);
/// let rule = FlowRule::modifying(group, 0, &modification, group.mask(), &[Destination::Tir(tir)], None)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ModifyHeader {
    object: Object,
    id: u32,
}

impl ModifyHeader {
    /// Makes a list of actions on packets of one kind of tables (ALLOC_MODIFY_HEADER_CONTEXT).
    ///
    /// # Errors
    /// [`Error::Capability`] if the device modifies no headers in such tables, [`Error::OutOfRange`],
    /// [`Error::Command`].
    pub fn new(context: &Context, kind: FlowTableType, actions: &[HeaderAction]) -> Result<Self, Error> {
        let caps = context.capabilities::<FlowTableNicCap>(CapMode::Current)?;
        let most = |tables: &FlowTablePropLayout| tables.max_modify_header_actions();
        let most = match kind {
            FlowTableType::NIC_RX => most(caps.flow_table_properties_nic_receive()),
            FlowTableType::NIC_TX => most(caps.flow_table_properties_nic_transmit()),
            _ => 0,
        };
        ask::at_least("flow_table_prop_layout.max_modify_header_actions", most, 1_u8)?;
        in_range("actions on headers", actions.len() as u64, 1..=most.into())?;
        let mut inbox = List::<AllocModifyHeaderContextIn, SetActionIn>::new(&AllocModifyHeaderContextIn::new());
        inbox.set_table_type(kind).set_num_of_actions(actions.len() as u8);
        for action in actions {
            inbox.push(&action.encode()?);
        }
        let (object, out) = context.make(&inbox, ())?;
        Ok(Self { object, id: out.modify_header_id() })
    }

    /// The device it was made on.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.object.context()
    }

    /// The number that identifies it in rules.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }
}
