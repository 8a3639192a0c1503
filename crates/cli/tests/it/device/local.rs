//! What a device keeps for its owner: its record, and the unit of its service.

use serde_json::json;

use super::*;

/// relay-152, relay-153, relay-154: its own record, also of what was refused; `verify` names what was changed.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_keeps_its_own_record() {
    let mut hub = StandIn::start().await;
    let mut lender = Lender::start(&hub);
    let connected = hub.next().await;
    lender.said("connected to");
    let write =
        json!({ "root_id": "main", "path": "a/b.txt", "content": "very-secret", "encoding": "utf-8" });
    assert!(lender.place.run(&["pause"]).status.success());
    for _ in 0..3 {
        connected.ask("file.write", write.clone()).await.unwrap_err();
    }
    assert!(lender.place.run(&["stop"]).status.success());
    lender.ended();
    let list = text(&lender.place.run(&["audit", "list"]).stdout);
    assert!(list.contains("file.write") && list.contains("blocked") && list.contains("s-1"), "{list}");
    let verified = text(&lender.place.run(&["audit", "verify"]).stdout);
    assert!(verified.starts_with("intact: entries 1 to 3, last hash "), "{verified}");
    let lines = std::fs::read_to_string(lender.audit()).unwrap();
    assert!(!lines.contains("very-secret") && !lines.contains(TOKEN), "{lines}");
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&first["policy_decision"], &first["status"]), (&json!("blocked"), &json!("failed")));
    assert_eq!((&first["client_id"], &first["connection_id"]), (&json!("laptop"), &json!("relay_conn_1")));
    std::fs::write(lender.audit(), lines.replacen("\"status\":\"failed\"", "\"status\":\"succeeded\"", 1))
        .unwrap();
    let broken = lender.place.run(&["audit", "verify"]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(text(&broken.stderr).contains("broken at entry 1: it was changed"), "{}", text(&broken.stderr));
}

/// Issue 6: "runs as a systemd user service".
#[test]
fn a_unit_is_printed_written_and_removed() {
    let place = Place::new();
    std::fs::write(place.path("device.toml"), "hub = \"http://hub\"\n[roots]\nmain = \"~/code:rw\"\n")
        .unwrap();
    let service = |arguments: &[&str]| {
        let mut command = Command::new(TOMBOLO);
        command.env("HOME", place.path("")).env_remove("XDG_CONFIG_HOME").current_dir(place.path(""));
        command.args(["device", "service"]).args(arguments).output().unwrap()
    };
    let printed = service(&["print", "--config", "device.toml"]);
    assert!(printed.status.success(), "{}", text(&printed.stderr));
    let unit = text(&printed.stdout);
    let start =
        format!("ExecStart={TOMBOLO} device connect --config {}", place.path("device.toml").display());
    assert!(unit.lines().any(|line| line == start), "{unit}");
    let installed = service(&["install", "--config", "device.toml", "--no-start"]);
    assert!(installed.status.success(), "{}", text(&installed.stderr));
    let path = place.path(".config/systemd/user/tombolo-device.service");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), unit);
    assert!(service(&["uninstall"]).status.success());
    assert!(!path.exists());
    assert!(!service(&["uninstall"]).status.success());
    std::fs::write(place.path("device.toml"), "[roots]\nmain = 1\n").unwrap();
    let wrong = service(&["print", "--config", "device.toml"]);
    assert!(text(&wrong.stderr).contains("line 2"), "{}", text(&wrong.stderr));
}

/// systemd itself, where it is, finds nothing wrong with the unit.
#[test]
fn systemd_understands_the_unit() {
    let place = Place::new();
    std::fs::write(place.path("device.toml"), "hub = \"http://hub\"\n").unwrap();
    let printed = place.run(&["service", "print", "--config", "device.toml"]);
    let unit = place.path("tombolo-device.service");
    std::fs::write(&unit, &printed.stdout).unwrap();
    let mut verify = Command::new("systemd-analyze");
    verify.args(["--user", "verify"]).arg(&unit).env("XDG_RUNTIME_DIR", place.path(""));
    match verify.output() {
        Ok(output) => assert!(output.status.success(), "{}", text(&output.stderr)),
        Err(error) => eprintln!("there is no systemd-analyze here: {error}"),
    }
}
