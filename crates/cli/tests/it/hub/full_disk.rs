//! A hub whose disk is full.

use std::time::Instant;

use reqwest::{RequestBuilder, StatusCode};
use testkit::{TestHubOptions, fill_disk, free_disk};

use super::{
    browser::{cookie, log_in, plain},
    *,
};

const DISK_BYTES: usize = 16 << 20;

/// The number of actions of each kind that are attempted on the full disk.
const ACTIONS: usize = 200;

/// The number of tokens and devices that are revoked and stopped on the full disk.
const REVOKED: usize = 40;

/// The longest time that taking access away may take: well above the second that is promised, because other tests share the
/// machine.
const REVOKED_WITHIN: Duration = Duration::from_secs(5);

/// Sends a request, and again while the caller has sent too many.
async fn send_paced(request: RequestBuilder) -> (StatusCode, Value) {
    loop {
        let response = request.try_clone().unwrap().send().await.unwrap();
        if response.status() != StatusCode::TOO_MANY_REQUESTS {
            return (response.status(), response.json().await.unwrap_or_default());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// All entries of the audit log.
async fn entries(hub: &TestHub) -> Vec<Value> {
    let (mut entries, mut cursor) = (Vec::new(), Some("0".to_owned()));
    while let Some(at) = cursor {
        let page = hub.request(Method::GET, &format!("/api/audit?cursor={at}&limit=500"));
        let (status, page) = send_paced(page).await;
        assert_eq!(status, 200, "{page}");
        entries.extend(page["items"].as_array().unwrap().iter().map(|record| record["entry"].clone()));
        cursor = page["nextCursor"].as_str().map(str::to_owned);
    }
    entries
}

/// F5: what is done is in the audit log whenever the disk fills; access can be taken away on a full disk, and that is in the
/// log too. With space everything works again.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_done_without_an_audit_entry_on_a_full_disk() {
    let Some(hub) = TestHubOptions::default().start_on_disk(TOMBOLO, DISK_BYTES) else {
        eprintln!(
            "SKIPPED: nothing_is_done_without_an_audit_entry_on_a_full_disk needs the right to mount a tmpfs"
        );
        return;
    };
    let daemon = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    hub.add_runtime("box", daemon.base(), Some(TOKEN)).await;
    let work = tempfile::tempdir().unwrap();
    let place = |name: &str| work.path().join(name).display().to_string();
    let at = |path: &str| format!("/api/runtimes/box/v1/{path}");
    let mut revoked = Vec::new();
    let vera = somebody(&hub, "vera", json!({ "roles": { "default": "viewer" } })).await;
    for number in 0..REVOKED {
        let name = json!({ "name": format!("t{number}"), "user": "vera" });
        revoked.push(send_paced(hub.request(Method::POST, "/api/tokens").json(&name)).await.1);
        let device = json!({ "clientId": format!("lap{number}"), "workspace": "default" });
        let (status, added) = send_paced(hub.request(Method::POST, "/api/devices").json(&device)).await;
        assert_eq!(status, 201, "{added}");
    }

    let (session, key) = log_in(&hub, &vera, None).await;
    let browser = |method, path: &str| {
        let request = plain(&hub, method, path).header("cookie", cookie(&session));
        request.header("origin", hub.base()).header("tombolo-page-key", &key)
    };

    let act = async |kind: &str, number: usize| {
        let name = format!("{kind}-{number}");
        let request = match kind {
            "process" => {
                let start = json!({ "command": "/bin/mkdir", "args": [place(&name)] });
                hub.request(Method::POST, &at("processes")).json(&start)
            }
            "file" => hub.request(Method::PUT, &at(&format!("fs/file?path={}", place(&name)))).body("x"),
            _ => {
                hub.request(Method::POST, &at(&format!("sessions/{name}"))).json(&json!({ "agent": "mock" }))
            }
        };
        send_paced(request).await.0
    };
    const KINDS: [&str; 3] = ["process", "file", "session"];
    let mut done = [0; 3];
    for number in 0..2 * ACTIONS {
        if number == 20 {
            fill_disk(hub.directory());
        }
        for (kind, done) in KINDS.iter().zip(&mut done) {
            let status = act(kind, number).await;
            assert!(status.is_success() || status == 507, "{kind}: {status}");
            *done += usize::from(status.is_success());
        }
    }
    eprintln!("done: {done:?} of {} each", 2 * ACTIONS);
    // The file system gives space in chunks, so the first actions still fit.
    assert!(done.iter().all(|done| *done + ACTIONS / 2 <= 2 * ACTIONS), "a full disk refuses");

    let mut slowest = Duration::ZERO;
    for (number, token) in revoked.iter().enumerate() {
        let (id, secret) = (token["token"]["id"].as_str().unwrap(), token["secret"].as_str().unwrap());
        let since = Instant::now();
        let (status, said) = answer(hub.request(Method::DELETE, &format!("/api/tokens/{id}"))).await;
        assert_eq!(status, 204, "token {number}: {said}");
        slowest = slowest.max(since.elapsed());
        // Not each of them: an address may send only so many wrong tokens.
        if number % 10 == 0 {
            assert_eq!(send_paced(hub.request_as(secret, Method::GET, "/api/whoami")).await.0, 401);
        }
        let since = Instant::now();
        let stop = hub.request(Method::POST, &format!("/api/devices/lap{number}/stop"));
        assert_eq!(answer(stop).await.0, 204, "device {number}");
        slowest = slowest.max(since.elapsed());
    }
    let since = Instant::now();
    assert_eq!(answer(browser(Method::POST, "/api/logout")).await.0, 204);
    slowest = slowest.max(since.elapsed());
    assert_eq!(send_paced(browser(Method::GET, "/api/whoami")).await.0, 401);
    let since = Instant::now();
    assert_eq!(answer(hub.request(Method::DELETE, "/api/users/vera")).await.0, 204);
    slowest = slowest.max(since.elapsed());
    assert_eq!(send_paced(hub.request_as(&vera, Method::GET, "/api/whoami")).await.0, 401);
    eprintln!("slowest revocation or stop: {slowest:?}");
    assert!(slowest < REVOKED_WITHIN);

    free_disk(hub.directory());
    let works = async { while !act("file", 10_000).await.is_success() {} };
    within(secs(20), works).await;

    let recorded = entries(&hub).await;
    let count = |action: &str| {
        let is_done = |entry: &&Value| entry["action"] == action && entry["status"].as_u64() < Some(300);
        recorded.iter().filter(is_done).count()
    };
    let made = |prefix: &str| {
        let names = work.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_str().unwrap().starts_with(prefix)).count()
    };
    // A process may still be about to create its directory.
    within(secs(20), async { while made("process-") < done[0] {} }).await;
    let sessions = ask(&daemon, Method::GET, "/v1/sessions", None).await;
    let sessions = sessions["items"].as_array().unwrap().len();
    assert_eq!((made("process-"), made("file-"), sessions), (done[0], done[1] + 1, done[2]));
    let by_kind = [count("processes.use"), count("files.write"), count("sessions.create")];
    assert_eq!(by_kind, [done[0], done[1] + 1, done[2]], "whatever was done is on record");
    assert_eq!((count("tokens.revoke"), count("devices.stop")), (REVOKED, REVOKED));
    assert_eq!((count("users.remove"), count("logout")), (1, 1));
}
