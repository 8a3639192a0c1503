use protocol::relay::{DeviceCapabilities, Hello, PROTOCOL, RootMode};
use serde_json::{Value, json};

use super::*;

fn grant(capabilities: &Value) -> Grant {
    serde_json::from_value(json!({
        "grant_id": "g", "client_id": "laptop", "runtime_id": "box", "created_at": "2026-01-01T00:00:00Z",
        "capabilities": capabilities,
    }))
    .unwrap()
}

fn files(roots: &[(&str, &str)]) -> Value {
    let roots: Vec<_> = roots
        .iter()
        .map(|(id, mode)| json!({ "root_id": id, "virtual_path": format!("/workspace/{id}"), "mode": mode }))
        .collect();
    json!({ "capability": "fileops", "enabled": true, "roots": roots })
}

fn offer(capabilities: &Value) -> DeviceOffer {
    let capabilities: DeviceCapabilities = serde_json::from_value(capabilities.clone()).unwrap();
    let [protocol, client_id, client_kind, client_version] =
        [PROTOCOL, "laptop", "headless", "1"].map(Into::into);
    Hello { protocol, client_id, client_kind, client_version, capabilities }.check().unwrap()
}

/// The roots as they are typed.
fn roots(allowed: &Allowed) -> Vec<String> {
    let mode = |mode| if mode == RootMode::Rw { "rw" } else { "ro" };
    allowed.roots.iter().map(|root| format!("{}:{}", root.root_id, mode(root.mode))).collect()
}

/// relay-25, relay-26: offered and enabled and granted; of a root the stricter of what is offered and granted.
#[test]
fn what_is_accepted_is_offered_and_granted() {
    let offered = offer(&json!({
        "fileops": files(&[("a", "rw"), ("b", "rw"), ("c", "ro"), ("d", "rw")]),
        "tools": { "enabled": true }, "shell": { "enabled": false, "runtime": "sandboxed_local_shell" },
    }));
    let granted = grant(&json!([
        files(&[("a", "rw"), ("b", "ro"), ("c", "rw"), ("e", "rw")]),
        { "capability": "shell", "enabled": true }, { "capability": "tools", "enabled": false },
        { "capability": "computer", "enabled": true },
    ]));
    let accepted = Allowed::by([&granted]).of(&offered, Some("sandboxed_local_shell"));
    assert_eq!(accepted.families, [Family::Fileops].into());
    assert_eq!(roots(&accepted), ["a:rw", "b:ro", "c:ro"]);
}

/// Grants together allow what any of them does; a root at another place is another.
#[test]
fn grants_add_up() {
    let [one, two] =
        [grant(&json!([files(&[("a", "ro")])])), grant(&json!([files(&[("a", "rw"), ("b", "ro")])]))];
    let both = Allowed::by([&one, &two]);
    assert_eq!(roots(&both), ["a:rw", "b:ro"]);
    assert!(Allowed::by([&one]).is_within(&both) && !both.is_within(&Allowed::by([&one])));
    let mut elsewhere = files(&[("a", "rw")]);
    elsewhere["roots"][0]["virtual_path"] = json!("/elsewhere");
    let offered = offer(&json!({ "fileops": elsewhere }));
    assert_eq!(roots(&both.of(&offered, None)), [""; 0]);
}

/// relay-136, relay-137: a grant of commands that says nothing more lets somebody be asked each time, and wants a sandbox.
#[test]
fn commands_are_asked_about_and_need_a_sandbox_unless_the_grant_says_otherwise() {
    let offered = offer(&json!({ "shell": { "enabled": true, "runtime": "x" } }));
    let plain = Allowed::by([&grant(&json!([{ "capability": "shell", "enabled": true }]))]);
    assert_eq!(plain.shell.as_ref().unwrap().approval_policy, ApprovalPolicy::AlwaysAsk);
    let accepted =
        |allowed: &Allowed, runtime: &str| !allowed.of(&offered, Some(runtime)).families.is_empty();
    assert!(accepted(&plain, "sandboxed_local_shell") && !accepted(&plain, "local_shell"));
    let shell = json!({ "approval_policy": "allow", "unsandboxed": true });
    let open = Allowed::by([&grant(&json!([{ "capability": "shell", "enabled": true, "shell": shell }]))]);
    assert!(accepted(&open, "sandboxed_local_shell") && accepted(&open, "local_shell"));
    assert!(!plain.is_within(&open), "other terms are other terms");
}

#[test]
fn only_takes_away() {
    let all = Allowed::by([&grant(&json!([
        files(&[("a", "rw"), ("b", "rw")]), { "capability": "shell", "enabled": true },
    ]))]);
    assert_eq!(all.clone().only(None, None), all);
    let some = all.clone().only(None, Some(&["b".parse().unwrap(), "z".parse().unwrap()]));
    assert_eq!(roots(&some), ["b:rw"]);
    let none = all.only(Some(&[Family::Shell, Family::Tools]), None);
    assert_eq!((none.families.len(), none.roots.len(), none.shell.is_some()), (1, 0, true));
}
