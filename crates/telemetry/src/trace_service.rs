//! The attributes of the process that spans are from.

use std::collections::BTreeMap;

use opentelemetry::KeyValue;
use opentelemetry_sdk::{Resource, resource::TelemetryResourceDetector};
use percent_encoding::percent_decode_str;

/// The attribute with the name of the service.
const SERVICE_NAME: &str = "service.name";

/// The attribute with the version of the service.
const SERVICE_VERSION: &str = "service.version";

/// The maximum number of attributes that a user may add. Every request to the collector carries all of them.
const ATTRIBUTES_MAX: usize = 128;

/// The service that spans are from, as attributes of an OpenTelemetry resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceService {
    attributes: BTreeMap<String, String>,
}

impl TraceService {
    /// A service with a name and a version of its own.
    pub fn new(name: &str, version: &str) -> Self {
        let attributes = [(SERVICE_NAME, name), (SERVICE_VERSION, version)];
        Self { attributes: attributes.map(|(key, value)| (key.to_owned(), value.to_owned())).into() }
    }

    /// Replaces the name.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        self.attributes.insert(SERVICE_NAME.to_owned(), name.to_owned());
        self
    }

    /// Adds attributes that are written as in `OTEL_RESOURCE_ATTRIBUTES`: `key=value,…` with percent-encoded values. They replace
    /// earlier ones. Malformed ones are left out, because the variable may be meant for another program.
    #[must_use]
    pub fn with_attributes(mut self, list: &str) -> Self {
        let pairs = list.split(',').filter_map(|pair| pair.split_once('='));
        for (key, value) in pairs.take(ATTRIBUTES_MAX) {
            if let (key, Ok(value)) = (key.trim(), percent_decode_str(value.trim()).decode_utf8())
                && !key.is_empty()
            {
                self.attributes.insert(key.to_owned(), value.into_owned());
            }
        }
        self
    }

    pub(crate) fn into_resource(self) -> Resource {
        let attributes = self.attributes.into_iter().map(|(key, value)| KeyValue::new(key, value));
        let builder = Resource::builder_empty().with_detector(Box::new(TelemetryResourceDetector));
        builder.with_attributes(attributes).build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_decoded_and_replace_earlier_ones() {
        let service = TraceService::new("tombolo-daemon", "1")
            .with_attributes("service.name=mine, team = a%2Cb ,=x,y,z=%FF");
        let expected = [("service.name", "mine"), ("service.version", "1"), ("team", "a,b")];
        let attributes: Vec<_> =
            service.attributes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(attributes, expected);
        assert_eq!(service.with_name("other").attributes["service.name"], "other");
    }
}
