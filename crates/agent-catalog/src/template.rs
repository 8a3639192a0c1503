//! Texts with places in them that are filled in when something is started.

use std::{collections::BTreeSet, path::Path};

use serde::Deserialize;

use crate::ComponentName;

/// A text of a launch. `{X}` is the program of component X, `{X:bin}` the directory that holds its program, and
/// `{X:tree}` the directory of the whole component.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Place(ComponentName, Aspect),
}

/// What of a component is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aspect {
    Program,
    Bin,
    Tree,
}

/// A text that is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a template: expected `{{X}}`, `{{X:bin}}` or `{{X:tree}}`, where X is a component")]
pub struct InvalidTemplate(String);

/// Where a component is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its program.
    pub program: std::path::PathBuf,
    /// The directory of all of it.
    pub tree: std::path::PathBuf,
}

impl Template {
    /// A text that stands for itself.
    pub fn literal(text: impl Into<String>) -> Self {
        Self(vec![Part::Text(text.into())])
    }

    /// The program of a component.
    pub(crate) fn program_of(component: &ComponentName) -> Self {
        Self(vec![Part::Place(component.clone(), Aspect::Program)])
    }

    /// The directory that holds the program of a component.
    pub(crate) fn bin_of(component: &ComponentName) -> Self {
        Self(vec![Part::Place(component.clone(), Aspect::Bin)])
    }

    /// The directory of a component.
    pub(crate) fn tree_of(component: &ComponentName) -> Self {
        Self(vec![Part::Place(component.clone(), Aspect::Tree)])
    }

    /// The components that it names.
    pub fn components(&self) -> impl Iterator<Item = &ComponentName> {
        self.0.iter().filter_map(|part| match part {
            Part::Place(name, _) => Some(name),
            Part::Text(_) => None,
        })
    }

    /// The text with every place filled in; the component that is missing otherwise.
    pub fn fill<'a>(
        &'a self,
        find: &impl Fn(&ComponentName) -> Option<Found>,
    ) -> Result<String, &'a ComponentName> {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(literal) => text += literal,
                Part::Place(name, aspect) => {
                    let found = find(name).ok_or(name)?;
                    let path: &Path = match aspect {
                        Aspect::Program => &found.program,
                        Aspect::Bin => found.program.parent().unwrap_or(&found.program),
                        Aspect::Tree => &found.tree,
                    };
                    text += &path.to_string_lossy();
                }
            }
        }
        Ok(text)
    }
}

/// The components that several templates name.
pub(crate) fn components<'a>(templates: impl IntoIterator<Item = &'a Template>) -> BTreeSet<ComponentName> {
    templates.into_iter().flat_map(Template::components).cloned().collect()
}

impl TryFrom<String> for Template {
    type Error = InvalidTemplate;

    fn try_from(text: String) -> Result<Self, InvalidTemplate> {
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (place, after) = after.split_once('}').ok_or_else(|| InvalidTemplate(text.clone()))?;
            let (name, aspect) = match place.split_once(':') {
                None => (place, Aspect::Program),
                Some((name, "bin")) => (name, Aspect::Bin),
                Some((name, "tree")) => (name, Aspect::Tree),
                Some(_) => return Err(InvalidTemplate(text)),
            };
            let name = name.parse().map_err(|_| InvalidTemplate(text.clone()))?;
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(Part::Place(name, aspect));
            rest = after;
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Self(parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_with_where_components_are() {
        let find = |name: &ComponentName| {
            (name.as_str() == "node").then(|| Found { program: "/n/bin/node".into(), tree: "/n".into() })
        };
        let fill = |text: &str| Template::try_from(text.to_owned()).unwrap().fill(&find).ok();
        assert_eq!(fill("{node}").unwrap(), "/n/bin/node");
        assert_eq!(fill("a={node:bin}:{node:tree}!").unwrap(), "a=/n/bin:/n!");
        assert_eq!(fill("{gone}"), None);
        assert_eq!(Template::literal("{node}").fill(&find).unwrap(), "{node}");
        for bad in ["{node", "{}", "{node:home}", "{No Name}"] {
            assert!(Template::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
