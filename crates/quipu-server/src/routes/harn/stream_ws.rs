//! A Task's stream as a WebSocket: Events one way, messages, cancellation and resumption the other. Every
//! frame is one JSON object; the types are in `quipu_wire::harn`.

use axum::{
    body::Bytes,
    extract::ws::{CloseFrame, Message, WebSocket, close_code},
};
use quipu_harness::{EventFeed, Fed};
use quipu_wire::{
    harn::{
        AppendTaskMessageRequest, CancelTaskRequest, ClientCommand, ClientFrame, Event, EventKind,
        EventName, HarnError, HarnErrorCode, ServerFrame, Sha256, TaskMessageKind, TaskState,
        TokenScope,
    },
    json::canon,
};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::{stream_sse::ended, streams::Admitted};
use crate::{limits::FAREWELL, pipeline::auth::revoked, routes::akashik::stopped};

/// Why a stream ends: a code of the WebSocket protocol, and a word.
type Ending = (u16, &'static str);

/// A Task's stream and its other side.
struct Link {
    socket: WebSocket,
    admitted: Admitted,
    task: String,
    feed: EventFeed,
}

pub(super) async fn serve(
    mut socket: WebSocket,
    admitted: Admitted,
    task: String,
    after: Option<String>,
) {
    let (mut socket, ending) = match admitted.feed(after.as_deref()).await {
        Ok(feed) => {
            let mut link = Link { socket, admitted, task, feed };
            let ending = link.run().await;
            (link.socket, ending)
        }
        Err(error) => {
            let sent = send(&mut socket, &ServerFrame::Error { error }).await;
            (socket, sent.map(|()| (close_code::POLICY, "cursor")))
        }
    };
    let Some((code, reason)) = ending else { return };
    let close = CloseFrame { code, reason: reason.into() };
    // Where the other side is gone already there is nobody to say goodbye to.
    if socket.send(Message::Close(Some(close))).await.is_ok() {
        let farewell = async { while let Some(Ok(_)) = socket.recv().await {} };
        tokio::time::timeout(FAREWELL, farewell).await.ok();
    }
}

/// Sends a frame; nothing where the other side is gone.
async fn send(socket: &mut WebSocket, frame: &ServerFrame) -> Option<()> {
    // Texts, numbers and booleans always have a JSON form.
    let text = serde_json::to_string(frame).unwrap_or_default();
    socket.send(Message::Text(text.into())).await.ok()
}

impl Link {
    /// Goes on until it ends; without an ending where the other side went first.
    async fn run(&mut self) -> Option<Ending> {
        let mut heartbeat = self.heartbeat();
        let mut heard = true;
        loop {
            tokio::select! {
                // What was heard is looked at before the time is up.
                biased;
                () = stopped(&mut self.admitted.stopping) => {
                    return Some((close_code::AWAY, "shutdown"));
                }
                said = self.socket.recv() => {
                    heard = true;
                    match said {
                        Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                        Some(Ok(Message::Text(text))) => {
                            if let Some(ending) = self.handle_command(text.as_bytes()).await? {
                                return Some(ending);
                            }
                        }
                        Some(Ok(Message::Binary(_))) => {
                            let error = HarnError::new(
                                HarnErrorCode::InvalidRequest,
                                "frames are JSON texts",
                            );
                            send(&mut self.socket, &ServerFrame::Error { error }).await?;
                        }
                    }
                }
                () = revoked(&mut self.admitted.keys, || self.admitted.proof.holds()) => {
                    send(&mut self.socket, &ServerFrame::Error { error: ended() }).await?;
                    return Some((close_code::POLICY, "unauthenticated"));
                }
                _ = heartbeat.tick() => {
                    if self.admitted.check(TokenScope::EventsRead).await.is_err() {
                        send(&mut self.socket, &ServerFrame::Error { error: ended() }).await?;
                        return Some((close_code::POLICY, "unauthenticated"));
                    }
                    if !std::mem::take(&mut heard) {
                        return Some((close_code::AWAY, "no answer to a ping"));
                    }
                    self.socket.send(Message::Ping(Bytes::new())).await.ok()?;
                }
                fed = self.feed.next() => match fed {
                    Ok(Fed::Event(event)) => self.send_event(event).await?,
                    Ok(Fed::Over) => return Some((close_code::NORMAL, "the task has ended")),
                    Ok(Fed::Closed) => return Some((close_code::AWAY, "shutdown")),
                    Err(error) => {
                        send(&mut self.socket, &ServerFrame::Error { error }).await?;
                        return Some((close_code::ERROR, "failed"));
                    }
                },
            }
        }
    }

    fn heartbeat(&self) -> Interval {
        let every = self.admitted.heartbeat();
        let mut heartbeat = interval_at(Instant::now() + every, every);
        // After a long send the next ping still has its whole time to be answered.
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        heartbeat
    }

    /// Sends an Event, and asks for what the Task waits for.
    async fn send_event(&mut self, event: Box<Event>) -> Option<()> {
        let asks = self.question_of(&event);
        let (cursor, replayed) = (event.envelope.id.clone(), event.replayed);
        send(&mut self.socket, &ServerFrame::Event { event, cursor, replayed }).await?;
        match asks {
            Some(asks) => send(&mut self.socket, &asks).await,
            None => Some(()),
        }
    }

    /// The question that an Event asks, if the Task still waits for its answer.
    fn question_of(&self, event: &Event) -> Option<ServerFrame> {
        let now = self.admitted.harness.task_state(&self.admitted.caller, &self.task)?;
        let (task_id, request) = (self.task.clone(), event.payload.clone());
        match (&event.event, now) {
            (EventName::Known(EventKind::TaskInputRequired), TaskState::InputRequired) => {
                Some(ServerFrame::InputRequired { task_id, request })
            }
            (EventName::Known(EventKind::TaskAuthRequired), TaskState::AuthRequired) => {
                Some(ServerFrame::AuthRequired { task_id, request })
            }
            _ => None,
        }
    }

    /// Does what the other side asks. A frame that is refused is answered and changes nothing; only a
    /// cursor that cannot be used ends the stream.
    async fn handle_command(&mut self, text: &[u8]) -> Option<Option<Ending>> {
        let frame = match read(text) {
            Ok(frame) => frame,
            Err(error) => {
                return send(&mut self.socket, &ServerFrame::Error { error }).await.map(|()| None);
            }
        };
        let digest = Sha256::of(text);
        let resumes = matches!(frame.command, ClientCommand::Resume { .. });
        match self.obey(frame, digest).await {
            Ok(None) => Some(None),
            Ok(Some(answer)) => send(&mut self.socket, &answer).await.map(|()| None),
            Err(error) => {
                send(&mut self.socket, &ServerFrame::Error { error }).await?;
                Some(resumes.then_some((close_code::POLICY, "cursor")))
            }
        }
    }

    async fn obey(
        &mut self,
        frame: ClientFrame,
        digest: Sha256,
    ) -> Result<Option<ServerFrame>, HarnError> {
        let asked = self.admitted.as_write(frame.idempotency_key, digest);
        let harness = &self.admitted.harness;
        let may_write = async || {
            let checked = self.admitted.check(TokenScope::TasksWrite).await;
            checked.map_err(|refused| refused.into_error())
        };
        match frame.command {
            ClientCommand::Ping => return Ok(Some(ServerFrame::Ping)),
            ClientCommand::Resume { cursor } => {
                self.feed = self.admitted.feed(Some(&cursor)).await?;
            }
            ClientCommand::Cancel { reason } => {
                may_write().await?;
                let request = CancelTaskRequest { reason };
                harness.cancel_task(&asked, &self.task, request).await?;
            }
            ClientCommand::Message(message) => {
                may_write().await?;
                let request = AppendTaskMessageRequest { kind: TaskMessageKind::Input, message };
                harness.append_task_message(&asked, &self.task, request).await?;
            }
        }
        Ok(None)
    }
}

fn read(text: &[u8]) -> Result<ClientFrame, HarnError> {
    Ok(ClientFrame::parse(canon::parse(text)?)?)
}
