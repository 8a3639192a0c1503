//! The output of a command, shortened for a model.

use std::collections::VecDeque;

use protocol::relay::tool::ToolProgress;
use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};

/// The size of the start of an output that a result contains, and of its end: as much as a model can use.
const KEPT_BYTES_MAX: usize = 24 << 10;

/// The size of a progress message.
const PROGRESS_BYTES_MAX: usize = 4 << 10;

/// Collects the start and the end of an output.
#[derive(Debug, Default)]
pub(crate) struct OutputExcerpt {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

impl OutputExcerpt {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let room = KEPT_BYTES_MAX - self.head.len();
        let (head, tail) = bytes.split_at(bytes.len().min(room));
        self.head.extend_from_slice(head);
        self.tail.extend(tail);
        let too_much = self.tail.len().saturating_sub(KEPT_BYTES_MAX);
        self.tail.drain(..too_much);
        self.left_out += too_much;
    }

    pub(crate) fn left_out(&self) -> usize {
        self.left_out
    }

    /// The output as text, with a line about the part that is left out.
    pub(crate) fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.left_out == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        format!("{head}\n[… {} bytes omitted …]\n{tail}", self.left_out)
    }
}

/// Sends progress notifications to a client that asked for them.
#[derive(Debug, Clone)]
pub(crate) struct ProgressReporter {
    told: Option<(Peer<RoleServer>, ProgressToken)>,
    count: u32,
}

impl ProgressReporter {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let told = context.meta.get_progress_token().map(|token| (context.peer.clone(), token));
        Self { told, count: 0 }
    }

    /// Sends a piece of output; only its end, if it is long.
    pub(crate) async fn tell(&mut self, bytes: &[u8]) {
        let Some((peer, token)) = &self.told else { return };
        self.count += 1;
        let end = &bytes[bytes.len().saturating_sub(PROGRESS_BYTES_MAX)..];
        let message = String::from_utf8_lossy(end).into_owned();
        let progress = ProgressNotificationParam::new(token.clone(), self.count.into()).with_message(message);
        // The transport reports a client that has disconnected.
        let _ = peer.notify_progress(progress).await;
    }

    /// Sends the progress that a tool of the device reports.
    pub(crate) async fn pass_on(&self, told: ToolProgress) {
        let Some((peer, token)) = &self.told else { return };
        let mut progress = ProgressNotificationParam::new(token.clone(), told.progress);
        progress.total = told.total;
        progress.message = told.message;
        let _ = peer.notify_progress(progress).await;
    }
}
