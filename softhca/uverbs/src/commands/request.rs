//! A command that is being served: its attributes, checked and copied as the kernel does. Knows no command.

use crate::abi::{self, ATTR_VALID_OUTPUT, AttrWire, IoctlHdr, write};
use crate::process::{Errno, user};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// Most attributes a request may have; the kernel bounds the whole request by a page.
const MAX_ATTRS: usize = (4096 - size_of::<IoctlHdr>()) / size_of::<AttrWire>();

/// A request, with its attribute headers copied in.
pub(crate) struct Request {
    address: u64,
    pub(super) attrs: Vec<AttrWire>,
}

impl Request {
    /// Copies in the request at `address`.
    pub(super) fn parse(address: u64) -> Result<(IoctlHdr, Self), Errno> {
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
        if len % size_of::<T>() != 0 {
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

    /// Which variant of an enumeration attribute `id` names, if it is there (`UVERBS_ATTR_ENUM_IN`).
    pub(crate) fn variant(&self, id: u16) -> Option<u8> {
        self.find(id).map(|(_, attr)| attr.attr_data.to_ne_bytes()[0])
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
        let room = self.len(id);
        let mut out = vec![0; room];
        let len = room.min(bytes.len());
        out[..len].copy_from_slice(&bytes[..len]);
        self.put_start(id, &out)
    }

    /// Writes `bytes` to output attribute `id`, and leaves the bytes after them unchanged.
    pub(crate) fn put_start(&self, id: u16, bytes: &[u8]) -> Result<(), Errno> {
        let (index, attr) = self.find(id).ok_or(Errno::EINVAL)?;
        let len = usize::from(attr.len).min(bytes.len());
        user::write(attr.data, &bytes[..len])?;
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
