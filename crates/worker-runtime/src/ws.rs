//! Observations over WebSockets, for backends.

use bytes::Bytes;
use protocol::observation::{StreamEnd, StreamLeg};
use server::observed::Observed;

pub use server::observed::{INPUT_BYTES_MAX, serve};

use crate::Observation;

impl Observed for Observation {
    const LEG: StreamLeg = StreamLeg::Runtime;

    async fn next(&mut self) -> Result<Vec<Bytes>, StreamEnd> {
        Observation::next(self).await
    }
}
