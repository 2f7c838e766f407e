//! Protection domains.

use std::sync::Arc;

use blueflame::verbs::ProtectionDomain;
use blueflame_sys as sys;

use crate::cmd::{AllocPdIn, Pdn};
use crate::context::{Context, Object};
use crate::error::Error;

/// A protection domain: which queues may use which memory. Cheap to clone; destroyed with the last object that holds
/// it.
#[derive(Clone, Debug)]
pub struct Pd {
    handle: Arc<Handle>,
}

#[derive(Debug)]
struct Handle {
    pdn: Pdn,
    context: Context,
    /// Keeps the domain: the object made here, or the domain of verbs.
    _under: Under,
}

#[derive(Debug)]
enum Under {
    /// Made here.
    Made { _object: Object },
    /// Made by verbs.
    Verbs { _pd: ProtectionDomain },
}

impl Pd {
    /// Makes a protection domain (ALLOC_PD).
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn new(context: &Context) -> Result<Self, Error> {
        let (object, out) = context.make(&AllocPdIn::new(), ())?;
        let handle = Handle { pdn: out.pd(), context: context.clone(), _under: Under::Made { _object: object } };
        Ok(Self { handle: Arc::new(handle) })
    }

    /// The domain that verbs has made. Queues of this crate can then use memory that verbs has registered in it
    /// (`ibv_reg_mr`), such as that of a [`Pool`](blueflame::verbs::Pool), and vice versa.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`] if it belongs to another open device; or a failed call.
    pub fn of_verbs(context: &Context, pd: &ProtectionDomain) -> Result<Self, Error> {
        if pd.device().as_raw() != context.device().as_raw() {
            return Err(Error::ForeignDevice { object: "protection domain" });
        }
        let mut out = sys::mlx5dv_pd::default();
        let pair = sys::mlx5dv_pair { r#in: pd.as_raw(), out: &raw mut out };
        let mut asked = sys::mlx5dv_obj { pd: pair, ..sys::mlx5dv_obj::ZERO };
        // SAFETY: the domain is alive, and libmlx5's, as its context is; the answer is ours.
        let errno = unsafe { sys::mlx5dv_init_obj(&raw mut asked, sys::MLX5DV_OBJ_PD) };
        if errno != 0 {
            return Err(blueflame::verbs::CallError { call: "mlx5dv_init_obj (PD)", errno }.into());
        }
        let pdn = Pdn::new(out.pdn)
            .ok_or_else(|| Error::Parts { object: "protection domain", why: format!("number {:#x}", out.pdn) })?;
        let handle = Handle { pdn, context: context.clone(), _under: Under::Verbs { _pd: pd.clone() } };
        Ok(Self { handle: Arc::new(handle) })
    }

    /// The number that identifies it in commands.
    #[must_use]
    pub fn pdn(&self) -> Pdn {
        self.handle.pdn
    }

    /// The device it was made on.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.handle.context
    }
}
