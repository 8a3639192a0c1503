use serde_json::json;

use super::*;

const DAEMON: &str = include_str!("../../../../docs/openapi.json");
const HUB: &str = include_str!("../../../../docs/openapi-hub.json");

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(Into::into).into()
}

fn required(schemas: &Map<String, Value>, name: &str) -> BTreeSet<String> {
    let required = schemas[name]["required"].as_array().into_iter().flatten();
    required.map(|field| field.as_str().unwrap().to_owned()).collect()
}

/// schemars numbers those that have the name of another, in the order in which it meets them.
#[test]
fn no_two_types_have_one_name() {
    let mut generator = SchemaGenerator::default();
    wire_types().for_each(|wire_type| wire_type.describe(&mut generator));
    let is_numbered = |name: &str| {
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit());
        plain != name && generator.definitions().contains_key(plain)
    };
    let numbered: Vec<_> = generator.definitions().keys().filter(|name| is_numbered(name)).collect();
    assert!(numbered.is_empty(), "{numbered:?}");
}

/// A field that is always written is required in responses; a field that may be left out is not required in requests.
#[test]
fn a_field_is_required_where_it_is_always_there() {
    let schemas = schemas(&names(["SessionList", "AccessToken", "Problem", "MoveFileRequest"]));
    assert_eq!(required(&schemas, "SessionList"), names(["items", "nextCursor"]));
    assert!(required(&schemas, "TokenUsage").contains("costUsd"));
    assert_eq!(required(&schemas, "Problem"), names(["type", "title", "status", "detail"]));
    assert_eq!(required(&schemas, "MoveFileRequest"), names(["from", "to"]));
    // It is in what is received too, which need not be named for that.
    assert_eq!(required(&schemas, "TokenScope"), names([]));
}

/// A field that is left out when empty is never `null`; a field that is always written may be. Responses have no defaults.
#[test]
fn a_field_is_null_where_it_is_always_there() {
    let schemas = schemas(&names(["SessionList", "TranscriptPage", "Problem", "MoveFileRequest"]));
    let of = |name: &str, field: &str| &schemas[name]["properties"][field];
    assert_eq!(of("Session", "title")["type"], json!(["string", "null"]));
    assert_eq!(of("Message", "parentToolCallId")["type"], "string");
    assert_eq!(of("Message", "author")["$ref"], "#/components/schemas/Author");
    assert!(of("Message", "author").get("anyOf").is_none() && of("Session", "turnId").get("anyOf").is_some());
    assert!(
        of("TokenUsage", "costUsd").get("default").is_none()
            && of("MoveFileRequest", "overwrite")["default"] == false
    );
}

#[test]
fn only_what_is_named_is_described_with_what_is_in_it() {
    let schemas = schemas(&names(["WaitList", "MoveFileRequest"]));
    assert!(schemas.contains_key("PermissionRequest") && schemas.contains_key("MoveFileRequest"));
    assert!(!schemas.contains_key("FileMoved") && !schemas.contains_key("TokenScope"));
}

/// Every request body of a daemon or hub is declared as `received`.
#[test]
fn what_routes_take_is_received() {
    // The first is sent over a WebSocket; the second is part of a request that only a hub accepts.
    let mut taken = names(["TerminalCommand", "EnvironmentSpec"]);
    for document in [DAEMON, HUB] {
        let document: Value = serde_json::from_str(document).unwrap();
        let paths = document["paths"].as_object().unwrap().values();
        for operation in paths.flat_map(|path| path.as_object().unwrap().values()) {
            let body = operation["requestBody"].to_string();
            let references = body.split("#/components/schemas/").skip(1);
            taken.extend(references.map(|rest| rest.split('"').next().unwrap().to_owned()));
        }
    }
    let received = wire_types().filter(|wire_type| wire_type.is_received);
    assert_eq!(taken, received.map(|wire_type| wire_type.name().into_owned()).collect());
}

#[test]
fn an_enumeration_is_an_enum_that_describes_its_values() {
    let schemas = schemas(&names(["SendMessageRequest"]));
    let when_busy = &schemas["WhenBusy"];
    assert_eq!(when_busy["type"], "string");
    assert_eq!(when_busy["enum"], json!(["queue", "reject", "steer"]));
    assert!(when_busy["description"].as_str().unwrap().contains("\n- `reject`: "), "{when_busy}");
}

#[test]
fn each_variant_of_a_tagged_union_is_a_schema_with_a_discriminator() {
    let schemas = schemas(&names(["McpServer"]));
    let local = "#/components/schemas/McpServerLocal";
    assert_eq!(schemas["McpServer"]["oneOf"][0], json!({ "$ref": local }));
    assert_eq!(schemas["McpServer"]["discriminator"]["propertyName"], "type");
    assert_eq!(schemas["McpServer"]["discriminator"]["mapping"]["local"], local);
    assert_eq!(schemas["McpServerLocal"]["properties"]["type"]["const"], "local");
}

/// The fields of the struct around a flattened union are fields of every variant; a variant that holds another type extends it.
#[test]
fn a_variant_has_the_fields_of_the_struct_around_it() {
    let schemas = schemas(&names(["Message"]));
    assert!(required(&schemas, "MessagePartText").is_superset(&names(["id", "type", "text"])));
    let tool_call = &schemas["MessagePartToolCall"]["allOf"];
    assert_eq!(tool_call[0]["$ref"], "#/components/schemas/ToolCall");
    assert_eq!(tool_call[1]["required"], json!(["id", "type"]));
    // A newer peer may send other parts, so the union stays open and has no discriminator.
    assert!(schemas["MessagePart"].get("discriminator").is_none());
}

#[test]
fn the_constants_beside_the_objects_of_a_union_are_one_enum() {
    let schemas = schemas(&names(["AnswerWaitRequest"]));
    let variants = schemas["WaitAnswer"]["oneOf"].as_array().unwrap();
    assert_eq!(variants.last().unwrap()["enum"], json!(["reject"]));
    assert!(schemas.contains_key("WaitAnswerPermission"));
}
