//! The tools of an environment.

use std::sync::Arc;

use protocol::relay::{Binding, Family, RootMode, ToolName, tool::ToolDescriptor};
use relay::{
    Environment,
    environment::{Error, Toolset},
};
use rmcp::model::{Tool, ToolAnnotations};

use crate::tools::BUILT_IN;

/// The access that a tool requires. Without it the tool does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequiredAccess {
    /// Files that can be read.
    Reading,
    /// Files that can be written.
    Writing,
    /// Commands.
    Commands,
}

impl RequiredAccess {
    /// Whether the environment grants it.
    pub(crate) fn is_met(self, binding: &Binding) -> bool {
        let has_files = binding.capabilities.contains(&Family::Fileops) && !binding.roots.is_empty();
        match self {
            Self::Reading => has_files,
            Self::Writing => has_files && binding.roots.iter().any(|root| root.mode == RootMode::Rw),
            Self::Commands => binding.capabilities.contains(&Family::Shell),
        }
    }
}

/// The instructions for a client.
pub(crate) fn instructions(binding: &Binding) -> String {
    let mut text = String::from(
        "These tools work on a device that its owner lends to you, not on the machine that you run on. Use them for all \
         files and commands of the device. The owner may have to approve a request, and may refuse it.",
    );
    if !binding.roots.is_empty() {
        text.push(' ');
        text.push_str(&roots(binding));
    }
    text
}

/// The tools for files and commands, as far as the environment has them.
pub(crate) fn built_in(binding: &Binding) -> Vec<Tool> {
    let there = BUILT_IN.iter().filter(|tool| tool.needs.is_met(binding));
    let describe = |tool: &crate::tools::BuiltIn| {
        let description = match tool.needs {
            RequiredAccess::Reading | RequiredAccess::Writing => {
                format!("{} {}", tool.description, roots(binding))
            }
            RequiredAccess::Commands => tool.description.to_owned(),
        };
        let annotations = ToolAnnotations::from_raw(
            Some(tool.title.to_owned()),
            Some(tool.needs == RequiredAccess::Reading),
            Some(tool.destroys),
            None,
            Some(tool.needs == RequiredAccess::Commands),
        );
        let mut described = Tool::new(tool.name, description, Arc::new((tool.schema)()))
            .with_title(tool.title)
            .with_annotations(annotations);
        described.output_schema = tool.output_schema.map(|schema| Arc::new(schema()));
        described
    };
    there.map(describe).collect()
}

/// The tools that the device registered, with their names there. A tool whose name collides with a built-in one is listed
/// under another name.
pub(crate) async fn own(environment: &Environment) -> Result<Vec<(ToolName, Tool)>, Error> {
    if !environment.binding().capabilities.contains(&Family::Tools) {
        return Ok(Vec::new());
    }
    Ok(describe_all(environment.tools().list().await?))
}

/// A tool of the device, if the device's tools are loaded.
pub(crate) fn known(environment: &Environment, name: &str) -> Option<Tool> {
    if !environment.binding().capabilities.contains(&Family::Tools) {
        return None;
    }
    let tools = describe_all(environment.tools().listed()?);
    tools.into_iter().map(|(_, tool)| tool).find(|tool| tool.name == name)
}

fn describe_all(descriptors: Vec<ToolDescriptor>) -> Vec<(ToolName, Tool)> {
    let names: Vec<_> = descriptors.iter().map(|tool| tool.name.clone()).collect();
    descriptors.into_iter().map(|tool| (tool.name.clone(), describe(&tool, &names))).collect()
}

fn describe(tool: &ToolDescriptor, names: &[ToolName]) -> Tool {
    let mut name = tool.name.to_string();
    let is_taken = |name: &str| {
        BUILT_IN.iter().any(|tool| tool.name == name) || names.iter().any(|other| other.as_str() == name)
    };
    if BUILT_IN.iter().any(|tool| tool.name == name) {
        while is_taken(&name) {
            name.insert_str(0, "device_");
        }
    }
    let mut described = Tool::new(name, tool.description.clone(), Arc::new(tool.input_schema.clone()));
    described.title.clone_from(&tool.title);
    described.output_schema = tool.output_schema.clone().map(Arc::new);
    described.annotations = tool.annotations.as_ref().map(|hints| {
        ToolAnnotations::from_raw(
            tool.title.clone(),
            hints.read_only,
            hints.destructive,
            hints.idempotent,
            hints.open_world,
        )
    });
    described
}

/// The directories of an environment, for people and models.
fn roots(binding: &Binding) -> String {
    let root = |root: &protocol::relay::Root| {
        let mode = match root.mode {
            RootMode::Ro => "read only",
            RootMode::Rw => "read and write",
        };
        match &root.label {
            Some(label) => format!("`{}` ({label}, {mode})", root.virtual_path),
            None => format!("`{}` ({mode})", root.virtual_path),
        }
    };
    let roots: Vec<_> = binding.roots.iter().map(root).collect();
    format!("The root directories of the device are {}. Relative paths start at the first.", roots.join(", "))
}
