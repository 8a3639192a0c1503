//! Declares the types that routes name.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};

/// The schema of a type that routes name.
pub(crate) struct WireTypeSchema {
    name: fn() -> Cow<'static, str>,
    subschema: fn(&mut SchemaGenerator) -> Schema,
    pub(super) is_received: bool,
}

impl WireTypeSchema {
    /// A type that a server receives. It may send it too.
    pub(crate) const fn received<T: JsonSchema>() -> Self {
        Self { name: T::schema_name, subschema: SchemaGenerator::subschema_for::<T>, is_received: true }
    }

    /// A type that a server only sends.
    pub(crate) const fn sent<T: JsonSchema>() -> Self {
        Self { is_received: false, ..Self::received::<T>() }
    }

    pub(super) fn name(&self) -> Cow<'static, str> {
        (self.name)()
    }

    /// Adds the schemas of this type and of every type it contains to the definitions of the generator.
    pub(super) fn describe(&self, generator: &mut SchemaGenerator) {
        (self.subschema)(generator);
    }
}

/// Declares which types of a module routes may name. schemars describes them; utoipa only refers to them.
///
/// The constant that it defines must be in the list of [`super::WIRE_TYPES`]; the compiler warns if it is not used.
macro_rules! wire_types {
    ($($direction:ident: $($type:ty),+;)+) => {
        $($(
            impl ::utoipa::PartialSchema for $type {
                fn schema() -> ::utoipa::openapi::RefOr<::utoipa::openapi::Schema> {
                    ::utoipa::openapi::Ref::from_schema_name(<Self as ::schemars::JsonSchema>::schema_name()).into()
                }
            }

            impl ::utoipa::ToSchema for $type {
                fn name() -> ::std::borrow::Cow<'static, str> {
                    <Self as ::schemars::JsonSchema>::schema_name()
                }
            }
        )+)+

        pub(crate) const WIRE_TYPES: &[$crate::schema::WireTypeSchema] =
            &[$($($crate::schema::WireTypeSchema::$direction::<$type>()),+),+];
    };
}
pub(crate) use wire_types;
