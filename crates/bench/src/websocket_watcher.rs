//! Many WebSocket clients on one thread. They count the pieces of text that they receive and compute the age of each.

use std::{
    io,
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use memchr::memmem;
use rustix::{buffer::spare_capacity, event::epoll, time::Timespec};
use tokio_tungstenite::tungstenite::{
    self, Message, WebSocket, client::IntoClientRequest, protocol::WebSocketConfig,
};

use super::{clock, piece_stamp::PieceStamp};

/// Marks a frame that holds one piece. The frame with the complete message at the end of a turn repeats all pieces
/// and must not be counted.
const PIECE: &[u8] = b"{\"messageDelta\":";

/// The size of the read buffer of a WebSocket. The library fills it with zeros before every read, so a larger buffer
/// would cost the load generator more CPU time than it saves.
const READ_BYTES: usize = 4 << 10;

/// Pieces that are missing after this time without any new piece count as lost.
const STALL: Duration = Duration::from_secs(3);

/// The longest time until a server opens the stream and sends its first frame.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// One WebSocket client.
pub(crate) struct WebSocketWatcher {
    socket: WebSocket<TcpStream>,
    /// The lowest number that the next piece may have.
    next: u64,
}

/// The pieces that a set of watchers received.
#[derive(Debug, Default)]
pub(crate) struct WatchedPieces {
    pub(crate) received: u64,
    /// Pieces that a watcher received twice or out of order.
    pub(crate) disordered: u64,
    /// The total length of the counted frames.
    pub(crate) bytes: u64,
    /// The time from the agent's write to the watcher's read, in µs. Sorted when [`watch_all`] returns.
    pub(crate) ages: Vec<u32>,
}

impl WebSocketWatcher {
    /// Opens a stream and waits for its first frame, so that the subscription is active when this returns.
    pub(crate) fn open(address: SocketAddr, path: &str, token: Option<&str>) -> io::Result<Self> {
        let mut request = format!("ws://{address}{path}").into_client_request().map_err(io::Error::other)?;
        if let Some(token) = token {
            let value = format!("Bearer {token}").parse().map_err(io::Error::other)?;
            request.headers_mut().insert("authorization", value);
        }
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        let config = WebSocketConfig::default().read_buffer_size(READ_BYTES);
        let (mut socket, _) = tungstenite::client::client_with_config(request, stream, Some(config))
            .map_err(|error| io::Error::other(error.to_string()))?;
        socket.read().map_err(io::Error::other)?;
        Ok(Self { socket, next: 0 })
    }

    /// Reads all text frames until the stream ends or the read times out.
    pub(crate) fn rest(mut self) -> Vec<String> {
        let mut texts = Vec::new();
        while let Ok(message) = self.socket.read() {
            if let Message::Text(text) = message {
                texts.push(text.to_string());
            }
        }
        texts
    }

    /// Reads all frames that have arrived.
    fn read(&mut self, watched: &mut WatchedPieces) -> io::Result<()> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => watched.count_frame(text.as_bytes(), &mut self.next),
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(());
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}

impl WatchedPieces {
    /// Counts a frame for a watcher whose next piece has at least the number `next`.
    fn count_frame(&mut self, frame: &[u8], next: &mut u64) {
        if memmem::find(frame, PIECE).is_none() {
            return;
        }
        let Some(stamp) = PieceStamp::find_in(frame) else { return };
        if stamp.number < *next {
            self.disordered += 1;
            return;
        }
        *next = stamp.number + 1;
        self.received += 1;
        self.bytes += frame.len() as u64;
        let age = clock::now().saturating_sub(stamp.at);
        self.ages.push(u32::try_from(age.as_micros()).unwrap_or(u32::MAX));
    }

    /// Returns a percentile of the ages, in ms.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let at = (self.ages.len() * percent / 100).min(self.ages.len().saturating_sub(1));
        self.ages.get(at).map_or(f64::NAN, |age| f64::from(*age) / 1e3)
    }
}

/// Reads from all watchers until each has the last of `count` pieces, or no more arrive.
pub(crate) fn watch_all(watchers: &mut [WebSocketWatcher], count: u64) -> io::Result<WatchedPieces> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (number, watcher) in watchers.iter().enumerate() {
        let stream = watcher.socket.get_ref();
        stream.set_nonblocking(true)?;
        epoll::add(&epoll, stream, epoll::EventData::new_u64(number as u64), epoll::EventFlags::IN)?;
    }
    let ages = Vec::with_capacity(watchers.len() * count as usize);
    let mut watched = WatchedPieces { ages, ..WatchedPieces::default() };
    let mut events = Vec::with_capacity(watchers.len());
    let stall = Timespec { tv_sec: STALL.as_secs() as i64, tv_nsec: 0 };
    let (mut open, mut last) = (watchers.len(), Instant::now());
    while open > 0 && last.elapsed() < STALL {
        epoll::wait(&epoll, spare_capacity(&mut events), Some(&stall))?;
        for event in events.drain(..) {
            let watcher = &mut watchers[event.data.u64() as usize];
            let before = watcher.next;
            watcher.read(&mut watched)?;
            if watcher.next > before {
                last = Instant::now();
                open -= usize::from(watcher.next == count);
            }
        }
    }
    watched.ages.sort_unstable();
    Ok(watched)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_counts_once_and_in_its_place() {
        let (mut watched, mut next) = (WatchedPieces::default(), 0);
        for number in [0, 1, 3, 2] {
            let mut frame = PIECE.to_vec();
            PieceStamp::now(number).write(&mut frame);
            watched.count_frame(&frame, &mut next);
            // The complete message at the end of a turn is not a piece.
            watched.count_frame(&frame[PIECE.len()..], &mut next);
        }
        assert_eq!((watched.received, watched.disordered, next), (3, 1, 4));
    }
}
