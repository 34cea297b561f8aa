//! Pushes over a WebSocket: a text frame for each, a ping now and then, and a close frame that says
//! where to resume. What the other side says is read and has no effect.

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use quipu_field::push::{Delivery, End};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{
    push::{Admitted, stopped},
    push_sse::failed,
};
use crate::{limits::FAREWELL, pipeline::auth::revoked};

/// Why a stream ends: a code of the protocol, and a word.
type Ending = (u16, &'static str);

pub(super) async fn serve(mut socket: WebSocket, mut admitted: Admitted) {
    let Some((code, reason)) = push(&mut socket, &mut admitted).await else { return };
    let reason = format!("{reason}; after={}", admitted.cursor());
    let close = CloseFrame { code, reason: reason.into() };
    // Where the other side is gone already there is nobody to tell.
    if socket.send(Message::Close(Some(close))).await.is_ok() {
        let farewell = async { while let Some(Ok(_)) = socket.recv().await {} };
        tokio::time::timeout(FAREWELL, farewell).await.ok();
    }
}

/// Pushes until it ends; without an ending where the other side went first.
async fn push(socket: &mut WebSocket, admitted: &mut Admitted) -> Option<Ending> {
    let every = admitted.heartbeat();
    let mut heartbeat = interval_at(Instant::now() + every, every);
    // After a long send the next ping still has its whole time to be answered.
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut heard = true;
    loop {
        let frame = tokio::select! {
            // What was heard is looked at before the time is up.
            biased;
            () = stopped(&mut admitted.stopping) => {
                return Some((close_code::AWAY, "shutdown"));
            }
            () = revoked(&mut admitted.keys, || admitted.proof.holds()) => {
                return Some((close_code::POLICY, "unauthenticated"));
            }
            said = socket.recv() => match said {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(Message::Text(_) | Message::Binary(_) | Message::Ping(_) | Message::Pong(_))) => {
                    heard = true;
                    continue;
                }
            },
            _ = heartbeat.tick() => {
                if !admitted.proof.holds() {
                    return Some((close_code::POLICY, "unauthenticated"));
                }
                if !std::mem::take(&mut heard) {
                    return Some((close_code::AWAY, "no answer to a ping"));
                }
                Message::Ping(Vec::new().into())
            }
            next = admitted.stream.next() => match next {
                // Texts, numbers and booleans always have a JSON form.
                Ok(Delivery::Push(push)) => {
                    Message::Text(serde_json::to_string(&push).unwrap_or_default().into())
                }
                Ok(Delivery::End(End::Unsubscribed)) => {
                    return Some((close_code::NORMAL, "unsubscribed"));
                }
                Ok(Delivery::End(End::Closed)) => return Some((close_code::AWAY, "shutdown")),
                Err(error) => return Some((close_code::ERROR, failed(&error))),
            },
        };
        socket.send(frame).await.ok()?;
    }
}
