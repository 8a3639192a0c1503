//! Amp's own backend, just enough for the versions of Amp that talk to the model themselves.

use std::collections::HashMap;

use serde_json::{Value, json};

/// The most threads that are kept; a test has a handful.
const THREADS_MAX: usize = 256;

/// Amp keeps its threads on the backend, and continues what it gets back from there.
#[derive(Debug, Default)]
pub(super) struct Backend {
    threads: HashMap<String, Value>,
}

impl Backend {
    /// The answer to `POST /api/internal?METHOD`.
    pub(super) fn call(&mut self, method: &str, body: &Value) -> Value {
        let params = &body["params"];
        let result = match method {
            "uploadThread" => {
                let thread = &params["thread"];
                if let Some(id) = thread["id"].as_str().filter(|_| self.threads.len() < THREADS_MAX) {
                    self.threads.insert(id.into(), thread.clone());
                }
                json!({})
            }
            "getThread" => match params["thread"].as_str().and_then(|id| self.threads.get(id)) {
                Some(thread) => json!({ "thread": { "id": thread["id"], "data": thread } }),
                None => {
                    let error = json!({ "code": "thread-not-found", "message": "no such thread" });
                    return json!({ "ok": false, "error": error });
                }
            },
            "getUserInfo" => json!({
                "id": "user_1", "username": "scripted", "email": "scripted@example.com", "name": "Scripted",
                "features": [], "siteAdmin": false, "team": null, "teams": [], "emailVerified": true,
                "mysteriousMessage": null,
            }),
            "getUserFreeTierStatus" => json!({ "canUseAmpFree": false, "isDailyGrantEnabled": false }),
            "userDisplayBalanceInfo" => json!({ "displayText": "" }),
            _ => json!({}),
        };
        json!({ "ok": true, "result": result })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_comes_back_as_it_was_left() {
        let mut backend = Backend::default();
        let thread = json!({ "id": "T-1", "messages": [1] });
        let get = json!({ "params": { "thread": "T-1" } });
        assert_eq!(backend.call("getThread", &get)["error"]["code"], "thread-not-found");
        assert_eq!(backend.call("uploadThread", &json!({ "params": { "thread": thread } }))["ok"], true);
        assert_eq!(
            backend.call("getThread", &get)["result"]["thread"],
            json!({ "id": "T-1", "data": thread })
        );
        assert_eq!(backend.call("whatever", &json!({}))["ok"], true);
    }
}
