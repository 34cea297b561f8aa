//! `/metrics`, for Prometheus. Needs any valid key, except in `--dev`. A key that is bound to a Field is shown the counts
//! of that Field alone.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, Response, header},
};
use quipu_log::FieldName;
use quipu_wire::ErrorCode;

use crate::{
    observe::metrics::{gauge_fields, gauge_keeping, gauge_streams},
    pipeline::{answer::Refused, auth, state::App},
};

pub(super) async fn metrics(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response<Body>, Refused> {
    let credential = auth::uncounted_credential(&app, &headers)?;
    let counting = tokio::task::spawn_blocking(move || {
        gauge_keeping(&app.fields);
        gauge_fields(&app.fields.opened(), app.uptime.elapsed());
        gauge_streams(app.streams.count());
        let all = app.metrics.render();
        match &credential.field {
            Some(field) => counts_of(&all, field),
            None => all,
        }
    });
    let text = counting.await.map_err(|error| {
        Refused::new(ErrorCode::InternalError, format!("the counts failed: {error}"))
    })?;
    let mut response = Response::new(Body::from(text));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

/// The lines of one Field, with what explains them. What has no Field is of the whole server.
fn counts_of(all: &str, field: &FieldName) -> String {
    let label = format!("field=\"{field}\"");
    let (mut text, mut heading) = (String::new(), String::new());
    for line in all.lines() {
        if line.is_empty() || line.starts_with("# HELP") {
            heading.clear();
        }
        if line.starts_with('#') {
            heading.push_str(line);
            heading.push('\n');
            continue;
        }
        let labels = line.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
        if labels.is_some_and(|(labels, _)| labels.split(',').any(|word| word == label)) {
            text.push_str(&std::mem::take(&mut heading));
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_key_is_shown_the_lines_of_its_field_alone() {
        let all = "# HELP quipu_field_units memory units\n# TYPE quipu_field_units gauge\n\
            quipu_field_units{field=\"a\"} 1\nquipu_field_units{field=\"a-b\"} 2\n\n\
            # TYPE quipu_fields_open gauge\nquipu_fields_open 2\n\n\
            # HELP quipu_field_ready ready\n# TYPE quipu_field_ready gauge\n\
            quipu_field_ready{field=\"a-b\"} 1\n\n";
        let own = counts_of(all, &FieldName::try_from("a").unwrap());
        let expected = "# HELP quipu_field_units memory units\n# TYPE quipu_field_units gauge\n\
            quipu_field_units{field=\"a\"} 1\n";
        assert_eq!(own, expected);
    }
}
