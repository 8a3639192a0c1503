//! A network between a device and its hub that can be cut, and that leads to the hub wherever it is.

use std::net::SocketAddr;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

/// The network. It ends with its value.
pub(super) struct Network {
    address: SocketAddr,
    open: watch::Sender<bool>,
    hub: watch::Sender<String>,
    _task: JoinSet<()>,
}

impl Network {
    pub(super) async fn start(hub: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (open, gate) = watch::channel(true);
        let (hub, target) = watch::channel(bare(hub));
        let mut task = JoinSet::new();
        task.spawn(accept(listener, target, gate));
        Self { address, open, hub, _task: task }
    }

    pub(super) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Drops everything that is connected, and whoever connects, until it is opened again.
    pub(super) fn open(&self, open: bool) {
        self.open.send_replace(open);
    }

    /// The hub is somewhere else now.
    pub(super) fn leads_to(&self, hub: &str) {
        self.hub.send_replace(bare(hub));
    }
}

fn bare(endpoint: &str) -> String {
    endpoint.trim_start_matches("http://").to_owned()
}

async fn accept(listener: TcpListener, target: watch::Receiver<String>, gate: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        let (mut device, _) = listener.accept().await.unwrap();
        while connections.try_join_next().is_some() {}
        let (hub, mut gate) = (target.borrow().clone(), gate.clone());
        connections.spawn(async move {
            if !*gate.borrow() {
                return;
            }
            let Ok(mut hub) = TcpStream::connect(hub).await else { return };
            tokio::select! {
                _ = copy_bidirectional(&mut device, &mut hub) => {}
                _ = gate.wait_for(|open| !open) => {}
            }
        });
    }
}
