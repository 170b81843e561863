//! The protocol on standard input and output: JSON-RPC 2.0, one object a line.
//!
//! It adapts and knows nothing, as the desktop shell does: each line goes to the engine's one call,
//! each notification to standard output. Logs go to standard error.

mod rpc;

use std::{
    io::Write,
    path::PathBuf,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};

use heph_engine::{Engine, Places};
use tokio::io::{AsyncBufReadExt, BufReader};

const USAGE: &str = "usage: heph-serve [--data DIR] [--config FILE]";

fn main() -> ExitCode {
    tracing_subscriber::fmt().with_ansi(false).with_writer(std::io::stderr).init();
    match places(std::env::args_os().skip(1)) {
        Ok(places) => serve(places),
        Err(fault) => {
            eprintln!("heph-serve: {fault}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Where to keep things: as asked for, else in the user's data and config folders.
fn places(arguments: impl Iterator<Item = std::ffi::OsString>) -> Result<Places, String> {
    let (mut data, mut config) = (None, None);
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let place = match argument.to_str() {
            Some("--data") => &mut data,
            Some("--config") => &mut config,
            _ => return Err(format!("unknown argument {}", argument.to_string_lossy())),
        };
        let value =
            arguments.next().ok_or_else(|| format!("{} needs a value", argument.to_string_lossy()))?;
        *place = Some(PathBuf::from(value));
    }
    let home_folder = |variable: &str, below: &str| {
        let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        set.or_else(|| Some(std::env::home_dir()?.join(below)))
    };
    let unknown = || "this system names no home folder: say --data and --config".to_owned();
    Ok(Places {
        data: match data {
            Some(data) => data,
            None => home_folder("XDG_DATA_HOME", ".local/share").ok_or_else(unknown)?.join("heph"),
        },
        config: match config {
            Some(config) => config,
            None => home_folder("XDG_CONFIG_HOME", ".config").ok_or_else(unknown)?.join("heph/config.toml"),
        },
    })
}

fn serve(places: Places) -> ExitCode {
    let output = Arc::new(Mutex::new(std::io::stdout()));
    let notify = {
        let output = Arc::clone(&output);
        move |notification| write_line(&output, &rpc::notification(&notification))
    };
    let engine = match Engine::start(places, notify) {
        Ok(engine) => engine,
        Err(error) => {
            eprintln!("heph-serve: {error}");
            return ExitCode::FAILURE;
        }
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("heph-serve: {error}");
            return ExitCode::FAILURE;
        }
    };
    runtime.block_on(async {
        read_lines(&engine, &output).await;
        engine.shutdown().await;
    });
    // A read of standard input may still be waiting in a thread of the runtime's.
    runtime.shutdown_background();
    ExitCode::SUCCESS
}

/// Answers every line, in order, until standard input ends.
async fn read_lines(engine: &Engine, output: &Arc<Mutex<std::io::Stdout>>) {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) if line.trim_ascii().is_empty() => {}
            Ok(_) => {
                if let Some(reply) = rpc::answer(engine, &line).await {
                    write_line(output, &reply);
                }
            }
        }
    }
}

/// A reader that has gone away ends standard input too, so a failed write needs no word of its own.
fn write_line(output: &Mutex<std::io::Stdout>, json: &str) {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = writeln!(output, "{json}").and_then(|()| output.flush());
}
