//! What a command writes, on its way to a model.

use std::collections::VecDeque;

use protocol::relay::tool::ToolProgress;
use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};

/// How much of the start of an output is kept, and as much of its end: what a model can well read.
const KEPT_BYTES_MAX: usize = 24 << 10;

/// How much is told at once while it goes on.
const PROGRESS_BYTES_MAX: usize = 4 << 10;

/// The start and the end of an output.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

impl Kept {
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

    /// As text, with a line about what is missing.
    pub(crate) fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.left_out == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        format!("{head}\n[… {} bytes omitted …]\n{tail}", self.left_out)
    }
}

/// Tells a client how far it is, if it wants to know.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    told: Option<(Peer<RoleServer>, ProgressToken)>,
    count: u32,
}

impl Progress {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let told = context.meta.get_progress_token().map(|token| (context.peer.clone(), token));
        Self { told, count: 0 }
    }

    /// Tells what came; only the end of it, if it is much.
    pub(crate) async fn tell(&mut self, bytes: &[u8]) {
        let Some((peer, token)) = &self.told else { return };
        self.count += 1;
        let end = &bytes[bytes.len().saturating_sub(PROGRESS_BYTES_MAX)..];
        let message = String::from_utf8_lossy(end).into_owned();
        let progress = ProgressNotificationParam::new(token.clone(), self.count.into()).with_message(message);
        // Who is gone is noticed elsewhere.
        let _ = peer.notify_progress(progress).await;
    }

    /// Tells what a tool of the device says of its progress.
    pub(crate) async fn pass_on(&self, told: ToolProgress) {
        let Some((peer, token)) = &self.told else { return };
        let mut progress = ProgressNotificationParam::new(token.clone(), told.progress);
        progress.total = told.total;
        progress.message = told.message;
        let _ = peer.notify_progress(progress).await;
    }
}
