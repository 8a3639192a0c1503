//! How long a request may take.

use std::time::Duration;

use protocol::relay::{RawJson, RelayErrorCode};
use relay::{Ask, Limits};
use tokio::time::Instant;

use crate::support::{Via, connect, holds_nothing};

/// relay-36: a request of which nobody says how long it may take has the time of the connection: a minute, if that says nothing
/// else. Then who asked hears `timeout`, and the work is cancelled.
#[tokio::test(start_paused = true)]
async fn a_request_has_the_time_of_its_connection() {
    let shorter = Limits { timeout: Duration::from_secs(5), ..Limits::default() };
    for (limits, seconds) in [(Limits::default(), 60), (shorter, 5)] {
        let both = connect(Via::Pair, &limits).await;
        let asked = Instant::now();
        let call = both.server.request(Ask::new("wait", RawJson::empty())).await;
        both.at_device.works_on(1).await;
        assert_eq!(call.outcome().await.unwrap_err().code, RelayErrorCode::Timeout);
        assert_eq!(asked.elapsed().as_secs(), seconds);
        both.at_device.works_on(0).await;
        holds_nothing(&both.server).await;
    }
}
