//! The methods of the relay. Routing, policy, audit and documentation all read the same table.

mod table;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use table::*;

use super::{Family, RawJson, RelayContext, RelayError, RelayErrorCode, Request, parse_error};

/// A method, as a type.
pub trait RelayMethod {
    /// The row of the method in the table.
    const INFO: &'static MethodInfo;
    /// Type of the parameters.
    type Params: Serialize + DeserializeOwned + JsonSchema;
    /// Type of the result.
    type Result: Serialize + DeserializeOwned + JsonSchema;

    /// Builds a request.
    fn request(id: impl Into<String>, params: &Self::Params, context: Option<RelayContext>) -> Request {
        Request {
            id: id.into(),
            method: Self::INFO.name.into(),
            params: RawJson::from_value(params),
            context,
        }
    }

    /// Parses the parameters.
    ///
    /// # Errors
    /// Fails with `invalid_request` if the parameters are invalid.
    fn params(json: &RawJson) -> Result<Self::Params, RelayError> {
        json.object()
            .map_err(|error| invalid_value(RelayErrorCode::InvalidRequest, Self::INFO, "params", &error))
    }

    /// Parses the result.
    ///
    /// # Errors
    /// Fails with `provider_error` if the result is invalid.
    fn result(json: &RawJson) -> Result<Self::Result, RelayError> {
        json.object()
            .map_err(|error| invalid_value(RelayErrorCode::ProviderError, Self::INFO, "result", &error))
    }
}

/// A method, as a row of the table.
#[derive(Debug)]
pub struct MethodInfo {
    /// Name on the wire, such as `file.read`.
    pub name: &'static str,
    /// The capability family that must be accepted.
    pub family: Family,
    /// The side that sends the request; the other side responds.
    pub requested_by: ConnectionSide,
    /// Whether the method changes anything.
    pub access: MethodAccess,
    /// Type of the parameters.
    pub params: WireType,
    /// Type of the result.
    pub result: WireType,
}

impl MethodInfo {
    /// The error for invalid parameters. It does not repeat received values, which may be secrets.
    pub fn invalid_params(&self, error: &serde_json::Error) -> RelayError {
        invalid_value(RelayErrorCode::InvalidRequest, self, "params", error)
    }

    /// Finds a method by name. If there is none, the request fails with `unknown_method`.
    pub fn find(name: &str) -> Option<&'static Self> {
        METHODS.iter().find(|row| row.name == name)
    }

    /// Whether the method controls an operation that is already running. A paused device still accepts such requests,
    /// since they start nothing new.
    pub fn controls_running_operation(&self) -> bool {
        let rows: [&MethodInfo; 6] = [
            ShellInput::INFO,
            ShellResize::INFO,
            ShellSignal::INFO,
            ShellCancel::INFO,
            ShellStatus::INFO,
            ToolCancel::INFO,
        ];
        rows.iter().any(|row| row.name == self.name)
    }

    /// Whether the method stops an operation that is running. A device carries out such requests on a full disk too.
    pub fn stops_running_operation(&self) -> bool {
        [ShellCancel::INFO, ToolCancel::INFO].iter().any(|row| row.name == self.name)
    }
}

/// A side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConnectionSide {
    /// The relay server, on behalf of runtimes.
    Runtime,
    /// The device, on behalf of its providers.
    Provider,
}

impl ConnectionSide {
    /// Name in the schema document.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Runtime => "runtime",
            Self::Provider => "provider",
        }
    }
}

/// Whether a method has effects outside of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MethodAccess {
    /// The method only reads.
    Read,
    /// The method has effects.
    Write,
}

impl MethodAccess {
    /// Name in the schema document.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// A wire type, for callers that know a method only by name.
#[derive(Debug, Clone, Copy)]
pub struct WireType {
    read: fn(&RawJson) -> serde_json::Result<RawJson>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

impl WireType {
    const fn new<T: Serialize + DeserializeOwned + JsonSchema>() -> Self {
        Self {
            read: |json| json.object::<T>().map(|value| RawJson::from_value(&value)),
            schema: SchemaGenerator::subschema_for::<T>,
        }
    }

    /// Parses the value and serialises it again without unknown fields.
    ///
    /// # Errors
    /// Fails if the value does not have this type.
    pub fn read(&self, json: &RawJson) -> serde_json::Result<RawJson> {
        (self.read)(json)
    }

    /// JSON Schema of the type.
    pub fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.schema)(generator)
    }
}

/// An empty object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmptyObject {}

fn invalid_value(
    code: RelayErrorCode,
    row: &MethodInfo,
    what: &str,
    error: &serde_json::Error,
) -> RelayError {
    RelayError::new(code, format!("the {what} of `{}`: {}", row.name, parse_error::describe(error)))
        .with("method", row.name)
}

#[cfg(test)]
mod tests;
