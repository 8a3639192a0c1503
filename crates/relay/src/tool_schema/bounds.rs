//! Bounds the cost of validating with a schema.
//!
//! Subschemas apply to the value itself (`allOf`, `$ref`, …) or to its members (`properties`, `items`, …). A chain that applies to the
//! value itself must end, and with references the same subschema can apply many times.

use std::collections::{HashMap, HashSet};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::BadSchema;

/// The number of subschemas after every reference is replaced by its target.
const PARTS_MAX: u64 = 10_000;

/// The length of a path through subschemas and references.
const WAY_MAX: usize = 128;

/// The number of evaluations of the innermost value by a recursive schema.
const VISITS_MAX: u64 = 1_000_000;

/// Keywords whose value is a schema or a list of schemas. Values that are neither are ignored.
const HERE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
const WITHIN: [&str; 9] = [
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "contentSchema",
];

/// Keywords whose value is an object of schemas.
const HERE_NAMED: [&str; 2] = ["dependentSchemas", "dependencies"];
const WITHIN_NAMED: [&str; 2] = ["properties", "patternProperties"];

/// Keywords whose target is known only during an evaluation.
const UNFOLLOWED: [&str; 2] = ["$dynamicRef", "$recursiveRef"];

/// The bound on values that keeps the cost of a schema acceptable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The nesting depth of a value.
    depth_max: usize,
}

impl Bounds {
    pub(super) fn of(schema: &Value) -> Result<Self, BadSchema> {
        let mut walk = Walk::new(schema);
        walk.whole(schema, 0)?;
        let depth_max = match walk.branches {
            // Each level of nesting multiplies the number of evaluations.
            branches @ 2.. if walk.recursive => {
                let levels = (0..).take_while(|level| branches.saturating_pow(*level) <= VISITS_MAX);
                levels.count()
            }
            _ => usize::MAX,
        };
        Ok(Self { depth_max })
    }

    pub(super) fn allow(&self, value: &Value) -> bool {
        self.depth_max == usize::MAX || depth(value) <= self.depth_max
    }
}

/// The nesting depth of a value. The recursion is safe, because the JSON parser limits the depth.
pub(super) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(_) | Value::Object(_) => 1 + inside(value).map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The number of patterns in a schema.
pub(super) fn patterns(schema: &Value) -> usize {
    let within = inside(schema).map(patterns).sum::<usize>();
    let Some(part) = schema.as_object() else { return within };
    let names = part.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
    within + names + usize::from(part.get("pattern").is_some_and(Value::is_string))
}

/// The elements of an array, or the members of an object.
pub(super) fn inside(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// The subschemas that apply to one value, and those of them that look at its members.
#[derive(Debug, Clone, Copy, Default)]
struct Here {
    parts: u64,
    looking_in: u64,
}

struct Walk<'a> {
    root: &'a Value,
    /// For each visited subschema, by its address: the subschemas that apply to the value itself.
    here: HashMap<*const Value, Here>,
    whole: HashMap<*const Value, u64>,
    on_the_way_here: HashSet<*const Value>,
    on_the_way: HashSet<*const Value>,
    recursive: bool,
    /// The largest number of subschemas that look at the members of the same value.
    branches: u64,
}

impl<'a> Walk<'a> {
    fn new(root: &'a Value) -> Self {
        Self {
            root,
            here: HashMap::new(),
            whole: HashMap::new(),
            on_the_way_here: HashSet::new(),
            on_the_way: HashSet::new(),
            recursive: false,
            branches: 0,
        }
    }

    /// The number of subschemas that apply to the value and its members. A recursive one counts once.
    fn whole(&mut self, part: &'a Value, way: usize) -> Result<u64, BadSchema> {
        if let Some(parts) = self.whole.get(&std::ptr::from_ref(part)) {
            return Ok(*parts);
        }
        if !self.on_the_way.insert(part) {
            self.recursive = true;
            return Ok(1);
        }
        if way > WAY_MAX {
            return Err(BadSchema::Deep);
        }
        let here = self.here(part, way)?;
        self.branches = self.branches.max(here.looking_in);
        let mut parts = 1u64;
        for next in self.applied_here(part)?.into_iter().chain(applied_within(part)) {
            parts = parts.saturating_add(self.whole(next, way + 1)?);
        }
        if parts > PARTS_MAX {
            return Err(BadSchema::Costly);
        }
        self.on_the_way.remove(&std::ptr::from_ref(part));
        self.whole.insert(part, parts);
        Ok(parts)
    }

    /// The subschemas that apply to the value itself.
    fn here(&mut self, part: &'a Value, way: usize) -> Result<Here, BadSchema> {
        if let Some(here) = self.here.get(&std::ptr::from_ref(part)) {
            return Ok(*here);
        }
        if way > WAY_MAX {
            return Err(BadSchema::Deep);
        }
        if !self.on_the_way_here.insert(part) {
            return Err(BadSchema::Endless);
        }
        let mut sum = Here { parts: 1, looking_in: u64::from(!applied_within(part).is_empty()) };
        for next in self.applied_here(part)? {
            let more = self.here(next, way + 1)?;
            sum.parts = sum.parts.saturating_add(more.parts);
            sum.looking_in = sum.looking_in.saturating_add(more.looking_in);
        }
        if sum.parts > PARTS_MAX {
            return Err(BadSchema::Costly);
        }
        self.on_the_way_here.remove(&std::ptr::from_ref(part));
        self.here.insert(part, sum);
        Ok(sum)
    }

    fn applied_here(&self, part: &'a Value) -> Result<Vec<&'a Value>, BadSchema> {
        let Some(part_of) = part.as_object() else { return Ok(Vec::new()) };
        if let Some(unfollowed) = UNFOLLOWED.into_iter().find(|keyword| part_of.contains_key(*keyword)) {
            return Err(BadSchema::Elsewhere(unfollowed.into()));
        }
        let mut parts = schemas(part_of, &HERE, &HERE_NAMED);
        if let Some(reference) = part_of.get("$ref").and_then(Value::as_str) {
            parts.push(self.find(reference)?);
        }
        Ok(parts)
    }

    /// The target of a reference within the schema.
    fn find(&self, reference: &str) -> Result<&'a Value, BadSchema> {
        let found = reference.strip_prefix('#').and_then(|fragment| {
            let fragment = percent_decode_str(fragment).decode_utf8().ok()?;
            self.root.pointer(&fragment)
        });
        found.ok_or_else(|| BadSchema::Elsewhere(super::cut(reference)))
    }
}

fn applied_within(part: &Value) -> Vec<&Value> {
    part.as_object().map(|part| schemas(part, &WITHIN, &WITHIN_NAMED)).unwrap_or_default()
}

fn schemas<'a>(part: &'a Map<String, Value>, plain: &[&str], named: &[&str]) -> Vec<&'a Value> {
    let is_schema = |value: &&Value| value.is_object() || value.is_boolean();
    let plain = plain.iter().filter_map(|keyword| part.get(*keyword)).flat_map(|value| match value {
        Value::Array(values) => values.iter().collect(),
        value => vec![value],
    });
    let named = named.iter().filter_map(|keyword| part.get(*keyword)?.as_object()).flat_map(Map::values);
    plain.chain(named).filter(is_schema).collect()
}
