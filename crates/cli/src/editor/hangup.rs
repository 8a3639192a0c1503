//! Notices that the editor has gone, even while nothing is read from it or written to it.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

/// How long the editor's last messages may take to be delivered after it has closed its output.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);

/// Which standard stream the editor has closed.
enum ClosedStream {
    Stdin,
    Stdout,
    /// Polling failed. Reading and writing will notice the end by themselves.
    Unknown,
}

/// Waits until the editor has left and its last messages have had time to be delivered.
pub(super) async fn editor_left() {
    match tokio::task::spawn_blocking(wait_for_hangup).await {
        Ok(ClosedStream::Stdout) => {}
        // Normally the reader reaches the end of the input and ends the bridge. But while the network is down and the queue is
        // full, the reader does not read.
        Ok(ClosedStream::Stdin) => tokio::time::sleep(DELIVERY_TIMEOUT).await,
        Ok(ClosedStream::Unknown) | Err(_) => std::future::pending().await,
    }
}

/// Waits until the other end of a pipe or socket is closed. Other kinds of files never report a hangup. `poll` without requested
/// events returns only on POLLHUP and POLLERR, so data that waits to be read does not wake it.
fn wait_for_hangup() -> ClosedStream {
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    loop {
        let mut streams = [PollFd::new(&stdin, PollFlags::empty()), PollFd::new(&stdout, PollFlags::empty())];
        match poll(&mut streams, None) {
            Ok(_) if !streams[1].revents().is_empty() => return ClosedStream::Stdout,
            Ok(_) if !streams[0].revents().is_empty() => return ClosedStream::Stdin,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return ClosedStream::Unknown,
        }
    }
}
