//! Whatever happens in whatever order, every request has exactly one outcome.

use std::{
    collections::HashMap,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::StreamExt;
use parking_lot::Mutex;
use proptest::prelude::*;
use protocol::relay::{Frame, Packet, RawJson};
use relay::{Ask, Call, CloseCode, Limits, Lost, Part, Pipe, Transport, pair};

use crate::support::{connect_over, holds_nothing};

#[derive(Debug, Clone)]
enum Step {
    Ask { server: bool, method: &'static str, number: usize, timeout_ms: u64 },
    Drop(usize),
    Read(usize, usize),
    Wait(u64),
    Kill { server: bool },
}

fn step() -> impl Strategy<Value = Step> {
    let methods = prop::sample::select(vec!["echo", "fail", "panic", "wait", "ignore", "count", "flood"]);
    let number = prop_oneof![0..30_usize, Just(200)];
    let timeout = prop_oneof![3 => Just(100_000), 1 => 0..50_u64];
    prop_oneof![
        12 => (any::<bool>(), methods, number, timeout)
            .prop_map(|(server, method, number, timeout_ms)| Step::Ask { server, method, number, timeout_ms }),
        4 => any::<usize>().prop_map(Step::Drop),
        4 => (any::<usize>(), 1..20_usize).prop_map(|(call, parts)| Step::Read(call, parts)),
        3 => (0..100_u64).prop_map(Step::Wait),
        1 => any::<bool>().prop_map(|server| Step::Kill { server }),
    ]
}

/// What was said in one direction.
type Said = Arc<Mutex<Vec<Frame>>>;

/// Notes what is said over a connection.
struct Tap {
    pipe: Pipe,
    said: Said,
}

impl Transport for Tap {
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<Packet, Lost>> {
        self.pipe.poll_receive(context)
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        self.pipe.poll_ready(context)
    }

    fn carries_bytes(&self) -> bool {
        self.pipe.carries_bytes()
    }

    fn send(&mut self, packet: Packet) -> Result<(), Lost> {
        let Packet::Text(text) = &packet else { panic!("nobody reads a file here") };
        self.said.lock().push(Frame::read(text).unwrap());
        self.pipe.send(packet)
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        self.pipe.poll_flush(context)
    }

    fn close(&mut self, code: CloseCode, reason: String) {
        self.pipe.close(code, reason);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// relay-35, relay-45, relay-46, relay-31: exactly one outcome each, on the wire and for who asks; streams in order and never after it.
    #[test]
    fn every_request_has_exactly_one_outcome(steps in prop::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(history(steps));
    }
}

async fn history(steps: Vec<Step>) {
    let limits = Limits {
        window_bytes: 1000,
        unsent_bytes_max: 500,
        requests_max: 8,
        calls_max: 12,
        ..Limits::default()
    };
    let (here, there) = pair();
    let (by_server, by_device) = (Said::default(), Said::default());
    let here = Tap { pipe: here, said: by_server.clone() };
    let there = Tap { pipe: there, said: by_device.clone() };
    let mut both = connect_over(here, there, &limits).await;
    let mut calls: Vec<Option<Call>> = Vec::new();
    let mut killed = false;
    for step in steps {
        match step {
            Step::Ask { server, method, number, timeout_ms } => {
                let peer = if server { &both.server } else { &both.device };
                let number = if method == "flood" { number * 4000 } else { number };
                let ask =
                    Ask::new(method, RawJson::from_value(&number)).within(Duration::from_millis(timeout_ms));
                calls.push(Some(peer.request(ask).await));
            }
            Step::Drop(at) if !calls.is_empty() => {
                let at = at % calls.len();
                calls[at] = None;
            }
            Step::Read(at, parts) if !calls.is_empty() => {
                let at = at % calls.len();
                for _ in 0..parts {
                    let Some(call) = &mut calls[at] else { break };
                    match tokio::time::timeout(Duration::from_millis(5), call.next()).await {
                        Ok(Some(Part::Outcome(_))) => {
                            assert_eq!(call.next().await, None);
                            calls[at] = None;
                        }
                        Ok(None) => panic!("a call without an outcome"),
                        Ok(Some(Part::Stream(_))) | Err(_) => {}
                    }
                }
            }
            Step::Wait(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
            Step::Kill { server } => {
                if server {
                    both.driving.server.abort()
                } else {
                    both.driving.device.abort()
                }
                killed = true;
            }
            Step::Drop(_) | Step::Read(..) => {}
        }
    }
    for call in calls.into_iter().flatten() {
        let parts: Vec<_> = call.collect().await;
        let outcomes = parts.iter().filter(|part| matches!(part, Part::Outcome(_))).count();
        assert_eq!(outcomes, 1);
        assert!(matches!(parts.last(), Some(Part::Outcome(_))));
    }
    holds_nothing(&both.server).await;
    holds_nothing(&both.device).await;
    if killed {
        while both.driving.tasks.join_next().await.is_some() {}
    }
    both.at_server.works_on(0).await;
    both.at_device.works_on(0).await;
    assert!(killed || both.driving.tasks.try_join_next().is_none(), "nobody broke a rule");
    is_in_order(&by_server.lock(), &by_device.lock(), killed);
    is_in_order(&by_device.lock(), &by_server.lock(), killed);
}

/// Requests of one side and what the other said to them: one response each, nothing after it.
fn is_in_order(asks: &[Frame], answers: &[Frame], killed: bool) {
    let mut asked: HashMap<&str, (u64, bool)> = HashMap::new();
    for frame in asks {
        if let Frame::Request(request) = frame {
            assert!(asked.insert(&request.id, (0, false)).is_none(), "an id is used again");
        }
    }
    for frame in answers {
        match frame {
            Frame::Stream(stream) => {
                let (seq, ended) = asked.get_mut(stream.id.as_str()).unwrap();
                assert_eq!((stream.seq, *ended), (Some(*seq), false));
                *seq += 1;
            }
            Frame::Response(response) => {
                let (_, ended) = asked.get_mut(response.id.as_str()).unwrap();
                assert!(!std::mem::replace(ended, true), "a second response");
            }
            _ => {}
        }
    }
    assert!(killed || asked.values().all(|(_, ended)| *ended), "a request without a response");
}
