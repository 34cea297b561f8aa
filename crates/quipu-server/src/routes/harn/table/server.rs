//! The table of the Harn protocol: what the server says of itself, and what is kept for Tasks.

use quipu_wire::harn::{
    Artifact, CapabilitySummary, Connector, ConnectorDelivery, CreatePersonaRequest,
    CreateQuotaRequest, CreateVaultRequest, CreateWorkspaceRequest, Discovery, FileOrListing,
    HarnAgentCard, Health, Outcome, Persona, ProviderCatalog, PutSecretRequest, Quota, Receipt,
    ReceiptResource, ReceiptVerification, RegisterArtifactRequest, Runtime, ServerVersion, Skill,
    TokenScope::{
        ArtifactsRead, ArtifactsWrite, ReceiptsRead, SessionsRead, SessionsWrite, TasksRead,
    },
    Tool, UpdateConnectorRequest, UpdatePersonaRequest, UpdateQuotaRequest, UpdateWorkspaceRequest,
    Vault, VerifyReceiptRequest, Workspace, WorkspaceFile, WriteFileRequest,
};
use utoipa::openapi::path::ParameterIn::{Header, Query};

use super::row::{ANY_CREDENTIAL, delete, get, patch, post, put};
use crate::{
    pipeline::route::{Access::Everybody, Route},
    routes::harn::{
        agent_card, artifacts, connectors, discovery, outcomes, personas, provider_catalog, quotas,
        receipts, runtime, skills, tools, vaults, workspace_files, workspaces,
    },
};

pub(super) fn routes() -> Vec<Route> {
    [
        discovery_routes(),
        agent_card_routes(),
        runtime_routes(),
        skills_routes(),
        quotas_routes(),
        personas_routes(),
        workspaces_routes(),
        workspace_files_routes(),
        vaults_routes(),
        connectors_routes(),
        artifacts_routes(),
        receipts_routes(),
        outcomes_routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn discovery_routes() -> Vec<Route> {
    vec![
        get("/v1", Everybody, discovery::discovery)
            .says("getProtocolDiscovery", "Says which versions are spoken and what is implemented.")
            .answers::<Discovery>(200, "What is spoken here."),
        get("/health", Everybody, discovery::health)
            .says("getHealth", "Says that the server is up.")
            .answers::<Health>(200, "The server is up."),
        get("/version", Everybody, discovery::version)
            .says("getVersion", "Says which server this is.")
            .answers::<ServerVersion>(200, "The versions."),
    ]
}

fn agent_card_routes() -> Vec<Route> {
    vec![
        get("/v1/agent-card", Everybody, agent_card::agent_card)
            .says("getAgentCard", "Says who this server is.")
            .answers::<HarnAgentCard>(200, "The card."),
    ]
}

fn runtime_routes() -> Vec<Route> {
    vec![
        get("/v1/runtime", ANY_CREDENTIAL, runtime::runtime)
            .says("getRuntime", "What runs here.")
            .answers::<Runtime>(200, "The server."),
        get("/v1/capabilities", ANY_CREDENTIAL, runtime::capability_summary)
            .says("getCapabilities", "What the server can do.")
            .answers::<CapabilitySummary>(200, "What it can do."),
        get("/v1/provider-catalog", ANY_CREDENTIAL, provider_catalog::provider_catalog)
            .says(
                "getProviderCatalog",
                "Which models the server asks, and for what. It asks none on behalf of a caller.",
            )
            .answers::<ProviderCatalog>(200, "The catalog."),
        get("/v1/tools", SessionsRead, tools::list_tools)
            .says(
                "listTools",
                "What can be called here: the operations, Skills, the modules of Personas, and the                     tools that Personas declare.",
            )
            .paged()
            .lists::<Tool>("A page."),
        get("/v1/tools/{tool_id}", SessionsRead, tools::get_tool)
            .says("getTool", "One Tool.")
            .answers::<Tool>(200, "The Tool."),
    ]
}

fn skills_routes() -> Vec<Route> {
    vec![
        get("/v1/skills", SessionsRead, skills::list_skills)
            .says("listSkills", "What can be done here.")
            .paged()
            .lists::<Skill>("A page."),
        get("/v1/skills/{skill_id}", SessionsRead, skills::get_skill)
            .says("getSkill", "One Skill.")
            .answers::<Skill>(200, "The Skill."),
    ]
}

fn quotas_routes() -> Vec<Route> {
    vec![
        get("/v1/quotas", SessionsRead, quotas::list_quotas)
            .says("listQuotas", "All Quotas, with what is used up.")
            .paged()
            .lists::<Quota>("A page."),
        post("/v1/quotas", SessionsWrite, quotas::create_quota)
            .says("createQuota", "Makes a Quota, with authority 8.")
            .takes::<CreateQuotaRequest>()
            .answers::<Quota>(201, "The Quota."),
        get("/v1/quotas/{quota_id}", SessionsRead, quotas::get_quota)
            .says("getQuota", "One Quota, with what is used up.")
            .answers::<Quota>(200, "The Quota."),
        patch("/v1/quotas/{quota_id}", SessionsWrite, quotas::update_quota)
            .says(
                "updateQuota",
                "Changes a Quota, for its maker with authority 8, or for authority 10.",
            )
            .takes::<UpdateQuotaRequest>()
            .answers::<Quota>(200, "The Quota as it is now."),
    ]
}

fn personas_routes() -> Vec<Route> {
    vec![
        get("/v1/personas", SessionsRead, personas::list_personas)
            .says("listPersonas", "All Personas, the built-in one first.")
            .paged()
            .lists::<Persona>("A page."),
        post("/v1/personas", SessionsWrite, personas::create_persona)
            .says("createPersona", "Makes a Persona, with authority 8.")
            .takes::<CreatePersonaRequest>()
            .answers::<Persona>(201, "The Persona."),
        get("/v1/personas/{persona_id}", SessionsRead, personas::get_persona)
            .says("getPersona", "One Persona.")
            .answers::<Persona>(200, "The Persona."),
        patch("/v1/personas/{persona_id}", SessionsWrite, personas::update_persona)
            .says(
                "updatePersona",
                "Changes a Persona, for its maker with authority 8, or for authority 10.",
            )
            .takes::<UpdatePersonaRequest>()
            .answers::<Persona>(200, "The Persona as it is now."),
    ]
}

fn workspaces_routes() -> Vec<Route> {
    vec![
        get("/v1/workspaces", SessionsRead, workspaces::list_workspaces)
            .says("listWorkspaces", "All Workspaces, the built-in one first.")
            .paged()
            .lists::<Workspace>("A page."),
        post("/v1/workspaces", SessionsWrite, workspaces::create_workspace)
            .says("createWorkspace", "Makes a Workspace, with authority 8.")
            .takes::<CreateWorkspaceRequest>()
            .answers::<Workspace>(201, "The Workspace."),
        get("/v1/workspaces/{workspace_id}", SessionsRead, workspaces::get_workspace)
            .says("getWorkspace", "One Workspace.")
            .answers::<Workspace>(200, "The Workspace."),
        patch("/v1/workspaces/{workspace_id}", SessionsWrite, workspaces::update_workspace)
            .says(
                "updateWorkspace",
                "Changes a Workspace, for its maker with authority 8, or for authority 10.",
            )
            .takes::<UpdateWorkspaceRequest>()
            .answers::<Workspace>(200, "The Workspace as it is now."),
    ]
}

fn workspace_files_routes() -> Vec<Route> {
    const PATH: &str = "/v1/workspaces/{workspace_id}/files";
    const MEANING: &str = "The path within the Workspace; absent or `.`, the Workspace itself.";
    vec![
        get(PATH, ArtifactsRead, workspace_files::read_file)
            .says("readWorkspaceFile", "What is under a path: a file, or what is in a directory.")
            .optional(Query, "path", MEANING)
            .optional(Query, "version", "Of a file, which version; the newest if absent. Ours.")
            .optional(Query, "after", "Of a directory, what `next` of a listing said. Ours.")
            .answers::<FileOrListing>(200, "The file, or the entries of the directory."),
        put(PATH, ArtifactsWrite, workspace_files::write_file)
            .says(
                "writeWorkspaceFile",
                "Writes a file: a new version of it, unless it says the same already. Earlier \
                    versions are kept.",
            )
            .optional(Query, "path", "The path within the Workspace, unless the body says it.")
            .takes::<WriteFileRequest>()
            .answers::<WorkspaceFile>(200, "The version, without its content."),
        delete(PATH, ArtifactsWrite, workspace_files::erase_file)
            .says(
                "eraseWorkspaceFile",
                "Takes a file away with the content of all its versions, for who wrote them, or \
                    authority 8.",
            )
            .ours()
            .once()
            .required(Query, "path", "The path within the Workspace.")
            .empty(204, "It is gone."),
    ]
}

fn vaults_routes() -> Vec<Route> {
    vec![
        post("/v1/vaults", SessionsWrite, vaults::create_vault)
            .says("createVault", "Makes a Vault, with authority 8.")
            .takes::<CreateVaultRequest>()
            .answers::<Vault>(201, "Made."),
        get("/v1/vaults", SessionsRead, vaults::list_vaults)
            .says("listVaults", "All Vaults, with the names of what they hold.")
            .filter("workspace_id")
            .paged()
            .lists::<Vault>("A page."),
        get("/v1/vaults/{vault_id}", SessionsRead, vaults::get_vault)
            .says("getVault", "One Vault, with the names of what it holds.")
            .answers::<Vault>(200, "The Vault."),
        put("/v1/vaults/{vault_id}/secrets/{name}", SessionsWrite, vaults::put_secret)
            .says(
                "putVaultSecret",
                "Puts a secret into a Vault, in place of the one of that name. It is \
                    sealed, and nothing shows it again.",
            )
            .ours()
            .explains("name", "Letters, digits, dots, dashes and underscores.")
            .takes::<PutSecretRequest>()
            .answers::<Vault>(200, "Kept."),
    ]
}

fn connectors_routes() -> Vec<Route> {
    vec![
        get("/v1/connectors", SessionsRead, connectors::list_connectors)
            .says("listConnectors", "All Connectors.")
            .filter("workspace_id")
            .paged()
            .lists::<Connector>("A page."),
        get("/v1/connectors/{connector_id}", SessionsRead, connectors::get_connector)
            .says("getConnector", "One Connector.")
            .answers::<Connector>(200, "The Connector."),
        patch("/v1/connectors/{connector_id}", SessionsWrite, connectors::update_connector)
            .says(
                "updateConnector",
                "Gives a Connector its secret, its targets or its status. Needs \
                    authority 8.",
            )
            .ours()
            .takes::<UpdateConnectorRequest>()
            .answers::<Connector>(200, "Changed."),
        post("/v1/connectors/{connector_id}/deliveries", Everybody, connectors::deliver)
            .says(
                "deliverToConnector",
                "Takes a delivery, which becomes a Task. Needs neither a key nor a \
                    version, but a signature: the HMAC-SHA-256 of its id, its time and \
                    its body under the Connector's secret. Sent again with the same id, \
                    it is answered as the first time.",
            )
            .ours()
            .required(
                Header,
                "X-Signature-256",
                "`sha256=` and 64 hexadecimal digits: the HMAC-SHA-256 of id, time and \
                    body, with a dot between them.",
            )
            .required(Header, "X-Delivery-Id", "The sender's id of the delivery, without a dot.")
            .required(
                Header,
                "X-Delivery-Time",
                "When it was sent, in whole seconds since 1970; at most five minutes ago.",
            )
            .optional(Header, "Quipu-Field", "The Field; `default` if absent.")
            .reads_anything()
            .answers::<ConnectorDelivery>(202, "It became a Task, now or when it came first."),
    ]
}

fn artifacts_routes() -> Vec<Route> {
    vec![
        post("/v1/artifacts", ArtifactsWrite, artifacts::register_artifact)
            .says(
                "registerArtifact",
                "Registers an Artifact. Its content may be elsewhere, or come later.",
            )
            .takes::<RegisterArtifactRequest>()
            .answers::<Artifact>(201, "Registered."),
        get("/v1/artifacts", ArtifactsRead, artifacts::list_artifacts)
            .says(
                "listArtifacts",
                "All Artifacts that the caller may know of, in the order of their \
                    making.",
            )
            .filter("workspace_id")
            .filter("session_id")
            .filter("task_id")
            .paged()
            .lists::<Artifact>("A page."),
        get("/v1/artifacts/{artifact_id}", ArtifactsRead, artifacts::get_artifact)
            .says("getArtifact", "One Artifact.")
            .answers::<Artifact>(200, "The Artifact."),
        get("/v1/artifacts/{artifact_id}/content", ArtifactsRead, artifacts::download_content)
            .says(
                "downloadArtifactContent",
                "The content of an Artifact that is kept here. It comes as bytes to \
                    be saved, whatever they are, so that no browser runs what somebody \
                    uploaded.",
            )
            .bytes("The bytes."),
        put("/v1/artifacts/{artifact_id}/content", ArtifactsWrite, artifacts::upload_content)
            .says(
                "uploadArtifactContent",
                "Uploads the content of an Artifact as raw bytes. They must have the \
                    digest that was registered; where none was, theirs is registered.",
            )
            .ours()
            .once()
            .reads_bytes()
            .answers::<Artifact>(200, "Kept."),
        delete("/v1/artifacts/{artifact_id}/content", ArtifactsWrite, artifacts::redact_content)
            .says(
                "redactArtifactContent",
                "Takes the content of an Artifact away: its bytes are erased from the \
                    log unless another Artifact has them too, and the Artifact says that \
                    they were there. For who made it, or authority 8.",
            )
            .ours()
            .answers::<Artifact>(200, "Taken away, now or before."),
    ]
}

fn receipts_routes() -> Vec<Route> {
    vec![
        get("/v1/tasks/{task_id}/receipts", ReceiptsRead, receipts::list_task_receipts)
            .says(
                "listTaskReceipts",
                "The Receipts of a Task, oldest first: one, or more where it was \
                    tried again by the other protocol.",
            )
            .paged()
            .lists::<ReceiptResource>("A page."),
        get("/v1/receipts/{receipt_id}", ReceiptsRead, receipts::get_receipt)
            .says(
                "getReceipt",
                "One Receipt: the resource around it, or the receipt itself where \
                    `Accept` names its media type.",
            )
            .answers_as::<ReceiptResource, Receipt>(
                "The Receipt.",
                "application/vnd.harn.receipt+json",
                "application/vnd.harn.receipt+cbor",
            ),
        post("/v1/receipts/{receipt_id}/verify", ReceiptsRead, receipts::verify_receipt)
            .says(
                "verifyReceipt",
                "Checks a Receipt: its schema, its hash, its place in the chain and \
                    its signatures. The answer is the finding, also where it does not \
                    hold; nothing is written.",
            )
            .takes_optional::<VerifyReceiptRequest>()
            .answers::<ReceiptVerification>(200, "What was found."),
    ]
}

fn outcomes_routes() -> Vec<Route> {
    vec![
        get("/v1/outcomes", TasksRead, outcomes::list_outcomes)
            .says("listOutcomes", "How Tasks ended, in the order in which they did.")
            .filter("task_id")
            .paged()
            .lists::<Outcome>("A page."),
        get("/v1/outcomes/{outcome_id}", TasksRead, outcomes::get_outcome)
            .says("getOutcome", "One Outcome.")
            .answers::<Outcome>(200, "The Outcome."),
    ]
}
