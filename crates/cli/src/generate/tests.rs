//! Rules for the OpenAPI documents that client generators depend on.

use std::collections::BTreeMap;

use serde_json::Value;

fn documents() -> [Value; 2] {
    [daemon::generate_openapi(), hub::generate_openapi()]
}

/// Every operation of both documents, with its method and path.
fn operations() -> Vec<(String, Value)> {
    let mut operations = Vec::new();
    for document in documents() {
        for (path, methods) in document["paths"].as_object().unwrap() {
            let methods = methods.as_object().unwrap().iter();
            operations
                .extend(methods.map(|(method, operation)| (format!("{method} {path}"), operation.clone())));
        }
    }
    operations
}

/// Client generators name functions after operation ids, and the TypeScript SDK merges both documents.
#[test]
fn operation_ids_are_unique_in_both_documents() {
    let mut named = BTreeMap::new();
    for (route, operation) in operations() {
        let name = operation["operationId"].as_str().unwrap().to_owned();
        assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{name}");
        let other = named.insert(name.clone(), route.clone());
        assert_eq!(other, None, "`{route}` has the same operation id `{name}`");
    }
    assert!(named.contains_key("sessions_list") && named.contains_key("hub_users_list"), "{named:?}");
}

/// OpenAPI requires a description.
#[test]
fn every_response_has_a_description() {
    for (route, operation) in operations() {
        for (status, response) in operation["responses"].as_object().unwrap() {
            let description = response["description"].as_str();
            assert!(description.is_some_and(|text| !text.is_empty()), "{route} {status}: {response}");
        }
    }
}

/// An operation without a body has no `requestBody`; generators and linters reject `null`.
#[test]
fn no_request_body_is_null() {
    for (route, operation) in operations() {
        assert!(operation.get("requestBody").is_none_or(Value::is_object), "{route}");
    }
}

#[test]
fn every_schema_reference_resolves() {
    for document in documents() {
        let schemas = document["components"]["schemas"].as_object().unwrap();
        assert!(schemas.contains_key("Session") && schemas.contains_key("Problem"));
        for reference in document.to_string().split("\"$ref\":\"").skip(1) {
            let name = reference.split('"').next().unwrap().strip_prefix("#/components/schemas/").unwrap();
            assert!(schemas.contains_key(name), "{name}");
        }
    }
}

/// Both servers use the same Rust types, so a schema name must mean the same in both documents.
#[test]
fn shared_schemas_are_equal_in_both_documents() {
    let [daemon, hub] = documents().map(|document| document["components"]["schemas"].clone());
    let both: Vec<_> =
        daemon.as_object().unwrap().iter().filter(|(name, _)| hub.get(name).is_some()).collect();
    assert!(both.len() > 20, "{both:?}");
    let differing: Vec<_> = both.into_iter().filter(|(name, schema)| **schema != hub[name]).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}
