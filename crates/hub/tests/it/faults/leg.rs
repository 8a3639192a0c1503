//! A wire between two who speak TCP, on which everything goes wrong that can.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::JoinSet,
    time::sleep,
};

/// How much comes byte by byte; then it is enough to come in small pieces.
const DRIBBLE_BYTES: usize = 512;

/// What is wrong with the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fault {
    /// Everything that goes through it now is cut.
    Cut,
    /// What goes through it now gets lost, and nobody is told.
    HalfOpen,
    /// Nobody is let in.
    Down,
    /// The next connection is made only after so long: later ones overtake it.
    Late(Duration),
    /// The next connection delivers byte by byte.
    Dribble,
}

#[derive(Debug, Clone, Copy)]
struct State {
    target: SocketAddr,
    cuts: u32,
    /// Connections before this one are half-open.
    deaf_before: usize,
    down: bool,
}

/// A wire.
pub(super) struct Leg {
    pub(super) address: SocketAddr,
    state: watch::Sender<State>,
    /// What the next connections are like.
    next: Mutex<Vec<Fault>>,
    opened: AtomicUsize,
    /// How many connections there are.
    pub(super) open: AtomicUsize,
}

impl Leg {
    /// A wire to `target`; what carries it ends with the set.
    pub(super) async fn new(target: SocketAddr, tasks: &mut JoinSet<()>) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let leg = Arc::new(Self {
            address: listener.local_addr().unwrap(),
            state: watch::Sender::new(State { target, cuts: 0, deaf_before: 0, down: false }),
            next: Mutex::default(),
            opened: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        });
        tasks.spawn(carry(listener, Arc::clone(&leg)));
        leg
    }

    pub(super) fn suffer(&self, fault: Fault) {
        let opened = self.opened.load(Ordering::SeqCst);
        match fault {
            Fault::Cut => self.state.send_modify(|state| state.cuts += 1),
            Fault::HalfOpen => self.state.send_modify(|state| state.deaf_before = opened),
            Fault::Down => self.state.send_modify(|state| (state.down, state.cuts) = (true, state.cuts + 1)),
            Fault::Late(_) | Fault::Dribble => self.next.lock().push(fault),
        }
    }

    /// All is well for those who come from now on.
    pub(super) fn heal(&self) {
        self.next.lock().clear();
        self.state.send_modify(|state| state.down = false);
    }

    fn is_deaf(&self, number: usize) -> bool {
        number < self.state.borrow().deaf_before
    }

    /// Leads elsewhere from now on; what leads to the old place is cut.
    pub(super) fn lead_to(&self, target: SocketAddr) {
        self.state.send_modify(|state| (state.target, state.cuts) = (target, state.cuts + 1));
    }
}

/// Counts a connection until it is dropped.
struct Open(Arc<Leg>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn carry(listener: TcpListener, leg: Arc<Leg>) {
    let mut connections = JoinSet::new();
    loop {
        let (near, _) = tokio::select! {
            accepted = listener.accept() => accepted.unwrap(),
            Some(_) = connections.join_next() => continue,
        };
        if leg.state.borrow().down {
            continue;
        }
        leg.open.fetch_add(1, Ordering::SeqCst);
        let number = leg.opened.fetch_add(1, Ordering::SeqCst);
        let fault = leg.next.lock().pop();
        connections.spawn(connection(near, number, fault, Open(Arc::clone(&leg))));
    }
}

async fn connection(near: TcpStream, number: usize, fault: Option<Fault>, open: Open) {
    let mut state = open.0.state.subscribe();
    let cuts = state.borrow_and_update().cuts;
    let carried = async {
        if let Some(Fault::Late(long)) = fault {
            sleep(long).await;
        }
        let target = open.0.state.borrow().target;
        let Ok(far) = TcpStream::connect(target).await else { return };
        for socket in [&near, &far] {
            socket.set_nodelay(true).unwrap();
        }
        let dribble = fault == Some(Fault::Dribble);
        let (mut near_read, mut near_write) = near.into_split();
        let (mut far_read, mut far_write) = far.into_split();
        let mut there = std::pin::pin!(pass(&mut near_read, &mut far_write, number, dribble, &open.0));
        let mut back = std::pin::pin!(pass(&mut far_read, &mut near_write, number, dribble, &open.0));
        // That one side has gone is not told to the other if the connection is half-open.
        tokio::select! {
            () = &mut there => if open.0.is_deaf(number) { back.await },
            () = &mut back => if open.0.is_deaf(number) { there.await },
        }
    };
    tokio::select! {
        () = carried => {}
        _ = state.wait_for(|state| state.cuts != cuts) => {}
    }
}

/// Passes on what comes, until it ends. A half-open connection takes everything and passes nothing on.
async fn pass(from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf, number: usize, dribble: bool, leg: &Leg) {
    let mut buffer = [0; 4096];
    let mut passed = 0;
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        for piece in buffer[..count].chunks(match dribble {
            false => count,
            true if passed < DRIBBLE_BYTES => 1,
            true => 64,
        }) {
            if !leg.is_deaf(number) && to.write_all(piece).await.is_err() {
                return;
            }
            passed += piece.len();
            if dribble {
                tokio::task::yield_now().await;
            }
        }
    }
}
