//! The table of the Harn protocol: Sessions, what belongs to them, and what may be done in them.

use quipu_wire::harn::{
    AppendMessageRequest, AppendTaskMessageRequest, AttachClientRequest, AuditEntry,
    AwaitTaskRequest, Branch, CreateBranchRequest, CreateMemoryRequest, CreateSessionRequest,
    ForkSessionRequest, HarnSession, HarnTask, InputsAnswer, LiveClient, LiveClientChange, Memory,
    Message, PermissionCheckRequest, PermissionCheckResponse, PermissionPolicy,
    PermissionPolicyResponse, PermissionRequest, PermissionResponseRequest, RememberRule,
    SessionClientRequest,
    TokenScope::{SessionsRead, SessionsWrite, TasksRead, TasksWrite},
    TruncateSessionRequest, TruncateSessionResponse, UpdateSessionRequest,
};

use super::row::{delete, get, patch, post, put};
use crate::{
    pipeline::route::Route,
    routes::harn::{
        branches, live_clients, memories, messages, permission_requests, permissions, sessions,
    },
};

pub(super) fn routes() -> Vec<Route> {
    [
        sessions_routes(),
        live_clients_routes(),
        branches_routes(),
        messages_routes(),
        memories_routes(),
        permissions_routes(),
        permission_requests_routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn sessions_routes() -> Vec<Route> {
    vec![
        get("/v1/sessions", SessionsRead, sessions::list_sessions)
            .says(
                "listSessions",
                "The Sessions that the caller may know of, in the order of their \
                    opening.",
            )
            .filter("workspace_id")
            .paged()
            .lists::<HarnSession>("A page."),
        post("/v1/sessions", SessionsWrite, sessions::create_session)
            .says("createSession", "Opens a Session.")
            .takes::<CreateSessionRequest>()
            .answers::<HarnSession>(201, "The Session."),
        get("/v1/sessions/{session_id}", SessionsRead, sessions::get_session)
            .says("getSession", "One Session.")
            .answers::<HarnSession>(200, "The Session."),
        patch("/v1/sessions/{session_id}", SessionsWrite, sessions::update_session)
            .says("updateSession", "Changes a Session.")
            .takes::<UpdateSessionRequest>()
            .answers::<HarnSession>(200, "The Session as it is now."),
        post("/v1/sessions/{session_id}/close", SessionsWrite, sessions::close_session)
            .says(
                "closeSession",
                "Ends a Session, and cancels what is open in it. Closing again \
                    changes nothing.",
            )
            .once()
            .answers::<HarnSession>(200, "The Session as it is now."),
        post("/v1/sessions/{session_id}/join", SessionsWrite, sessions::join_session)
            .says(
                "joinSession",
                "The caller becomes a member of a Session that it may join, and may read in it. \
                    Joining again changes nothing.",
            )
            .once()
            .answers::<HarnSession>(200, "The Session."),
        post("/v1/sessions/{session_id}/fork", SessionsWrite, sessions::fork_session)
            .says(
                "forkSession",
                "Opens a Session that shares what happened in this one, up to an \
                    Event.",
            )
            .takes_optional::<ForkSessionRequest>()
            .answers::<HarnSession>(201, "The new Session."),
        post("/v1/sessions/{session_id}/truncate", SessionsWrite, sessions::truncate_session)
            .says(
                "truncateSession",
                "Cuts the end off the transcript. The log keeps what was said.",
            )
            .takes::<TruncateSessionRequest>()
            .answers::<TruncateSessionResponse>(200, "What is left."),
    ]
}

fn live_clients_routes() -> Vec<Route> {
    vec![
        get("/v1/sessions/{session_id}/live-clients", SessionsRead, live_clients::list_live_clients)
            .says("listSessionLiveClients", "Who looks at a Session now, for its members.")
            .lists::<LiveClient>("All of them."),
        post("/v1/sessions/{session_id}/attach", SessionsWrite, live_clients::attach)
            .says(
                "attachSessionClient",
                "A client comes to a Session, or says what it is there now. It is taken to have gone \
                    when its lease ends without a heartbeat.",
            )
            .takes::<AttachClientRequest>()
            .answers::<LiveClientChange>(200, "Who is there, and who controls the Session."),
        post("/v1/sessions/{session_id}/takeover", SessionsWrite, live_clients::take_over)
            .says(
                "takeoverSessionClient",
                "A client takes control of a Session: from one of the same agent, or of one with no \
                    more authority there.",
            )
            .takes::<SessionClientRequest>()
            .answers::<LiveClientChange>(200, "Who is there, and who controls the Session."),
        post("/v1/sessions/{session_id}/detach", SessionsWrite, live_clients::detach)
            .says("detachSessionClient", "A client goes. Who had control gives it up.")
            .takes::<SessionClientRequest>()
            .answers::<LiveClientChange>(200, "Who is there, and who controls the Session."),
        post("/v1/sessions/{session_id}/heartbeat", SessionsWrite, live_clients::heartbeat)
            .says(
                "heartbeatSessionClient",
                "A client says that it is there. It is written down when half of its lease is over.",
            )
            .takes::<SessionClientRequest>()
            .answers::<LiveClientChange>(200, "Who is there, and who controls the Session."),
        post("/v1/sessions/{session_id}/inputs", SessionsWrite, live_clients::inputs)
            .says(
                "updateSessionInputs",
                "Lends named values to the modules of the caller's own Tasks in a Session, lists them \
                    or takes them back: `{\"kind\": \"list\" | \"put\" | \"remove\" | \"sync\", …}`. They are \
                    held in memory and written nowhere.",
            )
            .reads_anything()
            .answers::<InputsAnswer>(200, "What there is, without any secret."),
    ]
}

fn branches_routes() -> Vec<Route> {
    vec![
        get("/v1/sessions/{session_id}/branches", SessionsRead, branches::list_session_branches)
            .says("listSessionBranches", "The Branches that leave a Session.")
            .paged()
            .lists::<Branch>("A page."),
        post("/v1/sessions/{session_id}/branches", SessionsWrite, branches::create_session_branch)
            .says("createSessionBranch", "Makes a Branch.")
            .takes::<CreateBranchRequest>()
            .answers::<Branch>(201, "The Branch."),
        get("/v1/branches/{branch_id}", SessionsRead, branches::get_branch)
            .says("getBranch", "One Branch.")
            .answers::<Branch>(200, "The Branch."),
    ]
}

fn messages_routes() -> Vec<Route> {
    vec![
        get("/v1/sessions/{session_id}/messages", SessionsRead, messages::list_session_messages)
            .says("listSessionMessages", "The transcript of a Session, in order.")
            .paged()
            .lists::<Message>("A page."),
        post("/v1/sessions/{session_id}/messages", SessionsWrite, messages::append_session_message)
            .says(
                "appendSessionMessage",
                "Says something in a Session. Whoever speaks in an open one becomes a \
                    member of it.",
            )
            .takes::<AppendMessageRequest>()
            .answers::<Message>(201, "The Message."),
        get("/v1/messages/{message_id}", SessionsRead, messages::get_message)
            .says("getMessage", "One Message.")
            .answers::<Message>(200, "The Message."),
        post("/v1/tasks/{task_id}/messages", TasksWrite, messages::append_task_message)
            .says("appendTaskMessage", "Says something to a Task. One that waits for it goes on.")
            .takes::<AppendTaskMessageRequest>()
            .answers::<Message>(201, "The Message."),
    ]
}

fn memories_routes() -> Vec<Route> {
    vec![
        get("/v1/memories", SessionsRead, memories::list_memories)
            .says("listMemories", "The Memories that the caller may see, oldest first.")
            .filter("workspace_id")
            .filter("session_id")
            .paged()
            .lists::<Memory>("A page."),
        post("/v1/memories", SessionsWrite, memories::create_memory)
            .says("createMemory", "Records a memory unit.")
            .takes::<CreateMemoryRequest>()
            .answers::<Memory>(201, "The Memory."),
        get("/v1/memories/{memory_id}", SessionsRead, memories::get_memory)
            .says("getMemory", "One Memory.")
            .answers::<Memory>(200, "The Memory."),
        delete("/v1/memories/{memory_id}", SessionsWrite, memories::delete_memory)
            .says("deleteMemory", "Retracts the memory unit, for its author or the operator.")
            .once()
            .empty(204, "It is retracted."),
    ]
}

fn permissions_routes() -> Vec<Route> {
    vec![
        get("/v1/permissions/policy", SessionsRead, permissions::get_permission_policy)
            .says("getPermissionPolicy", "What may be done without asking.")
            .answers::<PermissionPolicyResponse>(200, "The policy and its version."),
        put("/v1/permissions/policy", SessionsWrite, permissions::install_permission_policy)
            .says("installPermissionPolicy", "Replaces the policy, with authority 8.")
            .takes::<PermissionPolicy>()
            .answers::<PermissionPolicyResponse>(200, "The policy and its version."),
        get("/v1/permissions/rules", SessionsRead, permissions::list_permission_rules)
            .says("listPermissionRules", "The rules that hold now, the narrowest first.")
            .paged()
            .lists::<RememberRule>("A page."),
        post("/v1/permissions/rules", SessionsWrite, permissions::create_permission_rule)
            .says("createPermissionRule", "Makes a rule, with authority 8.")
            .takes::<RememberRule>()
            .answers::<RememberRule>(200, "The rule."),
        delete(
            "/v1/permissions/rules/{rule_id}",
            SessionsWrite,
            permissions::revoke_permission_rule,
        )
        .says("revokePermissionRule", "Takes a rule back, with authority 8.")
        .once()
        .empty(204, "It no longer holds."),
        get("/v1/permissions/history", SessionsRead, permissions::permission_history)
            .says("getPermissionHistory", "What was decided, the newest first.")
            .filter("session_id")
            .filter("workspace_id")
            .filter("tenant_id")
            .filter("actor")
            .filter("outcome")
            .paged()
            .lists::<AuditEntry>("The decisions."),
        post("/v1/permissions/check", SessionsWrite, permissions::check_permission)
            .says("checkPermission", "May this be done? Rules are asked first, then the policy.")
            .takes::<PermissionCheckRequest>()
            .answers::<PermissionCheckResponse>(200, "What was decided."),
    ]
}

fn permission_requests_routes() -> Vec<Route> {
    vec![
        get("/v1/permission-requests", TasksRead, permission_requests::list_permission_requests)
            .says(
                "listPermissionRequests",
                "The questions that the caller may know of, oldest first.",
            )
            .filter("session_id")
            .filter("task_id")
            .paged()
            .lists::<PermissionRequest>("A page."),
        get(
            "/v1/tasks/{task_id}/permission-requests",
            TasksRead,
            permission_requests::list_task_permission_requests,
        )
        .says("listTaskPermissionRequests", "The questions of a Task.")
        .paged()
        .lists::<PermissionRequest>("A page."),
        post(
            "/v1/permission-requests/{request_id}/respond",
            TasksWrite,
            permission_requests::respond_permission_request,
        )
        .says(
            "respondPermissionRequest",
            "Answers a question. The Task that waits goes on, whatever the \
                answer.",
        )
        .takes::<PermissionResponseRequest>()
        .answers::<PermissionRequest>(200, "The question with its answer."),
        post("/v1/tasks/{task_id}/await", TasksWrite, permission_requests::await_answer)
            .says(
                "awaitTask",
                "A worker says what its Task waits for: an answer, or that somebody \
                    allows something.",
            )
            .takes::<AwaitTaskRequest>()
            .answers::<HarnTask>(200, "The Task as it stands now."),
    ]
}
