//! daemon-3: every HTTP endpoint has a CLI command, and no command calls an endpoint that does not exist.

use std::collections::BTreeSet;

use clap::CommandFactory;

use super::*;
use crate::args::Tombolo;

/// `GET /v1/acp` and so on, from the OpenAPI document.
fn served() -> BTreeSet<String> {
    let document = daemon::generate_openapi();
    let paths = document["paths"].as_object().unwrap();
    let operation = |(path, item): (&String, &serde_json::Value)| {
        let methods: Vec<String> = item.as_object().unwrap().keys().map(|key| key.to_uppercase()).collect();
        let path = path.clone();
        methods.into_iter().map(move |method| format!("{method} {path}"))
    };
    paths.iter().flat_map(operation).collect()
}

fn mirrored() -> BTreeSet<String> {
    operations().iter().flat_map(|(_, operations)| operations.iter().map(ToString::to_string)).collect()
}

#[test]
fn every_endpoint_has_a_command_and_every_command_an_endpoint() {
    let (served, mirrored) = (served(), mirrored());
    let missing: Vec<_> = served.difference(&mirrored).collect();
    let surplus: Vec<_> = mirrored.difference(&served).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "without a command: {missing:?}; without an endpoint: {surplus:?}"
    );
    assert!(served.len() > 20, "the document is there: {served:?}");
}

#[test]
fn every_api_command_is_in_the_table_and_every_row_is_a_command() {
    let definition = Tombolo::command();
    let api = definition.find_subcommand("api").unwrap();
    let typed: BTreeSet<_> = api
        .get_subcommands()
        .flat_map(|resource| {
            resource
                .get_subcommands()
                .map(|verb| (resource.get_name().to_owned(), verb.get_name().to_owned()))
        })
        .collect();
    let listed: BTreeSet<_> = operations()
        .iter()
        .flat_map(|(resource, operations)| {
            operations.iter().map(|row| (resource.to_string(), row.verb.to_owned()))
        })
        .collect();
    assert_eq!(typed, listed);
}
