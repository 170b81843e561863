//! JSON-RPC 2.0 around the engine's one call.

use heph_engine::Engine;
use heph_wire::{CallError, ErrorKind, Notification};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Request {
    jsonrpc: Option<String>,
    method: String,
    #[serde(default)]
    params: Value,
}

/// The reply to one line; `None` for a request without an id, which wants none.
pub async fn answer(engine: &Engine, line: &[u8]) -> Option<String> {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            let message = format!("That line is no JSON: {error}.");
            return Some(failure(None, &CallError::new(ErrorKind::Malformed, message)));
        }
    };
    let id = value.get("id").cloned();
    let request = match Request::deserialize(value) {
        Ok(request) if request.jsonrpc.as_deref() == Some("2.0") => request,
        Ok(_) => return Some(failure(id, &invalid("`jsonrpc` must be \"2.0\""))),
        Err(error) => return Some(failure(id, &invalid(&error.to_string()))),
    };
    let answer = engine.call(&request.method, request.params).await;
    let id = id?;
    Some(match answer {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string(),
        Err(error) => failure(Some(id), &error),
    })
}

fn invalid(why: &str) -> CallError {
    CallError::new(ErrorKind::InvalidRequest, format!("That is no JSON-RPC request: {why}."))
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
