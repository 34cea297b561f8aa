//! What a subscription pushes, as a stream.

use hyper::HeaderMap;
use quipu_wire::akashik::PushNotification;
use serde::Deserialize;

use crate::{
    error::ClientError,
    handle::{
        event_stream::{EventStream, Step},
        field::{Field, understand},
        following::{Following, StreamItem},
    },
};

pub type Pushes = EventStream<PushNotification>;

#[derive(Debug, Deserialize)]
struct LastWord {
    reason: String,
}

pub(crate) fn pushes(field: Field, path: String, headers: HeaderMap, cursor: String) -> Pushes {
    EventStream::new(Following::new(field, path, headers, Some(cursor)), step)
}

fn step(mut following: Following) -> Step<PushNotification> {
    Box::pin(async move {
        let next = next(&mut following).await;
        (next.transpose(), following)
    })
}

async fn next(following: &mut Following) -> Result<Option<PushNotification>, ClientError> {
    loop {
        let reason = match following.next().await? {
            StreamItem::Event(event) if event.event == "end" => {
                understand::<LastWord>(event.data.as_bytes())?.reason
            }
            StreamItem::Event(event) => return understand(event.data.as_bytes()).map(Some),
            StreamItem::End { .. } => "without a word".to_owned(),
        };
        // Whoever was refused is told so when the stream is opened again.
        if reason == "unsubscribed" || following.is_closed() {
            return Ok(None);
        }
        following.pause(&reason).await?;
    }
}
