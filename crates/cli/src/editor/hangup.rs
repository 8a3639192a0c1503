//! Notices that the editor is gone, also while nothing is read from it or said to it.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

/// How long what the editor said last may take to be delivered after it has closed our input.
const DELIVER_MAX: Duration = Duration::from_secs(10);

/// What the editor has closed.
enum Closed {
    Input,
    Output,
    /// It cannot be known; the streams themselves will tell.
    Unknown,
}

/// Waits until the editor has left, and had its time to be heard.
pub(super) async fn editor_left() {
    match tokio::task::spawn_blocking(wait).await {
        Ok(Closed::Output) => {}
        // The end of the input is found by whoever reads it, unless the network is down and the queue full.
        Ok(Closed::Input) => tokio::time::sleep(DELIVER_MAX).await,
        Ok(Closed::Unknown) | Err(_) => std::future::pending().await,
    }
}

/// Waits for the other end of a pipe or socket to be closed; what is no such thing is never closed.
fn wait() -> Closed {
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    loop {
        let mut streams = [PollFd::new(&stdin, PollFlags::empty()), PollFd::new(&stdout, PollFlags::empty())];
        match poll(&mut streams, None) {
            Ok(_) if !streams[1].revents().is_empty() => return Closed::Output,
            Ok(_) if !streams[0].revents().is_empty() => return Closed::Input,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Closed::Unknown,
        }
    }
}
