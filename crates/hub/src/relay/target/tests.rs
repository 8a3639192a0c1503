use serde_json::json;

use super::*;

fn target(method: &str, params: &Value) -> Target {
    Target::of(MethodInfo::find(method).unwrap(), &RawJson::from_value(params)).unwrap()
}

/// relay-154: programs are named, and nothing that may be a secret.
#[test]
fn what_is_written_down_of_a_command_is_its_program() {
    for (params, program) in [
        (json!({ "command": "  make -j  secret" }), "make"),
        (json!({ "command": "A=secret B=secret\n make" }), "make"),
        (json!({ "argv": ["make", "secret"] }), "make"),
        (json!({ "argv": ["ma\u{1b}ke"] }), "make"),
    ] {
        let target = target("shell.start", &params);
        assert_eq!(target.summary["program"], program);
        assert!(!json!(target.summary).to_string().contains("secret"));
    }
    let input = target("shell.input", &json!({ "command_id": "c", "data": "secret" }));
    assert_eq!(json!(input.summary), json!({ "command_id": "c", "data_bytes": 8 }));
}

/// relay-153: where it is about a file, the path as a model sees it, if it stays below its root.
#[test]
fn a_path_is_that_of_the_root() {
    let allowed: Allowed = Allowed {
        roots: serde_json::from_value(json!([{ "root_id": "a", "virtual_path": "/w/a", "mode": "ro" }]))
            .unwrap(),
        ..Allowed::default()
    };
    let check = |method: &str, path: &str| {
        let mut target = target(method, &json!({ "root_id": "a", "path": path, "content": "x" }));
        let checked = target.check(MethodInfo::find(method).unwrap(), &allowed).map_err(|error| error.code);
        (checked, target.virtual_path.map(|path| path.to_string()))
    };
    assert_eq!(check("file.read", "b/../c"), (Ok(()), Some("/w/a/c".into())));
    assert_eq!(check("file.read", "../c"), (Err(RelayErrorCode::PermissionDenied), None));
    assert_eq!(check("file.write", "c"), (Err(RelayErrorCode::PermissionDenied), Some("/w/a/c".into())));
}
