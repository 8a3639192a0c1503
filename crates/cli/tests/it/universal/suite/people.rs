//! What people are asked: permissions, questions and plans.

use super::*;
use crate::universal::turn::Turn;

/// What is allowed once is done, and the like is asked for again.
pub(in crate::universal) async fn permission_once(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&none()).await;
    let first = chat.turn("tool:bash! touch first", Answer::Permission("once")).await;
    assert!(stage.project().join("first").exists(), "{first:?}");
    if !first.asked() {
        return NEVER_ASKS;
    }
    let resolved = chat.records.iter().find_map(|record| record["event"].get("permissionResolved")).unwrap();
    assert_eq!((&resolved["outcome"], &resolved["author"]), (&json!("once"), &json!("tester")));
    let again = chat.turn("tool:bash! touch first second", Answer::Permission("once")).await;
    assert!(again.asked() && stage.project().join("second").exists(), "{again:?}");
    "asks each time"
}

/// What is allowed for good is not asked for again.
pub(in crate::universal) async fn permission_always(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&none()).await;
    let first = chat.turn("tool:bash! touch first", Answer::Permission("always")).await;
    assert!(stage.project().join("first").exists(), "{first:?}");
    if !first.asked() {
        return NEVER_ASKS;
    }
    let again = chat.turn("tool:bash! touch first", Answer::Permission("once")).await;
    assert!(!project_is_touched(&stage), "nothing of ours is left in the project");
    if again.asked() { "asks each time" } else { YES }
}

/// Whether the agent has put a file of its own into the project.
fn project_is_touched(stage: &Stage) -> bool {
    let names = fs::read_dir(stage.project()).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name != "first").count() > 0
}

/// What is rejected is not done, and the session goes on.
pub(in crate::universal) async fn permission_rejected(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&none()).await;
    let turn = chat.turn("tool:bash! touch denied", Answer::Permission("reject")).await;
    let done = stage.project().join("denied").exists();
    if !turn.asked() {
        assert!(done, "{turn:?}");
        return NEVER_ASKS;
    }
    assert!(!done, "{turn:?}");
    let after = chat.turn("say:still here", Answer::Nothing).await;
    assert!(after.text.contains("still here"), "{after:?}");
    if turn.text.contains("tool-result:") { "told to the model" } else { "ends the turn" }
}

/// A question of the model is answered by a person.
pub(in crate::universal) async fn question_answered(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let Some(turn) = asked(&stage, Answer::Question("Red")).await else { return UNSUPPORTED };
    assert_eq!(turn.questions[0]["questions"][0]["options"][0]["label"], "Red", "{turn:?}");
    assert!(turn.text.contains("Red"), "the model is told: {turn:?}");
    YES
}

/// Somebody does not want to answer, and the session goes on.
pub(in crate::universal) async fn question_rejected(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let Some(turn) = asked(&stage, Answer::Reject).await else { return UNSUPPORTED };
    match turn.reason.as_str() {
        "completed" => "told to the model",
        "interrupted" => "ends the turn",
        _ => panic!("{turn:?}"),
    }
}

/// A turn in which the model asks; nothing if that reaches nobody.
async fn asked(stage: &Stage, answer: Answer) -> Option<Turn> {
    let mut chat = stage.chat(&none()).await;
    let turn = chat.turn("ask:Which colour?|Red|Blue", answer).await;
    let after = chat.turn("say:still here", Answer::Reject).await;
    assert!(after.text.contains("still here"), "{after:?}");
    (!turn.questions.is_empty()).then_some(turn)
}

/// A plan that is approved is carried out: from then on the agent may write.
pub(in crate::universal) async fn plan_approved(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    planned(&stage, Answer::Question("Approve")).await
}

/// A plan that is rejected is not, and the agent still may not write.
pub(in crate::universal) async fn plan_rejected(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    planned(&stage, Answer::Question("Reject")).await
}

async fn planned(stage: &Stage, answer: Answer) -> &'static str {
    let plans = json!({ "permissionMode": "plan" });
    let response = stage.daemon.post("/v1/sessions/a", &stage.create_request(&plans)).await;
    if response.status() == 409 {
        // It has no mode that only reads. Its model may have a plan to approve all the same.
        let turn = stage.chat(&none()).await.turn("plan:sail at dawn", answer).await;
        assert!(turn.questions.is_empty(), "{turn:?}");
        return UNSUPPORTED;
    }
    let mut chat = stage.chat(&plans).await;
    let turn = chat.turn("plan:sail at dawn", answer).await;
    let Some(question) = turn.questions.first() else {
        let turn = chat.turn("edit:early.txt too early", Answer::Reject).await;
        assert!(!stage.project().join("early.txt").exists(), "it only reads: {turn:?}");
        return "only reads";
    };
    assert!(question["plan"].as_str().unwrap_or_default().contains("sail at dawn"), "{turn:?}");
    let labels: Vec<_> = question["questions"][0]["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| &option["label"])
        .collect();
    assert_eq!(labels, ["Approve", "Reject"]);
    let approved = matches!(answer, Answer::Question("Approve"));
    let after = chat
        .turn("edit:dawn.txt we sail", if approved { Answer::Permission("once") } else { Answer::Reject })
        .await;
    assert_eq!(stage.project().join("dawn.txt").exists(), approved, "{after:?}");
    if approved { "then it writes" } else { "it still only reads" }
}
