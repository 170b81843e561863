use std::sync::{Arc, Mutex, PoisonError};

use heph_engine::Engine;
use heph_wire::{CallError, Notification};
use serde_json::Value;
use tauri::{State, ipc::Channel};

/// The webview's end of the notifications. There is one window, so there is one; a page that was loaded
/// anew takes the place of the one before.
#[derive(Default)]
pub struct Listener(Mutex<Option<Channel<Notification>>>);

impl Listener {
    /// Hands a notification to the webview. One that comes before the page listens is dropped: a page
    /// loads the whole view first, and that holds all of it.
    pub fn send(&self, notification: Notification) {
        let channel = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(Err(error)) = channel.map(|channel| channel.send(notification)) {
            tracing::debug!("the webview is gone: {error}");
        }
    }
}

/// Forwards a method of the protocol to the engine.
#[tauri::command]
pub async fn call(engine: State<'_, Engine>, method: String, params: Value) -> Result<Value, CallError> {
    engine.call(&method, params).await
}

/// Sends every notification from now on to `channel`.
#[tauri::command]
pub fn subscribe(listener: State<'_, Arc<Listener>>, channel: Channel<Notification>) {
    *listener.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(channel);
}
