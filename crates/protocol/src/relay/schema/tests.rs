use super::*;

/// relay-65, relay-114: other languages are told every type and every method, and no two types have one name.
#[test]
fn every_reference_leads_somewhere() {
    let schemas = schemas();
    let defs = schemas["$defs"].as_object().unwrap();
    assert_eq!(schemas["methods"].as_object().unwrap().len(), METHODS.len());
    assert_eq!(schemas["methods"]["tool.register"]["asked_by"], "provider");
    let text = Value::Object(schemas.clone()).to_string();
    for reference in text.split("\"$ref\":\"").skip(1) {
        let name = reference.split('"').next().unwrap().strip_prefix("#/$defs/").unwrap();
        assert!(defs.contains_key(name), "{name}");
    }
    // schemars numbers those that have the name of another.
    let numbered: Vec<_> = defs
        .keys()
        .filter(|name| name.ends_with(|c: char| c.is_ascii_digit()) && *name != "Sha256")
        .collect();
    assert!(numbered.is_empty(), "{numbered:?}");
}
