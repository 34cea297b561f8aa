//! Rules that remember what was once allowed or denied.

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{DocumentDraft, Expect, HarnCommand},
    state::DocumentEntry,
};
use quipu_wire::{
    harn::{HarnError, List, RememberRule, ResourceKind, RuleScope},
    json::timestamp::{parse_ms, rfc3339},
};

use crate::{
    Caller, Harness, WriteRequest,
    handle::{
        caller::AUTHORITY_POLICY,
        failure::harn_error,
        page::Page,
        write::{Target, put_by},
    },
    not_found,
};

impl Harness {
    /// `POST /v1/permissions/rules`.
    ///
    /// # Errors
    /// 403 below authority 8, 404 for a Session or Workspace that is not there.
    pub async fn create_permission_rule(
        &self,
        write: &WriteRequest,
        rule: RememberRule,
    ) -> Result<RememberRule, HarnError> {
        write.caller.require(AUTHORITY_POLICY)?;
        let named = rule.scope_value.as_deref().unwrap_or_default();
        let checked = match rule.scope {
            RuleScope::Session => self.check_session(&write.caller, named),
            RuleScope::Workspace => self.check_workspace(named),
            RuleScope::User | RuleScope::Always => Ok(()),
        };
        checked.map_err(|error| error.at("scope_value"))?;
        let draft = self.rule_draft(&write.caller, rule)?;
        let drawn = draft.id.clone();
        let command = HarnCommand { documents: vec![draft], ..HarnCommand::default() };
        let target = Target::post("/v1/permissions/rules");
        let outcome = self.write(write, target, None, command).await?;
        let id = put_by(&outcome, DocumentKind::PermissionRule).unwrap_or(&drawn).to_owned();
        let missing = || not_found(ResourceKind::PermissionRule, &id);
        let entry = self.entry(&write.caller, DocumentKind::PermissionRule, &id);
        let entry = entry.ok_or_else(missing)?;
        self.reading(move |harness| harness.load_rule(&entry)).await
    }

    /// `GET /v1/permissions/rules`: those that hold now, the narrowest first.
    ///
    /// # Errors
    /// Where storage cannot be read.
    pub async fn permission_rules(
        &self,
        caller: &Caller,
        page: Page,
    ) -> Result<List<RememberRule>, HarnError> {
        let caller = caller.clone();
        self.reading(move |harness| {
            let known = harness.rules()?.into_iter().filter(|rule| {
                let session = rule.scope_value.as_deref();
                rule.scope != RuleScope::Session || harness.reaches(&caller, session)
            });
            page.take((0u64..).zip(known)).list(Ok)
        })
        .await
    }

    /// `DELETE /v1/permissions/rules/{rule_id}`. The log keeps what it was.
    ///
    /// # Errors
    /// 403 below authority 8, and below 10 for another's; 404 where there is none.
    pub async fn revoke_permission_rule(
        &self,
        write: &WriteRequest,
        id: &str,
    ) -> Result<(), HarnError> {
        self.check_policy_object(&write.caller, DocumentKind::PermissionRule, id)?;
        let path = format!("/v1/permissions/rules/{id}");
        let target = Target { workspace: "", method: "DELETE", path: &path };
        let kind = DocumentKind::PermissionRule;
        let entry = self.entry(&write.caller, kind, id);
        let owner = match entry {
            Some(entry) => entry.owner,
            None if self.key_was_used(write, target) => DocumentOwner::default(),
            None => return Err(not_found(ResourceKind::PermissionRule, id)),
        };
        let (id, expect) = (id.to_owned(), Expect::Removal);
        let draft = DocumentDraft { kind, id, owner, expect, body: None, quotes: Vec::new() };
        let command = HarnCommand { documents: vec![draft], ..HarnCommand::default() };
        self.write(write, target, None, command).await?;
        Ok(())
    }

    /// A rule to be put. A rule belongs to no session: it stays when the session is over.
    pub(super) fn rule_draft(
        &self,
        caller: &Caller,
        mut rule: RememberRule,
    ) -> Result<DocumentDraft, HarnError> {
        rule.id = self.draw(ResourceKind::PermissionRule);
        rule.created_by.clone_from(&caller.agent);
        let (kind, owner) = (DocumentKind::PermissionRule, DocumentOwner::default());
        self.draft(kind, &rule.id, owner, Expect::New, &rule)
    }

    /// The rules that hold now, the narrowest first and then the oldest. Reads storage.
    pub(super) fn rules(&self) -> Result<Vec<RememberRule>, HarnError> {
        let entries: Vec<DocumentEntry> = self.field.with_state(|state| {
            let all = state.documents.from(DocumentKind::PermissionRule, 0);
            all.map(|(_, entry)| entry.clone()).collect()
        });
        let now = self.field.origin().now_ms();
        let mut rules = Vec::new();
        for entry in &entries {
            let rule = self.load_rule(entry)?;
            let holds = |end: &String| parse_ms(end).is_some_and(|end| end > now);
            if rule.expires_at.as_ref().is_none_or(holds) {
                rules.push(rule);
            }
        }
        // The words of scopes are in this order.
        rules.sort_by_key(|rule| rule.scope);
        Ok(rules)
    }

    fn load_rule(&self, entry: &DocumentEntry) -> Result<RememberRule, HarnError> {
        let rule =
            self.field.body_at::<RememberRule>(entry.at).map_err(|error| harn_error(&error))?;
        let missing = || not_found(ResourceKind::PermissionRule, &entry.id);
        let rule = rule.ok_or_else(missing)?;
        Ok(RememberRule { created_at: rfc3339(entry.created_ms), ..rule })
    }
}
