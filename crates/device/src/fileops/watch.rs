//! `file.watch`: what changes, as it changes.
//!
//! The first frame of the stream, `status`, has the name of the watch: from there on nothing is missed without being told.
//! Each change is a `progress` frame. The request goes on until it is cancelled or what is watched is no longer there.

mod burst;

use std::{io, os::fd::OwnedFd, sync::Arc, time::Duration};

use files::{FileChange, FileWatcher, WatchScope};
use jiff::Timestamp;
use protocol::relay::{
    RawJson, RelayError, RelayErrorCode,
    file::{ChangeKind, WatchFiles, WatchStarted, WatchedChange},
};
use relay::Reply;
use tokio::{
    io::{Interest, unix::AsyncFd},
    sync::{Semaphore, TryAcquireError},
};
use tokio_util::sync::CancellationToken;

use super::{
    Spot, Work,
    refusal::{cancelled, failed},
};
use burst::Burst;

/// How many watches there may be at a time. The kernel allows a user 128 by default, and others want some.
pub(super) const WATCHES_MAX: usize = 32;

/// For how long changes are gathered before they are told.
const GATHER: Duration = Duration::from_millis(50);

/// Watches, and tells of what changes.
pub(super) async fn watch(
    spot: Spot,
    asked: &WatchFiles,
    room: Arc<Semaphore>,
    work: &Work,
    reply: &mut Reply,
) -> Result<RawJson, RelayError> {
    let _room = room.try_acquire_owned().map_err(|error| busy(&error))?;
    let reach = if asked.recursive { WatchScope::Tree } else { WatchScope::Directory };
    let mut watch = start(&spot, reach, work, reply.token()).await?;
    let no_poll = |error: io::Error| failed(&spot, "watch", &error);
    let ready = ready(watch.handle()).map_err(no_poll)?;
    let watching = WatchStarted { watch_id: format!("watch_{:016x}", fastrand::u64(..)) };
    reply.stream("status", RawJson::from_value(&watching)).await?;
    let mut more = false;
    loop {
        if !more {
            tokio::select! {
                () = reply.cancelled() => return Err(cancelled()),
                // Cleared before it is read to its end, so what comes later is told again.
                ready = ready.readable() => ready.map_err(no_poll)?.clear_ready(),
            }
            tokio::select! {
                () = reply.cancelled() => return Err(cancelled()),
                () = tokio::time::sleep(GATHER) => {}
            }
        }
        let seen;
        (watch, seen, more) = read(&spot, watch, work, reply.token()).await?;
        let mut burst = Burst::new(&spot);
        let over = seen.contains(&FileChange::Over);
        burst.extend(seen);
        let ts = Timestamp::now();
        for told in burst.told() {
            let change = WatchedChange { root_id: spot.root_id.clone(), ts, ..told };
            reply.stream("progress", RawJson::from_value(&change)).await?;
        }
        if over {
            let (root_id, path) = (spot.root_id.clone(), spot.path.clone());
            let gone = WatchedChange { root_id, path, kind: ChangeKind::Deleted, old_path: None, ts };
            reply.stream("progress", RawJson::from_value(&gone)).await?;
            return Ok(RawJson::from_value(&watching));
        }
    }
}

/// Tells when something happened.
#[expect(unsafe_code, reason = "tokio asks for a promise about the handle, which its type keeps")]
fn ready(handle: Arc<OwnedFd>) -> io::Result<AsyncFd<Arc<OwnedFd>>> {
    // SAFETY: the handle is owned, so its number stays the same and open for as long as the `Arc` is there, and nobody takes
    // that out of the `AsyncFd`.
    Ok(unsafe { AsyncFd::register_with_interest(handle, Interest::READABLE) }?)
}

async fn start(
    spot: &Spot,
    reach: WatchScope,
    work: &Work,
    cancelled: &CancellationToken,
) -> Result<FileWatcher, RelayError> {
    let (at, files) = (spot.at()?, spot.files.clone());
    let started = work.run(cancelled, move |_| Ok(files.watch(&at, reach))).await?;
    started.map_err(|error| spot.refused(&error))
}

async fn read(
    spot: &Spot,
    mut watch: FileWatcher,
    work: &Work,
    cancelled: &CancellationToken,
) -> Result<(FileWatcher, Vec<FileChange>, bool), RelayError> {
    let files = spot.files.clone();
    let read = move |_: &_| Ok(watch.read(&files).map(|(seen, more)| (watch, seen, more)));
    work.run(cancelled, read).await?.map_err(|error| spot.refused(&error))
}

fn busy(_: &TryAcquireError) -> RelayError {
    RelayError::new(RelayErrorCode::ProviderError, "too many watches are open; close one first")
        .with("reason", "busy")
        .with("limit", WATCHES_MAX)
}
