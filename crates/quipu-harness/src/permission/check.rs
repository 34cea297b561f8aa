//! May this be done? The rules are asked first: a denial holds, unless who made it permits it by a narrower rule. Then
//! the policy. Where neither says anything, somebody has to decide.

use quipu_core::rules::harn::AUTHORITY_WRITE;
use quipu_wire::harn::{
    HarnError, HarnErrorCode, PermissionCheckRequest, PermissionCheckResponse, PermissionClass,
    PermissionDecision, PermissionDecisionObject, PermissionPolicy, RememberRule, RuleScope,
};

use super::{pattern::fits, policy::with_version};
use crate::{Caller, Harness, WriteRequest, handle::caller::AUTHORITY_POLICY};

impl Harness {
    /// `POST /v1/permissions/check`. What was decided is in the history.
    ///
    /// # Errors
    /// 404 for a Session that is not there, 403 for whoever may not write, or asks for somebody else and neither
    /// opened the Session nor has authority 8.
    pub async fn check_permission(
        &self,
        write: &WriteRequest,
        mut request: PermissionCheckRequest,
    ) -> Result<PermissionCheckResponse, HarnError> {
        write.caller.require(AUTHORITY_WRITE)?;
        let session = self.check_session(&write.caller, &request.session_id);
        let session = session.and_then(|()| self.view_session(&write.caller, &request.session_id));
        let view = session.map_err(|error| error.at("session_id"))?;
        self.check_may_ask_for(&write.caller, &request)?;
        request.workspace_id = Some(view.workspace);
        let question = request.clone();
        let decision = self.reading(move |harness| harness.decide_permission(&question)).await?;
        let request_id = self.keep_decision(request, &decision).await?;
        let object = PermissionDecisionObject::PermissionDecision;
        Ok(PermissionCheckResponse { object, request_id, decision })
    }

    /// An actor asks for itself: what it is answered stands in the history under its name.
    fn check_may_ask_for(
        &self,
        caller: &Caller,
        request: &PermissionCheckRequest,
    ) -> Result<(), HarnError> {
        let within = Some(request.session_id.as_str());
        if request.actor == caller.agent || self.authority_of(caller, within) >= AUTHORITY_POLICY {
            return Ok(());
        }
        let message = format!(
            "actor: {} asks for itself alone; for others asks who opened the session, or authority \
             {AUTHORITY_POLICY}",
            caller.agent
        );
        Err(HarnError::new(HarnErrorCode::PermissionDenied, message).at("actor"))
    }

    /// What the rules and the policy say. Reads storage.
    pub(super) fn decide_permission(
        &self,
        request: &PermissionCheckRequest,
    ) -> Result<PermissionDecision, HarnError> {
        let installed = with_version(self.load_policy()?)?;
        let rules = self.rules()?;
        if let Some(rule) = decisive(&rules, request) {
            return Ok(by_rule(rule, installed.version));
        }
        if is_allowed(&installed.policy, request) {
            return Ok(PermissionDecision::Granted {
                scope: RuleScope::Always,
                policy_version: installed.version,
                reason: Some("the policy allows it".to_owned()),
                expires_at: None,
                rule_id: None,
            });
        }
        Ok(PermissionDecision::Suspend {
            policy_version: installed.version,
            escalate_to: installed.policy.escalate_to,
            reason: Some("neither a rule nor the policy says anything".to_owned()),
        })
    }
}

/// The rule that decides, of rules with the narrowest first: a denial that its maker did not lift if there is any, else
/// the narrowest. Nobody lifts another's denial by a rule of its own, as nobody revokes it.
fn decisive<'r>(
    rules: &'r [RememberRule],
    request: &PermissionCheckRequest,
) -> Option<&'r RememberRule> {
    let fitting: Vec<_> = rules.iter().filter(|rule| concerns(rule, request)).collect();
    let lifts = |rule: &RememberRule, denial: &RememberRule| {
        rule.allow && rule.scope < denial.scope && rule.created_by == denial.created_by
    };
    let holds =
        |rule: &&&RememberRule| !rule.allow && !fitting.iter().any(|other| lifts(other, rule));
    fitting.iter().find(holds).or_else(|| fitting.first()).copied()
}

fn concerns(rule: &RememberRule, request: &PermissionCheckRequest) -> bool {
    let named = rule.scope_value.as_deref();
    let meant = match rule.scope {
        RuleScope::Session => named == Some(request.session_id.as_str()),
        RuleScope::Workspace => named == request.workspace_id.as_deref(),
        RuleScope::User => named == Some(request.actor.as_str()),
        RuleScope::Always => true,
    };
    let tenant = rule.tenant_id.is_none() || rule.tenant_id == request.tenant_id;
    meant
        && tenant
        && rule.class == request.class
        && fits(&rule.action_pattern, &request.action)
        && fits(&rule.target_pattern, &request.target)
}

fn by_rule(rule: &RememberRule, policy_version: String) -> PermissionDecision {
    let (scope, reason, rule_id) = (rule.scope, rule.reason.clone(), Some(rule.id.clone()));
    if rule.allow {
        let expires_at = rule.expires_at.clone();
        PermissionDecision::Granted { scope, policy_version, reason, expires_at, rule_id }
    } else {
        PermissionDecision::Denied { scope, policy_version, reason, rule_id }
    }
}

fn is_allowed(policy: &PermissionPolicy, request: &PermissionCheckRequest) -> bool {
    let patterns = match request.class {
        PermissionClass::Read => &policy.read,
        PermissionClass::Write => &policy.write,
        PermissionClass::Exec => &policy.exec,
        PermissionClass::Net => &policy.net,
        PermissionClass::Llm => &policy.llm.providers,
        PermissionClass::Custom => return false,
    };
    patterns.iter().any(|pattern| fits(pattern, &request.target))
}
