//! What is known of the waits of all runtimes, and what is told of them.

use std::{collections::BTreeMap, num::NonZeroU64};

use bytes::Bytes;
use journal::{Frames, Reader, Retention, Ring, Start, Writer};
use parking_lot::Mutex;
use protocol::{
    RuntimeId, WaitId, Workspace,
    inbox::{InboxEvent, InboxWait},
    wait::{Wait, WaitEvent},
};
use tokio::sync::watch;

/// How much of what was told is kept for those who listen; who falls behind by more begins anew.
const RETENTION: Retention =
    Retention { events: NonZeroU64::new(4096).unwrap(), bytes: NonZeroU64::new(16 << 20).unwrap() };

/// What stands between the workspace that a frame is about and the frame; no name of a workspace has it.
const SEPARATOR: u8 = b'\n';

/// What is known of the waits of all runtimes.
pub(super) struct Board {
    now: Mutex<Now>,
    ring: Ring,
    /// How many runtimes have not said yet what waits in them.
    unheard: watch::Sender<usize>,
}

struct Now {
    runtimes: BTreeMap<RuntimeId, (Workspace, Known)>,
    writer: Writer,
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
        let (writer, ring) = Ring::new(RETENTION);
        let now = Mutex::new(Now { runtimes: BTreeMap::new(), writer });
        Self { now, ring, unheard: watch::Sender::new(0) }
    }

    /// These are about to be asked. Those who listen are told of new ones, and that nothing is known of them yet.
    pub(super) fn expect(&self, runtimes: impl IntoIterator<Item = (RuntimeId, Workspace)>) {
        self.change(|now| {
            for (id, workspace) in runtimes {
                if !now.runtimes.contains_key(&id) {
                    now.tell(&workspace, &InboxEvent::Unavailable { runtime_id: id.clone() });
                    now.runtimes.insert(id, (workspace, Known::Nothing));
                }
            }
        });
    }

    /// Takes what a runtime says.
    pub(super) fn take(&self, id: &RuntimeId, event: WaitEvent) {
        let item = |wait: Wait| InboxWait { runtime_id: id.clone(), wait };
        self.change(|now| {
            let Some((workspace, known)) = now.runtimes.get_mut(id) else { return };
            let workspace = workspace.clone();
            let told = match (event, known) {
                (WaitEvent::Snapshot { waits }, known) => {
                    *known = Known::Open(waits.iter().map(|wait| (wait.id, wait.clone())).collect());
                    let waits = waits.into_iter().map(item).collect();
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
            now.tell(&workspace, &told);
        });
    }

    /// A runtime cannot be reached. That is told once.
    pub(super) fn away(&self, id: &RuntimeId) {
        self.change(|now| {
            let Some((workspace, known)) = now.runtimes.get_mut(id) else { return };
            let workspace = workspace.clone();
            if let Known::Open(_) = std::mem::replace(known, Known::Away) {
                now.tell(&workspace, &InboxEvent::Unavailable { runtime_id: id.clone() });
            }
        });
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

    /// All that is open in the runtimes that somebody sees, and whatever is told after that.
    pub(super) fn begin(&self, sees: impl Fn(&Workspace) -> bool) -> (Bytes, Option<Reader>) {
        let now = self.now.lock();
        let (mut waits, mut unavailable) = (Vec::new(), Vec::new());
        for (id, (_, known)) in now.runtimes.iter().filter(|(_, (workspace, _))| sees(workspace)) {
            match known {
                Known::Nothing | Known::Away => unavailable.push(id.clone()),
                Known::Open(open) => waits.extend(
                    open.values().map(|wait| InboxWait { runtime_id: id.clone(), wait: wait.clone() }),
                ),
            }
        }
        // Under the lock: nothing is told meanwhile.
        let reader = self.ring.reader(Start::Newest).ok();
        drop(now);
        oldest_first(&mut waits);
        (json(&InboxEvent::Snapshot { waits, unavailable }), reader)
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
    fn tell(&mut self, workspace: &Workspace, event: &InboxEvent) {
        let frame = [workspace.as_str().as_bytes(), &[SEPARATOR], &json(event)].concat();
        self.writer.append(Frames::one(frame));
    }
}

/// What a frame says, if it is about a workspace that somebody sees.
pub(super) fn seen(frame: &Bytes, sees: impl Fn(&Workspace) -> bool) -> Option<Bytes> {
    let end = frame.iter().position(|byte| *byte == SEPARATOR)?;
    let workspace = std::str::from_utf8(&frame[..end]).ok()?.parse().ok()?;
    sees(&workspace).then(|| frame.slice(end + 1..))
}

/// Puts the one first that has waited the longest.
pub(super) fn oldest_first(waits: &mut [InboxWait]) {
    waits.sort_by_key(|item| (item.wait.opened_at, item.wait.id));
}

fn json(event: &InboxEvent) -> Bytes {
    // A wire type always can be serialised.
    serde_json::to_vec(event).unwrap_or_default().into()
}
