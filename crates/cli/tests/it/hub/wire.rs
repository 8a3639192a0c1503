//! A wire between the hub and a daemon, that can be cut.

use std::sync::Arc;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

/// A wire; what goes through it comes out at a daemon.
pub(super) struct Wire {
    pub(super) base: String,
    state: Arc<watch::Sender<State>>,
    _tasks: JoinSet<()>,
}

#[derive(Clone)]
struct State {
    target: String,
    cuts: u32,
    down: bool,
}

impl Wire {
    pub(super) async fn to(base: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let state = State { target: base.strip_prefix("http://").unwrap().into(), cuts: 0, down: false };
        let state = Arc::new(watch::Sender::new(state));
        let address = listener.local_addr().unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(carry(listener, Arc::clone(&state)));
        Self { base: format!("http://{address}"), state, _tasks: tasks }
    }

    /// Ends everything that goes through it now.
    pub(super) fn cut(&self) {
        self.state.send_modify(|state| state.cuts += 1);
    }

    /// Ends everything that goes through it, and lets nothing in while it is down.
    pub(super) fn set_down(&self, down: bool) {
        self.state.send_modify(|state| (state.down, state.cuts) = (down, state.cuts + 1));
    }

    /// Leads elsewhere from now on.
    pub(super) fn lead_to(&self, base: &str) {
        let target = base.strip_prefix("http://").unwrap();
        self.state.send_modify(|state| (state.target, state.cuts) = (target.into(), state.cuts + 1));
    }
}

async fn carry(listener: TcpListener, state: Arc<watch::Sender<State>>) {
    let mut connections = JoinSet::new();
    while let Ok((mut near, _)) = listener.accept().await {
        let mut watched = state.subscribe();
        let State { target, cuts, down } = watched.borrow_and_update().clone();
        if down {
            continue;
        }
        connections.spawn(async move {
            let Ok(mut far) = TcpStream::connect(target).await else { return };
            tokio::select! {
                _ = copy_bidirectional(&mut near, &mut far) => {}
                _ = watched.wait_for(|state| state.cuts != cuts) => {}
            }
        });
    }
}
