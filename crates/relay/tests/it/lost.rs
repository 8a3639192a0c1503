//! What is left when a connection is lost.

use std::time::Duration;

use futures_util::future::join_all;
use protocol::relay::RelayErrorCode;
use relay::{Limits, Lost};
use serde_json::json;
use tokio::runtime::Handle;

use crate::support::{BOTH, ask, connect, holds_nothing, within};

/// relay-120, relay-167: when either side is killed all 64 requests in each direction end, their work too, and nothing is left.
#[tokio::test]
async fn killing_a_side_ends_everything() {
    for via in BOTH {
        for kill_server in [false, true] {
            let tasks_before = Handle::current().metrics().num_alive_tasks();
            // Those that work here end because they are told, not because they are dropped.
            let limits = Limits { cancel_wait_max: Duration::from_secs(3600), ..Limits::default() };
            let mut both = connect(via, &limits).await;
            let mut calls = Vec::new();
            for number in 0..64 {
                for peer in [&both.server, &both.device] {
                    let method = if number % 2 == 0 { "wait" } else { "flood" };
                    calls.push(ask(peer, method, json!(1 << 30)).await);
                }
            }
            within(both.at_device.works_on(64)).await;
            within(both.at_server.works_on(64)).await;
            if kill_server {
                both.driving.server.abort()
            } else {
                both.driving.device.abort()
            }
            for outcome in within(join_all(calls.into_iter().map(relay::Call::outcome))).await {
                assert_eq!(outcome.unwrap_err().code, RelayErrorCode::RelayDisconnected);
            }
            within(both.at_device.works_on(0)).await;
            within(both.at_server.works_on(0)).await;
            while let Some(ended) = within(both.driving.tasks.join_next()).await {
                assert!(ended.is_err() || matches!(ended, Ok((_, Lost::Gone | Lost::Failed(_)))));
            }
            holds_nothing(&both.server).await;
            holds_nothing(&both.device).await;
            // What was aborted is dropped by whoever runs it, soon.
            within(async {
                while Handle::current().metrics().num_alive_tasks() > tasks_before {
                    tokio::task::yield_now().await;
                }
            })
            .await;
        }
    }
}

/// relay-120: who asks after the connection was lost hears the same.
#[tokio::test]
async fn asking_on_a_lost_connection_fails() {
    for via in BOTH {
        let mut both = connect(via, &Limits::default()).await;
        both.driving.device.abort();
        while within(both.driving.tasks.join_next()).await.is_some() {}
        for peer in [&both.server, &both.device] {
            let error = within(ask(peer, "echo", json!(1)).await.outcome()).await.unwrap_err();
            assert_eq!(error.code, RelayErrorCode::RelayDisconnected);
            assert_eq!(peer.held().calls, 0);
            let event = peer.event("x", protocol::relay::RawJson::empty()).await;
            assert_eq!(event.unwrap_err().code, RelayErrorCode::RelayDisconnected);
        }
    }
}

/// relay-53, relay-120: a handler that ignores the loss is dropped in the end.
#[tokio::test(start_paused = true)]
async fn a_handler_that_ignores_the_loss_is_dropped() {
    let mut both = connect(crate::support::Via::Pair, &Limits::default()).await;
    let _call = ask(&both.server, "ignore", json!({})).await;
    within(both.at_device.works_on(1)).await;
    both.driving.server.abort();
    let ended = async { while both.driving.tasks.join_next().await.is_some() {} };
    within(ended).await;
    within(both.at_device.works_on(0)).await;
}
