//! Every figure that a run reports, and the bar that it has to meet.

/// The limit that a figure must meet.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PerformanceBar {
    /// No limit: the figure is for information.
    Info,
    /// At most this value.
    Most(f64),
    /// At least this value.
    Least(f64),
    /// At most this multiple of the peer's figure.
    PeerMost(f64),
    /// At least this multiple of the peer's figure.
    PeerLeast(f64),
    /// At least this multiple of the first floor's figure.
    FloorLeast(f64),
    /// At most this multiple of the first floor's figure.
    FloorMost(f64),
    /// At most this much above the first floor's figure.
    FloorAdds(f64),
}

/// One row of the table: a figure, its unit and its limit.
#[derive(Debug)]
pub(crate) struct BenchRow {
    pub(crate) title: &'static str,
    pub(crate) key: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) floors: &'static [&'static str],
    pub(crate) bar: PerformanceBar,
}

const fn row(
    title: &'static str,
    key: &'static str,
    unit: &'static str,
    floors: &'static [&'static str],
    bar: PerformanceBar,
) -> BenchRow {
    BenchRow { title, key, unit, floors, bar }
}

/// The grace period of an agent plus half a second.
const STOP_MS: f64 = 2500.0;

/// Memory that may stay in use after 64 MiB of history were deleted: a twentieth.
const LEFT_MIB: f64 = 3.2;

/// Wall times repeat to about 20 %, so "no slower" cannot be told more exactly.
const NO_SLOWER: f64 = 1.2;

/// Memory limit for 200 sessions.
const SESSIONS_MIB: f64 = 300.0;

/// Cost per event at four times the load, relative to the smaller load. Above 1 only by the spread of the measurement.
const LINEAR: f64 = 1.3;

/// Growth that counts as flat: 100 workers write 7 MiB in a minute, which their snapshots hold in buffers that double.
const FLAT_MIB: f64 = 16.0;

/// The backlog of one worker plus the send buffer of one socket.
const STALLED_MIB: f64 = 16.0;

/// Total memory of the hub or a device while one client does not read its output.
const UNREAD_MIB: f64 = 64.0;

/// Of 5 000 requests a second; the last responses arrive just after the measured time.
const PACE_KEPT: f64 = 4_950.0;

/// Growth that counts as flat: 300 000 audit entries are written in half a minute, and SQLite caches pages of them.
const LENT_FLAT_MIB: f64 = 8.0;

/// Every figure, in reading order.
#[rustfmt::skip]
pub(crate) const ROWS: &[BenchRow] = &[
    row("POST × 32: server CPU", "post.32.cpu", "µs", &["axum", "tcp"], PerformanceBar::PeerMost(0.2)),
    row("POST × 32: p50", "post.32.p50", "µs", &["axum", "tcp"], PerformanceBar::PeerMost(0.3)),
    row("POST × 32: p99", "post.32.p99", "µs", &["axum", "tcp"], PerformanceBar::Info),
    row("POST × 32: rate", "post.32.rate", "/s", &["axum", "tcp"], PerformanceBar::Info),
    row("POST × 1: server CPU", "post.1.cpu", "µs", &["axum", "tcp", "pipe"], PerformanceBar::PeerMost(0.6)),
    row("POST × 1: p50", "post.1.p50", "µs", &["axum", "tcp", "pipe"], PerformanceBar::PeerMost(0.75)),
    row("POST × 1: p99", "post.1.p99", "µs", &["axum", "tcp", "pipe"], PerformanceBar::Info),
    row("POST × 1: rate", "post.1.rate", "/s", &["axum", "tcp", "pipe"], PerformanceBar::Info),
    row("POST × 1: system calls", "syscalls", "", &[], PerformanceBar::Info),
    row("SSE 200 B × 50: source", "sse.200b50.rate", "/s", &["fanout"], PerformanceBar::PeerLeast(35.0)),
    row("SSE 200 B × 50: lost", "sse.200b50.loss", "%", &[], PerformanceBar::Most(0.0)),
    row("SSE 200 B × 50: doubled or out of order", "sse.200b50.disorder", "", &[], PerformanceBar::Most(0.0)),
    row("SSE 200 B × 50: server CPU per delivery", "sse.200b50.cpu", "µs", &["fanout"], PerformanceBar::Info),
    row("SSE 10 KB × 1", "sse.10k1.mbps", "MB/s", &["fanout"], PerformanceBar::PeerLeast(6.0)),
    row("SSE 10 KB × 1: lost", "sse.10k1.loss", "%", &[], PerformanceBar::Most(0.0)),
    row("SSE 10 KB × 1: server CPU per delivery", "sse.10k1.cpu", "µs", &["fanout"], PerformanceBar::Info),
    row("SSE 10 KB × 50, in all", "sse.10k50.mbps", "MB/s", &["fanout"], PerformanceBar::Info),
    row("SSE 10 KB × 50: lost", "sse.10k50.loss", "%", &[], PerformanceBar::Most(0.0)),
    row("SSE 500/s × 50: server CPU per delivery", "sse.paced.cpu", "µs", &[], PerformanceBar::Info),
    row("SSE 500/s × 50: lost", "sse.paced.loss", "%", &[], PerformanceBar::Most(0.0)),
    row("history of 200 B lines ÷ raw", "memory.200b.ratio", "×", &[], PerformanceBar::Most(1.15)),
    row("history of 1 KB lines ÷ raw", "memory.1k.ratio", "×", &[], PerformanceBar::Most(1.15)),
    row("history of 10 KB lines ÷ raw", "memory.10k.ratio", "×", &[], PerformanceBar::Most(1.15)),
    row("history of 1 MB lines ÷ raw", "memory.1m.ratio", "×", &[], PerformanceBar::Most(1.15)),
    row("the same, 200 B, ring of 64 MiB", "memory64.200b.ratio", "×", &[], PerformanceBar::Most(1.15)),
    row("the same, 1 KB, ring of 64 MiB", "memory64.1k.ratio", "×", &[], PerformanceBar::Most(1.15)),
    row("the same, 10 KB, ring of 64 MiB", "memory64.10k.ratio", "×", &[], PerformanceBar::Most(1.15)),
    row("the same, 1 MB, ring of 64 MiB", "memory64.1m.ratio", "×", &[], PerformanceBar::Most(1.15)),
    row("left of 64 MiB of 200 B lines after DELETE", "memory64.200b.left", "MiB", &[], PerformanceBar::Most(LEFT_MIB)),
    row("left of 64 MiB of 10 KB lines after DELETE", "memory64.10k.left", "MiB", &[], PerformanceBar::Most(LEFT_MIB)),
    row("left of 64 MiB of 1 MB lines after DELETE", "memory64.1m.left", "MiB", &[], PerformanceBar::Most(LEFT_MIB)),
    row("left of a ring as it comes, 1 MB lines", "memory.1m.left", "MiB", &[], PerformanceBar::Most(LEFT_MIB)),
    row("idle RSS", "connections.idle", "MiB", &[], PerformanceBar::Most(6.0)),
    row("per connection: silent", "connections.silent", "KiB", &[], PerformanceBar::Most(15.0)),
    row("per connection: after a request", "connections.keepalive", "KiB", &[], PerformanceBar::Most(15.0)),
    row("per connection: SSE reader", "connections.sse", "KiB", &[], PerformanceBar::Most(15.0)),
    row("start to the first 200", "start", "ms", &[], PerformanceBar::PeerMost(0.2)),
    row("first use of an agent in a fresh home", "first", "ms", &["hand"], PerformanceBar::FloorMost(1.3)),
    row("file PUT", "files.put", "MB/s", &["loopback", "cp"], PerformanceBar::FloorLeast(0.8)),
    row("file PUT: RSS growth", "files.put.grown", "MiB", &[], PerformanceBar::Most(64.0)),
    row("file GET", "files.get", "MB/s", &["loopback"], PerformanceBar::FloorLeast(0.8)),
    row("file GET: RSS growth", "files.get.grown", "MiB", &[], PerformanceBar::Most(64.0)),
    row("agent dies in mid-request: last output to answer", "death", "ms", &[], PerformanceBar::Most(50.0)),
    row("DELETE with a stubborn grandchild", "stop.delete", "ms", &[], PerformanceBar::Most(STOP_MS)),
    row("DELETE: survivors", "stop.delete.left", "", &[], PerformanceBar::Most(0.0)),
    row("SIGTERM with a stubborn grandchild", "stop.term", "ms", &[], PerformanceBar::Most(STOP_MS)),
    row("SIGTERM: survivors", "stop.term.left", "", &[], PerformanceBar::Most(0.0)),
    row("SIGINT with a stubborn grandchild", "stop.int", "ms", &[], PerformanceBar::Most(STOP_MS)),
    row("SIGINT: survivors", "stop.int.left", "", &[], PerformanceBar::Most(0.0)),
    row("SIGKILL: agents that survive", "stop.kill.agent", "", &[], PerformanceBar::Most(0.0)),
    row("SIGKILL: grandchildren that survive", "stop.kill.grandchild", "", &[], PerformanceBar::Info),
    row("durable journal: 300 B events", "journal.rate", "/s", &[], PerformanceBar::Least(150_000.0)),
    row("durable journal at 10 000/s: p50", "journal.p50", "ms", &["thread"], PerformanceBar::Info),
    row("durable journal at 10 000/s: p99", "journal.p99", "ms", &["thread"], PerformanceBar::FloorAdds(1.0)),
    row("durable journal: file ÷ raw", "journal.size", "×", &[], PerformanceBar::Info),
    row("durable journal: written ÷ raw", "journal.written", "×", &[], PerformanceBar::Info),
    row("50 sessions × 50/s × 2: lost", "sessions.50.lost", "", &[], PerformanceBar::Most(0.0)),
    row("50 sessions × 50/s × 2: append to reader, p99", "sessions.50.append.p99", "ms", &[], PerformanceBar::Info),
    row("50 sessions × 50/s × 2: agent to reader, p99", "sessions.50.p99", "ms", &[], PerformanceBar::Info),
    row("50 sessions × 50/s × 2: server CPU per event", "sessions.50.cpu", "µs", &[], PerformanceBar::Info),
    row("50 sessions × 50/s × 2: peak RSS", "sessions.50.rss", "MiB", &[], PerformanceBar::Info),
    row("100 sessions × 50/s × 2: lost", "sessions.100.lost", "", &[], PerformanceBar::Most(0.0)),
    row("100 sessions × 50/s × 2: append to reader, p99", "sessions.100.append.p99", "ms", &[], PerformanceBar::Info),
    row("100 sessions × 50/s × 2: agent to reader, p99", "sessions.100.p99", "ms", &[], PerformanceBar::Info),
    row("100 sessions × 50/s × 2: server CPU per event", "sessions.100.cpu", "µs", &[], PerformanceBar::Info),
    row("100 sessions × 50/s × 2: peak RSS", "sessions.100.rss", "MiB", &[], PerformanceBar::Info),
    row("200 sessions × 50/s × 2: lost", "sessions.200.lost", "", &[], PerformanceBar::Most(0.0)),
    row("200 sessions × 50/s × 2: doubled or out of order", "sessions.200.disorder", "", &[], PerformanceBar::Most(0.0)),
    row("200 sessions × 50/s × 2: agent to reader, p50", "sessions.200.p50", "ms", &[], PerformanceBar::Info),
    row("200 sessions × 50/s × 2: append to reader, p50", "sessions.200.append.p50", "ms", &[], PerformanceBar::Info),
    row("200 sessions × 50/s × 2: append to reader, p99", "sessions.200.append.p99", "ms", &[], PerformanceBar::Most(25.0)),
    row("200 sessions × 50/s × 2: agent to reader, p99", "sessions.200.p99", "ms", &[], PerformanceBar::Info),
    row("200 sessions × 50/s × 2: server CPU per event", "sessions.200.cpu", "µs", &[], PerformanceBar::Info),
    row("200 sessions × 50/s × 2: peak RSS", "sessions.200.rss", "MiB", &[], PerformanceBar::Most(SESSIONS_MIB)),
    row("200 sessions with all that is kept in memory: peak RSS", "sessions.200.full", "MiB", &[], PerformanceBar::Most(SESSIONS_MIB)),
    row("CPU per event, 200 sessions ÷ 50", "sessions.growth", "×", &[], PerformanceBar::Most(LINEAR)),
    row("permission answered to line at the agent: p50", "permission.p50", "ms", &[], PerformanceBar::Most(5.0)),
    row("permission answered to line at the agent: p99", "permission.p99", "ms", &[], PerformanceBar::Info),
    row("session of 100 000 events: first opened", "open.first", "ms", &[], PerformanceBar::Most(100.0)),
    row("session of 100 000 events: opened again", "open.again", "ms", &[], PerformanceBar::Info),
    row("session of 100 000 events: opened after SIGKILL in a turn", "open.killed", "ms", &[], PerformanceBar::Most(100.0)),
    row("session of 100 000 events: all pages", "open.paged", "ms", &[], PerformanceBar::Info),
    row("session of 100 000 events: all pages, RSS growth", "open.paged.grown", "MiB", &[], PerformanceBar::Most(32.0)),
    row("hub, 100 workers × 20 clients × 20/s: lost", "hub.lost", "", &[], PerformanceBar::Most(0.0)),
    row("hub: doubled or out of order", "hub.disorder", "", &[], PerformanceBar::Most(0.0)),
    row("hub: CPU per delivered event", "hub.cpu", "µs", &["axum"], PerformanceBar::FloorMost(2.0)),
    row("hub: agent to client, p50", "hub.p50", "ms", &["direct", "axum"], PerformanceBar::Info),
    row("hub: agent to client, p99", "hub.p99", "ms", &["direct", "axum"], PerformanceBar::Info),
    row("hub: RSS", "hub.rss", "MiB", &[], PerformanceBar::Info),
    row("hub: RSS growth in the second minute", "hub.grown", "MiB", &[], PerformanceBar::Most(FLAT_MIB)),
    row("hub, 99 clients of a worker at 400/s: p99", "hub.stalled.without", "ms", &[], PerformanceBar::Info),
    row("hub, 99 clients beside one that never reads: p99", "hub.stalled.with", "ms", &[], PerformanceBar::Info),
    row("hub, beside one that never reads: lost", "hub.stalled.lost", "", &[], PerformanceBar::Most(0.0)),
    row("hub, beside one that never reads: RSS growth", "hub.stalled.grown", "MiB", &[], PerformanceBar::Most(STALLED_MIB)),
    row("hub, the one that never reads was not told (1 = yes)", "hub.stalled.silent", "", &[], PerformanceBar::Most(0.0)),
    row("hub, the one that never reads came back (1 = yes)", "hub.stalled.resumed", "", &[], PerformanceBar::Least(1.0)),
    row("device, 256 MB through the hub", "relay.read", "MB/s", &["echo", "hop"], PerformanceBar::FloorLeast(0.4)),
    row("device, 256 MB: CPU of the hub per byte", "relay.read.hub", "ns", &[], PerformanceBar::Info),
    row("device, 256 MB: CPU of the device per byte", "relay.read.device", "ns", &[], PerformanceBar::Info),
    row("device, small request: p50", "relay.stat.p50", "µs", &["hop", "echo"], PerformanceBar::FloorMost(3.0)),
    row("device, small request: p99", "relay.stat.p99", "µs", &["hop", "echo"], PerformanceBar::Info),
    row("device, 1 GB of output that nobody reads: RSS of the hub", "relay.flood.hub", "MiB", &[], PerformanceBar::Most(UNREAD_MIB)),
    row("device, 1 GB of output that nobody reads: RSS of the device", "relay.flood.device", "MiB", &[], PerformanceBar::Most(UNREAD_MIB)),
    row("device, 1 GB of output that nobody reads: other requests, p50", "relay.flood.p50", "ms", &[], PerformanceBar::Info),
    row("device, 1 GB of output that nobody reads: other requests, p99", "relay.flood.p99", "ms", &[], PerformanceBar::Most(50.0)),
    row("500 devices, 5 000 requests/s: errors", "relay.many.errors", "", &[], PerformanceBar::Most(0.0)),
    row("500 devices: answered", "relay.many.rate", "/s", &[], PerformanceBar::Least(PACE_KEPT)),
    row("500 devices: p50", "relay.many.p50", "ms", &[], PerformanceBar::Info),
    row("500 devices: p99", "relay.many.p99", "ms", &[], PerformanceBar::Info),
    row("500 devices: CPU of the hub per request", "relay.many.cpu", "µs", &[], PerformanceBar::Info),
    row("500 devices: RSS of the hub", "relay.many.rss", "MiB", &[], PerformanceBar::Info),
    row("500 devices: RSS growth of the hub in the second half minute", "relay.many.grown", "MiB", &[], PerformanceBar::Most(LENT_FLAT_MIB)),
    row("200 MB beside 0 stalled readers", "stalled.without", "ms", &[], PerformanceBar::Info),
    row("200 MB beside 10 stalled readers", "stalled.with", "ms", &[], PerformanceBar::Info),
    row("10 stalled readers ÷ none", "stalled.ratio", "×", &[], PerformanceBar::Most(NO_SLOWER)),
    row("beside 10 stalled readers: lost", "stalled.loss", "%", &[], PerformanceBar::Most(0.0)),
    row("beside 10 stalled readers: RSS growth", "stalled.grown", "MiB", &[], PerformanceBar::Info),
    row("a stalled reader missed", "stalled.missed", "%", &[], PerformanceBar::Info),
    row("a stalled reader missed in silence (1 = yes)", "stalled.silent", "", &[], PerformanceBar::Most(0.0)),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// observation-74: the load test of the hub has a result on the page for every figure, and nothing was lost or out of order.
    #[test]
    fn the_load_test_of_the_hub_is_recorded() {
        let page = std::fs::read_to_string(crate::sh::root().join("docs/benchmarks.md")).unwrap();
        let rows: Vec<Vec<&str>> =
            page.lines().map(|line| line.split('|').map(str::trim).collect()).collect();
        let mut found = 0;
        for row in ROWS.iter().filter(|row| row.key.starts_with("hub.")) {
            let cells = rows.iter().find(|cells| cells.get(1) == Some(&row.title));
            let cells = cells.unwrap_or_else(|| panic!("{} is not on the page", row.title));
            let figure = cells[2].split(' ').next().unwrap();
            assert!(figure.parse::<f64>().is_ok(), "{}: {figure}", row.title);
            if ["hub.lost", "hub.disorder", "hub.grown", "hub.stalled.lost"].contains(&row.key) {
                assert_eq!(cells[7], "met", "{}", row.title);
            }
            found += 1;
        }
        assert!(found > 10, "{found}");
    }
}
