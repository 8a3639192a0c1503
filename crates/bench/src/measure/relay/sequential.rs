//! A large file read in pieces, and small sequential requests, from a device through the hub to a runtime.
//!
//! The floor `echo` sends the same bytes to a bare WebSocket and back. The floor `hop` does so through a second bare
//! WebSocket server, and has as many hops as the relay.

use std::{
    fs::File,
    io::{self, Write},
    time::{Duration, Instant},
};

use futures_util::{SinkExt, StreamExt, stream};
use protocol::relay::RawJson;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio_tungstenite::tungstenite::{Bytes, Message, protocol::WebSocketConfig};

use super::{percentile, stat_latencies};
use crate::{
    BenchSetup, RunReport,
    device_process::DeviceProcess,
    floor::FloorServer,
    measure::micros,
    proc,
    relay_connection::{RelayConnection, TungsteniteSocket, relay_failure, websocket},
    relay_hub::RelayHub,
};

/// The size of the file, a multiple of the piece size.
const FILE_BYTES: u64 = 1364 * PIECE_BYTES;
/// The size of the piece that one request reads.
const PIECE_BYTES: u64 = 192 << 10;
/// The number of pieces in flight, for the relay and for the floors.
const PIECES_IN_FLIGHT: usize = 4;

/// The length of a small message of the floors: about that of a `file.stat` request.
const SMALL_BYTES: usize = 128;

/// The number of requests before the measured ones, which load the code in all processes.
const WARM_UP: usize = 200;

pub(super) async fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let hub = RelayHub::start(setup).await;
    let device = DeviceProcess::connect(setup, &hub).await?;
    let bytes = setup.full_or_quick(FILE_BYTES, FILE_BYTES / 4);
    write_file(&device, bytes)?;
    let runtime = hub.connect_runtime(&hub.create_environment("laptop").await?).await?;
    let floor = FloorServer::start(&setup.own, ["ws"])?;
    let base = format!("http://{}", floor.address());
    let mut echo = websocket(&base, "/echo", None, WebSocketConfig::default()).await?;
    let hop = FloorServer::start(&setup.own, ["ws-hop", &format!("ws://{}/echo", floor.address())])?;
    let base = format!("http://{}", hop.address());
    let mut hop = websocket(&base, "/echo", None, WebSocketConfig::default()).await?;
    stat_latencies(&runtime, "large", WARM_UP).await?;
    for _ in 0..setup.full_or_quick(5, 2) {
        let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
        let before = (proc::cpu(hub.pid()), proc::cpu(device.pid()));
        report.add("relay.read", "ours", rate(read_file(&runtime, bytes).await?));
        let cpu = |used: Duration| used.as_secs_f64() * 1e9 / bytes as f64;
        report.add("relay.read.hub", "ours", cpu(proc::cpu(hub.pid()) - before.0));
        report.add("relay.read.device", "ours", cpu(proc::cpu(device.pid()) - before.1));
        report.add("relay.read", "echo", rate(echo_file(&mut echo, bytes).await?));
        report.add("relay.read", "hop", rate(echo_file(&mut hop, bytes).await?));
        let count = setup.full_or_quick(5_000, 1_000);
        let mut ours = stat_latencies(&runtime, "large", count).await?;
        let mut bare = echo_latencies(&mut echo, count).await?;
        let mut through = echo_latencies(&mut hop, count).await?;
        for percent in [50, 99] {
            let key = format!("relay.stat.p{percent}");
            report.add(&key, "ours", micros(percentile(&mut ours, percent)));
            report.add(&key, "echo", micros(percentile(&mut bare, percent)));
            report.add(&key, "hop", micros(percentile(&mut through, percent)));
        }
    }
    Ok(())
}

/// Writes the file with bytes of all values, as binary files have them.
fn write_file(device: &DeviceProcess, bytes: u64) -> io::Result<()> {
    let piece: Vec<u8> =
        (0..PIECE_BYTES as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut file = File::create(device.files().join("large"))?;
    (0..bytes / PIECE_BYTES).try_for_each(|_| file.write_all(&piece))
}

/// Reads the whole file and returns the time.
async fn read_file(runtime: &RelayConnection, bytes: u64) -> io::Result<Duration> {
    let started = Instant::now();
    let pieces = stream::iter((0..bytes / PIECE_BYTES).map(|piece| piece * PIECE_BYTES)).map(|offset| async move {
        let params = json!({
            "root_id": "main", "path": "large", "encoding": "binary", "offset": offset, "length": PIECE_BYTES,
        });
        let read = runtime.request("file.read", &RawJson::from_value(&params)).await.map_err(relay_failure)?;
        Ok::<_, io::Error>(read.bytes().len() as u64)
    });
    let mut pieces = pieces.buffered(PIECES_IN_FLIGHT);
    let mut received = 0;
    while let Some(piece) = pieces.next().await {
        received += piece?;
    }
    if received == bytes {
        Ok(started.elapsed())
    } else {
        Err(io::Error::other("only a part of the file arrived"))
    }
}

/// Sends as many bytes to a floor, receives them back and returns the time.
async fn echo_file(socket: &mut TungsteniteSocket, bytes: u64) -> io::Result<Duration> {
    let piece = Bytes::from(vec![7_u8; PIECE_BYTES as usize]);
    let pieces = bytes / PIECE_BYTES;
    let started = Instant::now();
    let (mut sink, mut source) = socket.split();
    // Permits limit the pieces in flight: the sender takes one per piece, and the receiver gives it back.
    let room = Semaphore::new(PIECES_IN_FLIGHT);
    // Send and receive concurrently. With sending only, both socket buffers could fill up and both sides would block.
    let send = async {
        for _ in 0..pieces {
            room.acquire().await.map_err(io::Error::other)?.forget();
            sink.send(Message::Binary(piece.clone())).await.map_err(io::Error::other)?;
        }
        io::Result::Ok(())
    };
    let receive = async {
        for _ in 0..pieces {
            match source.next().await {
                Some(Ok(Message::Binary(back))) if back.len() == piece.len() => room.add_permits(1),
                _ => return Err(io::Error::other("the floor failed")),
            }
        }
        Ok(())
    };
    tokio::try_join!(send, receive)?;
    Ok(started.elapsed())
}

/// Sends small messages to a floor one after the other and returns the round-trip time of each.
async fn echo_latencies(socket: &mut TungsteniteSocket, count: usize) -> io::Result<Vec<Duration>> {
    let small = "x".repeat(SMALL_BYTES);
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let started = Instant::now();
        socket.send(Message::text(small.as_str())).await.map_err(io::Error::other)?;
        let Some(Ok(Message::Text(_))) = socket.next().await else {
            return Err(io::Error::other("the floor failed"));
        };
        times.push(started.elapsed());
    }
    Ok(times)
}
