use serde_json::json;

use super::*;

fn schema(schema: Value) -> Result<ToolSchema, BadSchema> {
    let Value::Object(schema) = schema else { panic!("a schema of a tool is an object") };
    ToolSchema::new(&schema)
}

fn check(of: Value, arguments: Value, expected: Result<(), (&str, &str)>) {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let checked = schema(of).unwrap().check(&arguments);
    let got = checked.as_ref().map_err(|error| {
        assert_eq!(error.code, RelayErrorCode::InvalidRequest);
        (error.details["pointer"].as_str().unwrap(), error.message.as_str())
    });
    match (got, expected) {
        (Ok(()), Ok(())) => {}
        (Err((pointer, message)), Err((place, said))) => {
            assert_eq!(pointer, place, "{message}");
            assert!(message.contains(said), "{message}");
        }
        (got, expected) => panic!("{got:?}, not {expected:?}"),
    }
}

/// relay-87
#[test]
fn a_violation_names_the_json_pointer_and_not_the_value() {
    let editor = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "marks": { "type": "array", "items": { "properties": { "line": { "type": "integer" } } } },
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    check(editor.clone(), json!({ "path": "a", "marks": [{ "line": 3 }] }), Ok(()));
    check(editor.clone(), json!({}), Err(("", "path")));
    check(editor.clone(), json!({ "path": 3 }), Err(("/path", "string")));
    check(editor.clone(), json!({ "path": "a", "other": 1 }), Err(("", "other")));
    let secret = json!({ "path": "a", "marks": [{ "line": 1 }, { "line": "hunter2" }] });
    check(editor.clone(), secret.clone(), Err(("/marks/1/line", "integer")));
    let error = schema(editor).unwrap().check(secret.as_object().unwrap()).unwrap_err();
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

/// relay-87
#[test]
fn a_reference_leads_nowhere_else() {
    for elsewhere in [
        "https://example.com/schema.json",
        "http://127.0.0.1:1/x",
        "file:///etc/passwd",
        "other.json#/x",
        "#/$defs/none",
        "#anchor",
    ] {
        let refused = schema(json!({ "properties": { "x": { "$ref": elsewhere } } })).unwrap_err();
        assert_eq!(refused, BadSchema::Elsewhere(elsewhere.into()));
    }
    for keyword in ["$dynamicRef", "$recursiveRef"] {
        let refused = schema(json!({ "properties": { "x": { keyword: "#" } } })).unwrap_err();
        assert_eq!(refused, BadSchema::Elsewhere(keyword.into()));
    }
    let moved = json!({ "properties": { "x": { "$id": "https://example.com/x", "$ref": "#/$defs/a" } } });
    assert_eq!(schema(moved).unwrap_err(), BadSchema::Elsewhere("$id".into()));
    // An unknown dialect is not fetched either.
    let dialect = schema(json!({ "$schema": "https://example.com/dialect" }));
    assert!(matches!(dialect, Err(BadSchema::Invalid(_))), "{dialect:?}");
}

#[test]
fn a_reference_within_is_followed() {
    let named = json!({ "$defs": { "a b": { "type": "string" } }, "properties": { "x": { "$ref": "#/$defs/a%20b" } } });
    check(named.clone(), json!({ "x": "y" }), Ok(()));
    check(named, json!({ "x": 1 }), Err(("/x", "string")));
    // What is called like a keyword is none.
    check(json!({ "properties": { "$ref": { "type": "integer" } } }), json!({ "$ref": 1 }), Ok(()));
}

/// relay-87
#[test]
fn a_schema_is_bounded_in_size_and_depth() {
    let large = schema(json!({ "description": "x".repeat(SCHEMA_BYTES_MAX) }));
    assert!(matches!(large, Err(BadSchema::Large { .. })), "{large:?}");
    let mut deep = json!({});
    for _ in 0..SCHEMA_DEPTH_MAX {
        deep = json!({ "not": deep });
    }
    assert_eq!(schema(deep).unwrap_err(), BadSchema::Deep);
    assert_eq!(schema(json!({ "type": "array" })).unwrap_err(), BadSchema::NoObject);
    assert!(matches!(schema(json!({ "type": "object", "required": 3 })), Err(BadSchema::Invalid(_))));
}

/// Each of these would take for ever, or end the process.
#[test]
fn a_schema_that_would_never_be_done_is_refused() {
    let round = json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } }, "$ref": "#/$defs/a" });
    assert_eq!(schema(round).unwrap_err(), BadSchema::Endless);
    assert_eq!(schema(json!({ "allOf": [{ "$ref": "#" }] })).unwrap_err(), BadSchema::Endless);
    let mut defs = Map::new();
    for n in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/{}", n + 1) });
        defs.insert(n.to_string(), json!({ "allOf": [next, next] }));
    }
    defs.insert("40".into(), json!({}));
    assert_eq!(schema(json!({ "$defs": defs, "$ref": "#/$defs/0" })).unwrap_err(), BadSchema::Costly);
    let chain: Map<_, _> =
        (0..1000).map(|n| (n.to_string(), json!({ "$ref": format!("#/$defs/{}", n + 1) }))).collect();
    assert_eq!(schema(json!({ "$defs": chain, "$ref": "#/$defs/0" })).unwrap_err(), BadSchema::Deep);
}

/// relay-87: below a part that has a name of its own a reference leads elsewhere than it seems, past all bounds.
#[test]
fn a_part_with_a_name_of_its_own_is_refused() {
    for (dialect, defs, name) in [
        ("https://json-schema.org/draft/2020-12/schema", "$defs", "$id"),
        ("http://json-schema.org/draft-07/schema#", "definitions", "$id"),
        ("http://json-schema.org/draft-04/schema#", "definitions", "id"),
    ] {
        let (mut costly, mut harmless) = (Map::new(), Map::new());
        for n in 0..40 {
            let next = json!({ "$ref": format!("#/{defs}/{}", n + 1) });
            costly.insert(n.to_string(), json!({ "allOf": [next, next] }));
            harmless.insert((n + 1).to_string(), json!({}));
        }
        costly.insert("40".into(), json!({}));
        let named = json!({ "$schema": dialect, name: "https://example.com/o", defs: costly });
        let way = json!({ "x": { "$ref": format!("#/{defs}/o/{defs}/0") } });
        // Also where nothing seems to lead, as it may have the name of the whole.
        for properties in [&way, &json!({})] {
            harmless.insert("o".into(), named.clone());
            let whole = json!({ "$schema": dialect, defs: harmless, "properties": properties });
            assert_eq!(schema(whole).unwrap_err(), BadSchema::Elsewhere(name.into()));
            // A part can be of another dialect than the whole.
            let whole = json!({ defs: harmless, "properties": properties });
            assert_eq!(schema(whole).unwrap_err(), BadSchema::Elsewhere(name.into()));
        }
        // The whole may have one, and what is called like a name is none.
        let properties = json!({ "id": { "type": "string" }, "$id": { "type": "string" } });
        let whole = json!({ "$schema": dialect, name: "https://example.com/o", "properties": properties });
        check(whole, json!({ "id": "a", "$id": "b" }), Ok(()));
    }
}

/// A schema that refers to itself is good, but not for arguments with which it takes for ever.
#[test]
fn what_refers_to_itself_is_checked_as_deep_as_it_can_be() {
    let tree = json!({ "properties": { "left": { "$ref": "#" }, "right": { "$ref": "#" }, "n": { "type": "integer" } } });
    let mut value = json!({ "n": 1 });
    (0..100).for_each(|_| value = json!({ "left": value }));
    check(tree, value.clone(), Ok(()));
    let twice = json!({ "properties": { "left": { "allOf": [{ "$ref": "#" }, { "$ref": "#" }] } } });
    check(twice.clone(), json!({ "left": { "left": {} } }), Ok(()));
    check(twice, value, Err(("", "too deep")));
}

/// A pattern that tries everything comes to an end.
#[test]
fn a_pattern_is_bounded() {
    let pattern = json!({ "properties": { "x": { "pattern": "^(?=(a+)+$)(a+)+\\1$" } } });
    let start = std::time::Instant::now();
    check(pattern, json!({ "x": format!("{}!", "a".repeat(5000)) }), Err(("/x", "")));
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(matches!(
        schema(json!({ "properties": { "x": { "pattern": "(a{1000}){1000}" } } })),
        Err(BadSchema::Invalid(_))
    ));
}

/// Patterns are bounded together, too.
#[test]
fn patterns_are_bounded_in_number() {
    let patterns = |count: usize| -> Value {
        (1..=count).map(|n| (n.to_string(), json!({ "pattern": format!("^[a-z]{{1,{n}}}$") }))).collect()
    };
    check(json!({ "properties": patterns(64) }), json!({ "7": "abc" }), Ok(()));
    assert_eq!(schema(json!({ "properties": patterns(1000) })).unwrap_err(), BadSchema::Costly);
    let names: Value = (0..1000).map(|n| (format!("^a{n}$"), json!({}))).collect();
    assert_eq!(schema(json!({ "patternProperties": names })).unwrap_err(), BadSchema::Costly);
    // Wherever they are.
    assert_eq!(
        schema(json!({ "$defs": { "a": { "properties": patterns(65) } } })).unwrap_err(),
        BadSchema::Costly
    );
}

/// relay-87: the patterns that tools have are small enough.
#[test]
fn ordinary_patterns_are_taken() {
    for pattern in [r"^\w{1,64}$", r"^[\w.+-]+@[\w-]+\.[\w.]{2,24}$", r"^\d{4}-\d{2}-\d{2}$", r"^\S{1,255}$"]
    {
        let taken = schema(json!({ "properties": { "x": { "type": "string", "pattern": pattern } } }));
        assert!(taken.is_ok(), "{pattern}: {:?}", taken.err());
    }
}
