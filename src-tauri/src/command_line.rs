use std::{ffi::OsString, path::PathBuf};

use heph_wire::WirePath;
use lexopt::{Arg, Parser};
use serde::Serialize;

use crate::window::wire_path;

const HELP: &str = "\
Heph: review what a model changes, hunk by hunk, before any of it reaches your files.

Usage: heph [OPTIONS] [PATH]

  PATH              open the git repository that holds PATH
  --demo            open a fresh copy of the demo repository, with a model that needs no network
  --data DIR        keep sessions and worktrees in DIR
  --config FILE     read the settings from FILE
  --automation      let a WebDriver drive the window, where TAURI_WEBVIEW_AUTOMATION=true is set
  -V, --version     print the version
  -h, --help        print this";

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub enum Request {
    /// Open the window.
    Open(CommandLine),
    /// Print this and end.
    Print(String),
}

/// How the window is to be opened.
#[derive(Debug, PartialEq)]
pub struct CommandLine {
    /// What it shows first.
    pub opening: Opening,
    /// `--data`, absolute.
    pub data: Option<PathBuf>,
    /// `--config`, absolute.
    pub config: Option<PathBuf>,
    /// Whether a WebDriver may come in.
    pub automation: Automation,
}

/// What the window shows first; the webview asks for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Opening {
    /// The repository that holds a folder.
    Folder {
        /// Absolute.
        path: WirePath,
    },
    /// The demo.
    Demo,
    /// The first page.
    Nothing,
}

/// Whether a WebDriver may drive the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Automation {
    /// `--automation` was given.
    Allowed,
    /// The default.
    Off,
}

/// Reads the command line, the program's name first. Relative paths are taken from the working folder.
///
/// # Errors
/// An option that there is not, one without its value, a second path; in words for the user.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Request, lexopt::Error> {
    let mut line =
        CommandLine { opening: Opening::Nothing, data: None, config: None, automation: Automation::Off };
    let mut parser = Parser::from_iter(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("demo") if line.opening == Opening::Nothing => line.opening = Opening::Demo,
            Arg::Value(path) if line.opening == Opening::Nothing => {
                line.opening = Opening::Folder { path: wire_path(&absolute(path)?) };
            }
            Arg::Long("demo") | Arg::Value(_) => return Err("give one PATH or --demo, not both".into()),
            Arg::Long("data") => line.data = Some(absolute(parser.value()?)?),
            Arg::Long("config") => line.config = Some(absolute(parser.value()?)?),
            Arg::Long("automation") => line.automation = Automation::Allowed,
            Arg::Short('V') | Arg::Long("version") => {
                return Ok(Request::Print(concat!("heph ", env!("CARGO_PKG_VERSION")).into()));
            }
            Arg::Short('h') | Arg::Long("help") => return Ok(Request::Print(HELP.into())),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Request::Open(line))
}

fn absolute(path: OsString) -> Result<PathBuf, lexopt::Error> {
    std::path::absolute(path).map_err(|error| lexopt::Error::Custom(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Request, String> {
        parse(["heph"].iter().chain(arguments).map(OsString::from)).map_err(|error| error.to_string())
    }

    fn opened(arguments: &[&str]) -> CommandLine {
        match parsed(arguments) {
            Ok(Request::Open(line)) => line,
            other => panic!("{arguments:?} gave {other:?}"),
        }
    }

    #[test]
    fn a_relative_path_is_taken_from_the_working_folder() {
        let folder = std::env::current_dir().unwrap().join("some/repo");
        assert_eq!(opened(&["some/repo"]).opening, Opening::Folder { path: wire_path(&folder) });
        assert_eq!(opened(&["--data", "some/repo"]).data, Some(folder));
    }

    #[test]
    fn nothing_and_the_demo_are_told_apart_from_a_folder() {
        assert_eq!(opened(&[]).opening, Opening::Nothing);
        assert_eq!(opened(&["--demo"]).opening, Opening::Demo);
        let folder = opened(&["--", "--demo"]).opening;
        assert!(matches!(folder, Opening::Folder { .. }), "{folder:?}");
    }

    #[test]
    fn the_window_cannot_be_driven_unless_asked_for() {
        assert_eq!(opened(&[]).automation, Automation::Off);
        assert_eq!(opened(&["--automation"]).automation, Automation::Allowed);
    }

    #[test]
    fn an_unknown_option_a_missing_value_and_a_second_path_are_refused() {
        assert_eq!(parsed(&["--dmeo"]), Err("invalid option '--dmeo'".into()));
        assert!(parsed(&["--data"]).unwrap_err().contains("--data"));
        assert!(parsed(&["one", "two"]).is_err());
        assert!(parsed(&["one", "--demo"]).is_err());
    }
}
