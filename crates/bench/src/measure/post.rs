//! Requests that the server forwards to the agent, on many connections and on one.

use std::{io, time::Duration};

use super::micros;
use crate::{
    BenchSetup, RunReport,
    closed_loop_load::{ClosedLoopLoad, ExpectedResponse, LoadResult},
    floor::{FloorServer, measure_round_trips},
};

/// The numbers of concurrent connections.
const CONNECTIONS: [usize; 2] = [32, 1];

/// The time of the load before the measured one, which loads code and fills caches.
const WARM_UP: Duration = Duration::from_millis(100);

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let time = setup.full_or_quick(Duration::from_millis(600), Duration::from_millis(300));
    let mut servers = Vec::new();
    for system in setup.systems() {
        let server = setup.start(system)?;
        server.start_instance("bench")?;
        servers.push((system, server));
    }
    let axum = FloorServer::start(&setup.own, ["axum"])?;
    let tcp = FloorServer::start(&setup.own, ["tcp"])?;
    for _ in 0..setup.full_or_quick(7, 2) {
        for connections in CONNECTIONS {
            for (system, server) in &servers {
                let load = ClosedLoopLoad {
                    address: server.address(),
                    path: "/v1/acp/bench",
                    expected: ExpectedResponse::Http,
                    connections,
                    time,
                };
                measure_load(report, system.name(), &load, || server.cpu())?;
            }
            let load = ClosedLoopLoad {
                address: axum.address(),
                path: "/echo",
                expected: ExpectedResponse::Http,
                connections,
                time,
            };
            measure_load(report, "axum", &load, || axum.cpu())?;
            let load = ClosedLoopLoad {
                address: tcp.address(),
                path: "/echo",
                expected: ExpectedResponse::Echo,
                connections,
                time,
            };
            measure_load(report, "tcp", &load, || tcp.cpu())?;
        }
        let (result, cpu) = measure_round_trips(&setup.stub, time)?;
        report_load(report, 1, "pipe", &result, cpu);
    }
    Ok(())
}

fn measure_load(
    report: &mut RunReport,
    system: &str,
    load: &ClosedLoopLoad<'_>,
    cpu: impl Fn() -> Duration,
) -> io::Result<()> {
    ClosedLoopLoad { time: WARM_UP, ..*load }.run()?;
    let before = cpu();
    let result = load.run()?;
    report_load(report, load.connections, system, &result, cpu() - before);
    Ok(())
}

fn report_load(report: &mut RunReport, connections: usize, system: &str, result: &LoadResult, cpu: Duration) {
    let requests = result.requests() as f64;
    report.add(format!("post.{connections}.p50"), system, result.percentile(50));
    report.add(format!("post.{connections}.p99"), system, result.percentile(99));
    report.add(format!("post.{connections}.cpu"), system, micros(cpu) / requests);
    report.add(format!("post.{connections}.rate"), system, requests / result.elapsed.as_secs_f64());
}
