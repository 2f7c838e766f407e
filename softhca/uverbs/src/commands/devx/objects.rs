//! Objects that commands make: `MLX5_IB_OBJECT_DEVX_OBJ`.

use super::calls;
use super::kinds::{self, Kind, Use};
use super::mailboxes::{self, Mailboxes};
use crate::abi::mailbox::{UID, creator, fields};
use crate::commands::request::Request;
use crate::context::{CommandId, Context, Object, Rank, mapping};
use crate::device::Hca;
use crate::device::limits::{COMP_VECTORS, FIRST_EQN};
use crate::process::Errno;
use softhca::firmware::Uid;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fields! {
    // The kind of a key's translation, and whether the translation is in user memory.
    ACCESS_MODE_4_2: 0x83, 3 = "create_mkey_in.memory_key_mkey_entry.access_mode_4_2";
    ACCESS_MODE_1_0: 0x96, 2 = "create_mkey_in.memory_key_mkey_entry.access_mode_1_0";
    MKEY_IN_UMEM: 0x61, 1 = "create_mkey_in.mkey_umem_valid";
    // Hints of a key to the host's caches.
    TPH: 0x265, 1 = "create_mkey_in.memory_key_mkey_entry.pcie_tph_en";
    STEERING_TAG: 0x268, 8 = "create_mkey_in.memory_key_mkey_entry.pcie_tph_steering_tag_index";
    // The event queue; the CQ is another's than the program's.
    EQN: 0x120, 32 = "create_cq_in.cq_context.c_eqn_or_apu_element";
    APU_CQ: 0x87, 1 = "create_cq_in.cq_context.apu_cq";
    // How many counters, as log2, or in 128s.
    BULK_LOG: 0x73, 5 = "alloc_flow_counter_in.flow_counter_bulk_log_size";
    BULK: 0x78, 8 = "alloc_flow_counter_in.flow_counter_bulk";
}
/// Bytes up to the end of the key's context.
const MKEY_BYTES: usize = 0x50;
/// Translation by other keys (`MLX5_MKC_ACCESS_MODE_KLMS`, `_KSM`), which the mailbox itself holds.
const INDIRECT: [u64; 2] = [2, 3];

const DRAIN_DCT: u16 = 0x712;

static LAST_SUBSCRIBER: AtomicU64 = AtomicU64::new(0);

/// An object that a command has made.
pub(crate) struct DevxObject {
    /// Its identity in commands.
    pub(super) id: CommandId,
    /// How subscriptions to its events know it.
    pub(super) subscriber: u64,
    /// Flow counters that it is, after the first.
    more: u32,
    /// The mailbox that destroys it.
    destruction: Vec<u8>,
}

impl Object for DevxObject {
    fn rank(&self) -> Rank {
        Rank::Devx
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        if self.id.creator == creator::DCT {
            // Nothing may arrive while it goes.
            hca.carry_out_on(Uid(UID.get(&self.destruction) as u16), DRAIN_DCT, self.id.number)?;
            hca.drain_dct(self.id.number);
        }
        hca.carry_out(&self.destruction)?;
        hca.unsubscribe(self.subscriber);
        Ok(())
    }

    fn is_named(&self, id: CommandId) -> bool {
        let CommandId { creator, kind, number } = self.id;
        (creator, kind) == (id.creator, id.kind) && (number..=number.saturating_add(self.more)).contains(&id.number)
    }
}

/// Checks and completes a mailbox that makes an object, as the kernel does.
fn prepare(hca: &Hca, kind: &Kind, input: &mut [u8]) -> Result<(), Errno> {
    match kind.create {
        creator::MKEY => {
            if input.len() < MKEY_BYTES {
                return Err(Errno::EINVAL);
            }
            let mode = ACCESS_MODE_4_2.get(input) << 2 | ACCESS_MODE_1_0.get(input);
            if !INDIRECT.contains(&mode) {
                MKEY_IN_UMEM.set(input, 1);
                // Memory gets hints by verbs alone (mlx5_ib `devx.c`, `devx_handle_mkey_create`).
                TPH.set(input, 0);
                STEERING_TAG.set(input, 0);
            }
        }
        creator::CQ => {
            kind.set_in_umem(input);
            let apu = hca.capabilities.apu && APU_CQ.get(input) != 0;
            if !apu && !(FIRST_EQN..FIRST_EQN + COMP_VECTORS).contains(&EQN.get32(input)) {
                return Err(Errno::ENOENT);
            }
        }
        _ => kind.set_in_umem(input),
    }
    Ok(())
}

/// `DEVX_OBJ_CREATE`: 0x1000 handle, 0x1001 input, 0x1002 output.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let mut mailboxes = Mailboxes::copy_in(context, request, (0x1001, 0x1002))?;
    mailboxes.check_function()?;
    let kind = kinds::created_by(&mailboxes.input).ok_or(Errno::EINVAL)?;
    prepare(&context.hca, kind, &mut mailboxes.input)?;
    if kind.has_queue() {
        mapping::watch_unseen(context);
    }
    mailboxes.try_execute(context, request)?;
    let Mailboxes { input, output, .. } = &mailboxes;
    let number = kind.number(input, output);
    let counters = match (kind.create, BULK_LOG.get32(input)) {
        (creator::FLOW_COUNTER, 0) => BULK.get32(input) * 128,
        (creator::FLOW_COUNTER, log) => 1_u32 << log,
        _ => 0,
    };
    let handle = context.insert(Arc::new(DevxObject {
        id: kind.id(input, number),
        subscriber: LAST_SUBSCRIBER.fetch_add(1, Ordering::Relaxed) + 1,
        more: counters.saturating_sub(1),
        destruction: kind.destruction(input, number),
    }));
    mailboxes.copy_out(request).and_then(|()| request.put_handle(0x1000, handle)).inspect_err(|_| {
        // The program does not know of it.
        if let Err(error) = context.destroy::<DevxObject>(handle) {
            log::warn!("an object stays that the program was not told of: {error:?}");
        }
    })
}

/// The object of any kind that `handle` names, which is the one that the command in `input` means.
pub(super) fn meant(context: &Context, handle: u32, input: &[u8], wanted: Use) -> Result<Arc<dyn Object>, Errno> {
    let id = kinds::named_by(input, wanted).ok_or(Errno::EINVAL)?;
    let object = context.get_any(handle)?;
    if object.is_named(id) { Ok(object) } else { Err(Errno::EINVAL) }
}

/// `DEVX_OBJ_DESTROY`: 0x1000 handle.
pub(crate) fn destroy(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    calls::destroy(context, request, calls::DESTROY, |handle| context.destroy::<DevxObject>(handle).map(drop))
}

/// `DEVX_OBJ_MODIFY`: 0x1000 handle, 0x1001 input, 0x1002 output.
pub(crate) fn modify(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    use_object(context, request, calls::MODIFY)
}

/// Changes or queries an object, in the process that has it.
fn use_object(context: &Context, request: &Request, method: (u16, u16)) -> Result<(), Errno> {
    let handle = request.handle(0x1000)?;
    if context.is_makers(handle) {
        return calls::execute(context, request, handle, method);
    }
    let mut mailboxes = Mailboxes::copy_in(context, request, (0x1001, 0x1002))?;
    let result = execute(context, handle, &mut mailboxes, method == calls::MODIFY);
    if mailboxes::has_output(&result) {
        mailboxes.copy_out(request)?;
    }
    result
}

/// Has the device change object `handle`, or query it.
pub(super) fn execute(context: &Context, handle: u32, mailboxes: &mut Mailboxes, changes: bool) -> Result<(), Errno> {
    mailboxes.check_function()?;
    let _object = meant(context, handle, &mailboxes.input, if changes { Use::Modify } else { Use::Query })?;
    if changes {
        kinds::set_in_umem_of_change(&mut mailboxes.input);
    }
    mailboxes.carry_out(context)
}

/// The interface of frames that a handle means, and its number (`mlx5_ib_devx_is_flow_dest`). A table of rules would be
/// a destination as well, which this device does not have.
pub(crate) fn interface(context: &Context, handle: u32) -> Result<(Arc<dyn Object>, u32), Errno> {
    let object: Arc<DevxObject> = context.get(handle)?;
    match object.id.creator {
        creator::TIR => {
            let number = object.id.number;
            Ok((object, number))
        }
        creator::FLOW_TABLE => Err(Errno::EOPNOTSUPP),
        _ => Err(Errno::EINVAL),
    }
}

/// The flow counter that a handle means, `offset` after its first (`mlx5_ib_devx_is_flow_counter`).
pub(crate) fn flow_counter(context: &Context, handle: u32, offset: u32) -> Result<(Arc<dyn Object>, u32), Errno> {
    let object: Arc<DevxObject> = context.get(handle)?;
    if object.id.creator != creator::FLOW_COUNTER || offset > object.more {
        return Err(Errno::EINVAL);
    }
    let number = object.id.number + offset;
    Ok((object, number))
}

/// `DEVX_OBJ_QUERY`: 0x1000 handle, 0x1001 input, 0x1002 output.
pub(crate) fn query(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    use_object(context, request, calls::QUERY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::mailbox::linux::known;

    #[test]
    fn what_the_kernel_looks_at_is_where_linux_has_it() {
        let entry = known("create_mkey_in.memory_key_mkey_entry");
        assert_eq!(MKEY_BYTES * 8, entry.at + entry.width);
    }
}
