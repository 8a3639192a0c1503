//! Sessions with an ACP agent that a user added: a small program of the tests (`acp_agent.py`).

use testkit::TestDaemonOptions;

use super::*;
use crate::{check_problem, problem};

/// A daemon with the agent, and its session `s`, which the agent has greeted.
async fn greeted() -> (TestDaemon, Followed) {
    let program = ["python3", "-c", include_str!("acp_agent.py")];
    let daemon = TestDaemonOptions::default().agent("greeter", &program).start(TOMBOLO);
    let created = create_with(&daemon, "s", &json!({ "agent": "greeter" })).await;
    assert_eq!(created["healthy"], true, "{created}");
    let mut followed = Followed::new(&daemon, "s", 0).await;
    assert_eq!(followed.next_of("messageDelta").await["text"], "Wel");
    assert_eq!(followed.next_of("messageDelta").await["text"], "come!");
    (daemon, followed)
}

/// What an agent says before the first message is a message of its own, without a turn; its answer is another.
#[tokio::test]
async fn a_greeting_is_a_message_of_its_own() {
    let (daemon, mut followed) = greeted().await;
    send(&daemon, "s", "first question").await;
    followed.until("turnEnded").await;
    let page = get(&daemon, &path("s", "/messages")).await;
    let messages = page["items"].as_array().unwrap();
    let told: Vec<_> = messages
        .iter()
        .map(|message| {
            let text = message["parts"][0]["text"].as_str().unwrap();
            (message["role"].as_str().unwrap(), text, message["turnId"].is_string())
        })
        .collect();
    let expected = [
        ("assistant", "Welcome!", false),
        ("user", "first question", true),
        ("assistant", "echo:first question", true),
    ];
    assert_eq!(told, expected, "{page}");

    // The greeting is complete before the message of the user, so that nobody sees it grow afterwards.
    let records = all(&daemon, "s").await;
    let at =
        |wanted: &dyn Fn(&Value) -> bool| records.iter().position(|record| wanted(&record["event"])).unwrap();
    let greeting = at(&|event| event["message"]["parts"][0]["text"] == "Welcome!");
    let question = at(&|event| event["message"]["role"] == "user");
    assert!(greeting < question, "{records:?}");
}

/// sessions-5: a form is a question for each field, in its order, with its defaults; the answers have the types of the form.
#[tokio::test]
async fn a_form_keeps_its_order_defaults_and_types() {
    let (daemon, mut followed) = greeted().await;
    send(&daemon, "s", "form").await;
    let asked = followed.next_of("questionAsked").await;
    let questions = asked["questions"].as_array().unwrap();
    let names: Vec<_> = questions.iter().map(|question| question["header"].as_str().unwrap()).collect();
    assert_eq!(names, ["name", "count", "Ratio", "dry", "area"]);
    for (question, name) in questions.iter().zip(names) {
        assert_eq!(question["question"], format!("Fill in the deploy form\n{name}"));
        assert_eq!(question["isRequired"] == true, name == "name", "{question}");
    }
    assert_eq!(questions[1]["defaultAnswer"], json!(["2"]));

    let id = asked["id"].as_str().unwrap();
    let incomplete = json!({ "answers": [[], ["3"], [], [], []] });
    let refused = answer(&daemon, "s", id, "question", &incomplete).await;
    check_problem(&problem(refused).await, 400, "urn:problem:invalid-answer");
    let answers = json!({ "answers": [["web"], [], ["0.7"], ["No"], ["south"]] });
    assert_eq!(answer(&daemon, "s", id, "question", &answers).await.status(), 204);
    let rest = followed.until("turnEnded").await;
    let filled = r#"{"action": "accept", "content": {"area": "south", "count": 2, "dry": false, "name": "web", "ratio": 0.7}}"#;
    assert_eq!(said(&rest), filled);
}
