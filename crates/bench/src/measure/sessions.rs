//! Many concurrent sessions, each of which streams text at a steady rate to two readers.

use std::{
    io,
    time::{Duration, Instant, SystemTime},
};

use memchr::memmem;
use rustix::{buffer::spare_capacity, event::epoll, time::Timespec};

use crate::{
    Lab, Report, Subject, clock,
    followed::Followed,
    proc,
    server::Server,
    session::{DELTA, Session, TURN_ENDED},
    stamp::Stamp,
    stub::Speech,
};

/// The numbers of sessions. The cost of an event must not grow with them.
const SESSIONS: [usize; 3] = [50, 100, 200];

/// The number of readers of each session.
const READERS: usize = 2;

/// The number of events per second in each session.
const PACE: u64 = 50;

/// The length of the text of an event: a few words, as models stream them.
const TEXT_BYTES: usize = 60;

/// The output of each session, at full speed, that fills the part of its history which the server keeps in memory.
const FILL: Speech = Speech { count: 2_500, bytes: TEXT_BYTES, per_second: 0 };

/// Pieces that are missing after this time without any new piece count as lost.
const STALL: Duration = Duration::from_secs(3);

/// The JSON that precedes the time of an event.
const TIME: &[u8] = b"\"time\":\"";

/// The most that one read returns. All readers share one buffer of this size.
const READ_BYTES: usize = 256 << 10;

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let seconds = lab.size(10, 4);
    for round in 0..lab.size(3, 1) {
        let mut costs = Vec::new();
        for count in SESSIONS {
            let server = lab.start(Subject::Ours)?;
            let sessions = (0..count).map(|number| Session::open(&server, format!("s{number}")));
            let sessions: Vec<_> = sessions.collect::<io::Result<_>>()?;
            costs.push(speak(report, &server, &sessions, seconds)?);
            if round == 0 && count == SESSIONS[SESSIONS.len() - 1] {
                fill(report, &server, &sessions)?;
            }
        }
        if let [few, .., many] = costs[..] {
            report.add("sessions.growth", "ours", many / few);
        }
    }
    Ok(())
}

/// Lets all sessions stream text at the steady rate. Returns the server's CPU time per event in µs.
fn speak(report: &mut Report, server: &Server, sessions: &[Session<'_>], seconds: u64) -> io::Result<f64> {
    let speech = Speech { count: PACE * seconds, bytes: TEXT_BYTES, per_second: PACE };
    let mut readers = Readers::open(sessions)?;
    proc::forget_peak(server.pid());
    let before = server.cpu();
    let mut got = std::thread::scope(|scope| {
        // On a thread of its own: the readers must already read while later sessions are still being started.
        let asking = scope.spawn(|| {
            let mut connection = server.connect()?;
            sessions.iter().try_for_each(|session| session.say(&mut connection, &speech.prompt()))
        });
        let got = readers.read(speech.count);
        asking.join().map_err(|_| io::Error::other("nobody asked"))??;
        got
    })?;
    let cpu = server.cpu() - before;
    let (count, events) = (sessions.len(), sessions.len() as u64 * speech.count);
    let mut add = |what: &str, value: f64| report.add(format!("sessions.{count}.{what}"), "ours", value);
    add("lost", (events * READERS as u64).saturating_sub(got.received) as f64);
    add("disorder", got.disordered as f64);
    for (since, ages) in [("", &mut got.ages), ("append.", &mut got.waits)] {
        ages.sort_unstable();
        add(&format!("{since}p50"), percentile(ages, 50));
        add(&format!("{since}p99"), percentile(ages, 99));
    }
    add("rss", proc::peak_kib(server.pid()) as f64 / 1024.0);
    let cost = cpu.as_secs_f64() * 1e6 / events as f64;
    add("cpu", cost);
    Ok(cost)
}

/// Fills the in-memory history of all sessions and reports the peak memory of the server.
fn fill(report: &mut Report, server: &Server, sessions: &[Session<'_>]) -> io::Result<()> {
    let mut connection = server.connect()?;
    for session in sessions {
        let mut followed = session.follow(session.newest_seq()?)?;
        session.say(&mut connection, &FILL.prompt())?;
        followed.until(TURN_ENDED)?;
    }
    let key = format!("sessions.{}.full", sessions.len());
    report.add(key, "ours", proc::peak_kib(server.pid()) as f64 / 1024.0);
    Ok(())
}

/// Returns the time at which the server accepted an event for its journal.
fn taken_at(event: &[u8]) -> Option<SystemTime> {
    let time = &event[memmem::find(event, TIME)? + TIME.len()..];
    let time = std::str::from_utf8(&time[..memchr::memchr(b'"', time)?]).ok()?;
    Some(time.parse::<jiff::Timestamp>().ok()?.into())
}

/// All readers of all sessions, on one thread. Each has its stream and the lowest number that its next piece may
/// have.
struct Readers {
    readers: Vec<(Followed, u64)>,
    epoll: rustix::fd::OwnedFd,
}

/// The pieces that the readers received.
#[derive(Default)]
struct Got {
    received: u64,
    /// Pieces that a reader received twice or out of order.
    disordered: u64,
    /// The time from the agent's write to the reader's read, in µs.
    ages: Vec<u32>,
    /// The time from the server's acceptance of the event to the reader's read, in µs.
    waits: Vec<u32>,
}

/// Returns a percentile, in ms, of sorted times in µs.
fn percentile(sorted: &[u32], percent: usize) -> f64 {
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).map_or(f64::NAN, |age| f64::from(*age) / 1e3)
}

fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}

impl Got {
    /// Counts an event for a reader whose next piece has at least the number `next`.
    ///
    /// `now` is a reading of two clocks: the agent stamps its text with the monotonic clock (see `clock`), and the
    /// server writes the wall-clock time into its events.
    fn take(&mut self, event: &[u8], now: (Duration, SystemTime), next: &mut u64) {
        // The complete message at the end of a turn repeats all pieces and must not be counted.
        if memmem::find(event, DELTA).is_none() {
            return;
        }
        let Some(stamp) = Stamp::of(event) else { return };
        if stamp.number < *next {
            self.disordered += 1;
            return;
        }
        *next = stamp.number + 1;
        self.received += 1;
        self.ages.push(micros(now.0.saturating_sub(stamp.at)));
        if let Some(taken) = taken_at(event) {
            self.waits.push(micros(now.1.duration_since(taken).unwrap_or_default()));
        }
    }
}

impl Readers {
    fn open(sessions: &[Session<'_>]) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut readers = Vec::new();
        for session in sessions {
            for _ in 0..READERS {
                let followed = session.follow(0)?;
                followed.socket().set_nonblocking(true)?;
                let number = epoll::EventData::new_u64(readers.len() as u64);
                epoll::add(&epoll, followed.socket(), number, epoll::EventFlags::IN)?;
                readers.push((followed, 0));
            }
        }
        Ok(Self { readers, epoll })
    }

    /// Reads until every reader has the last of `count` pieces, or no more arrive.
    fn read(&mut self, count: u64) -> io::Result<Got> {
        // Allocate for all samples now, so that the vectors do not grow while the clock runs.
        let room = || Vec::with_capacity(self.readers.len() * count as usize);
        let mut got = Got { ages: room(), waits: room(), ..Got::default() };
        let mut buffer = vec![0; READ_BYTES];
        let mut events = Vec::with_capacity(self.readers.len());
        let stall = Timespec { tv_sec: STALL.as_secs() as i64, tv_nsec: 0 };
        let (mut open, mut last) = (self.readers.len(), Instant::now());
        while open > 0 && last.elapsed() < STALL {
            epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&stall))?;
            for event in events.drain(..) {
                let (followed, next) = &mut self.readers[event.data.u64() as usize];
                if followed.read(&mut buffer)? {
                    return Err(io::Error::other("a stream has ended"));
                }
                // Take the time once per read: all events of a read arrived before it, and a clock call per event
                // costs CPU time.
                let (now, before) = ((clock::now(), SystemTime::now()), *next);
                while let Some(event) = followed.take() {
                    got.take(event, now, next);
                }
                if *next > before {
                    last = Instant::now();
                    open -= usize::from(*next == count);
                }
            }
        }
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_counts_once_and_in_its_place() {
        let (mut got, mut next) = (Got::default(), 0);
        let now = (Duration::from_millis(3), SystemTime::UNIX_EPOCH + Duration::from_millis(5));
        for number in [0, 1, 3, 2] {
            let mut event = br#"{"time":"1970-01-01T00:00:00.001Z","#.to_vec();
            let before = event.len();
            event.extend_from_slice(DELTA);
            Stamp { at: Duration::from_millis(1), number }.write(&mut event);
            got.take(&event, now, &mut next);
            // The complete message at the end of a turn is not a piece.
            event.drain(before..before + DELTA.len());
            got.take(&event, now, &mut next);
        }
        assert_eq!((got.received, got.disordered, next), (3, 1, 4));
        assert_eq!((percentile(&got.ages, 99), percentile(&got.waits, 99)), (2.0, 4.0));
    }
}
