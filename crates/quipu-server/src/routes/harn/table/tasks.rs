//! The table of the Harn protocol: Tasks, the work on them, their Events and their replays.

use quipu_wire::harn::{
    AppendEventRequest, Artifact, CancelTaskRequest, ClaimNextRequest, ClaimTaskRequest,
    CompleteTaskRequest, DependencyEntry, Divergence, Event, FailTaskRequest, HarnErrorResponse,
    HarnSession, HarnTask, HeartbeatRequest, LeaseResource, RecordCheckpointRequest,
    RecordDependencyRequest, RecordedDependencyResource, ReplaySessionRequest, ReplayTaskRequest,
    ResolveAnswer, ResolveDependencyRequest, SubmitTaskRequest, TaskExport,
    TokenScope::{EventsRead, TasksRead, TasksWrite},
};
use utoipa::openapi::path::ParameterIn::{Header, Query};

use super::row::{get, post};
use crate::{
    pipeline::route::Route,
    routes::harn::{events, replay, streams, tasks, work},
};

pub(super) fn routes() -> Vec<Route> {
    [
        tasks_routes(),
        lease_routes(),
        work_routes(),
        replay_routes(),
        events_routes(),
        streams_routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn tasks_routes() -> Vec<Route> {
    vec![
        post("/v1/tasks", TasksWrite, tasks::submit_task)
            .says(
                "submitTask",
                "Submits a Task to the Session that the body names. A Task that names \
                    no Persona is answered by the Field itself; another waits for a \
                    worker.",
            )
            .takes::<SubmitTaskRequest>()
            .answers::<HarnTask>(200, "The key was used before: the Task of then.")
            .answers::<HarnTask>(202, "Accepted, and durable."),
        post("/v1/sessions/{session_id}/tasks", TasksWrite, tasks::submit_session_task)
            .says(
                "submitSessionTask",
                "Submits a Task to a Session. Shares its idempotency keys with `POST \
                    /v1/tasks`.",
            )
            .takes::<SubmitTaskRequest>()
            .answers::<HarnTask>(200, "The key was used before: the Task of then.")
            .answers::<HarnTask>(202, "Accepted, and durable."),
        get("/v1/tasks", TasksRead, tasks::list_tasks)
            .says(
                "listTasks",
                "All Tasks that the caller may know of, in the order of their making.",
            )
            .filter("workspace_id")
            .filter("session_id")
            .filter("status")
            .filter("parent_task_id")
            .filter("queue")
            .filter("persona_id")
            .filter("dead_letter")
            .paged()
            .lists::<HarnTask>("A page."),
        get("/v1/sessions/{session_id}/tasks", TasksRead, tasks::list_session_tasks)
            .says("listSessionTasks", "The Tasks of a Session.")
            .filter("status")
            .filter("parent_task_id")
            .filter("queue")
            .filter("persona_id")
            .filter("dead_letter")
            .paged()
            .lists::<HarnTask>("A page."),
        get("/v1/tasks/{task_id}", TasksRead, tasks::get_task)
            .says("getTask", "One Task.")
            .answers::<HarnTask>(200, "The Task."),
        post("/v1/tasks/{task_id}/cancel", TasksWrite, tasks::cancel_task)
            .says(
                "cancelTask",
                "Cancels a Task. Canceling again changes nothing; a Task that was \
                    completed or has failed is a conflict.",
            )
            .takes_optional::<CancelTaskRequest>()
            .answers::<HarnTask>(200, "Canceled."),
    ]
}

fn lease_routes() -> Vec<Route> {
    vec![
        post("/v1/tasks/claim", TasksWrite, work::claim_next)
            .says(
                "claimNextTask",
                "Takes the oldest Task that is due and that nobody has, of a queue, of a \
                    Persona, or of a filter. Of several that ask at once each gets another.",
            )
            .takes::<ClaimNextRequest>()
            .answers::<HarnTask>(200, "The caller has it.")
            .empty(204, "There is none, and none came in `wait_ms`."),
        post("/v1/tasks/{task_id}/heartbeat", TasksWrite, work::heartbeat)
            .says(
                "heartbeatTask",
                "Makes the lease of the worker that has the Task last longer. It never takes \
                    a Task: whoever lost it is refused.",
            )
            .takes_optional::<HeartbeatRequest>()
            .answers::<LeaseResource>(200, "The caller has it until then.")
            .refuses::<HarnErrorResponse>("409", "The caller does not have it."),
        get("/v1/tasks/{task_id}/dependencies", TasksRead, work::list_dependencies)
            .says(
                "listTaskDependencies",
                "The answers that the Task recorded so far, in the order of recording: a \
                    worker that goes on with it asks for none of them again.",
            )
            .optional(Query, "after_key", "Only what was recorded after the answer under this key.")
            .limit()
            .lists::<DependencyEntry>("A page."),
    ]
}

fn work_routes() -> Vec<Route> {
    vec![
        post("/v1/tasks/{task_id}/claim", TasksWrite, work::claim_task)
            .says(
                "claimTask",
                "Takes a Task and begins. Taken again by who has it, the claim lasts \
                    longer.",
            )
            .takes_optional::<ClaimTaskRequest>()
            .answers::<HarnTask>(200, "The caller has it.")
            .refuses::<HarnErrorResponse>("423", "Somebody else has it."),
        post("/v1/tasks/{task_id}/events", TasksWrite, work::append_event)
            .says(
                "appendTaskEvent",
                "Appends an Event to the Task's stream: what an agent said or did, a \
                    span, a tool call.",
            )
            .takes::<AppendEventRequest>()
            .answers::<Event>(201, "The Event."),
        post("/v1/tasks/{task_id}/complete", TasksWrite, work::complete_task)
            .says("completeTask", "The Task is done.")
            .takes::<CompleteTaskRequest>()
            .answers::<HarnTask>(200, "Completed."),
        post("/v1/tasks/{task_id}/fail", TasksWrite, work::fail_task)
            .says("failTask", "The Task is given up.")
            .takes::<FailTaskRequest>()
            .answers::<HarnTask>(200, "Failed."),
        post("/v1/tasks/{task_id}/dependencies", TasksWrite, work::record_dependency)
            .says(
                "recordTaskDependency",
                "Records one answer that the work consumed, under its key. The same \
                    answer again changes nothing.",
            )
            .takes::<RecordDependencyRequest>()
            .answers::<RecordedDependencyResource>(200, "It was recorded before.")
            .answers::<RecordedDependencyResource>(201, "Recorded."),
        post("/v1/tasks/{task_id}/checkpoints", TasksWrite, work::record_checkpoint)
            .says(
                "recordTaskCheckpoint",
                "Records a boundary from which a replay may begin. The Artifact's id \
                    is the checkpoint's.",
            )
            .takes::<RecordCheckpointRequest>()
            .answers::<Artifact>(201, "The snapshot."),
    ]
}

fn replay_routes() -> Vec<Route> {
    vec![
        post("/v1/tasks/{task_id}/replay", TasksWrite, replay::replay_task)
            .says(
                "replayTask",
                "Replays a finished Task: exactly, with answers changed, or from a \
                    checkpoint. Nobody is ever asked live.",
            )
            .takes_optional::<ReplayTaskRequest>()
            .answers::<HarnTask>(202, "The replay, a Task of its own."),
        post("/v1/sessions/{session_id}/replay", TasksWrite, replay::replay_session)
            .says(
                "replaySession",
                "Forks a Session and replays every Task of it there, exactly and in \
                    the order of their making.",
            )
            .takes_optional::<ReplaySessionRequest>()
            .answers::<HarnSession>(202, "The fork, with the replays in it."),
        post("/v1/tasks/{task_id}/dependencies/resolve", TasksWrite, replay::resolve_dependency)
            .says(
                "resolveTaskDependency",
                "Gives a worker that replays a Task the recorded or substituted \
                    answer under a key. What is missing fails the replay, and is named \
                    in `details`. A worker that goes on with a run that is no replay is \
                    given what was recorded, or told that nothing was.",
            )
            .reads::<ResolveDependencyRequest>()
            .answers::<ResolveAnswer>(200, "The answer."),
        get("/v1/tasks/{task_id}/divergence", TasksRead, replay::divergence)
            .says(
                "getTaskDivergence",
                "Compares a replay with its source: the first event that differs, the \
                    answers that were changed, what came of both.",
            )
            .answers::<Divergence>(200, "What differs."),
        get("/v1/tasks/{task_id}/export", TasksRead, replay::export_task)
            .says(
                "exportTask",
                "A finished Task as one document, for another server. Needs authority \
                    8.",
            )
            .answers::<TaskExport>(200, "The Task."),
        post("/v1/tasks/import", TasksWrite, replay::import_task)
            .says(
                "importTask",
                "Brings a finished Task here from another server, with the ids and \
                    times that it had there. Needs authority 8.",
            )
            .takes::<TaskExport>()
            .answers::<HarnTask>(201, "The Task."),
    ]
}

fn events_routes() -> Vec<Route> {
    vec![
        get("/v1/events", EventsRead, events::list_events)
            .says("listEvents", "What happened, as far as the caller may know.")
            .filter("workspace_id")
            .filter("session_id")
            .filter("task_id")
            .optional(Query, "after_event_id", "Only what came behind this Event.")
            .limit()
            .lists::<Event>("A range.")
            .refuses::<HarnErrorResponse>("410", "There is no such Event."),
        get("/v1/sessions/{session_id}/events", EventsRead, events::list_session_events)
            .says("listSessionEvents", "What happened in a Session.")
            .optional(Query, "after_event_id", "Only what came behind this Event.")
            .limit()
            .lists::<Event>("A range.")
            .refuses::<HarnErrorResponse>("410", "There is no such Event."),
        get("/v1/tasks/{task_id}/events", EventsRead, events::list_task_events)
            .says("listTaskEvents", "What happened to a Task.")
            .optional(Query, "after_event_id", "Only what came behind this Event.")
            .limit()
            .lists::<Event>("A range.")
            .refuses::<HarnErrorResponse>("410", "There is no such Event."),
        get("/v1/events/{event_id}", EventsRead, events::get_event)
            .says("getEvent", "One Event.")
            .answers::<Event>(200, "The Event."),
    ]
}

fn streams_routes() -> Vec<Route> {
    vec![
        get("/v1/events/stream", EventsRead, streams::stream_events)
            .says("streamEvents", "The Events of everything, as they happen.")
            .filter("workspace_id")
            .filter("session_id")
            .filter("task_id")
            .optional(
                Header,
                "Last-Event-ID",
                "Resume behind this Event; from the beginning if absent.",
            )
            .streams::<Event>(
                "Server-sent events: `id` is the Event's, `event` its kind, `data` \
                    the Event.",
            ),
        get("/v1/sessions/{session_id}/events/stream", EventsRead, streams::stream_session_events)
            .says("streamSessionEvents", "The Events of a Session, as they happen.")
            .optional(
                Header,
                "Last-Event-ID",
                "Resume behind this Event; from the beginning if absent.",
            )
            .streams::<Event>(
                "Server-sent events: `id` is the Event's, `event` its kind, `data` \
                    the Event.",
            ),
        get("/v1/tasks/{task_id}/stream", EventsRead, streams::stream_task_events)
            .says(
                "streamTaskEvents",
                "The Events of a Task, as they happen. The same path may be upgraded \
                    to a WebSocket, over which messages and cancellation go the other \
                    way.",
            )
            .optional(
                Header,
                "Last-Event-ID",
                "Resume behind this Event; from the beginning if absent.",
            )
            .empty(101, "A WebSocket: one JSON object for each frame.")
            .streams::<Event>(
                "Server-sent events: `id` is the Event's, `event` its kind, `data` \
                    the Event. Ends when the Task has.",
            ),
    ]
}
