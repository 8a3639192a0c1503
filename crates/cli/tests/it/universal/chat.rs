//! A session as a client sees it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::TestDaemon;

use super::turn::Turn;

/// How long an agent may take for anything; the slowest start in seconds on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often is looked whether there is more.
const LOOK: Duration = Duration::from_millis(25);

/// The session `a` of a daemon.
pub(super) struct Chat<'a> {
    daemon: &'a TestDaemon,
    /// Everything that was told so far.
    pub(super) records: Vec<Value>,
}

impl<'a> Chat<'a> {
    pub(super) fn new(daemon: &'a TestDaemon) -> Self {
        Self { daemon, records: Vec::new() }
    }

    /// Sends a message; the turn that it belongs to.
    pub(super) async fn send(&self, message: &str, more: &Value) -> String {
        let mut body = json!({ "message": message });
        for (name, value) in more.as_object().expect("an object") {
            body[name] = value.clone();
        }
        let response = self.daemon.post("/v1/sessions/a/messages", &body).await;
        assert_eq!(response.status(), 202, "{:?}", response.text().await);
        let sent: Value = response.json().await.expect("JSON");
        sent["turnId"].as_str().expect("a turn").into()
    }

    /// Sends a message and waits for the end of its turn, answering whatever is asked on the way.
    pub(super) async fn turn(&mut self, message: &str, answer: Answer) -> Turn {
        let turn = self.send(message, &json!({})).await;
        self.end(&turn, answer).await
    }

    /// Waits for the end of a turn, answering whatever is asked on the way.
    pub(super) async fn end(&mut self, turn: &str, answer: Answer) -> Turn {
        let mut answered = Vec::new();
        loop {
            self.until(|records| {
                let open = open(records).into_iter().any(|(_, id)| !answered.contains(&id));
                (open && !matches!(answer, Answer::Nothing)) || ended(records, turn)
            })
            .await;
            if ended(&self.records, turn) {
                return self.told(turn);
            }
            for (kind, id) in open(&self.records) {
                if !answered.contains(&id) {
                    self.answer(kind, &id, &answer).await;
                    answered.push(id);
                }
            }
        }
    }

    async fn answer(&self, kind: &str, id: &str, answer: &Answer) {
        let (path, body) = match (kind, answer) {
            ("permissions", Answer::Permission(reply)) => {
                ("reply", json!({ "reply": reply, "author": "tester" }))
            }
            ("questions", Answer::Question(label)) => {
                ("reply", json!({ "answers": [[label]], "author": "tester" }))
            }
            ("questions", _) => ("reject", json!({})),
            (_, _) => ("reply", json!({ "reply": "reject" })),
        };
        let response = self.daemon.post(&format!("/v1/sessions/a/{kind}/{id}/{path}"), &body).await;
        assert_eq!(response.status(), 204, "{:?}", response.text().await);
    }

    /// What was told of a turn so far.
    pub(super) fn told(&self, turn: &str) -> Turn {
        let began = |record: &Value| record["event"]["turnStarted"]["turnId"] == turn;
        let from = self.records.iter().position(began).unwrap_or(self.records.len());
        let rest = &self.records[from..];
        let over = |record: &Value| record["event"]["turnEnded"]["turnId"] == turn;
        let to = rest.iter().position(over).map_or(rest.len(), |at| at + 1);
        Turn::of(&rest[..to])
    }

    /// Waits until what was told is as wanted.
    pub(super) async fn until(&mut self, wanted: impl Fn(&[Value]) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.look().await;
            if wanted(&self.records) {
                return;
            }
            assert!(Instant::now() < deadline, "it did not come: {:#?}", self.tail());
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until something outside is as wanted.
    pub(super) async fn until_fact(&mut self, wanted: impl Fn() -> bool) {
        self.until(|_| wanted()).await;
    }

    /// Reads what has come since.
    pub(super) async fn look(&mut self) {
        loop {
            let offset = self.records.last().map_or(0, |last| last["seq"].as_u64().expect("a number"));
            let page = self.daemon.get(&format!("/v1/sessions/a/events?offset={offset}")).await;
            assert_eq!(page.status(), 200, "{:?}", page.text().await);
            let page: Value = page.json().await.expect("JSON");
            let events = page["events"].as_array().expect("events");
            for (at, record) in (offset + 1..).zip(events) {
                assert_eq!(record["seq"], at, "nothing is left out");
            }
            self.records.extend(events.iter().cloned());
            if page["hasMore"] == false {
                return;
            }
        }
    }

    fn tail(&self) -> &[Value] {
        &self.records[self.records.len().saturating_sub(12)..]
    }
}

/// What is answered to whatever is asked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    /// Nobody answers.
    Nothing,
    Permission(&'static str),
    Question(&'static str),
    Reject,
}

/// What is asked and not settled.
fn open(records: &[Value]) -> Vec<(&'static str, String)> {
    let ids = |name: &str| -> Vec<String> {
        records.iter().filter_map(|record| record["event"][name]["id"].as_str()).map(str::to_owned).collect()
    };
    let still = |kind: &'static str, asked: &str, resolved: &str| {
        let resolved = ids(resolved);
        ids(asked).into_iter().filter(move |id| !resolved.contains(id)).map(move |id| (kind, id))
    };
    still("permissions", "permissionAsked", "permissionResolved")
        .chain(still("questions", "questionAsked", "questionResolved"))
        .collect()
}

/// Whether a turn has ended.
pub(super) fn ended(records: &[Value], turn: &str) -> bool {
    records.iter().any(|record| record["event"]["turnEnded"]["turnId"] == turn)
}
