//! Regions of dma-bufs by way of Data Direct.
//!
//! They need libmlx5 of rdma-core 54 or later. With an older one, these tests look only whether that is said:
//! `LD_LIBRARY_PATH=RDMA_CORE/build/lib ./run test tests/verbs -- data_direct` takes another.
//!
//! Data Direct belongs here, other dma-bufs in `regions.rs`.

use std::os::fd::AsFd;
use std::path::Path;

use blueflame::transport::Rc;
use blueflame::types::WrId;
use blueflame::verbs::{Access, Error};
use blueflame::wqe;
use blueflame_sys as sys;

use crate::end::connected;
use crate::on_device::device;
use crate::regions::{PAGE, dmabuf};

/// The PCI device number of a ConnectX-8, the first that has a Data Direct function.
const CONNECTX_8: u32 = 0x1023;

#[test]
fn a_device_tells_where_its_data_direct_function_is() {
    let device = device();
    let path = device.data_direct_path();
    if let Err(lacks) = sys::available::data_direct() {
        assert_eq!(lacks.symbol, Some(("mlx5dv_reg_dmabuf_mr", "MLX5_1.25")));
        assert_eq!(path, Err(Error::Library(lacks)));
    } else if device.attr().vendor_part_id < CONNECTX_8 {
        assert_eq!(path, Ok(None));
    } else {
        let path = path.expect("an answer").expect("a function");
        let text = |file| std::fs::read_to_string(path.join(file)).expect("a file of the function");
        assert!(path.starts_with("/sys/devices"), "{path:?}");
        assert_eq!((text("vendor").trim(), text("device").trim()), ("0x15b3", "0x2100"));
        assert!(Path::new("/sys/bus/pci/devices").join(path.file_name().expect("a name")).exists());
    }
}

#[test]
fn a_region_by_data_direct_is_a_destination() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (file, map) = dmabuf(2);
    let page = PAGE as u64;
    let made = pd.register_dmabuf_data_direct(file.as_fd(), page..2 * page, 0, Access::ALL);
    if let Err(lacks) = sys::available::data_direct() {
        assert_eq!(made.expect_err("an old library"), Error::Library(lacks));
        return;
    }
    if device.attr().vendor_part_id < CONNECTX_8 {
        assert_eq!(made.expect_err("an old device"), Error::Unsupported { what: "Data Direct" });
        return;
    }
    let region = made.expect("a region");
    let (mut a, _b) = connected::<Rc>(&device, &pd);
    a.post(&wqe::write(region.remote().at(8)).inline(b"by another way").signaled(WrId(1)));
    assert_eq!(a.completion().1, WrId(1));
    assert_eq!(map[PAGE + 8..][..14], *b"by another way");

    let error = |range, iova, access| {
        pd.register_dmabuf_data_direct(file.as_fd(), range, iova, access).expect_err("no such region")
    };
    assert!(matches!(error(5..5, 0, Access::ALL), Error::OutOfRange { value: 0, min: 1, .. }));
    assert!(matches!(error(8..page, 8, Access::ALL), Error::OutOfRange { value: 8, max: 0, .. }));
    assert_eq!(error(0..page, 0, Access::ON_DEMAND), Error::AccessExcess { not: Access::ON_DEMAND });
}
