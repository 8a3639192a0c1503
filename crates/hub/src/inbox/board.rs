//! What is known of the waits of all runtimes, and what is told of them.

use std::{collections::BTreeMap, num::NonZeroU64};

use bytes::Bytes;
use journal::{FrameBuffer, Retention, RingJournal, RingReader, RingWriter, StartPosition};
use parking_lot::Mutex;
use protocol::{
    RuntimeId, WaitId, WorkspaceName,
    inbox::{InboxEvent, InboxWait},
    wait::{Wait, WaitEvent},
};
use tokio::sync::watch;

use crate::policy::Visibility;

/// How much of what was told is kept for those who listen; who falls behind by more begins anew.
const RETENTION: Retention =
    Retention { events: NonZeroU64::new(4096).unwrap(), bytes: NonZeroU64::new(16 << 20).unwrap() };

/// What stands after the workspace and after the runtime that a frame is about, and before the frame; no name has it.
const SEPARATOR: u8 = b'\n';

/// What is known of the waits of all runtimes.
pub(super) struct Board {
    now: Mutex<Now>,
    ring: RingJournal,
    /// How many runtimes have not said yet what waits in them.
    unheard: watch::Sender<usize>,
}

struct Now {
    runtimes: BTreeMap<RuntimeId, (WorkspaceName, Known)>,
    /// What waits in the hub itself, for a runtime.
    ours: BTreeMap<WaitId, (WorkspaceName, InboxWait)>,
    writer: RingWriter,
}

/// What is known of a runtime.
enum Known {
    /// It was not heard of yet.
    Nothing,
    /// It cannot be reached.
    Away,
    /// These are open.
    Open(BTreeMap<WaitId, Wait>),
}

impl Board {
    pub(super) fn new() -> Self {
        let (writer, ring) = RingJournal::new(RETENTION);
        let now = Mutex::new(Now { runtimes: BTreeMap::new(), ours: BTreeMap::new(), writer });
        Self { now, ring, unheard: watch::Sender::new(0) }
    }

    /// These are about to be asked. Those who listen are told of new ones, and that nothing is known of them yet.
    pub(super) fn expect(&self, runtimes: impl IntoIterator<Item = (RuntimeId, WorkspaceName)>) {
        self.change(|now| {
            for (id, workspace) in runtimes {
                if !now.runtimes.contains_key(&id) {
                    now.tell_away(&workspace, &id);
                    now.runtimes.insert(id, (workspace, Known::Nothing));
                }
            }
        });
    }

    /// Takes what a runtime says.
    pub(super) fn take(&self, id: &RuntimeId, event: WaitEvent) {
        let item = |wait: Wait| InboxWait { runtime_id: id.clone(), wait };
        self.change(|now| {
            let ours: Vec<_> = now.ours_of(id).cloned().collect();
            let Some((workspace, known)) = now.runtimes.get_mut(id) else { return };
            let workspace = workspace.clone();
            let told = match (event, known) {
                (WaitEvent::Snapshot { waits }, known) => {
                    *known = Known::Open(waits.iter().map(|wait| (wait.id, wait.clone())).collect());
                    let mut waits: Vec<_> = waits.into_iter().map(item).collect();
                    waits.extend(ours);
                    oldest_first(&mut waits);
                    InboxEvent::Available { runtime_id: id.clone(), waits }
                }
                (WaitEvent::Opened { wait }, Known::Open(open)) => {
                    if open.insert(wait.id, (*wait).clone()).is_some() {
                        return;
                    }
                    InboxEvent::Opened { wait: item(*wait).into() }
                }
                (WaitEvent::Settled { wait }, Known::Open(open)) => {
                    if open.remove(&wait.id).is_none() {
                        return;
                    }
                    InboxEvent::Settled { wait: item(*wait).into() }
                }
                (WaitEvent::Opened { .. } | WaitEvent::Settled { .. } | WaitEvent::Unknown, _) => return,
            };
            now.tell(&workspace, id, &told);
        });
    }

    /// A runtime cannot be reached. That is told once.
    pub(super) fn away(&self, id: &RuntimeId) {
        self.change(|now| {
            let Some((workspace, known)) = now.runtimes.get_mut(id) else { return };
            let workspace = workspace.clone();
            if let Known::Open(_) = std::mem::replace(known, Known::Away) {
                now.tell_away(&workspace, id);
            }
        });
    }

    /// Something waits in the hub itself, for a runtime.
    pub(super) fn open(&self, workspace: WorkspaceName, wait: InboxWait) {
        self.change(|now| {
            now.tell(&workspace, &wait.runtime_id, &InboxEvent::Opened { wait: wait.clone().into() });
            now.ours.insert(wait.wait.id, (workspace, wait));
        });
    }

    /// What waited in the hub itself was settled.
    pub(super) fn settle(&self, wait: InboxWait) {
        self.change(|now| {
            if let Some((workspace, _)) = now.ours.remove(&wait.wait.id) {
                now.tell(&workspace, &wait.runtime_id.clone(), &InboxEvent::Settled { wait: wait.into() });
            }
        });
    }

    /// What waits in the hub itself, as somebody sees it.
    pub(super) fn ours(
        &self,
        sight: impl Fn(&WorkspaceName, &RuntimeId) -> Option<Visibility>,
    ) -> Vec<InboxWait> {
        let ours: Vec<_> = self.now.lock().ours.values().cloned().collect();
        let seen = |(workspace, item): (WorkspaceName, InboxWait)| {
            shown(&sight(&workspace, &item.runtime_id)?, item)
        };
        ours.into_iter().filter_map(seen).collect()
    }

    /// A runtime is no longer known.
    pub(super) fn forget(&self, id: &RuntimeId) {
        self.away(id);
        self.change(|now| drop(now.runtimes.remove(id)));
    }

    /// Nobody is followed any more.
    pub(super) fn clear(&self) {
        self.change(|now| now.runtimes.clear());
    }

    /// Waits until every runtime has said what waits in it, or was found to be away.
    pub(super) async fn everybody_answered(&self) {
        // It fails only when there is no board any more.
        let _ = self.unheard.subscribe().wait_for(|unheard| *unheard == 0).await;
    }

    /// All that is open in the runtimes that somebody sees, as they see it, and whatever is told after that.
    pub(super) fn begin(
        &self,
        sight: impl Fn(&WorkspaceName, &RuntimeId) -> Option<Visibility>,
    ) -> (Bytes, Option<RingReader>) {
        let now = self.now.lock();
        let (mut seen, mut unavailable) = (Vec::new(), Vec::new());
        for (id, (workspace, known)) in &now.runtimes {
            let Some(sight) = sight(workspace, id) else { continue };
            match known {
                Known::Nothing | Known::Away => unavailable.push(id.clone()),
                Known::Open(open) => {
                    let item = |wait: &Wait| InboxWait { runtime_id: id.clone(), wait: wait.clone() };
                    seen.extend(open.values().map(|wait| (item(wait), sight.clone())));
                }
            }
        }
        for (workspace, item) in now.ours.values() {
            if let Some(sight) = sight(workspace, &item.runtime_id) {
                seen.push((item.clone(), sight));
            }
        }
        // Under the lock: nothing is told meanwhile.
        let reader = self.ring.reader(StartPosition::Newest).ok();
        drop(now);
        let mut waits: Vec<_> = seen.into_iter().filter_map(|(item, sight)| shown(&sight, item)).collect();
        oldest_first(&mut waits);
        (json(&InboxEvent::Snapshot { waits, unavailable_runtimes: unavailable }), reader)
    }

    /// Nothing more is told.
    pub(super) fn seal(&self) {
        self.now.lock().writer.seal();
    }

    fn change(&self, change: impl FnOnce(&mut Now)) {
        let mut now = self.now.lock();
        change(&mut now);
        let unheard = now.runtimes.values().filter(|(_, known)| matches!(known, Known::Nothing)).count();
        self.unheard.send_if_modified(|before| std::mem::replace(before, unheard) != unheard);
    }
}

impl Now {
    fn ours_of(&self, id: &RuntimeId) -> impl Iterator<Item = &InboxWait> {
        self.ours.values().map(|(_, item)| item).filter(move |item| item.runtime_id == *id)
    }

    /// Tells that it is not known what waits in a runtime; what waits for it in the hub itself is known all the same.
    fn tell_away(&mut self, workspace: &WorkspaceName, id: &RuntimeId) {
        self.tell(workspace, id, &InboxEvent::Unavailable { runtime_id: id.clone() });
        let ours: Vec<_> = self.ours_of(id).cloned().collect();
        for wait in ours {
            self.tell(workspace, id, &InboxEvent::Opened { wait: wait.into() });
        }
    }

    fn tell(&mut self, workspace: &WorkspaceName, id: &RuntimeId, event: &InboxEvent) {
        let (workspace, id) = (workspace.as_str().as_bytes(), id.as_str().as_bytes());
        let frame = [workspace, &[SEPARATOR], id, &[SEPARATOR], &json(event)].concat();
        self.writer.append(FrameBuffer::one(frame));
    }
}

/// What a frame says to somebody, if it is about a runtime that they see.
pub(super) fn seen(
    frame: &Bytes,
    sight: impl Fn(&WorkspaceName, &RuntimeId) -> Option<Visibility>,
) -> Option<Bytes> {
    let mut pieces = frame.splitn(3, |byte| *byte == SEPARATOR);
    let mut piece = || std::str::from_utf8(pieces.next()?).ok();
    let (workspace, id): (WorkspaceName, RuntimeId) = (piece()?.parse().ok()?, piece()?.parse().ok()?);
    let event = frame.slice_ref(pieces.next()?);
    match sight(&workspace, &id)? {
        Visibility::Full => Some(event),
        sight => Some(json(&told(&sight, serde_json::from_slice(&event).ok()?)?)),
    }
}

/// What is told, as somebody sees it; nothing if it cannot be shown.
fn told(sight: &Visibility, event: InboxEvent) -> Option<InboxEvent> {
    Some(match event {
        InboxEvent::Opened { wait } => InboxEvent::Opened { wait: shown(sight, *wait)?.into() },
        InboxEvent::Settled { wait } => InboxEvent::Settled { wait: shown(sight, *wait)?.into() },
        InboxEvent::Available { runtime_id, waits } => {
            let waits = waits.into_iter().filter_map(|wait| shown(sight, wait)).collect();
            InboxEvent::Available { runtime_id, waits }
        }
        InboxEvent::Unavailable { .. } => event,
        // Everybody's is made for them, and nobody else says anything.
        InboxEvent::Snapshot { .. } | InboxEvent::Unknown => return None,
    })
}

fn shown(sight: &Visibility, InboxWait { runtime_id, wait }: InboxWait) -> Option<InboxWait> {
    Some(InboxWait { runtime_id, wait: sight.wait(wait)? })
}

/// Puts the one first that has waited the longest.
pub(super) fn oldest_first(waits: &mut [InboxWait]) {
    waits.sort_by_key(|item| (item.wait.opened_at, item.wait.id));
}

fn json(event: &InboxEvent) -> Bytes {
    // A wire type always can be serialised.
    serde_json::to_vec(event).unwrap_or_default().into()
}
