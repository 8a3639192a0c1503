//! What holds of the documents that others make clients from.

use std::collections::BTreeMap;

/// Every operation of both documents, by its method and path, and its name.
fn operations() -> Vec<(String, String)> {
    let mut operations = Vec::new();
    for document in [daemon::openapi(), hub::openapi()] {
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                operations
                    .push((format!("{method} {path}"), operation["operationId"].as_str().unwrap().into()));
            }
        }
    }
    operations
}

/// Makers of clients name functions after them, and the TypeScript SDK has both documents as one.
#[test]
fn every_operation_has_a_name_of_its_own() {
    let mut named = BTreeMap::new();
    for (route, name) in operations() {
        assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{name}");
        let other = named.insert(name.clone(), route.clone());
        assert_eq!(other, None, "`{route}` is called `{name}` too");
    }
    assert!(named.contains_key("sessions_list") && named.contains_key("hub_users_list"), "{named:?}");
}
