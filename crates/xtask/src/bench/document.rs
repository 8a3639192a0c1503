//! Renders `docs/benchmarks.md`: the method and the latest table.

use super::{figures::BenchReport, table::BenchTable};

const METHOD: &str = "\
# Benchmarks

`cargo xtask bench --against PATH --write` writes this file; every sample of a run is in `target/bench.json`. `cargo xtask bench
--baseline PATH` compares an earlier build with the current one, in turns.

## Method

- Our daemon, the floors and the peer (any server with the same routes; here `sandbox-agent` 0.4.2 from the npm package
  `@sandbox-agent/cli-linux-x64`) are measured **in one run, in turns**. Each figure is the median of several rounds. All traffic
  is on 127.0.0.1. The load generator, the agent and the server share the cores.
- A *floor* is the simplest program that does comparable work. It shows how much of a figure is unavoidable on this machine.
- Both servers run the **same stub agent** (`bench-stub`). It answers at once; on demand it floods its output with numbered lines of
  an exact size, dies, or leaves a child behind that ignores SIGTERM.
- One spinner with the lowest priority (`SCHED_IDLE`) per core keeps virtual cores awake, except for the journal and many-sessions
  rows: there a core that never sleeps would keep the scheduler from moving waiting work to it. Wall times still vary by about ±20 %
  between runs. CPU time is the server's own, from `/proc/PID/stat`, and is more reliable.
- **POST**: a closed loop on 32 connections or one; the id of each response is checked. Floors: *axum* is a bare axum echo server, *tcp* a
  thread per connection that echoes bytes, *pipe* the stub agent over bare pipes.
- **SSE**: from the request that starts the flood to the last line of the last reader; all readers share one thread. Lost lines are
  counted by their numbers. The peer gets fewer lines because it would take minutes otherwise. The floor *fanout* copies each
  read of the pipe to every socket, without HTTP, history or cursors.
- **History**: RSS growth during a flood of several times the ring's capacity, divided by the raw bytes of the lines that a new
  reader can still get, one second after the last line; then the growth that remains after DELETE. Each size has a fresh server.
  The lines are random letters, which compress worse than real agent output.
- **Connections**: 500 of each kind on a fresh server. **Start**: from `spawn` to the first 200 on `/v1/health`.
- **First use**: the first message to a real agent (claude) in a fresh home directory, when another home already has the agent. The floor
  *hand* runs the daemon's command by hand, with the same variables, up to the same answer.
- **Files**: 1 GiB. The floor *loopback* copies file to socket to file with blocking calls of 256 KiB in two processes; *cp* reads and
  writes in one process. Our client does the same file work. RSS growth is the peak during the copy.
- **Death**: the agent's last line carries the time when it was written. **Stop**: the grace period is 2 s.
- **Stalled**: ten streams that are opened and never read, beside one that is read.
- **Sessions**: each session has its own agent process, which writes the current time into every piece of text, so *agent to reader*
  includes more than *journal to reader*. All readers share one thread. RSS is the server's, without the agents. **Permission**: from just
  before the `POST` until the agent has read the answer. **Open**: the snapshot and the head of the stream of a session with 50 turns,
  first opened after a restart of the server.
- **Hub**: one hub, one daemon and one stub agent per worker. Every client is a WebSocket; all clients share one thread. The floor
  *direct* watches ten workers at the daemon itself; *axum* broadcasts frames of the same length at the same rate to as many
  clients. CPU is the hub's, without daemon and agents.
- **Relay**: one hub, one device and one runtime that uses it over a WebSocket. The floor *echo* is a bare axum WebSocket that echoes the
  file's bytes with as many pieces in flight. For unread output, one command waits for its reader and another runs to its end;
  the growth is the peak. The 500 devices are connections of the load generator, each with its own token; latencies count from
  the time when a request was due.
- *ratio* is ours ÷ peer, or ours ÷ the first floor where the bar names the floor. *bar* is the target.
";

/// Renders the document. `commit` names the commit that was measured, with its date.
pub(crate) fn render(report: &BenchReport, table: &BenchTable, commit: &str) -> String {
    let kind = if report.quick { "A quick run" } else { "A full run" };
    format!(
        "{METHOD}\n## The last table\n\nCommit {commit}. {kind} of {:.0} s on {}.\n\n{}\n{}.\n",
        report.seconds,
        report.machine(),
        table.render(),
        table.summary(),
    )
}
