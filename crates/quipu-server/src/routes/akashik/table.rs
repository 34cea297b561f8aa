//! The table of the Akashik Protocol: every operation and every route beside them, once. An operation without a row
//! does not compile.

use std::sync::Arc;

use axum::handler::Handler;
use quipu_core::rules::{
    attune as attune_rule, detect as detect_rule, least_authority as least_authority_rule,
    replay as replay_rule, restore as restore_rule, retract as retract_rule,
    subscribe as subscribe_rule,
};
use quipu_wire::{
    ProtocolError,
    akashik::{
        AgentList, AttunePayload, AttuneResponse, CompactPayload, CompactResponse, CompactStrategy,
        ConflictList, ConflictStrategy, CoordinatePayload, CoordinateResponse, DeregisterPayload,
        DeregisterResponse, DetectPayload, DetectResponse, HandoffAction, HandoffPayload,
        HandoffResponse, LeastAuthorityPayload, LeastAuthorityTable, LogPage, MemoryType,
        MemoryUnit, MergePayload, MergeResponse, Mode, Operation, PushNotification, RecordPayload,
        RecordResponse, RecordsPayload, RecordsResponse, RegisterPayload, RegisterResponse,
        ReplayPayload, ReplayResponse, RestorePayload, RestoreResponse, RetractPayload,
        RetractResponse, SessionAction, SessionPayload, SessionResponse, SubscribePayload,
        SubscribeResponse, TaskAction, UnitList, UnitOrder, UnitStatus,
    },
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::{
    HttpMethod,
    path::ParameterIn::{Header, Query},
};

use super::{
    attune, compact, coordinate, deregister, detect,
    document::{FieldHeader, MessageHeaders},
    handoff, least_authority, log_follow, merge, own_reads, push, reads, record, register, replay,
    restore, retract, session, subscribe,
};
use crate::{
    limits::{LOG_AUTHORITY, READ_AUTHORITY},
    pipeline::{
        route::{
            Access::{self, Key, Payload},
            Admission, Route,
        },
        state::App,
    },
};

pub(crate) fn routes() -> Vec<Route> {
    Operation::ALL.iter().map(|operation| of(*operation)).chain(others()).collect()
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn of(operation: Operation) -> Route {
    match operation {
        Operation::Register => operation_row(operation, Key(0), register::register)
            .says("register", "An agent joins the Field, or comes back to it.")
            .payload::<RegisterPayload>()
            .answers::<RegisterResponse>(
                200,
                "It joined; or `status` is `rejected`, where the Field lacks an \
                    operation that it requires.",
            ),
        Operation::Deregister => operation_row(operation, Key(0), deregister::deregister)
            .says("deregister", "An agent leaves the Field; its units stay.")
            .payload::<DeregisterPayload>()
            .answers::<DeregisterResponse>(200, "It left; or `status` is `not_found`."),
        Operation::Record => {
            operation_row(operation, Payload(RecordPayload::authority_needed), record::record)
                .says(
                    "record",
                    "Adds a memory unit. It is on stable storage when the answer comes.",
                )
                .payload::<RecordPayload>()
                .needs_by(by("mode", Mode::ALL))
                .answers::<RecordResponse>(200, "The unit is in.")
                .failed("Failed; nothing was recorded, or it is not known.")
        }
        Operation::Attune => operation_row(operation, Key(attune_rule::AUTHORITY), attune::attune)
            .says("attune", "Gives an agent the units that matter to it, best first.")
            .payload::<AttunePayload>()
            .answers::<AttuneResponse>(200, "The units and the open conflicts."),
        Operation::Detect => operation_row(operation, Key(detect_rule::AUTHORITY), detect::detect)
            .says("detect", "Lists conflicts.")
            .payload::<DetectPayload>()
            .answers::<DetectResponse>(200, "The conflicts that pass the filter."),
        Operation::Merge => {
            operation_row(operation, Payload(MergePayload::authority_needed), merge::merge)
                .says("merge", "Settles a conflict, or casts a ballot on it.")
                .payload::<MergePayload>()
                .needs_by(by("strategy", ConflictStrategy::ALL))
                .answers::<MergeResponse>(200, "The conflict as it is now, and what else changed.")
        }
        Operation::Coordinate => operation_row(
            operation,
            Payload(CoordinatePayload::authority_needed),
            coordinate::coordinate,
        )
        .says(
            "coordinate",
            "Moves a task through its life. The contract is ours; the protocol \
                publishes none.",
        )
        .payload::<CoordinatePayload>()
        .needs_by(by("action", TaskAction::ALL))
        .answers::<CoordinateResponse>(200, "The task, or the list."),
        Operation::Handoff => {
            operation_row(operation, Payload(HandoffPayload::authority_needed), handoff::handoff)
                .says(
                    "handoff",
                    "Hands a task and its context to another agent. The contract is ours; \
                        the protocol publishes none.",
                )
                .payload::<HandoffPayload>()
                .needs_by(by("action", HandoffAction::ALL))
                .answers::<HandoffResponse>(200, "The handoff, or the list.")
        }
        Operation::Session => {
            operation_row(operation, Payload(SessionPayload::authority_needed), session::session)
                .says(
                    "session",
                    "Opens, joins, pauses and ends sessions. The contract is ours; the \
                        protocol publishes none.",
                )
                .payload::<SessionPayload>()
                .needs_by(by("action", SessionAction::ALL))
                .answers::<SessionResponse>(200, "The session, or the list.")
        }
        Operation::Replay => operation_row(operation, Key(replay_rule::AUTHORITY), replay::replay)
            .says("replay", "Tells how something came about, from the log alone.")
            .payload::<ReplayPayload>()
            .answers::<ReplayResponse>(200, "The story, and what happened in order."),
        Operation::Compact => {
            operation_row(operation, Payload(CompactPayload::authority_needed), compact::compact)
                .says("compact", "Archives, summarizes or purges units.")
                .payload::<CompactPayload>()
                .needs_by(by("strategy", CompactStrategy::ALL))
                .answers::<CompactResponse>(
                    200,
                    "What was done, which is nothing where no unit passes the filter.",
                )
                .failed("Failed; nothing was done, or it is not known.")
        }
        Operation::Subscribe => {
            operation_row(operation, Key(subscribe_rule::AUTHORITY), subscribe::subscribe)
                .says("subscribe", "Makes, ends or lists subscriptions.")
                .payload::<SubscribePayload>()
                .answers::<SubscribeResponse>(200, "It was done; or `status` is `not_found`.")
        }
    }
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn others() -> Vec<Route> {
    vec![
        read("/v1/log/follow", Key(READ_AUTHORITY), log_follow::log_follow)
            .says(
                "log_follow",
                "The log as it grows, over a WebSocket: a page of it whenever there \
                    is something new.",
            )
            .ours()
            .query::<log_follow::FollowQuery>()
            .answers::<LogPage>(
                101,
                "A text frame at once and whenever the log has grown: what `GET \
                    /v1/log` would answer. Below authority 8 `commits` is empty. The \
                    subprotocol is `quipu-log`; beside it `bearer.KEY` may stand for the \
                    `Authorization` header.",
            ),
        read("/v1/units", Key(READ_AUTHORITY), own_reads::units)
            .says("units", "The units that a query finds, whatever their status.")
            .ours()
            .query::<own_reads::UnitsQuery>()
            .names::<MemoryType>()
            .names::<UnitOrder>()
            .names::<UnitStatus>()
            .answers::<UnitList>(200, "Some of them, and how many there are."),
        read("/v1/units/{id}", Key(READ_AUTHORITY), own_reads::unit)
            .says("unit", "One unit, whatever its status.")
            .ours()
            .explains("id", "The unit's id.")
            .answers::<MemoryUnit>(200, "The unit."),
        read("/v1/log", Key(LOG_AUTHORITY), own_reads::log)
            .says("log", "The log, commit by commit, without its texts.")
            .ours()
            .query::<own_reads::LogQuery>()
            .answers::<LogPage>(200, "The commits, oldest first."),
        read("/v1/subscriptions", Key(LOG_AUTHORITY), own_reads::subscriptions)
            .says("subscriptions", "The subscriptions of all agents. Needs authority 8.")
            .ours()
            .query::<reads::PageQuery>()
            .answers::<own_reads::SubscriptionList>(200, "The subscriptions, oldest first."),
        read("/v1/subscriptions/{id}/events", Key(0), push::push_events)
            .says("push_events", "What a subscription pushes, as server-sent events.")
            .explains("id", "The subscription.")
            .optional(Query, "after", "Resume after this cursor; from now on if absent.")
            .optional(Header, "Last-Event-ID", "The same; it goes before `after`.")
            .streams::<PushNotification>(
                "One event for each push: `id` is the cursor, `event` the kind, \
                    `data` the notification. A comment every 15 s. The last event is \
                    `end`.",
            ),
        read("/v1/subscriptions/{id}/ws", Key(0), push::push_websocket)
            .says("push_websocket", "What a subscription pushes, over a WebSocket.")
            .explains("id", "The subscription.")
            .optional(Query, "after", "Resume after this cursor; from now on if absent.")
            .answers::<PushNotification>(
                101,
                "One text frame for each push. A ping every 15 s. The close frame \
                    says where to resume.",
            ),
        read("/v1/field/status", Key(READ_AUTHORITY), reads::field_status)
            .says("field_status", "The Field at a glance.")
            .answers::<reads::StatusForReader>(200, "How the Field stands."),
        read("/v1/agents", Key(READ_AUTHORITY), reads::agents)
            .says("agents", "The agents that are registered now.")
            .query::<reads::PageQuery>()
            .answers::<AgentList>(200, "The agents, by id."),
        read("/v1/conflicts", Key(READ_AUTHORITY), reads::conflicts)
            .says("conflicts", "The conflicts that nobody has settled yet.")
            .query::<reads::PageQuery>()
            .answers::<ConflictList>(200, "The conflicts, oldest first."),
        message("/v1/records", Payload(RecordsPayload::authority_needed), record::records)
            .says(
                "records",
                "Adds several memory units, all or none, in one commit. They are on \
                    stable storage when the answer comes.",
            )
            .ours()
            .payload::<RecordsPayload>()
            .needs_by(by("mode", Mode::ALL).map(|unit| json!({"units": [unit]})))
            .answers::<RecordsResponse>(200, "The units are in.")
            .refuses::<ProtocolError>("4XX", "Refused; none was recorded.")
            .failed("Failed; none was recorded, or it is not known."),
        message("/v1/retract", Key(retract_rule::AUTHORITY), retract::retract)
            .says("retract", "Withdraws a unit, for its author or for authority 10.")
            .ours()
            .payload::<RetractPayload>()
            .answers::<RetractResponse>(200, "The unit is retracted."),
        message("/v1/restore", Key(restore_rule::AUTHORITY), restore::restore)
            .says(
                "restore",
                "Brings units back: archived ones for authority 6, retracted ones for who may \
                    retract them.",
            )
            .ours()
            .payload::<RestorePayload>()
            .answers::<RestoreResponse>(200, "The units are back."),
        read("/v1/field/authority", Key(READ_AUTHORITY), least_authority::read)
            .says("least_authority", "Which authority it takes to record a unit of each type.")
            .ours()
            .answers::<LeastAuthorityTable>(200, "A row for each type and mode."),
        message("/v1/field/authority", Key(least_authority_rule::AUTHORITY), least_authority::set)
            .says(
                "set_least_authority",
                "Changes which authority units of a type take. Needs authority 10.",
            )
            .ours()
            .payload::<LeastAuthorityPayload>()
            .answers::<LeastAuthorityTable>(200, "The whole table as it is now."),
    ]
}

/// A payload for each word of a member on which it depends who may send it.
fn by<W: Serialize>(member: &str, words: &[W]) -> impl Iterator<Item = Value> {
    words.iter().map(move |word| json!({member: word}))
}

fn operation_row<H, T>(operation: Operation, access: Access, handler: H) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    row(HttpMethod::Post, operation.path(), Admission::new(Some(operation), access), handler)
        .headers::<MessageHeaders>()
}

/// A message that is no operation of the protocol.
fn message<H, T>(path: &'static str, access: Access, handler: H) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    row(HttpMethod::Post, path, Admission::new(None, access), handler).headers::<MessageHeaders>()
}

fn read<H, T>(path: &'static str, access: Access, handler: H) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    row(HttpMethod::Get, path, Admission::new(None, access), handler).headers::<FieldHeader>()
}

fn row<H, T>(method: HttpMethod, path: &'static str, admission: Admission, handler: H) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    Route::new(method, path, admission, handler)
        .tag("akashik")
        .refuses::<ProtocolError>("4XX", "Refused.")
        .refuses::<ProtocolError>("5XX", "Failed.")
}
