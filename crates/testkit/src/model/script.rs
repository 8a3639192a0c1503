//! Parses scripts: the steps that a prompt lists for the scripted model.

use std::{fmt, time::Duration};

/// How long a hanging answer lasts, and the upper limit of every pause: longer than any test waits.
pub const HANG: Duration = Duration::from_secs(600);

/// One step of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptStep {
    /// Answers with this text.
    Say(String),
    /// Sends this text as reasoning.
    Think(String),
    /// Answers word by word, with a pause after each word.
    Slow {
        /// The sum of the pauses.
        over: Duration,
        /// The text of the answer.
        text: String,
    },
    /// Sends nothing for this time.
    Wait(Duration),
    /// Runs a command with the agent's shell tool.
    Bash {
        /// The command line.
        command: String,
        /// Whether the call requests to run outside the agent's sandbox.
        escalate: bool,
        /// Whether the next call is part of the same answer.
        join: bool,
    },
    /// Calls a tool by its name.
    Tool {
        /// The name of the tool.
        name: String,
        /// The arguments: JSON, or plain text for a tool without a schema.
        input: String,
        /// Whether the next call is part of the same answer.
        join: bool,
    },
    /// Writes a file with the agent's own tool.
    Edit {
        /// The path of the file.
        path: String,
        /// The new content.
        text: String,
    },
    /// Asks the user a question with the agent's own tool.
    Ask {
        /// The text of the question.
        question: String,
        /// The answers to choose from.
        options: Vec<String>,
    },
    /// Submits a plan to the user.
    Plan(String),
    /// Writes a to-do list. The first item is completed, the second in progress, the others pending.
    Todo(Vec<String>),
    /// Responds with an HTTP error.
    Fail {
        /// The HTTP status, 400 to 599.
        status: u16,
        /// The error message.
        message: String,
        /// Whether only the first request fails, so that a retry succeeds.
        once: bool,
    },
    /// Breaks the connection in mid-answer.
    Cut {
        /// Whether only the first answer is cut, so that a retry succeeds.
        once: bool,
    },
    /// Answers with this text and stops as if the token limit was reached.
    Max(String),
}

impl ScriptStep {
    /// Whether the step calls a tool, after which the agent sends a new request with the result.
    pub fn is_call(&self) -> bool {
        matches!(
            self,
            Self::Bash { .. }
                | Self::Tool { .. }
                | Self::Edit { .. }
                | Self::Ask { .. }
                | Self::Plan(_)
                | Self::Todo(_)
        )
    }
}

/// Parses the steps in `text` and skips all other text, including steps with invalid arguments.
pub fn parse(text: &str) -> Vec<ScriptStep> {
    let text = without_reminders(text);
    text.lines().flat_map(|line| line.split(" ;; ")).filter_map(step).collect()
}

/// Removes the reminders that agents add to a prompt. They may quote anything, including text that looks like a step.
fn without_reminders(text: &str) -> String {
    const OPEN: &str = "<system-reminder>";
    const CLOSE: &str = "</system-reminder>";
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        kept += before;
        rest = after.split_once(CLOSE).map_or("", |(_, after)| after);
    }
    kept + rest
}

fn step(segment: &str) -> Option<ScriptStep> {
    let (word, rest) = unwrapped(segment).split_once(':')?;
    let rest = rest.trim();
    let text = || rest.to_owned();
    Some(match word {
        "say" => ScriptStep::Say(text()),
        "think" => ScriptStep::Think(text()),
        "max" => ScriptStep::Max(text()),
        "plan" => ScriptStep::Plan(text()),
        "slow" => {
            let (over, words) = split_word(rest);
            ScriptStep::Slow { over: seconds(over)?, text: words.to_owned() }
        }
        "wait" => ScriptStep::Wait(seconds(rest)?),
        "hang" if rest.is_empty() => ScriptStep::Wait(HANG),
        "hang" => ScriptStep::Wait(seconds(rest)?),
        "tool" | "tool+" => tool(rest, word == "tool+")?,
        "edit" => {
            let (path, text) = split_word(rest);
            ScriptStep::Edit { path: not_empty(path)?, text: text.to_owned() }
        }
        "ask" => {
            let mut words = items(rest).into_iter();
            ScriptStep::Ask { question: words.next()?, options: words.collect() }
        }
        "todo" => ScriptStep::Todo(items(rest)),
        "err" | "err1" => {
            let (status, message) = split_word(rest);
            let status = status.parse().ok().filter(|status| (400..600).contains(status))?;
            ScriptStep::Fail { status, message: message.to_owned(), once: word == "err1" }
        }
        "cut" | "cut1" => ScriptStep::Cut { once: word == "cut1" },
        _ => return None,
    })
}

/// Removes the XML tags and quotes that agents put around a prompt, but keeps tags inside the text.
fn unwrapped(segment: &str) -> &str {
    let mut text = segment.trim();
    loop {
        if let Some(rest) = text.strip_prefix('"').or_else(|| text.strip_prefix('\'')) {
            text = rest.trim_end_matches(['"', '\'']).trim();
        } else if let Some((tag, rest)) = text.strip_prefix('<').and_then(|text| text.split_once('>'))
            && !tag.contains('<')
        {
            text = rest.trim_start();
        } else {
            break;
        }
    }
    while let Some((before, tag)) = text.rsplit_once("</")
        && let Some(tag) = tag.strip_suffix('>')
        && !tag.is_empty()
        && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    {
        text = before.trim_end();
    }
    text
}

fn tool(rest: &str, join: bool) -> Option<ScriptStep> {
    let (name, input) = split_word(rest);
    let input = input.to_owned();
    Some(match name {
        "bash" => ScriptStep::Bash { command: input, escalate: false, join },
        "bash!" => ScriptStep::Bash { command: input, escalate: true, join },
        _ => ScriptStep::Tool { name: not_empty(name)?, input, join },
    })
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_once(' ').map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

fn not_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn seconds(text: &str) -> Option<Duration> {
    text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).map(|time| time.min(HANG))
}

fn items(text: &str) -> Vec<String> {
    text.split('|').filter_map(|item| not_empty(item.trim())).collect()
}

/// Formats the step as it is written in a script; the inverse of [`parse`].
impl fmt::Display for ScriptStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plus = |join: &bool| if *join { "+" } else { "" };
        let once = |once: &bool| if *once { "1" } else { "" };
        match self {
            Self::Say(text) => write!(f, "say:{text}"),
            Self::Think(text) => write!(f, "think:{text}"),
            Self::Slow { over, text } => write!(f, "slow:{} {text}", over.as_secs_f64()),
            Self::Wait(time) => write!(f, "wait:{}", time.as_secs_f64()),
            Self::Bash { command, escalate, join } => {
                write!(f, "tool{}:bash{} {command}", plus(join), if *escalate { "!" } else { "" })
            }
            Self::Tool { name, input, join } => write!(f, "tool{}:{name} {input}", plus(join)),
            Self::Edit { path, text } => write!(f, "edit:{path} {text}"),
            Self::Ask { question, options } => {
                write!(f, "ask:{question}")?;
                options.iter().try_for_each(|option| write!(f, "|{option}"))
            }
            Self::Plan(text) => write!(f, "plan:{text}"),
            Self::Todo(items) => write!(f, "todo:{}", items.join("|")),
            Self::Fail { status, message, once: first } => write!(f, "err{}:{status} {message}", once(first)),
            Self::Cut { once: first } => write!(f, "cut{}:", once(first)),
            Self::Max(text) => write!(f, "max:{text}"),
        }
    }
}

#[cfg(test)]
mod tests;
