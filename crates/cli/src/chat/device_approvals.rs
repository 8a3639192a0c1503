//! The approvals that a hub asks for when the agent of a session uses a device. The daemon does not know them.

use client::{Client, JsonEventStream};
use protocol::{
    RuntimeId, SessionId, WaitId,
    inbox::{InboxEvent, InboxWait},
    wait::{AnswerWaitRequest, PermissionAnswer, Wait, WaitAnswer},
};

use super::wait_prompt::TypedAnswer;

/// The device approvals of one session whose daemon is reached through a hub.
pub(super) struct DeviceApprovals {
    hub: Client,
    runtime: RuntimeId,
    session: SessionId,
    /// `None` after the stream has failed for good.
    events: Option<JsonEventStream<InboxEvent>>,
}

/// A change in the device approvals.
pub(super) enum ApprovalChange {
    /// These are open, and may have been before.
    Opened(Vec<Wait>),
    Settled(Box<Wait>),
    /// They can no longer be followed.
    Lost,
}

impl DeviceApprovals {
    /// Follows the approvals; `None` if the daemon is not reached through a hub, or the hub does not let the user follow them.
    pub(super) async fn open(client: &Client, session: &SessionId) -> Option<Self> {
        let (hub, runtime) = client.hub_of_runtime()?;
        let events = Some(hub.inbox().events().await.ok()?);
        Some(Self { hub, runtime, session: session.clone(), events })
    }

    /// The next change. Cancel safe.
    pub(super) async fn next(&mut self) -> ApprovalChange {
        loop {
            let Some(events) = &mut self.events else { return std::future::pending().await };
            let Ok(Some((event, _))) = events.next().await else {
                self.events = None;
                return ApprovalChange::Lost;
            };
            match event {
                InboxEvent::Snapshot { waits, .. } | InboxEvent::Available { waits, .. } => {
                    return ApprovalChange::Opened(self.of_session(waits));
                }
                InboxEvent::Opened { wait } => return ApprovalChange::Opened(self.of_session(vec![*wait])),
                InboxEvent::Settled { wait } => {
                    if let Some(wait) = self.of_session(vec![*wait]).pop() {
                        return ApprovalChange::Settled(Box::new(wait));
                    }
                }
                InboxEvent::Unavailable { .. } | InboxEvent::Unknown => {}
            }
        }
    }

    pub(super) async fn answer(&self, id: WaitId, answer: &TypedAnswer) -> client::Result<()> {
        let answer = match answer {
            TypedAnswer::Permission(answer) => WaitAnswer::Permission(*answer),
            // A device approval is a permission, which nothing else can allow.
            _ => WaitAnswer::Permission(PermissionAnswer::Reject),
        };
        let reply = AnswerWaitRequest { answer, author: None };
        self.hub.inbox().answer(&self.runtime, id, &reply).await.map(drop)
    }

    /// The waits that are device approvals of this session. What the agent itself asks belongs to a turn.
    fn of_session(&self, waits: Vec<InboxWait>) -> Vec<Wait> {
        let is_ours = |item: &InboxWait| {
            item.runtime_id == self.runtime
                && item.wait.session_id == self.session
                && item.wait.turn_id.is_none()
        };
        waits.into_iter().filter(is_ours).map(|item| item.wait).collect()
    }
}
