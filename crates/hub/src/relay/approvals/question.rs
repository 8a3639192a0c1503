//! What somebody is asked before a device is.

use std::time::Duration;

use jiff::Timestamp;
use protocol::{
    WaitId,
    inbox::InboxWait,
    message::ToolKind,
    relay::{
        ApprovalPolicy, Family, MethodInfo, RawJson, RelayError, RelayMethod, Sha256, method::ShellStart,
        shell::StartCommand, tool::ToolDescriptor,
    },
    wait::{PermissionRequest, Wait, WaitDefault, WaitRequest},
};
use serde_json::Value;
use sha2::Digest;

use super::{
    approval_input::ApprovalInput,
    scope::{Run, Scope},
};
use crate::relay::store::EnvironmentEntry;

/// How much of a command a title has.
const COMMAND_CHARS_MAX: usize = 120;

/// What somebody is asked.
pub(crate) struct Question<'a> {
    pub(crate) environment: &'a EnvironmentEntry,
    pub(crate) row: &'static MethodInfo,
    pub(crate) params: &'a RawJson,
    /// What it is about, for people.
    pub(crate) target: Option<&'a str>,
    /// The tool that is to be used, if one is.
    pub(crate) tool: Option<&'a ToolDescriptor>,
    pub(crate) approval: ApprovalPolicy,
    /// The run that it is for, as far as that is said.
    pub(crate) run: Option<&'a str>,
    pub(crate) call_id: Option<&'a str>,
    pub(crate) reason: Option<&'a str>,
}

impl Question<'_> {
    /// What an answer is remembered for, if the policy lets it be.
    pub(super) fn scope(&self) -> Option<Scope> {
        let entry = self.environment;
        let run = match self.approval {
            ApprovalPolicy::AskOnce => None,
            ApprovalPolicy::AskOncePerRun => {
                Some(Run { environment_id: entry.id, run_id: self.run.map(str::to_owned) })
            }
            ApprovalPolicy::Allow | ApprovalPolicy::AlwaysAsk | ApprovalPolicy::Block => return None,
        };
        Some(Scope {
            client_id: entry.client_id.clone(),
            scope_id: entry.scope_id.clone().unwrap_or_else(|| entry.workspace.to_string()),
            what: self.what(),
            tool_hash: self.tool.map(hash),
            run,
        })
    }

    /// All that would be done.
    ///
    /// # Errors
    /// `invalid_request` if it cannot be shown in full.
    pub(super) fn input(&self) -> Result<ApprovalInput, RelayError> {
        ApprovalInput::new(self.row, self.params)
    }

    /// The question as it is in the inbox, for so long.
    pub(super) fn wait(&self, input: Value, left: Duration) -> InboxWait {
        let (id, now, entry) = (WaitId::mint(), Timestamp::now(), self.environment);
        // One that is for no session waits for itself.
        let session_id = entry.session_id.clone().or_else(|| entry.id.to_string().parse().ok());
        let permission = PermissionRequest {
            id,
            turn_id: None,
            call_id: self.call_id.map(str::to_owned),
            tool: self.what(),
            kind: kind(self.row),
            title: self.title(),
            reason: self.reason.map(str::to_owned),
            input,
            always_allows: vec![self.always()],
        };
        let wait = Wait {
            id,
            session_id: session_id.unwrap_or_else(|| unreachable!("the id of an environment is a name")),
            turn_id: None,
            request: WaitRequest::Permission(permission),
            opened_at: now,
            expires_at: Some(now + left),
            default_answer: WaitDefault::Reject,
            settlement: None,
        };
        InboxWait { runtime_id: entry.runtime_id.clone(), wait }
    }

    /// The method, or the tool as `tool:NAME`.
    fn what(&self) -> String {
        match self.tool {
            Some(tool) => format!("tool:{}", tool.name),
            None => self.row.name.to_owned(),
        }
    }

    fn title(&self) -> String {
        let device = &self.environment.client_id;
        if let Some(line) = self.command() {
            return format!("run `{line}` on {device}");
        }
        match self.target {
            // The redaction of paths takes a blank for the end of a path, unless the path is quoted.
            Some(target) if target.contains(char::is_whitespace) => {
                format!("{} `{target}` on {device}", self.row.name)
            }
            Some(target) => format!("{} {target} on {device}", self.row.name),
            None => format!("{} on {device}", self.row.name),
        }
    }

    /// The command that is to be run, as much of it as fits a line. Whoever is asked gets all of it besides.
    fn command(&self) -> Option<String> {
        if self.row.name != ShellStart::INFO.name {
            return None;
        }
        let StartCommand { command, argv, .. } = ShellStart::params(self.params).ok()?;
        Some(cut(&command.or_else(|| argv.map(|words| words.join(" ")))?, COMMAND_CHARS_MAX))
    }

    /// What `always` would allow, for people: the scope in words.
    fn always(&self) -> String {
        let entry = self.environment;
        let (device, runtime) = (&entry.client_id, &entry.runtime_id);
        let whose = || match &entry.session_id {
            Some(session) => format!("session {session} of {runtime}"),
            None => format!("{} of {runtime}", entry.id),
        };
        let how_far = match (self.approval, self.run) {
            (ApprovalPolicy::AskOnce, _) => match &entry.scope_id {
                Some(space) => format!("in {space}"),
                None => format!("in workspace {}", entry.workspace),
            },
            (ApprovalPolicy::AskOncePerRun, Some(run)) => format!("in run {run} of {}", whose()),
            (ApprovalPolicy::AskOncePerRun, None) => format!("for {}", whose()),
            (ApprovalPolicy::Allow | ApprovalPolicy::AlwaysAsk | ApprovalPolicy::Block, _) => {
                return "only this once: every request needs a new approval".into();
            }
        };
        let of_what = match self.tool {
            Some(tool) => {
                format!("every call of {} on {device}, as long as the tool does not change", tool.name)
            }
            None if self.row.name == ShellStart::INFO.name => format!("every command on {device}"),
            None => format!("every {} on {device}", self.row.name),
        };
        format!("{of_what}, {how_far}, until the approval is revoked")
    }
}

/// A tool as it is described. What it is called says nothing of what it does.
fn hash(tool: &ToolDescriptor) -> Sha256 {
    Sha256::from(<[u8; 32]>::from(sha2::Sha256::digest(RawJson::from_value(tool).as_str())))
}

fn kind(row: &MethodInfo) -> ToolKind {
    match (row.family, row.access) {
        (Family::Shell, _) => ToolKind::Execute,
        (Family::Fileops, protocol::relay::MethodAccess::Read) => ToolKind::Read,
        (Family::Fileops, protocol::relay::MethodAccess::Write) => ToolKind::Edit,
        _ => ToolKind::Other,
    }
}

/// The beginning of a text, on one line, and how much more there is.
pub(super) fn cut(text: &str, chars_max: usize) -> String {
    let short: String = text.chars().filter(|char| !char.is_control()).take(chars_max).collect();
    match text.chars().count() - short.chars().count() {
        0 => short,
        more => format!("{short}… {more} more characters"),
    }
}
