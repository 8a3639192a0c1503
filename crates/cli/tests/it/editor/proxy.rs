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
    /// In the middle of an answer or of a stream.
    pub(super) in_an_answer: AtomicU64,
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

/// When a connection is cut.
#[derive(Debug, Clone, Copy)]
enum Plan {
    Never,
    /// After so many bytes to the daemon.
    Request(usize),
    /// Instead of an answer, after so many that came through.
    Answer(usize),
    /// After so many bytes from the daemon.
    Stream(usize),
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
            continue;
        }
        number += 1;
        let plan = if cutting.load(Ordering::Relaxed) { plan(number) } else { Plan::Never };
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
    match number % 3 {
        0 => Plan::Answer(random(4)),
        1 => Plan::Request(random(6000)),
        _ => Plan::Stream(random(20_000)),
    }
}

/// Carries bytes both ways until one side ends or the plan says so; then both sides are dropped at once.
async fn carry(mut client: TcpStream, mut server: TcpStream, mut plan: Plan, cuts: &Cuts) {
    let (mut from_client, mut from_server) = (vec![0; 16 << 10], vec![0; 16 << 10]);
    // Whether the last that passed went to the daemon: then what comes next is the start of an answer.
    let mut asked = false;
    loop {
        tokio::select! {
            read = client.read(&mut from_client) => {
                let Ok(count @ 1..) = read else { return };
                let passed = if let Plan::Request(left) = plan { count.min(left) } else { count };
                if server.write_all(&from_client[..passed]).await.is_err() {
                    return;
                }
                if passed < count {
                    cuts.in_a_request.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                asked = true;
                if let Plan::Request(left) = &mut plan {
                    *left -= passed;
                }
            }
            read = server.read(&mut from_server) => {
                let Ok(count @ 1..) = read else { return };
                if let Plan::Answer(left) = &mut plan && asked {
                    if *left == 0 {
                        cuts.before_the_answer.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                    *left -= 1;
                }
                asked = false;
                let passed = if let Plan::Stream(left) = plan { count.min(left) } else { count };
                if client.write_all(&from_server[..passed]).await.is_err() {
                    return;
                }
                if passed < count {
                    cuts.in_an_answer.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                if let Plan::Stream(left) = &mut plan {
                    *left -= passed;
                }
            }
        }
    }
}
