//! The built-in tools.

mod command;
mod directories;
mod edit;
mod find;
mod read;
mod schema;
mod write;

use futures_util::future::BoxFuture;
use relay::{
    Environment,
    environment::{Error, ToolStep},
};
use rmcp::model::CallToolResult;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{
    answer,
    catalog::{self, RequiredAccess},
    output::ProgressReporter,
};

/// A built-in tool.
pub(crate) struct BuiltIn {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) needs: RequiredAccess,
    /// Whether it can destroy data.
    pub(crate) destroys: bool,
    pub(crate) schema: fn() -> Map<String, Value>,
    /// The schema of the structured content of its results.
    pub(crate) output_schema: Option<fn() -> Map<String, Value>>,
    call: ToolFunction,
}

type ToolFunction = fn(
    Environment,
    Map<String, Value>,
    ProgressReporter,
) -> BoxFuture<'static, Result<CallToolResult, Error>>;

/// Why a call of a tool failed.
pub(crate) enum ToolFailure {
    NoSuchTool,
    Failed(Error),
}

impl From<Error> for ToolFailure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Declares the built-in tools: name, title, requirement, whether it can destroy data, function, type of the structured results if
/// there is one, and description.
macro_rules! built_in {
    ($($name:literal $title:literal $needs:ident $destroys:literal $call:path $([$output:ty])? => $description:literal;)*) => {
        /// The tools for files and commands.
        pub(crate) static BUILT_IN: &[BuiltIn] = &[$(BuiltIn {
            name: $name,
            title: $title,
            description: $description,
            needs: RequiredAccess::$needs,
            destroys: $destroys,
            schema: || schema_of($call),
            output_schema: built_in!(@output $($output)?),
            call: |environment, arguments, progress| Box::pin(async move {
                $call(environment, read(arguments)?, progress).await
            }),
        }),*];
    };
    (@output) => { None };
    (@output $output:ty) => { Some(schema::of::<$output>) };
}

built_in! {
    "read_file" "Read a file" Reading false read::read_file =>
        "Read a text file or an image on the device.";
    "list_directory" "List a directory" Reading false directories::list_directory =>
        "List the contents of a directory on the device, including hidden files.";
    "search_files" "Search files" Reading false find::search_files =>
        "Search the files of a directory on the device for matching lines, like ripgrep: hidden and ignored files are skipped.";
    "file_info" "Describe a path" Reading false directories::file_info =>
        "Return the type, size and modification time of a path on the device.";
    "write_file" "Write a file" Writing true write::write_file =>
        "Write a text file on the device, replacing its whole content.";
    "edit_file" "Edit a file" Writing true edit::edit_file =>
        "Replace text in a file on the device. The text must occur exactly once, unless `replace_all` is set.";
    "make_directory" "Create a directory" Writing false directories::make_directory =>
        "Create a directory on the device, including missing parents.";
    "delete_path" "Delete" Writing true directories::delete_path =>
        "Delete a file or directory on the device.";
    "move_path" "Move or rename" Writing true directories::move_path =>
        "Move or rename a file or directory on the device, also between its root directories.";
    "copy_path" "Copy" Writing true directories::copy_path =>
        "Copy a file or directory on the device, also between its root directories.";
    "run_command" "Run a command" Commands true command::run_command [command::RunCommandResult] =>
        "Run a shell command line on the device, wait for it to end, and return its output and exit code. Commands do not \
         share state: only changes to files remain.";
}

/// Calls a built-in tool, or one of the device.
pub(crate) async fn call(
    environment: &Environment,
    name: &str,
    arguments: Map<String, Value>,
    progress: ProgressReporter,
) -> Result<CallToolResult, ToolFailure> {
    if let Some(tool) = BUILT_IN.iter().find(|tool| tool.name == name) {
        if !tool.needs.is_met(environment.binding()) {
            return Err(ToolFailure::NoSuchTool);
        }
        return Ok((tool.call)(environment.clone(), arguments, progress).await?);
    }
    let own = catalog::own(environment).await?;
    let Some((own, _)) = own.into_iter().find(|(_, tool)| tool.name == name) else {
        return Err(ToolFailure::NoSuchTool);
    };
    let mut running = environment.tools().start(&own, arguments).await?;
    loop {
        match running.next().await {
            ToolStep::Progress(told) => progress.pass_on(told).await,
            ToolStep::Ended(result) => return Ok(answer::tool(result?)),
        }
    }
}

/// Whether the structured results of a tool have a schema.
pub(crate) fn has_output_schema(environment: &Environment, name: &str) -> bool {
    match BUILT_IN.iter().find(|tool| tool.name == name) {
        Some(tool) => tool.output_schema.is_some(),
        None => catalog::known(environment, name).is_some_and(|tool| tool.output_schema.is_some()),
    }
}

/// Whether a built-in tool has this name.
pub(crate) fn is_built_in(name: &[u8]) -> bool {
    BUILT_IN.iter().any(|tool| tool.name.as_bytes() == name)
}

fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Error> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| invalid(format!("invalid arguments: {error}")))
}

/// The type of the arguments of a function.
fn schema_of<T: JsonSchema, F>(_: fn(Environment, T, ProgressReporter) -> F) -> Map<String, Value> {
    schema::of::<T>()
}

fn invalid(message: impl Into<String>) -> Error {
    Error::Relay(protocol::relay::RelayError::new(protocol::relay::RelayErrorCode::InvalidRequest, message))
}
