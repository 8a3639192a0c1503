//! Every method of the protocol, asked of a device.

use std::sync::Arc;

use device::{
    Consent, Device, Fileops,
    tools::{Shelf, Tools},
};
use protocol::relay::{ConnectionSide, Family, METHODS, RelayErrorCode};
use serde_json::json;

use crate::{
    shell::support::{Kind, config, open, roots},
    support::Lent,
};

/// relay-64: none is unknown. What is lent is done, or refused for its parameters; what is not is not available; and what devices
/// ask is not asked of them.
#[tokio::test]
async fn every_method_is_known() {
    let home = tempfile::tempdir().unwrap();
    let shell = open(home.path(), config(Kind::Local)).await;
    let files = Fileops::new(Arc::new(roots(home.path())));
    let tools = Tools::new(Shelf::default());
    let device = Device::new(vec![Box::new(files), Box::new(shell), Box::new(tools)], Consent::default());
    let lent = Lent::connect(device).await;
    for row in &METHODS {
        let code = lent.ask_any(row.name, json!({})).await.err().map(|error| error.code);
        let expected = match (row.requested_by, row.family) {
            (ConnectionSide::Provider, _) => Some(RelayErrorCode::InvalidRequest),
            (_, Family::Resources | Family::Artifacts | Family::Computer) => {
                Some(RelayErrorCode::CapabilityUnavailable)
            }
            _ if row.name == "tool.list" => None,
            _ => Some(RelayErrorCode::InvalidRequest),
        };
        assert_eq!(code, expected, "{}", row.name);
    }
}
