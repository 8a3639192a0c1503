//! JSON Schemas of the wire types, and their names in the OpenAPI document.

use schemars::{SchemaGenerator, generate::SchemaSettings};
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
    ($($type:ty as $name:literal),* $(,)?) => {
        $(
            impl PartialSchema for $type {
                fn schema() -> RefOr<Schema> {
                    Ref::from_schema_name($name).into()
                }
            }

            impl ToSchema for $type {
                fn name() -> std::borrow::Cow<'static, str> {
                    $name.into()
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
    acp::Instance as "Instance",
    acp::InstanceList as "InstanceList",
    acp::Prepare as "Prepare",
    agents::AgentList as "AgentList",
    agents::Install as "Install",
    agents::InstallProgress as "InstallProgress",
    agents::Installed as "Installed",
    agents::ModeList as "ModeList",
    agents::ModelList as "ModelList",
    audit::AuditPage as "AuditPage",
    config::McpServer as "McpServer",
    config::McpServerList as "McpServerList",
    config::Skill as "Skill",
    config::SkillList as "SkillList",
    event::Event as "Event",
    event::Record as "Record",
    observation::Frame as "Frame",
    fs::EntryList as "EntryList",
    fs::Made as "Made",
    fs::Move as "Move",
    fs::Moved as "Moved",
    fs::Stat as "Stat",
    fs::Unpacked as "Unpacked",
    fs::Written as "Written",
    hub::AddRuntime as "AddRuntime",
    hub::InviteRuntime as "InviteRuntime",
    hub::JoinToken as "JoinToken",
    hub::Runtime as "Runtime",
    hub::RuntimeList as "RuntimeList",
    inbox::Inbox as "Inbox",
    inbox::InboxEvent as "InboxEvent",
    info::About as "About",
    info::Health as "Health",
    lending::AddDevice as "AddDevice",
    lending::AddEnvironment as "AddEnvironment",
    lending::AddGrant as "AddGrant",
    lending::AddedDevice as "AddedDevice",
    lending::AddedEnvironment as "AddedEnvironment",
    lending::AskDevice as "AskDevice",
    lending::BeginPairing as "BeginPairing",
    lending::Claimed as "Claimed",
    lending::ConfirmPairing as "ConfirmPairing",
    lending::Confirmed as "Confirmed",
    lending::Device as "Device",
    lending::DeviceList as "DeviceList",
    lending::Environment as "Environment",
    lending::EnvironmentList as "EnvironmentList",
    lending::GrantList as "GrantList",
    lending::Pairing as "Pairing",
    lending::PairingList as "PairingList",
    lending::PairingRequest as "PairingRequest",
    lending::RelayAuditPage as "RelayAuditPage",
    lending::RelayCall as "RelayCall",
    lending::RelayStatus as "RelayStatus",
    lending::SetWorkspaceRelay as "SetWorkspaceRelay",
    lending::UseDevice as "UseDevice",
    lending::WorkspaceRelay as "WorkspaceRelay",
    relay::Grant as "Grant",
    message::Message as "Message",
    people::AddToken as "AddToken",
    people::AddUser as "AddUser",
    people::AddedToken as "AddedToken",
    people::Login as "Login",
    people::SetUser as "SetUser",
    people::Token as "Token",
    people::TokenList as "TokenList",
    people::User as "User",
    people::UserList as "UserList",
    people::WhoAmI as "WhoAmI",
    presence::Presence as "Presence",
    problem::Problem as "Problem",
    processes::LogEntry as "LogEntry",
    processes::LogPage as "LogPage",
    processes::Process as "Process",
    processes::ProcessList as "ProcessList",
    processes::SendSignal as "SendSignal",
    processes::Start as "Start",
    processes::TerminalCommand as "TerminalCommand",
    processes::TerminalEvent as "TerminalEvent",
    processes::TerminalSize as "TerminalSize",
    sessions::Create as "Create",
    sessions::Created as "Created",
    sessions::Edit as "Edit",
    sessions::EventPage as "EventPage",
    sessions::Input as "Input",
    sessions::InputList as "InputList",
    sessions::PermissionReply as "PermissionReply",
    sessions::QuestionReject as "QuestionReject",
    sessions::QuestionReply as "QuestionReply",
    sessions::Send as "Send",
    sessions::Sent as "Sent",
    sessions::Session as "Session",
    sessions::SessionList as "SessionList",
    sessions::Snapshot as "Snapshot",
    sessions::Transcribed as "Transcribed",
    wait::Wait as "Wait",
    wait::WaitEvent as "WaitEvent",
    wait::WaitList as "WaitList",
    wait::WaitReply as "WaitReply",
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
}
