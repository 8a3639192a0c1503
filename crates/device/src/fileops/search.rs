//! `file.search`: what ripgrep finds.
//!
//! Files that a `.gitignore`, `.ignore` or `.rgignore` names are left out, also where there is no repository; so are hidden
//! ones, unless `include` asks for them, and binary ones. Globs are of the path below the root. Links are not followed, except
//! the one that is asked for.

mod lines;
mod query;
mod rules;
mod walk;

use std::{sync::Arc, time::Duration};

use protocol::relay::{
    RawJson, RelayError,
    file::{MatchBatch, SearchFiles, SearchMatch},
};
use relay::{Reply, Unsent};
use tokio::{sync::mpsc, time::Instant};

use super::{Spot, Work};
use query::Query;
use walk::Walk;

/// How many matches may wait to be told. With [`lines::LINE_BYTES_MAX`] and [`query::CONTEXT_MAX`] that is some megabytes.
const WAITING_MAX: usize = 64;

/// How long the matches of a frame are together, unless a single one is longer.
const BATCH_BYTES_MAX: usize = 48 * 1024;

/// How long a search may take, whatever is asked for.
const TIME_MAX: Duration = Duration::from_secs(10 * 60);

/// Searches, and tells of the matches as they are found.
pub(super) async fn search(
    spot: Spot,
    asked: SearchFiles,
    work: &Work,
    reply: &mut Reply,
) -> Result<RawJson, RelayError> {
    let query = Query::new(&asked)?;
    let time = asked.timeout_ms.map_or(TIME_MAX, |ms| Duration::from_millis(ms).min(TIME_MAX));
    let until = Instant::now() + time;
    let (found, mut matches) = mpsc::channel(WAITING_MAX);
    let mut walking = work.begin(move |stop| Walk::new(spot, Arc::new(query), found, stop.clone()).run());
    let cancelled = reply.token().clone();
    let told = tokio::select! {
        told = tell(&mut matches, reply) => Some(told),
        () = cancelled.cancelled() => Some(Err(Unsent::Cancelled)),
        () = tokio::time::sleep_until(until) => None,
    };
    // Nothing more is told, so nothing more is looked for.
    drop(matches);
    let mut searched = walking.stop().await?;
    match told {
        Some(told) => told?,
        None => searched.truncated = true,
    }
    Ok(RawJson::from_value(&searched))
}

/// Tells of what is found, as much at once as there is, until there is no more.
async fn tell(matches: &mut mpsc::Receiver<SearchMatch>, reply: &mut Reply) -> Result<(), Unsent> {
    let mut waiting = Vec::with_capacity(WAITING_MAX);
    while matches.recv_many(&mut waiting, WAITING_MAX).await > 0 {
        let mut batch = MatchBatch { matches: Vec::new() };
        let mut bytes = 0;
        for found in waiting.drain(..) {
            let size = lines::size(&found);
            if bytes + size > BATCH_BYTES_MAX && !batch.matches.is_empty() {
                reply.stream("progress", RawJson::from_value(&batch)).await?;
                batch.matches.clear();
                bytes = 0;
            }
            bytes += size;
            batch.matches.push(found);
        }
        reply.stream("progress", RawJson::from_value(&batch)).await?;
    }
    Ok(())
}
