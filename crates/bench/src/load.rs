//! A closed-loop load generator: each connection sends its next request when it has the response to the last one.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use rustix::{buffer::spare_capacity, event::epoll};

use super::{
    head::{Framing, Head},
    server::message,
    tally::{DIGITS, write_number},
};

/// Connection `n` uses the ids from `IDS_FROM + n * IDS_EACH`. All ids have ten digits, so that a request keeps its
/// length when its id is overwritten, and no two connections use the same id.
const IDS_FROM: u64 = 1_000_000_000;
const IDS_EACH: u64 = 10_000_000;

/// The buffer for one response. The stub's responses are much shorter.
const ANSWER_BYTES_MAX: usize = 4096;

/// The parameters of each request, about as long as a short prompt.
const PARAMS: &str = r#"{"sessionId":"ses_0198c0de","prompt":[{"type":"text","text":"What does this function do, and why?"}]}"#;

/// How a client recognises the end of a response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reply {
    /// An HTTP response with `Content-Length`, whose body contains the id of the request.
    Http,
    /// As many bytes as the client sent.
    Echo,
}

/// The target and the size of a load.
#[derive(Debug)]
pub(crate) struct Load<'a> {
    pub(crate) address: SocketAddr,
    pub(crate) path: &'a str,
    pub(crate) reply: Reply,
    pub(crate) connections: usize,
    pub(crate) time: Duration,
}

/// The result of a load.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) elapsed: Duration,
    /// One per request, sorted.
    latencies: Vec<Duration>,
}

impl Outcome {
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

impl Load<'_> {
    /// Sends requests for the time of the load.
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let clients = (0..self.connections).map(|number| Client::open(self, number as u64));
        let clients: Vec<Client> = clients.collect::<io::Result<_>>()?;
        // Large enough for every request of a run, so that the vector does not grow while the clock runs.
        let mut latencies = Vec::with_capacity(1 << 20);
        let started = Instant::now();
        match <[Client; 1]>::try_from(clients) {
            Ok([client]) => alone(client, started + self.time, &mut latencies)?,
            Err(clients) => together(clients, started + self.time, &mut latencies)?,
        }
        Ok(Outcome::new(started.elapsed(), latencies))
    }
}

/// Drives a single connection with blocking reads. An epoll call per response would be part of the measured latency.
fn alone(mut client: Client, end: Instant, latencies: &mut Vec<Duration>) -> io::Result<()> {
    while Instant::now() < end {
        client.send()?;
        while !client.receive()? {}
        latencies.push(client.sent_at.elapsed());
    }
    Ok(())
}

/// Drives many connections on one thread with epoll. Requests that are in flight at `end` are waited for and counted.
fn together(mut clients: Vec<Client>, end: Instant, latencies: &mut Vec<Duration>) -> io::Result<()> {
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
struct Client {
    stream: TcpStream,
    reply: Reply,
    request: Vec<u8>,
    /// The position of the id in `request`.
    digits: usize,
    id: u64,
    sent_at: Instant,
    answer: Box<[u8; ANSWER_BYTES_MAX]>,
    filled: usize,
}

impl Client {
    fn open(load: &Load<'_>, number: u64) -> io::Result<Self> {
        let stream = TcpStream::connect(load.address)?;
        stream.set_nodelay(true)?;
        let id = IDS_FROM + number * IDS_EACH;
        let request = super::http::post(load.path, &message(id, "session/prompt", PARAMS));
        let mut place = [0; DIGITS];
        write_number(&mut place, id);
        let digits = memchr::memmem::find(&request, &place).unwrap_or_default();
        let answer = Box::new([0; ANSWER_BYTES_MAX]);
        Ok(Self {
            stream,
            reply: load.reply,
            request,
            digits,
            id,
            sent_at: Instant::now(),
            answer,
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
        let read = self.stream.read(&mut self.answer[self.filled..])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.filled += read;
        if self.reply == Reply::Echo {
            return Ok(self.filled == self.request.len());
        }
        let answer = &self.answer[..self.filled];
        let Some(head) = Head::of(answer) else { return Ok(false) };
        let Framing::Length(length) = head.framing else {
            return Err(io::Error::other("an answer without a length"));
        };
        if answer.len() < head.bytes + length {
            return Ok(false);
        }
        let id = &self.request[self.digits..self.digits + DIGITS];
        if head.status == 200 && memchr::memmem::find(&answer[head.bytes..], id).is_some() {
            return Ok(true);
        }
        Err(io::Error::other(format!("a wrong answer: {}", String::from_utf8_lossy(answer))))
    }
}
