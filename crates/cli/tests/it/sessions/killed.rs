//! sessions-13, under load: the daemon is killed a hundred times, and no reader was ever told what is not so.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    time::Duration,
};

use futures_util::future::join_all;

use super::*;

const KILLS: u64 = 100;

const SESSIONS: [&str; 4] = ["s0", "s1", "s2", "s3"];

/// Another one gives other moments.
const SEED: u64 = 13;

/// How many events are seen between two kills at most, by all readers together, …
const EVENTS_MAX: u64 = 600;

/// … and how long after that the daemon is killed, at most.
const MICROS_MAX: u64 = 3_000;

/// How far behind what was seen last the second reader of a session begins.
const BACK: u64 = 50;

/// A turn that is longer than the daemon lives.
const SPEECH: &str = "/drip 100000 1";

/// What readers of one session have ever been told, by its number.
#[derive(Default)]
struct Seen(RefCell<BTreeMap<u64, String>>);

impl Seen {
    fn newest(&self) -> u64 {
        self.0.borrow().last_key_value().map_or(0, |(seq, _)| *seq)
    }

    /// What was seen once is the same for ever.
    #[track_caller]
    fn see(&self, seq: u64, record: String) {
        let mut seen = self.0.borrow_mut();
        match seen.get(&seq) {
            Some(before) => assert_eq!(*before, record, "event {seq} is another one"),
            None => _ = seen.insert(seq, record),
        }
    }
}

/// Follows a session for as long as the daemon lives.
async fn follow(daemon: &TestDaemon, id: &str, offset: u64, seen: &Seen, count: &Cell<u64>) {
    let request = daemon.request(Method::GET, &path(id, &format!("/events/sse?offset={offset}")));
    let Ok(response) = request.send().await else { return };
    let (mut events, mut last) = (EventStream::new(response), offset);
    while let Some(event) = events.next().await {
        assert_eq!((event.event.as_str(), event.id), ("message", Some(last + 1)), "{event:?}");
        last += 1;
        seen.see(last, event.data);
        count.set(count.get() + 1);
    }
}

/// Lets the agent of a session speak, unless it does.
async fn speak(daemon: &TestDaemon, id: &str) {
    let message = json!({ "message": SPEECH, "whenBusy": "reject" });
    // The daemon may be killed before it answers.
    if let Ok(answer) = daemon.request(Method::POST, &path(id, "/messages")).json(&message).send().await {
        assert!(matches!(answer.status().as_u16(), 202 | 409), "{answer:?}");
    }
}

/// sessions-13: "`kill -9` of the daemon at any moment: after restart every event any client saw is there, in order, the
/// session list is there, running turns are marked interrupted, the next message resumes the agent's own session".
#[tokio::test]
async fn a_hundred_kills_under_load_lose_nothing_that_was_seen() {
    let mut daemon = TestDaemon::start(TOMBOLO);
    let seen: Vec<Seen> = SESSIONS.iter().map(|_| Seen::default()).collect();
    for id in SESSIONS {
        create(&daemon, id).await;
        turn(&daemon, id, &format!("/remember the name {id}")).await;
    }
    let mut chance = fastrand::Rng::with_seed(SEED);
    for _ in 0..KILLS {
        let (events, moment) = (chance.u64(..EVENTS_MAX), Duration::from_micros(chance.u64(..MICROS_MAX)));
        let count = Cell::new(0);
        let sessions = SESSIONS.iter().zip(&seen).map(|(id, seen)| {
            let (daemon, count, newest) = (&daemon, &count, seen.newest());
            async move {
                tokio::join!(
                    follow(daemon, id, newest, seen, count),
                    follow(daemon, id, newest.saturating_sub(BACK), seen, count),
                    speak(daemon, id),
                )
            }
        });
        let kill = async {
            within(secs(30), async {
                while count.get() < events {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            })
            .await;
            tokio::time::sleep(moment).await;
            daemon.signal("KILL");
        };
        within(secs(60), async { tokio::join!(join_all(sessions), kill) }).await;
        daemon.kill_and_restart();
    }
    for (id, seen) in SESSIONS.iter().zip(&seen) {
        check(&daemon, id, seen).await;
    }
    assert_eq!(get(&daemon, "/v1/sessions").await["items"].as_array().unwrap().len(), SESSIONS.len());
}

/// Ends what the session still does: what was taken just before the last kill has its turn after it.
async fn calm(daemon: &TestDaemon, id: &str) {
    within(secs(30), async {
        loop {
            let session = get(daemon, &path(id, "")).await;
            if session["turnId"].is_null() && session["queuedInputs"] == 0 {
                return;
            }
            daemon.post_text(&path(id, "/cancel"), "").await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

/// Everything that was seen is in the session, which has no holes and goes on.
async fn check(daemon: &TestDaemon, id: &str, seen: &Seen) {
    calm(daemon, id).await;
    let records = turn(daemon, id, "/recall").await;
    assert_eq!((said(&records), ended(&records)), (format!("recalled: the name {id}"), "completed"));
    let newest = records.last().unwrap()["seq"].as_u64().unwrap();
    let mut followed = EventStream::new(daemon.get(&path(id, "/events/sse")).await);
    let mut history = Vec::new();
    for seq in 1..=newest {
        let event = within(secs(30), followed.next()).await.unwrap();
        assert_eq!(event.id, Some(seq));
        history.push(serde_json::from_str(&event.data).unwrap());
        seen.see(seq, event.data);
    }
    assert_eq!(seen.newest(), newest, "somebody saw more than there is");
    assert!(of(&history, "started")[1..].iter().all(|started| started["resumed"] == true));
    // The first turn and the last were left in peace; of the others all were interrupted, and most kills met one.
    let ends = of(&history, "turnEnded");
    let interrupted = ends.iter().filter(|ended| ended["reason"] == "interrupted").count() as u64;
    assert_eq!(interrupted + 2, of(&history, "turnStarted").len() as u64);
    assert!(interrupted > KILLS / 2, "only {interrupted} of {KILLS} kills met a turn");
}
