//! Observations over WebSockets, for backends.

use bytes::Bytes;
use protocol::observation::{End, Leg};
use server::observed::Observed;

pub use server::observed::{INPUT_BYTES_MAX, Patience, serve};

use crate::Observation;

impl Observed for Observation {
    const LEG: Leg = Leg::Runtime;

    async fn next(&mut self) -> Result<Vec<Bytes>, End> {
        Observation::next(self).await
    }
}
