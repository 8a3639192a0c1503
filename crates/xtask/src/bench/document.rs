//! The document that keeps the last table.

use super::{figures::Report, table::Table};

const METHOD: &str = "\
# Benchmarks

Written by `cargo xtask bench --against PATH --write`; the figures of a run with every sample go to `target/bench.json`.

## Method

- Our daemon, the floors and the peer (any server of the same routes; here `sandbox-agent` 0.4.2 of the npm package
  `@sandbox-agent/cli-linux-x64`) are measured **in one run, in turns**; each figure is the median of several rounds.
  Everything talks over 127.0.0.1. The load generator, the agent and the server share the cores.
- The **same stub agent** (`bench-stub`) runs behind both servers: it answers at once, and on demand floods its output
  with numbered lines of an exact size, dies, or leaves a child behind that ignores every polite signal.
- One spinner of the lowest priority (`SCHED_IDLE`) per core keeps virtual cores awake, but for the journal and the
  many sessions: a core that never rests takes over nothing that waits for another. Wall times still repeat only to about ±20 %; CPU is the server's own, from `/proc/PID/stat`, and counts more.
- **POST**: a closed loop on 32 connections or one; each answer is checked for its id. Floors: *axum* is a bare axum echo,
  *tcp* a thread per connection that sends back what comes, *pipe* the stub asked over its bare pipes.
- **SSE**: from the request for the flood to the last line of the last reader, all readers on one thread. Loss is counted
  by the running numbers that each reader gets. The peer gets fewer lines, as it would take minutes otherwise.
  *fanout* is the floor: what one read of the pipe gives is copied to every socket, without HTTP, history or cursors.
- **History**: growth of the RSS during a flood of several times what the ring keeps, divided by the raw bytes of the
  lines that a new reader can still get, a second after the last line; then what is left of it after DELETE. Each size on
  a fresh server. The lines are letters at random, which are harder to pack than what agents write.
- **Connections**: 500 of each kind on a fresh server. **Start**: from `spawn` to the first 200 on `/v1/health`.
- **First use**: the first message to a real agent (claude) in a fresh home, when another home has had it before; *hand*
  is the same command as the daemon ran, started with the same variables, to the same answer.
- **Files**: 1 GiB. *loopback* is file → socket → file with blocking calls of 256 KiB in two processes; *cp* is read and
  write in one. Our client does the same file work. RSS growth is the peak during the copy.
- **Death**: the agent's last line carries the time of its writing. **Stop**: grace period 2 s.
- **Stalled**: ten streams that are opened and not read, beside one that is.
- **Sessions**: each with an agent process of its own, that writes into every piece of text when it wrote it: agent to
  reader is more than from the journal to the reader. All readers on one thread. RSS is the server's, without the agents.
  **Permission**: from before the `POST` is sent to when the agent has read the answer. **Open**: snapshot, and then the
  head of the stream, of a session of 50 turns; first opened after the server was started anew.
- **Hub**: a hub, a daemon and a stub agent for each worker; every client is a WebSocket, all of them on one thread.
  *direct* is the same for ten workers watched at the daemon, *axum* a bare broadcast of frames of the same length at the same
  pace to as many clients. CPU is the hub's, without the daemon and the agents.
- **Relay**: a hub, a device and a runtime that uses it over a WebSocket. *echo* is a bare WebSocket (axum) that sends back what
  comes: the same bytes as the file has, as many pieces on their way at once. Of the output that nobody reads, one command waits
  for its reader and another runs to its end; the growth is the peak. The 500 devices are connections of the load generator,
  each with a token of its own; times count from when a request was due.
- *ratio* is ours ÷ peer, or ours ÷ the first floor where the bar names the floor.
";

pub(crate) fn render(report: &Report, table: &Table) -> String {
    let kind = if report.quick { "A quick run" } else { "A full run" };
    format!(
        "{METHOD}\n## The last table\n\n{kind} of {:.0} s on {}.\n\n{}\n{}.\n",
        report.seconds,
        report.machine(),
        table.render(),
        table.summary(),
    )
}
