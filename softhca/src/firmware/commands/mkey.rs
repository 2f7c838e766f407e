//! Memory keys: of all memory, of pages, or of pieces of other keys' regions.

use crate::config::Generation;
use crate::context::{Access, Backing, KeyPiece, MkeyContext, TphContext};
use crate::crypto;
use crate::device::KeyOptions;
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::{View, ViewMut, layout};
use crate::firmware::status::{Refusal, Status};
use crate::memory::{
    DUMP_FILL_KEY, ENTRY_BYTES, HOST_BYTES, NULL_KEY, PAGE_LOGS, PAGE_READ, PAGE_WRITE, RESERVED_LKEY,
};
use crate::resources::MAX_TRANSLATIONS;

layout! {
    /// Memory key context.
    struct mkc: 0x40 bytes {
        FREE: 0x1, 1;
        ACCESS_MODE_4_2: 0x3, 3;
        RELAXED_ORDERING_WRITE: 0xd, 1;
        SMALL_FENCE_ON_RDMA_READ_RESPONSE: 0xf, 1;
        UMR_EN: 0x10, 1;
        A: 0x11, 1;
        RW: 0x12, 1;
        RR: 0x13, 1;
        LW: 0x14, 1;
        LR: 0x15, 1;
        ACCESS_MODE_1_0: 0x16, 2;
        QPN: 0x20, 24;
        MKEY_7_0: 0x38, 8;
        LENGTH64: 0x60, 1;
        BSF_EN: 0x61, 1;
        EXPECTED_SIGERR_COUNT: 0x65, 1;
        EN_RINVAL: 0x67, 1;
        PD: 0x68, 24;
        START_ADDR: 0x80, 64;
        LEN: 0xc0, 64;
        BSF_OCTWORD_SIZE: 0x100, 32;
        TRANSLATIONS_OCTWORD_SIZE: 0x1a0, 32;
        RELAXED_ORDERING_READ: 0x1d9, 1;
        LOG_PAGE_SIZE: 0x1da, 6;
        CRYPTO_EN: 0x1e3, 2;
        PCIE_TPH_EN: 0x1e5, 1;
        PCIE_TPH_PH: 0x1e6, 2;
        PCIE_TPH_STEERING_TAG_INDEX: 0x1e8, 8;
    }
    /// `CREATE_MKEY`, with a list: of pages, 8 bytes each, or of pieces ([`klm`]).
    struct create_mkey_in: command 0x110 bytes {
        PG_ACCESS: 0x60, 1;
        MKEY_UMEM_VALID: 0x61, 1;
        DATA_DIRECT: 0x62, 1;
        TRANSLATIONS_OCTWORD_ACTUAL_SIZE: 0x300, 32;
        MKEY_UMEM_ID: 0x320, 32;
        MKEY_UMEM_OFFSET: 0x340, 64;
    } parts { MEMORY_KEY_MKEY_ENTRY: 0x80, mkc; } list of 8 bytes
    /// A piece of another key's region.
    struct klm: 0x10 bytes {
        BYTE_COUNT: 0x0, 32;
        MKEY: 0x20, 32;
        ADDRESS: 0x40, 64;
    }
    struct create_mkey_out: answer { MKEY_INDEX: 0x48, 24; }
    struct query_mkey_in: query { MKEY_INDEX: 0x48, 24; }
    struct destroy_mkey_in: command { MKEY_INDEX: 0x48, 24; }
    struct query_special_contexts_in: query {}
    struct query_mkey_out: answer 0x130 bytes {} parts { MEMORY_KEY_MKEY_ENTRY: 0x80, mkc; }
    /// Output of `QUERY_SPECIAL_CONTEXTS`.
    struct query_special_contexts_out: answer 0x20 bytes { DUMP_FILL_MKEY: 0x40, 32; RESD_LKEY: 0x60, 32; NULL_MKEY: 0x80, 32; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x200, "CREATE_MKEY", create_mkey_in, create_mkey_out, create),
    command!(0x201, "QUERY_MKEY", query_mkey_in, query_mkey_out, query),
    command!(0x202, "DESTROY_MKEY", destroy_mkey_in, bare_out, destroy),
    command!(0x203, "QUERY_SPECIAL_CONTEXTS", query_special_contexts_in, query_special_contexts_out, query_special),
];

/// Access modes (`MLX5_MKC_ACCESS_MODE_*`).
mod mode {
    /// All memory, by the host's addresses.
    pub(super) const PA: u64 = 0;
    /// Pages.
    pub(super) const MTT: u64 = 1;
    /// Pieces, each with a length of its own.
    pub(super) const KLM: u64 = 2;
    /// Pieces of one length.
    pub(super) const KSM: u64 = 3;
}

/// The key is for all QPs, and not for one.
const ANY_QPN: u64 = 0xff_ffff;
/// log2 of the bytes of the smallest page.
const LOG_ADAPTER_PAGE: u8 = 12;
/// Octwords in which UMR counts lists.
const UMR_OCTWORDS: u32 = 4;
/// Octwords of a format, of signatures or of encryption.
const FORMAT_OCTWORDS: u32 = 4;
/// Bytes of the unit that lists are counted in.
const OCTWORD: usize = 16;

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let input = call.input;
    let context = input.part(create_mkey_in::MEMORY_KEY_MKEY_ENTRY);
    let access_mode = context.get(mkc::ACCESS_MODE_4_2) << 2 | context.get(mkc::ACCESS_MODE_1_0);
    let mut made = MkeyContext {
        pd: context.get32(mkc::PD),
        iova: context.get(mkc::START_ADDR),
        addr: 0,
        len: context.get(mkc::LEN),
        access: Access {
            local_write: context.flag(mkc::LW),
            remote_write: context.flag(mkc::RW),
            remote_read: context.flag(mkc::RR),
            remote_atomic: context.flag(mkc::A),
        },
    };
    check_context(call, context, access_mode)?;
    check_function(call, access_mode)?;
    call.check_use(Object::Pd, made.pd)?;
    let list = list(input)?;
    let umr_octwords = umr_octwords(context)?;
    let free = context.flag(mkc::FREE);
    let log_bytes = context.get(mkc::LOG_PAGE_SIZE) as u8;
    let backing = match access_mode {
        mode::PA => {
            all_memory(call, context, &mut made)?;
            Backing::Memory
        }
        // Nothing is behind it yet that would not come by UMR.
        mode::MTT if free => Backing::Pages { log_bytes: log_bytes.max(LOG_ADAPTER_PAGE), entries: Vec::new() },
        mode::MTT if umr_octwords.is_some() && !input.flag(create_mkey_in::MKEY_UMEM_VALID) => {
            call.check_driver()?;
            Backing::Pages { log_bytes, entries: entries(call, context, list)? }
        }
        mode::MTT => {
            pages(call, context, list, &mut made)?;
            Backing::Memory
        }
        mode::KLM => Backing::Pieces(pieces(list)?),
        // Mode KSM has the length of its pieces where others have that of a page.
        mode::KSM => Backing::EqualPieces { log_bytes, pieces: pieces(list)? },
        other => return Err(Refusal::parameter(format!("access mode {other}"))),
    };
    let options = KeyOptions {
        backing,
        variant: Some(context.get(mkc::MKEY_7_0) as u8),
        remote_invalidate: context.flag(mkc::EN_RINVAL),
        free,
        umr_octwords,
        encrypted: encrypted(call, context)?,
        format_octwords: format_octwords(context)?,
        errors: context.flag(mkc::EXPECTED_SIGERR_COUNT),
        tph: tph(call, context)?,
    };
    let key = call.device.create_mkey_with(made, options)?;
    let index = key >> 8;
    call.created(Object::Mkey, index);
    call.state.contexts.add(Object::Mkey, index, context.0);
    call.output.set(create_mkey_out::MKEY_INDEX, index.into());
    Ok(())
}

/// How long a key's list may become by UMR, if UMR may change it. Lists come in units of 64 bytes there
/// (`MLX5_UMR_FLEX_ALIGNMENT`), so that the last one of them need not end with the list.
fn umr_octwords(context: View<'_>) -> Result<Option<u32>, Refusal> {
    if !context.flag(mkc::UMR_EN) {
        return Ok(None);
    }
    let octwords = context.get32(mkc::TRANSLATIONS_OCTWORD_SIZE);
    if octwords > MAX_TRANSLATIONS / 2 {
        return Err(Refusal::new(
            Status::LimitExceeded,
            format!("a list of {octwords} octwords, to be written by UMR"),
        ));
    }
    Ok(Some(octwords.next_multiple_of(UMR_OCTWORDS)))
}

/// Whether the key's data is encrypted on one side.
fn encrypted(call: &Call<'_>, context: View<'_>) -> Result<bool, Refusal> {
    match context.get(mkc::CRYPTO_EN) {
        0 => Ok(false),
        1 if crypto::is_there(call.device.config().generation) && context.flag(mkc::BSF_EN) => Ok(true),
        other => {
            Err(Refusal::parameter(format!("encryption {other}, of a device without it or a key without formats")))
        }
    }
}

/// The key's processing hint (TPH). A hint that is not enabled does nothing: Linux takes the enabling bit
/// and the tag from programs' keys, and leaves the hint (mlx5_ib `devx.c`, `devx_handle_mkey_create`).
fn tph(call: &Call<'_>, context: View<'_>) -> Result<Option<TphContext>, Refusal> {
    let enabled = context.flag(mkc::PCIE_TPH_EN);
    let processing_hint = context.get(mkc::PCIE_TPH_PH) as u8;
    let steering_tag_index = context.get(mkc::PCIE_TPH_STEERING_TAG_INDEX) as u8;
    if (enabled || processing_hint != 0 || steering_tag_index != 0) && !call.device.config().generation.has_tph() {
        return Err(Refusal::parameter(format!(
            "processing hint {processing_hint} and steering tag {steering_tag_index} of a key (TPH), of a device without \
             them"
        )));
    }
    if !enabled && steering_tag_index != 0 {
        return Err(Refusal::parameter(format!(
            "steering tag {steering_tag_index} of a key without a processing hint"
        )));
    }
    Ok(enabled.then_some(TphContext { processing_hint, steering_tag_index }))
}

/// Room for formats of the key's data: for signatures, for encryption, for both, or none. They come by UMR. Linux and
/// libmlx5 make such keys free, and DPDK with a list (`mlx5_crypto_indirect_mkeys_prepare`).
fn format_octwords(context: View<'_>) -> Result<u32, Refusal> {
    let octwords = context.get32(mkc::BSF_OCTWORD_SIZE);
    let most = if context.get(mkc::CRYPTO_EN) != 0 { 2 * FORMAT_OCTWORDS } else { FORMAT_OCTWORDS };
    match (context.flag(mkc::BSF_EN), octwords) {
        (false, 0) => Ok(0),
        (true, octwords) if (octwords == FORMAT_OCTWORDS || octwords == most) && context.flag(mkc::UMR_EN) => {
            Ok(octwords)
        }
        _ => Err(Refusal::parameter(format!("{octwords} octwords of formats, or of a key that UMR does not change"))),
    }
}

/// Refuses a context that no key can have.
fn check_context(call: &Call<'_>, context: View<'_>, access_mode: u64) -> Result<(), Refusal> {
    let free = context.flag(mkc::FREE);
    if context.get(mkc::QPN) != ANY_QPN {
        return Err(Refusal::parameter("a key of one QP only"));
    }
    if !free && !context.flag(mkc::LR) {
        return Err(Refusal::parameter("a key that the device may not even read by itself"));
    }
    if context.flag(mkc::LENGTH64) && access_mode != mode::PA {
        return Err(Refusal::parameter("a key of all memory, but not by the host's addresses"));
    }
    if !free && access_mode != mode::MTT && call.input.flag(create_mkey_in::MKEY_UMEM_VALID) {
        return Err(Refusal::parameter("user memory for a key that is not of pages"));
    }
    let relaxed = context.flag(mkc::RELAXED_ORDERING_WRITE) || context.flag(mkc::RELAXED_ORDERING_READ);
    if relaxed && call.device.config().generation < Generation::ConnectX6Dx {
        return Err(Refusal::parameter("relaxed ordering, which a ConnectX-5 does not have"));
    }
    Ok(())
}

/// The list of the mailbox: as many octwords as the command says.
fn list(input: View<'_>) -> Result<&[u8], Refusal> {
    let octwords = input.get(create_mkey_in::TRANSLATIONS_OCTWORD_ACTUAL_SIZE) as usize;
    let rest = input.0.get(create_mkey_in::LAYOUT.bytes..).unwrap_or(&[]);
    if input.flag(create_mkey_in::MKEY_UMEM_VALID) && rest.is_empty() {
        // Drivers count the pages of user memory here.
        return Ok(rest);
    }
    // The last page of an odd number may be missing.
    let needed = octwords.saturating_mul(OCTWORD);
    if rest.len() + OCTWORD / 2 < needed {
        let reason = format!("a list of {octwords} octwords in {} bytes", rest.len());
        return Err(Refusal::new(Status::BadInputLength, reason));
    }
    Ok(&rest[..needed.min(rest.len())])
}

/// Refuses a key of another function than the device has. Linux makes one of all memory, for itself (mlx5_ib `main.c`,
/// `mlx5_ib_create_data_direct_resources`). Both functions reach the same memory here.
fn check_function(call: &Call<'_>, access_mode: u64) -> Result<(), Refusal> {
    if !call.input.flag(create_mkey_in::DATA_DIRECT) {
        return Ok(());
    }
    if !call.device.config().generation.has_data_direct() {
        return Err(Refusal::parameter("a key of a Data Direct function, which the device does not have"));
    }
    if access_mode != mode::PA {
        return Err(Refusal::parameter(format!(
            "access mode {access_mode} of a key of the Data Direct function, not 0"
        )));
    }
    Ok(())
}

/// A key by the host's own addresses.
fn all_memory(call: &Call<'_>, context: View<'_>, made: &mut MkeyContext) -> Result<(), Refusal> {
    call.check_driver()?;
    if context.flag(mkc::LENGTH64) {
        (made.iova, made.len) = (0, HOST_BYTES);
    }
    call.device.check_host_address(made.iova, made.len)?;
    made.addr = made.iova;
    Ok(())
}

/// A key of pages, or of user memory.
fn pages(call: &mut Call<'_>, context: View<'_>, list: &[u8], made: &mut MkeyContext) -> Result<(), Refusal> {
    let input = call.input;
    let by_page = input.flag(create_mkey_in::PG_ACCESS);
    if input.flag(create_mkey_in::MKEY_UMEM_VALID) {
        let number = input.get32(create_mkey_in::MKEY_UMEM_ID);
        let writable = call.state.umems.get(number).is_some_and(|umem| umem.writable);
        if by_page && !writable {
            read_only(&mut made.access);
        }
        let offset = input.get(create_mkey_in::MKEY_UMEM_OFFSET);
        check_in_page(call, number, offset, made.iova)?;
        made.addr = call.in_umem(number, offset, made.len, made.access.local_write)?;
        return Ok(());
    }
    let mut pages = entries(call, context, list)?;
    if pages.iter().any(|entry| entry & PAGE_WRITE == 0) {
        read_only(&mut made.access);
    }
    for entry in &mut pages {
        *entry &= !(PAGE_READ | PAGE_WRITE);
    }
    let page_bytes = 1 << context.get(mkc::LOG_PAGE_SIZE);
    made.addr = call.in_pages(pages, page_bytes, made.iova % page_bytes, made.len)?;
    Ok(())
}

/// Firmware's syndrome for a key that begins elsewhere in a page than its first address (UCX, pull request 8689).
const OTHER_PLACE_IN_PAGE: u32 = 0x31_7175;

/// Refuses a key whose first address `start` has another offset in a page than byte `offset` of user memory `number`.
fn check_in_page(call: &mut Call<'_>, number: u32, offset: u64, start: u64) -> Result<(), Refusal> {
    call.check_use(Object::Umem, number)?;
    let umem = call.state.umems.find_mut(number)?;
    let (at, page_bytes) = (umem.in_page(offset), umem.page_bytes);
    if start % page_bytes == at {
        return Ok(());
    }
    let reason =
        format!("start_addr {start:#x}, and byte {at:#x} of a page of {page_bytes:#x} bytes of UMEM {number:#x}");
    Err(Refusal::known(OTHER_PLACE_IN_PAGE, reason))
}

/// The pages of a list, with the rights to each.
fn entries(call: &Call<'_>, context: View<'_>, list: &[u8]) -> Result<Vec<u64>, Refusal> {
    let log_page_size = context.get(mkc::LOG_PAGE_SIZE);
    if !PAGE_LOGS.contains(&(log_page_size as u8)) {
        let (least, most) = (PAGE_LOGS.start(), PAGE_LOGS.end());
        return Err(Refusal::parameter(format!("pages of 2^{log_page_size} bytes, not of 2^{least} to 2^{most}")));
    }
    let page_bytes = 1_u64 << log_page_size;
    // Entries past the region are no pages: lists have an even number of entries.
    let end = context.get(mkc::START_ADDR) % page_bytes;
    let needed = end.saturating_add(context.get(mkc::LEN)).div_ceil(page_bytes);
    let needed = usize::try_from(needed).unwrap_or(usize::MAX);
    let mut entries: Vec<u64> = list.chunks_exact(ENTRY_BYTES).map(be64).take(needed).collect();
    let by_page = call.input.flag(create_mkey_in::PG_ACCESS);
    for entry in &mut entries {
        let page = if by_page { *entry & !(PAGE_READ | PAGE_WRITE) } else { *entry };
        if page % page_bytes != 0 {
            return Err(Refusal::parameter(format!("page {page:#x}: not a multiple of {page_bytes:#x}")));
        }
        call.device.check_host_address(page, page_bytes)?;
        if by_page && *entry & PAGE_READ == 0 {
            return Err(Refusal::parameter(format!("page {entry:#x}: not readable, so not there")));
        }
        if !by_page {
            *entry |= PAGE_READ | PAGE_WRITE;
        }
    }
    Ok(entries)
}

/// A number of 8 bytes.
fn be64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Takes all rights to write.
fn read_only(access: &mut Access) {
    *access = Access { remote_read: access.remote_read, ..Access::default() };
}

fn pieces(list: &[u8]) -> Result<Vec<KeyPiece>, Refusal> {
    let pieces = list.chunks_exact(klm::LAYOUT.bytes).map(View);
    let pieces = pieces.map(|piece| KeyPiece {
        key: piece.get32(klm::MKEY),
        addr: piece.get(klm::ADDRESS),
        len: piece.get(klm::BYTE_COUNT),
    });
    if list.len() % klm::LAYOUT.bytes != 0 {
        return Err(Refusal::new(Status::BadInputLength, "half a piece at the end of the list"));
    }
    Ok(pieces.collect())
}

/// The context as the driver gave it, with later changes by UMR or an invalidation.
fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let index = call.usable(Object::Mkey, query_mkey_in::MKEY_INDEX)?;
    let mut context = find(call, index)?;
    let info = call.device.query_mkey(index)?;
    let [all, by_umr] = [mkc::LENGTH64, mkc::UMR_EN].map(|field| View(&context).flag(field));
    let mut view = ViewMut(&mut context);
    view.set(mkc::FREE, info.free.into());
    view.set(mkc::MKEY_7_0, (info.key & 0xff).into());
    view.set(mkc::PD, info.context.pd.into());
    view.set(mkc::EXPECTED_SIGERR_COUNT, info.errors.into());
    view.set(mkc::EN_RINVAL, info.remote_invalidate.into());
    view.set(mkc::QPN, info.qpn.map_or(ANY_QPN, u64::from));
    if !all {
        view.set(mkc::START_ADDR, info.context.iova);
        view.set(mkc::LEN, info.context.len);
    }
    if let Some(log_bytes) = info.log_bytes {
        view.set(mkc::LOG_PAGE_SIZE, log_bytes.into());
    }
    if by_umr {
        let Access { local_write, remote_write, remote_read, remote_atomic } = info.context.access;
        for (right, value) in
            [(mkc::LW, local_write), (mkc::RW, remote_write), (mkc::RR, remote_read), (mkc::A, remote_atomic)]
        {
            view.set(right, value.into());
        }
    }
    call.output.part(query_mkey_out::MEMORY_KEY_MKEY_ENTRY).put(0, &context);
    Ok(())
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    let index = call.owned(Object::Mkey, destroy_mkey_in::MKEY_INDEX)?;
    find(call, index)?;
    call.device.destroy_mkey_of(index)?;
    call.destroyed(Object::Mkey, index);
    Ok(())
}

/// The context of the key with this index, made by a command.
fn find(call: &Call<'_>, index: u32) -> Result<Vec<u8>, Refusal> {
    let context = call.state.contexts.get(Object::Mkey, index);
    if context.is_empty() { Err(Refusal::resource(format!("no mkey {index:#x}"))) } else { Ok(context) }
}

fn query_special(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.output.set(query_special_contexts_out::DUMP_FILL_MKEY, DUMP_FILL_KEY.into());
    call.output.set(query_special_contexts_out::RESD_LKEY, RESERVED_LKEY.into());
    call.output.set(query_special_contexts_out::NULL_MKEY, NULL_KEY.into());
    Ok(())
}
