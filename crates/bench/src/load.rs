//! Requests in a closed loop: each connection sends its next one when it has the answer to the last.

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

/// Below the ids of a connection, and between those of two: ten digits that begin with a one.
const IDS_FROM: u64 = 1_000_000_000;
const IDS_EACH: u64 = 10_000_000;

/// An answer is shorter than this.
const ANSWER_BYTES_MAX: usize = 4096;

/// What a message carries, about as much as a short prompt.
const PARAMS: &str = r#"{"sessionId":"ses_0198c0de","prompt":[{"type":"text","text":"What does this function do, and why?"}]}"#;

/// How the end of an answer is recognised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reply {
    /// An HTTP response with a length that holds the id of the request.
    Http,
    /// As many bytes as were sent.
    Echo,
}

/// What to send where.
#[derive(Debug)]
pub(crate) struct Load<'a> {
    pub(crate) address: SocketAddr,
    pub(crate) path: &'a str,
    pub(crate) reply: Reply,
    pub(crate) connections: usize,
    pub(crate) time: Duration,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) elapsed: Duration,
    /// Sorted.
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

    /// What so many percent of the requests stayed within, in µs.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let at = (self.latencies.len() * percent / 100).min(self.latencies.len().saturating_sub(1));
        self.latencies.get(at).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e6)
    }
}

impl Load<'_> {
    /// Runs for its time.
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let clients = (0..self.connections).map(|number| Client::open(self, number as u64));
        let clients: Vec<Client> = clients.collect::<io::Result<_>>()?;
        let mut latencies = Vec::with_capacity(1 << 20);
        let started = Instant::now();
        match <[Client; 1]>::try_from(clients) {
            Ok([client]) => alone(client, started + self.time, &mut latencies)?,
            Err(clients) => together(clients, started + self.time, &mut latencies)?,
        }
        Ok(Outcome::new(started.elapsed(), latencies))
    }
}

/// One connection needs no one to tell it that it is ready.
fn alone(mut client: Client, end: Instant, latencies: &mut Vec<Duration>) -> io::Result<()> {
    while Instant::now() < end {
        client.send()?;
        while !client.receive()? {}
        latencies.push(client.sent_at.elapsed());
    }
    Ok(())
}

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

/// One connection.
struct Client {
    stream: TcpStream,
    reply: Reply,
    request: Vec<u8>,
    /// Where the digits of the id are.
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

    /// Reads once; whether the answer is complete.
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
