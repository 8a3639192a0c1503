//! Somebody who listens to what becomes of the waits.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use hub_access::{EffectiveRights, RightsWatch};
use journal::{JournalItem, RingReader};
use protocol::{RuntimeId, WorkspaceName};
use server::sse;
use subscribers::Subscription;
use tokio::sync::watch;

use super::{Inbox, board::seen};
use crate::policy::{Policy, Visibility};

/// Somebody who listens.
pub(crate) struct Listener {
    inbox: Inbox,
    standing: RightsWatch,
    policy: watch::Receiver<Arc<dyn Policy>>,
    /// What decided what they saw when they were last told something.
    view: Option<View>,
    /// What comes next, unless they were told nothing yet or have missed something.
    reader: Option<RingReader>,
    _subscription: Option<Subscription>,
}

/// What decides what somebody sees: what they may do, and the policy.
#[derive(Clone)]
struct View(EffectiveRights, Arc<dyn Policy>);

impl View {
    /// How a runtime looks; nothing if what happens there is not shown.
    fn visibility(&self, workspace: &WorkspaceName, id: &RuntimeId) -> Option<Visibility> {
        self.0.may_watch(workspace).then(|| self.0.visibility(&*self.1, workspace, id))
    }

    fn is_same(&self, other: &Self) -> bool {
        self.0 == other.0 && Arc::ptr_eq(&self.1, &other.1)
    }
}

impl Listener {
    pub(super) fn new(inbox: Inbox, standing: RightsWatch) -> Self {
        let subscription = inbox.subscribe();
        let policy = inbox.0.policies.subscribe();
        Self { inbox, standing, policy, view: None, reader: None, _subscription: subscription }
    }

    /// What they are told, as events: until nothing is told any more, or they are no longer let in.
    pub(crate) fn into_events(self) -> BoxStream<'static, Bytes> {
        stream::unfold(self, |mut listener| async { Some((listener.next().await?, listener)) }).boxed()
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let view = View(self.standing.current()?, Arc::clone(&self.policy.borrow_and_update()));
            if !self.view.as_ref().is_some_and(|before| before.is_same(&view)) {
                // What they see now may be more than before, or less.
                self.reader = None;
                self.view = Some(view.clone());
            }
            let Some(reader) = &mut self.reader else {
                let (snapshot, reader) =
                    self.inbox.0.board.begin(|workspace, id| view.visibility(workspace, id));
                self.reader = Some(reader?);
                return Some(sse::data_events(&[snapshot]));
            };
            let item = tokio::select! {
                biased;
                () = self.standing.changed() => continue,
                // The policies are there as long as we are.
                _ = self.policy.changed() => continue,
                item = reader.next() => item?,
            };
            match item {
                // They did not read fast enough: what is open now says it all.
                JournalItem::Gap(_) => self.reader = None,
                JournalItem::Frames(chunk) => {
                    let frames = chunk.frames();
                    let frames = frames.filter_map(|(_, frame)| {
                        seen(&frame, |workspace, id| view.visibility(workspace, id))
                    });
                    let frames: Vec<Bytes> = frames.collect();
                    if !frames.is_empty() {
                        return Some(sse::data_events(&frames));
                    }
                }
            }
        }
    }
}
