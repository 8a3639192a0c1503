//! What can be asked: one table, which routing, policy, audit and documentation read.

mod table;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use table::*;

use super::{Code, Context, Family, Json, RelayError, Request, fault};

/// Something that can be asked, as a type.
pub trait Method {
    /// Its row of the table.
    const ROW: &'static Row;
    /// With what it is asked.
    type Params: Serialize + DeserializeOwned + JsonSchema;
    /// What comes of it.
    type Result: Serialize + DeserializeOwned + JsonSchema;

    /// Asks for it.
    fn request(id: impl Into<String>, params: &Self::Params, context: Option<Context>) -> Request {
        Request { id: id.into(), method: Self::ROW.name.into(), params: Json::of(params), context }
    }

    /// Reads with what it is asked.
    ///
    /// # Errors
    /// `invalid_request` if it is something else.
    fn params(json: &Json) -> Result<Self::Params, RelayError> {
        json.object().map_err(|error| refused(Code::InvalidRequest, Self::ROW, "params", &error))
    }

    /// Reads what came of it.
    ///
    /// # Errors
    /// `provider_error` if it is something else.
    fn result(json: &Json) -> Result<Self::Result, RelayError> {
        json.object().map_err(|error| refused(Code::ProviderError, Self::ROW, "result", &error))
    }
}

/// Something that can be asked.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// What must be accepted for it.
    pub family: Family,
    /// Who may ask it; the other side answers.
    pub asked_by: Side,
    /// Whether it changes anything.
    pub access: Access,
    /// With what it is asked.
    pub params: Shape,
    /// What comes of it.
    pub result: Shape,
}

impl Row {
    /// What is said of params that make no sense, without saying them again.
    pub fn invalid_params(&self, error: &serde_json::Error) -> RelayError {
        refused(Code::InvalidRequest, self, "params", error)
    }

    /// The method with this name; none is `unknown_method`.
    pub fn find(name: &str) -> Option<&'static Self> {
        METHODS.iter().find(|row| row.name == name)
    }

    /// Whether it is about something that goes on already, so that nothing begins with it: a device that is paused does it
    /// all the same.
    pub fn goes_on(&self) -> bool {
        let rows: [&Row; 6] = [
            ShellInput::ROW,
            ShellResize::ROW,
            ShellSignal::ROW,
            ShellCancel::ROW,
            ShellStatus::ROW,
            ToolCancel::ROW,
        ];
        rows.iter().any(|row| row.name == self.name)
    }
}

/// One side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The relay server and the runtimes behind it.
    Runtime,
    /// The device and its providers.
    Provider,
}

impl Side {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Runtime => "runtime",
            Self::Provider => "provider",
        }
    }
}

/// Whether a method changes anything outside of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// It only looks.
    Read,
    /// It does something.
    Write,
}

impl Access {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// A type of the wire, for those who only know the name of a method.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    read: fn(&Json) -> serde_json::Result<Json>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

impl Shape {
    const fn of<T: Serialize + DeserializeOwned + JsonSchema>() -> Self {
        Self {
            read: |json| json.object::<T>().map(|value| Json::of(&value)),
            schema: SchemaGenerator::subschema_for::<T>,
        }
    }

    /// The same value without what is not known.
    ///
    /// # Errors
    /// If it is something else.
    pub fn read(&self, json: &Json) -> serde_json::Result<Json> {
        (self.read)(json)
    }

    /// Its JSON Schema.
    pub fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.schema)(generator)
    }
}

/// `{}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Nothing {}

fn refused(code: Code, row: &Row, what: &str, error: &serde_json::Error) -> RelayError {
    RelayError::new(code, format!("the {what} of `{}`: {}", row.name, fault::of(error)))
        .with("method", row.name)
}

#[cfg(test)]
mod tests;
