//! Many sessions at once, each speaking at a steady pace to two readers, who have everything in time.

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

/// How many sessions there are; the cost of an event is to be the same with each.
const SESSIONS: [usize; 3] = [50, 100, 200];

/// How many follow each session.
const READERS: usize = 2;

/// How many events a session has per second.
const PACE: u64 = 50;

/// How long the text of an event is: a few words, as models say them.
const TEXT_BYTES: usize = 60;

/// What each session says, as fast as it can, until the part of it that is kept in memory is full.
const FILL: Speech = Speech { count: 2_500, bytes: TEXT_BYTES, per_second: 0 };

/// How long nothing may come before the rest counts as lost.
const STALL: Duration = Duration::from_secs(3);

/// What stands before the time of an event.
const TIME: &[u8] = b"\"time\":\"";

/// How much is read at once.
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

/// Lets all sessions speak at their pace; what an event costs the server.
fn speak(report: &mut Report, server: &Server, sessions: &[Session<'_>], seconds: u64) -> io::Result<f64> {
    let speech = Speech { count: PACE * seconds, bytes: TEXT_BYTES, per_second: PACE };
    let mut readers = Readers::open(sessions)?;
    proc::forget_peak(server.pid());
    let before = server.cpu();
    let mut got = std::thread::scope(|scope| {
        // Beside the readers, who are not to wait for it.
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

/// Lets all sessions say so much that the server keeps no more of them in memory than it ever does: what that is.
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

/// When the server took an event to write it down.
fn taken_at(event: &[u8]) -> Option<SystemTime> {
    let time = &event[memmem::find(event, TIME)? + TIME.len()..];
    let time = std::str::from_utf8(&time[..memchr::memchr(b'"', time)?]).ok()?;
    Some(time.parse::<jiff::Timestamp>().ok()?.into())
}

/// All readers of all sessions, on one thread.
struct Readers {
    readers: Vec<(Followed, u64)>,
    epoll: rustix::fd::OwnedFd,
}

/// What they got.
#[derive(Default)]
struct Got {
    received: u64,
    /// Twice or out of order.
    disordered: u64,
    /// How long ago the agent had said each when it was read, in µs, …
    ages: Vec<u32>,
    /// … and how long ago the server had taken it to write it down.
    waits: Vec<u32>,
}

/// What so many percent of sorted times in µs stayed within, in ms.
fn percentile(sorted: &[u32], percent: usize) -> f64 {
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).map_or(f64::NAN, |age| f64::from(*age) / 1e3)
}

fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}

impl Got {
    /// Takes what an event says to a reader that waits for the piece `next`.
    fn take(&mut self, event: &[u8], now: (Duration, SystemTime), next: &mut u64) {
        // The whole message, which is told at its end, holds the pieces once more.
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

    /// Reads until everybody has `count` pieces, or nothing more comes.
    fn read(&mut self, count: u64) -> io::Result<Got> {
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
            // The message that is told at the end is not a piece.
            event.drain(before..before + DELTA.len());
            got.take(&event, now, &mut next);
        }
        assert_eq!((got.received, got.disordered, next), (3, 1, 4));
        assert_eq!((percentile(&got.ages, 99), percentile(&got.waits, 99)), (2.0, 4.0));
    }
}
