//! Many readers of one event stream. They share one thread and count the lines that they receive.

use std::{
    io::{self, Read},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use rustix::{buffer::spare_capacity, event::epoll, time::Timespec};

use super::{
    http::ChunkedDecoder,
    http::{self, HttpConnection},
    line_counter::LineCounter,
    stub_agent::Flood,
};

/// The most that one read returns. All readers share one buffer of this size, and a large one saves system calls.
const READ_BYTES: usize = 256 << 10;

/// Lines that are missing after this time without any new line count as lost.
const STALL: Duration = Duration::from_millis(1500);

/// The longest time until a server returns the head of a stream.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The readers of one stream.
#[derive(Debug)]
pub(crate) struct StreamReaders {
    readers: Vec<StreamReader>,
    buffer: Vec<u8>,
}

/// The result of one flood.
#[derive(Debug)]
pub(crate) struct FloodDelivery {
    /// The time from the request for the flood to the last line that any reader received. It does not include the
    /// wait for lines that never arrived.
    pub(crate) elapsed: Duration,
    /// The sum over all readers, as are the other counts.
    pub(crate) received: u64,
    pub(crate) lost: u64,
    /// Lines that a reader received twice or out of order.
    pub(crate) disordered: u64,
}

#[derive(Debug)]
struct StreamReader {
    stream: TcpStream,
    /// The bytes of the body that were read together with the head.
    unread: Vec<u8>,
    /// `None` for a bare socket, which carries lines without HTTP.
    decoder: Option<ChunkedDecoder>,
    counter: LineCounter,
}

impl StreamReaders {
    /// Opens `count` streams at `path`, with an additional header.
    pub(crate) fn open(address: SocketAddr, path: &str, header: &str, count: usize) -> io::Result<Self> {
        let request = http::request("GET", path, header);
        let open = |_| {
            let mut connection = HttpConnection::open(address)?.with_read_timeout(READ_TIMEOUT)?;
            connection.send(&request)?;
            let head = connection.read_head()?;
            if head.status != 200 {
                return Err(io::Error::other(format!("a stream was refused with {}", head.status)));
            }
            let (stream, unread) = connection.into_parts();
            Ok(StreamReader {
                stream,
                unread,
                decoder: Some(ChunkedDecoder::default()),
                counter: LineCounter::new(0, 0, 0),
            })
        };
        Self::new((0..count).map(open).collect::<io::Result<_>>()?)
    }

    /// Reads from sockets that carry lines without HTTP.
    pub(crate) fn from_sockets(streams: Vec<TcpStream>) -> io::Result<Self> {
        let bare = |stream| StreamReader {
            stream,
            unread: Vec::new(),
            decoder: None,
            counter: LineCounter::new(0, 0, 0),
        };
        Self::new(streams.into_iter().map(bare).collect())
    }

    fn new(readers: Vec<StreamReader>) -> io::Result<Self> {
        readers.iter().try_for_each(|reader| reader.stream.set_nonblocking(true))?;
        Ok(Self { readers, buffer: vec![0; READ_BYTES] })
    }

    /// Starts a flood with `start` and counts its lines until every reader has the last one, or no more arrive.
    pub(crate) fn count_lines(
        &mut self,
        flood: &Flood,
        start: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<FloodDelivery> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (number, reader) in self.readers.iter_mut().enumerate() {
            reader.counter = LineCounter::new(flood.from, flood.count, flood.bytes);
            let unread = std::mem::take(&mut reader.unread);
            reader.feed(&unread);
            epoll::add(
                &epoll,
                &reader.stream,
                epoll::EventData::new_u64(number as u64),
                epoll::EventFlags::IN,
            )?;
        }
        let mut open = self.readers.iter().filter(|reader| !reader.counter.is_complete()).count();
        let mut events = Vec::with_capacity(self.readers.len());
        let stall = Timespec { tv_sec: STALL.as_secs() as i64, tv_nsec: i64::from(STALL.subsec_nanos()) };
        let started = Instant::now();
        let mut last = started;
        start()?;
        while open > 0 {
            epoll::wait(&epoll, spare_capacity(&mut events), Some(&stall))?;
            if events.is_empty() || last.elapsed() > STALL {
                break;
            }
            for event in events.drain(..) {
                let reader = &mut self.readers[event.data.u64() as usize];
                let before = (reader.counter.received(), reader.counter.is_complete());
                let ended = reader.read(&mut self.buffer)?;
                if reader.counter.received() > before.0 {
                    last = Instant::now();
                }
                if ended {
                    epoll::delete(&epoll, &reader.stream)?;
                }
                if (ended || reader.counter.is_complete()) && !before.1 {
                    open -= 1;
                }
            }
        }
        let sum =
            |count: fn(&LineCounter) -> u64| self.readers.iter().map(|reader| count(&reader.counter)).sum();
        let received = sum(LineCounter::received);
        Ok(FloodDelivery {
            elapsed: last - started,
            received,
            lost: flood.count * self.readers.len() as u64 - received,
            disordered: sum(LineCounter::disordered),
        })
    }

    /// Returns everything that the first reader receives until nothing arrives for `idle`.
    pub(crate) fn read_until_idle(self, idle: Duration) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        let Some(reader) = self.readers.into_iter().next() else { return Ok(content) };
        let StreamReader { mut stream, unread, decoder, .. } = reader;
        let mut decoder = decoder.unwrap_or_default();
        decoder.feed(&unread, |bytes| content.extend_from_slice(bytes));
        let mut buffer = self.buffer;
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(idle))?;
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(content),
                Ok(read) => decoder.feed(&buffer[..read], |bytes| content.extend_from_slice(bytes)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(content),
                // The server may have disconnected a stalled reader.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(content),
                Err(error) => return Err(error),
            }
        }
    }
}

impl StreamReader {
    /// Reads once and returns whether the stream has ended.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        let read = match self.stream.read(buffer) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        };
        self.feed(&buffer[..read]);
        Ok(read == 0 || self.decoder.as_ref().is_some_and(ChunkedDecoder::is_complete))
    }

    fn feed(&mut self, data: &[u8]) {
        match &mut self.decoder {
            Some(decoder) => decoder.feed(data, |bytes| self.counter.feed(bytes)),
            None => self.counter.feed(data),
        }
    }
}
