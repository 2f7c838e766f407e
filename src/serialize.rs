//! serde (feature `serde`) for the values that peers exchange: [`Remote`](crate::Remote) and the numbers in it and in
//! endpoints. Text formats have plain numbers; `verbs::Endpoint` is beside its type.
//!
//! Deserializing checks what constructors check: a number of more than 24 bits is an error.
use serde::de::{Deserialize, Deserializer, Error, Unexpected};
use serde::ser::{Serialize, Serializer};

use crate::types::{Psn, Qpn};

/// A 24-bit number, serialized as a plain number.
macro_rules! number24 {
    ($($name:ident)*) => {
        $(
            impl Serialize for $name {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_u32(self.get())
                }
            }

            impl<'de> Deserialize<'de> for $name {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let value = u32::deserialize(deserializer)?;
                    Self::new(value).ok_or_else(|| {
                        D::Error::invalid_value(Unexpected::Unsigned(value.into()), &"a number of 24 bits")
                    })
                }
            }
        )*
    };
}

number24!(Qpn Psn);

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use crate::types::{Psn, Qpn, Rkey};
    use crate::wqe::Remote;

    #[test]
    fn numbers_and_places_are_plain_text() {
        let place = Remote { addr: 0x1000, rkey: Rkey(17) };
        let text = r#"{"addr":4096,"rkey":17}"#;
        assert_eq!(serde_json::to_string(&place).expect("text"), text);
        assert_eq!(serde_json::from_str::<Remote>(text).expect("a place"), place);
        assert_eq!(serde_json::from_str::<Qpn>("16777215").expect("a number"), Qpn::truncate(Qpn::MAX));
        let error = serde_json::from_str::<Psn>("16777216").expect_err("25 bits").to_string();
        assert!(error.contains("expected a number of 24 bits"), "{error}");
    }
}
