//! Upload and download of a large file, compared with a copy through a loopback socket.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    path::Path,
    time::{Duration, Instant},
};

use crate::{
    BenchSetup, RunReport, SystemUnderTest, clock,
    floor::{FloorServer, copy_all},
    http,
    http::HttpConnection,
    proc,
    server_process::ServerProcess,
};

const MIB: u64 = 1 << 20;

/// The read timeout during a copy.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The pause before each copy, in which the server returns the memory of the last one.
const SETTLE: Duration = Duration::from_millis(100);

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let size = setup.full_or_quick(1024, 256) * MIB;
    let dir = tempfile::tempdir_in(&setup.dir)?;
    let (source, target) = (dir.path().join("source"), dir.path().join("target"));
    write_source(&source, size)?;
    let mut servers = Vec::new();
    for system in setup.systems() {
        servers.push((system, setup.start(system)?));
    }
    for _ in 0..setup.full_or_quick(5, 1) {
        let speed = |time: Duration| size as f64 / time.as_secs_f64() / 1e6;
        report.add("files.put", "loopback", speed(loopback(setup, &source, &target)?));
        report.add("files.put", "cp", speed(copy_plainly(&source, &target)?));
        for (system, server) in &servers {
            let put = with_memory_growth(report, "files.put", *system, server, || {
                put(server, &source, &target, size)
            });
            report_speed(report, "files.put", *system, size, put);
            let _ = fs::remove_file(&target);
        }
        report.add("files.get", "loopback", speed(loopback(setup, &source, &target)?));
        for (system, server) in &servers {
            let get = with_memory_growth(report, "files.get", *system, server, || {
                get(server, &source, &target, size)
            });
            report_speed(report, "files.get", *system, size, get);
            let _ = fs::remove_file(&target);
        }
    }
    Ok(())
}

fn report_speed(
    report: &mut RunReport,
    key: &str,
    system: SystemUnderTest,
    size: u64,
    copied: io::Result<Duration>,
) {
    match copied {
        Ok(time) => report.add(key, system.name(), size as f64 / time.as_secs_f64() / 1e6),
        Err(error) => report.note(key, system.name(), error.to_string()),
    }
}

/// Runs `copy` and reports the growth of the server's memory up to its peak.
///
/// The kernel tracks the peak itself, so short spikes between two readings are not missed.
fn with_memory_growth<T>(
    report: &mut RunReport,
    key: &str,
    system: SystemUnderTest,
    server: &ServerProcess,
    copy: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    clock::pause(SETTLE);
    proc::forget_peak(server.pid());
    let before = server.rss_kib();
    let copied = copy();
    let grown = proc::peak_kib(server.pid()).saturating_sub(before);
    if copied.is_ok() {
        report.add(format!("{key}.grown"), system.name(), grown as f64 / 1024.0);
    }
    copied
}

/// Uploads a file and returns the time until the response, after checking the size of the uploaded file.
fn put(server: &ServerProcess, source: &Path, target: &Path, size: u64) -> io::Result<Duration> {
    let mut file = File::open(source)?;
    let header = format!("Content-Type: application/octet-stream\r\nContent-Length: {size}");
    let request = http::request("PUT", &format!("/v1/fs/file?path={}", target.display()), &header);
    let (mut stream, _) =
        HttpConnection::open(server.address())?.with_read_timeout(READ_TIMEOUT)?.into_parts();
    let started = Instant::now();
    stream.write_all(&request)?;
    let sent = copy_all(&mut file, &mut stream, size);
    // A server that rejects the upload responds and closes the connection before all bytes are sent. Its status says
    // more than the write error, so the write error counts only if there is no response.
    let mut response = [0; 4096];
    let read = stream.read(&mut response).or_else(|error| sent.map(|_| 0).and(Err(error)))?;
    let time = started.elapsed();
    let response = String::from_utf8_lossy(&response[..read]);
    let status = response.get(9..12).unwrap_or("nothing");
    if !status.starts_with('2') {
        return Err(io::Error::other(format!("refused with {status}")));
    }
    match fs::metadata(target)?.len() {
        length if length == size => Ok(time),
        length => Err(io::Error::other(format!("{length} bytes arrived"))),
    }
}

/// Downloads a file to disk and returns the time until its last byte is written.
fn get(server: &ServerProcess, source: &Path, target: &Path, size: u64) -> io::Result<Duration> {
    let mut file = File::create(target)?;
    let mut connection = HttpConnection::open(server.address())?.with_read_timeout(READ_TIMEOUT)?;
    let started = Instant::now();
    connection.send(&http::request("GET", &format!("/v1/fs/file?path={}", source.display()), ""))?;
    let head = connection.read_head()?;
    if head.status != 200 {
        return Err(io::Error::other(format!("refused with {}", head.status)));
    }
    let (mut stream, first) = connection.into_parts();
    file.write_all(&first)?;
    let copied = first.len() as u64 + copy_all(&mut stream, &mut file, size - first.len() as u64)?;
    if copied == size {
        Ok(started.elapsed())
    } else {
        Err(io::Error::other(format!("{copied} bytes arrived")))
    }
}

/// The floor `loopback`: copies from file to socket to file, with a second process at the other end of the socket.
fn loopback(setup: &BenchSetup, source: &Path, target: &Path) -> io::Result<Duration> {
    let mut server = FloorServer::start(&setup.own, [Path::new("copy"), target])?;
    let mut stream = TcpStream::connect(server.address())?;
    let started = Instant::now();
    copy_all(&mut File::open(source)?, &mut stream, u64::MAX)?;
    stream.shutdown(Shutdown::Write)?;
    stream.read_exact(&mut [0])?;
    let time = started.elapsed();
    server.finish()?;
    fs::remove_file(target)?;
    Ok(time)
}

/// The floor `cp`: reads and writes in one process. The real `cp` may share blocks between files, which copies
/// nothing.
fn copy_plainly(source: &Path, target: &Path) -> io::Result<Duration> {
    let started = Instant::now();
    copy_all(&mut File::open(source)?, &mut File::create(target)?, u64::MAX)?;
    let time = started.elapsed();
    fs::remove_file(target)?;
    Ok(time)
}

/// Writes a file without holes.
fn write_source(path: &Path, size: u64) -> io::Result<()> {
    let block: Vec<u8> = (0..MIB).map(|at| (at * 31 % 251) as u8).collect();
    let mut file = File::create(path)?;
    (0..size / MIB).try_for_each(|_| file.write_all(&block))?;
    // Flush now, so that the kernel does not write the source back during a measured copy.
    file.sync_all()
}
