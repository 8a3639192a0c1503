use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::relay::{ApprovalPolicy, RootMode, ToolName, ToolRisk};

/// relay-23, relay-64, relay-65: every method of the document and no other, each in its family.
#[test]
fn the_table_is_the_one_of_the_checklist() {
    let mut families: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in &METHODS {
        families.entry(row.family.as_str()).or_default().push(row.name);
    }
    let expected = json!({
        "fileops": "file.read file.write file.list file.stat file.mkdir file.delete file.search file.watch",
        "shell": "shell.start shell.input shell.resize shell.signal shell.cancel shell.status",
        "tools": "tool.list tool.register tool.unregister tool.call tool.cancel",
        "resources": "resource.list resource.get resource.create resource.dispose resource.export_state \
                      resource.restore_state",
        "computer": "computer.status computer.see computer.act computer.pause computer.resume computer.takeover \
                     computer.release",
        "artifacts": "artifact.reserve artifact.upload artifact.complete artifact.abort",
    });
    let names: BTreeMap<_, _> =
        families.into_iter().map(|(family, names)| (family, names.join(" "))).collect();
    assert_eq!(json!(names), expected);
    assert!(METHODS.iter().all(|row| std::ptr::eq(MethodInfo::find(row.name).unwrap(), row)));
    assert!(MethodInfo::find("file.chmod").is_none());
}

/// relay-30, relay-133: who asks, and what only looks.
#[test]
fn providers_ask_for_artifacts_and_tools_and_reading_is_told_from_writing() {
    let names = |wanted: fn(&&MethodInfo) -> bool| {
        METHODS.iter().filter(wanted).map(|row| row.name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        names(|row| row.requested_by == ConnectionSide::Provider),
        "tool.register tool.unregister artifact.reserve artifact.upload artifact.complete artifact.abort"
    );
    assert_eq!(
        names(|row| row.access == MethodAccess::Read),
        "file.read file.list file.stat file.search file.watch shell.status tool.list resource.list resource.get \
         resource.export_state computer.status computer.see"
    );
}

/// relay-41, relay-43, relay-69: params that are none are refused by a name, without their values.
#[test]
fn params_that_are_none_are_invalid() {
    let refused = |params| FileRead::params(&RawJson::from_value(&params)).unwrap_err();
    for (params, why) in [
        (json!({ "root_id": "main" }), "missing field `path`"),
        (json!({ "root_id": "main", "path": "/etc" }), "must be relative"),
        (json!({ "root_id": "../x", "path": "a" }), "root_id must be"),
        (json!({ "root_id": "main", "path": 7 }), "expected a string"),
        (json!(["main", "a"]), "expected an object"),
    ] {
        let error = refused(params);
        assert_eq!(
            (error.code, &error.details["method"]),
            (RelayErrorCode::InvalidRequest, &json!("file.read"))
        );
        assert!(error.message.contains(why), "{error}");
    }
    assert_eq!(
        FileRead::result(&RawJson::from_value(&json!({}))).unwrap_err().code,
        RelayErrorCode::ProviderError
    );
}

/// relay-29: a method that is a type is asked by its name.
#[test]
fn a_request_is_made_of_a_type() {
    let params = FileRead::params(&RawJson::from_value(&json!({ "root_id": "main", "path": "a" }))).unwrap();
    let request = FileRead::request("r", &params, None);
    assert_eq!(
        serde_json::to_value(request).unwrap(),
        json!({
            "id": "r", "method": "file.read", "params": { "root_id": "main", "path": "a", "encoding": "utf-8" },
        })
    );
}

/// relay-77: a command is a line or a program, not both and not neither.
#[test]
fn a_command_is_a_line_or_a_program() {
    use crate::relay::shell::CommandProgram;
    let start = |params| ShellStart::params(&RawJson::from_value(&params)).unwrap();
    assert_eq!(start(json!({ "command": "ls" })).program(), Some(CommandProgram::Line("ls")));
    assert_eq!(
        start(json!({ "argv": ["ls", "-l"] })).program(),
        Some(CommandProgram::Argv("ls", &["-l".into()]))
    );
    for none in [json!({}), json!({ "argv": [] }), json!({ "command": "ls", "argv": ["ls"] })] {
        assert_eq!(start(none).program(), None);
    }
}

/// relay-88.
#[test]
fn the_name_of_a_tool_is_plain() {
    for (name, good) in [("open_in-Editor9", true), ("", false), ("a.b", false), ("a b", false), ("é", false)]
    {
        assert_eq!(name.parse::<ToolName>().is_ok(), good, "{name}");
    }
    assert!("x".repeat(64).parse::<ToolName>().is_ok() && "x".repeat(65).parse::<ToolName>().is_err());
}

/// relay-84, relay-86, relay-88: a tool that makes no sense is rejected by itself.
#[test]
fn a_tool_that_makes_no_sense_does_not_take_the_others_with_it() {
    let tool = |name: &str, risk: &str| {
        let mut tool = json!({ "description": "d", "input_schema": {}, "approval_policy": "allow" });
        (tool["name"], tool["risk"]) = (name.into(), risk.into());
        tool
    };
    let (a, b, d, e) = (tool("a", "low"), tool("b c", "low"), tool("d", "odd"), tool("e", "low"));
    let tools = json!({ "tools": [a, b, d, tool("a", "high"), 1, e] });
    let (good, rejected) = ToolRegister::params(&RawJson::from_value(&tools)).unwrap().read();
    assert_eq!(good.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "e"]);
    assert_eq!(good[0].risk, ToolRisk::Low);
    assert_eq!(rejected.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["b c", "d", "a", ""]);
    assert!(rejected.iter().all(|tool| !tool.reason.contains("odd")), "{rejected:?}");
    assert_eq!(crate::relay::tool::ToolList::from_tools(&good).read(), (good, Vec::new()));
}

/// relay-140, relay-141: the stricter wins, in whichever order they are said.
#[test]
fn the_stricter_policy_wins() {
    let read = |text: &str| serde_json::from_value::<ApprovalPolicy>(json!(text)).unwrap();
    let order = ["allow", "ask_once", "ask_once_per_run", "always_ask", "block"].map(read);
    for (n, looser) in order.into_iter().enumerate() {
        for stricter in order.into_iter().skip(n) {
            assert_eq!([looser.stricter(stricter), stricter.stricter(looser)], [stricter; 2]);
        }
    }
    let risks = ["low", "medium", "high", "critical"]
        .map(|risk| serde_json::from_value::<ToolRisk>(json!(risk)).unwrap());
    assert!(risks.is_sorted());
    assert!(RootMode::Ro < RootMode::Rw);
}

/// relay-97: the token of a reservation is not printed.
#[test]
fn a_reservation_is_printed_without_its_token() {
    let headers = json!({ "Authorization": "Bearer hunter2" });
    let said = json!({ "artifact_id": "art_1", "upload_url": "https://x/hunter2", "headers": headers });
    let printed = format!("{:?}", ArtifactReserve::result(&RawJson::from_value(&said)).unwrap());
    assert!(printed.contains("art_1") && !printed.contains("hunter2"), "{printed}");
}
