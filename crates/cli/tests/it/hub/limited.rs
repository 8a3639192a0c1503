//! How much of the hub one may use.

use super::*;
use crate::{check_problem, problem};

/// Asks until that is too often; how often it was answered before.
async fn until_too_often(hub: &TestHub, token: &str) -> usize {
    for count in 0..200 {
        let response = hub.request_as(token, Method::GET, "/api/whoami").send().await.unwrap();
        if response.status() != 429 {
            continue;
        }
        let after: u64 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=20).contains(&after), "{after}");
        check_problem(&problem(response).await, 429, "urn:problem:too-many-requests");
        return count;
    }
    panic!("it is never too often");
}

/// Who guesses is told to wait; who has a good token is not, wherever they come from.
#[tokio::test]
async fn who_guesses_has_to_wait() {
    let hub = TestHub::start_with(TOMBOLO, &["--failures-per-minute", "3"]);
    assert!(until_too_often(&hub, "a-guess").await >= 3);
    let login = hub.request(Method::POST, "/api/login").json(&json!({ "token": "another" }));
    assert_eq!(answer(login).await.0, 429);
    assert_eq!(answer(hub.request(Method::GET, "/api/whoami")).await.0, 200);
    let login = hub.request(Method::POST, "/api/login").json(&json!({ "token": hub.token() }));
    assert_eq!(answer(login).await.0, 200);
    // Guesses do not push everything else out of the audit.
    for _ in 0..50 {
        answer(hub.request_as("a-guess", Method::GET, "/api/whoami")).await;
    }
    let (_, page) = answer(hub.request(Method::GET, "/api/audit")).await;
    let kept = page["items"].as_array().unwrap().iter().filter(|item| item["entry"]["status"] == 401);
    assert!(kept.count() < 10, "{page}");
}

/// One token cannot take all of the hub; the others go on.
#[tokio::test]
async fn a_token_asks_only_so_often() {
    let hub = TestHub::start_with(TOMBOLO, &["--requests-per-second", "1"]);
    let (_, other) = token(&hub, json!({ "name": "other" })).await;
    assert!(until_too_often(&hub, hub.token()).await >= 5);
    assert_eq!(answer(hub.request_as(&other, Method::GET, "/api/whoami")).await.0, 200);
}
