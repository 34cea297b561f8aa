//! Opens a copy of a data directory of the first format. The fixture is kept as it was written and never made again.
#![cfg(test)]

use std::{fs, path::Path};

use quipu_log::{
    BodyContent, Commit, Engine, EngineError, FieldName, Head, SqliteEngine, SqliteOptions,
    sqlite::check_storage, verify_chain,
};
use serde_json::{Value, json};
use tempfile::TempDir;

const DEFAULT: [&str; 8] = [
    "50910f05277c9a46d301da2979604bcf090bf8afb78c59d11119262fc4c21cde",
    "14b71228ef2929b62f7ec1170b0c4a0404c0dfe7431fd972b6a24cebda1a2da3",
    "bd1a2bbc924abf8e337cd905b69b8d2f558a0bbe6461ca3eabe9943c7e3bb6a2",
    "34bad046360ab49cddd5967ade22094d2d75a75463466a83e0d46b1ef8739272",
    "b853e42cbd994e803465b647114b698bc55e56bba58e8dcda984b3e3d2057719",
    "f2fb633af225124bd868fd7c0e6a3868a8286d31b2269731f24f11b75bcfb7c7",
    "c4622547501a3fc5ff4ea9224aa7b2675ab29f30a27dc77e1914f1066c9d9b55",
    "54814351adc20dec57a608df11de6d4c2eb758201843820e91262d23ce42c475",
];
const TEAM: [&str; 4] = [
    "d8984857fadcc6bc68fe8080b04f0e67d6e75df1c352cd2efc936a04cef6ad9d",
    "163d4389dea88633cf948696b5e75f6f53b06d66c5612f43b4534b54fcf21cf2",
    "32bde6726355ea86a0dac6bf4f9d16018968cc8d2e1d3ce200561c3ab47c5678",
    "fc945502fdcbe4bd9550115149398f1d6f0e07cfb2a9f1a5e382224212e73816",
];

fn team() -> FieldName {
    "team-7".parse().unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

fn fixture() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/log-v1"), dir.path());
    dir
}

fn verified(engine: &dyn Engine, field: &FieldName) -> (Head, Vec<Commit>) {
    let mut commits = Vec::new();
    let head = verify_chain(engine, field, Head::EMPTY, &mut |commit| {
        commits.push(commit.clone());
        Ok(())
    });
    (head.unwrap(), commits)
}

#[test]
fn finds_the_heads_and_hashes_of_the_first_format() {
    let dir = fixture();
    for engine in [
        SqliteEngine::open_read_only(dir.path()).unwrap(),
        SqliteEngine::open(dir.path(), SqliteOptions::default()).unwrap(),
    ] {
        assert_eq!(engine.fields().unwrap(), [FieldName::default_field(), team()]);
        for (field, hashes) in [(FieldName::default_field(), &DEFAULT[..]), (team(), &TEAM[..])] {
            let (head, commits) = verified(&engine, &field);
            let found: Vec<_> = commits.iter().map(|commit| commit.hash.to_string()).collect();
            assert_eq!(found, hashes);
            let position = u64::try_from(hashes.len()).unwrap();
            assert_eq!((head.position, head.epoch), (position, position * 2));
            check_storage(dir.path(), &field).unwrap();
        }
    }
}

#[test]
fn finds_the_bodies_and_headers_of_the_first_format() {
    let dir = fixture();
    let engine = SqliteEngine::open(dir.path(), SqliteOptions::default()).unwrap();
    let (_, commits) = verified(&engine, &FieldName::default_field());
    let [.., sixth, _, _] = &commits[..] else { panic!("eight commits") };
    let header = sixth.decode_header::<Value>().unwrap();
    assert_eq!((header.v, header.position, header.epoch), (1, 6, 12));
    assert_eq!((header.time_ms, header.actor.as_str()), (1_700_000_000_006, "agent-1"));
    assert_eq!((header.session.as_deref(), header.request), (Some("s-1"), None));
    let events: Vec<_> = header.events.into_iter().map(|sealed| sealed.event).collect();
    let told = json!({ "id": "m-6", "kind": "told" });
    assert_eq!(events, [told, json!({ "kind": "closed" }), json!({ "kind": "noted" })]);
    let body = sixth.body(0).unwrap();
    assert_eq!(body.salt.to_string(), "16161616161616161616161616161616");
    assert_eq!(
        std::str::from_utf8(&body.json).unwrap(),
        r#"{"n":6,"text":"default says 6: grüße 🧵"}"#
    );
    assert_eq!(sixth.bodies[1].event, 2);
    assert_eq!(sixth.bodies[1].content, BodyContent::Erased);
    assert_eq!(commits[2].body(1).unwrap().json, br#""plain""#);
}

#[test]
fn goes_on_appending_to_the_first_format() {
    let dir = fixture();
    let engine = SqliteEngine::open(dir.path(), SqliteOptions::default()).unwrap();
    let (head, commits) = verified(&engine, &FieldName::default_field());
    let draft = quipu_log::Draft {
        epoch: head.epoch + 1,
        time_ms: 1,
        actor: "later".to_owned(),
        session: None,
        request: None,
        events: vec![quipu_log::DraftEvent { event: json!({ "kind": "told" }), body: None }],
    };
    let next = draft.seal(head.position + 1, head.hash).unwrap();
    engine.append(&FieldName::default_field(), &head, std::slice::from_ref(&next)).unwrap();
    let (end, all) = verified(&engine, &FieldName::default_field());
    assert_eq!(end, next.head());
    assert_eq!(all[..8], commits);
    let sealed = engine.head(&team()).unwrap();
    let late = commits[4].clone();
    let late = Commit { prev: sealed.hash, ..late };
    let error = engine.append(&team(), &sealed, &[late]).unwrap_err();
    assert!(matches!(error, EngineError::Sealed { .. }), "{error}");
}
