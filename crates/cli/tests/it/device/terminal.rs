//! A device on a terminal, which is one of a daemon's, and what its owner sees and types there.

use testkit::TestDaemon;

use super::{hub::Connected, *};
use crate::terminal_process::TerminalProcess;

/// What the owner can type if nothing is remembered, and if something is.
pub(super) const ONCE: &str = "allow [o]nce, [d]eny > ";
pub(super) const ALWAYS: &str = "allow [o]nce, allow [a]lways, [d]eny > ";

/// A device on a terminal.
pub(super) struct Terminal {
    pub(super) place: Place,
    pub(super) screen: TerminalProcess,
}

impl Terminal {
    /// Lends two directories to this hub, and what else these arguments say.
    pub(super) async fn open(hub: &mut StandIn, more: &[&str]) -> (Self, Connected) {
        let (daemon, place) = (TestDaemon::start(TOMBOLO), Place::new());
        std::fs::create_dir(place.path("other")).unwrap();
        let path = |below: &str| place.path(below).to_str().unwrap().to_owned();
        let roots =
            [("main", "code"), ("other", "other")].map(|(id, below)| format!("{id}={}:rw", path(below)));
        let (token, data) = (path("token"), path("data"));
        let args = [
            "device",
            "connect",
            hub.base(),
            "--client-id",
            "laptop",
            "--root",
            &roots[0],
            "--root",
            &roots[1],
            "--token-file",
            &token,
            "--data-dir",
            &data,
        ];
        let args = [&args, more].concat();
        let mut screen = TerminalProcess::start(daemon, &args).await;
        let connected = hub.next().await;
        screen.sees("● laptop connected · idle").await;
        (Self { place, screen }, connected)
    }

    /// Waits until the owner can answer like this, and types their answer.
    pub(super) async fn answers(&mut self, prompt: &str, line: &str) {
        self.screen.sees(prompt).await;
        self.screen.type_line(line).await;
    }

    pub(super) fn written(&self, name: &str) -> bool {
        self.place.path("code").join(name).exists()
    }
}
