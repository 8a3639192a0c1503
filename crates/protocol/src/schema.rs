//! JSON Schemas of the wire types, and their names in the OpenAPI documents.

mod enumerations;
mod variants;
mod written;

use std::{borrow::Cow, collections::BTreeSet};

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

/// Where an OpenAPI document keeps its schemas.
const SCHEMA_PATH: &str = "#/components/schemas/";

/// Lists the wire types that routes name. schemars describes them; utoipa only refers to them.
macro_rules! wire_types {
    (received { $($received:ty,)* } sent { $($sent:ty,)* }) => {
        wire_types!(@describe_received: $($received,)*);
        wire_types!(@describe_sent: $($sent,)*);
    };
    (@$describe:ident: $($type:ty,)*) => {
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

        fn $describe(generator: &mut SchemaGenerator, is_wanted: impl Fn(&str) -> bool) {
            $(
                if is_wanted(&<$type as JsonSchema>::schema_name()) {
                    generator.subschema_for::<$type>();
                }
            )*
        }
    };
}

/// Returns the JSON Schemas (2020-12) of the named wire types and of every type they contain, by name.
///
/// A type that is only sent is described as the server writes it: a field that is always written is required. A type that a
/// server receives is described as it is read: a field that may be left out is not required. The second description also
/// holds where such a type is sent.
pub fn schemas(names: &BTreeSet<String>) -> Map<String, Value> {
    let settings =
        || SchemaSettings::draft2020_12().with(|s| s.definitions_path = "/components/schemas".into());
    let mut read = SchemaGenerator::new(settings());
    describe_received(&mut read, |_| true);
    let mut read = read.take_definitions(true);
    let mut written = SchemaGenerator::new(settings().for_serialize().with_transform(written::AsWritten));
    describe_received(&mut written, |name| names.contains(name));
    describe_sent(&mut written, |name| names.contains(name));
    let mut schemas = written.take_definitions(true);
    for (name, schema) in &mut schemas {
        if let Some(read) = read.remove(name) {
            *schema = read;
        }
    }
    for schema in schemas.values_mut() {
        enumerations::collapse_constants(schema);
    }
    variants::name_variants(&mut schemas);
    schemas
}

wire_types! {
    received {
        acp::PrepareInstanceRequest,
        agents::InstallAgentRequest,
        config::McpServer,
        config::Skill,
        fs::MoveFileRequest,
        hub::AddRuntimeRequest,
        hub::CreateJoinTokenRequest,
        lending::AddDeviceRequest,
        lending::CreateEnvironmentRequest,
        lending::CreateGrantRequest,
        lending::DeviceRequest,
        lending::StartPairingRequest,
        lending::ConfirmPairingRequest,
        lending::SetWorkspaceRelayRequest,
        lending::EnvironmentSpec,
        people::CreateTokenRequest,
        people::CreateUserRequest,
        people::LoginRequest,
        people::UpdateUserRequest,
        processes::SendSignalRequest,
        processes::StartProcessRequest,
        processes::TerminalCommand,
        processes::TerminalSize,
        sessions::CreateSessionRequest,
        sessions::EditInputRequest,
        sessions::AnswerPermissionRequest,
        sessions::RejectQuestionRequest,
        sessions::AnswerQuestionRequest,
        sessions::SendMessageRequest,
        wait::AnswerWaitRequest,
    }
    sent {
        acp::AcpInstance,
        acp::AcpInstanceList,
        agents::AgentList,
        agents::InstallProgress,
        agents::AgentInstalled,
        agents::AgentModeList,
        agents::AgentModelList,
        audit::AuditPage,
        config::McpServerList,
        config::SkillList,
        event::Event,
        event::EventRecord,
        observation::ObservationFrame,
        fs::DirectoryEntryList,
        fs::DirectoryCreated,
        fs::FileMoved,
        fs::FileMetadata,
        fs::ArchiveUnpacked,
        fs::FileWritten,
        hub::JoinToken,
        hub::Runtime,
        hub::RuntimeList,
        inbox::WaitInbox,
        inbox::InboxEvent,
        info::ServerInfo,
        info::HealthStatus,
        lending::DeviceAdded,
        lending::EnvironmentCreated,
        lending::PairingClaim,
        lending::PairingConfirmed,
        lending::Device,
        lending::DeviceList,
        lending::Environment,
        lending::EnvironmentList,
        lending::GrantList,
        lending::PairingStarted,
        lending::PairingList,
        lending::PendingPairing,
        lending::RelayAuditPage,
        lending::RelayCall,
        lending::RelayStatus,
        lending::WorkspaceRelaySettings,
        relay::Grant,
        message::Message,
        people::TokenCreated,
        people::AccessToken,
        people::AccessTokenList,
        people::User,
        people::UserList,
        people::CallerIdentity,
        presence::WorkerPresence,
        problem::Problem,
        processes::ProcessLogEntry,
        processes::ProcessLogPage,
        processes::UserProcess,
        processes::UserProcessList,
        processes::TerminalEvent,
        sessions::SessionCreated,
        sessions::EventPage,
        sessions::SessionInput,
        sessions::SessionInputList,
        sessions::MessageAccepted,
        sessions::Session,
        sessions::SessionList,
        sessions::SessionSnapshot,
        sessions::TranscriptPage,
        wait::Wait,
        wait::WaitEvent,
        wait::WaitList,
    }
}

#[cfg(test)]
mod tests;
