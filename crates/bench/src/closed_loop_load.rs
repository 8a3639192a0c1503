//! A closed-loop load generator: each connection sends its next request when it has the response to the last one.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use rustix::{buffer::spare_capacity, event::epoll};

use super::{
    http::{BodyFraming, ResponseHead},
    json_rpc,
    line_counter::{DIGITS, write_number},
};

/// Connection `n` uses the ids from `IDS_FROM + n * IDS_EACH`. All ids have ten digits, so that a request keeps its
/// length when its id is overwritten, and no two connections use the same id.
const IDS_FROM: u64 = 1_000_000_000;
const IDS_EACH: u64 = 10_000_000;

/// The buffer for one response. The stub's responses are much shorter.
const RESPONSE_BYTES_MAX: usize = 4096;

/// The parameters of each request, about as long as a short prompt.
const PARAMS: &str = r#"{"sessionId":"ses_0198c0de","prompt":[{"type":"text","text":"What does this function do, and why?"}]}"#;

/// How a client recognises the end of a response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ExpectedResponse {
    /// An HTTP response with `Content-Length`, whose body contains the id of the request.
    Http,
    /// As many bytes as the client sent.
    Echo,
}

/// The target and the size of a load.
#[derive(Debug)]
pub(crate) struct ClosedLoopLoad<'a> {
    pub(crate) address: SocketAddr,
    pub(crate) path: &'a str,
    pub(crate) expected: ExpectedResponse,
    pub(crate) connections: usize,
    pub(crate) time: Duration,
}

/// The result of a load.
#[derive(Debug)]
pub(crate) struct LoadResult {
    pub(crate) elapsed: Duration,
    /// One per request, sorted.
    latencies: Vec<Duration>,
}

impl LoadResult {
    pub(crate) fn new(elapsed: Duration, mut latencies: Vec<Duration>) -> Self {
        latencies.sort_unstable();
        Self { elapsed, latencies }
    }

    pub(crate) fn requests(&self) -> usize {
        self.latencies.len()
    }

    /// Returns a percentile of the latencies, in µs.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let at = (self.latencies.len() * percent / 100).min(self.latencies.len().saturating_sub(1));
        self.latencies.get(at).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e6)
    }
}

impl ClosedLoopLoad<'_> {
    /// Sends requests for the time of the load.
    pub(crate) fn run(&self) -> io::Result<LoadResult> {
        let clients = (0..self.connections).map(|number| LoadClient::open(self, number as u64));
        let clients: Vec<LoadClient> = clients.collect::<io::Result<_>>()?;
        // Large enough for every request of a run, so that the vector does not grow while the clock runs.
        let mut latencies = Vec::with_capacity(1 << 20);
        let started = Instant::now();
        match <[LoadClient; 1]>::try_from(clients) {
            Ok([client]) => drive_one(client, started + self.time, &mut latencies)?,
            Err(clients) => drive_many(clients, started + self.time, &mut latencies)?,
        }
        Ok(LoadResult::new(started.elapsed(), latencies))
    }
}

/// Drives a single connection with blocking reads. An epoll call per response would be part of the measured latency.
fn drive_one(mut client: LoadClient, end: Instant, latencies: &mut Vec<Duration>) -> io::Result<()> {
    while Instant::now() < end {
        client.send()?;
        while !client.receive()? {}
        latencies.push(client.sent_at.elapsed());
    }
    Ok(())
}

/// Drives many connections on one thread with epoll. Requests that are in flight at `end` are waited for and counted.
fn drive_many(mut clients: Vec<LoadClient>, end: Instant, latencies: &mut Vec<Duration>) -> io::Result<()> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (number, client) in clients.iter_mut().enumerate() {
        epoll::add(&epoll, &client.stream, epoll::EventData::new_u64(number as u64), epoll::EventFlags::IN)?;
        client.send()?;
    }
    let mut waiting = clients.len();
    let mut events = Vec::with_capacity(clients.len());
    while waiting > 0 {
        epoll::wait(&epoll, spare_capacity(&mut events), None)?;
        for event in events.drain(..) {
            let client = &mut clients[event.data.u64() as usize];
            if !client.receive()? {
                continue;
            }
            let now = Instant::now();
            latencies.push(now - client.sent_at);
            if now < end {
                client.send()?;
            } else {
                waiting -= 1;
            }
        }
    }
    Ok(())
}

/// One connection and its only request, which is sent again and again with a new id.
struct LoadClient {
    stream: TcpStream,
    expected: ExpectedResponse,
    request: Vec<u8>,
    /// The position of the id in `request`.
    digits: usize,
    id: u64,
    sent_at: Instant,
    response: Box<[u8; RESPONSE_BYTES_MAX]>,
    filled: usize,
}

impl LoadClient {
    fn open(load: &ClosedLoopLoad<'_>, number: u64) -> io::Result<Self> {
        let stream = TcpStream::connect(load.address)?;
        stream.set_nodelay(true)?;
        let id = IDS_FROM + number * IDS_EACH;
        let request = super::http::post(load.path, &json_rpc::request(id, "session/prompt", PARAMS));
        let mut place = [0; DIGITS];
        write_number(&mut place, id);
        let digits = memchr::memmem::find(&request, &place).unwrap_or_default();
        let response = Box::new([0; RESPONSE_BYTES_MAX]);
        Ok(Self {
            stream,
            expected: load.expected,
            request,
            digits,
            id,
            sent_at: Instant::now(),
            response,
            filled: 0,
        })
    }

    fn send(&mut self) -> io::Result<()> {
        self.id += 1;
        write_number(&mut self.request[self.digits..], self.id);
        self.sent_at = Instant::now();
        self.filled = 0;
        self.stream.write_all(&self.request)
    }

    /// Reads once and returns whether the response is complete. Checks that it belongs to the current request.
    fn receive(&mut self) -> io::Result<bool> {
        let read = self.stream.read(&mut self.response[self.filled..])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.filled += read;
        if self.expected == ExpectedResponse::Echo {
            return Ok(self.filled == self.request.len());
        }
        let response = &self.response[..self.filled];
        let Some(head) = ResponseHead::parse(response) else { return Ok(false) };
        let BodyFraming::Length(length) = head.framing else {
            return Err(io::Error::other("a response without a length"));
        };
        if response.len() < head.bytes + length {
            return Ok(false);
        }
        let id = &self.request[self.digits..self.digits + DIGITS];
        if head.status == 200 && memchr::memmem::find(&response[head.bytes..], id).is_some() {
            return Ok(true);
        }
        Err(io::Error::other(format!("a wrong response: {}", String::from_utf8_lossy(response))))
    }
}
