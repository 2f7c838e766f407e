//! One `RDMA_VERBS_IOCTL`: its attributes, checked and copied as the kernel does, and the tables of what is answered.

use crate::abi::{self, ATTR_MANDATORY, ATTR_VALID_OUTPUT, AttrWire, IoctlHdr, command, object, write};
use crate::context::Context;
use crate::errno::Errno;
use crate::{advise, ah, cq, device, events, memory, mr, port, qp, qp_state, srq, tally, uar, user};
use std::sync::Arc;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// Most attributes a request may have; the kernel bounds the whole request by a page.
const MAX_ATTRS: usize = (4096 - size_of::<IoctlHdr>()) / size_of::<AttrWire>();

/// A request, with its attribute headers copied in.
pub(crate) struct Request {
    address: u64,
    attrs: Vec<AttrWire>,
}

impl Request {
    /// Copies in the request at `address`.
    fn parse(address: u64) -> Result<(IoctlHdr, Self), Errno> {
        let mut header = IoctlHdr::new_zeroed();
        user::read(address, header.as_mut_bytes())?;
        let count = usize::from(header.num_attrs);
        if count > MAX_ATTRS || usize::from(header.length) != size_of::<IoctlHdr>() + count * size_of::<AttrWire>() {
            return Err(Errno::EINVAL);
        }
        if header.reserved1 != 0 || header.reserved2 != 0 {
            return Err(Errno::EPROTONOSUPPORT);
        }
        if header.driver_id != abi::DRIVER_MLX5 {
            return Err(Errno::EINVAL);
        }
        let mut attrs = vec![AttrWire::new_zeroed(); count];
        user::read(address + size_of::<IoctlHdr>() as u64, attrs.as_mut_bytes())?;
        Ok((header, Self { address, attrs }))
    }

    fn find(&self, id: u16) -> Option<(usize, &AttrWire)> {
        self.attrs.iter().enumerate().find(|(_, attr)| attr.attr_id == id)
    }

    /// The value of input attribute `id`, which must be there. A value shorter than `T` is filled up with zeros.
    pub(crate) fn input<T: FromBytes + IntoBytes>(&self, id: u16) -> Result<T, Errno> {
        self.optional(id)?.ok_or(Errno::EINVAL)
    }

    /// The value of input attribute `id`, if it is there.
    pub(crate) fn optional<T: FromBytes + IntoBytes>(&self, id: u16) -> Result<Option<T>, Errno> {
        let Some((index, attr)) = self.find(id) else { return Ok(None) };
        let len = usize::from(attr.len);
        // Values of up to 8 bytes are stored in the attribute itself.
        let address = if len <= 8 { self.data_address(index) } else { attr.data };
        user::read_prefix(address, len).map(Some)
    }

    /// The elements of input attribute `id`, which must be there.
    pub(crate) fn array<T: FromBytes + FromZeros + IntoBytes + Clone>(&self, id: u16) -> Result<Vec<T>, Errno> {
        let (index, attr) = self.find(id).ok_or(Errno::EINVAL)?;
        let len = usize::from(attr.len);
        if !len.is_multiple_of(size_of::<T>()) {
            return Err(Errno::EINVAL);
        }
        let address = if len <= 8 { self.data_address(index) } else { attr.data };
        let mut elements = vec![T::new_zeroed(); len / size_of::<T>()];
        user::read(address, elements.as_mut_bytes())?;
        Ok(elements)
    }

    /// Bytes of attribute `id`; 0 if it is not there.
    pub(crate) fn len(&self, id: u16) -> usize {
        self.find(id).map_or(0, |(_, attr)| usize::from(attr.len))
    }

    /// The handle of an object, or a file descriptor, in attribute `id`, which must be there.
    pub(crate) fn handle(&self, id: u16) -> Result<u32, Errno> {
        self.optional_handle(id).ok_or(Errno::EINVAL)
    }

    /// The handle in attribute `id`, if it is there.
    pub(crate) fn optional_handle(&self, id: u16) -> Option<u32> {
        // Handles are 32 bits wide; a wider one names nothing.
        self.find(id).map(|(_, attr)| u32::try_from(attr.data).unwrap_or(u32::MAX))
    }

    /// Writes `value` to output attribute `id`: as much as the program has room for, zeros after the end.
    pub(crate) fn put<T: IntoBytes + Immutable>(&self, id: u16, value: &T) -> Result<(), Errno> {
        self.put_bytes(id, value.as_bytes())
    }

    /// Writes `bytes` to output attribute `id`, likewise.
    pub(crate) fn put_bytes(&self, id: u16, bytes: &[u8]) -> Result<(), Errno> {
        let (index, attr) = self.find(id).ok_or(Errno::EINVAL)?;
        let room = usize::from(attr.len);
        let mut out = vec![0; room];
        let len = room.min(bytes.len());
        out[..len].copy_from_slice(&bytes[..len]);
        user::write(attr.data, &out)?;
        let flags = attr.flags | ATTR_VALID_OUTPUT;
        user::write(self.attr_address(index) + std::mem::offset_of!(AttrWire, flags) as u64, flags.as_bytes())
    }

    /// Writes `value` if the program asked for output attribute `id`.
    pub(crate) fn put_optional<T: IntoBytes + Immutable>(&self, id: u16, value: &T) -> Result<(), Errno> {
        if self.find(id).is_some() { self.put(id, value) } else { Ok(()) }
    }

    /// Stores a new object's handle, or a file descriptor, in attribute `id`.
    pub(crate) fn put_handle(&self, id: u16, handle: u32) -> Result<(), Errno> {
        let (index, _) = self.find(id).ok_or(Errno::EINVAL)?;
        user::write(self.data_address(index), u64::from(handle).as_bytes())
    }

    fn attr_address(&self, index: usize) -> u64 {
        self.address + (size_of::<IoctlHdr>() + index * size_of::<AttrWire>()) as u64
    }

    fn data_address(&self, index: usize) -> u64 {
        self.attr_address(index) + std::mem::offset_of!(AttrWire, data) as u64
    }

    /// The command's structure, of which `INVOKE_WRITE` wants at least the whole.
    pub(crate) fn core_in<T: FromBytes + IntoBytes>(&self) -> Result<T, Errno> {
        if self.len(write::CORE_IN) < size_of::<T>() { Err(Errno::ENOSPC) } else { self.input(write::CORE_IN) }
    }

    /// The command's response.
    pub(crate) fn core_out<T: IntoBytes + Immutable>(&self, response: &T) -> Result<(), Errno> {
        self.put(write::CORE_OUT, response)
    }
}

/// What answers a request.
type Handler = fn(&Arc<Context>, &Request) -> Result<(), Errno>;

/// A method of an object.
struct Method {
    object: u16,
    method: u16,
    name: &'static str,
    /// Ids of the attributes it knows besides the driver's two; other mandatory ones are refused.
    attrs: std::ops::Range<u16>,
    run: Handler,
}

const METHODS: &[Method] = {
    const fn method(object: u16, method: u16, name: &'static str, attrs: u16, run: Handler) -> Method {
        // The mlx5 driver's own methods number their attributes from 0x1000.
        let first = if method >= 0x1000 { 0x1000 } else { 0 };
        Method { object, method, name, attrs: first..first + attrs, run }
    }
    &[
        method(object::DEVICE, 0, "INVOKE_WRITE", 3, invoke_write),
        method(object::DEVICE, 2, "QUERY_PORT", 2, port::query_port),
        method(object::DEVICE, 3, "GET_CONTEXT", 2, device::get_context),
        method(object::DEVICE, 4, "QUERY_CONTEXT", 2, device::query_context),
        method(object::DEVICE, 5, "QUERY_GID_TABLE", 4, port::query_gid_table),
        method(object::DEVICE, 6, "QUERY_GID_ENTRY", 4, port::query_gid_entry),
        method(object::PD, 0, "PD_DESTROY", 1, memory::destroy_pd),
        method(object::PD, 0x1000, "PD_QUERY", 2, memory::query_pd),
        method(object::CQ, 0, "CQ_CREATE", 8, cq::create),
        method(object::CQ, 1, "CQ_DESTROY", 2, cq::destroy),
        method(object::QP, 0, "QP_CREATE", 15, qp::create),
        method(object::QP, 1, "QP_DESTROY", 2, qp::destroy),
        method(object::SRQ, 0, "SRQ_CREATE", 14, srq::create),
        method(object::SRQ, 1, "SRQ_DESTROY", 2, srq::destroy),
        method(object::AH, 0, "AH_DESTROY", 1, ah::destroy),
        method(object::MR, 1, "MR_DESTROY", 1, mr::destroy),
        method(object::MR, 2, "ADVISE_MR", 4, advise::advise),
        method(object::MR, 3, "QUERY_MR", 5, mr::query),
        method(object::MR, 4, "REG_DMABUF_MR", 9, mr::reg_dmabuf),
        method(object::MR, 5, "REG_MR", 11, mr::reg),
        method(object::ASYNC_EVENT, 0, "ASYNC_EVENT_ALLOC", 1, events::alloc_async),
        method(object::MLX5_UAR, 0x1000, "UAR_OBJ_ALLOC", 5, uar::alloc),
        method(object::MLX5_UAR, 0x1001, "UAR_OBJ_DESTROY", 1, uar::destroy),
    ]
};

/// A write command.
struct Command {
    number: u32,
    run: Handler,
}

const COMMANDS: &[Command] = {
    const fn command(number: u32, run: Handler) -> Command {
        Command { number, run }
    }
    &[
        command(command::QUERY_DEVICE, device::query_device),
        command(command::QUERY_PORT, port::write_query_port),
        command(command::ALLOC_PD, memory::alloc_pd),
        command(command::DEALLOC_PD, memory::write_dealloc_pd),
        command(command::CREATE_AH, ah::create),
        command(command::DESTROY_AH, ah::write_destroy),
        command(command::REG_MR, mr::write_reg),
        command(command::REREG_MR, mr::write_rereg),
        command(command::DEREG_MR, mr::write_dereg),
        command(command::CREATE_COMP_CHANNEL, events::create_channel),
        command(command::RESIZE_CQ, cq::resize),
        command(command::DESTROY_CQ, cq::write_destroy),
        command(command::QUERY_QP, qp_state::query),
        command(command::MODIFY_QP, qp_state::modify),
        command(command::DESTROY_QP, qp::write_destroy),
        command(command::MODIFY_SRQ, srq::modify),
        command(command::QUERY_SRQ, srq::query),
        command(command::DESTROY_SRQ, srq::write_destroy),
        command(command::EX_QUERY_DEVICE, device::ex_query_device),
        command(command::EX_MODIFY_QP, qp_state::ex_modify),
        command(command::EX_MODIFY_CQ, cq::modify),
    ]
};

/// Answers the request at `address`.
pub(crate) fn run(context: &Arc<Context>, address: u64) -> Result<(), Errno> {
    tally::count();
    let (header, request) = Request::parse(address)?;
    let (object, method) = (header.object_id, header.method_id);
    let Some(entry) = METHODS.iter().find(|entry| (entry.object, entry.method) == (object, method)) else {
        // A kernel that was built without the method says so, and libraries go on without it.
        log::info!("{} method {method:#x}: not supported", object::name(object));
        return Err(Errno::EPROTONOSUPPORT);
    };
    let known =
        |attr: &&AttrWire| entry.attrs.contains(&attr.attr_id) || matches!(attr.attr_id, abi::UHW_IN | abi::UHW_OUT);
    if let Some(attr) = request.attrs.iter().find(|attr| attr.flags & ATTR_MANDATORY != 0 && !known(attr)) {
        log::info!("{}: mandatory attribute {:#x} is not supported", entry.name, attr.attr_id);
        return Err(Errno::EPROTONOSUPPORT);
    }
    let again = |(index, attr): (usize, &AttrWire)| request.attrs[..index].iter().any(|a| a.attr_id == attr.attr_id);
    if request.attrs.iter().enumerate().any(again) {
        return Err(Errno::EINVAL);
    }
    let result = (entry.run)(context, &request);
    match &result {
        Ok(()) => log::trace!("{}: done", entry.name),
        Err(error) => log::debug!("{}: {error:?}", entry.name),
    }
    result
}

/// `INVOKE_WRITE`: a command of the old write() interface inside an ioctl.
fn invoke_write(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let number: u32 = request.input(write::COMMAND)?;
    let Some(command) = COMMANDS.iter().find(|command| command.number == number) else {
        let extended = if number & command::EX == 0 { "" } else { "extended " };
        log::info!("{extended}command {} ({number:#x}): not supported", command::name(number));
        return Err(if number & !command::BITS == 0 { Errno::EOPNOTSUPP } else { Errno::EINVAL });
    };
    let result = (command.run)(context, request);
    // libibverbs begins with a QUERY_DEVICE that is too short, to learn whether commands can come this way.
    if let Err(error) = &result {
        log::debug!("command {}: {error:?}", command::name(number));
    }
    result
}
