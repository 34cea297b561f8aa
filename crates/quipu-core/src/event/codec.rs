//! How an event is read and written as JSON. A log is mostly recorded units, so these are read as they stand; every
//! other kind is read as derived, which keeps the whole event before it knows what it is. Members are in the order
//! of their names, and of a recorded unit's only `deferred` comes before the kind.

use std::fmt;

use quipu_wire::akashik::{MemoryType, Mode};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, IntoDeserializer, MapAccess, Visitor, value::MapAccessDeserializer},
};

use crate::{
    event::{Event, Link, Spared},
    ids::{TraceId, UnitId},
};

const DEFERRED: &str = "deferred";
const TAG: &str = "kind";
const RECORDED: &str = "unit.recorded";

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EventVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event, A::Error> {
        let mut deferred = None;
        let mut key = map.next_key_seed(Expected(TAG))?;
        if key.as_ref().is_some_and(|key| key.is(DEFERRED)) {
            deferred = Some(map.next_value()?);
            key = map.next_key_seed(Expected(TAG))?;
        }
        let kind = match &key {
            Some(Word::Expected) => Some(map.next_value_seed(Expected(RECORDED))?),
            Some(Word::Other(_)) | None => None,
        };
        if let Some(Word::Expected) = kind {
            let mut recorded = Recorded::deserialize(MapAccessDeserializer::new(map))?;
            recorded.deferred |= deferred.unwrap_or_default();
            return Ok(recorded.into());
        }
        let kind = kind.map(|kind| kind.text(RECORDED));
        let begun = Begun { deferred, key: key.map(|key| key.text(TAG)), kind, rest: map };
        Event::deserialize(MapAccessDeserializer::new(begun))
    }
}

/// A recorded unit: the members of [`Event::UnitRecorded`].
#[derive(Deserialize)]
struct Recorded {
    unit: UnitId,
    mode: Mode,
    #[serde(rename = "type")]
    memory_type: MemoryType,
    role: String,
    task: Option<String>,
    score: Option<f64>,
    #[serde(default)]
    relations: Vec<Link>,
    session: Option<String>,
    #[serde(default)]
    shown: Vec<TraceId>,
    #[serde(default)]
    deferred: bool,
    #[serde(rename = "with_authority")]
    authority: Option<u8>,
    #[serde(rename = "with_key")]
    key: Option<String>,
    #[serde(default)]
    spared: Vec<Spared>,
}

impl From<Recorded> for Event {
    fn from(recorded: Recorded) -> Self {
        let Recorded {
            unit,
            mode,
            memory_type,
            role,
            task,
            score,
            relations,
            session,
            shown,
            deferred,
            authority,
            key,
            spared,
        } = recorded;
        Self::UnitRecorded {
            unit,
            mode,
            memory_type,
            role,
            task,
            score,
            relations,
            session,
            shown,
            deferred,
            authority,
            key,
            spared,
        }
    }
}

/// Reads a text and says whether it is the one that is known.
struct Expected(&'static str);

enum Word {
    Expected,
    Other(String),
}

impl Word {
    fn is(&self, text: &str) -> bool {
        matches!(self, Self::Other(other) if other == text)
    }

    fn text(self, known: &str) -> String {
        match self {
            Self::Expected => known.to_owned(),
            Self::Other(text) => text,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Expected {
    type Value = Word;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Word, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Expected {
    type Value = Word;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Word, E> {
        Ok(if text == self.0 { Word::Expected } else { Word::Other(text.to_owned()) })
    }
}

/// A map whose beginning was read: whether it says that something was deferred, the key behind that, and what that
/// key says where it is the kind.
struct Begun<A> {
    deferred: Option<bool>,
    key: Option<String>,
    kind: Option<String>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Begun<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        if self.deferred.is_some() {
            return seed.deserialize(DEFERRED.into_deserializer()).map(Some);
        }
        match self.key.take() {
            Some(key) => seed.deserialize(key.into_deserializer()).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        if let Some(deferred) = self.deferred.take() {
            return seed.deserialize(deferred.into_deserializer());
        }
        match self.kind.take() {
            Some(kind) => seed.deserialize(kind.into_deserializer()),
            None => self.rest.next_value_seed(seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use quipu_wire::{
        akashik::{ConflictStrategy, UnitStatus},
        json::canon,
    };

    use super::*;
    use crate::ids::ConflictId;

    fn recorded(deferred: bool) -> Event {
        Event::UnitRecorded {
            unit: UnitId::from_bits(7),
            mode: Mode::Committed,
            memory_type: MemoryType::Finding,
            role: "a \"role\"".to_owned(),
            task: Some("t".to_owned()),
            score: Some(0.75),
            relations: Vec::new(),
            session: None,
            shown: vec![TraceId::from_bits(9)],
            deferred,
            authority: Some(4),
            key: Some("k1".to_owned()),
            spared: vec![Spared { unit: UnitId::from_bits(3), needs: 9 }],
        }
    }

    #[test]
    fn reads_back_what_was_written() {
        let (unit, conflict) = (UnitId::from_bits(1), ConflictId::from_bits(2));
        let status = |unit| Event::UnitStatusChanged {
            unit,
            from: UnitStatus::Active,
            to: UnitStatus::Contested,
        };
        let events = [
            recorded(false),
            recorded(true),
            status(unit),
            Event::ConflictEscalated {
                conflict,
                strategy: ConflictStrategy::Vote,
                notified: vec!["a".to_owned()],
            },
            Event::AgentDeregistered {
                agent: "a".to_owned(),
                units_orphaned: 1,
                tasks_reassigned: 0,
            },
        ];
        for event in events {
            let text = canon::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
        }
    }

    #[test]
    fn the_order_of_members_and_members_of_later_versions_change_nothing() {
        let text = canon::to_string(&recorded(true)).unwrap();
        let begins = text.replacen("{\"deferred\":true,", "{", 1);
        let late =
            format!("{},\"deferred\":true,\"later\":[1]}}", begins.strip_suffix('}').unwrap());
        assert_eq!(serde_json::from_str::<Event>(&late).unwrap(), recorded(true));
        let kind = "\"kind\":\"unit.recorded\",";
        let last = text.replacen(kind, "", 1);
        let last = format!("{},\"kind\":\"unit.recorded\"}}", last.strip_suffix('}').unwrap());
        assert_eq!(serde_json::from_str::<Event>(&last).unwrap(), recorded(true));
    }

    #[test]
    fn refuses_what_is_no_event() {
        let text = canon::to_string(&recorded(false)).unwrap();
        for wrong in [
            text.replace("unit.recorded", "unit.invented"),
            text.replace("\"role\"", "\"roll\""),
            text.replace("\"kind\"", "\"sort\""),
            "{}".to_owned(),
            "{\"deferred\":true}".to_owned(),
            "[]".to_owned(),
        ] {
            assert!(serde_json::from_str::<Event>(&wrong).is_err(), "{wrong}");
        }
    }
}
