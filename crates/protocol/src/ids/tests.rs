use proptest::prelude::*;

use super::*;

/// acp-5: 1–128 of `[A-Za-z0-9._-]`, not `.` or `..`.
#[test]
fn a_server_id_is_checked_as_the_checklist_says() {
    for good in ["a", "A.b_c-9", "...", "x".repeat(128).as_str()] {
        assert!(good.parse::<ServerId>().is_ok(), "{good}");
    }
    for bad in ["", ".", "..", "a/b", "a b", "é", "a\0", "x".repeat(129).as_str()] {
        assert!(bad.parse::<ServerId>().is_err(), "{bad:?}");
    }
}

#[test]
fn an_agent_name_is_lower_case_and_starts_with_a_letter_or_digit() {
    for (text, good) in [("claude", true), ("gpt-5.1_x", true), ("-a", false), ("A", false), (".a", false)] {
        assert_eq!(text.parse::<AgentName>().is_ok(), good, "{text}");
    }
}

#[test]
fn minted_ids_sort_by_birth_and_have_one_spelling() {
    let (first, second) = (ProcessId::mint(), ProcessId::mint());
    assert!(first < second);
    assert_eq!(first.to_string().parse(), Ok(first));
    assert!(first.to_string().to_uppercase().parse::<ProcessId>().is_err());
    assert!("prc_0198c0de-0000-7000-8000-000000000000".parse::<ProcessId>().is_err());
}

proptest! {
    #[test]
    fn any_text_is_an_id_or_a_clear_refusal(text in ".{0,140}") {
        if let Ok(id) = text.parse::<ServerId>() {
            prop_assert_eq!(id.as_str(), text.as_str());
        }
        if let Ok(id) = text.parse::<ProcessId>() {
            prop_assert_eq!(id.to_string(), text);
        }
    }
}
