//! The ends of a process that pass by `atexit`.

use crate::device::Hca;
use crate::process::real;
use libc::c_int;

/// Declares functions that end the process at once.
macro_rules! ends {
    ($($name:ident;)*) => {
        $(
            /// Ends the process as libc does, when packets of the devices have left.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            #[allow(non_snake_case, reason = "one of the names is `_Exit`")]
            pub extern "C" fn $name(code: c_int) -> ! {
                Hca::end_all();
                // SAFETY: takes an integer.
                unsafe { real::_exit(code) }
            }
        )*
    };
}

ends! {
    _exit;
    _Exit;
}
