//! Following the waits of a runtime: one stream, taken up again whenever it ends.

use axum::body::Body;
use backoff::Backoff;
use client::BodyEventStream;
use protocol::{RuntimeId, wait::WaitEvent};
use tokio::time::timeout;
use tracing::debug;

use super::{ANSWER_MAX, board::Board};
use crate::{Down, Pace, Runtime, runtime::get};

/// Follows the waits of a runtime for as long as it is polled.
pub(super) async fn pull(board: &Board, (id, runtime): (&RuntimeId, &dyn Runtime), pace: &Pace) {
    let mut backoff = Backoff::new(pace.pause_min, pace.pause_max);
    loop {
        if let Ok(Ok(told)) = timeout(ANSWER_MAX, open(runtime)).await {
            hear(board, id, told, &mut backoff).await;
        }
        debug!(runtime = %id, "could not list the waits of a runtime");
        board.away(id);
        backoff.wait().await;
    }
}

async fn open(runtime: &dyn Runtime) -> Result<BodyEventStream<Body, WaitEvent>, Down> {
    let response = runtime.send(get("/v1/waits/events")?).await?;
    match response.status().is_success() {
        true => Ok(BodyEventStream::over(response.into_body())),
        false => Err(Down::Unreachable),
    }
}

/// Takes what the runtime says until it ends.
async fn hear(
    board: &Board,
    id: &RuntimeId,
    mut told: BodyEventStream<Body, WaitEvent>,
    backoff: &mut Backoff,
) {
    while let Ok(Some(event)) = told.next().await {
        backoff.reset();
        board.take(id, event);
    }
}
