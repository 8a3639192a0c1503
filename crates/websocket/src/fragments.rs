use std::{iter, mem};

use bytes::Bytes;
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::frame::{
        Frame,
        coding::{Data, OpCode},
    },
};

/// How much of a message is sent in one frame. A connection keeps a buffer of the size of the largest frame that it ever
/// wrote, so frames are small.
pub const FRAME_BYTES_MAX: usize = 16 << 10;

/// The frames of a message: the message itself, or if it is large several frames that the peer joins. The bytes are shared,
/// not copied.
pub fn fragments(message: Message) -> impl Iterator<Item = Message> {
    let (mut whole, mut kind, mut rest) = match message {
        Message::Text(text) if text.len() > FRAME_BYTES_MAX => (None, Data::Text, text.into()),
        Message::Binary(bytes) if bytes.len() > FRAME_BYTES_MAX => (None, Data::Binary, bytes),
        small => (Some(small), Data::Continue, Bytes::new()),
    };
    iter::from_fn(move || {
        if rest.is_empty() {
            return whole.take();
        }
        let piece = rest.split_to(rest.len().min(FRAME_BYTES_MAX));
        let kind = mem::replace(&mut kind, Data::Continue);
        Some(Message::Frame(Frame::message(piece, OpCode::Data(kind), rest.is_empty())))
    })
}

#[cfg(test)]
mod tests {
    use futures_util::{SinkExt, StreamExt};
    use tokio_tungstenite::{WebSocketStream, tungstenite::protocol::Role};

    use super::*;

    #[tokio::test]
    async fn a_large_message_is_sent_in_small_frames_and_received_whole() {
        let (near, far) = tokio::io::duplex(FRAME_BYTES_MAX / 2);
        let mut server = WebSocketStream::from_raw_socket(near, Role::Server, None).await;
        let mut client = WebSocketStream::from_raw_socket(far, Role::Client, None).await;
        for bytes in [0, 1, FRAME_BYTES_MAX, FRAME_BYTES_MAX + 1, 5 * FRAME_BYTES_MAX, 100_001] {
            // Characters of three bytes, so that frames end within them.
            let text = Message::text("€".repeat(bytes.div_ceil(3)));
            for message in [text, Message::binary(vec![7; bytes])] {
                let frames: Vec<_> = fragments(message.clone()).collect();
                assert_eq!(frames.len(), message.len().div_ceil(FRAME_BYTES_MAX).max(1));
                assert!(frames.iter().all(|frame| frame.len() <= FRAME_BYTES_MAX + 16));
                let send = async {
                    for frame in frames {
                        server.send(frame).await.unwrap();
                    }
                };
                let ((), got) = tokio::join!(send, client.next());
                assert_eq!(got.unwrap().unwrap(), message);
            }
        }
    }
}
