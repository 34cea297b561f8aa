//! A run that waits for an answer, and goes on from its snapshot.

use serde_json::json;

use super::modules::*;
use crate::module::*;

/// Runs with ever more answers, from snapshot to snapshot, and says what was waited for.
fn stepwise(mut run: ModuleRun, module: &Module) -> (Vec<String>, ModuleRun) {
    let all = Table::complete();
    let mut waited = Vec::new();
    let mut known = Table::default();
    while let ModuleRun::Suspended { request, snapshot } = &run {
        waited.push(request.key.clone());
        known.answers.insert(request.key.clone(), all.answers[&request.key].clone());
        run = resume(module, &policy(), snapshot, &mut known).unwrap();
    }
    (waited, run)
}

#[test]
fn a_run_goes_on_from_snapshot_to_snapshot_and_ends_as_one_in_one_go() {
    let module = compiled(ASKS);
    let whole = run(&module, &policy(), &input(), &mut Table::complete());
    let (waited, stepped) =
        stepwise(run(&module, &policy(), &input(), &mut Table::default()), &module);
    assert_eq!(stepped, whole);
    let expected = ["llm:main:1", "time:1", "secret:token", "host:tools.invoke:1", "llm:main:2"];
    assert_eq!(waited, expected);
}

#[test]
fn a_snapshot_holds_answers_but_no_secrets_and_asks_for_those_again() {
    let module = compiled(ASKS);
    let mut table = Table::complete();
    table.answers.remove("llm:main:2");
    let (request, snapshot) = suspended(run(&module, &policy(), &input(), &mut table));
    assert_eq!(request.key, "llm:main:2");
    let text = String::from_utf8(snapshot.clone()).unwrap();
    assert!(text.contains("mostly") && !text.contains("s3cret"), "{text}");
    // Without the secret it waits for that, and forgets nothing of what comes after.
    let again = resume(&module, &policy(), &snapshot, &mut Table::default()).unwrap();
    let (request, snapshot) = suspended(again);
    assert_eq!(request.key, "secret:token");
    let mut rest =
        Table::of(&[("secret:token", json!("s3cret-token")), ("llm:main:2", json!("approved"))]);
    let value = completed(resume(&module, &policy(), &snapshot, &mut rest).unwrap());
    assert_eq!(value["verdict"], "approved");
    assert_eq!(rest.keys(), ["secret:token", "llm:main:2"]);
}

#[test]
fn another_secret_is_noticed_where_it_makes_the_module_ask_something_else() {
    let module = compiled(
        "pub fn entry(harness: Harness, input: any) {\n const t = harness.secrets.read(\"token\")\n const a = harness.tools.invoke(\"x\", t.len())\n return harness.tools.invoke(\"y\", a)\n}",
    );
    let mut table = Table::complete();
    let (_, snapshot) = suspended(run(&module, &policy(), &input(), &mut table));
    let mut other = Table::of(&[("secret:token", json!("another one"))]);
    let diagnostic = failed(resume(&module, &policy(), &snapshot, &mut other).unwrap());
    assert_eq!(diagnostic.code, "snapshot_mismatch");
}

#[test]
fn the_same_run_has_the_same_snapshot() {
    let module = compiled(ASKS);
    let once = || suspended(run(&module, &policy(), &input(), &mut Table::default()));
    assert_eq!(once(), once());
}

#[test]
fn a_snapshot_of_another_module_policy_or_key_is_refused() {
    let module = compiled(ASKS);
    let (_, snapshot) = suspended(run(&module, &policy(), &input(), &mut Table::default()));
    let other = compiled(&ASKS.replace("And now?", "And then?"));
    let open = |module: &Module, policy: &Policy, bytes: &[u8]| {
        resume(module, policy, bytes, &mut Table::complete()).unwrap_err()
    };
    assert_eq!(open(&other, &policy(), &snapshot), SnapshotError::OtherModule);
    let fewer = Policy::new(["llm.call"], KEY).unwrap();
    assert_eq!(open(&module, &fewer, &snapshot), SnapshotError::OtherGrants);
    let strange = Policy::new(policy().names(), SnapshotKey([8; 32])).unwrap();
    assert_eq!(open(&module, &strange, &snapshot), SnapshotError::NotAuthentic);
}

#[test]
fn a_snapshot_with_any_byte_changed_is_refused() {
    let module = compiled(ASKS);
    let (_, snapshot) = suspended(run(&module, &policy(), &input(), &mut Table::default()));
    let open = |bytes: &[u8]| resume(&module, &policy(), bytes, &mut Table::complete());
    for index in 0..snapshot.len() {
        let mut altered = snapshot.clone();
        altered[index] ^= 1;
        let refused = open(&altered).unwrap_err();
        let known = [SnapshotError::NotAuthentic, SnapshotError::NotASnapshot];
        assert!(known.contains(&refused), "{index}: {refused}");
    }
    for length in 0..snapshot.len() {
        assert!(open(&snapshot[..length]).is_err(), "{length}");
    }
    assert_eq!(open(&vec![b' '; SNAPSHOT_BYTES_MAX + 1]).unwrap_err(), SnapshotError::TooLong);
}
