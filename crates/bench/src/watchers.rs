//! Many WebSockets on one thread that count the pieces they get, and how old each is.

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

use super::{clock, stamp::Stamp};

/// What stands before a piece; the whole message, which is told at its end, holds the pieces once more.
const PIECE: &[u8] = b"{\"messageDelta\":";

/// How much is read at once; all of it is cleared each time.
const READ_BYTES: usize = 4 << 10;

/// How long nothing may come before the rest counts as lost.
const STALL: Duration = Duration::from_secs(3);

/// How long a server may take to open a stream.
const PATIENCE: Duration = Duration::from_secs(30);

/// One that watches.
pub(crate) struct Watcher {
    socket: WebSocket<TcpStream>,
    /// The number of the piece that comes next.
    next: u64,
}

/// What they got.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(crate) received: u64,
    /// Twice or out of order.
    pub(crate) disordered: u64,
    /// The bytes of all frames with pieces.
    pub(crate) bytes: u64,
    /// How long ago each piece was written when it was read, in µs, sorted.
    pub(crate) ages: Vec<u32>,
}

impl Watcher {
    /// Opens a stream, and waits for the first frame.
    pub(crate) fn open(address: SocketAddr, path: &str, token: Option<&str>) -> io::Result<Self> {
        let mut request = format!("ws://{address}{path}").into_client_request().map_err(io::Error::other)?;
        if let Some(token) = token {
            let value = format!("Bearer {token}").parse().map_err(io::Error::other)?;
            request.headers_mut().insert("authorization", value);
        }
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let config = WebSocketConfig::default().read_buffer_size(READ_BYTES);
        let (mut socket, _) = tungstenite::client::client_with_config(request, stream, Some(config))
            .map_err(|error| io::Error::other(error.to_string()))?;
        socket.read().map_err(io::Error::other)?;
        Ok(Self { socket, next: 0 })
    }

    /// Everything that there is to read until the stream ends.
    pub(crate) fn rest(mut self) -> Vec<String> {
        let mut texts = Vec::new();
        while let Ok(message) = self.socket.read() {
            if let Message::Text(text) = message {
                texts.push(text.to_string());
            }
        }
        texts
    }

    /// Reads what there is.
    fn read(&mut self, watched: &mut Watched) -> io::Result<()> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => watched.take(text.as_bytes(), &mut self.next),
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(());
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}

impl Watched {
    fn take(&mut self, frame: &[u8], next: &mut u64) {
        if memmem::find(frame, PIECE).is_none() {
            return;
        }
        let Some(stamp) = Stamp::of(frame) else { return };
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

    /// What so many percent of the ages stayed within, in ms.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let at = (self.ages.len() * percent / 100).min(self.ages.len().saturating_sub(1));
        self.ages.get(at).map_or(f64::NAN, |age| f64::from(*age) / 1e3)
    }
}

/// Reads all of them until each has `count` pieces, or nothing more comes.
pub(crate) fn watch(watchers: &mut [Watcher], count: u64) -> io::Result<Watched> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (number, watcher) in watchers.iter().enumerate() {
        let stream = watcher.socket.get_ref();
        stream.set_nonblocking(true)?;
        epoll::add(&epoll, stream, epoll::EventData::new_u64(number as u64), epoll::EventFlags::IN)?;
    }
    let ages = Vec::with_capacity(watchers.len() * count as usize);
    let mut watched = Watched { ages, ..Watched::default() };
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
        let (mut watched, mut next) = (Watched::default(), 0);
        for number in [0, 1, 3, 2] {
            let mut frame = PIECE.to_vec();
            Stamp::now(number).write(&mut frame);
            watched.take(&frame, &mut next);
            // The message that is told at the end is not a piece.
            watched.take(&frame[PIECE.len()..], &mut next);
        }
        assert_eq!((watched.received, watched.disordered, next), (3, 1, 4));
    }
}
