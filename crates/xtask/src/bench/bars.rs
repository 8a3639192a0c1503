//! What is asked of us: one row per figure, with its bar.

/// What a figure must not miss.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bar {
    /// Nothing: for information.
    Info,
    /// At most so much.
    Most(f64),
    /// At least so much.
    Least(f64),
    /// At most so many times the peer's.
    PeerMost(f64),
    /// At least so many times the peer's.
    PeerLeast(f64),
    /// At least so many times the (first) floor's.
    FloorLeast(f64),
    /// At most so many times the (first) floor's.
    FloorMost(f64),
    /// At most so much more than the (first) floor's.
    FloorAdds(f64),
}

/// One figure.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) title: &'static str,
    pub(crate) key: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) floors: &'static [&'static str],
    pub(crate) bar: Bar,
}

const fn row(
    title: &'static str,
    key: &'static str,
    unit: &'static str,
    floors: &'static [&'static str],
    bar: Bar,
) -> Row {
    Row { title, key, unit, floors, bar }
}

/// The grace period of an agent, and half a second.
const STOP_MS: f64 = 2500.0;

/// Of 64 MiB, what may stay in use after a DELETE: a twentieth.
const LEFT_MIB: f64 = 3.2;

/// Wall times repeat to about a fifth; "no slower" cannot be seen more exactly.
const NO_SLOWER: f64 = 1.2;

/// What 200 sessions may have in use.
const SESSIONS_MIB: f64 = 300.0;

/// A cost that grows with the load and no faster is the same per event, as far as that can be seen.
const LINEAR: f64 = 1.3;

/// What counts as flat: in a minute 100 workers say 7 MiB, which their snapshots hold, in texts that double as they grow.
const FLAT_MIB: f64 = 16.0;

/// The backlog of a worker, and what one socket may hold.
const STALLED_MIB: f64 = 16.0;

/// What the hub or a device may have in use, all in all, beside output that nobody reads.
const UNREAD_MIB: f64 = 64.0;

/// Of 5 000 requests a second; the last answers come a moment after the time is over.
const PACE_KEPT: f64 = 4_950.0;

/// What counts as flat: in half a minute 300 000 entries of the audit are written, of which pages are cached.
const LENT_FLAT_MIB: f64 = 8.0;

/// Every figure, in reading order.
#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    row("POST × 32: server CPU", "post.32.cpu", "µs", &["axum", "tcp"], Bar::PeerMost(0.2)),
    row("POST × 32: p50", "post.32.p50", "µs", &["axum", "tcp"], Bar::PeerMost(0.3)),
    row("POST × 32: p99", "post.32.p99", "µs", &["axum", "tcp"], Bar::Info),
    row("POST × 32: rate", "post.32.rate", "/s", &["axum", "tcp"], Bar::Info),
    row("POST × 1: server CPU", "post.1.cpu", "µs", &["axum", "tcp", "pipe"], Bar::PeerMost(0.6)),
    row("POST × 1: p50", "post.1.p50", "µs", &["axum", "tcp", "pipe"], Bar::PeerMost(0.75)),
    row("POST × 1: p99", "post.1.p99", "µs", &["axum", "tcp", "pipe"], Bar::Info),
    row("POST × 1: rate", "post.1.rate", "/s", &["axum", "tcp", "pipe"], Bar::Info),
    row("POST × 1: system calls", "syscalls", "", &[], Bar::Info),
    row("SSE 200 B × 50: source", "sse.200b50.rate", "/s", &["fanout"], Bar::PeerLeast(35.0)),
    row("SSE 200 B × 50: lost", "sse.200b50.loss", "%", &[], Bar::Most(0.0)),
    row("SSE 200 B × 50: doubled or out of order", "sse.200b50.disorder", "", &[], Bar::Most(0.0)),
    row("SSE 200 B × 50: server CPU per delivery", "sse.200b50.cpu", "µs", &["fanout"], Bar::Info),
    row("SSE 10 KB × 1", "sse.10k1.mbps", "MB/s", &["fanout"], Bar::PeerLeast(6.0)),
    row("SSE 10 KB × 1: lost", "sse.10k1.loss", "%", &[], Bar::Most(0.0)),
    row("SSE 10 KB × 1: server CPU per delivery", "sse.10k1.cpu", "µs", &["fanout"], Bar::Info),
    row("SSE 10 KB × 50, in all", "sse.10k50.mbps", "MB/s", &["fanout"], Bar::Info),
    row("SSE 10 KB × 50: lost", "sse.10k50.loss", "%", &[], Bar::Most(0.0)),
    row("SSE 500/s × 50: server CPU per delivery", "sse.paced.cpu", "µs", &[], Bar::Info),
    row("SSE 500/s × 50: lost", "sse.paced.loss", "%", &[], Bar::Most(0.0)),
    row("history of 200 B lines ÷ raw", "memory.200b.ratio", "×", &[], Bar::Most(1.15)),
    row("history of 1 KB lines ÷ raw", "memory.1k.ratio", "×", &[], Bar::Most(1.15)),
    row("history of 10 KB lines ÷ raw", "memory.10k.ratio", "×", &[], Bar::Most(1.15)),
    row("history of 1 MB lines ÷ raw", "memory.1m.ratio", "×", &[], Bar::Most(1.15)),
    row("the same, 200 B, ring of 64 MiB", "memory64.200b.ratio", "×", &[], Bar::Most(1.15)),
    row("the same, 1 KB, ring of 64 MiB", "memory64.1k.ratio", "×", &[], Bar::Most(1.15)),
    row("the same, 10 KB, ring of 64 MiB", "memory64.10k.ratio", "×", &[], Bar::Most(1.15)),
    row("the same, 1 MB, ring of 64 MiB", "memory64.1m.ratio", "×", &[], Bar::Most(1.15)),
    row("left of 64 MiB of 200 B lines after DELETE", "memory64.200b.left", "MiB", &[], Bar::Most(LEFT_MIB)),
    row("left of 64 MiB of 10 KB lines after DELETE", "memory64.10k.left", "MiB", &[], Bar::Most(LEFT_MIB)),
    row("left of 64 MiB of 1 MB lines after DELETE", "memory64.1m.left", "MiB", &[], Bar::Most(LEFT_MIB)),
    row("left of a ring as it comes, 1 MB lines", "memory.1m.left", "MiB", &[], Bar::Most(LEFT_MIB)),
    row("idle RSS", "connections.idle", "MiB", &[], Bar::Most(6.0)),
    row("per connection: silent", "connections.silent", "KiB", &[], Bar::Most(15.0)),
    row("per connection: after a request", "connections.keepalive", "KiB", &[], Bar::Most(15.0)),
    row("per connection: SSE reader", "connections.sse", "KiB", &[], Bar::Most(15.0)),
    row("start to the first 200", "start", "ms", &[], Bar::PeerMost(0.2)),
    row("first use of an agent in a fresh home", "first", "ms", &["hand"], Bar::FloorMost(1.3)),
    row("file PUT", "files.put", "MB/s", &["loopback", "cp"], Bar::FloorLeast(0.8)),
    row("file PUT: RSS growth", "files.put.grown", "MiB", &[], Bar::Most(64.0)),
    row("file GET", "files.get", "MB/s", &["loopback"], Bar::FloorLeast(0.8)),
    row("file GET: RSS growth", "files.get.grown", "MiB", &[], Bar::Most(64.0)),
    row("agent dies in mid-request: last output to answer", "death", "ms", &[], Bar::Most(50.0)),
    row("DELETE with a stubborn grandchild", "stop.delete", "ms", &[], Bar::Most(STOP_MS)),
    row("DELETE: survivors", "stop.delete.left", "", &[], Bar::Most(0.0)),
    row("SIGTERM with a stubborn grandchild", "stop.term", "ms", &[], Bar::Most(STOP_MS)),
    row("SIGTERM: survivors", "stop.term.left", "", &[], Bar::Most(0.0)),
    row("SIGINT with a stubborn grandchild", "stop.int", "ms", &[], Bar::Most(STOP_MS)),
    row("SIGINT: survivors", "stop.int.left", "", &[], Bar::Most(0.0)),
    row("SIGKILL: agents that survive", "stop.kill.agent", "", &[], Bar::Most(0.0)),
    row("SIGKILL: grandchildren that survive", "stop.kill.grandchild", "", &[], Bar::Info),
    row("durable journal: 300 B events", "journal.rate", "/s", &[], Bar::Least(150_000.0)),
    row("durable journal at 10 000/s: p50", "journal.p50", "ms", &["thread"], Bar::Info),
    row("durable journal at 10 000/s: p99", "journal.p99", "ms", &["thread"], Bar::FloorAdds(1.0)),
    row("durable journal: file ÷ raw", "journal.size", "×", &[], Bar::Info),
    row("durable journal: written ÷ raw", "journal.written", "×", &[], Bar::Info),
    row("50 sessions × 50/s × 2: lost", "sessions.50.lost", "", &[], Bar::Most(0.0)),
    row("50 sessions × 50/s × 2: append to reader, p99", "sessions.50.append.p99", "ms", &[], Bar::Info),
    row("50 sessions × 50/s × 2: agent to reader, p99", "sessions.50.p99", "ms", &[], Bar::Info),
    row("50 sessions × 50/s × 2: server CPU per event", "sessions.50.cpu", "µs", &[], Bar::Info),
    row("50 sessions × 50/s × 2: peak RSS", "sessions.50.rss", "MiB", &[], Bar::Info),
    row("100 sessions × 50/s × 2: lost", "sessions.100.lost", "", &[], Bar::Most(0.0)),
    row("100 sessions × 50/s × 2: append to reader, p99", "sessions.100.append.p99", "ms", &[], Bar::Info),
    row("100 sessions × 50/s × 2: agent to reader, p99", "sessions.100.p99", "ms", &[], Bar::Info),
    row("100 sessions × 50/s × 2: server CPU per event", "sessions.100.cpu", "µs", &[], Bar::Info),
    row("100 sessions × 50/s × 2: peak RSS", "sessions.100.rss", "MiB", &[], Bar::Info),
    row("200 sessions × 50/s × 2: lost", "sessions.200.lost", "", &[], Bar::Most(0.0)),
    row("200 sessions × 50/s × 2: doubled or out of order", "sessions.200.disorder", "", &[], Bar::Most(0.0)),
    row("200 sessions × 50/s × 2: agent to reader, p50", "sessions.200.p50", "ms", &[], Bar::Info),
    row("200 sessions × 50/s × 2: append to reader, p50", "sessions.200.append.p50", "ms", &[], Bar::Info),
    row("200 sessions × 50/s × 2: append to reader, p99", "sessions.200.append.p99", "ms", &[], Bar::Most(25.0)),
    row("200 sessions × 50/s × 2: agent to reader, p99", "sessions.200.p99", "ms", &[], Bar::Info),
    row("200 sessions × 50/s × 2: server CPU per event", "sessions.200.cpu", "µs", &[], Bar::Info),
    row("200 sessions × 50/s × 2: peak RSS", "sessions.200.rss", "MiB", &[], Bar::Most(SESSIONS_MIB)),
    row("200 sessions with all that is kept in memory: peak RSS", "sessions.200.full", "MiB", &[], Bar::Most(SESSIONS_MIB)),
    row("CPU per event, 200 sessions ÷ 50", "sessions.growth", "×", &[], Bar::Most(LINEAR)),
    row("permission answered to line at the agent: p50", "permission.p50", "ms", &[], Bar::Most(5.0)),
    row("permission answered to line at the agent: p99", "permission.p99", "ms", &[], Bar::Info),
    row("session of 100 000 events: first opened", "open.first", "ms", &[], Bar::Most(100.0)),
    row("session of 100 000 events: opened again", "open.again", "ms", &[], Bar::Info),
    row("session of 100 000 events: opened after SIGKILL in a turn", "open.killed", "ms", &[], Bar::Most(100.0)),
    row("session of 100 000 events: all pages", "open.paged", "ms", &[], Bar::Info),
    row("session of 100 000 events: all pages, RSS growth", "open.paged.grown", "MiB", &[], Bar::Most(32.0)),
    row("hub, 100 workers × 20 clients × 20/s: lost", "hub.lost", "", &[], Bar::Most(0.0)),
    row("hub: doubled or out of order", "hub.disorder", "", &[], Bar::Most(0.0)),
    row("hub: CPU per delivered event", "hub.cpu", "µs", &["axum"], Bar::FloorMost(2.0)),
    row("hub: agent to client, p50", "hub.p50", "ms", &["direct", "axum"], Bar::Info),
    row("hub: agent to client, p99", "hub.p99", "ms", &["direct", "axum"], Bar::Info),
    row("hub: RSS", "hub.rss", "MiB", &[], Bar::Info),
    row("hub: RSS growth in the second minute", "hub.grown", "MiB", &[], Bar::Most(FLAT_MIB)),
    row("hub, 99 clients of a worker at 400/s: p99", "hub.stalled.without", "ms", &[], Bar::Info),
    row("hub, 99 clients beside one that never reads: p99", "hub.stalled.with", "ms", &[], Bar::Info),
    row("hub, beside one that never reads: lost", "hub.stalled.lost", "", &[], Bar::Most(0.0)),
    row("hub, beside one that never reads: RSS growth", "hub.stalled.grown", "MiB", &[], Bar::Most(STALLED_MIB)),
    row("hub, the one that never reads was not told (1 = yes)", "hub.stalled.silent", "", &[], Bar::Most(0.0)),
    row("hub, the one that never reads came back (1 = yes)", "hub.stalled.resumed", "", &[], Bar::Least(1.0)),
    row("device, 256 MB through the hub", "relay.read", "MB/s", &["echo", "hop"], Bar::FloorLeast(0.4)),
    row("device, 256 MB: CPU of the hub per byte", "relay.read.hub", "ns", &[], Bar::Info),
    row("device, 256 MB: CPU of the device per byte", "relay.read.device", "ns", &[], Bar::Info),
    row("device, small request: p50", "relay.stat.p50", "µs", &["hop", "echo"], Bar::FloorMost(3.0)),
    row("device, small request: p99", "relay.stat.p99", "µs", &["hop", "echo"], Bar::Info),
    row("device, 1 GB of output that nobody reads: RSS of the hub", "relay.flood.hub", "MiB", &[], Bar::Most(UNREAD_MIB)),
    row("device, 1 GB of output that nobody reads: RSS of the device", "relay.flood.device", "MiB", &[], Bar::Most(UNREAD_MIB)),
    row("device, 1 GB of output that nobody reads: other requests, p50", "relay.flood.p50", "ms", &[], Bar::Info),
    row("device, 1 GB of output that nobody reads: other requests, p99", "relay.flood.p99", "ms", &[], Bar::Most(50.0)),
    row("500 devices, 5 000 requests/s: errors", "relay.many.errors", "", &[], Bar::Most(0.0)),
    row("500 devices: answered", "relay.many.rate", "/s", &[], Bar::Least(PACE_KEPT)),
    row("500 devices: p50", "relay.many.p50", "ms", &[], Bar::Info),
    row("500 devices: p99", "relay.many.p99", "ms", &[], Bar::Info),
    row("500 devices: CPU of the hub per request", "relay.many.cpu", "µs", &[], Bar::Info),
    row("500 devices: RSS of the hub", "relay.many.rss", "MiB", &[], Bar::Info),
    row("500 devices: RSS growth of the hub in the second half minute", "relay.many.grown", "MiB", &[], Bar::Most(LENT_FLAT_MIB)),
    row("200 MB beside 0 stalled readers", "stalled.without", "ms", &[], Bar::Info),
    row("200 MB beside 10 stalled readers", "stalled.with", "ms", &[], Bar::Info),
    row("10 stalled readers ÷ none", "stalled.ratio", "×", &[], Bar::Most(NO_SLOWER)),
    row("beside 10 stalled readers: lost", "stalled.loss", "%", &[], Bar::Most(0.0)),
    row("beside 10 stalled readers: RSS growth", "stalled.grown", "MiB", &[], Bar::Info),
    row("a stalled reader missed", "stalled.missed", "%", &[], Bar::Info),
    row("a stalled reader missed in silence (1 = yes)", "stalled.silent", "", &[], Bar::Most(0.0)),
];
