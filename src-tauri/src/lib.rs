//! The desktop shell: a window, its native dialogs, and the wire between the webview and the engine.
//!
//! It adapts and knows nothing: no turn, no review, no git. Every method of the protocol passes through
//! [`rpc`] as it is. Only what a desktop alone has is a command of the shell's own.
//!
//! Words: a *command* is what the webview invokes here; a *method* is what the engine answers.

mod command_line;
mod rpc;
mod window;

use std::{io::Write, process::ExitCode, sync::Arc};

use command_line::{CommandLine, Request};
use heph_engine::{Engine, Places};
use heph_wire::{CallError, ErrorKind};
use tauri::{AppHandle, Manager, RunEvent};
use tauri_plugin_dialog::{DialogExt, MessageDialogKind};

/// Runs the app until its window is closed.
pub fn run() -> ExitCode {
    match command_line::parse(std::env::args_os()) {
        Ok(Request::Open(command_line)) => open(command_line),
        Ok(Request::Print(text)) => {
            // A reader that has seen enough (`| head`) is no failure.
            let _ = writeln!(std::io::stdout(), "{text}");
            ExitCode::SUCCESS
        }
        Err(fault) => {
            eprintln!("heph: {fault}\nTry: heph --help");
            ExitCode::from(2)
        }
    }
}

fn open(command_line: CommandLine) -> ExitCode {
    tracing_subscriber::fmt().with_ansi(false).with_writer(std::io::stderr).init();
    #[cfg(target_os = "linux")]
    if let Err(error) = window::settle_automation(command_line.automation) {
        eprintln!("heph: automation could not be turned off: {error}");
        return ExitCode::FAILURE;
    }
    let app = tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .invoke_handler(tauri::generate_handler![
            rpc::call,
            rpc::subscribe,
            window::opening,
            window::choose_folder,
            window::confirm,
        ])
        .setup(move |app| {
            if let Err(error) = start(app.handle(), command_line) {
                report(app.handle(), &error);
            }
            Ok(())
        })
        .build(tauri::generate_context!());
    match app {
        Ok(app) => ExitCode::from(app.run_return(when_it_ends) as u8),
        Err(error) => {
            eprintln!("heph: the window could not be opened: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Starts the engine, then opens the window on it.
fn start(app: &AppHandle, command_line: CommandLine) -> Result<(), CallError> {
    let places = places(app, &command_line)?;
    let webview_data = places.data.join("webview");
    let listener = Arc::new(rpc::Listener::default());
    let engine = Engine::start(places, {
        let listener = Arc::clone(&listener);
        move |notification| listener.send(notification)
    })?;
    app.manage(engine);
    app.manage(listener);
    app.manage(command_line.opening);
    window::open(app, webview_data).map_err(|error| CallError::new(ErrorKind::Internal, error.to_string()))
}

/// Where the app keeps what it keeps: as asked for, else in the user's data and config folders.
fn places(app: &AppHandle, command_line: &CommandLine) -> Result<Places, CallError> {
    let unknown = |_| {
        CallError::new(
            ErrorKind::NoSuchPath,
            "This system names no folder for an app's files. Start heph with --data DIR and --config FILE.",
        )
    };
    Ok(Places {
        data: match &command_line.data {
            Some(folder) => folder.clone(),
            None => app.path().data_dir().map_err(unknown)?.join("heph"),
        },
        config: match &command_line.config {
            Some(file) => file.clone(),
            None => app.path().config_dir().map_err(unknown)?.join("heph/config.toml"),
        },
    })
}

/// Says in a native dialog why the app cannot start, and ends it with the dialog.
fn report(app: &AppHandle, error: &CallError) {
    tracing::error!("{error}");
    let handle = app.clone();
    app.dialog()
        .message(&error.message)
        .title("Heph cannot start")
        .kind(MessageDialogKind::Error)
        .show(move |_| handle.exit(1));
}

fn when_it_ends(app: &AppHandle, event: RunEvent) {
    if let (RunEvent::Exit, Some(engine)) = (event, app.try_state::<Engine>()) {
        tauri::async_runtime::block_on(engine.shutdown());
    }
}
