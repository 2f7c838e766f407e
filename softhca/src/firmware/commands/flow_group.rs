//! Groups of rules of a flow table: those of a group have the same mask.

use super::flow_table::{asked, named};
use super::match_param::{enabled, fte_match_param, mask};
use super::work_queue::check_absent;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::status::Refusal;
use crate::steering::Group;

layout! {
    struct create_flow_group_in: query 0x400 bytes {
        OTHER_VPORT: 0x40, 1;
        VPORT_NUMBER: 0x50, 16;
        TABLE_TYPE: 0x80, 8;
        GROUP_TYPE: 0x8c, 4;
        TABLE_ID: 0xa8, 24;
        SOURCE_ESWITCH_OWNER_VHCA_ID_VALID: 0xc0, 1;
        START_FLOW_INDEX: 0xe0, 32;
        END_FLOW_INDEX: 0x120, 32;
        MATCH_DEFINER_ID: 0x150, 16;
        MATCH_CRITERIA_ENABLE: 0x1f8, 8;
    } parts { MATCH_CRITERIA: 0x200, fte_match_param; }
    struct create_flow_group_out: answer { GROUP_ID: 0x48, 24; }
    struct destroy_flow_group_in: query 0x40 bytes {
        OTHER_VPORT: 0x40, 1;
        VPORT_NUMBER: 0x50, 16;
        TABLE_TYPE: 0x80, 8;
        TABLE_ID: 0xa8, 24;
        GROUP_ID: 0xc0, 32;
    }
    struct query_flow_group_in: query 0x40 bytes {
        TABLE_TYPE: 0x80, 8;
        TABLE_ID: 0xa8, 24;
        GROUP_ID: 0xc0, 32;
    }
    struct query_flow_group_out: answer 0x400 bytes {
        START_FLOW_INDEX: 0xe0, 32;
        END_FLOW_INDEX: 0x120, 32;
        MATCH_CRITERIA_ENABLE: 0x1f8, 8;
    } parts { MATCH_CRITERIA: 0x200, fte_match_param; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x933, "CREATE_FLOW_GROUP", create_flow_group_in, create_flow_group_out, create),
    command!(0x934, "DESTROY_FLOW_GROUP", destroy_flow_group_in, bare_out, destroy),
    command!(0x935, "QUERY_FLOW_GROUP", query_flow_group_in, query_flow_group_out, query),
];

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let absent = [
        (create_flow_group_in::GROUP_TYPE, "groups of hashes"),
        (create_flow_group_in::SOURCE_ESWITCH_OWNER_VHCA_ID_VALID, "an embedded switch"),
        (create_flow_group_in::MATCH_DEFINER_ID, "match definers"),
    ];
    check_absent(call.input, &absent)?;
    let (direction, table) = named(call)?;
    let criteria = call.input.part(create_flow_group_in::MATCH_CRITERIA);
    let mask = mask(criteria, call.input.get(create_flow_group_in::MATCH_CRITERIA_ENABLE))?;
    let first = call.input.get32(create_flow_group_in::START_FLOW_INDEX);
    let last = call.input.get32(create_flow_group_in::END_FLOW_INDEX);
    let number = call.device.nic().steering().create_group(direction, table, Group::new(first, last, mask))?;
    call.output.set(create_flow_group_out::GROUP_ID, number.into());
    Ok(())
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    let (direction, table) = named(call)?;
    let group = call.input.get32(destroy_flow_group_in::GROUP_ID);
    Ok(call.device.nic().steering().destroy_group(direction, table, group)?)
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let (direction, table) = asked(call)?;
    let group = call.device.nic().steering().table(direction, table)?;
    let group = group.group(call.input.get32(query_flow_group_in::GROUP_ID))?;
    call.output.set(query_flow_group_out::START_FLOW_INDEX, group.first.into());
    call.output.set(query_flow_group_out::END_FLOW_INDEX, group.last.into());
    call.output.set(query_flow_group_out::MATCH_CRITERIA_ENABLE, enabled(&group.mask));
    call.output.put(query_flow_group_out::MATCH_CRITERIA.at, &group.mask.0);
    Ok(())
}
