//! JSON Schemas of the wire types, and their names in the OpenAPI documents.

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

/// The JSON Schemas (2020-12) of the wire types of these names, and of all that is in them, by their names under
/// `#/components/schemas`.
///
/// What is only sent is described as it is written: what is always there is required. What is received, by whomever, is
/// described as it is read: what may be left out is not required. That is true of it where it is sent, too.
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
    schemas
}

wire_types! {
    received {
        acp::Prepare,
        agents::Install,
        config::McpServer,
        config::Skill,
        fs::Move,
        hub::AddRuntime,
        hub::InviteRuntime,
        lending::AddDevice,
        lending::AddEnvironment,
        lending::AddGrant,
        lending::AskDevice,
        lending::BeginPairing,
        lending::ConfirmPairing,
        lending::SetWorkspaceRelay,
        lending::UseDevice,
        people::AddToken,
        people::AddUser,
        people::Login,
        people::SetUser,
        processes::SendSignal,
        processes::Start,
        processes::TerminalCommand,
        processes::TerminalSize,
        sessions::Create,
        sessions::Edit,
        sessions::PermissionReply,
        sessions::QuestionReject,
        sessions::QuestionReply,
        sessions::Send,
        wait::WaitReply,
    }
    sent {
        acp::Instance,
        acp::InstanceList,
        agents::AgentList,
        agents::InstallProgress,
        agents::Installed,
        agents::ModeList,
        agents::ModelList,
        audit::AuditPage,
        config::McpServerList,
        config::SkillList,
        event::Event,
        event::Record,
        observation::Frame,
        fs::EntryList,
        fs::Made,
        fs::Moved,
        fs::Stat,
        fs::Unpacked,
        fs::Written,
        hub::JoinToken,
        hub::Runtime,
        hub::RuntimeList,
        inbox::Inbox,
        inbox::InboxEvent,
        info::About,
        info::Health,
        lending::AddedDevice,
        lending::AddedEnvironment,
        lending::Claimed,
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
        lending::WorkspaceRelay,
        relay::Grant,
        message::Message,
        people::AddedToken,
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
        processes::TerminalEvent,
        sessions::Created,
        sessions::EventPage,
        sessions::Input,
        sessions::InputList,
        sessions::Sent,
        sessions::Session,
        sessions::SessionList,
        sessions::Snapshot,
        sessions::Transcribed,
        wait::Wait,
        wait::WaitEvent,
        wait::WaitList,
    }
}

#[cfg(test)]
mod tests;
