//! JSON-RPC 2.0 around the engine's one call.

use heph_engine::Engine;
use heph_wire::{CallError, ErrorKind, Notification};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Request {
    jsonrpc: Option<String>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: String,
    #[serde(default)]
    params: Value,
}

/// An `id` that is there, also where it is `null`.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The reply to one line; `None` for a request without an id, which wants none.
pub async fn answer(engine: &Engine, line: &[u8]) -> Option<String> {
    let request = match serde_json::from_slice::<Request>(line) {
        Ok(request) if request.jsonrpc.as_deref() == Some("2.0") => request,
        Ok(request) => {
            return Some(failure(request.id, &malformed("`jsonrpc` must be \"2.0\"")));
        }
        Err(error) => return Some(failure(None, &malformed(&error.to_string()))),
    };
    let answer = engine.call(&request.method, request.params).await;
    let id = request.id?;
    Some(match answer {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string(),
        Err(error) => failure(Some(id), &error),
    })
}

fn malformed(why: &str) -> CallError {
    CallError::new(ErrorKind::Malformed, format!("That is no JSON-RPC request: {why}."))
}

fn failure(id: Option<Value>, error: &CallError) -> String {
    let error_object = json!({ "code": error.code(), "message": error.message, "data": error.kind });
    json!({ "jsonrpc": "2.0", "id": id, "error": error_object }).to_string()
}

/// A notification as a line.
pub fn notification(notification: &Notification) -> String {
    let mut line = json!(notification);
    line["jsonrpc"] = json!("2.0");
    line.to_string()
}
