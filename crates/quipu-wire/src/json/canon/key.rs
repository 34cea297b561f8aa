//! Takes the text out of something that serializes as a string: an object's key, or the JSON that a
//! raw value carries. Refuses everything else, numbers and booleans included, because a key that
//! was not a string would come back as another type.

use serde::ser::{Impossible, Serialize, Serializer};

use super::error::CanonError;

/// Appends the text to `keys`.
pub(super) struct KeyWriter<'w> {
    pub(super) keys: &'w mut String,
}

fn refuse<T>(kind: &'static str) -> Result<T, CanonError> {
    Err(CanonError::KeyNotString { kind })
}

macro_rules! refuse_scalars {
    ($($method:ident($type:ty) is $kind:literal;)*) => {
        $(fn $method(self, _: $type) -> Result<(), CanonError> {
            refuse($kind)
        })*
    };
}

impl Serializer for KeyWriter<'_> {
    type Ok = ();
    type Error = CanonError;
    type SerializeSeq = Impossible<(), CanonError>;
    type SerializeTuple = Impossible<(), CanonError>;
    type SerializeTupleStruct = Impossible<(), CanonError>;
    type SerializeTupleVariant = Impossible<(), CanonError>;
    type SerializeMap = Impossible<(), CanonError>;
    type SerializeStruct = Impossible<(), CanonError>;
    type SerializeStructVariant = Impossible<(), CanonError>;

    refuse_scalars! {
        serialize_bool(bool) is "a boolean";
        serialize_i8(i8) is "an integer";
        serialize_i16(i16) is "an integer";
        serialize_i32(i32) is "an integer";
        serialize_i64(i64) is "an integer";
        serialize_i128(i128) is "an integer";
        serialize_u8(u8) is "an integer";
        serialize_u16(u16) is "an integer";
        serialize_u32(u32) is "an integer";
        serialize_u64(u64) is "an integer";
        serialize_u128(u128) is "an integer";
        serialize_f32(f32) is "a float";
        serialize_f64(f64) is "a float";
        serialize_bytes(&[u8]) is "bytes";
        serialize_unit_struct(&'static str) is "null";
    }

    fn serialize_str(self, text: &str) -> Result<(), CanonError> {
        self.keys.push_str(text);
        Ok(())
    }

    fn serialize_char(self, character: char) -> Result<(), CanonError> {
        self.keys.push(character);
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), CanonError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), CanonError> {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CanonError> {
        value.serialize(self)
    }

    fn serialize_none(self) -> Result<(), CanonError> {
        refuse("null")
    }

    fn serialize_unit(self) -> Result<(), CanonError> {
        refuse("null")
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), CanonError> {
        refuse("an object")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, CanonError> {
        refuse("an array")
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, CanonError> {
        refuse("an array")
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, CanonError> {
        refuse("an array")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, CanonError> {
        refuse("an object")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, CanonError> {
        refuse("an object")
    }

    fn serialize_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStruct, CanonError> {
        refuse("an object")
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, CanonError> {
        refuse("an object")
    }
}
