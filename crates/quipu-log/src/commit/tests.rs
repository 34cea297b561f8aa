//! Sealing and verifying, through the public surface.

use quipu_wire::hash::Hash;
use serde_json::{Value, json};

use super::*;
use crate::{
    commit::{Damage, DamageKind, bodies},
    conformance::Chain,
};

fn draft() -> Draft<Value> {
    let body = Body::new(Salt::from_bytes([7; 16]), &json!({ "b": "zwei", "a": ["é", 1] }));
    Draft {
        epoch: 42,
        time_ms: 1_700_000_000_123,
        actor: "agent-1".to_owned(),
        session: Some("s-1".to_owned()),
        request: None,
        events: vec![
            DraftEvent { event: json!({ "kind": "told", "id": "m-1" }), body: Some(body.unwrap()) },
            DraftEvent { event: json!({ "kind": "closed" }), body: None },
        ],
    }
}

#[test]
fn seals_the_same_bytes_for_ever() {
    let commit = draft().seal(1, Hash::ZERO).unwrap();
    let header = std::str::from_utf8(&commit.header).unwrap();
    insta::assert_snapshot!(header, @r#"{"actor":"agent-1","epoch":42,"events":[{"body":"090ba8e071ca570986f934c84f31b18acfa0b3bbb02b836b87c76eafc7d70ef8","event":{"id":"m-1","kind":"told"}},{"event":{"kind":"closed"}}],"position":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","session":"s-1","time_ms":1700000000123,"v":1}"#);
    insta::assert_snapshot!(bodies::encode(&commit.bodies).unwrap().unwrap(), @r#"[{"event":0,"salt":"07070707070707070707070707070707","body":{"a":["é",1],"b":"zwei"}}]"#);
    insta::assert_snapshot!(commit.hash, @"7ec3d56dc357c0df3a7435b66c4695ee1b87f813a1ea5d570ba49205f86cc133");
    let mut erased = commit;
    erased.bodies[0].content = BodyContent::Erased;
    insta::assert_snapshot!(bodies::encode(&erased.bodies).unwrap().unwrap(), @r#"[{"event":0,"erased":true}]"#);
}

#[test]
fn decodes_the_header_that_was_sealed() {
    let commit = draft().seal(3, Hash::of(b"before")).unwrap();
    let header: Header<Value> = commit.decode_header().unwrap();
    assert_eq!((header.v, header.position, header.epoch), (1, 3, 42));
    assert_eq!((header.session.as_deref(), header.request), (Some("s-1"), None));
    assert_eq!(header.prev, Hash::of(b"before"));
    assert_eq!(header.events[1], SealedEvent { event: json!({ "kind": "closed" }), body: None });
    assert_eq!(header.events[0].body, commit.body(0).map(Body::commitment));
    assert_eq!(commit.body(1), None);
    let other = commit.decode_header::<u8>().unwrap_err();
    assert!(other.to_string().starts_with("position 3: header unreadable: "), "{other}");
}

#[test]
fn refuses_to_seal_what_has_no_place_in_a_log() {
    let mut empty = draft();
    empty.events.clear();
    assert!(matches!(empty.seal(5, Hash::ZERO), Err(SealError::NoEvents { position: 5 })));
    assert!(matches!(draft().seal(0, Hash::ZERO), Err(SealError::PositionZero)));
    let large = Draft { epoch: 1 << 60, ..draft() };
    assert!(matches!(large.seal(1, Hash::ZERO), Err(SealError::Canon(_))));
}

/// Applies `change` to the second of three commits and answers what `verify` says of it.
fn verdict(change: impl FnOnce(&mut Commit)) -> String {
    let mut chain = Chain::new(1);
    let first = chain.take(1);
    let mut commit = chain.next_with("hello");
    let after = first[0].head();
    assert_eq!(commit.verify(&after), Ok(chain.head()));
    change(&mut commit);
    commit.verify(&after).unwrap_err().to_string()
}

fn rewrite(commit: &mut Commit, from: &str, to: &str) {
    let header = String::from_utf8(commit.header.to_vec()).unwrap();
    assert!(header.contains(from), "{header}");
    commit.header = header.replace(from, to).into_bytes().into();
    commit.hash = Hash::of(&commit.header);
}

#[test]
fn names_every_kind_of_damage() {
    let cases: [(&str, String); 11] = [
        ("position 4: expected position 2 here", verdict(|c| c.position = 4)),
        (
            "position 2: previous hash does not match the commit before",
            verdict(|c| c.prev = Hash::ZERO),
        ),
        ("position 2: header hash does not match", verdict(|c| c.header[5] ^= 1)),
        ("position 2: header hash does not match", verdict(|c| c.hash = Hash::ZERO)),
        (
            "position 2: header unreadable: version 2 is not 1",
            verdict(|c| rewrite(c, "\"v\":1", "\"v\":2")),
        ),
        ("position 2: stored epoch does not match the header", verdict(|c| c.epoch = 900)),
        (
            "position 2: stored position does not match the header",
            verdict(|c| rewrite(c, "\"position\":2", "\"position\":3")),
        ),
        (
            "position 2: body of event 0 does not match its commitment",
            verdict(|c| {
                c.bodies[0].content = BodyContent::Present(Body {
                    salt: Salt::from_bytes([9; 16]),
                    json: vec![b'1'],
                });
            }),
        ),
        ("position 2: body of event 0 is missing", verdict(|c| c.bodies.clear())),
        (
            "position 2: body of event 1 has no commitment",
            verdict(|c| {
                c.bodies.push(StoredBody { event: 1, content: BodyContent::Erased });
            }),
        ),
        (
            "position 2: body of event 0 has no commitment",
            verdict(|c| c.bodies.extend(c.bodies.clone())),
        ),
    ];
    for (expected, found) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn refuses_an_epoch_that_does_not_grow() {
    let mut chain = Chain::new(1);
    let first = chain.take(1).remove(0);
    let next = Draft { epoch: first.epoch, ..draft() }.seal(2, first.hash).unwrap();
    let kind = DamageKind::EpochNotIncreasing { epoch: first.epoch, before: first.epoch };
    assert_eq!(next.verify(&first.head()), Err(Damage::new(2, kind)));
}

#[test]
fn verifies_after_erasing() {
    let mut commit = draft().seal(1, Hash::ZERO).unwrap();
    commit.bodies[0].content = BodyContent::Erased;
    assert_eq!(commit.verify(&Head::EMPTY), Ok(commit.head()));
    assert_eq!(commit.body(0), None);
}

#[test]
fn a_header_alone_follows_as_its_commit_does() {
    let mut chain = Chain::new(2);
    let mut head = Head::EMPTY;
    let commits = chain.take(5);
    for commit in &commits {
        let (next, header) =
            StoredHeader::from(commit.clone()).check::<Value>().follow(&head).unwrap();
        assert_eq!(next, commit.verify(&head).unwrap());
        assert_eq!(header, commit.decode_header().unwrap());
        head = next;
    }
    let last = StoredHeader::from(commits[4].clone());
    let refusal = |header: &StoredHeader, after: Head| {
        header.check::<Value>().follow(&after).unwrap_err().to_string()
    };
    let before = commits[3].head();
    assert_eq!(refusal(&last, commits[2].head()), "position 5: expected position 4 here");
    let elsewhere = StoredHeader { position: 4, ..last.clone() };
    assert_eq!(
        refusal(&elsewhere, commits[2].head()),
        "position 4: stored position does not match the header"
    );
    let rewritten = Head { hash: Hash::of(b"another"), ..before };
    assert_eq!(
        refusal(&last, rewritten),
        "position 5: previous hash does not match the commit before"
    );
    let later = Head { epoch: u64::MAX, ..before };
    assert!(refusal(&last, later).contains("is not greater than"));
}
