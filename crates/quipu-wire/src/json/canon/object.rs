//! Objects and arrays while they are being written. An object's members go straight to the output;
//! when it ends, they are put in key order, which costs nothing where they came in order.

use std::ops::Range;

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use super::{
    error::CanonError, key::KeyWriter, order::by_utf16, parse::parse, serializer::Writer,
    text::write_string,
};

/// One member of an object that is not yet finished.
#[derive(Debug)]
pub(super) struct Member {
    /// Where its key stands, unescaped, in [`Writer::keys`].
    key: Range<usize>,
    /// Where `"key":value` stands in [`Writer::out`].
    text: Range<usize>,
}

/// How many braces end a compound: one more where it is the content of an enum's variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapping {
    Bare,
    Variant,
}

pub(super) struct ArrayWriter<'w> {
    writer: &'w mut Writer,
    wrapping: Wrapping,
    is_empty: bool,
}

impl<'w> ArrayWriter<'w> {
    pub(super) fn begin(writer: &'w mut Writer, wrapping: Wrapping) -> Result<Self, CanonError> {
        writer.descend()?;
        writer.out.push(b'[');
        Ok(Self { writer, wrapping, is_empty: true })
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CanonError> {
        if !self.is_empty {
            self.writer.out.push(b',');
        }
        self.is_empty = false;
        value.serialize(&mut *self.writer)
    }

    fn finish(self) {
        self.writer.ascend(b']');
        if self.wrapping == Wrapping::Variant {
            self.writer.ascend(b'}');
        }
    }
}

pub(super) struct ObjectWriter<'w> {
    writer: &'w mut Writer,
    wrapping: Wrapping,
    /// Where its first member begins in [`Writer::out`].
    start: usize,
    /// Where its members begin in [`Writer::members`]; nested objects push and drop theirs above.
    first_member: usize,
    /// Where its keys begin in [`Writer::keys`].
    first_key: usize,
    awaits_value: bool,
}

impl<'w> ObjectWriter<'w> {
    pub(super) fn begin(writer: &'w mut Writer, wrapping: Wrapping) -> Result<Self, CanonError> {
        writer.descend()?;
        writer.out.push(b'{');
        let (start, first_member) = (writer.out.len(), writer.members.len());
        let first_key = writer.keys.len();
        Ok(Self { writer, wrapping, start, first_member, first_key, awaits_value: false })
    }

    fn key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), CanonError> {
        if self.awaits_value {
            return Err(broken_contract("a map gave a key where a value was due"));
        }
        let Writer { out, keys, members, .. } = &mut *self.writer;
        let key_start = keys.len();
        key.serialize(KeyWriter { keys })?;
        if members.len() > self.first_member {
            out.push(b',');
        }
        let text_start = out.len();
        write_string(out, &keys[key_start..]);
        out.push(b':');
        members.push(Member { key: key_start..keys.len(), text: text_start..text_start });
        self.awaits_value = true;
        Ok(())
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CanonError> {
        if !self.awaits_value {
            return Err(broken_contract("a map gave a value without a key"));
        }
        value.serialize(&mut *self.writer)?;
        if let Some(member) = self.writer.members.last_mut() {
            member.text.end = self.writer.out.len();
        }
        self.awaits_value = false;
        Ok(())
    }

    fn finish(mut self) -> Result<(), CanonError> {
        if self.awaits_value {
            return Err(broken_contract("a map ended where a value was due"));
        }
        self.put_in_order()?;
        self.writer.members.truncate(self.first_member);
        self.writer.keys.truncate(self.first_key);
        self.writer.ascend(b'}');
        if self.wrapping == Wrapping::Variant {
            self.writer.ascend(b'}');
        }
        Ok(())
    }
}

impl ObjectWriter<'_> {
    fn put_in_order(&mut self) -> Result<(), CanonError> {
        let Writer { out, keys, members, spare, .. } = &mut *self.writer;
        let members = &mut members[self.first_member..];
        let key_of = |member: &Member| &keys.as_bytes()[member.key.clone()];
        let order = |left: &Member, right: &Member| by_utf16(key_of(left), key_of(right));
        if members.is_sorted_by(|left, right| order(left, right).is_lt()) {
            return Ok(());
        }
        members.sort_unstable_by(order);
        if let Some(twice) = members.windows(2).find(|pair| order(&pair[0], &pair[1]).is_eq()) {
            return Err(CanonError::DuplicateKey { key: keys[twice[0].key.clone()].to_owned() });
        }
        spare.clear();
        spare.extend_from_slice(&out[self.start..]);
        out.truncate(self.start);
        for member in members {
            if out.len() > self.start {
                out.push(b',');
            }
            let text = member.text.start - self.start..member.text.end - self.start;
            out.extend_from_slice(&spare[text]);
        }
        Ok(())
    }
}

fn broken_contract(reason: &str) -> CanonError {
    CanonError::Custom { reason: reason.to_owned() }
}

/// A struct being written, or the disguise in which a raw JSON value arrives.
pub(super) enum StructWriter<'w> {
    Object(ObjectWriter<'w>),
    Raw(&'w mut Writer),
}

/// Raw JSON is parsed strictly and written anew, so that its spelling cannot reach a hash.
fn write_raw<T: Serialize + ?Sized>(writer: &mut Writer, json: &T) -> Result<(), CanonError> {
    let start = writer.keys.len();
    json.serialize(KeyWriter { keys: &mut writer.keys })?;
    let parsed = parse(&writer.keys.as_bytes()[start..]);
    writer.keys.truncate(start);
    parsed.map_err(CanonError::Raw)?.serialize(writer)
}

impl SerializeStruct for StructWriter<'_> {
    type Ok = ();
    type Error = CanonError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), CanonError> {
        match self {
            Self::Object(object) => {
                object.key(key)?;
                object.value(value)
            }
            Self::Raw(writer) => write_raw(writer, value),
        }
    }

    fn end(self) -> Result<(), CanonError> {
        match self {
            Self::Object(object) => object.finish(),
            Self::Raw(_) => Ok(()),
        }
    }
}

impl SerializeStructVariant for ObjectWriter<'_> {
    type Ok = ();
    type Error = CanonError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), CanonError> {
        self.key(key)?;
        self.value(value)
    }

    fn end(self) -> Result<(), CanonError> {
        self.finish()
    }
}

impl SerializeMap for ObjectWriter<'_> {
    type Ok = ();
    type Error = CanonError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), CanonError> {
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CanonError> {
        self.value(value)
    }

    fn end(self) -> Result<(), CanonError> {
        self.finish()
    }
}

macro_rules! array_from {
    ($($trait:ident::$method:ident),*) => {
        $(impl $trait for ArrayWriter<'_> {
            type Ok = ();
            type Error = CanonError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CanonError> {
                self.element(value)
            }

            fn end(self) -> Result<(), CanonError> {
                self.finish();
                Ok(())
            }
        })*
    };
}

array_from!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);
