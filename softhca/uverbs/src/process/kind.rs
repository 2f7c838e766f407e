//! Values of many kinds behind one pointer, and the way back to the kind.

use std::any::Any;
use std::sync::Arc;

/// A value that can be asked for its kind. All types without borrowed data are.
pub(crate) trait AnyKind: Any + Send + Sync {
    /// This pointer in the form that the standard library downcasts. From Rust 1.86 on, the compiler converts it by
    /// itself.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<T: Any + Send + Sync> AnyKind for T {
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}
