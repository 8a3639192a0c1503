//! Serves observations over WebSockets.

use bytes::Bytes;
use protocol::observation::{StreamEnd, StreamLeg};
use server::observation::ObservationSource;

pub use server::observation::{INPUT_BYTES_MAX, serve};

use crate::Observation;

impl ObservationSource for Observation {
    const LEG: StreamLeg = StreamLeg::Runtime;

    async fn next(&mut self) -> Result<Vec<Bytes>, StreamEnd> {
        Observation::next(self).await
    }
}
