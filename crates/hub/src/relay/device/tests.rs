use std::{num::NonZeroU64, time::Duration};

use protocol::{
    TokenId, WorkspaceName,
    relay::{DeviceCapabilities, PROTOCOL},
};
use relay::{Ask, Limits, Side as End, pair};
use serde_json::json;
use tokio::task::JoinSet;

use super::*;
use crate::{Config, Pace, Rate, Retention, app::App};

/// A device that is asked nothing.
struct Laptop;

#[async_trait]
impl Handler for Laptop {
    async fn hello(&self, _: Hello) -> Result<Map<String, Value>, Refused> {
        Err(Refused("a device does not accept connections".into()))
    }

    async fn request(&self, _: Request, _: &mut Reply) -> Result<RawJson, RelayError> {
        Err(RelayError::new(RelayErrorCode::UnknownMethod, "nothing is lent"))
    }

    fn event(&self, _: EventFrame) {}
}

/// relay-59, relay-61: what a device says as soon as it is accepted counts, though nobody else knows of it yet.
#[tokio::test]
async fn what_a_device_says_at_once_counts() {
    let directory = tempfile::tempdir().unwrap();
    let rate = Rate { burst: 1, every: Duration::from_secs(1) };
    let config = Config {
        address: "127.0.0.1:0".parse().unwrap(),
        hosts: Vec::new(),
        cors: server::CorsConfig::default(),
        data_dir: directory.path().to_owned(),
        runtimes: None,
        backlog: Retention { events: NonZeroU64::new(64).unwrap(), bytes: NonZeroU64::new(1 << 20).unwrap() },
        policy: None,
        pace: Pace::default(),
        failures: rate,
        requests: rate,
        public_url: None,
        approval_max: Duration::from_secs(1),
        frame_bytes_max: 1 << 20,
        stall: Duration::from_secs(1),
    };
    let (app, _) = App::new(&config).await.unwrap();
    let (here, there) = pair();
    let who = Who {
        client_id: "laptop".parse().unwrap(),
        workspace: WorkspaceName::default(),
        token: TokenId::mint(),
        instance_id: "one".into(),
    };
    let mut driving = JoinSet::new();
    let (desk, _, driver) = Desk::start(app.relay.clone(), who, here);
    driving.spawn(driver);
    let hello = Hello {
        protocol: PROTOCOL.into(),
        client_id: "laptop".into(),
        client_kind: "headless".into(),
        client_version: "1".into(),
        capabilities: DeviceCapabilities::default(),
    };
    let (device, driver) = Peer::start(there, Laptop, End::Device(Box::new(hello)), Limits::default());
    driving.spawn(driver);
    device.accepted().await.unwrap();
    device.event("provider.paused", RawJson::from_value(&json!({ "by": "user" }))).await.unwrap();
    let offline = json!({ "capability": "shell", "state": "offline" });
    device.event("capability.updated", RawJson::from_value(&offline)).await.unwrap();
    // What is answered was heard after them.
    let asked = device.request(Ask::new("file.read", RawJson::empty())).await.outcome().await;
    assert_eq!(asked.unwrap_err().code, RelayErrorCode::InvalidRequest);
    let status = desk.connection.get().unwrap().status();
    assert!(status.connection.is_paused);
    assert_eq!(status.capability_states.len(), 1, "{status:?}");
}
