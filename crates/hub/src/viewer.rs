//! Somebody who watches a worker and is told who else is there for it.

use std::time::Duration;

use bytes::Bytes;
use protocol::observation::{StreamControl, StreamEnd, StreamLeg};
use server::observation::ObservationSource;
use tokio::time::{Instant, sleep_until};

use crate::{Watch, feed::control, presence::Seat};

/// How often they are told at most: where many come at once, the last word is enough.
const PACE: Duration = Duration::from_secs(1);

/// Somebody who watches.
pub(crate) struct Viewer {
    watch: Watch,
    seat: Seat,
    /// From when on they are told who is there: not before they know what the worker has come to.
    told_from: Option<Instant>,
}

impl Viewer {
    pub(crate) fn new(watch: Watch, mut seat: Seat) -> Self {
        seat.tell();
        Self { watch, seat, told_from: None }
    }
}

impl ObservationSource for Viewer {
    const LEG: StreamLeg = StreamLeg::Backend;

    async fn next(&mut self) -> Result<Vec<Bytes>, StreamEnd> {
        let Self { watch, seat, told_from } = self;
        let Some(from) = told_from else {
            let frames = watch.next().await?;
            if frames.contains(&control(StreamControl::Live)) {
                *told_from = Some(Instant::now());
            }
            return Ok(frames);
        };
        let presence = async {
            if *from > Instant::now() {
                sleep_until(*from).await;
            }
            seat.changed().await
        };
        tokio::select! {
            frames = watch.next() => frames,
            presence = presence => {
                *from = Instant::now() + PACE;
                Ok(vec![control(StreamControl::Presence(presence))])
            }
        }
    }
}
