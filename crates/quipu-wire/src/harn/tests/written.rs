//! Requests as our own client writes them: the server reads what was meant.

use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use crate::harn::*;

fn written(request: &impl Serialize) -> Value {
    serde_json::to_value(request).unwrap()
}

fn text() -> impl Strategy<Value = String> {
    "[a-zäß\"\\\\]{1,12}"
}

fn an_override() -> impl Strategy<Value = ReplayOverride> {
    (text(), proptest::option::of(text()), any::<bool>()).prop_map(|(value, reason, kept)| {
        ReplayOverride {
            kind: DependencyKind::LlmProviderResponse,
            event_id: None,
            target: None,
            // Null is a value too.
            value: Some(if kept { json!(value) } else { Value::Null }),
            artifact_id: None,
            sha256: None,
            visibility: Visibility::Internal,
            reason,
        }
    })
}

proptest! {
    #[test]
    fn what_a_worker_writes_is_what_is_read(
        words in text(),
        agent_id in proptest::option::of(text()),
        output in proptest::option::of(text()),
        artifacts in proptest::collection::vec(text(), 0..3),
    ) {
        let details = JsonObject::with("said", words.as_str());
        let claim = ClaimTaskRequest { lease_ms: LEASE_MS_DEFAULT, agent_id };
        prop_assert_eq!(&ClaimTaskRequest::parse(Some(written(&claim))).unwrap(), &claim);
        let output = output.map(Value::from);
        let complete =
            CompleteTaskRequest { summary: words.clone(), output: output.clone(), artifacts };
        prop_assert_eq!(&CompleteTaskRequest::parse(written(&complete)).unwrap(), &complete);
        let fail = FailTaskRequest { code: "no".to_owned(), message: words.clone(), details: details.clone(), retryable: false };
        prop_assert_eq!(&FailTaskRequest::parse(written(&fail)).unwrap(), &fail);
        let checkpoint = RecordCheckpointRequest { label: words.clone(), state: output };
        prop_assert_eq!(&RecordCheckpointRequest::parse(written(&checkpoint)).unwrap(), &checkpoint);
        let event = AppendEventRequest {
            event: EventName::parse("vendor.said").unwrap(),
            payload: details,
            visibility: Visibility::Internal,
        };
        prop_assert_eq!(&AppendEventRequest::parse(written(&event)).unwrap(), &event);
        let cancel = CancelTaskRequest { reason: Some(words) };
        prop_assert_eq!(&CancelTaskRequest::parse(Some(written(&cancel))).unwrap(), &cancel);
    }

    #[test]
    fn a_replay_is_read_as_it_was_written(
        overrides in proptest::collection::btree_map("[a-z]{1,5}:[a-z]{1,5}", an_override(), 1..4),
        reason in proptest::option::of(text()),
    ) {
        let request = ReplayTaskRequest {
            mode: ReplayMode::WithOverrides,
            overrides,
            reason,
            ..ReplayTaskRequest::default()
        };
        prop_assert_eq!(&ReplayTaskRequest::parse(Some(written(&request))).unwrap(), &request);
        let exact = ReplayTaskRequest::default();
        prop_assert_eq!(&ReplayTaskRequest::parse(Some(written(&exact))).unwrap(), &exact);
    }
}
