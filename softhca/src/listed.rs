//! Enumerations that know all of their values, and perhaps a word for each.

/// An enumeration with the list of its values. With words, each value has a `name`.
macro_rules! listed {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $($(#[$doc:meta])* $value:ident $(= $number:literal)? => $word:literal,)* }
    ) => {
        $crate::listed::listed! {
            $(#[$meta])*
            $vis enum $name { $(#[doc = concat!("`", $word, "`.")] $(#[$doc])* $value $(= $number)?,)* }
        }

        impl $name {
            /// Its word.
            #[must_use]
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)*
                }
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $($(#[$doc:meta])* $value:ident $(= $number:literal)?,)* }
    ) => {
        $(#[$meta])*
        $vis enum $name { $($(#[$doc])* $value $(= $number)?,)* }

        impl $name {
            /// All of them.
            $vis const ALL: [Self; [$(stringify!($value)),*].len()] = [$(Self::$value),*];
        }
    };
}
pub(crate) use listed;
