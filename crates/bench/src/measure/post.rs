//! Requests that the server forwards to the agent, on many connections and on one.

use std::{io, time::Duration};

use super::micros;
use crate::{
    Lab, Report,
    floor::{FloorServer, round_trips},
    load::{Load, Outcome, Reply},
};

/// The numbers of concurrent connections.
const CONNECTIONS: [usize; 2] = [32, 1];

/// The time of the load before the measured one, which loads code and fills caches.
const WARM_UP: Duration = Duration::from_millis(100);

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let time = lab.size(Duration::from_millis(600), Duration::from_millis(300));
    let mut servers = Vec::new();
    for subject in lab.subjects() {
        let server = lab.start(subject)?;
        server.instance("bench")?;
        servers.push((subject, server));
    }
    let axum = FloorServer::start(&lab.own, ["axum"])?;
    let tcp = FloorServer::start(&lab.own, ["tcp"])?;
    for _ in 0..lab.size(7, 2) {
        for connections in CONNECTIONS {
            for (subject, server) in &servers {
                let load = Load {
                    address: server.address(),
                    path: "/v1/acp/bench",
                    reply: Reply::Http,
                    connections,
                    time,
                };
                one(report, subject.name(), &load, || server.cpu())?;
            }
            let load = Load { address: axum.address(), path: "/echo", reply: Reply::Http, connections, time };
            one(report, "axum", &load, || axum.cpu())?;
            let load = Load { address: tcp.address(), path: "/echo", reply: Reply::Echo, connections, time };
            one(report, "tcp", &load, || tcp.cpu())?;
        }
        let (outcome, cpu) = round_trips(&lab.stub, time)?;
        add(report, 1, "pipe", &outcome, cpu);
    }
    Ok(())
}

fn one(report: &mut Report, subject: &str, load: &Load<'_>, cpu: impl Fn() -> Duration) -> io::Result<()> {
    Load { time: WARM_UP, ..*load }.run()?;
    let before = cpu();
    let outcome = load.run()?;
    add(report, load.connections, subject, &outcome, cpu() - before);
    Ok(())
}

fn add(report: &mut Report, connections: usize, subject: &str, outcome: &Outcome, cpu: Duration) {
    let requests = outcome.requests() as f64;
    report.add(format!("post.{connections}.p50"), subject, outcome.percentile(50));
    report.add(format!("post.{connections}.p99"), subject, outcome.percentile(99));
    report.add(format!("post.{connections}.cpu"), subject, micros(cpu) / requests);
    report.add(format!("post.{connections}.rate"), subject, requests / outcome.elapsed.as_secs_f64());
}
