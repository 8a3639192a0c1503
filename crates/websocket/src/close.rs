use std::time::Duration;

use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use tokio_tungstenite::tungstenite::{Message, protocol::CloseFrame};

use crate::{SplitReceiver, WebSocketSender};

/// How long the close handshake may take.
pub const CLOSE_WAIT_MAX: Duration = Duration::from_secs(1);

/// The longest reason that fits into a close frame (RFC 6455: 125 bytes, two of which are the code).
const REASON_BYTES_MAX: usize = 123;

/// Sends the last messages and waits until the peer has closed its side, for at most [`CLOSE_WAIT_MAX`].
///
/// The last of them is a close frame, unless the peer has sent one. The wait matters: if we close a TCP connection while
/// unread input is queued, the kernel resets it, and the peer may lose what we sent last.
pub async fn close<S: AsyncRead + AsyncWrite + Unpin>(
    mut sender: WebSocketSender<S>,
    mut receiver: SplitReceiver<S>,
    last_messages: impl IntoIterator<Item = Message>,
) {
    let handshake = async {
        let _ = sender.send_all(last_messages).await;
        receiver.drain().await;
    };
    let _ = timeout(CLOSE_WAIT_MAX, handshake).await;
}

/// A close frame, with as much of the reason as fits.
pub fn close_frame(code: u16, reason: &str) -> CloseFrame {
    let reason = &reason[..reason.floor_char_boundary(REASON_BYTES_MAX)];
    CloseFrame { code: code.into(), reason: reason.into() }
}
