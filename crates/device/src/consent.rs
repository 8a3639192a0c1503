//! Whether the owner of a device agrees, who is asked where the device is.

mod agreement;
mod prompt;

use std::collections::HashSet;

use parking_lot::Mutex;
use protocol::relay::{
    ApprovalPolicy, Family, MethodAccess, MethodInfo, RelayError, RelayErrorCode, Request, method,
};
use tokio::sync::Semaphore;

pub use agreement::{Agreement, Run, Subject};
pub use prompt::{Answer, Nobody, Prompt, Question, Unanswered};

use crate::Look;

/// How many agreements there may be; above that the owner is asked again.
const REMEMBERED_MAX: usize = 10_000;

/// What the owner wants to be asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Before something in a directory is changed.
    pub writes: ApprovalPolicy,
    /// Before a command is started.
    pub commands: ApprovalPolicy,
    /// Before a tool is used; what the tool itself says holds besides.
    pub tools: ApprovalPolicy,
}

impl Default for Rules {
    fn default() -> Self {
        Self { writes: ApprovalPolicy::Allow, commands: ApprovalPolicy::Allow, tools: ApprovalPolicy::Allow }
    }
}

impl Rules {
    fn of(&self, row: &MethodInfo) -> ApprovalPolicy {
        match row.family {
            Family::Fileops if row.access == MethodAccess::Write => self.writes,
            // What has been started may be spoken to and ended.
            Family::Shell if row.name == <method::ShellStart as method::RelayMethod>::INFO.name => {
                self.commands
            }
            Family::Tools if row.name == <method::ToolCall as method::RelayMethod>::INFO.name => self.tools,
            _ => ApprovalPolicy::Allow,
        }
    }
}

/// Whether the owner of a device agrees to what it is asked.
pub struct Consent {
    rules: Rules,
    prompt: Box<dyn Prompt>,
    /// One question at a time: there is one owner.
    turn: Semaphore,
    agreed: Mutex<HashSet<Agreement>>,
}

impl Default for Consent {
    fn default() -> Self {
        Self::new(Rules::default(), Nobody)
    }
}

impl Consent {
    /// An owner with these rules, who is asked like this.
    pub fn new(rules: Rules, prompt: impl Prompt) -> Self {
        Self { rules, prompt: Box::new(prompt), turn: Semaphore::new(1), agreed: Mutex::default() }
    }

    /// Returns once the owner agrees; whether they were asked, now or before. The stricter of their rules and of what the
    /// provider says holds.
    ///
    /// # Errors
    /// `approval_required` if nobody can be asked, `policy_blocked` if the owner does not agree.
    pub async fn check(
        &self,
        row: &'static MethodInfo,
        request: &Request,
        look: &Look,
    ) -> Result<bool, RelayError> {
        let context = request.context.as_ref();
        // What nobody can name is asked about each time.
        let agreement = |run| {
            let subject = look.subject.clone()?;
            let workspace = context.and_then(|context| context.workspace_id.clone());
            Some(Agreement { method: row.name, subject, workspace, run })
        };
        let agreement = match self.rules.of(row).stricter(look.approval) {
            ApprovalPolicy::Allow => return Ok(false),
            ApprovalPolicy::Block => return Err(blocked(row)),
            ApprovalPolicy::AlwaysAsk => None,
            ApprovalPolicy::AskOnce => agreement(None),
            ApprovalPolicy::AskOncePerRun => context.and_then(Run::of).and_then(|run| agreement(Some(run))),
        };
        // It is never closed.
        let _turn = self.turn.acquire().await;
        if agreement.as_ref().is_some_and(|agreement| self.agreed.lock().contains(agreement)) {
            return Ok(true);
        }
        let question = Question { request, subject: look.subject.as_ref(), agreement: agreement.as_ref() };
        match self.prompt.ask(question).await {
            Ok(Answer::No) => Err(blocked(row)),
            Ok(Answer::Once) => Ok(true),
            Ok(Answer::Remember) => {
                let mut agreed = self.agreed.lock();
                if agreed.len() < REMEMBERED_MAX {
                    agreed.extend(agreement);
                }
                Ok(true)
            }
            Err(unanswered) => Err(unanswered.refusal(row)),
        }
    }

    /// Takes back everything that the owner has agreed to: they are asked again.
    pub fn forget(&self) {
        self.agreed.lock().clear();
    }
}

fn blocked(row: &MethodInfo) -> RelayError {
    RelayError::new(RelayErrorCode::PolicyBlocked, "the device's owner refused this request")
        .with("method", row.name)
}
