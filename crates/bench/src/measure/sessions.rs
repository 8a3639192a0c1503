//! Many concurrent sessions, each of which streams text at a steady rate to two readers.

use std::{
    io,
    time::{Duration, Instant, SystemTime},
};

use memchr::memmem;
use rustix::{buffer::spare_capacity, event::epoll, time::Timespec};

use crate::{
    BenchSetup, RunReport, SystemUnderTest, clock,
    piece_stamp::PieceStamp,
    proc,
    server_process::ServerProcess,
    session_event_reader::SessionEventReader,
    stub_agent::StreamedMessage,
    stub_session::{MESSAGE_DELTA, StubSession, TURN_ENDED},
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
const FILL: StreamedMessage = StreamedMessage { count: 2_500, bytes: TEXT_BYTES, per_second: 0 };

/// Pieces that are missing after this time without any new piece count as lost.
const STALL: Duration = Duration::from_secs(3);

/// The JSON that precedes the time of an event.
const TIME: &[u8] = b"\"time\":\"";

/// The most that one read returns. All readers share one buffer of this size.
const READ_BYTES: usize = 256 << 10;

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let seconds = setup.full_or_quick(10, 4);
    for round in 0..setup.full_or_quick(3, 1) {
        let mut costs = Vec::new();
        for count in SESSIONS {
            let server = setup.start(SystemUnderTest::Ours)?;
            let sessions = (0..count).map(|number| StubSession::open(&server, format!("s{number}")));
            let sessions: Vec<_> = sessions.collect::<io::Result<_>>()?;
            costs.push(measure_streaming(report, &server, &sessions, seconds)?);
            if round == 0 && count == SESSIONS[SESSIONS.len() - 1] {
                measure_full_history(report, &server, &sessions)?;
            }
        }
        if let [few, .., many] = costs[..] {
            report.add("sessions.growth", "ours", many / few);
        }
    }
    Ok(())
}

/// Lets all sessions stream text at the steady rate. Returns the server's CPU time per event in µs.
fn measure_streaming(
    report: &mut RunReport,
    server: &ServerProcess,
    sessions: &[StubSession<'_>],
    seconds: u64,
) -> io::Result<f64> {
    let message = StreamedMessage { count: PACE * seconds, bytes: TEXT_BYTES, per_second: PACE };
    let mut readers = SessionReaders::open(sessions)?;
    proc::forget_peak(server.pid());
    let before = server.cpu();
    let mut pieces = std::thread::scope(|scope| {
        // On a thread of its own: the readers must already read while later sessions are still being started.
        let starting = scope.spawn(|| {
            let mut connection = server.connect()?;
            sessions.iter().try_for_each(|session| session.send_message(&mut connection, &message.prompt()))
        });
        let pieces = readers.read(message.count);
        starting.join().map_err(|_| io::Error::other("the thread that starts the messages panicked"))??;
        pieces
    })?;
    let cpu = server.cpu() - before;
    let (count, events) = (sessions.len(), sessions.len() as u64 * message.count);
    let mut add = |what: &str, value: f64| report.add(format!("sessions.{count}.{what}"), "ours", value);
    add("lost", (events * READERS as u64).saturating_sub(pieces.received) as f64);
    add("disorder", pieces.disordered as f64);
    for (since, ages) in [("", &mut pieces.ages), ("append.", &mut pieces.waits)] {
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
fn measure_full_history(
    report: &mut RunReport,
    server: &ServerProcess,
    sessions: &[StubSession<'_>],
) -> io::Result<()> {
    let mut connection = server.connect()?;
    for session in sessions {
        let mut events = session.open_events(session.newest_seq()?)?;
        session.send_message(&mut connection, &FILL.prompt())?;
        events.wait_for_event(TURN_ENDED)?;
    }
    let key = format!("sessions.{}.full", sessions.len());
    report.add(key, "ours", proc::peak_kib(server.pid()) as f64 / 1024.0);
    Ok(())
}

/// Returns the time at which the server accepted an event for its journal.
fn accepted_at(event: &[u8]) -> Option<SystemTime> {
    let time = &event[memmem::find(event, TIME)? + TIME.len()..];
    let time = std::str::from_utf8(&time[..memchr::memchr(b'"', time)?]).ok()?;
    Some(time.parse::<jiff::Timestamp>().ok()?.into())
}

/// All readers of all sessions, on one thread. Each has its stream and the lowest number that its next piece may
/// have.
struct SessionReaders {
    readers: Vec<(SessionEventReader, u64)>,
    epoll: rustix::fd::OwnedFd,
}

/// The pieces that the readers received.
#[derive(Default)]
struct ReceivedPieces {
    received: u64,
    /// Pieces that a reader received twice or out of order.
    disordered: u64,
    /// The time from the agent's write to the reader's read, in µs.
    ages: Vec<u32>,
    /// The time from the server's acceptance of the event to the reader's read, in µs.
    waits: Vec<u32>,
}

/// A reading of two clocks: the agent stamps its text with the monotonic clock (see `clock`), and the server writes the
/// wall-clock time into its events.
#[derive(Clone, Copy)]
struct ReadTime {
    monotonic: Duration,
    wall_clock: SystemTime,
}

/// Returns a percentile, in ms, of sorted times in µs.
fn percentile(sorted: &[u32], percent: usize) -> f64 {
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).map_or(f64::NAN, |age| f64::from(*age) / 1e3)
}

fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}

impl ReceivedPieces {
    /// Counts an event for a reader whose next piece has at least the number `next`.
    fn count_event(&mut self, event: &[u8], now: ReadTime, next: &mut u64) {
        // The complete message at the end of a turn repeats all pieces and must not be counted.
        if memmem::find(event, MESSAGE_DELTA).is_none() {
            return;
        }
        let Some(stamp) = PieceStamp::find_in(event) else { return };
        if stamp.number < *next {
            self.disordered += 1;
            return;
        }
        *next = stamp.number + 1;
        self.received += 1;
        self.ages.push(micros(now.monotonic.saturating_sub(stamp.at)));
        if let Some(accepted) = accepted_at(event) {
            self.waits.push(micros(now.wall_clock.duration_since(accepted).unwrap_or_default()));
        }
    }
}

impl SessionReaders {
    fn open(sessions: &[StubSession<'_>]) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut readers = Vec::new();
        for session in sessions {
            for _ in 0..READERS {
                let events = session.open_events(0)?;
                events.socket().set_nonblocking(true)?;
                let number = epoll::EventData::new_u64(readers.len() as u64);
                epoll::add(&epoll, events.socket(), number, epoll::EventFlags::IN)?;
                readers.push((events, 0));
            }
        }
        Ok(Self { readers, epoll })
    }

    /// Reads until every reader has the last of `count` pieces, or no more arrive.
    fn read(&mut self, count: u64) -> io::Result<ReceivedPieces> {
        // Allocate for all samples now, so that the vectors do not grow while the clock runs.
        let samples = || Vec::with_capacity(self.readers.len() * count as usize);
        let mut pieces = ReceivedPieces { ages: samples(), waits: samples(), ..ReceivedPieces::default() };
        let mut buffer = vec![0; READ_BYTES];
        let mut ready = Vec::with_capacity(self.readers.len());
        let stall = Timespec { tv_sec: STALL.as_secs() as i64, tv_nsec: 0 };
        let (mut open, mut last) = (self.readers.len(), Instant::now());
        while open > 0 && last.elapsed() < STALL {
            epoll::wait(&self.epoll, spare_capacity(&mut ready), Some(&stall))?;
            for event in ready.drain(..) {
                let (events, next) = &mut self.readers[event.data.u64() as usize];
                if events.read(&mut buffer)? {
                    return Err(io::Error::other("a stream has ended"));
                }
                // Take the time once per read: all events of a read arrived before it, and a clock call per event
                // costs CPU time.
                let now = ReadTime { monotonic: clock::now(), wall_clock: SystemTime::now() };
                let before = *next;
                while let Some(event) = events.next_event() {
                    pieces.count_event(event, now, next);
                }
                if *next > before {
                    last = Instant::now();
                    open -= usize::from(*next == count);
                }
            }
        }
        Ok(pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_counts_once_and_in_its_place() {
        let (mut pieces, mut next) = (ReceivedPieces::default(), 0);
        let wall_clock = SystemTime::UNIX_EPOCH + Duration::from_millis(5);
        let now = ReadTime { monotonic: Duration::from_millis(3), wall_clock };
        for number in [0, 1, 3, 2] {
            let mut event = br#"{"time":"1970-01-01T00:00:00.001Z","#.to_vec();
            let before = event.len();
            event.extend_from_slice(MESSAGE_DELTA);
            PieceStamp { at: Duration::from_millis(1), number }.write(&mut event);
            pieces.count_event(&event, now, &mut next);
            // The complete message at the end of a turn is not a piece.
            event.drain(before..before + MESSAGE_DELTA.len());
            pieces.count_event(&event, now, &mut next);
        }
        assert_eq!((pieces.received, pieces.disordered, next), (3, 1, 4));
        assert_eq!((percentile(&pieces.ages, 99), percentile(&pieces.waits, 99)), (2.0, 4.0));
    }
}
