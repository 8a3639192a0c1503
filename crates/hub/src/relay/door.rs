//! The one door to devices: whatever is asked of one, by whomever, goes through [`Relay::ask`].

use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt, StreamExt, stream};
use protocol::relay::{
    ApprovalPolicy, ConnectionSide, Family, MethodAccess, MethodInfo, RawJson, RelayContext, RelayError,
    RelayErrorCode, RelayMethod,
    method::{FileSearch, FileWatch, ShellStart, ToolCall},
    tool::ToolDescriptor,
};
use relay::{Ask, Call, Part};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    Relay,
    acceptance::Allowed,
    aftermath::Held,
    approvals::Question,
    commands::Start,
    connection::{Connection, Tool},
    environment::{Environment, unavailable},
    hold::Hold,
    note::{check_names, shown},
    pending::Pending,
    running::{Running, Sent},
    starting::Starting,
    target::{Started, Target},
    uses::{Going, Use},
};

/// How long something may take that goes on until it is ended: a watch, or a command that says nothing else.
const LONG_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a tool may take.
const TOOL_MAX: Duration = Duration::from_secs(60 * 60);

/// How long a search may take that says nothing else.
const SEARCH_MAX: Duration = Duration::from_secs(5 * 60);

/// How much longer is waited than the device is told to take, so that it can say so itself.
const GRACE: Duration = Duration::from_secs(10);

impl Relay {
    /// Asks a device for an environment. Whatever goes wrong is the outcome of the call; who drops the call cancels it.
    pub(crate) fn ask(&self, environment: &Arc<Environment>, ask: Ask) -> Call {
        let (relay, environment) = (self.clone(), Arc::clone(environment));
        let cancel = CancellationToken::new();
        let cancelled = cancel.clone();
        let begun = async move {
            let begun = tokio::select! {
                begun = relay.begin(environment, ask) => begun,
                // It has not left.
                () = cancelled.cancelled() => Err(RelayError::new(RelayErrorCode::Cancelled, "the request was cancelled")),
            };
            match begun {
                Ok(running) => running.until(cancelled).left_stream(),
                Err(error) => stream::iter([Part::Outcome(Err(error))]).right_stream(),
            }
        };
        Call::cancellable(begun.flatten_stream(), cancel)
    }

    /// Decides whether it may be asked, and asks.
    async fn begin(self, environment: Arc<Environment>, ask: Ask) -> Result<Running, RelayError> {
        let (method, params, context, timeout) = ask.into_parts();
        let deadline = timeout.map(|timeout| Instant::now() + timeout.min(LONG_MAX));
        self.ledger.has_room().await;
        let row = match check_names(context.as_ref()).and_then(|()| asked(&method)) {
            Ok(row) => row,
            Err(error) => return Err(self.refuse(&environment, (&method, context.as_ref()), error).await),
        };
        let connection = self.connections.get(&environment.entry.client_id);
        let session = environment.session();
        let mut pending = Pending::new(&self, (&environment, connection.clone()), row, context.as_ref());
        let inquiry = Inquiry {
            relay: &self,
            environment: &environment,
            row,
            params: &params,
            session: session.as_deref(),
            context: context.as_ref(),
            deadline,
        };
        let decided = inquiry.decide(connection, &mut pending).await;
        let refused = |pending: &mut Pending, error: RelayError| {
            pending.end(&Err(error.clone()), 0);
            error
        };
        let Decided { hold, held, effective, target } =
            decided.map_err(|error| refused(&mut pending, error))?;
        let begun = hold.or(pending.begin(row.access == MethodAccess::Write)).await.flatten();
        begun.map_err(|error| refused(&mut pending, error))?;
        let patience =
            hold.left().unwrap_or_else(|| patience(row, &target, &effective, self.limits().timeout));
        let context = environment.context(context, effective.terms());
        let ask = Ask::new(row.name, params).context(context).within(patience.min(LONG_MAX));
        let call = hold.or(hold.connection.peer.request(ask)).await;
        let call = call.map_err(|error| refused(&mut pending, error))?;
        let starting = (row.name == ShellStart::INFO.name).then(|| {
            let (revoked, lost) = hold.ends_with();
            Starting::new(Start { environment: Arc::clone(&environment), session, revoked, lost })
        });
        let revoked = Box::pin(async move { hold.until_taken_back().await });
        let sent = Some(Sent { call, starting, held });
        Ok(Running { relay: self, sent, revoked, pending, bytes: 0, is_cancelled: false })
    }
}

/// What is asked, while it is decided whether it may be.
struct Inquiry<'a> {
    relay: &'a Relay,
    environment: &'a Arc<Environment>,
    row: &'static MethodInfo,
    params: &'a RawJson,
    /// The session that the device knows it by.
    session: Option<&'a str>,
    context: Option<&'a RelayContext>,
    /// When whoever asks no longer waits, if they say so.
    deadline: Option<Instant>,
}

/// It may be asked.
struct Decided {
    hold: Hold,
    held: Held,
    effective: Allowed,
    target: Target,
}

impl Inquiry<'_> {
    async fn decide(
        &self,
        connection: Option<Arc<Connection>>,
        pending: &mut Pending,
    ) -> Result<Decided, RelayError> {
        let row = self.row;
        let mut target = Target::of(row, self.params)?;
        pending.is_about(&target);
        let lease = self.environment.lease();
        if lease.revoked.is_cancelled() || !lease.allowed.families.contains(&row.family) {
            return Err(RelayError::new(RelayErrorCode::PermissionDenied, "no grant allows this")
                .with("capability", row.family.as_str()));
        }
        let connection = connection.ok_or_else(|| RelayError {
            recoverable: true,
            ..unavailable(row.family, "the device is not connected")
        })?;
        // Before anything reaches the provider.
        if !connection.accepted().families.contains(&row.family) {
            return Err(unavailable(row.family, "the hub did not accept this capability of the device"));
        }
        let hold = Hold::new(Arc::clone(&connection), row.family, lease.revoked, self.deadline);
        connection.is_available(row).map_err(|why| unavailable(row.family, why))?;
        let effective = self.environment.effective(&lease.allowed, &connection);
        let checked = target.check(row, &effective);
        pending.is_at(&target);
        checked?;
        let going = self.need_own(&target)?;
        let place = self.environment.enter(row)?;
        let tool = hold.or(self.tool(&connection, &target)).await.flatten()?;
        let suggested = self.suggested(tool.as_deref(), &effective);
        match suggested.stricter(self.stricter(&target)) {
            ApprovalPolicy::Allow => {}
            ApprovalPolicy::Block => {
                let blocked = RelayError::new(RelayErrorCode::PolicyBlocked, "a policy forbids this");
                return Err(blocked.with("method", row.name));
            }
            approval => {
                let tool = tool.as_ref().map(|tool| &tool.descriptor);
                self.approved((approval, tool), &target, pending, &hold).await?;
                // What held when it was asked may hold no more.
                connection.is_available(row).map_err(|why| unavailable(row.family, why))?;
                need_same(&connection, tool)?;
            }
        }
        let held = Held { _place: place, _at_device: connection.enter()?, _going: going };
        Ok(Decided { hold, held, effective, target })
    }

    /// What another environment has started is not there. The use of a tool has its name from here on.
    fn need_own(&self, target: &Target) -> Result<Option<Going>, RelayError> {
        let (relay, entry) = (self.relay, &self.environment.entry);
        let is_of_another = match &target.started {
            None => false,
            Some(Started::Command(id)) => relay.commands.is_of_another(&entry.client_id, id, entry.id),
            Some(Started::Use(call_id)) => {
                let (client_id, session) = (entry.client_id.clone(), self.session.map(str::to_owned));
                let its = Use { client_id, session, call_id: call_id.clone() };
                if self.row.name == ToolCall::INFO.name {
                    return relay.uses.begin(its, entry.id).map(Some);
                }
                relay.uses.is_of_another(&its, entry.id)
            }
        };
        match is_of_another {
            true => Err(RelayError::new(RelayErrorCode::NotFound, "the command or tool call does not exist")),
            false => Ok(None),
        }
    }

    /// Waits until somebody approves it.
    async fn approved(
        &self,
        (approval, tool): (ApprovalPolicy, Option<&ToolDescriptor>),
        target: &Target,
        pending: &mut Pending,
        hold: &Hold,
    ) -> Result<(), RelayError> {
        // Why it is asked, for people.
        let reason = self.context.and_then(|context| context.more.get("user_visible_reason")?.as_str());
        let question = Question {
            environment: &self.environment.entry,
            row: self.row,
            params: self.params,
            target: target.label.as_deref(),
            tool,
            approval,
            run: pending.run(),
            call_id: pending.call_id(),
            reason,
        };
        match self.relay.approvals.ask(question, hold).await {
            Ok(approved) => {
                pending.is_approved(&approved);
                Ok(())
            }
            Err(refused) => {
                pending.is_refused(&refused);
                Err(refused.error)
            }
        }
    }

    /// The tool that is to be used, if one is; with these arguments it can be.
    async fn tool(&self, connection: &Connection, target: &Target) -> Result<Option<Arc<Tool>>, RelayError> {
        let (true, Some(name)) = (self.row.name == ToolCall::INFO.name, &target.tool) else {
            return Ok(None);
        };
        if connection.tool(name).is_none() {
            // It may be new.
            connection.learn_tools().await?;
        }
        let tool = connection.tool(name).ok_or_else(|| {
            RelayError::new(RelayErrorCode::NotFound, "the device has no such tool")
                .with("tool", name.as_str())
        })?;
        tool.schema.check(&ToolCall::params(self.params)?.arguments)?;
        Ok(Some(tool))
    }

    /// What the device or the grant suggests.
    fn suggested(&self, tool: Option<&Tool>, effective: &Allowed) -> ApprovalPolicy {
        if self.row.name == ShellStart::INFO.name {
            return effective.shell.as_ref().map_or(ApprovalPolicy::Block, |shell| shell.approval_policy);
        }
        tool.map_or(ApprovalPolicy::Allow, |tool| tool.descriptor.approval_policy)
    }

    /// What the environment says, which only makes stricter.
    fn stricter(&self, target: &Target) -> ApprovalPolicy {
        let said = &self.environment.entry.approvals;
        let of_method = said.get(self.row.name).copied();
        let of_tool = target.tool.as_ref().and_then(|name| said.get(&format!("tool:{name}"))).copied();
        of_method.into_iter().chain(of_tool).max().unwrap_or(ApprovalPolicy::Allow)
    }
}

/// A tool that has become another while somebody was asked is not what they approved.
fn need_same(connection: &Connection, tool: Option<&ToolDescriptor>) -> Result<(), RelayError> {
    let Some(tool) = tool else { return Ok(()) };
    match connection.tool(&tool.name).is_some_and(|now| now.descriptor == *tool) {
        true => Ok(()),
        false => {
            Err(RelayError::new(RelayErrorCode::ApprovalRequired, "the tool changed after it was approved")
                .with("reason", "changed")
                .with("tool", tool.name.as_str()))
        }
    }
}

/// The row of a method that a runtime may ask.
fn asked(method: &str) -> Result<&'static MethodInfo, RelayError> {
    let row = MethodInfo::find(method).ok_or_else(|| {
        RelayError::new(RelayErrorCode::UnknownMethod, "unknown method").with("method", shown(method))
    })?;
    match row.requested_by {
        ConnectionSide::Runtime => Ok(row),
        ConnectionSide::Provider => {
            Err(RelayError::new(RelayErrorCode::InvalidRequest, "only devices send this method")
                .with("method", row.name))
        }
    }
}

/// How long something may take of which nobody says how long.
fn patience(row: &MethodInfo, target: &Target, effective: &Allowed, otherwise: Duration) -> Duration {
    let said = target.timeout_ms.map(|ms| Duration::from_millis(ms).saturating_add(GRACE));
    let granted = || effective.shell.as_ref().and_then(|shell| shell.runtime_max_ms);
    match row.name {
        name if name == ShellStart::INFO.name => {
            let most = granted().map(|ms| Duration::from_millis(ms).saturating_add(GRACE));
            said.into_iter().chain(most).min().unwrap_or(LONG_MAX)
        }
        name if name == FileWatch::INFO.name => LONG_MAX,
        name if name == FileSearch::INFO.name => said.unwrap_or(SEARCH_MAX),
        _ if row.family == Family::Tools => TOOL_MAX,
        _ => otherwise,
    }
}
