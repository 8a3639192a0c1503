//! What holds of the documents that others make clients from.

use std::collections::BTreeMap;

use serde_json::Value;

fn documents() -> [Value; 2] {
    [daemon::openapi(), hub::openapi()]
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

/// Makers of clients name functions after them, and the TypeScript SDK has both documents as one.
#[test]
fn every_operation_has_a_name_of_its_own() {
    let mut named = BTreeMap::new();
    for (route, operation) in operations() {
        let name = operation["operationId"].as_str().unwrap().to_owned();
        assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{name}");
        let other = named.insert(name.clone(), route.clone());
        assert_eq!(other, None, "`{route}` is called `{name}` too");
    }
    assert!(named.contains_key("sessions_list") && named.contains_key("hub_users_list"), "{named:?}");
}

/// OpenAPI wants it.
#[test]
fn every_answer_is_described() {
    for (route, operation) in operations() {
        for (status, response) in operation["responses"].as_object().unwrap() {
            let description = response["description"].as_str();
            assert!(description.is_some_and(|text| !text.is_empty()), "{route} {status}: {response}");
        }
    }
}

#[test]
fn every_reference_leads_somewhere() {
    for document in documents() {
        let schemas = document["components"]["schemas"].as_object().unwrap();
        assert!(schemas.contains_key("Session") && schemas.contains_key("Problem"));
        for reference in document.to_string().split("\"$ref\":\"").skip(1) {
            let name = reference.split('"').next().unwrap().strip_prefix("#/components/schemas/").unwrap();
            assert!(schemas.contains_key(name), "{name}");
        }
    }
}

/// A type is one, whoever speaks of it: what one of them receives is described as that in the other's document too.
#[test]
fn both_documents_describe_a_type_alike() {
    let [daemon, hub] = documents().map(|document| document["components"]["schemas"].clone());
    let both: Vec<_> =
        daemon.as_object().unwrap().iter().filter(|(name, _)| hub.get(name).is_some()).collect();
    assert!(both.len() > 20, "{both:?}");
    let differing: Vec<_> = both.into_iter().filter(|(name, schema)| **schema != hub[name]).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}
