//! A connection within one process.

use std::task::{Context, Poll, ready};

use protocol::relay::Packet;
use tokio::sync::mpsc;
use tokio_util::sync::PollSender;

use crate::{CloseCode, Lost, Transport, limits::PIPE_MESSAGES_MAX};

/// Both ends of a connection within one process.
pub fn pair() -> (Pipe, Pipe) {
    let (here, from_here) = mpsc::channel(PIPE_MESSAGES_MAX);
    let (there, from_there) = mpsc::channel(PIPE_MESSAGES_MAX);
    (Pipe::new(here, from_there), Pipe::new(there, from_here))
}

/// One end of a connection within one process.
#[derive(Debug)]
pub struct Pipe {
    sender: PollSender<Message>,
    receiver: mpsc::Receiver<Message>,
}

#[derive(Debug)]
enum Message {
    Said(Packet),
    Close { code: u16, reason: String },
}

impl Pipe {
    fn new(sender: mpsc::Sender<Message>, receiver: mpsc::Receiver<Message>) -> Self {
        Self { sender: PollSender::new(sender), receiver }
    }
}

impl Transport for Pipe {
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<Packet, Lost>> {
        Poll::Ready(match ready!(self.receiver.poll_recv(context)) {
            Some(Message::Said(packet)) => Ok(packet),
            Some(Message::Close { code, reason }) => Err(Lost::Closed { code, reason }),
            None => Err(Lost::Gone),
        })
    }

    fn carries_bytes(&self) -> bool {
        true
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        self.sender.poll_reserve(context).map_err(|_| Lost::Gone)
    }

    fn send(&mut self, packet: Packet) -> Result<(), Lost> {
        self.sender.send_item(Message::Said(packet)).map_err(|_| Lost::Gone)
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        Poll::Ready(Ok(()))
    }

    fn close(&mut self, code: CloseCode, reason: String) {
        let close = Message::Close { code: code.number(), reason };
        // The peer may have disconnected.
        let _ = self.sender.send_item(close);
    }
}
