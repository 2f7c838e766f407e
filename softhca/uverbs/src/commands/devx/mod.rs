//! Commands of the device that programs send themselves, as mailboxes (`mlx5dv_devx_*`): what Linux'
//! `drivers/infiniband/hw/mlx5/devx.c` does with them before and after the device has carried them out.
//!
//! | file | what it has |
//! | --- | --- |
//! | `kinds` | which command makes, names and destroys what |
//! | `mailboxes` | copying in and out, on whose behalf |
//! | `files` | files that answers and events come by |
//! | `calls`, `served` | commands on objects of another process, and of this one for others |
//! | `general`, `objects`, `umem`, `answers`, `events` | the methods |

pub(super) mod answers;
mod calls;
pub(super) mod events;
mod files;
pub(super) mod general;
mod kinds;
mod mailboxes;
pub(super) mod objects;
pub(super) mod served;
pub(super) mod umem;
