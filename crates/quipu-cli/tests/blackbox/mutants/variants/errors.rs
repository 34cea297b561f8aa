//! Servers whose errors are not what the protocol says.

use serde_json::{Value, json};

use super::{
    tamper::{Answered, after, before, complains, keep, put, strip, tells},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_bad_error_is_caught() {
    all_are_caught("errors", [shapes(), statuses()].into_iter().flatten().collect());
}

fn shapes() -> Vec<Variant> {
    let cases = &["_errors_"];
    vec![
        variant(
            "errors_without_suggested_action",
            "Errors do not have the key suggested_action",
            cases,
            complains("*", |body| strip(body, "/suggested_action")),
        ),
        variant(
            "errors_without_message",
            "The message of an error is empty",
            cases,
            complains("*", |body| put(body, "/message", &json!(""))),
        ),
        variant(
            "errors_all_of_one_operation",
            "Every error says that it is about REGISTER",
            cases,
            complains("*", |body| put(body, "/operation", &json!("REGISTER"))),
        ),
        variant(
            "errors_nothing_is_recoverable",
            "Every error is marked as not recoverable",
            &["_errors_", "l0_record_0", "l1_record_10", "l0_register_02", "l2_merge_02"],
            complains("*", |body| put(body, "/recoverable", &json!(false))),
        ),
        variant(
            "errors_everything_is_recoverable",
            "Every error is marked as recoverable",
            &[
                "l2_merge_01",
                "l2_detect_09",
                "l2_replay_07",
                "l1_deregister_09",
                "_11_an_unknown",
                "_10_an_unknown",
            ],
            complains("*", |body| put(body, "/recoverable", &json!(true))),
        ),
        variant(
            "errors_no_advice",
            "Errors do not say what to do",
            cases,
            complains("*", |body| put(body, "/suggested_action", &json!(""))),
        ),
        variant(
            "errors_of_the_framework",
            "A refusal without a code of the protocol is a bare string",
            cases,
            after("*", |_, answered, _| {
                if answered.has_code(&["INVALID_PAYLOAD"]) {
                    answered.body = json!({"error": "bad request"});
                }
            }),
        ),
        variant(
            "errors_hides_what_it_offers",
            "DETECT is carried out, though it is not among supported_operations",
            &["l0_errors_05"],
            tells("REGISTER", |body| {
                keep(body, "/field_capabilities/supported_operations", |name| name != "DETECT");
            }),
        ),
    ]
}

fn statuses() -> Vec<Variant> {
    let cases = &["_errors_"];
    vec![
        variant(
            "errors_all_are_400",
            "Every refusal has the status 400",
            cases,
            after("*", |_, answered, _| {
                if answered.status >= 400 {
                    answered.status = 400;
                }
            }),
        ),
        variant(
            "errors_all_are_200",
            "Every refusal has the status 200",
            cases,
            after("*", |_, answered, _| answered.status = 200),
        ),
        variant(
            "errors_all_are_409",
            "Every refusal has the status 409",
            cases,
            after("*", |_, answered, _| {
                if answered.status >= 400 {
                    answered.status = 409;
                }
            }),
        ),
        variant(
            "errors_breaks_on_large_numbers",
            "A number that no machine holds answers 500",
            cases,
            before("ATTUNE", |asked, _| {
                let units = &asked.message["payload"]["scope"]["max_units"];
                let large = asked.message == Value::Null || units.as_f64() > Some(1e20);
                large.then(|| Answered::new(500, json!({})))
            }),
        ),
    ]
}
