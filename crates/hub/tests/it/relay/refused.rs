//! Who is not let in, and what is no frame.

use reqwest::Method;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{
    device::{Device, Offering},
    raw::{CONNECT, Raw, hello},
    world::{Environment, World, readme, until},
};

/// Opens the WebSocket for devices with these headers; what it is answered with if it is not opened.
async fn open(world: &World, query: &str, headers: &[(&'static str, &str)]) -> Result<Raw, (u16, Value)> {
    Raw::open(world, &format!("{CONNECT}{query}"), headers).await
}

/// relay-6, relay-7, relay-10, relay-125, relay-130: whoever has no token of a device gets a problem and no WebSocket, wherever the token is.
#[tokio::test]
async fn nobody_is_let_in_without_the_token_of_a_device() {
    let world = World::new().await;
    let good = world.let_in("laptop").await;
    let _device = world.lend(Offering::all(), json!([])).await;
    let environment = world.environment(json!({})).await;
    let bearer = |token: &str| format!("Bearer {token}");
    for (query, headers, status, kind) in [
        ("", vec![], 401, "unauthorized"),
        ("", vec![("authorization", bearer("nothing"))], 401, "unauthorized"),
        ("", vec![("authorization", format!("Basic {good}"))], 401, "unauthorized"),
        ("", vec![("authorization", bearer(&environment.secret))], 401, "unauthorized"),
        ("", vec![("authorization", bearer(&world.token))], 403, "forbidden"),
        (&format!("?token={good}"), vec![], 401, "unauthorized"),
        (&format!("?access_token={good}"), vec![], 401, "unauthorized"),
        (
            "",
            vec![("authorization", bearer(&good)), ("origin", "https://evil.example".into())],
            403,
            "host-not-allowed",
        ),
    ] {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let Err((got, problem)) = open(&world, query, &headers).await else {
            panic!("let in with {headers:?}")
        };
        assert_eq!((got, &problem["type"]), (status, &json!(format!("urn:problem:{kind}"))), "{headers:?}");
    }
    let elsewhere = Environment { id: environment.id, secret: good.clone() };
    assert_eq!(world.ask(&elsewhere, "file.read", readme()).await.0, 401, "nor is it good anywhere else");
    let Err((status, problem)) = open(&world, "", &[("authorization", &bearer(&good))]).await else {
        panic!("let in")
    };
    assert_eq!(
        (status, &problem["type"]),
        (409, &json!("urn:problem:device-connected")),
        "another copy is there"
    );
}

/// relay-10: a page that is allowed by name may be a device; others are as before.
#[tokio::test]
async fn a_page_that_is_allowed_is_let_in() {
    let world = World::with(|config| config.cors.origins = vec!["https://ours.example".into()]).await;
    let token = format!("Bearer {}", world.let_in("laptop").await);
    for (origin, is_let_in) in [
        ("https://ours.example", true),
        ("https://evil.example", false),
        ("https://ours.example.evil", false),
    ] {
        let opened = open(&world, "", &[("authorization", &token), ("origin", origin)]).await;
        assert_eq!(opened.is_ok(), is_let_in, "{origin}");
    }
}

/// relay-6, relay-130, relay-156: a token that has expired, and one that was revoked, let nobody in.
#[tokio::test]
async fn a_token_is_good_for_its_time() {
    let world = World::new().await;
    let soon_over = jiff::Timestamp::now() + jiff::SignedDuration::from_millis(300);
    let add = json!({ "clientId": "laptop", "expiresAt": soon_over.to_string() });
    let added = world.ok(Method::POST, "/api/devices", Some(add)).await;
    let token = format!("Bearer {}", added["secret"].as_str().unwrap());
    let let_in = || async { open(&world, "", &[("authorization", &token)]).await.map(drop) };
    let_in().await.unwrap();
    until(|| async { matches!(let_in().await, Err((401, _))) }).await;
    let token = format!("Bearer {}", world.let_in("laptop").await);
    let let_in = || async { open(&world, "", &[("authorization", &token)]).await.map(drop) };
    let_in().await.unwrap();
    world.ok(Method::POST, "/api/devices/laptop/stop", None).await;
    let (status, problem) = let_in().await.unwrap_err();
    assert_eq!((status, &problem["type"]), (401, &json!("urn:problem:unauthorized")), "it was revoked");
    let add = json!({ "clientId": "laptop", "expiresAt": "2020-01-01T00:00:00Z" });
    let (status, problem) = world.answer(world.request(Method::POST, "/api/devices").json(&add)).await;
    assert_eq!((status, &problem["type"]), (400, &json!("urn:problem:invalid-request")));
}

/// relay-4, relay-5, relay-8, relay-9, relay-15: what is no frame closes that connection with a code that says why, and it is written down.
#[tokio::test]
async fn what_is_no_frame_closes_the_connection_and_is_written_down() {
    let world = World::new().await;
    let token = format!("Bearer {}", world.let_in("laptop").await);
    let hello = || Message::text(hello("laptop", json!({})).to_string());
    let mut expected = Vec::new();
    for (messages, code) in [
        (vec![Message::binary(vec![1, 2, 3])], 1008),
        (vec![Message::text("{ no json")], 1007),
        (vec![Message::text(r#"{"type":"nothing"}"#)], 1008),
        (vec![Message::text(r#"{"type":"ping","id":"p","ts":"2026-01-01T00:00:00Z"}"#)], 1008),
        (vec![hello(), hello()], 1008),
        (vec![hello(), Message::text(" ".repeat((1 << 20) + 1))], 1009),
    ] {
        let mut socket = open(&world, "", &[("authorization", &token)]).await.unwrap();
        for message in messages {
            socket.send(message).await;
        }
        assert_eq!(socket.closed().await, Some(code));
        expected.push(code);
        until(|| async { world.connection("laptop").await.is_null() }).await;
    }
    until(|| async { violations(&world).await == expected }).await;
}

/// The codes of what was written down of peers that broke a rule.
async fn violations(world: &World) -> Vec<u16> {
    let page = world.ok(Method::GET, "/api/audit", None).await;
    let entries = page["items"].as_array().unwrap().iter().map(|item| &item["entry"]);
    let broken = entries.filter(|entry| entry["action"] == "relay.violation");
    broken.map(|entry| entry["status"].as_u64().unwrap() as u16).collect()
}

/// relay-17, relay-18, relay-27, relay-159: a hello that makes no sense is refused, with the field that is wrong, or both versions.
#[tokio::test]
async fn a_hello_that_makes_no_sense_is_refused() {
    let world = World::new().await;
    let token = world.let_in("laptop").await;
    let with = |change: fn(&mut Offering)| {
        let mut offering = Offering::all();
        change(&mut offering);
        offering
    };
    fn roots(offering: &mut Offering) -> &mut Vec<protocol::relay::OfferedRoot> {
        &mut offering.capabilities.fileops.as_mut().unwrap().roots
    }
    for (offering, named) in [
        (with(|it| it.client_id = Some("other".into())), &["another device"][..]),
        (with(|it| it.protocol = Some("ya-environment-relay.v2".into())), &["relay.v1", "relay.v2"]),
        (with(|it| roots(it)[1].root_id = "main".into()), &["roots[1].root_id"]),
        (with(|it| roots(it)[1].virtual_path = "/workspace/main/docs".into()), &["roots[1].virtual_path"]),
        (with(|it| roots(it)[0].virtual_path = "workspace".into()), &["roots[0].virtual_path"]),
        (with(|it| roots(it)[0].mode = "wo".into()), &["roots[0].mode"]),
    ] {
        let mut device = Device::connect(&world.client(&token), "laptop", offering).await.unwrap();
        let why = device.ended().await;
        assert!(named.iter().all(|name| why.contains(name)), "{why}");
        assert!(world.connection("laptop").await.is_null());
    }
}
