//! Every method of the protocol, asked by those who may ask it.

use std::collections::BTreeSet;

use protocol::relay::{
    BasicCapability, ComputerCapability, ConnectionSide, Family, METHODS, MethodInfo, RelayErrorCode,
};
use serde_json::{Value, json};

use super::{
    device::Offering,
    world::{World, files, shell},
};

/// Requests with all that they need, as the fixtures have them.
fn requests() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/relay/methods.json");
    let pairs: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut requests: Vec<_> = pairs.into_iter().map(|mut pair| pair["request"].take()).collect();
    // One of each.
    requests.dedup_by(|next, request| next["method"] == request["method"]);
    for request in &mut requests {
        // The device of these tests writes as many lines.
        request["params"].as_object_mut().unwrap().remove("output_limit_bytes");
    }
    requests
}

/// relay-64, relay-166: where everything is offered and granted, each method comes to the device, or to the hub if that is asked by the
/// device; all of `artifact.*` is refused there as what is not available, and nothing as what is not known.
#[tokio::test]
async fn every_method_is_known() {
    let world = World::new().await;
    let mut offering = Offering::all().with_tool("local_open_in_editor", "allow");
    let capabilities = &mut offering.capabilities;
    (capabilities.resources, capabilities.artifacts) =
        (Some(BasicCapability { enabled: true }), Some(BasicCapability { enabled: true }));
    capabilities.computer =
        Some(ComputerCapability { enabled: true, platform: "linux".into(), ..ComputerCapability::default() });
    let mut granted = vec![files("rw"), shell()];
    let others = [Family::Tools, Family::Resources, Family::Artifacts, Family::Computer];
    granted.extend(others.map(|family| json!({ "capability": family, "enabled": true })));
    let device = world.lend(offering, json!(granted)).await;
    assert_eq!(device.accepted().await.accepted_capabilities, Family::ALL);
    let runtime = world.runtime(&world.environment(json!({})).await).await;
    let (mut done, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for request in requests() {
        let row = MethodInfo::find(request["method"].as_str().unwrap()).unwrap();
        let outcome = match row.requested_by {
            ConnectionSide::Runtime => runtime.ask(row.name, request["params"].clone()).await,
            ConnectionSide::Provider => device.ask(row.name, request["params"].clone()).await,
        };
        match outcome {
            Ok(_) => done.insert(row.name),
            Err(error) => {
                assert_eq!(error.code, RelayErrorCode::CapabilityUnavailable, "{request}: {error:?}");
                refused.insert(row.name)
            }
        };
    }
    let artifacts = METHODS.iter().filter(|row| row.family == Family::Artifacts).map(|row| row.name);
    assert!(refused.iter().copied().eq(artifacts.collect::<BTreeSet<_>>()), "{refused:?}");
    assert_eq!(done.len() + refused.len(), 36);
    let asked: BTreeSet<_> = device.desk.asked.lock().iter().map(|request| request.method.clone()).collect();
    assert_eq!(asked.len(), METHODS.iter().filter(|row| row.requested_by == ConnectionSide::Runtime).count());
}
