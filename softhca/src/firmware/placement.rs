//! Where a ring, a record or registered memory lies: mailboxes say it by user memory and an offset, or by a list of
//! pages.
//!
//! All memory and domains that a command takes here belong to the object that it makes ([`Call::created`]). If the
//! command is refused, all of them are given back.

use super::call::Call;
use super::holds::Hold;
use super::layout::Field;
use super::objects::ADAPTER_PAGE_BYTES;
use super::status::{Refusal, Status};
use crate::device::Device;
use crate::error::Object;

/// Most bytes of a page, as log2 of 4096-byte units: the five bits that most contexts have for it.
const MAX_LOG_PAGE_SIZE: u64 = 31;

/// Into how many parts `page_offset` divides a page.
const PAGE_PARTS: u64 = 64;

/// Values of `page_offset` in the contexts of QPs, CQs, EQs and SRQs (6 bits), and in that of work queues (5 bits).
pub(crate) const PAGE_OFFSETS: u64 = 1 << 6;
pub(crate) const WQ_PAGE_OFFSETS: u64 = 1 << 5;

/// The place of a ring, as a mailbox describes it.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    /// `*_umem_valid`: `*_umem_id` and `*_umem_offset`, in bytes. Otherwise the pages count.
    pub(crate) umem: Option<(u32, u64)>,
    /// `pas`: the host address of each page; multiples of the page's size.
    pub(crate) pages: Vec<u64>,
    /// `log_page_size`: log2 of a page's size in units of 4096 bytes (`MLX5_ADAPTER_PAGE_SHIFT`). Reserved with user
    /// memory, whose own pages count (DOCA GPUNetIO `src/doca_verbs_qp.cpp`, `create_qp_obj`; daqiri's pull request
    /// 269).
    pub(crate) log_page_size: u64,
    /// `page_offset`: where the ring begins in its first page, in units of 1/64 of a page (Linux
    /// `drivers/infiniband/hw/mlx5/mem.c`, `__mlx5_umem_find_best_quantized_pgoff`). Reserved with user memory, too.
    pub(crate) page_offset: u64,
    /// How many values that field has: 64, or 32 for a work queue. They limit where a ring begins in a page of user
    /// memory, too: at any 1/64 of it, or in its first half. UCX has this for completion queues
    /// (`src/uct/ib/mlx5/gdaki/gdaki.c`, `UCT_GDAKI_CQ_PAGE_OFFSET_SHIFT`); for the others it is inferred from the
    /// field's width.
    pub(crate) page_offsets: u64,
    /// Bytes.
    pub(crate) len: u64,
    /// The device writes it, as a completion queue's. Send and receive rings it only reads, so that they may lie in
    /// user memory without write access, as UCX registers it.
    pub(crate) written: bool,
}

impl Call<'_> {
    /// The one address at which the device finds a ring, for its context.
    ///
    /// # Errors
    /// `BAD_PARAM` for an offset or a page that cannot be, or a reserved field; `BAD_RES` for user memory that is not
    /// the caller's; `BAD_INPUT_LEN` if the mailbox lists too few pages.
    pub(crate) fn ring(&mut self, placement: Placement) -> Result<u64, Refusal> {
        let Placement { umem, pages, log_page_size, page_offset, page_offsets, len, written } = placement;
        if log_page_size > MAX_LOG_PAGE_SIZE {
            let reason = format!("pages of 4096 << {log_page_size} bytes; at most {MAX_LOG_PAGE_SIZE}");
            return Err(Refusal::parameter(reason));
        }
        match umem {
            Some((number, offset)) => {
                for (field, value) in [("page_offset", page_offset), ("log_page_size", log_page_size)] {
                    if value != 0 {
                        let reason = format!("{field} {value} of a ring in a UMEM: reserved, the UMEM's pages count");
                        return Err(Refusal::parameter(reason));
                    }
                }
                self.check_beginning(number, offset, page_offsets)?;
                self.in_umem(number, offset, len, written)
            }
            None => {
                let page_bytes = ADAPTER_PAGE_BYTES << log_page_size;
                self.in_pages(pages, page_bytes, page_bytes / PAGE_PARTS * page_offset, len)
            }
        }
    }

    /// Refuses a ring that begins where none of `page_offsets` values of `page_offset` could say it.
    fn check_beginning(&mut self, number: u32, offset: u64, page_offsets: u64) -> Result<(), Refusal> {
        self.check_use(Object::Umem, number)?;
        let umem = self.state.umems.find_mut(number)?;
        let (unit, at) = (umem.page_bytes / PAGE_PARTS, umem.in_page(offset));
        if at % unit == 0 && at / unit < page_offsets {
            return Ok(());
        }
        let reason = format!(
            "a ring at {offset:#x} of UMEM {number:#x}: {at:#x} in a page of {:#x} bytes is not one of the first \
             {page_offsets} multiples of {unit:#x}",
            umem.page_bytes
        );
        Err(Refusal::parameter(reason))
    }

    /// The address of a doorbell record of `len` bytes: `dbr_addr` is an offset in user memory `umem` (`dbr_umem_valid`
    /// and `dbr_umem_id`), or else a host address.
    ///
    /// # Errors
    /// `BAD_PARAM` for an address or offset that cannot be; `BAD_RES` for user memory that is not the caller's.
    pub(crate) fn record(&mut self, umem: Option<u32>, dbr_addr: u64, len: u64) -> Result<u64, Refusal> {
        match umem {
            // The device only reads doorbell records.
            Some(number) => self.in_umem(number, dbr_addr, len, false),
            None => {
                self.device.check_host_address(dbr_addr, len)?;
                Ok(dbr_addr)
            }
        }
    }

    /// The address of `len` bytes at `offset` of user memory `number`; `written` by the device, or only read.
    ///
    /// # Errors
    /// As [`Self::ring`].
    pub(crate) fn in_umem(&mut self, number: u32, offset: u64, len: u64, written: bool) -> Result<u64, Refusal> {
        self.check_use(Object::Umem, number)?;
        let umem = self.state.umems.find_mut(number)?;
        if written && !umem.writable {
            return Err(Refusal::parameter(format!("UMEM {number:#x} may not be written")));
        }
        let Some(address) = umem.address(offset, len) else {
            let reason = format!("{len:#x} bytes at {offset:#x} of UMEM {number:#x}, which has {:#x}", umem.len);
            return Err(Refusal::parameter(reason));
        };
        umem.users += 1;
        self.taken.push(Hold::Umem(number));
        Ok(address)
    }

    /// The address of `len` bytes at `offset` of `pages`, each the host address of a page of `page_bytes` bytes.
    ///
    /// # Errors
    /// As [`Self::ring`].
    pub(crate) fn in_pages(
        &mut self,
        mut pages: Vec<u64>,
        page_bytes: u64,
        offset: u64,
        len: u64,
    ) -> Result<u64, Refusal> {
        let needed = offset.checked_add(len).map(|end| end.div_ceil(page_bytes));
        let Some(needed) = needed.filter(|&needed| needed <= pages.len() as u64) else {
            let reason = format!("{len:#x} bytes at {offset:#x} of {} pages of {page_bytes:#x}", pages.len());
            return Err(Refusal::new(Status::BadInputLength, reason));
        };
        // Buffers are often longer than the ring in them.
        pages.truncate(needed as usize);
        if let Some(page) = pages.iter().find(|&page| page % page_bytes != 0) {
            return Err(Refusal::parameter(format!("page {page:#x}: not a multiple of {page_bytes:#x}")));
        }
        let address = self.device.map_pages(pages, page_bytes)?;
        self.taken.push(Hold::Pages(address));
        Ok(address + offset)
    }

    /// Puts the object that this command makes into a transport domain.
    ///
    /// # Errors
    /// `BAD_RES` if there is none of this number, or the caller may not use it.
    pub(crate) fn in_transport_domain(&mut self, number: u32) -> Result<(), Refusal> {
        self.check_use(Object::TransportDomain, number)?;
        self.state.transport_domains.find_mut(number)?.users += 1;
        self.taken.push(Hold::TransportDomain(number));
        Ok(())
    }

    /// Says that object `number` exists. It belongs to the caller, and lies in the memory that this command has taken.
    pub(crate) fn created(&mut self, kind: Object, number: u32) {
        self.state.owners.add(kind, number, self.uid);
        let taken = std::mem::take(&mut self.taken);
        self.state.holds.add(kind, number, taken);
    }

    /// Destroys the caller's object that `field` of the input names.
    ///
    /// # Errors
    /// It is not the caller's, or `destroy` fails.
    pub(crate) fn destroy<T, E>(
        &mut self,
        kind: Object,
        field: Field,
        destroy: impl FnOnce(&mut Device, u32) -> Result<T, E>,
    ) -> Result<(), Refusal>
    where
        Refusal: From<E>,
    {
        let number = self.owned(kind, field)?;
        destroy(self.device, number)?;
        self.destroyed(kind, number);
        Ok(())
    }

    /// Says that object `number` is gone: it has no owner and no context, and its memory is given back.
    pub(crate) fn destroyed(&mut self, kind: Object, number: u32) {
        self.state.owners.remove(kind, number);
        self.state.contexts.remove(kind, number);
        let holds = self.state.holds.remove(kind, number);
        self.give_back(holds);
    }

    /// Says that object `number` has moved to the memory that this command has taken. All its earlier memory is given
    /// back, its record included, so the command must take all of it again.
    pub(crate) fn moved(&mut self, kind: Object, number: u32) {
        let before = self.state.holds.remove(kind, number);
        let taken = std::mem::take(&mut self.taken);
        self.state.holds.add(kind, number, taken);
        self.give_back(before);
    }

    /// Ends the use of memory and domains.
    pub(super) fn give_back(&mut self, holds: Vec<Hold>) {
        for hold in holds {
            match hold {
                Hold::Umem(number) => {
                    if let Some(umem) = self.state.umems.get_mut(number) {
                        umem.users -= 1;
                    }
                }
                Hold::Pages(address) => self.device.unmap_pages(address),
                Hold::TransportDomain(number) => {
                    if let Some(domain) = self.state.transport_domains.get_mut(number) {
                        domain.users -= 1;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::owners::DRIVER;
    use super::super::test_bench::Bench;
    use super::*;
    use crate::memory::test_memory::BASE;

    /// A ring of `len` bytes in pages of 4096 bytes.
    fn ring(len: u64) -> Placement {
        Placement {
            umem: None,
            pages: Vec::new(),
            log_page_size: 0,
            page_offset: 0,
            page_offsets: PAGE_OFFSETS,
            len,
            written: true,
        }
    }

    #[test]
    fn user_memory_begins_in_its_first_page_and_stays_while_an_object_is_in_it() {
        let mut bench = Bench::new();
        let user = bench.user();
        let umem = bench.umem(user, &[2, 3], 0x100, true);
        let place = Placement { umem: Some((umem, 0x2c0)), ..ring(0x1cc0 - 0x80) };
        let at = bench.call(user, |call| {
            let at = call.ring(place.clone())?;
            call.created(Object::Cq, 7);
            Ok(at)
        });
        assert_eq!(at, Ok(BASE + 2 * 4096 + 0x100 + 0x2c0));
        assert_eq!(bench.state().umems.get(umem).map(|umem| umem.users), Some(1));
        let longer = Placement { len: place.len + 1, ..place };
        assert_eq!(bench.call(user, |call| call.ring(longer)), Err(Status::BadParameter));
        assert_eq!(bench.state().umems.get(umem).map(|umem| umem.users), Some(1));
        let in_use = bench.execute(&[0x0a, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, umem as u8, 0, 0, 0, 0], 16);
        assert_eq!(in_use, Err(Status::ResourceBusy));
        assert_eq!(bench.call(user, |call| call.check_owner(Object::Cq, 7)), Ok(()));
        let _ = bench.call(user, |call| {
            call.destroyed(Object::Cq, 7);
            Ok(())
        });
        assert_eq!(bench.state().umems.get(umem).map(|umem| umem.users), Some(0));
        assert_eq!(bench.call(user, |call| call.check_owner(Object::Cq, 7)), Err(Status::BadResource));
    }

    #[test]
    fn a_ring_in_user_memory_begins_at_a_64th_of_its_pages() {
        let mut bench = Bench::new();
        let user = bench.user();
        // Pages of 4096 bytes, and one of 64 KiB.
        let (small, large) = (bench.umem(user, &[0, 1], 0, true), bench.umem_of(4, user, &[0x10], 0, true));
        let mut begins = |umem, offset, page_offsets| {
            let place = Placement { umem: Some((umem, offset)), page_offsets, ..ring(64) };
            bench.call(user, |call| call.ring(place)).is_ok()
        };
        for page in [0, 0x1000] {
            let fits = [0, 64, 0x7c0, 0x800, 0xfc0, 32, 96, 0x7e0].map(|at| begins(small, page + at, PAGE_OFFSETS));
            assert_eq!(fits, [true, true, true, true, true, false, false, false]);
            // A work queue begins in the first half of a page.
            let fits = [0, 64, 0x7c0, 0x800, 0xfc0].map(|at| begins(small, page + at, WQ_PAGE_OFFSETS));
            assert_eq!(fits, [true, true, true, false, false]);
        }
        let fits = [0, 64, 0x1000, 0x400, 0x7c00, 0x8000].map(|at| begins(large, at, PAGE_OFFSETS));
        assert_eq!(fits, [true, false, true, true, true, true]);
        let fits = [0, 64, 0x1000, 0x400, 0x7c00, 0x8000].map(|at| begins(large, at, WQ_PAGE_OFFSETS));
        assert_eq!(fits, [true, false, true, true, true, false]);
    }

    #[test]
    fn a_ring_in_user_memory_has_no_pages_of_its_own() {
        let mut bench = Bench::new();
        let user = bench.user();
        let umem = bench.umem(user, &[0, 1], 0, true);
        let mut place = |page_offset, log_page_size| {
            let place = Placement { umem: Some((umem, 0)), page_offset, log_page_size, ..ring(64) };
            bench.call(user, |call| call.ring(place)).map(drop)
        };
        assert_eq!(place(0, 0), Ok(()));
        assert_eq!([place(1, 0), place(0, 1)], [Err(Status::BadParameter); 2]);
    }

    #[test]
    fn user_memory_of_somebody_else_or_without_write_access_is_refused() {
        let mut bench = Bench::new();
        let (user, other) = (bench.user(), bench.user());
        let read_only = bench.umem(user, &[0], 0, false);
        let place = |number, written| Placement { umem: Some((number, 0)), written, ..ring(64) };
        assert_eq!(bench.call(user, |call| call.ring(place(read_only, true))), Err(Status::BadParameter));
        assert_eq!(bench.call(user, |call| call.ring(place(read_only, false))), Ok(BASE));
        assert_eq!(bench.call(user, |call| call.record(Some(read_only), 0xff8, 8)), Ok(BASE + 0xff8));
        assert_eq!(bench.call(user, |call| call.record(Some(read_only), 0xffc, 8)), Err(Status::BadParameter));
        assert_eq!(bench.call(other, |call| call.ring(place(read_only, false))), Err(Status::BadResource));
        assert_eq!(bench.call(user, |call| call.ring(place(read_only + 1, false))), Err(Status::BadResource));
        let wraps = Placement { umem: Some((read_only, !0xfff)), written: false, ..ring(64) };
        assert_eq!(bench.call(user, |call| call.ring(wraps)), Err(Status::BadParameter));
    }

    #[test]
    fn pages_are_reached_in_a_row_until_the_object_is_gone() {
        let mut bench = Bench::new();
        let pages = vec![BASE + 0x3000, BASE + 0x1000, BASE + 0x9000];
        let place = Placement { pages, page_offset: 63, ..ring(0x1000) };
        let at = bench.call(DRIVER, |call| {
            let at = call.ring(place.clone())?;
            call.created(Object::Cq, 7);
            Ok(at)
        });
        let at = at.expect("an address");
        let memory = |bench: &Bench, at| bench.device.paged_memory().read(at, &mut [0; 0x1000]).is_ok();
        assert!(memory(&bench, at));
        let _ = bench.call(DRIVER, |call| {
            call.destroyed(Object::Cq, 7);
            Ok(())
        });
        assert!(!memory(&bench, at));
        let refused = bench.call(DRIVER, |call| {
            let at = call.ring(place.clone())?;
            assert!(call.device.paged_memory().read(at, &mut [0]).is_ok());
            Err::<(), _>(Refusal::parameter(format!("refused at {at:#x}")))
        });
        assert_eq!(refused, Err(Status::BadParameter));
    }

    #[test]
    fn pages_that_are_too_few_too_large_or_askew_are_refused() {
        let mut bench = Bench::new();
        let pages = vec![BASE, BASE + 0x2000];
        let place = Placement { pages: pages.clone(), page_offset: 1, ..ring(0x2000 - 64) };
        assert!(bench.call(DRIVER, |call| call.ring(place.clone())).is_ok());
        let longer = Placement { len: place.len + 1, ..place.clone() };
        assert_eq!(bench.call(DRIVER, |call| call.ring(longer)), Err(Status::BadInputLength));
        let askew = Placement { pages: vec![BASE, BASE + 0x2800], ..place.clone() };
        assert_eq!(bench.call(DRIVER, |call| call.ring(askew)), Err(Status::BadParameter));
        let large = Placement { log_page_size: 32, ..place.clone() };
        assert_eq!(bench.call(DRIVER, |call| call.ring(large)), Err(Status::BadParameter));
        let largest = Placement { log_page_size: 31, pages: vec![0], ..ring(64) };
        assert_eq!(bench.call(DRIVER, |call| call.ring(largest)), Ok(0), "a page of 2^43 bytes");
        let of_the_device = Placement { pages: vec![0xc000_0000_0000_0000; 2], ..place };
        assert_eq!(bench.call(DRIVER, |call| call.ring(of_the_device)), Err(Status::BadParameter));
        assert_eq!(bench.call(DRIVER, |call| call.record(None, u64::MAX - 7, 8)), Err(Status::BadParameter));
    }
}
