//! Which permission requests `tombolo run` allows without asking a user.

use clap::ValueEnum;
use protocol::{message::ToolKind, wait::PermissionAnswer};

use super::wait_prompt::{TypedAnswer, WaitPrompt};

/// The permission requests that are allowed without asking. A question or a plan is never answered by a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum AllowRule {
    /// Allow nothing without asking
    #[default]
    None,
    /// Allow the agent to change files
    Edits,
    /// Allow every permission request
    All,
}

impl AllowRule {
    /// The answer to a wait, if the rule allows it. It is valid once: the rule decides about each request.
    pub(super) fn answer(self, wait: &WaitPrompt) -> Option<TypedAnswer> {
        let permission = wait.permission()?;
        let is_allowed = match self {
            Self::None => false,
            Self::Edits => permission.kind == ToolKind::Edit,
            Self::All => true,
        };
        is_allowed.then_some(TypedAnswer::Permission(PermissionAnswer::Once))
    }

    /// The rule as it is written on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Edits => "edits",
            Self::All => "all",
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::{
        WaitId,
        wait::{QuestionRequest, WaitRequest},
    };

    use super::*;

    #[test]
    fn a_rule_allows_permissions_of_its_kind_and_no_question() {
        let permission = |kind: &str| {
            let request = serde_json::json!({
                "id": WaitId::mint(), "turnId": null, "callId": null, "tool": "T", "kind": kind, "title": "T",
                "reason": null, "input": null, "alwaysAllows": [],
            });
            WaitPrompt::new(&WaitRequest::Permission(serde_json::from_value(request).unwrap()))
        };
        let question = WaitPrompt::new(&WaitRequest::Question(QuestionRequest {
            id: WaitId::mint(),
            turn_id: None,
            call_id: None,
            questions: Vec::new(),
            plan: Some("First this".into()),
        }));
        let check = |rule: AllowRule, expected: [bool; 4]| {
            let waits = [&permission("edit"), &permission("execute"), &permission("delete"), &question];
            assert_eq!(waits.map(|wait| rule.answer(wait).is_some()), expected, "{rule:?}");
        };
        check(AllowRule::None, [false, false, false, false]);
        check(AllowRule::Edits, [true, false, false, false]);
        check(AllowRule::All, [true, true, true, false]);
    }
}
