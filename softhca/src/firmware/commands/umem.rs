//! User memory. Commands name a place in it by its number and an offset.

use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::objects::{ADAPTER_PAGE_BYTES, Umem};
use crate::firmware::status::{Refusal, Status};

layout! {
    /// One page: its address in the bits above its size, and the rights to it.
    struct mtt: 0x8 bytes {
        PTAG_63_32: 0x0, 32;
        PTAG_31_8: 0x20, 24;
        WR_EN: 0x3e, 1;
        RD_EN: 0x3f, 1;
    }
    /// The pages.
    struct umem: 0x20 bytes {
        ATS: 0x80, 1;
        LOG_PAGE_SIZE: 0x9b, 5;
        PAGE_OFFSET: 0xa0, 32;
        NUM_OF_MTT: 0xc0, 64;
    }
    /// `CREATE_UMEM`, with an [`mtt`] for each page.
    struct create_umem_in: command 0x30 bytes {} parts { UMEM: 0x80, umem; } list of 8 bytes
    struct create_umem_out: answer { UMEM_ID: 0x48, 24; }
    struct destroy_umem_in: command { UMEM_ID: 0x48, 24; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0xa08, "CREATE_UMEM", create_umem_in, create_umem_out, create),
    command!(0xa0a, "DESTROY_UMEM", destroy_umem_in, bare_out, destroy),
];

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let view = call.input.part(create_umem_in::UMEM);
    let page_bytes = ADAPTER_PAGE_BYTES << view.get(umem::LOG_PAGE_SIZE);
    let offset = view.get(umem::PAGE_OFFSET);
    let entries: Vec<_> = call.input.list(&create_umem_in::LAYOUT).collect();
    let count = view.get(umem::NUM_OF_MTT);
    if count == 0 || count != entries.len() as u64 {
        let reason = format!("{count} pages, and the mailbox holds {}", entries.len());
        return Err(Refusal::new(Status::BadInputLength, reason));
    }
    if offset >= page_bytes {
        return Err(Refusal::parameter(format!("offset {offset:#x} in a page of {page_bytes:#x} bytes")));
    }
    let mut pages = Vec::with_capacity(entries.len());
    let mut writable = true;
    for entry in entries {
        // The address is that of a page, so its low bits are free for the rights.
        let address = entry.get(mtt::PTAG_63_32) << 32 | entry.get(mtt::PTAG_31_8) << 8;
        if address % page_bytes != 0 || !entry.flag(mtt::RD_EN) || mtt::LAYOUT.reserved_byte_set(entry.0).is_some() {
            let reason = format!("page {address:#x}: not a readable page of {page_bytes:#x} bytes");
            return Err(Refusal::parameter(reason));
        }
        writable &= entry.flag(mtt::WR_EN);
        pages.push(address);
    }
    let bytes = count.checked_mul(page_bytes);
    let bytes = bytes.ok_or_else(|| Refusal::parameter(format!("{count} pages of {page_bytes:#x} bytes")))?;
    let number = call.state.umems.reserve()?;
    let len = bytes - offset;
    let pages = call.device.map_pages(pages, page_bytes)?;
    call.state.umems.insert(number, Umem { pages, page_bytes, offset, len, writable, users: 0 });
    call.created(Object::Umem, number);
    call.output.set(create_umem_out::UMEM_ID, number.into());
    Ok(())
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = call.owned(Object::Umem, destroy_umem_in::UMEM_ID)?;
    let umem = call.state.umems.remove_unused(number, |umem| umem.users)?;
    call.device.unmap_pages(umem.pages);
    call.destroyed(Object::Umem, number);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::firmware::Status;
    use crate::firmware::test_bench::Bench;
    use crate::memory::test_memory::BASE;

    #[test]
    fn memory_is_of_whole_pages_that_can_be_read() {
        let mut bench = Bench::new();
        let mut good = vec![0; 0x38];
        good[..2].copy_from_slice(&[0x0a, 8]);
        // Bytes before the memory in its first page, and how many pages.
        good[0x24..0x28].copy_from_slice(&0xfff_u32.to_be_bytes());
        good[0x2f] = 1;
        good[0x30..].copy_from_slice(&(BASE | 1).to_be_bytes());
        for (at, byte, status) in [
            (0x26, 0x10, Status::BadParameter), // it begins behind the first page
            (0x2f, 0, Status::BadInputLength),  // no page
            (0x2f, 2, Status::BadInputLength),  // a page that the mailbox has not
            (0x37, 0, Status::BadParameter),    // a page that cannot be read
            (0x37, 5, Status::BadParameter),    // a bit without a name
            (0x36, 1, Status::BadParameter),    // no address of a page
            (0x23, 1, Status::BadParameter),    // none of a page of 8 KiB
        ] {
            let mut input = good.clone();
            input[at] = byte;
            if at == 0x23 {
                input[0x36] = 0x10;
            }
            assert_eq!(bench.execute(&input, 0x10), Err(status), "byte {at:#x}");
        }
        let mut behind = good.clone();
        behind[0x24..0x28].copy_from_slice(&0x1000_u32.to_be_bytes());
        assert_eq!(bench.execute(&behind, 0x10), Err(Status::BadParameter), "the first byte behind the page");
        // 2^21 pages of 2^43 bytes are 2^64 bytes.
        let mut whole = good[..0x30].to_vec();
        whole[0x23..0x30].copy_from_slice(&[31, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0]);
        whole.extend([0, 0, 0, 0, 0, 0, 0, 3].repeat(1 << 21));
        assert_eq!(bench.execute(&whole, 0x10), Err(Status::BadParameter), "more than addresses have room for");
        let number = bench.execute(&good, 0x10).expect("memory")[11];
        let destroy = [0x0a, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, number, 0, 0, 0, 0];
        assert!(bench.execute(&destroy, 0x10).is_ok());
        assert_eq!(bench.execute(&destroy, 0x10), Err(Status::BadResource));
    }
}
