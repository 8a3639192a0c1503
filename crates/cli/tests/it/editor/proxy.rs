//! A network that drops: a proxy that cuts connections again and again, where it hurts.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

/// What became of the connections so far.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    /// In the middle of a request: the daemon has a part of it.
    pub(super) in_a_request: AtomicU64,
    /// After the daemon had answered and before the client was told: the message is delivered, and nobody knows.
    pub(super) before_the_answer: AtomicU64,
    /// In the middle of an answer.
    pub(super) in_an_answer: AtomicU64,
    /// In the middle of a stream.
    pub(super) in_a_stream: AtomicU64,
    /// Before anything passed, while nothing gets through.
    pub(super) refused: AtomicU64,
}

/// The proxy. It ends with its value.
pub(super) struct Proxy {
    address: SocketAddr,
    pub(super) cuts: Arc<Cuts>,
    /// Whether connections are cut at all.
    cutting: Arc<AtomicBool>,
    /// Whether anything gets through.
    open: watch::Sender<bool>,
    _task: JoinSet<()>,
}

/// What still passes before the connection is cut.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// Bytes to the daemon.
    up: usize,
    /// Answers of the daemon; the next one is withheld.
    answers: usize,
    /// Bytes from the daemon.
    down: usize,
}

impl Plan {
    const NEVER: Self = Self { up: usize::MAX, answers: usize::MAX, down: usize::MAX };
}

impl Proxy {
    pub(super) async fn start(daemon: &str) -> Self {
        let daemon = daemon.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (cuts, cutting) = (Arc::<Cuts>::default(), Arc::<AtomicBool>::default());
        let (open, gate) = watch::channel(true);
        let mut task = JoinSet::new();
        task.spawn(accept(listener, daemon, cuts.clone(), cutting.clone(), gate));
        Self { address, cuts, cutting, open, _task: task }
    }

    pub(super) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Cuts every connection from now on, sooner or later.
    pub(super) fn cut(&self, cutting: bool) {
        self.cutting.store(cutting, Ordering::Relaxed);
    }

    /// Drops everything that is connected, and whoever connects, until it is opened again.
    pub(super) fn open(&self, open: bool) {
        self.open.send_replace(open);
    }
}

/// Carries every connection, as its plan says.
async fn accept(
    listener: TcpListener,
    daemon: String,
    cuts: Arc<Cuts>,
    cutting: Arc<AtomicBool>,
    gate: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    let mut number = 0u64;
    loop {
        let (client, _) = listener.accept().await.unwrap();
        while connections.try_join_next().is_some() {}
        if !*gate.borrow() {
            cuts.refused.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        number += 1;
        let plan = if cutting.load(Ordering::Relaxed) { plan(number) } else { Plan::NEVER };
        let (daemon, cuts, mut gate) = (daemon.clone(), cuts.clone(), gate.clone());
        connections.spawn(async move {
            let server = TcpStream::connect(daemon).await.unwrap();
            tokio::select! {
                () = carry(client, server, plan, &cuts) => {}
                _ = gate.wait_for(|open| !open) => {}
            }
        });
    }
}

/// Different for each connection, the same in each run.
fn plan(number: u64) -> Plan {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut random = |max: u64| {
        state ^= state >> 29;
        state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 32;
        (state % max) as usize
    };
    // Streams are few and long, so that every connection has this limit.
    let plan = Plan { down: random(10_000), ..Plan::NEVER };
    match number % 3 {
        0 => Plan { answers: random(4), ..plan },
        1 => Plan { up: random(6000), ..plan },
        _ => plan,
    }
}

/// Carries bytes both ways until one side ends or the plan says so; then both sides are dropped at once.
async fn carry(mut client: TcpStream, mut server: TcpStream, mut plan: Plan, cuts: &Cuts) {
    let (mut from_client, mut from_server) = (vec![0; 16 << 10], vec![0; 16 << 10]);
    // Whether the last that passed went to the daemon: then what comes next is the start of an answer.
    let mut asked = false;
    let mut streams = false;
    loop {
        tokio::select! {
            read = client.read(&mut from_client) => {
                let Ok(count @ 1..) = read else { return };
                let passed = count.min(plan.up);
                if server.write_all(&from_client[..passed]).await.is_err() {
                    return;
                }
                if passed < count {
                    cuts.in_a_request.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                asked = true;
                plan.up -= passed;
            }
            read = server.read(&mut from_server) => {
                let Ok(count @ 1..) = read else { return };
                if asked {
                    if plan.answers == 0 {
                        cuts.before_the_answer.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                    plan.answers -= 1;
                    let head = String::from_utf8_lossy(&from_server[..count]);
                    streams = head.contains("text/event-stream");
                }
                asked = false;
                let passed = count.min(plan.down);
                if client.write_all(&from_server[..passed]).await.is_err() {
                    return;
                }
                if passed < count {
                    let cut = if streams { &cuts.in_a_stream } else { &cuts.in_an_answer };
                    cut.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                plan.down -= passed;
            }
        }
    }
}
