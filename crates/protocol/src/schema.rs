//! JSON Schemas of the wire types, and their names in the OpenAPI document.

use std::borrow::Cow;

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{Ref, RefOr, Schema},
};

use crate::{
    acp, agents, audit, config, event, fs, hub, inbox, info, lending, message, observation, people, presence,
    problem, processes, relay, sessions, wait,
};

/// Lists the wire types that routes name. schemars describes them; utoipa only refers to them.
macro_rules! wire_types {
    ($($type:ty),* $(,)?) => {
        $(
            impl PartialSchema for $type {
                fn schema() -> RefOr<Schema> {
                    Ref::from_schema_name(<Self as JsonSchema>::schema_name()).into()
                }
            }

            impl ToSchema for $type {
                fn name() -> Cow<'static, str> {
                    <Self as JsonSchema>::schema_name()
                }
            }
        )*

        /// The JSON Schema (2020-12) of every wire type, by its name under `#/components/schemas`.
        pub fn schemas() -> Map<String, Value> {
            let settings = SchemaSettings::draft2020_12().with(|s| s.definitions_path = "/components/schemas".into());
            let mut generator = SchemaGenerator::new(settings);
            $( generator.subschema_for::<$type>(); )*
            generator.take_definitions(true)
        }
    };
}

wire_types! {
    acp::Instance,
    acp::InstanceList,
    acp::Prepare,
    agents::AgentList,
    agents::Install,
    agents::InstallProgress,
    agents::Installed,
    agents::ModeList,
    agents::ModelList,
    audit::AuditPage,
    config::McpServer,
    config::McpServerList,
    config::Skill,
    config::SkillList,
    event::Event,
    event::Record,
    observation::Frame,
    fs::EntryList,
    fs::Made,
    fs::Move,
    fs::Moved,
    fs::Stat,
    fs::Unpacked,
    fs::Written,
    hub::AddRuntime,
    hub::InviteRuntime,
    hub::JoinToken,
    hub::Runtime,
    hub::RuntimeList,
    inbox::Inbox,
    inbox::InboxEvent,
    info::About,
    info::Health,
    lending::AddDevice,
    lending::AddEnvironment,
    lending::AddGrant,
    lending::AddedDevice,
    lending::AddedEnvironment,
    lending::AskDevice,
    lending::BeginPairing,
    lending::Claimed,
    lending::ConfirmPairing,
    lending::Confirmed,
    lending::Device,
    lending::DeviceList,
    lending::Environment,
    lending::EnvironmentList,
    lending::GrantList,
    lending::Pairing,
    lending::PairingList,
    lending::PairingRequest,
    lending::RelayAuditPage,
    lending::RelayCall,
    lending::RelayStatus,
    lending::SetWorkspaceRelay,
    lending::UseDevice,
    lending::WorkspaceRelay,
    relay::Grant,
    message::Message,
    people::AddToken,
    people::AddUser,
    people::AddedToken,
    people::Login,
    people::SetUser,
    people::Token,
    people::TokenList,
    people::User,
    people::UserList,
    people::WhoAmI,
    presence::Presence,
    problem::Problem,
    processes::LogEntry,
    processes::LogPage,
    processes::Process,
    processes::ProcessList,
    processes::SendSignal,
    processes::Start,
    processes::TerminalCommand,
    processes::TerminalEvent,
    processes::TerminalSize,
    sessions::Create,
    sessions::Created,
    sessions::Edit,
    sessions::EventPage,
    sessions::Input,
    sessions::InputList,
    sessions::PermissionReply,
    sessions::QuestionReject,
    sessions::QuestionReply,
    sessions::Send,
    sessions::Sent,
    sessions::Session,
    sessions::SessionList,
    sessions::Snapshot,
    sessions::Transcribed,
    wait::Wait,
    wait::WaitEvent,
    wait::WaitList,
    wait::WaitReply,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_somewhere() {
        let schemas = schemas();
        assert!(schemas.contains_key("Instance") && schemas.contains_key("Problem"));
        let text = Value::Object(schemas.clone()).to_string();
        for reference in text.split("\"$ref\":\"").skip(1) {
            let name = reference.split('"').next().unwrap().strip_prefix("#/components/schemas/").unwrap();
            assert!(schemas.contains_key(name), "{name}");
        }
    }

    /// schemars numbers those that have the name of another, in the order in which it meets them.
    #[test]
    fn no_two_types_have_one_name() {
        let schemas = schemas();
        let is_numbered = |name: &str| {
            let plain = name.trim_end_matches(|c: char| c.is_ascii_digit());
            plain != name && schemas.contains_key(plain)
        };
        let numbered: Vec<_> = schemas.keys().filter(|name| is_numbered(name)).collect();
        assert!(numbered.is_empty(), "{numbered:?}");
    }
}
