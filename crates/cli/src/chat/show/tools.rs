//! Tool calls: what is done, and the first lines of what came of it.

use std::collections::HashMap;

use protocol::message::{FileDiff, ToolCall, ToolResult, ToolStatus};

use crate::{
    chat::{
        diff,
        screen::{Look, Screen},
    },
    exit::Outcome,
};

/// How many lines of what a tool gave are shown.
const OUTPUT_LINES_MAX: usize = 8;

/// The most of a line that is shown.
const LINE_CHARS_MAX: usize = 160;

/// The tool calls of a turn.
#[derive(Default)]
pub(super) struct Tools(HashMap<String, Tool>);

#[derive(Default)]
struct Tool {
    title: String,
    status: Option<ToolStatus>,
    output: String,
    diffs: Vec<FileDiff>,
    has_result: bool,
    /// Its end was shown.
    done: bool,
}

impl Tools {
    /// News of a call.
    pub(super) fn call(&mut self, call: &ToolCall, screen: &mut Screen) -> Outcome {
        let tool = self.0.entry(call.call_id.clone()).or_default();
        let title = call.title.as_deref().filter(|title| !title.is_empty() && *title != call.name);
        let title = title.map_or_else(|| call.name.clone(), |title| format!("{}: {title}", call.name));
        // An agent may find out what it does while it says so.
        if tool.title != title && !tool.done {
            screen.spans(&[(Look::Cyan, "● "), (Look::Plain, &cut(&title))])?;
            tool.title = title;
        }
        tool.status = Some(call.status);
        tool.finish(screen)
    }

    /// News of a result.
    pub(super) fn result(&mut self, result: &ToolResult, screen: &mut Screen) -> Outcome {
        let tool = self.0.entry(result.call_id.clone()).or_default();
        tool.output.clone_from(&result.output);
        tool.diffs.clone_from(&result.diffs);
        tool.has_result = true;
        tool.finish(screen)
    }

    /// The turn is over: what has not ended is shown as it is.
    pub(super) fn end(&mut self, screen: &mut Screen) -> Outcome {
        for (_, mut tool) in std::mem::take(&mut self.0) {
            if !tool.done && tool.has_result {
                tool.show(screen)?;
            }
        }
        Ok(())
    }
}

impl Tool {
    fn finish(&mut self, screen: &mut Screen) -> Outcome {
        let failed = matches!(self.status, Some(ToolStatus::Failed | ToolStatus::Cancelled));
        let ended = failed || (self.status == Some(ToolStatus::Completed) && self.has_result);
        if self.done || !ended { Ok(()) } else { self.show(screen) }
    }

    fn show(&mut self, screen: &mut Screen) -> Outcome {
        self.done = true;
        for diff in &self.diffs {
            screen.line(Look::Bold, &format!("  {}", diff.path))?;
            for (look, line) in diff::lines(diff) {
                screen.spans(&[(look, "  "), (look, &cut(&line))])?;
            }
        }
        let lines: Vec<_> = self.output.trim_end().lines().collect();
        for line in lines.iter().take(OUTPUT_LINES_MAX) {
            screen.line(Look::Dim, &format!("  │ {}", cut(line)))?;
        }
        if lines.len() > OUTPUT_LINES_MAX {
            screen.line(Look::Dim, &format!("  │ … {} more lines", lines.len() - OUTPUT_LINES_MAX))?;
        }
        match self.status {
            Some(ToolStatus::Failed) => screen.line(Look::Red, "  ✗ failed"),
            Some(ToolStatus::Cancelled) => screen.line(Look::Yellow, "  – not done"),
            _ => Ok(()),
        }
    }
}

fn cut(line: &str) -> String {
    let line = line.replace('\t', "    ").replace('\n', " ");
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
