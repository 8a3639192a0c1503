//! The waits of a conversation: what the agent asks, and what the hub wants approved before the agent uses a device.

use protocol::{
    ProblemKind, WaitId,
    sessions::{AnswerPermissionRequest, AnswerQuestionRequest},
};

use super::ChatLoop;
use crate::{
    chat::{
        device_approvals::{ApprovalChange, DeviceApprovals},
        screen::TextStyle,
        wait_prompt::{TypedAnswer, WaitPrompt},
    },
    exit::{CommandError, CommandResult},
};

impl ChatLoop<'_> {
    /// Answers the waits that no user is asked about: those that the rule of `tombolo run` allows, and after the end of the
    /// input all others, which are rejected.
    pub(super) async fn settle_waits_without_user(&mut self) -> CommandResult {
        while let Some(wait) = self.open_waits.front() {
            let allowed = self.one_shot.as_ref().and_then(|one_shot| one_shot.allow.answer(wait));
            if allowed.is_none() && !self.input_ended {
                break;
            }
            let Some(mut wait) = self.open_waits.pop_front() else { break };
            if !std::mem::take(&mut self.is_wait_shown) {
                wait.show(&mut self.view.screen)?;
            }
            if let Some(one_shot) = &mut self.one_shot {
                let line = one_shot.describe_answer(&wait, allowed.is_some());
                self.view.screen.line(TextStyle::Yellow, &line)?;
            }
            let answer = allowed.unwrap_or_else(|| wait.rejection());
            if !self.answer(wait, answer).await? {
                break;
            }
        }
        Ok(())
    }

    /// Sends the answer. Returns `false` if the daemon cannot be reached: then the wait stays open.
    pub(super) async fn answer(
        &mut self,
        wait: WaitPrompt,
        answer: TypedAnswer,
    ) -> Result<bool, CommandError> {
        self.is_wait_shown = false;
        let (sessions, id, author) = (self.client.sessions(), &self.id, None);
        let answered = match answer {
            answer if self.device_waits.contains(&wait.id) => match &self.device_approvals {
                Some(approvals) => approvals.answer(wait.id, &answer).await,
                None => Ok(()),
            },
            TypedAnswer::Permission(reply) => {
                sessions.permit(id, wait.id, &AnswerPermissionRequest { reply, author }).await.map(drop)
            }
            TypedAnswer::Question(answers) => {
                sessions.answer(id, wait.id, &AnswerQuestionRequest { answers, author }).await.map(drop)
            }
            _ => sessions.reject(id, wait.id, author).await.map(drop),
        };
        match answered {
            Ok(()) => Ok(true),
            Err(client::Error::Transport(_)) => {
                self.open_waits.push_front(wait);
                let hint = "the daemon cannot be reached: answer again when it is back";
                self.view.screen.line(TextStyle::Yellow, hint).map(|()| false)
            }
            // Another client has answered, or the turn is over. The event stream reports both.
            Err(error)
                if matches!(error.kind(), Some(ProblemKind::WaitSettled | ProblemKind::WaitNotFound)) =>
            {
                Ok(true)
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn on_approval_change(&mut self, change: ApprovalChange) -> CommandResult {
        match change {
            ApprovalChange::Opened(waits) => {
                for wait in waits {
                    if self.open_waits.iter().all(|open| open.id != wait.id) {
                        self.device_waits.insert(wait.id);
                        self.open_waits.push_back(WaitPrompt::from_wait(&wait));
                    }
                }
                Ok(())
            }
            ApprovalChange::Settled(wait) => {
                self.device_waits.remove(&wait.id);
                if self.edited_answer == Some(wait.id) {
                    self.input.close_prompt();
                }
                self.close_wait(wait.id);
                self.view.show_settlement(&wait)
            }
            ApprovalChange::Lost => {
                let hint = "approvals for devices are no longer shown here: answer them with `tombolo waits`";
                self.view.screen.line(TextStyle::Yellow, hint)
            }
        }
    }

    /// Removes a wait that was answered here or by another client.
    pub(super) fn close_wait(&mut self, id: WaitId) {
        let is_first = self.open_waits.front().is_some_and(|wait| wait.id == id);
        self.is_wait_shown &= !is_first;
        self.open_waits.retain(|wait| wait.id != id);
    }
}

/// The next change of the device approvals; never if there are none.
pub(super) async fn next_approval_change(approvals: &mut Option<DeviceApprovals>) -> ApprovalChange {
    match approvals {
        Some(approvals) => approvals.next().await,
        None => std::future::pending().await,
    }
}
