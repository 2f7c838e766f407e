//! Macros that declare structures, constants and functions of C. Each also keeps a list of what it has declared, which
//! `tests/header.rs` compares with the installed headers: nothing is written down twice.

/// A function that this package never calls.
pub type Uncalled = Option<unsafe extern "C" fn()>;

/// A structure or union that is declared here, as the test of the headers reads it.
#[derive(Clone, Copy, Debug)]
pub struct Structure {
    /// `struct` or `union`.
    pub kind: &'static str,
    /// Its name in C, without `kind`.
    pub name: &'static str,
    /// Bytes.
    pub size: usize,
    /// Its fields.
    pub fields: &'static [Field],
}

/// A field of a [`Structure`].
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in C.
    pub name: &'static str,
    /// Bytes from the structure's beginning.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
}

/// A constant that is declared here.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// Its name in C.
    pub name: &'static str,
    /// Its value.
    pub value: i128,
}

/// A function that is declared here.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its name in the library.
    pub name: &'static str,
    /// The version of the library's symbols that it belongs to: `IBVERBS_1.1`.
    pub version: &'static str,
    /// The types of its arguments, in Rust.
    pub arguments: &'static [&'static str],
    /// The type of its result, in Rust; empty if there is none.
    pub result: &'static str,
}

/// The name in C of a field: the one that its declaration gives after `as`, else its own, without the `r#` of Rust.
pub(crate) const fn in_c(name: &'static str, given: &[&'static str]) -> &'static str {
    match (given, name.as_bytes()) {
        ([given, ..], _) => given,
        ([], [b'r', b'#', rest @ ..]) => match core::str::from_utf8(rest) {
            Ok(rest) => rest,
            Err(_) => name,
        },
        ([], _) => name,
    }
}

/// Declares structures and unions. Their fields may be integers, pointers, optional functions, arrays of them, and each
/// other: types of which all bits 0 are a value, `ZERO`.
macro_rules! structures {
    ($($(#[$doc:meta])* $kind:ident $name:ident {
        $($(#[$field_doc:meta])* $field:ident $(as $in_c:literal)?: $type:ty,)*
    })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub $kind $name {
                $(
                    #[doc = concat!("`", stringify!($field), "` of `", stringify!($kind), " ", stringify!($name), "`.")]
                    ///
                    $(#[$field_doc])*
                    pub $field: $type,
                )*
            }

            impl $name {
                /// All bytes 0, as `= {}` is in C.
                // SAFETY: integers, pointers, optional functions, mutexes and conditions of libc, which are integers,
                // arrays of them, and structures and pairs of this package: all of them may be all zero.
                pub const ZERO: Self = unsafe { core::mem::zeroed() };
            }

            // Members of unions are not known.
            impl core::fmt::Debug for $name {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    f.debug_struct(stringify!($name)).finish_non_exhaustive()
                }
            }

            impl Default for $name {
                fn default() -> Self {
                    Self::ZERO
                }
            }
        )*

        pub(crate) const STRUCTURES: &[$crate::declare::Structure] = &[$($crate::declare::Structure {
            kind: stringify!($kind),
            name: stringify!($name),
            size: size_of::<$name>(),
            fields: &[$($crate::declare::Field {
                name: $crate::declare::in_c(stringify!($field), &[$($in_c)?]),
                offset: core::mem::offset_of!($name, $field),
                size: size_of::<$type>(),
            }),*],
        }),*];
    };
}

/// Declares the constants of enumerations, and a type for each enumeration.
macro_rules! enumerations {
    ($($(#[$doc:meta])* $name:ident: $type:ty { $($constant:ident = $value:expr,)* })*) => {
        $(
            $(#[$doc])*
            pub type $name = $type;
            $(
                #[doc = concat!("`enum ", stringify!($name), "`.")]
                pub const $constant: $name = $value;
            )*
        )*

        pub(crate) const CONSTANTS: &[$crate::declare::Constant] = &[$($(
            $crate::declare::Constant { name: stringify!($constant), value: $constant as i128 },
        )*)*];
    };
}

/// Declares constants, each with its type.
macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        $(
            $(#[$doc])*
            pub const $name: $type = $value;
        )*

        pub(crate) const CONSTANTS: &[$crate::declare::Constant] = &[$(
            $crate::declare::Constant { name: stringify!($name), value: $name as i128 },
        )*];
    };
}

/// Declares functions of a library: for each one of the same name, which looks the library up when the first of them is
/// called. `replaceable` is explained at `Library::open`. If the library, or one of these functions, is missing, the
/// function returns the expression after `else`.
///
/// With the feature `link`, they are those that the program was linked with. Functions that came after the oldest
/// releases to link with are looked up in any case: they have `link none`.
macro_rules! functions {
    (
        $library:literal, link $link:tt, replaceable $replaceable:literal;
        $($version:literal: {
            $($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty, else $absent:expr)?;)*
        })*
    ) => {
        /// The functions of the library.
        struct Functions {
            $($($name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*)*
        }

        impl Functions {
            #[cfg_attr(feature = "link", allow(dead_code, reason = "a linked program searches for little"))]
            fn search() -> Result<Self, $crate::library::Unavailable> {
                let library = $crate::library::Library::open($library, $replaceable)?;
                Ok(Self {
                    // SAFETY: a function of that name and version has this type; `tests/header.rs` compares it with the
                    // header's.
                    $($($name: unsafe {
                        core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C" fn($($type),*) $(-> $result)?>(
                            library.find(stringify!($name), $version)?,
                        )
                    },)*)*
                })
            }

            $crate::declare::load! { $link; $($(fn $name($($arg: $type),*) $(-> $result)?;)*)* }
        }

        /// The functions, looked up once.
        fn functions() -> Result<&'static Functions, &'static $crate::library::Unavailable> {
            static FUNCTIONS: std::sync::OnceLock<Result<Functions, $crate::library::Unavailable>> = std::sync::OnceLock::new();
            FUNCTIONS.get_or_init(Functions::load).as_ref()
        }

        /// Whether the library is there and has the functions of this module.
        pub(crate) fn available() -> Result<(), &'static $crate::library::Unavailable> {
            functions().map(drop)
        }

        pub(crate) const FUNCTIONS: &[$crate::declare::Function] = &[$($($crate::declare::Function {
            name: stringify!($name),
            version: $version,
            arguments: &[$(stringify!($type)),*],
            result: concat!("" $(, stringify!($result))?),
        },)*)*];

        $($(
            $(#[$doc])*
            ///
            /// # Safety
            /// The header states the conditions: all pointers are to live objects of the library, or to as many bytes
            /// as the call says.
            pub unsafe fn $name($($arg: $type),*) $(-> $result)? {
                match functions() {
                    // SAFETY: the caller promises pointers to live objects, or to as many bytes as the call says.
                    Ok(functions) => unsafe { (functions.$name)($($arg),*) },
                    Err(_) => { $($absent)? }
                }
            }
        )*)*
    };
}

/// How a library's functions are found: by the linker, or by a search.
macro_rules! load {
    (none; $($functions:tt)*) => {
        fn load() -> Result<Self, $crate::library::Unavailable> {
            Self::search()
        }
    };
    ($link:literal; $(fn $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        #[cfg(not(feature = "link"))]
        fn load() -> Result<Self, $crate::library::Unavailable> {
            Self::search()
        }

        #[cfg(feature = "link")]
        #[allow(clippy::unnecessary_wraps, reason = "the search, which takes its place, may fail")]
        fn load() -> Result<Self, $crate::library::Unavailable> {
            #[link(name = $link)]
            unsafe extern "C" {
                $(fn $name($($arg: $type),*) $(-> $result)?;)*
            }
            Ok(Self { $($name,)* })
        }
    };
}

pub(crate) use {constants, enumerations, functions, load, structures};
