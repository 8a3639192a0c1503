//! Translates steps into calls of the agent's own tools. Each agent has other tool names and argument names for the
//! same job, so the tools and schemas in the request decide.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    model_reply::{AnswerPart, ModelToolCall, ToolArguments},
    script::ScriptStep,
};

// Names of tools for each job, in the order of preference.
const SHELLS: &[&str] = &["Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command"];
const WRITERS: &[&str] = &["Write", "write", "write_file", "create_file", "apply_patch"];
const QUESTIONS: &[&str] = &["AskUserQuestion", "question", "request_user_input", "ask_user"];
const PLANS: &[&str] = &["ExitPlanMode", "exit_plan_mode", "plan_exit"];
const LISTS: &[&str] = &["TodoWrite", "todowrite", "update_plan", "write_todos", "todo_write"];

/// The argument that names the file of a plan, of gemini-cli's `exit_plan_mode`.
const PLAN_FILE: &str = "plan_filename";

/// With its newest models Codex offers only this tool. It runs JavaScript, which calls the other tools.
const CODE_MODE: &str = "exec";

/// Claude Code omits rarely used tools from the request if it offers this one, with which the model can look them up.
/// It accepts calls of omitted tools without a lookup.
const DEFERRED: &str = "ToolSearch";

/// A tool that the agent offers.
#[derive(Debug, Default)]
pub(super) struct OfferedTool {
    /// The JSON schema of its arguments.
    pub(super) schema: Value,
    /// The tool's namespace, in the Responses API; other APIs have none.
    pub(super) namespace: Option<String>,
    /// Whether the tool takes plain text instead of JSON.
    pub(super) freeform: bool,
}

/// The tools that the agent offers, by name.
#[derive(Debug, Default)]
pub(super) struct OfferedTools(BTreeMap<String, OfferedTool>);

impl OfferedTools {
    pub(super) fn add(&mut self, name: &Value, tool: OfferedTool) {
        if let Some(name) = name.as_str() {
            self.0.insert(name.to_owned(), tool);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The parts of an answer that carry out a step; empty if the step calls no tool.
    pub(super) fn parts(&self, step: &ScriptStep, plan_file: Option<&str>) -> Vec<AnswerPart> {
        match step {
            ScriptStep::Bash { command, escalate, .. } => vec![self.bash(command, *escalate)],
            ScriptStep::Tool { name, input, .. } => vec![self.named(name, input)],
            ScriptStep::Edit { path, text } => vec![self.edit(path, text)],
            ScriptStep::Ask { question, options } => vec![self.ask(question, options)],
            ScriptStep::Plan(text) => self.plan(text, plan_file),
            ScriptStep::Todo(items) => vec![self.list(items)],
            _ => Vec::new(),
        }
    }

    /// A shell call, with the arguments that the tool's schema names: `cmd`, or `command` as a list or as a string.
    fn bash(&self, command: &str, escalate: bool) -> AnswerPart {
        let name = self.first_of(SHELLS);
        let mut input = json!({});
        if escalate && (name.is_none() || self.takes(name, "sandbox_permissions")) {
            input["sandbox_permissions"] = json!("require_escalated");
            input["justification"] = json!("May I?");
        }
        if name.is_none() && self.has(CODE_MODE) {
            input["cmd"] = json!(command);
            let code = format!("const r = await tools.exec_command({input}); text(r.output);");
            return self.call(CODE_MODE, ToolArguments::Text(code));
        }
        if self.takes(name, "cmd") {
            input["cmd"] = json!(command);
        } else if self.property(name, "command")["type"] == "array" {
            input["command"] = json!(["bash", "-lc", command]);
        } else {
            input["command"] = json!(command);
        }
        if self.takes(name, "description") {
            input["description"] = json!("scripted command");
        }
        self.call(name.unwrap_or("bash"), ToolArguments::Json(input))
    }

    fn named(&self, name: &str, input: &str) -> AnswerPart {
        let freeform = self.0.get(name).is_some_and(|tool| tool.freeform);
        let json = if input.is_empty() { Ok(json!({})) } else { serde_json::from_str(input) };
        match json {
            Ok(json) if !freeform => self.call(name, ToolArguments::Json(json)),
            _ => self.call(name, ToolArguments::Text(input.into())),
        }
    }

    fn edit(&self, path: &str, text: &str) -> AnswerPart {
        let name = self.first_of(WRITERS);
        if name == Some("apply_patch") || (name.is_none() && self.has(CODE_MODE)) {
            return self.patch(path, text);
        }
        let key =
            |keys: [&'static str; 3]| keys.into_iter().find(|key| self.takes(name, key)).unwrap_or(keys[0]);
        let (file, content) = (key(["file_path", "filePath", "path"]), key(["content", "text", "contents"]));
        let unlisted = if self.has(DEFERRED) { "Write" } else { "write" };
        self.call(name.unwrap_or(unlisted), ToolArguments::Json(json!({ file: path, content: text })))
    }

    /// A new file as a patch, for agents that write files only with `apply_patch`.
    fn patch(&self, path: &str, text: &str) -> AnswerPart {
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch");
        match self.0.get("apply_patch") {
            None => {
                let code = format!("text(await tools.apply_patch({}));", json!(patch));
                self.call(CODE_MODE, ToolArguments::Text(code))
            }
            Some(tool) if tool.freeform => self.call("apply_patch", ToolArguments::Text(patch)),
            Some(_) => {
                self.call("apply_patch", ToolArguments::Json(json!({ "input": patch, "patchText": patch })))
            }
        }
    }

    fn ask(&self, question: &str, options: &[String]) -> AnswerPart {
        let name = self.first_of(QUESTIONS).unwrap_or("AskUserQuestion");
        let options: Vec<_> =
            options.iter().map(|label| json!({ "label": label, "description": label })).collect();
        let mut one = json!({ "question": question, "header": "Choice", "options": options });
        match name {
            "request_user_input" => one["id"] = json!("q1"),
            "question" => one["multiple"] = json!(false),
            "ask_user" => one["type"] = json!("choice"),
            _ => one["multiSelect"] = json!(false),
        }
        self.call(name, ToolArguments::Json(json!({ "questions": [one] })))
    }

    /// Whether the tool that submits a plan takes the name of its file (gemini-cli).
    pub(super) fn wants_plan_file(&self) -> bool {
        self.takes(self.first_of(PLANS), PLAN_FILE)
    }

    /// Claude Code and gemini-cli want the plan in a file before they leave plan mode, hence two calls. Codex has no tool
    /// for plans and recognises them by a tag in the text.
    fn plan(&self, text: &str, file: Option<&str>) -> Vec<AnswerPart> {
        let deferred = self.has(DEFERRED).then_some("ExitPlanMode");
        let Some(name) = self.first_of(PLANS).or(deferred) else {
            return vec![AnswerPart::Text(format!("<proposed_plan>\n{text}\n</proposed_plan>"))];
        };
        let write = file.map(|file| self.edit(file, &format!("{text}\n")));
        let submitted =
            if self.wants_plan_file() { json!({ PLAN_FILE: file }) } else { json!({ "plan": text }) };
        let exit = self.call(name, ToolArguments::Json(submitted));
        write.into_iter().chain([exit]).collect()
    }

    fn list(&self, items: &[String]) -> AnswerPart {
        let deferred = self.has(DEFERRED).then_some("TodoWrite");
        let name = self.first_of(LISTS).or(deferred).unwrap_or("TodoWrite");
        let status = |at: usize| ["completed", "in_progress"].get(at).copied().unwrap_or("pending");
        let items = items.iter().enumerate().map(|(at, item)| match name {
            "update_plan" => json!({ "step": item, "status": status(at) }),
            "write_todos" => json!({ "description": item, "status": status(at) }),
            "todowrite" => {
                json!({ "content": item, "status": status(at), "priority": "medium", "id": at.to_string() })
            }
            _ => json!({ "content": item, "status": status(at), "activeForm": item }),
        });
        let key = if name == "update_plan" { "plan" } else { "todos" };
        self.call(name, ToolArguments::Json(json!({ key: items.collect::<Vec<_>>() })))
    }

    fn call(&self, name: &str, input: ToolArguments) -> AnswerPart {
        // The request names the namespace of each tool that it lists. For a tool that the model would have to search
        // for first, the script gives the namespace itself: `tool:NAMESPACE/NAME`.
        let (namespace, name) = match name.split_once('/') {
            Some((namespace, name)) => (Some(namespace.to_owned()), name),
            None => (self.0.get(name).and_then(|tool| tool.namespace.clone()), name),
        };
        AnswerPart::Call(ModelToolCall { name: name.into(), input, namespace })
    }

    fn first_of(&self, names: &'static [&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.has(name))
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether the schema of the tool `name` has this argument.
    fn takes(&self, name: Option<&str>, argument: &str) -> bool {
        !self.property(name, argument).is_null()
    }

    fn property(&self, name: Option<&str>, argument: &str) -> &Value {
        match name.and_then(|name| self.0.get(name)) {
            Some(tool) => &tool.schema["properties"][argument],
            None => &Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::script;

    fn tools(list: &[(&str, &[&str])]) -> OfferedTools {
        let mut tools = OfferedTools::default();
        for (name, arguments) in list {
            let properties: Value =
                arguments.iter().map(|key| ((*key).to_owned(), json!({ "type": "string" }))).collect();
            tools.add(
                &json!(name),
                OfferedTool { schema: json!({ "properties": properties }), ..OfferedTool::default() },
            );
        }
        tools
    }

    #[track_caller]
    fn check(tools: &OfferedTools, step: &str, name: &str, input: &Value) {
        let parts = tools.parts(&script::parse(step)[0], None);
        let [AnswerPart::Call(call)] = parts.as_slice() else { panic!("not one call: {parts:?}") };
        assert_eq!((call.name.as_str(), &call.input), (name, &ToolArguments::Json(input.clone())));
    }

    #[test]
    fn the_shell_is_called_by_the_agents_own_name_and_arguments() {
        let claude = tools(&[("Bash", &["command", "description"])]);
        check(
            &claude,
            "tool:bash! ls",
            "Bash",
            &json!({ "command": "ls", "description": "scripted command" }),
        );
        let codex = tools(&[("exec_command", &["cmd", "sandbox_permissions"])]);
        check(&codex, "tool:bash ls", "exec_command", &json!({ "cmd": "ls" }));
        let escalated =
            json!({ "cmd": "ls", "sandbox_permissions": "require_escalated", "justification": "May I?" });
        check(&codex, "tool:bash! ls", "exec_command", &escalated);
        let mut list = OfferedTools::default();
        let schema = json!({ "properties": { "command": { "type": "array" } } });
        list.add(&json!("shell"), OfferedTool { schema, ..OfferedTool::default() });
        check(&list, "tool:bash ls", "shell", &json!({ "command": ["bash", "-lc", "ls"] }));
    }

    #[test]
    fn a_file_is_written_as_the_agent_writes_files() {
        let written = |path: &str| json!({ path: "/a", "content": "b c" });
        check(&tools(&[("Write", &["file_path", "content"])]), "edit:/a b c", "Write", &written("file_path"));
        check(&tools(&[("write", &["filePath", "content"])]), "edit:/a b c", "write", &written("filePath"));
        check(&tools(&[("write", &["path", "content"])]), "edit:/a b c", "write", &written("path"));
        let mut codex = OfferedTools::default();
        codex.add(&json!("apply_patch"), OfferedTool { freeform: true, ..OfferedTool::default() });
        let parts = codex.parts(&script::parse("edit:/a b c")[0], None);
        let AnswerPart::Call(call) = &parts[0] else { panic!("no call") };
        assert_eq!(call.input.as_text(), "*** Begin Patch\n*** Add File: /a\n+b c\n*** End Patch");
    }

    #[test]
    fn lists_and_questions_take_the_agents_own_shape() {
        let plan = json!({ "plan": [{ "step": "a", "status": "completed" }, { "step": "b", "status": "in_progress" },
            { "step": "c", "status": "pending" }] });
        check(&tools(&[("update_plan", &[])]), "todo:a|b|c", "update_plan", &plan);
        let question = json!({ "questions": [{ "id": "q1", "header": "Choice", "question": "Which?",
            "options": [{ "label": "A", "description": "A" }] }] });
        check(&tools(&[("request_user_input", &[])]), "ask:Which?|A", "request_user_input", &question);
    }

    #[test]
    fn a_plan_is_written_where_the_agent_wants_it_and_is_text_where_there_is_no_tool() {
        let plan = script::parse("plan:first this").remove(0);
        let claude = tools(&[("ToolSearch", &[])]);
        let names: Vec<_> = claude
            .parts(&plan, Some("/plans/a.md"))
            .into_iter()
            .map(|part| if let AnswerPart::Call(call) = part { call.name } else { panic!("no call") })
            .collect();
        assert_eq!(names, ["Write", "ExitPlanMode"]);
        let text = "<proposed_plan>\nfirst this\n</proposed_plan>".to_owned();
        assert_eq!(tools(&[("exec_command", &[])]).parts(&plan, None), [AnswerPart::Text(text)]);
    }

    #[test]
    fn without_plain_tools_the_calls_are_written_in_javascript() {
        let mut codex = OfferedTools::default();
        codex.add(&json!("exec"), OfferedTool { freeform: true, ..OfferedTool::default() });
        let AnswerPart::Call(call) = &codex.parts(&script::parse("tool:bash echo \"a\"")[0], None)[0] else {
            panic!("no call")
        };
        assert_eq!(
            call.input.as_text(),
            r#"const r = await tools.exec_command({"cmd":"echo \"a\""}); text(r.output);"#
        );
    }
}
