//! Writes any serde value as RFC 8785 canonical JSON, straight into one buffer.
//!
//! Hand-written, because the public crate for this boxes a writer for every write, turns a NaN
//! inside an array or object into null and rounds integers beyond 2^53; what is needed is small.
//! Owns scalars and nesting; objects and arrays are in `object`, key order in `order`.

use std::io::Write as _;

use serde::ser::{Serialize, Serializer};

use super::{
    error::CanonError,
    object::{ArrayWriter, Member, ObjectWriter, StructWriter, Wrapping},
    text::write_string,
};
use crate::limits::SAFE_INTEGER_MAX;

/// How many levels of arrays and objects a value may have, for writing and for parsing.
pub const MAX_DEPTH: usize = 64;

/// The struct name under which `serde_json` hands its `RawValue` to a serializer.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Writes `value` as canonical JSON.
///
/// # Errors
/// Where the value has no canonical form: see [`CanonError`].
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CanonError> {
    let mut writer = Writer::roomy();
    value.serialize(&mut writer)?;
    Ok(writer.out)
}

/// Writes `value` as canonical JSON, as text.
///
/// # Errors
/// Where the value has no canonical form: see [`CanonError`].
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, CanonError> {
    Ok(String::from_utf8(to_vec(value)?).expect("only whole characters are written"))
}

/// The output and, shared by all open objects as stacks, what is needed to put members in order.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) out: Vec<u8>,
    pub(super) keys: String,
    pub(super) members: Vec<Member>,
    /// Where an object's members are copied while they are put in order.
    pub(super) spare: Vec<u8>,
    depth: usize,
}

impl Writer {
    /// With room for what is most often written, a commit's header or body: to grow step by step costs more
    /// than to write it.
    fn roomy() -> Self {
        Self {
            out: Vec::with_capacity(1024),
            keys: String::with_capacity(256),
            members: Vec::with_capacity(32),
            ..Self::default()
        }
    }

    /// Enters an array or object; the caller writes its opening bracket.
    pub(super) fn descend(&mut self) -> Result<(), CanonError> {
        if self.depth == MAX_DEPTH {
            return Err(CanonError::TooDeep);
        }
        self.depth += 1;
        Ok(())
    }

    /// Leaves an array or object by its closing bracket.
    pub(super) fn ascend(&mut self, bracket: u8) {
        self.depth -= 1;
        self.out.push(bracket);
    }

    /// Opens `{"variant":`; the object has one member, so there is nothing to put in order.
    fn open_variant(&mut self, variant: &str) -> Result<(), CanonError> {
        self.descend()?;
        self.out.push(b'{');
        write_string(&mut self.out, variant);
        self.out.push(b':');
        Ok(())
    }

    fn literal(&mut self, text: &[u8]) -> Result<(), CanonError> {
        self.out.extend_from_slice(text);
        Ok(())
    }

    fn integer(&mut self, value: i64) -> Result<(), CanonError> {
        if value.unsigned_abs() > SAFE_INTEGER_MAX {
            return Err(CanonError::IntegerTooLarge { value: value.to_string() });
        }
        write!(self.out, "{value}").expect("a Vec takes every write");
        Ok(())
    }
}

impl<'w> Serializer for &'w mut Writer {
    type Ok = ();
    type Error = CanonError;
    type SerializeSeq = ArrayWriter<'w>;
    type SerializeTuple = ArrayWriter<'w>;
    type SerializeTupleStruct = ArrayWriter<'w>;
    type SerializeTupleVariant = ArrayWriter<'w>;
    type SerializeMap = ObjectWriter<'w>;
    type SerializeStruct = StructWriter<'w>;
    type SerializeStructVariant = ObjectWriter<'w>;

    fn serialize_bool(self, value: bool) -> Result<(), CanonError> {
        self.literal(if value { b"true" } else { b"false" })
    }

    fn serialize_i8(self, value: i8) -> Result<(), CanonError> {
        self.integer(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), CanonError> {
        self.integer(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), CanonError> {
        self.integer(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), CanonError> {
        self.integer(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), CanonError> {
        match value.try_into() {
            Ok(value) => self.integer(value),
            Err(_) => Err(CanonError::IntegerTooLarge { value: value.to_string() }),
        }
    }

    fn serialize_u8(self, value: u8) -> Result<(), CanonError> {
        self.integer(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), CanonError> {
        self.integer(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), CanonError> {
        self.integer(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), CanonError> {
        self.serialize_u128(value.into())
    }

    fn serialize_u128(self, value: u128) -> Result<(), CanonError> {
        match value.try_into() {
            Ok(value) => self.integer(value),
            Err(_) => Err(CanonError::IntegerTooLarge { value: value.to_string() }),
        }
    }

    fn serialize_f32(self, value: f32) -> Result<(), CanonError> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), CanonError> {
        if value.is_nan() {
            return Err(CanonError::NotFinite { value: "NaN" });
        }
        if value.is_infinite() {
            let value = if value > 0.0 { "Infinity" } else { "-Infinity" };
            return Err(CanonError::NotFinite { value });
        }
        self.literal(ryu_js::Buffer::new().format_finite(value).as_bytes())
    }

    fn serialize_char(self, value: char) -> Result<(), CanonError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), CanonError> {
        write_string(&mut self.out, value);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), CanonError> {
        Err(CanonError::Bytes)
    }

    fn serialize_none(self) -> Result<(), CanonError> {
        self.literal(b"null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CanonError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), CanonError> {
        self.literal(b"null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), CanonError> {
        self.literal(b"null")
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

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), CanonError> {
        self.open_variant(variant)?;
        value.serialize(&mut *self)?;
        self.ascend(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<ArrayWriter<'w>, CanonError> {
        ArrayWriter::begin(self, Wrapping::Bare)
    }

    fn serialize_tuple(self, _: usize) -> Result<ArrayWriter<'w>, CanonError> {
        ArrayWriter::begin(self, Wrapping::Bare)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<ArrayWriter<'w>, CanonError> {
        ArrayWriter::begin(self, Wrapping::Bare)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<ArrayWriter<'w>, CanonError> {
        self.open_variant(variant)?;
        ArrayWriter::begin(self, Wrapping::Variant)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<ObjectWriter<'w>, CanonError> {
        ObjectWriter::begin(self, Wrapping::Bare)
    }

    fn serialize_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<StructWriter<'w>, CanonError> {
        if name == RAW_VALUE {
            return Ok(StructWriter::Raw(self));
        }
        ObjectWriter::begin(self, Wrapping::Bare).map(StructWriter::Object)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<ObjectWriter<'w>, CanonError> {
        self.open_variant(variant)?;
        ObjectWriter::begin(self, Wrapping::Variant)
    }
}
