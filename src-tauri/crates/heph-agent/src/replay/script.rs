//! A replay file, read and checked as a whole before any of it is played.

use std::{ops::Range, time::Duration};

use serde::{
    Deserialize,
    de::{IgnoredAny, IntoDeserializer},
};
use toml::{
    Spanned,
    de::{DeTable, DeValue, ValueDeserializer},
};

use crate::tools::Call;

/// A checked replay file.
#[derive(Clone, Debug)]
pub struct Script {
    pub(super) replies: Vec<Reply>,
}

#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) when: Option<String>,
    pub(super) text: String,
    /// Before each step.
    pub(super) delay: Duration,
    /// With this reason the model fails after its steps, in place of its closing words.
    pub(super) fail: Option<String>,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) tool: String,
    pub(super) arguments: serde_json::Value,
}

/// What is wrong with a replay file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct ScriptError {
    /// The file's name, as it was given.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// The reply, the step and the field, and what is the matter with it.
    pub problem: String,
}

/// The keys of a `[[reply]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyKeys {
    when: Option<String>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    delay_ms: u64,
    fail: Option<String>,
    /// Read one by one, for the sake of better errors.
    #[serde(rename = "step")]
    _step: Option<IgnoredAny>,
}

impl Script {
    /// Reads `source`, the text of the replay file `name`.
    ///
    /// # Errors
    /// The first fault: a text that is no TOML, an unknown key or tool, a missing or wrong value.
    pub fn parse(source: &str, name: &str) -> Result<Script, ScriptError> {
        script(source).map_err(|fault| ScriptError {
            file: name.to_owned(),
            line: 1 + source.bytes().take(fault.at.start).filter(|&b| b == b'\n').count(),
            problem: fault.problem,
        })
    }
}

/// What is wrong at which bytes of the source.
struct Fault {
    at: Range<usize>,
    problem: String,
}

impl Fault {
    fn new(at: Range<usize>, problem: impl Into<String>) -> Fault {
        Fault { at, problem: problem.into() }
    }

    /// A fault that serde found in `table`, with the field named and the place told.
    fn in_table(error: &toml::de::Error, table: &DeTable<'_>, whole: Range<usize>) -> Fault {
        let at = error.span().unwrap_or(whole);
        let field = table.iter().find(|(_, value)| value.span() == at).map(|(key, _)| key.get_ref());
        let problem = match (error.message().strip_prefix("missing field "), field) {
            (Some(missing), _) => format!("{missing} is missing"),
            (None, Some(field)) if !error.message().contains(&format!("`{field}`")) => {
                format!("`{field}`: {}", error.message())
            }
            (None, _) => error.message().to_owned(),
        };
        Fault { at, problem }
    }

    fn at_place(self, place: &str) -> Fault {
        Fault { problem: format!("{place}: {}", self.problem), ..self }
    }
}

fn script(source: &str) -> Result<Script, Fault> {
    let table = DeTable::parse(source)
        .map_err(|error| Fault::new(error.span().unwrap_or_default(), error.message()))?
        .into_inner();
    if let Some((key, _)) = table.iter().find(|(key, _)| key.get_ref() != "reply") {
        return Err(Fault::new(key.span(), format!("unknown key `{}`, expected `[[reply]]`", key.get_ref())));
    }
    let mut replies = Vec::new();
    for (number, value) in (1..).zip(tables(table.get("reply"), "reply")?) {
        replies.push(reply(value, &format!("reply {number}"))?);
    }
    Ok(Script { replies })
}

fn reply(value: &Spanned<DeValue<'_>>, place: &str) -> Result<Reply, Fault> {
    let here = |fault: Fault| fault.at_place(place);
    let (table, whole) = as_table(value).map_err(here)?;
    let keys = ReplyKeys::deserialize(value.clone().into_deserializer())
        .map_err(|error| here(Fault::in_table(&error, table, whole)))?;
    let mut steps = Vec::new();
    for (number, value) in (1..).zip(tables(table.get("step"), "reply.step").map_err(here)?) {
        steps.push(step(value).map_err(|fault| fault.at_place(&format!("{place}, step {number}")))?);
    }
    let delay = Duration::from_millis(keys.delay_ms);
    Ok(Reply { when: keys.when, text: keys.text, delay, fail: keys.fail, steps })
}

fn step(value: &Spanned<DeValue<'_>>) -> Result<Step, Fault> {
    let (table, whole) = as_table(value)?;
    let mut arguments = table.clone();
    let Some(tool) = arguments.remove("tool") else {
        return Err(Fault::new(whole, "`tool` is missing"));
    };
    let Some(name) = tool.get_ref().as_str() else {
        return Err(Fault::new(
            tool.span(),
            format!("`tool`: a string is expected, not {}", tool.get_ref().type_str()),
        ));
    };
    let given = ValueDeserializer::from(Spanned::new(whole.clone(), DeValue::Table(arguments.clone())));
    match Call::read(name, given) {
        None => return Err(Fault::new(tool.span(), format!("`tool`: there is no tool `{name}`"))),
        Some(Err(error)) => return Err(Fault::in_table(&error, table, whole)),
        Some(Ok(_)) => {}
    }
    let given = ValueDeserializer::from(Spanned::new(whole.clone(), DeValue::Table(arguments)));
    let arguments =
        serde_json::Value::deserialize(given).map_err(|error| Fault::in_table(&error, table, whole))?;
    Ok(Step { tool: name.to_owned(), arguments })
}

fn as_table<'a, 'i>(value: &'a Spanned<DeValue<'i>>) -> Result<(&'a DeTable<'i>, Range<usize>), Fault> {
    let found = value.get_ref().type_str();
    let table = value.get_ref().as_table();
    let table = table.ok_or_else(|| Fault::new(value.span(), format!("a table is expected, not {found}")))?;
    Ok((table, value.span()))
}

/// The elements of an array of tables, which may be absent.
fn tables<'a, 'i>(
    value: Option<&'a Spanned<DeValue<'i>>>,
    name: &str,
) -> Result<&'a [Spanned<DeValue<'i>>], Fault> {
    let Some(value) = value else { return Ok(&[]) };
    let found = value.get_ref().type_str();
    let array = value.get_ref().as_array();
    Ok(array
        .ok_or_else(|| Fault::new(value.span(), format!("`[[{name}]]` is expected, not {found}")))?
        .as_ref())
}
