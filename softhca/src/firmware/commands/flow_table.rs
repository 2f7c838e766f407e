//! Flow tables.

use super::match_param::direction;
use super::work_queue::check_absent;
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::{Field, View, layout};
use crate::firmware::status::Refusal;
use crate::steering::{Direction, Miss};

layout! {
    /// Flow table context.
    struct flow_table_context: 0x28 bytes {
        REFORMAT_EN: 0x0, 1;
        DECAP_EN: 0x1, 1;
        SW_OWNER: 0x2, 1;
        TERMINATION_TABLE: 0x3, 1;
        TABLE_MISS_ACTION: 0x4, 4;
        LEVEL: 0x8, 8;
        LOG_SIZE: 0x18, 8;
        TABLE_MISS_ID: 0x28, 24;
        LAG_MASTER_NEXT_TABLE_ID: 0x48, 24;
    }
    struct create_flow_table_in: command 0x40 bytes {
        OTHER_VPORT: 0x40, 1;
        VPORT_NUMBER: 0x50, 16;
        TABLE_TYPE: 0x80, 8;
    } parts { FLOW_TABLE_CONTEXT: 0xc0, flow_table_context; }
    struct create_flow_table_out: answer { TABLE_ID: 0x48, 24; }
    struct modify_flow_table_in: query 0x40 bytes {
        OTHER_VPORT: 0x40, 1;
        VPORT_NUMBER: 0x50, 16;
        MODIFY_FIELD_SELECT: 0x70, 16;
        TABLE_TYPE: 0x80, 8;
        TABLE_ID: 0xa8, 24;
    } parts { FLOW_TABLE_CONTEXT: 0xc0, flow_table_context; }
    struct destroy_flow_table_in: query 0x40 bytes {
        OTHER_VPORT: 0x40, 1;
        VPORT_NUMBER: 0x50, 16;
        TABLE_TYPE: 0x80, 8;
        TABLE_ID: 0xa8, 24;
    }
    struct query_flow_table_in: query 0x40 bytes {
        OTHER_VPORT: 0x40, 1;
        VPORT_NUMBER: 0x50, 16;
        TABLE_TYPE: 0x80, 8;
        TABLE_ID: 0xa8, 24;
    }
    struct query_flow_table_out: answer 0x40 bytes {} parts { FLOW_TABLE_CONTEXT: 0xc0, flow_table_context; }
    struct set_flow_table_root_in: query 0x40 bytes {
        OTHER_VPORT: 0x40, 1;
        VPORT_NUMBER: 0x50, 16;
        TABLE_TYPE: 0x80, 8;
        TABLE_OF_OTHER_VPORT: 0x8f, 1;
        TABLE_VPORT_NUMBER: 0x90, 16;
        TABLE_ID: 0xa8, 24;
        UNDERLAY_QPN: 0xc8, 24;
        TABLE_ESWITCH_OWNER_VHCA_ID_VALID: 0xe0, 1;
        TABLE_ESWITCH_OWNER_VHCA_ID: 0xf0, 16;
    }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x92f, "SET_FLOW_TABLE_ROOT", set_flow_table_root_in, bare_out, set_root).with_modifiers(),
    command!(0x930, "CREATE_FLOW_TABLE", create_flow_table_in, create_flow_table_out, create),
    command!(0x931, "DESTROY_FLOW_TABLE", destroy_flow_table_in, bare_out, destroy),
    command!(0x932, "QUERY_FLOW_TABLE", query_flow_table_in, query_flow_table_out, query),
    command!(0x93c, "MODIFY_FLOW_TABLE", modify_flow_table_in, bare_out, modify),
];

/// Features that no table has here, as the capabilities say.
const ABSENT: [(Field, &str); 5] = [
    (flow_table_context::REFORMAT_EN, "reformatted packets"),
    (flow_table_context::DECAP_EN, "reformatted packets"),
    (flow_table_context::SW_OWNER, "tables in memory of the driver"),
    (flow_table_context::TERMINATION_TABLE, "termination tables"),
    (flow_table_context::LAG_MASTER_NEXT_TABLE_ID, "link aggregation groups"),
];

/// `table_miss_action` (`MLX5_FLOW_TABLE_MISS_ACTION_*`).
const MISS_DEFAULT: u64 = 0;
const MISS_FORWARD: u64 = 1;
/// `modify_field_select` (`MLX5_MODIFY_FLOW_TABLE_MISS_TABLE_ID`).
const MODIFY_MISS: u64 = 1;
/// `op_mod` of `SET_FLOW_TABLE_ROOT`: a table, or none (Linux
/// `drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c`, `mlx5_cmd_update_root_ft`).
const ROOT_TABLE: u16 = 0;
const ROOT_NONE: u16 = 1;

/// Treatment of frames that no rule matches, as a context describes it.
fn miss(call: &Call<'_>, view: View<'_>) -> Result<Miss, Refusal> {
    let to = view.get32(flow_table_context::TABLE_MISS_ID);
    match view.get(flow_table_context::TABLE_MISS_ACTION) {
        MISS_DEFAULT => {
            // The other table does not count, and must not be said.
            if to != 0 {
                return Err(Refusal::parameter(format!("table_miss_id {to:#x} where misses do not go to a table")));
            }
            Ok(Miss::Default)
        }
        MISS_FORWARD => {
            call.check_use(Object::FlowTable, to)?;
            Ok(Miss::Table(to))
        }
        other => Err(Refusal::parameter(format!("table_miss_action {other}: 0 (default) or 1 (another table)"))),
    }
}

/// Refuses another function's vport.
pub(super) fn check_vport(view: View<'_>) -> Result<(), Refusal> {
    let absent = [
        (create_flow_table_in::OTHER_VPORT, "vports of other functions"),
        (create_flow_table_in::VPORT_NUMBER, "vports of other functions"),
    ];
    check_absent(view, &absent)
}

/// The caller's table that a command names, to change the table or its content.
pub(super) fn named(call: &Call<'_>) -> Result<(Direction, u32), Refusal> {
    let (direction, number) = asked(call)?;
    call.check_owner(Object::FlowTable, number)?;
    Ok((direction, number))
}

/// The table that a command names, which only asks of it. All commands name it in the same place.
pub(super) fn asked(call: &Call<'_>) -> Result<(Direction, u32), Refusal> {
    check_vport(call.input)?;
    let direction = direction(call.input.get(destroy_flow_table_in::TABLE_TYPE))?;
    let number = call.usable(Object::FlowTable, destroy_flow_table_in::TABLE_ID)?;
    Ok((direction, number))
}

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    check_vport(call.input)?;
    let direction = direction(call.input.get(create_flow_table_in::TABLE_TYPE))?;
    let view = call.input.part(create_flow_table_in::FLOW_TABLE_CONTEXT);
    check_absent(view, &ABSENT)?;
    let (level, log_size) = (view.get(flow_table_context::LEVEL) as u8, view.get(flow_table_context::LOG_SIZE) as u8);
    let miss = miss(call, view)?;
    let number = call.device.nic().steering().create_table(direction, level, log_size, miss)?;
    call.created(Object::FlowTable, number);
    call.output.set(create_flow_table_out::TABLE_ID, number.into());
    Ok(())
}

fn modify(call: &mut Call<'_>) -> Result<(), Refusal> {
    let (direction, number) = named(call)?;
    let select = call.input.get(modify_flow_table_in::MODIFY_FIELD_SELECT);
    if select != MODIFY_MISS {
        return Err(Refusal::parameter(format!("modify_field_select {select:#x}: only the miss (1) can be modified")));
    }
    let miss = miss(call, call.input.part(modify_flow_table_in::FLOW_TABLE_CONTEXT))?;
    Ok(call.device.nic().steering().set_miss(direction, number, miss)?)
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    let (direction, number) = named(call)?;
    call.device.nic().steering().destroy_table(direction, number)?;
    call.destroyed(Object::FlowTable, number);
    Ok(())
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let (direction, number) = asked(call)?;
    let table = call.device.nic().steering().table(direction, number)?;
    let mut view = call.output.part(query_flow_table_out::FLOW_TABLE_CONTEXT);
    view.set(flow_table_context::LEVEL, table.level.into());
    view.set(flow_table_context::LOG_SIZE, table.log_size.into());
    if let Miss::Table(to) = table.miss {
        view.set(flow_table_context::TABLE_MISS_ACTION, MISS_FORWARD);
        view.set(flow_table_context::TABLE_MISS_ID, to.into());
    }
    Ok(())
}

fn set_root(call: &mut Call<'_>) -> Result<(), Refusal> {
    // Frames meet the root table first, so only the driver may choose it, not each user.
    call.check_driver()?;
    let absent = [
        (set_flow_table_root_in::TABLE_OF_OTHER_VPORT, "vports of other functions"),
        (set_flow_table_root_in::TABLE_VPORT_NUMBER, "vports of other functions"),
        (set_flow_table_root_in::UNDERLAY_QPN, "enhanced IPoIB"),
        (set_flow_table_root_in::TABLE_ESWITCH_OWNER_VHCA_ID_VALID, "an embedded switch"),
        (set_flow_table_root_in::TABLE_ESWITCH_OWNER_VHCA_ID, "an embedded switch"),
    ];
    check_absent(call.input, &absent)?;
    let (direction, number) = named(call)?;
    let root = match call.op_mod {
        ROOT_TABLE => Some(number),
        ROOT_NONE => None,
        other => return Err(Refusal::parameter(format!("op_mod {other}: 0 (a table) or 1 (none)"))),
    };
    Ok(call.device.nic().steering().set_root(direction, root)?)
}
