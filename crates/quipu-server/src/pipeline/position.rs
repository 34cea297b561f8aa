//! Where in the log a request and its answer are. A caller that moves between nodes sends the position that it was
//! told last, and the node that it comes to waits until it is there too.

use std::{cell::OnceCell, sync::Arc};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use quipu_field::Field;
use quipu_wire::{ErrorCode, ProtocolError};

use crate::pipeline::{errors::akashik_error, sender::text_header};

const MIN_POSITION: &str = "quipu-min-position";
const POSITION: HeaderName = HeaderName::from_static("quipu-position");

tokio::task_local! {
    static FIELD: OnceCell<Arc<Field>>;
}

/// Works on a request that will have a Field, and says in the headers of the answer how far that has come: whatever
/// the answer tells of is not behind it.
pub(crate) async fn with_position<B>(
    work: impl Future<Output = axum::http::Response<B>>,
) -> axum::http::Response<B> {
    let work = async {
        let mut response = work.await;
        let field = FIELD.try_with(|field| field.get().map(Arc::clone)).ok().flatten();
        if let Some(field) = field {
            let position = HeaderValue::from(field.head().position);
            response.headers_mut().insert(POSITION, position);
        }
        response
    };
    FIELD.scope(OnceCell::new(), work).await
}

/// Notes which Field a request is for, and waits until it is where the caller has been.
pub(crate) async fn arrive(field: &Arc<Field>, headers: &HeaderMap) -> Result<(), ProtocolError> {
    // Outside of a request, and where one asks for a second Field, there is nothing to note.
    FIELD.try_with(|noted| noted.set(Arc::clone(field)).ok()).ok();
    let Some(asked) = text_header(headers, MIN_POSITION)? else { return Ok(()) };
    let position = asked.parse().map_err(|_| {
        let what = format!("header Quipu-Min-Position: {asked:?} is not a position");
        ProtocolError::new(ErrorCode::InvalidPayload, what)
    })?;
    field.await_position(position).await.map_err(|error| akashik_error(&error))
}
