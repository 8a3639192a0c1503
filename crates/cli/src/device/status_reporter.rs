//! Reports the status of the running device, for its console and for `tombolo device status`.

use std::sync::Arc;

use device::{Device, DeviceConfig, Lending, Standing, Telling};
use jiff::Timestamp;
use protocol::{
    device::{AuditHead, HubConnectionState, LentCapabilities, LentDirectory, LocalDeviceStatus},
    relay::ClientId,
};
use tokio::sync::watch;

/// Returns a function that reports the current status.
pub(super) fn status_reporter(
    device: &Device,
    config: &DeviceConfig,
    client_id: &ClientId,
    hub: &str,
    standing: &watch::Receiver<Standing>,
) -> Telling {
    let device = device.clone();
    let standing = standing.clone();
    let client_id = client_id.clone();
    let label = config.label.clone();
    let hub = hub.to_owned();
    let started_at = Timestamp::now();
    let roots: Vec<_> = config.roots.iter().map(lent_root).collect();
    Arc::new(move || {
        let offer = device.offer();
        let seen = device.usage().seen();
        LocalDeviceStatus {
            client_id: client_id.clone(),
            label: label.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
            started_at,
            hub: hub.clone(),
            lending: match device.control().now() {
                Lending::Active => protocol::device::LendingState::Active,
                Lending::Paused { reason } => protocol::device::LendingState::Paused { reason },
                Lending::Stopped => protocol::device::LendingState::Stopped,
            },
            connection: connection(&device, &standing.borrow()),
            lent: LentCapabilities {
                roots: roots.clone(),
                shell: offer.shell.filter(|shell| shell.enabled).map(|shell| shell.runtime),
                tool_count: offer.tools.filter(|tools| tools.enabled).map(|tools| tools.tool_count),
            },
            sessions: seen.sessions,
            running: seen.running,
            last_errors: seen.errors,
            audit: device.ledger().map(|ledger| {
                let head = ledger.head();
                AuditHead {
                    file: ledger.path().display().to_string(),
                    seq: head.as_ref().map_or(0, |head| head.seq),
                    hash: head.map(|head| head.hash),
                }
            }),
        }
    })
}

fn connection(device: &Device, standing: &Standing) -> HubConnectionState {
    match (standing, device.usage().live()) {
        (Standing::Connected(_), Some(live)) => HubConnectionState::Connected {
            connection_id: live.accepted.connection_id,
            since: live.since,
            accepted_capabilities: live.accepted.accepted_capabilities,
            accepted_roots: live.accepted.accepted_roots.unwrap_or_default(),
            latency_ms: live.peer.latency().map(|latency| latency.as_secs_f64() * 1000.0),
        },
        (Standing::Away { reason }, _) => HubConnectionState::Away { reason: reason.clone() },
        _ => HubConnectionState::Calling,
    }
}

fn lent_root(lent: &device::LentRoot) -> LentDirectory {
    LentDirectory {
        root_id: lent.root.root_id.clone(),
        virtual_path: lent.root.virtual_path.clone(),
        mode: lent.root.mode,
        directory: lent.directory.display().to_string(),
    }
}
