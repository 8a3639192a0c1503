use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TestDaemon, TestDaemonOptions, within};

use super::*;
use crate::secs;

/// Answers each request with a text of its own, taken from the request: `"raw": "…"`.
const RAW: &str = "import sys,json\nfor l in sys.stdin:\n m=json.loads(l)\n print(m['params']['raw'])";

/// acp-7: what a client sends reaches the agent byte for byte, and what the agent says reaches the stream so.
#[tokio::test]
async fn bytes_pass_unchanged_in_both_directions() {
    let daemon = TestDaemonOptions::default().agent("cat", &["cat"]).start(TOMBOLO);
    let hello = r#"{"jsonrpc":"2.0","method":"hello"}"#;
    assert_eq!(daemon.post_text("/v1/acp/a?agent=cat", hello).await.status(), 202);
    let mut events = daemon.events("a", None).await;
    assert_eq!(within(secs(5), events.next()).await.unwrap().data, hello);
    let cases = [
        r#"{ "method" : "x" ,"jsonrpc":"2.0",  "zeta":1, "alpha":[1.0,1e5,-0,12345678901234567890.5] }"#,
        r#"{"jsonrpc":"2.0","method":"_sandboxagent/session/list","params":{"_meta":{"sandboxagent.dev":{"a":null}}}}"#,
        r#"{"jsonrpc":"2.0","method":"x","params":"\u0000\ud83d\ude00 \/ é 😀 \u2028"}"#,
        "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":1,\"a\":2}}",
        "\t{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\t",
        r#"{"jsonrpc":"2.0","id":1,"result":{"deep":[[[[[[[[[]]]]]]]]]}}"#,
    ];
    for case in cases {
        assert_eq!(daemon.post_text("/v1/acp/a", case).await.status(), 202, "{case}");
        assert_eq!(within(secs(5), events.next()).await.unwrap().data, case);
    }
    // Line breaks are space in JSON, and the end of a message to the agent: they become spaces.
    let broken = "{\r\n\"jsonrpc\":\"2.0\",\n\"method\":\"x\"}\n";
    assert_eq!(daemon.post_text("/v1/acp/a", broken).await.status(), 202);
    assert_eq!(within(secs(5), events.next()).await.unwrap().data, broken.replace(['\r', '\n'], " "));
}

/// acp-7: a thousand random messages come back as they went.
#[tokio::test]
async fn random_json_passes_unchanged() {
    let daemon = TestDaemonOptions::default().agent("cat", &["cat"]).start(TOMBOLO);
    let mut random = Random(0x5eed);
    let texts: Vec<String> = (0..1000)
        .map(|_| format!(r#"{{"jsonrpc":"2.0","method":"m","params":{}}}"#, random.json(4)))
        .collect();
    for (at, text) in texts.iter().enumerate() {
        let path = if at == 0 { "/v1/acp/a?agent=cat" } else { "/v1/acp/a" };
        assert_eq!(daemon.post_text(path, text.clone()).await.status(), 202, "{text}");
    }
    let mut events = daemon.events("a", None).await;
    for text in &texts {
        assert_eq!(&within(secs(5), events.next()).await.unwrap().data, text);
    }
}

/// A small generator of JSON texts, spelled in every way that JSON allows.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn pick(&mut self, from: &[&str]) -> String {
        from[self.next(from.len() as u64) as usize].to_owned()
    }

    fn json(&mut self, depth: u64) -> String {
        let space = self.pick(&["", " ", "\t", "  "]);
        let value = match self.next(if depth == 0 { 3 } else { 5 }) {
            0 => self.pick(&[
                "null",
                "true",
                "false",
                "0",
                "-0",
                "1.0",
                "1E+2",
                "0.1e-7",
                "123456789012345678901234567890",
            ]),
            1 => format!("{:?}", self.next(1 << 40)),
            2 => self.pick(&[
                r#""""#,
                r#""é\u00e9\/""#,
                r#""\"\\\b\f\n\r\t""#,
                r#""\ud83d\ude00😀""#,
                "\"\u{7f}\u{2029}\"",
            ]),
            3 => {
                let items: Vec<_> = (0..self.next(4)).map(|_| self.json(depth - 1)).collect();
                format!("[{}]", items.join(","))
            }
            _ => {
                let items: Vec<_> = (0..self.next(4))
                    .map(|_| {
                        format!(
                            "{}:{}",
                            self.pick(&[r#""a""#, r#""_meta""#, r#""id""#]),
                            self.json(depth - 1)
                        )
                    })
                    .collect();
                format!("{{{}}}", items.join(","))
            }
        };
        format!("{space}{value}{space}")
    }
}

/// acp-7, acp-8: the answer to a request is the agent's response, byte for byte; the rest is accepted.
#[tokio::test]
async fn a_request_is_answered_with_the_agents_own_bytes() {
    let daemon = with_script(RAW);
    let raw = "{ \"result\":{\"b\":1.0,\"a\":[ ]},  \"id\":5 ,\"jsonrpc\":\"2.0\",\"extra\":\"\\u00e9\"}";
    let message = json!({ "jsonrpc": "2.0", "id": 5, "method": "m", "params": { "raw": raw } });
    let response = daemon.post("/v1/acp/a?agent=x", &message).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(response.text().await.unwrap(), raw);
    let accepted = daemon
        .post(
            "/v1/acp/a",
            &json!({ "jsonrpc": "2.0", "method": "n", "params": { "raw": "{\"method\":\"x\"}" } }),
        )
        .await;
    assert_eq!((accepted.status().as_u16(), accepted.text().await.unwrap().as_str()), (202, ""));
    let accepted = daemon
        .post(
            "/v1/acp/a",
            &json!({ "jsonrpc": "2.0", "id": 9, "result": {}, "params": { "raw": "{\"method\":\"x\"}" } }),
        )
        .await;
    assert_eq!(accepted.status(), 202);
}

/// acp-9: ids match by their spelling: `1`, `"1"` and `1.0` are three requests.
#[tokio::test]
async fn ids_match_exactly() {
    // Holds three requests, then answers them in reverse order.
    let daemon = with_script(
        "import sys,re\nseen=[sys.stdin.readline() for _ in range(3)]\nfor l in reversed(seen):\n i=re.search(r'\"id\":(\"1\"|1\\.0|1)[,}]',l).group(1)\n print('{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}'%(i,i))\nsys.stdin.read()",
    );
    let post = |id: &'static str| {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        let request =
            daemon.request(Method::POST, "/v1/acp/a?agent=x").header("content-type", "application/json");
        async move { request.body(body).send().await.unwrap().text().await.unwrap() }
    };
    let (number, text, float) =
        within(secs(10), async { tokio::join!(post("1"), post("\"1\""), post("1.0")) }).await;
    assert_eq!(number, r#"{"jsonrpc":"2.0","id":1,"result":1}"#);
    assert_eq!(text, r#"{"jsonrpc":"2.0","id":"1","result":"1"}"#);
    assert_eq!(float, r#"{"jsonrpc":"2.0","id":1.0,"result":1.0}"#);
}

/// acp-9: an id in flight is refused and the first request is untouched.
#[tokio::test]
async fn an_id_in_flight_is_refused() {
    let daemon = TestDaemon::start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=mock", &request(1, "initialize")).await;
    let mut events = daemon.events("a", Some(1)).await;
    let first =
        tokio::spawn(daemon.request(Method::POST, "/v1/acp/a").json(&prompt(2, "on it\n/hang")).send());
    within(secs(5), events.next_of("message")).await;
    check_problem(
        &problem(daemon.post("/v1/acp/a", &request(2, "x")).await).await,
        409,
        "urn:problem:id-in-flight",
    );
    daemon.post("/v1/acp/a", &json!({ "jsonrpc": "2.0", "method": "session/cancel" })).await;
    let answer: Value = within(secs(5), first).await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(answer["result"]["stopReason"], "cancelled");
}

/// acp-10: a request that takes too long is told so, and its answer comes on the stream.
#[tokio::test]
async fn a_late_answer_goes_to_the_stream() {
    let daemon = TestDaemonOptions::default().arg("--timeout-max=5000ms").start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=mock", &request(1, "initialize")).await;
    let late = problem(daemon.post("/v1/acp/a?timeoutMs=50", &prompt(2, "/hang")).await).await;
    check_problem(&late, 504, "urn:problem:agent-timeout");
    // Its id stays in flight, so that the late answer cannot be taken for another's.
    check_problem(
        &problem(daemon.post("/v1/acp/a", &request(2, "x")).await).await,
        409,
        "urn:problem:id-in-flight",
    );
    let mut events = daemon.events("a", Some(1)).await;
    daemon.post("/v1/acp/a", &json!({ "jsonrpc": "2.0", "method": "session/cancel" })).await;
    let answer = within(secs(5), events.next_of("message")).await;
    assert!(answer.data.contains("cancelled") && answer.data.contains(r#""id":2"#));
    for bad in ["0", "5001", "-1", "x"] {
        let response = daemon.post(&format!("/v1/acp/a?timeoutMs={bad}"), &request(3, "x")).await;
        check_problem(&problem(response).await, 400, "urn:problem:invalid-request");
    }
}

/// acp-10: a client that leaves does not cancel the agent's work.
#[tokio::test]
async fn a_client_that_leaves_cancels_nothing() {
    let daemon = TestDaemon::start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=mock", &request(1, "initialize")).await;
    let mut events = daemon.events("a", Some(1)).await;
    let leaving = daemon.request(Method::POST, "/v1/acp/a").json(&prompt(2, "started\n/permission")).send();
    let leaving = tokio::spawn(leaving);
    let asked = within(secs(5), async {
        loop {
            let event = events.next_of("message").await;
            if event.data.contains("request_permission") {
                return event;
            }
        }
    });
    let asked: Value = serde_json::from_str(&asked.await.data).unwrap();
    leaving.abort();
    assert!(leaving.await.unwrap_err().is_cancelled());
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "outcome": { "outcome": "selected", "optionId": "allow" } } });
    assert_eq!(daemon.post("/v1/acp/a", &answer).await.status(), 202);
    assert!(within(secs(5), events.next_of("message")).await.data.contains("tool_call_update"));
    assert!(within(secs(5), events.next_of("message")).await.data.contains("permission answered: allow"));
    let ended = within(secs(5), events.next_of("message")).await;
    assert!(ended.data.contains(r#""id":2"#) && ended.data.contains("end_turn"));
}

/// acp-10a: the answer names its place on the stream, after everything that came before it.
#[tokio::test]
async fn an_answer_names_its_place_on_the_stream() {
    let daemon = TestDaemon::start(TOMBOLO);
    let response = daemon.post("/v1/acp/a?agent=mock", &prompt(1, "/chunks 20")).await;
    assert_eq!(response.headers()["acp-event-id"], "21");
    let body = response.text().await.unwrap();
    let mut events = daemon.events("a", Some(20)).await;
    let event = within(secs(5), events.next()).await.unwrap();
    assert_eq!((event.id, event.data), (Some(21), body));
}

/// acp-10a: `Prefer: respond-async` answers at once and leaves the response to the stream.
#[tokio::test]
async fn an_asynchronous_request_is_answered_on_the_stream_only() {
    let daemon = TestDaemon::start(TOMBOLO);
    let post = daemon.request(Method::POST, "/v1/acp/a?agent=mock").header("prefer", "foo, respond-async");
    let response = post.json(&prompt(1, "hi")).send().await.unwrap();
    assert_eq!((response.status().as_u16(), response.text().await.unwrap().as_str()), (202, ""));
    let mut events = daemon.events("a", None).await;
    assert!(within(secs(5), events.next_of("message")).await.data.contains("hi"));
    assert!(within(secs(5), events.next_of("message")).await.data.contains("end_turn"));
}

/// acp-11: what is not one JSON-RPC message, or not said to be JSON, is refused and changes nothing.
#[tokio::test]
async fn bad_bodies_are_refused() {
    let daemon = TestDaemon::start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=mock", &request(1, "initialize")).await;
    for bad in [
        "",
        "{",
        "nope",
        "[]",
        "[{\"jsonrpc\":\"2.0\",\"method\":\"m\"}]",
        "{\"jsonrpc\":\"2.0\"}",
        "1",
        "{} {}",
        "{\"method\":\"m\"}",
    ] {
        let response = daemon.post_text("/v1/acp/a", bad).await;
        check_problem(&problem(response).await, 400, "urn:problem:invalid-envelope");
    }
    let invalid = daemon.post_text("/v1/acp/a", b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}".to_vec()).await;
    check_problem(&problem(invalid).await, 400, "urn:problem:invalid-envelope");
    for kind in [None, Some("text/plain"), Some("application/jsonx"), Some("")] {
        let mut post = daemon.request(Method::POST, "/v1/acp/a").body(request(2, "x").to_string());
        if let Some(kind) = kind {
            post = post.header("content-type", kind);
        }
        check_problem(&problem(post.send().await.unwrap()).await, 415, "urn:problem:unsupported-media-type");
    }
    let good =
        daemon.request(Method::POST, "/v1/acp/a").header("content-type", "Application/JSON; charset=utf-8");
    assert_eq!(good.body(request(2, "initialize").to_string()).send().await.unwrap().status(), 200);
    assert_eq!(daemon.instance("a").await["events"], json!({ "oldest": 1, "newest": 2 }));
}

/// acp-12: when the agent ends, whoever waits is told at once, with its last words.
#[tokio::test]
async fn a_dying_agent_fails_its_requests_at_once() {
    let daemon = with_script(
        "import sys,time,os\nsys.stdin.readline()\nprint('{\"method\":\"last\",\"params\":%f}'%time.time())\nsys.stderr.write('my last words\\n')\nos._exit(3)",
    );
    let start = Instant::now();
    let died = problem(daemon.post("/v1/acp/a?agent=x", &request(1, "m")).await).await;
    check_problem(&died, 502, "urn:problem:agent-exited");
    assert_eq!(died["stderrTail"].as_str().unwrap().trim(), "my last words");
    assert!(start.elapsed() < secs(5));
    let events = within(secs(5), daemon.events("a", None).await.rest()).await;
    let kinds: Vec<_> = events.iter().map(|event| event.event.as_str()).collect();
    assert_eq!(kinds, ["message", "exited"], "its last line comes first, and the stream ends");
    assert_eq!(events[1].id, None);
    let exit: Value = serde_json::from_str(&events[1].data).unwrap();
    assert_eq!((&exit["code"], &exit["signal"]), (&json!(3), &Value::Null));
    let listed = daemon.instance("a").await;
    assert_eq!(
        (&listed["state"], &listed["pid"], &listed["exit"]["code"]),
        (&json!("exited"), &Value::Null, &json!(3))
    );
    // Without its agent named it stays as it is; with it, it starts anew and the sequence goes on.
    check_problem(
        &problem(daemon.post("/v1/acp/a", &request(2, "m")).await).await,
        502,
        "urn:problem:agent-exited",
    );
    check_problem(
        &problem(daemon.post("/v1/acp/a?agent=x", &request(3, "m")).await).await,
        502,
        "urn:problem:agent-exited",
    );
    let events = within(secs(5), daemon.events("a", Some(1)).await.rest()).await;
    let ids: Vec<_> = events.iter().map(|event| (event.event.as_str(), event.id)).collect();
    assert_eq!(ids, [("exited", None), ("message", Some(3)), ("exited", None)]);
}

/// acp-13: lines that are no messages are shown as such and break nothing.
#[tokio::test]
async fn garbage_is_shown_and_breaks_nothing() {
    let daemon = TestDaemon::start(TOMBOLO);
    let answer = daemon.post("/v1/acp/a?agent=mock", &prompt(1, "/garbage\nafter")).await;
    assert_eq!(answer.status(), 200);
    let mut events = daemon.events("a", None).await;
    let mut texts = Vec::new();
    let after = loop {
        let event = within(secs(5), events.next()).await.unwrap();
        match event.event.as_str() {
            "unparsed" => {
                assert_eq!(event.id, None);
                let data: Value = serde_json::from_str(&event.data).unwrap();
                texts.push(data["text"].as_str().unwrap().to_owned());
            }
            _ => break event,
        }
    };
    assert_eq!(texts[..2], ["this is not JSON", "42"]);
    assert!(texts[2].contains("broken") && texts[4].contains('\0'));
    assert!(after.data.contains("after"));
}

/// acp-13: a line above the limit is dropped with a notice; one below it passes whole.
#[tokio::test]
async fn long_lines_pass_and_too_long_ones_are_dropped() {
    let daemon = with_script(
        "import sys\nsys.stdin.readline()\nsys.stdout.write('{\"method\":\"big\",\"params\":\"'+'x'*(20<<20)+'\"}\\n')\nsys.stdout.write('y'*((64<<20)+5)+'\\n')\nprint('{\"id\":1,\"result\":1}')\nsys.stdin.read()",
    );
    let events = async {
        daemon.post("/v1/acp/a?agent=x", &json!({ "jsonrpc": "2.0", "method": "n" })).await;
        let mut events = daemon.events("a", None).await;
        let big = events.next().await.unwrap();
        (big, events.next().await.unwrap(), events.next().await.unwrap())
    };
    let (big, dropped, after) = within(secs(60), events).await;
    assert_eq!((big.event.as_str(), big.data.len()), ("message", (20 << 20) + 28));
    let data: Value = serde_json::from_str(&dropped.data).unwrap();
    assert_eq!((dropped.event.as_str(), &data["bytes"]), ("unparsed", &json!((64 << 20) + 5)));
    assert_eq!(after.data, r#"{"id":1,"result":1}"#);
}

/// acp-14: an agent that stops reading makes its clients come back later, and costs bounded memory.
#[tokio::test]
async fn an_agent_that_does_not_read_is_busy() {
    let daemon = with_script("import sys,time\nprint('{\"method\":\"up\"}')\ntime.sleep(600)");
    let message = json!({ "jsonrpc": "2.0", "method": "n", "params": "x".repeat(100_000) });
    let busy = within(secs(30), async {
        loop {
            let response = daemon.post("/v1/acp/a?agent=x", &message).await;
            if response.status() != 202 {
                return response;
            }
        }
    });
    let busy = busy.await;
    assert_eq!(busy.headers()["retry-after"], "1");
    check_problem(&problem(busy).await, 503, "urn:problem:agent-busy");
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kilobytes: u64 = rss.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < 64_000, "{kilobytes} kB");
    let start = Instant::now();
    assert_eq!(daemon.delete("/v1/acp/a").await.status(), 204);
    assert!(start.elapsed() < Duration::from_millis(2500));
}
