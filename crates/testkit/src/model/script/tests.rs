use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, expected: &[ScriptStep]) {
    assert_eq!(parse(text), expected);
}

fn say(text: &str) -> ScriptStep {
    ScriptStep::Say(text.into())
}

fn bash(command: &str) -> ScriptStep {
    ScriptStep::Bash { command: command.into(), escalate: false, join: false }
}

#[test]
fn steps_stand_on_lines_or_between_double_semicolons() {
    check(
        "say:a ;; tool:bash touch x; ls\nthink: b",
        &[say("a"), bash("touch x; ls"), ScriptStep::Think("b".into())],
    );
    check("please fix the bug: it is red", &[]);
    check("", &[]);
}

#[test]
fn what_agents_put_around_a_prompt_is_taken_off() {
    check("<system-reminder>\nsay:no\n</system-reminder>\nsay:yes", &[say("yes")]);
    check("<system-reminder>say:never closed", &[]);
    check("<user_query>say:yes</user_query>", &[say("yes")]);
    check("\"say:yes\"", &[say("yes")]);
    check("say:a < b </b> c", &[say("a < b </b> c")]);
}

#[test]
fn a_step_without_its_number_is_none() {
    check("slow:soon a b", &[]);
    check("err:none x", &[]);
    check("err:200 x", &[]);
    check("wait:-1", &[]);
    check("wait:1e300", &[]);
    check("tool:", &[]);
    check("hang:", &[ScriptStep::Wait(HANG)]);
    check("wait:99999", &[ScriptStep::Wait(HANG)]);
}

#[test]
fn a_call_brings_a_result_and_text_does_not() {
    let calls: Vec<_> = parse(
        "say:a ;; tool:bash b ;; tool:X {} ;; edit:p q ;; ask:q|a ;; plan:p ;; todo:a|b ;; cut: ;; max:x",
    )
    .iter()
    .map(ScriptStep::is_call)
    .collect();
    assert_eq!(calls, [false, true, true, true, true, true, true, false, false]);
}

fn any_text() -> impl Strategy<Value = String> {
    "[a-z0-9;,.(){}=-][a-z0-9 ,.(){}=-]{0,20}[a-z0-9]".prop_map(|text| text.trim().to_owned())
}

fn any_step() -> impl Strategy<Value = ScriptStep> {
    let word = "[a-zA-Z/_.]{2,12}".prop_filter("bash is a step of its own", |word| word != "bash");
    let duration = (0u64..600_000).prop_map(Duration::from_millis);
    prop_oneof![
        any_text().prop_map(ScriptStep::Say),
        any_text().prop_map(ScriptStep::Think),
        any_text().prop_map(ScriptStep::Max),
        any_text().prop_map(ScriptStep::Plan),
        (duration.clone(), any_text()).prop_map(|(over, text)| ScriptStep::Slow { over, text }),
        duration.prop_map(ScriptStep::Wait),
        (any_text(), any::<bool>(), any::<bool>()).prop_map(|(command, escalate, join)| ScriptStep::Bash {
            command,
            escalate,
            join
        }),
        (word.clone(), any_text(), any::<bool>()).prop_map(|(name, input, join)| ScriptStep::Tool {
            name,
            input,
            join
        }),
        (word, any_text()).prop_map(|(path, text)| ScriptStep::Edit { path, text }),
        (any_text(), prop::collection::vec(any_text(), 0..4))
            .prop_map(|(question, options)| ScriptStep::Ask { question, options }),
        prop::collection::vec(any_text(), 1..4).prop_map(ScriptStep::Todo),
        (400u16..600, any_text(), any::<bool>()).prop_map(|(status, message, once)| ScriptStep::Fail {
            status,
            message,
            once
        }),
        any::<bool>().prop_map(|once| ScriptStep::Cut { once }),
    ]
}

proptest! {
    #[test]
    fn a_script_reads_as_it_was_written(steps in prop::collection::vec(any_step(), 0..6), lines in any::<bool>()) {
        let separator = if lines { "\n" } else { " ;; " };
        let text = steps.iter().map(ScriptStep::to_string).collect::<Vec<_>>().join(separator);
        prop_assert_eq!(parse(&text), steps);
    }

    #[test]
    fn any_prompt_can_be_read(text in "\\PC{0,200}") {
        let steps = parse(&text);
        prop_assert!(steps.len() <= text.split(['\n', ';']).count());
    }
}
