//! The Events of the Harn protocol, as a stream.

use quipu_wire::harn::{Event, HarnErrorResponse};

use crate::{
    error::{ClientError, Refusal, RefusalWords},
    handle::{
        event_stream::{EventStream, Step},
        field::understand,
        following::{Following, StreamItem},
    },
};

/// Events of a Task, or of everything.
pub type Events = EventStream<Event>;

/// The Events of one Task, until it has ended.
pub(crate) fn of_task(following: Following) -> Events {
    EventStream::new(following, |mut following| -> Step<Event> {
        Box::pin(async move {
            let next = next(&mut following, true).await;
            (next.transpose(), following)
        })
    })
}

/// The Events of everything, without end.
pub(crate) fn of_everything(following: Following) -> Events {
    EventStream::new(following, |mut following| -> Step<Event> {
        Box::pin(async move {
            let next = next(&mut following, false).await;
            (next.transpose(), following)
        })
    })
}

async fn next(following: &mut Following, ends: bool) -> Result<Option<Event>, ClientError> {
    let mut ended = false;
    loop {
        match following.next().await? {
            StreamItem::Event(event) if event.event == "error" => return Err(failed(&event.data)),
            StreamItem::Event(event) => return understand(event.data.as_bytes()).map(Some),
            StreamItem::End { .. } if following.is_closed() => return Ok(None),
            // A server that stops and a Task that has ended look the same at first. Opened again, the
            // stream of a Task that has ended is at its end at once.
            StreamItem::End { silent: true } if ends && ended => return Ok(None),
            StreamItem::End { .. } => {
                ended = true;
                following.pause("there may be more").await?;
            }
        }
    }
}

fn failed(data: &str) -> ClientError {
    match understand::<HarnErrorResponse>(data.as_bytes()) {
        Ok(HarnErrorResponse { error }) => ClientError::Refused(Box::new(Refusal {
            status: error.code.http_status(),
            words: RefusalWords::Harn(error),
            body: data.to_owned().into(),
            retry_after: None,
        })),
        Err(error) => error,
    }
}
