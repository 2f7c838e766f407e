//! Changing memory keys by WQEs, as Linux' `mlx5_ib` makes, registers, invalidates and revokes them
//! (`drivers/infiniband/hw/mlx5`: `umr.c`, `wr.c`, `mr.c`, `qp.c`). Bytes are at offsets that these tests write down.

mod driver;
mod encryption;
mod refusals;
mod registration;
