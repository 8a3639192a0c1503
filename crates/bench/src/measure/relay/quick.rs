//! A large file in pieces, and small requests one after the other, through device, hub and environment; beside the same
//! bytes that a bare WebSocket sends back, and what a bare one sends back through another.

use std::{
    fs::File,
    io::{self, Write},
    time::{Duration, Instant},
};

use futures_util::{SinkExt, StreamExt, stream};
use protocol::relay::Json;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio_tungstenite::tungstenite::{Bytes, Message, protocol::WebSocketConfig};

use super::percentile;
use crate::{
    Lab, Report,
    floor::FloorServer,
    lent::{Device, End, Lender, Ws, failed, websocket},
    measure::micros,
    proc,
};

/// How large the file is, …
const FILE_BYTES: u64 = 1364 * PIECE_BYTES;
/// … how much is asked for at once, …
const PIECE_BYTES: u64 = 192 << 10;
/// … and how many pieces are on their way at once, of ours and of the floor.
const PIECES: usize = 4;

/// What a small message of the floor is as long as: a request for the length of a file.
const SMALL_BYTES: usize = 128;

/// Touches the code on both ways before the clock runs.
const WARM_UP: usize = 200;

pub(super) async fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let lender = Lender::start(lab).await;
    let device = Device::connect(lab, &lender).await?;
    let bytes = lab.size(FILE_BYTES, FILE_BYTES / 4);
    write(&device, bytes)?;
    let runtime = lender.runtime(&lender.door("laptop").await?).await?;
    let floor = FloorServer::start(&lab.own, ["ws"])?;
    let base = format!("http://{}", floor.address());
    let mut echo = websocket(&base, "/echo", None, WebSocketConfig::default()).await?;
    let hop = FloorServer::start(&lab.own, ["ws-hop", &format!("ws://{}/echo", floor.address())])?;
    let base = format!("http://{}", hop.address());
    let mut hop = websocket(&base, "/echo", None, WebSocketConfig::default()).await?;
    stats(&runtime, WARM_UP).await?;
    for _ in 0..lab.size(5, 2) {
        let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
        let before = (proc::cpu(lender.pid()), proc::cpu(device.pid()));
        report.add("relay.read", "ours", rate(read(&runtime, bytes).await?));
        let cpu = |used: Duration| used.as_secs_f64() * 1e9 / bytes as f64;
        report.add("relay.read.hub", "ours", cpu(proc::cpu(lender.pid()) - before.0));
        report.add("relay.read.device", "ours", cpu(proc::cpu(device.pid()) - before.1));
        report.add("relay.read", "echo", rate(echoed(&mut echo, bytes).await?));
        report.add("relay.read", "hop", rate(echoed(&mut hop, bytes).await?));
        let count = lab.size(5_000, 1_000);
        let mut ours = stats(&runtime, count).await?;
        let mut bare = echoes(&mut echo, count).await?;
        let mut through = echoes(&mut hop, count).await?;
        for percent in [50, 99] {
            let key = format!("relay.stat.p{percent}");
            report.add(&key, "ours", micros(percentile(&mut ours, percent)));
            report.add(&key, "echo", micros(percentile(&mut bare, percent)));
            report.add(&key, "hop", micros(percentile(&mut through, percent)));
        }
    }
    Ok(())
}

/// Bytes of every kind, as files that are not text have them.
fn write(device: &Device, bytes: u64) -> io::Result<()> {
    let piece: Vec<u8> =
        (0..PIECE_BYTES as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut file = File::create(device.files().join("large"))?;
    (0..bytes / PIECE_BYTES).try_for_each(|_| file.write_all(&piece))
}

/// Reads the file; how long that took.
async fn read(runtime: &End, bytes: u64) -> io::Result<Duration> {
    let started = Instant::now();
    let pieces = stream::iter((0..bytes / PIECE_BYTES).map(|piece| piece * PIECE_BYTES)).map(|offset| async move {
        let params = json!({
            "root_id": "main", "path": "large", "encoding": "binary", "offset": offset, "length": PIECE_BYTES,
        });
        let read = runtime.ask("file.read", &Json::from_value(&params)).await.map_err(failed)?;
        Ok::<_, io::Error>(read.bytes().len() as u64)
    });
    let mut pieces = pieces.buffered(PIECES);
    let mut came = 0;
    while let Some(piece) = pieces.next().await {
        came += piece?;
    }
    if came == bytes { Ok(started.elapsed()) } else { Err(io::Error::other("the file came in part")) }
}

/// Sends as many bytes and gets them back; how long that took.
async fn echoed(socket: &mut Ws, bytes: u64) -> io::Result<Duration> {
    let piece = Bytes::from(vec![7_u8; PIECE_BYTES as usize]);
    let pieces = bytes / PIECE_BYTES;
    let started = Instant::now();
    let (mut sink, mut source) = socket.split();
    let room = Semaphore::new(PIECES);
    // At once, as neither side may have room for all that is on its way.
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

/// Asks so many times, one after the other; how long each took.
async fn stats(runtime: &End, count: usize) -> io::Result<Vec<Duration>> {
    let params = Json::from_value(&json!({ "root_id": "main", "path": "large" }));
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let started = Instant::now();
        runtime.ask("file.stat", &params).await.map_err(failed)?;
        times.push(started.elapsed());
    }
    Ok(times)
}

/// The same of the floor.
async fn echoes(socket: &mut Ws, count: usize) -> io::Result<Vec<Duration>> {
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
