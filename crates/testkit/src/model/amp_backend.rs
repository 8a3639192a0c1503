//! The parts of Amp's backend that Amp calls besides the model API. Amp sends both to one address, `AMP_URL`.

use std::collections::HashMap;

use serde_json::{Value, json};

/// How many threads are stored. A test creates a handful; uploads of further ones are ignored.
const THREADS_MAX: usize = 256;

/// Stores uploaded threads. Amp uploads its conversation here and, to continue it, downloads it again.
#[derive(Debug, Default)]
pub(super) struct AmpBackend {
    threads: HashMap<String, Value>,
}

impl AmpBackend {
    /// The response body for `POST /api/internal?METHOD`. Other methods succeed with an empty result, so that
    /// Amp carries on.
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
    fn an_uploaded_thread_can_be_downloaded() {
        let mut backend = AmpBackend::default();
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
