//! Following the waits of a runtime: one stream, taken up again whenever it ends.

use client::{Client, Told};
use protocol::{RuntimeId, wait::WaitEvent};
use tokio::time::timeout;
use tracing::debug;

use super::{ANSWER_MAX, board::Board};
use crate::pause::Pause;

/// Follows the waits of a runtime for as long as it is polled.
pub(super) async fn pull(board: &Board, id: &RuntimeId, client: &Client) {
    let mut pause = Pause::new();
    loop {
        if let Ok(Ok(told)) = timeout(ANSWER_MAX, client.waits().events()).await {
            hear(board, id, told.fleeting(), &mut pause).await;
        }
        debug!(runtime = %id, "what waits in a runtime is not known");
        board.away(id);
        pause.wait().await;
    }
}

/// Takes what the runtime says until it ends.
async fn hear(board: &Board, id: &RuntimeId, mut told: Told<WaitEvent>, pause: &mut Pause) {
    while let Ok(Some((event, _))) = told.next().await {
        pause.reset();
        board.take(id, event);
    }
}
