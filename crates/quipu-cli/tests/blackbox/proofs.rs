//! Proofs from outside: fetched from a server, checked offline, also after it was killed.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Server, Settings, quipu};

fn text(server: &Server, path: &str) -> String {
    server.client().get(path).text()
}

#[test]
fn a_commit_is_proven_offline_and_no_byte_of_the_proof_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let server = Settings::dev(folder.path()).start();
    for number in 0..5 {
        let payload = json!({"id": format!("agent-{number}"), "role": "r"});
        server.client().post("/v1/register", payload.to_string()).ok();
    }
    let key = text(&server, "/v1/log/key").trim().to_owned();
    let proof = text(&server, "/v1/log/inclusion?position=3");
    server.kill();

    let file = folder.path().join("commit.proof");
    let check = |proof: &[u8]| {
        std::fs::write(&file, proof).unwrap();
        quipu(["verify", "--proof", file.to_str().unwrap(), "--checkpoint-key", &key])
    };
    let good = check(proof.as_bytes());
    assert_eq!(good.code, Some(0), "{good:?}");
    assert!(good.stdout.contains("at position 3 is in the log of 5 commits"), "{good:?}");
    assert!(good.stdout.contains("agent-2"), "the header says what was committed: {good:?}");
    for at in (0..proof.len()).step_by(7) {
        let mut bytes = proof.clone().into_bytes();
        bytes[at] ^= 1;
        assert_eq!(check(&bytes).code, Some(1), "byte {at} was changed unseen");
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &target) } else { drop(std::fs::copy(&path, target)) }
    }
}

#[test]
fn an_older_backup_is_not_signed_for_once_more_was() {
    let folder = tempfile::tempdir().unwrap();
    let (data, backup) = (folder.path().join("data"), folder.path().join("backup"));
    let join = |server: &Server, id: &str| {
        server.client().post("/v1/register", json!({"id": id, "role": "r"}).to_string()).ok();
    };
    let server = Settings::dev(&data).start();
    join(&server, "a");
    server.stop();
    copy(&data, &backup);
    let server = Settings::dev(&data).start();
    join(&server, "b");
    join(&server, "c");
    text(&server, "/v1/log/checkpoint");
    server.stop();

    std::fs::remove_file(data.join("fields/default/log.sqlite")).unwrap();
    for name in ["log.sqlite", "head"] {
        let part = Path::new("fields/default").join(name);
        std::fs::copy(backup.join(&part), data.join(&part)).unwrap();
    }
    let server = Settings::dev(&data).start();
    for others in ["x", "y", "z"] {
        join(&server, others);
        let refused = server.client().get("/v1/log/checkpoint");
        assert_eq!(refused.status, 503, "{}", refused.text());
        assert!(refused.text().contains("was signed"), "{}", refused.text());
    }
}

#[test]
fn the_log_of_later_extends_the_log_of_before_and_the_key_stays_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::dev(folder.path());
    let server = settings.start();
    let join = |server: &Server, id: &str| {
        server.client().post("/v1/register", json!({"id": id, "role": "r"}).to_string()).ok();
    };
    join(&server, "a");
    let (key, first) = (text(&server, "/v1/log/key"), text(&server, "/v1/log/checkpoint"));
    server.kill();
    let server = settings.start();
    join(&server, "b");
    assert_eq!(text(&server, "/v1/log/key"), key);
    let size: u64 = first.lines().nth(1).unwrap().parse().unwrap();
    let proof: Value = server.client().get(&format!("/v1/log/consistency?from={size}")).ok();
    assert_eq!(proof["old_size"], size);
    assert!(proof["new_size"].as_u64().unwrap() > size);
    let again = server.client().get("/v1/log/consistency?from=900");
    assert_eq!(again.status, 400, "{}", again.text());
    assert_eq!(server.client().get("/v1/log/inclusion?position=0").status, 404);
    assert_eq!(server.client().get("/v1/log/inclusion?position=x").status, 400);
}
