//! Scripts for prompts that do not contain a script themselves.

use serde::Deserialize;

use super::script::{self, ScriptStep};

/// Chooses a script by the text of the prompt. A prompt that contains a script overrides the scenario.
///
/// As a file:
///
/// ```toml
/// [[answer]]
/// when = "fix the bug"    # text that the prompt contains; matches any prompt if omitted
/// script = "tool:bash cargo test ;; say:It is fixed."
/// ```
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[serde(default, rename = "answer")]
    answers: Vec<ScenarioAnswer>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioAnswer {
    #[serde(default)]
    when: String,
    script: String,
}

/// The error for a scenario file that cannot be used.
#[derive(Debug)]
pub struct InvalidScenario(String);

impl std::fmt::Display for InvalidScenario {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the scenario is not valid: {}", self.0)
    }
}

impl std::error::Error for InvalidScenario {}

impl Scenario {
    /// Plays `script` for prompts that contain `when`. If several match, the one added first wins.
    #[must_use]
    pub fn on(mut self, when: &str, script: &str) -> Self {
        self.answers.push(ScenarioAnswer { when: when.into(), script: script.into() });
        self
    }

    /// Reads a scenario from TOML.
    ///
    /// # Errors
    /// If the text is not valid TOML, has unknown keys, or contains a script without steps.
    pub fn parse(text: &str) -> Result<Self, InvalidScenario> {
        let scenario: Self = toml::from_str(text).map_err(|error| InvalidScenario(error.to_string()))?;
        match scenario.answers.iter().find(|answer| script::parse(&answer.script).is_empty()) {
            Some(empty) => Err(InvalidScenario(format!("`{}` holds no step", empty.script))),
            None => Ok(scenario),
        }
    }

    /// The steps for a prompt: those in the prompt, or else those of the first matching answer.
    pub(super) fn steps(&self, prompt: &str) -> Vec<ScriptStep> {
        let own = script::parse(prompt);
        if !own.is_empty() {
            return own;
        }
        let fitting = self.answers.iter().find(|answer| prompt.contains(&answer.when));
        fitting.map(|answer| script::parse(&answer.script)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_answer_that_fits_is_played_and_a_script_in_the_prompt_wins() {
        let file = "[[answer]]\nwhen = \"bug\"\nscript = \"say:fixed\"\n[[answer]]\nscript = \"say:what?\"\n";
        let scenario = Scenario::parse(file).unwrap();
        assert_eq!(scenario.steps("the bug"), [ScriptStep::Say("fixed".into())]);
        assert_eq!(scenario.steps("hello"), [ScriptStep::Say("what?".into())]);
        assert_eq!(scenario.steps("say:own, of the bug"), [ScriptStep::Say("own, of the bug".into())]);
        assert_eq!(Scenario::default().steps("hello"), []);
    }

    #[test]
    fn the_error_names_the_fault_of_an_invalid_file() {
        let error = |text: &str| Scenario::parse(text).unwrap_err().to_string();
        assert!(error("[[answer]]\nscript = \"nothing\"").contains("holds no step"));
        assert!(error("[[anwser]]\nscript = \"say:x\"").contains("anwser"));
        assert!(error("= 1").contains("line 1"));
    }
}
