//! Renders tool calls: their title, and the first lines of their output.

use std::collections::HashMap;

use protocol::message::{FileDiff, ToolCall, ToolResult, ToolStatus};

use crate::{
    chat::{
        diff::diff_lines,
        screen::{ChatScreen, TextStyle},
    },
    exit::CommandResult,
};

/// How many lines of a tool's output are shown.
const OUTPUT_LINES_MAX: usize = 8;

/// How much of a line is shown.
const LINE_CHARS_MAX: usize = 160;

/// The tool calls of the current turn, by call id.
#[derive(Default)]
pub(super) struct ToolCallsView(HashMap<String, ToolCallView>);

/// One tool call, as far as its events have arrived. Call and result are separate events and may arrive in any order.
#[derive(Default)]
struct ToolCallView {
    title: String,
    status: Option<ToolStatus>,
    output: String,
    diffs: Vec<FileDiff>,
    has_result: bool,
    result_shown: bool,
}

impl ToolCallsView {
    /// Shows a new or changed call.
    pub(super) fn update_call(&mut self, call: &ToolCall, screen: &mut ChatScreen) -> CommandResult {
        let view = self.0.entry(call.call_id.clone()).or_default();
        let title = call.title.as_deref().filter(|title| !title.is_empty() && *title != call.name);
        let title = title.map_or_else(|| call.name.clone(), |title| format!("{}: {title}", call.name));
        // Some agents announce a call before they know its title, and then send a better one.
        if view.title != title && !view.result_shown {
            screen.spans(&[(TextStyle::Cyan, "● "), (TextStyle::Plain, &shorten(&title))])?;
            view.title = title;
        }
        view.status = Some(call.status);
        view.show_if_ended(screen)
    }

    /// Shows the result of a call, once the call has ended.
    pub(super) fn update_result(&mut self, result: &ToolResult, screen: &mut ChatScreen) -> CommandResult {
        let view = self.0.entry(result.call_id.clone()).or_default();
        view.output.clone_from(&result.output);
        view.diffs.clone_from(&result.diffs);
        view.has_result = true;
        view.show_if_ended(screen)
    }

    /// Shows results whose call has no recorded end, and forgets the calls of this turn.
    pub(super) fn end_turn(&mut self, screen: &mut ChatScreen) -> CommandResult {
        for (_, mut call) in std::mem::take(&mut self.0) {
            if !call.result_shown && call.has_result {
                call.show_result(screen)?;
            }
        }
        Ok(())
    }
}

impl ToolCallView {
    fn show_if_ended(&mut self, screen: &mut ChatScreen) -> CommandResult {
        let failed = matches!(self.status, Some(ToolStatus::Failed | ToolStatus::Cancelled));
        let ended = failed || (self.status == Some(ToolStatus::Completed) && self.has_result);
        if self.result_shown || !ended { Ok(()) } else { self.show_result(screen) }
    }

    fn show_result(&mut self, screen: &mut ChatScreen) -> CommandResult {
        self.result_shown = true;
        for diff in &self.diffs {
            screen.line(TextStyle::Bold, &format!("  {}", diff.path))?;
            for (style, line) in diff_lines(diff) {
                screen.spans(&[(style, "  "), (style, &shorten(&line))])?;
            }
        }
        let lines: Vec<_> = self.output.trim_end().lines().collect();
        for line in lines.iter().take(OUTPUT_LINES_MAX) {
            screen.line(TextStyle::Dim, &format!("  │ {}", shorten(line)))?;
        }
        if lines.len() > OUTPUT_LINES_MAX {
            screen.line(TextStyle::Dim, &format!("  │ … {} more lines", lines.len() - OUTPUT_LINES_MAX))?;
        }
        match self.status {
            Some(ToolStatus::Failed) => screen.line(TextStyle::Red, "  ✗ failed"),
            Some(ToolStatus::Cancelled) => screen.line(TextStyle::Yellow, "  – cancelled"),
            _ => Ok(()),
        }
    }
}

fn shorten(line: &str) -> String {
    let line = line.replace('\t', "    ").replace('\n', " ");
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
