use std::path::{Path, PathBuf};

use heph_wire::WirePath;
use tauri::{AppHandle, Manager, State, WebviewUrl, WebviewWindow, WebviewWindowBuilder};
use tauri_plugin_dialog::{DialogExt, MessageDialogButtons, MessageDialogKind};
use tokio::sync::oneshot;

use crate::command_line::{Automation, Opening};

/// Opens the app's one window. What the webview itself stores goes into `data`.
pub fn open(app: &AppHandle, data: PathBuf) -> tauri::Result<()> {
    WebviewWindowBuilder::new(app, "main", WebviewUrl::default())
        .title("Heph")
        .inner_size(1280.0, 800.0)
        .min_inner_size(900.0, 600.0)
        .data_directory(data)
        .build()?;
    Ok(())
}

/// The variable by which Tauri lets a WebDriver into the webview, in release builds too.
#[cfg(target_os = "linux")]
const AUTOMATION_VARIABLE: &str = "TAURI_WEBVIEW_AUTOMATION";

/// Whoever sets the app's environment must not be able to drive its window: without `--automation` the
/// variable is taken away. A process cannot safely change its own environment once threads may read it,
/// so the program starts itself anew in its place, without the variable.
///
/// # Errors
/// The program could not be started anew.
#[cfg(target_os = "linux")]
pub fn settle_automation(automation: Automation) -> std::io::Result<()> {
    use std::os::unix::process::CommandExt;

    if automation == Automation::Allowed || std::env::var_os(AUTOMATION_VARIABLE).is_none() {
        return Ok(());
    }
    Err(std::process::Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env_remove(AUTOMATION_VARIABLE)
        .exec())
}

/// What the command line asked to open.
#[tauri::command]
pub fn opening(opening: State<'_, Opening>) -> Opening {
    opening.inner().clone()
}

/// Lets the user choose a folder in the native dialog; nothing when it was closed.
#[tauri::command]
pub async fn choose_folder(window: WebviewWindow) -> Option<WirePath> {
    let (answer, answered) = oneshot::channel();
    let mut dialog = window.dialog().file().set_title("Open a repository").set_parent(&window);
    if let Ok(home) = window.path().home_dir() {
        // GTK opens in "Recent" without a folder to start from, where nothing can be chosen.
        dialog = dialog.set_directory(home);
    }
    dialog.pick_folder(move |chosen| {
        // The page that asked may be gone by now.
        let _ = answer.send(chosen);
    });
    let chosen = answered.await.ok()??.into_path().ok()?;
    Some(wire_path(&chosen))
}

/// Asks the user in a native dialog, which no page can imitate; true when they pressed `ok`.
#[tauri::command]
pub async fn confirm(window: WebviewWindow, title: String, message: String, ok: String) -> bool {
    let (answer, answered) = oneshot::channel();
    window
        .dialog()
        .message(message)
        .title(title)
        .kind(MessageDialogKind::Warning)
        .buttons(MessageDialogButtons::OkCancelCustom(ok, "Cancel".into()))
        .parent(&window)
        .show(move |confirmed| {
            // The page that asked may be gone by now.
            let _ = answer.send(confirmed);
        });
    answered.await.unwrap_or(false)
}

/// The path as it crosses to the webview: its bytes, where the system's paths are bytes.
pub fn wire_path(path: &Path) -> WirePath {
    #[cfg(unix)]
    return WirePath(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec());
    #[cfg(not(unix))]
    return WirePath::from(path.to_string_lossy().as_ref());
}
