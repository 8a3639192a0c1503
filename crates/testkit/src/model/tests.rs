//! Tests of the wire format of each API: requests as agents send them, and answers as agents parse them.

use reqwest::Response;
use serde_json::{Value, json};

use super::*;

async fn post(model: &ScriptedModel, path: &str, body: &Value) -> Response {
    reqwest::Client::new().post(model.url() + path).json(body).send().await.unwrap()
}

/// Posts a request and returns the data of all events in the response.
async fn stream(model: &ScriptedModel, path: &str, body: &Value) -> Vec<Value> {
    let response = post(model, path, body).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = response.text().await.unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap_or(json!(data))).collect()
}

fn types(events: &[Value]) -> Vec<&str> {
    let mut types: Vec<_> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    types.dedup();
    types
}

const SCRIPT: &str = "think:hm ;; say:Hello, you. ;; tool:bash touch x";

mod anthropic {
    use super::*;

    const PATH: &str = "/v1/messages";

    fn body(messages: &Value, stream: bool) -> Value {
        let schema = json!({ "type": "object", "properties": { "command": { "type": "string" } } });
        json!({ "model": "claude-x", "stream": stream, "messages": messages,
            "tools": [{ "name": "Bash", "input_schema": schema }] })
    }

    #[tokio::test]
    async fn an_answer_is_streamed_block_by_block() {
        let model = ScriptedModel::start().await;
        let prompt = json!([{ "role": "user", "content": [{ "type": "text", "text": SCRIPT }] }]);
        let events = stream(&model, PATH, &body(&prompt, true)).await;
        assert_eq!(
            types(&events),
            [
                ["message_start"].as_slice(),
                &["content_block_start", "content_block_delta", "content_block_stop"].repeat(3),
                &["message_delta", "message_stop"]
            ]
            .concat()
        );
        let starts = events.iter().filter(|event| event["type"] == "content_block_start");
        let kinds: Vec<_> = starts.map(|start| start["content_block"]["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["thinking", "text", "tool_use"]);
        let input: String =
            events.iter().filter_map(|event| event["delta"]["partial_json"].as_str()).collect();
        assert_eq!(input, r#"{"command":"touch x"}"#);
        assert_eq!(events[events.len() - 2]["delta"]["stop_reason"], "tool_use");
        assert_eq!(events[0]["message"]["model"], "claude-x");
    }

    #[tokio::test]
    async fn the_result_of_a_tool_call_is_repeated() {
        let model = ScriptedModel::start().await;
        let conversation = json!([
            { "role": "user", "content": SCRIPT },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "Bash", "input": {} }] },
            { "role": "system", "content": "between the others" },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "t", "content": [{ "type": "text", "text": "refused" }] },
                { "type": "text", "text": "<system-reminder>say:no</system-reminder>" }] },
        ]);
        let answer: Value = post(&model, PATH, &body(&conversation, false)).await.json().await.unwrap();
        assert_eq!(answer["content"], json!([{ "type": "text", "text": "tool-result: refused" }]));
        assert_eq!((&answer["role"], &answer["stop_reason"]), (&json!("assistant"), &json!("end_turn")));
    }

    #[tokio::test]
    async fn a_plan_goes_to_the_file_that_the_agent_names() {
        let model = ScriptedModel::start().await;
        let mut body = body(
            &json!([{ "role": "user", "content": [{ "type": "text", "text": "plan:do it" },
                { "type": "text", "text": "<system-reminder>You should create your plan at /h/plans/a-b.md using Write" }] }]),
            false,
        );
        body["tools"] = json!([{ "name": "ExitPlanMode" }, { "name": "Write" }]);
        let answer: Value = post(&model, PATH, &body).await.json().await.unwrap();
        assert_eq!(answer["content"][0]["input"]["file_path"], "/h/plans/a-b.md");
        assert_eq!(answer["content"][1]["name"], "ExitPlanMode");
    }

    #[tokio::test]
    async fn tokens_are_counted_and_errors_have_their_shape() {
        let model = ScriptedModel::start().await;
        let count: Value = post(&model, "/v1/messages/count_tokens", &json!({})).await.json().await.unwrap();
        assert_eq!(count["input_tokens"], 1000);
        let prompt = json!([{ "role": "user", "content": "err:529 too much" }]);
        let failed = post(&model, PATH, &body(&prompt, true)).await;
        assert_eq!(failed.status(), 529);
        let error =
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "too much" } });
        assert_eq!(failed.json::<Value>().await.unwrap(), error);
    }

    #[tokio::test]
    async fn structured_output_fits_its_schema() {
        let model = ScriptedModel::start().await;
        let mut body = body(&json!([{ "role": "user", "content": "tool:bash x" }]), false);
        let schema = json!({ "type": "object", "properties": { "title": { "type": "string" } } });
        body["output_config"] = json!({ "format": { "type": "json_schema", "schema": schema } });
        let answer: Value = post(&model, PATH, &body).await.json().await.unwrap();
        assert_eq!(answer["content"][0]["text"], r#"{"title":"scripted title"}"#);
    }
}

mod responses {
    use super::*;

    const PATH: &str = "/v1/responses";

    fn body(script: &str, tools: &Value) -> Value {
        let content = json!([{ "type": "input_text", "text": script }]);
        let input = json!([{ "type": "message", "role": "developer", "content": "say:not me" },
            { "type": "message", "role": "user", "content": content }]);
        json!({ "model": "gpt-x", "stream": true, "instructions": "be good", "input": input, "tools": tools })
    }

    fn plain() -> Value {
        let schema = json!({ "properties": { "cmd": { "type": "string" }, "sandbox_permissions": {} } });
        json!([{ "type": "function", "name": "exec_command", "parameters": schema }, { "type": "web_search" },
            { "type": "custom", "name": "apply_patch" },
            { "type": "namespace", "name": "mcp__x", "tools": [{ "type": "function", "name": "look" }] }])
    }

    #[tokio::test]
    async fn an_answer_is_streamed_item_by_item() {
        let model = ScriptedModel::start().await;
        let events = stream(&model, PATH, &body(SCRIPT, &plain())).await;
        let numbers: Vec<_> = events.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
        let done = events.iter().filter(|event| event["type"] == "response.output_item.done");
        let items: Vec<_> = done.map(|event| event["item"].clone()).collect();
        let kinds: Vec<_> = items.iter().map(|item| item["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["reasoning", "message", "function_call"]);
        assert_eq!(items[2]["arguments"], r#"{"cmd":"touch x"}"#);
        let text: String = events
            .iter()
            .filter(|event| event["type"] == "response.output_text.delta")
            .map(|event| event["delta"].as_str().unwrap())
            .collect();
        assert_eq!(text, "Hello, you.");
        let last = events.last().unwrap();
        assert_eq!(
            (&last["type"], &last["response"]["output"]),
            (&json!("response.completed"), &json!(items))
        );
    }

    #[tokio::test]
    async fn tools_that_take_text_get_text_and_groups_are_named() {
        let model = ScriptedModel::start().await;
        let events = stream(&model, PATH, &body("edit:/a b", &plain())).await;
        assert!(types(&events).contains(&"response.custom_tool_call_input.done"));
        let call = &events.last().unwrap()["response"]["output"][0];
        assert_eq!((&call["type"], &call["name"]), (&json!("custom_tool_call"), &json!("apply_patch")));
        assert!(call["input"].as_str().unwrap().starts_with("*** Begin Patch"));
        let events = stream(&model, PATH, &body("tool:look {\"a\":1}", &plain())).await;
        assert_eq!(events.last().unwrap()["response"]["output"][0]["namespace"], "mcp__x");
    }

    #[tokio::test]
    async fn results_tokens_and_reviews_are_understood() {
        let model = ScriptedModel::start().await;
        let mut body = body("tool:bash x", &plain());
        let input = body["input"].as_array_mut().unwrap();
        input.push(
            json!({ "type": "function_call", "call_id": "c", "name": "exec_command", "arguments": "{}" }),
        );
        input.push(json!({ "type": "function_call_output", "call_id": "c", "output": "rejected by user" }));
        let events = stream(&model, PATH, &body).await;
        let output = &events.last().unwrap()["response"]["output"];
        assert_eq!(output[0]["content"][0]["text"], "tool-result: rejected by user");
        let events = stream(&model, PATH, &self::body("max:and so", &plain())).await;
        let last = events.last().unwrap();
        assert_eq!(last["type"], "response.incomplete");
        assert_eq!(last["response"]["incomplete_details"]["reason"], "max_output_tokens");
        let schema = json!({ "type": "object", "properties": { "outcome": { "enum": ["deny", "allow"] } } });
        body["text"] = json!({ "format": { "type": "json_schema", "schema": schema } });
        body["stream"] = json!(false);
        let review: Value = post(&model, PATH, &body).await.json().await.unwrap();
        assert_eq!(review["output"][0]["content"][0]["text"], r#"{"outcome":"allow"}"#);
    }

    #[tokio::test]
    async fn tools_may_come_as_an_item_of_the_input() {
        let model = ScriptedModel::start().await;
        let mut body = body("tool:bash x", &Value::Null);
        let item = json!({ "type": "additional_tools", "tools": [{ "type": "custom", "name": "exec" }] });
        body["input"].as_array_mut().unwrap().insert(0, item);
        let events = stream(&model, PATH, &body).await;
        assert_eq!(events.last().unwrap()["response"]["output"][0]["name"], "exec");
    }
}

mod chat {
    use super::*;

    const PATH: &str = "/v1/chat/completions";

    fn body(script: &str, stream: bool) -> Value {
        let parameters = json!({ "type": "object", "properties": { "command": { "type": "string" } } });
        json!({ "model": "m", "stream": stream, "tools": [{ "type": "function", "function": {
                "name": "bash", "parameters": parameters } }],
            "messages": [{ "role": "system", "content": "say:not me" }, { "role": "user", "content": script }] })
    }

    #[tokio::test]
    async fn an_answer_is_streamed_delta_by_delta() {
        let model = ScriptedModel::start().await;
        let events = stream(&model, PATH, &body(SCRIPT, true)).await;
        let delta = |key: &str| -> String {
            events.iter().filter_map(|event| event["choices"][0]["delta"][key].as_str()).collect()
        };
        assert_eq!((delta("reasoning_content").as_str(), delta("content").as_str()), ("hm", "Hello, you."));
        let calls = events.iter().filter_map(|event| event["choices"][0]["delta"]["tool_calls"].get(0));
        let arguments: String = calls.filter_map(|call| call["function"]["arguments"].as_str()).collect();
        assert_eq!(arguments, r#"{"command":"touch x"}"#);
        let [.., finish, usage, done] = events.as_slice() else { panic!("too few: {events:?}") };
        assert_eq!(finish["choices"][0]["finish_reason"], "tool_calls");
        assert_eq!((&usage["usage"]["total_tokens"], done), (&json!(120), &json!("[DONE]")));
    }

    #[tokio::test]
    async fn an_answer_comes_in_one_piece_too() {
        let model = ScriptedModel::start().await;
        let answer: Value = post(&model, PATH, &body(SCRIPT, false)).await.json().await.unwrap();
        let choice = &answer["choices"][0];
        assert_eq!(choice["message"]["content"], "Hello, you.");
        assert_eq!(choice["message"]["tool_calls"][0]["function"]["name"], "bash");
        assert_eq!(choice["finish_reason"], "tool_calls");
        let mut titled = body(SCRIPT, false);
        titled["tools"] = json!([]);
        let answer: Value = post(&model, PATH, &titled).await.json().await.unwrap();
        assert_eq!(answer["choices"][0]["message"]["content"], "scripted title");
    }

    #[tokio::test]
    async fn a_result_is_repeated_and_an_error_has_its_shape() {
        let model = ScriptedModel::start().await;
        let mut body = body("tool:bash x", false);
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({ "role": "assistant", "tool_calls": [{ "id": "c" }] }));
        messages.push(json!({ "role": "tool", "tool_call_id": "c", "content": "no" }));
        let answer: Value = post(&model, PATH, &body).await.json().await.unwrap();
        assert_eq!(answer["choices"][0]["message"]["content"], "tool-result: no");
        let failed = post(&model, PATH, &self::body("err:429 later", true)).await;
        assert_eq!(failed.status(), 429);
        assert_eq!(failed.json::<Value>().await.unwrap()["error"]["code"], "rate_limit_exceeded");
    }
}

mod gemini {
    use super::*;

    const STREAM: &str = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse&key=secret";
    const WHOLE: &str = "/v1beta/models/gemini-x:generateContent";

    fn body(script: &str) -> Value {
        let schema = json!({ "type": "object", "properties": { "command": { "type": "string" } } });
        let declaration = json!({ "name": "run_shell_command", "parametersJsonSchema": schema });
        json!({ "systemInstruction": { "parts": [{ "text": "be good" }] },
            "tools": [{ "functionDeclarations": [declaration] }],
            "contents": [{ "role": "user", "parts": [{ "text": script }] }] })
    }

    fn parts(event: &Value) -> &[Value] {
        event["candidates"][0]["content"]["parts"].as_array().unwrap()
    }

    #[tokio::test]
    async fn an_answer_is_streamed_part_by_part() {
        let model = ScriptedModel::start().await;
        let events = stream(&model, STREAM, &body(SCRIPT)).await;
        let all: Vec<_> = events.iter().flat_map(parts).collect();
        let text = |thought: bool| -> String {
            let parts = all.iter().filter(|part| (part["thought"] == true) == thought);
            parts.filter_map(|part| part["text"].as_str()).collect()
        };
        assert_eq!((text(true).as_str(), text(false).as_str()), ("hm", "Hello, you."));
        let call = all.iter().find_map(|part| part.get("functionCall")).unwrap();
        assert_eq!(
            (&call["name"], &call["args"]["command"]),
            (&json!("run_shell_command"), &json!("touch x"))
        );
        assert_eq!(events.last().unwrap()["candidates"][0]["finishReason"], "STOP");
        assert_eq!(events[0]["modelVersion"], "gemini-x");
    }

    #[tokio::test]
    async fn answers_results_counts_and_errors_come_in_one_piece() {
        let model = ScriptedModel::start().await;
        let mut body = body("tool:bash x");
        let answer: Value = post(&model, WHOLE, &body).await.json().await.unwrap();
        assert_eq!(parts(&answer)[0]["functionCall"]["name"], "run_shell_command");
        let contents = body["contents"].as_array_mut().unwrap();
        contents.push(json!({ "role": "model", "parts": [{ "functionCall": {} }] }));
        let response = json!({ "functionResponse": { "response": { "error": "cancelled" } } });
        contents.push(json!({ "role": "user", "parts": [response] }));
        let answer: Value = post(&model, WHOLE, &body).await.json().await.unwrap();
        assert_eq!(parts(&answer)[0]["text"], r#"tool-result: {"error":"cancelled"}"#);
        let count = post(&model, "/v1beta/models/gemini-x:countTokens", &body).await;
        assert_eq!(count.json::<Value>().await.unwrap()["totalTokens"], 1000);
        let failed = post(&model, STREAM, &self::body("err:429 later")).await;
        let error = failed.json::<Value>().await.unwrap();
        assert_eq!(
            (&error["error"]["code"], &error["error"]["status"]),
            (&json!(429), &json!("RESOURCE_EXHAUSTED"))
        );
        body["generationConfig"] = json!({ "responseMimeType": "application/json",
            "responseJsonSchema": { "type": "object", "properties": { "next": { "type": "string", "enum": ["user"] } } } });
        let answer: Value = post(&model, WHOLE, &body).await.json().await.unwrap();
        assert_eq!(parts(&answer)[0]["text"], r#"{"next":"user"}"#);
    }
}

mod any {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::within;

    const PATHS: [&str; 4] =
        ["/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1beta/models/m:streamGenerateContent"];

    /// A request body with this prompt that is valid in all four APIs at once.
    fn body(script: &str) -> Value {
        let user = json!([{ "role": "user", "content": script, "parts": [{ "text": script }] }]);
        let tool = json!({ "name": "bash", "type": "function", "function": { "name": "bash" },
            "functionDeclarations": [{ "name": "bash" }] });
        json!({ "stream": true, "messages": user, "input": user, "contents": user, "tools": [tool] })
    }

    #[tokio::test]
    async fn a_cut_breaks_the_answer_in_every_api() {
        let model = ScriptedModel::start().await;
        for path in PATHS {
            let mut response = post(&model, path, &body("say:half an answer ;; cut:")).await;
            assert_eq!(response.status(), 200, "{path}");
            let mut got = Vec::new();
            let broken = loop {
                match response.chunk().await {
                    Ok(Some(chunk)) => got.extend_from_slice(&chunk),
                    Ok(None) => break false,
                    Err(_) => break true,
                }
            };
            assert!(broken && String::from_utf8_lossy(&got).contains("half an"), "{path}");
        }
        let mut whole = body("cut1: ;; say:whole");
        whole["stream"] = json!(false);
        assert!(post(&model, "/v1/messages", &whole).await.bytes().await.is_err());
        assert!(post(&model, "/v1/messages", &whole).await.text().await.unwrap().contains("whole"));
    }

    #[tokio::test]
    async fn slow_words_take_their_time_and_a_hanging_answer_is_open() {
        let model = ScriptedModel::start().await;
        for path in PATHS {
            let start = Instant::now();
            let mut response = post(&model, path, &body("slow:0.2 one two ;; say:x")).await;
            while within(Duration::from_secs(5), response.chunk()).await.unwrap().is_some() {}
            assert!(start.elapsed() >= Duration::from_millis(200), "{path}");
            let mut response = post(&model, path, &body("hang:")).await;
            assert_eq!(response.status(), 200);
            assert!(within(Duration::from_secs(5), response.chunk()).await.unwrap().is_some(), "{path}");
        }
    }

    #[tokio::test]
    async fn requests_are_logged_without_their_keys() {
        let model = ScriptedModelOptions::default().key("sk-secret").start().await.unwrap();
        for path in PATHS {
            assert_eq!(post(&model, path, &body("say:x")).await.status(), 401, "{path}");
        }
        let client = reqwest::Client::new();
        for (name, value) in [
            ("authorization", "Bearer sk-secret"),
            ("x-api-key", "sk-secret"),
            ("x-goog-api-key", "sk-secret"),
        ] {
            let request = client.post(model.url() + PATHS[0]).header(name, value).json(&body("say:x"));
            assert_eq!(request.send().await.unwrap().status(), 200, "{name}");
        }
        let queried = post(&model, &format!("{}?alt=sse&key=sk-secret", PATHS[3]), &body("say:x")).await;
        assert_eq!(queried.status(), 200);
        let requests = model.requests();
        assert_eq!(requests.len(), 8);
        assert_eq!((requests[0].api, requests[0].status), (Some(ModelApi::Anthropic), 401));
        assert_eq!((requests[7].api, requests[7].path.as_str()), (Some(ModelApi::Gemini), PATHS[3]));
        assert_eq!(requests[7].body, body("say:x"));
        assert!(!format!("{model:?} {requests:?}").contains("sk-secret"));
    }

    #[tokio::test]
    async fn a_scenario_answers_prompts_that_are_no_scripts() {
        let scenario = Scenario::default().on("bug", "say:It is fixed.");
        let model = ScriptedModelOptions::default().scenario(scenario).start().await.unwrap();
        let mut body = body("find the bug");
        body["stream"] = json!(false);
        let answer: Value = post(&model, "/v1/messages", &body).await.json().await.unwrap();
        assert_eq!(answer["content"][0]["text"], "It is fixed.");
    }

    #[tokio::test]
    async fn requests_outside_the_model_apis_are_answered_or_rejected() {
        let model = ScriptedModel::start().await;
        assert_eq!(post(&model, "/v1/nothing", &json!({})).await.status(), 404);
        let models = reqwest::get(model.url() + "/v1/models").await.unwrap();
        assert_eq!(models.json::<Value>().await.unwrap()["data"][0]["id"], "scripted-1");
        let amp = post(&model, "/api/internal?getUserInfo", &json!({})).await;
        assert_eq!(amp.json::<Value>().await.unwrap()["result"]["username"], "scripted");
    }
}
