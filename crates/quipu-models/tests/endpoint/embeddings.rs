//! `/embeddings`: what is asked, what is believed, what is tried again.

use quipu_models::{
    RemoteEmbedder,
    testing::{Behaviour, DIMENSIONS, TestEndpoint, vector},
};
use quipu_recall::{EmbedError, Embedder};

use super::{endpoint, impatient};

fn start() -> (TestEndpoint, RemoteEmbedder) {
    let server = TestEndpoint::start().unwrap();
    let embedder = RemoteEmbedder::new(endpoint(&server), None);
    (server, embedder)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// Fails once as the server is told to, and answers the next call.
fn fails_with(behaviour: Behaviour, kind: fn(&EmbedError) -> bool, said: &str) {
    let (server, embedder) = start();
    server.next([behaviour]);
    let error = embedder.embed(&["one"]).unwrap_err();
    assert!(kind(&error), "{error:?}");
    assert!(error.to_string().contains(said), "{error}");
    server.always(Behaviour::Answer);
    assert_eq!(embedder.embed(&["one"]).unwrap().len(), 1);
}

fn is_wrong(error: &EmbedError) -> bool {
    matches!(error, EmbedError::WrongAnswer { .. })
}

fn is_unavailable(error: &EmbedError) -> bool {
    matches!(error, EmbedError::Unavailable { .. })
}

#[test]
fn gives_one_vector_of_length_one_for_each_text_in_their_order() {
    let (server, embedder) = start();
    assert_eq!(embedder.dimensions(), 0);
    let texts = ["the market grows", "", "tests are green", "  "];
    let vectors = embedder.embed(&texts).unwrap();
    assert_eq!(embedder.dimensions(), DIMENSIONS);
    for (text, found) in texts.iter().zip(&vectors) {
        let length: f32 = found.iter().map(|number| number * number).sum();
        if text.trim().is_empty() {
            assert!(found.iter().all(|number| *number == 0.0) && found.len() == DIMENSIONS);
        } else {
            assert!((length - 1.0).abs() < 1e-5);
            assert!(cosine(found, &vector(text, DIMENSIONS)) > 0.9999);
        }
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].path, "/v1/embeddings");
    assert_eq!(seen[0].authorization.as_deref(), Some("Bearer sk-secret"));
    assert_eq!(seen[0].body["model"], "words");
    assert_eq!(seen[0].body["input"].as_array().unwrap().len(), 2, "no empty text is sent");
}

#[test]
fn many_texts_go_in_batches_and_long_ones_are_cut() {
    let (server, embedder) = start();
    let long = "word ".repeat(50_000);
    let mut texts = vec!["a text"; 150];
    texts.push(&long);
    assert_eq!(embedder.embed(&texts).unwrap().len(), 151);
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    let sent = |at: usize| seen[at].body["input"].as_array().unwrap();
    assert_eq!((sent(0).len(), sent(1).len(), sent(2).len()), (64, 64, 23));
    assert!(sent(2)[22].as_str().unwrap().len() <= 8192);
}

#[test]
fn a_wrong_number_of_vectors_is_not_believed() {
    fails_with(Behaviour::Fewer(1), is_wrong, "0 vectors for 1 texts");
}

#[test]
fn another_dimension_than_before_is_not_believed() {
    let (server, embedder) = start();
    embedder.embed(&["one"]).unwrap();
    server.next([Behaviour::Dimensions(31)]);
    let error = embedder.embed(&["one"]).unwrap_err();
    assert!(is_wrong(&error) && error.to_string().contains("31"), "{error}");
    let given = RemoteEmbedder::new(endpoint(&server), Some(7));
    assert!(is_wrong(&given.embed(&["one"]).unwrap_err()));
}

#[test]
fn numbers_that_are_none_are_not_believed() {
    for numbers in ["[1, NaN]", "[1, null]", "[1, 1e300]", "[\"1\"]", "[]", "{}"] {
        let body = format!("{{\"data\": [{{\"index\": 0, \"embedding\": {numbers}}}]}}");
        fails_with(Behaviour::Body(body), is_wrong, "wrong answer");
    }
}

#[test]
fn the_same_index_twice_is_not_believed() {
    let (server, embedder) = start();
    let item = "{\"index\": 0, \"embedding\": [1.0]}";
    server.next([Behaviour::Body(format!("{{\"data\": [{item}, {item}]}}"))]);
    assert!(is_wrong(&embedder.embed(&["one", "two"]).unwrap_err()));
}

#[test]
fn what_is_no_json_is_not_believed() {
    fails_with(Behaviour::Body("<html>".to_owned()), is_wrong, "cannot be read");
}

#[test]
fn a_body_without_end_is_cut_off() {
    fails_with(Behaviour::Endless, is_wrong, "more than");
}

#[test]
fn a_body_that_is_announced_too_large_is_not_read() {
    let (server, embedder) = start();
    server.next([Behaviour::Huge]);
    let error = embedder.embed(&["one"]).unwrap_err();
    assert!(is_wrong(&error) && error.to_string().contains("more than"), "{error}");
}

#[test]
fn a_server_error_is_tried_again() {
    let (server, embedder) = start();
    let down = Behaviour::Status(503, "down".to_owned());
    server.next([down.clone(), down]);
    assert_eq!(embedder.embed(&["one"]).unwrap().len(), 1);
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn a_connection_that_breaks_half_way_is_tried_again() {
    let (server, embedder) = start();
    server.next([Behaviour::HalfWay, Behaviour::HalfWay]);
    assert_eq!(embedder.embed(&["one"]).unwrap().len(), 1);
}

#[test]
fn a_busy_endpoint_is_asked_again_when_it_said_so() {
    let (server, embedder) = start();
    server.next([Behaviour::Busy("0".to_owned()), Behaviour::Busy("soon".to_owned())]);
    assert_eq!(embedder.embed(&["one"]).unwrap().len(), 1);
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn an_endpoint_that_asks_for_a_long_pause_gets_it() {
    let (server, embedder) = start();
    server.next([Behaviour::Busy("30".to_owned())]);
    assert!(is_unavailable(&embedder.embed(&["one"]).unwrap_err()));
    let error = embedder.embed(&["one"]).unwrap_err();
    assert!(error.to_string().contains("not called for a while"), "{error}");
    assert_eq!(server.seen().len(), 1, "it was left alone");
}

#[test]
fn an_endpoint_that_hangs_or_is_late_is_given_up() {
    for behaviour in [Behaviour::Hang, Behaviour::Late] {
        let server = TestEndpoint::start().unwrap();
        let embedder = RemoteEmbedder::new(impatient(&server), None);
        server.always(behaviour);
        let error = embedder.embed(&["one"]).unwrap_err();
        assert!(
            is_unavailable(&error) && error.to_string().contains("no answer within"),
            "{error}"
        );
        assert_eq!(server.seen().len(), 3);
    }
}

#[test]
fn an_endpoint_that_keeps_failing_is_left_alone() {
    let (server, embedder) = start();
    server.always(Behaviour::Status(500, String::new()));
    for _ in 0..3 {
        assert!(is_unavailable(&embedder.embed(&["one"]).unwrap_err()));
    }
    let asked = server.seen().len();
    let error = embedder.embed(&["one"]).unwrap_err();
    assert!(error.to_string().contains("not called for a while"), "{error}");
    assert_eq!(server.seen().len(), asked);
}

#[test]
fn a_refusal_is_not_tried_again_and_does_not_repeat_the_key() {
    let (server, embedder) = start();
    server.always(Behaviour::Status(401, "no such key:\r\n sk-secret \u{7}".to_owned()));
    for asked in 1..=5 {
        let error = embedder.embed(&["one"]).unwrap_err();
        assert!(matches!(error, EmbedError::Unusable { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("401") && text.contains("no such key: (the key)"), "{text}");
        assert!(!text.contains("sk-secret"));
        assert_eq!(server.seen().len(), asked, "every call is a new chance");
    }
}

#[test]
fn where_nobody_listens_the_embedder_says_so() {
    let (server, _) = start();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let options =
        quipu_models::EndpointOptions { url: format!("http://{free}"), ..super::options(&server) };
    let embedder = RemoteEmbedder::new(quipu_models::Endpoint::new(&options).unwrap(), None);
    let error = embedder.embed(&["one"]).unwrap_err();
    assert!(is_unavailable(&error) && error.to_string().contains("cannot connect"), "{error}");
}
