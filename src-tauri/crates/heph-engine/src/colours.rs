//! Syntax colours of a text, line by line.
//!
//! A file is parsed from its first line, so that a hunk in the middle of a string or comment is coloured
//! as what it is. Results are kept by content. The classes are the twelve of the user interface:
//! `k` keyword, `s` string, `c` comment, `n` number, `m` other constant, `t` type, `f` function,
//! `v` variable, `p` punctuation, `o` operator, `g` tag, `a` attribute.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use sha2::{Digest, Sha256};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// A larger text is shown without colours: it would hold up the first rows of everything else.
const MAX_BYTES: usize = 2 << 20;

/// A longer line, in bytes, is shown without colours and without changed words: nobody reads it, and it
/// would hold up the rest.
pub const MAX_LINE: usize = 4 << 10;

/// How many texts' colours are kept.
const KEPT: usize = 256;

/// One coloured run of a line: start and end in bytes, and its class.
pub type Span = (usize, usize, &'static str);

/// The colours of a text: for each line, its coloured runs.
pub type Lines = Arc<Vec<Vec<Span>>>;

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Scopes and their class; of those that fit, the longest holds.
static CLASSES: LazyLock<Vec<(Scope, &'static str)>> = LazyLock::new(|| {
    [
        ("comment", "c"),
        ("string", "s"),
        ("constant.character", "s"),
        ("constant.numeric", "n"),
        ("constant", "m"),
        ("keyword", "k"),
        ("keyword.operator", "o"),
        ("storage", "k"),
        ("entity.name.type", "t"),
        ("entity.name.struct", "t"),
        ("entity.name.enum", "t"),
        ("entity.name.class", "t"),
        ("entity.name.trait", "t"),
        ("entity.name.interface", "t"),
        ("entity.name.impl", "t"),
        ("entity.other.inherited-class", "t"),
        ("support.type", "t"),
        ("support.class", "t"),
        ("entity.name.function", "f"),
        ("entity.name.macro", "f"),
        ("support.function", "f"),
        ("support.macro", "f"),
        ("variable.function", "f"),
        ("variable", "v"),
        ("variable.annotation", "a"),
        ("punctuation", "p"),
        ("punctuation.definition.comment", "c"),
        ("punctuation.definition.string", "s"),
        ("entity.name.tag", "g"),
        ("entity.other.attribute-name", "a"),
        ("meta.annotation", "a"),
    ]
    .into_iter()
    .filter_map(|(scope, class)| Some((Scope::new(scope).ok()?, class)))
    .collect()
});

/// Colours, kept by content.
#[derive(Default)]
pub struct Colours(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    lines: HashMap<[u8; 32], Lines>,
    order: VecDeque<[u8; 32]>,
}

impl Colours {
    /// The colours of `text`, a file of this name.
    pub fn of(&self, name: &str, text: &[u8]) -> Lines {
        if text.len() > MAX_BYTES {
            return Lines::default();
        }
        let mut hash = Sha256::new();
        hash.update(name);
        hash.update([0]);
        hash.update(text);
        let key: [u8; 32] = hash.finalize().into();
        if let Some(lines) = self.0.lock().unwrap_or_else(PoisonError::into_inner).lines.get(&key) {
            return Arc::clone(lines);
        }
        let lines = Arc::new(parse(name, &String::from_utf8_lossy(text)));
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.lines.insert(key, Arc::clone(&lines)).is_none() {
            kept.order.push_back(key);
        }
        if kept.order.len() > KEPT
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.lines.remove(&oldest);
        }
        lines
    }
}

/// Unpacks the syntaxes, which takes a moment, before the first row is asked for.
pub fn prepare() {
    LazyLock::force(&SYNTAXES);
    LazyLock::force(&CLASSES);
}

fn syntax_for(name: &str, text: &str) -> Option<&'static SyntaxReference> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let extension = file.rsplit_once('.').map_or(file, |(_, extension)| extension);
    SYNTAXES
        .find_syntax_by_extension(file)
        .or_else(|| SYNTAXES.find_syntax_by_extension(extension))
        .or_else(|| SYNTAXES.find_syntax_by_first_line(text.lines().next()?))
}

fn parse(name: &str, text: &str) -> Vec<Vec<Span>> {
    let Some(syntax) = syntax_for(name, text) else { return Vec::new() };
    let mut state = ParseState::new(syntax);
    let mut stack = ScopeStack::new();
    let mut classes: HashMap<Scope, Option<&'static str>> = HashMap::new();
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.len() > MAX_LINE {
            lines.push(Vec::new());
            continue;
        }
        // A syntax with a fault in it leaves the rest of the file plain.
        let Ok(changes) = state.parse_line(line, &SYNTAXES) else { break };
        let mut spans: Vec<Span> = Vec::new();
        let mut from = 0;
        for (at, change) in changes {
            push_span(&mut spans, from, at, class_of(&stack, &mut classes));
            from = at;
            if stack.apply(&change).is_err() {
                return lines;
            }
        }
        push_span(
            &mut spans,
            from,
            line.trim_end_matches(['\r', '\n']).len(),
            class_of(&stack, &mut classes),
        );
        lines.push(spans);
    }
    lines
}

fn push_span(spans: &mut Vec<Span>, from: usize, to: usize, class: Option<&'static str>) {
    let Some(class) = class else { return };
    match spans.last_mut() {
        Some(last) if last.1 == from && last.2 == class => last.1 = to.max(from),
        _ if from < to => spans.push((from, to, class)),
        _ => {}
    }
}

/// The class of the innermost scope that has one.
fn class_of(stack: &ScopeStack, known: &mut HashMap<Scope, Option<&'static str>>) -> Option<&'static str> {
    stack.as_slice().iter().rev().find_map(|scope| {
        *known.entry(*scope).or_insert_with(|| {
            let fitting = CLASSES.iter().filter(|(prefix, _)| prefix.is_prefix_of(*scope));
            fitting.max_by_key(|(prefix, _)| prefix.len()).map(|(_, class)| *class)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_inside_a_comment_or_string_is_coloured_as_what_it_is() {
        let text = "/* one\nlet x = 1;\n*/\nlet s = \"a\nfn b\n\";\nfn real() {}\n";
        let lines = Colours::default().of("a.rs", text.as_bytes());
        assert_eq!(lines[1], [(0, 10, "c")]);
        assert_eq!(lines[4], [(0, 4, "s")]);
        assert!(lines[6].contains(&(0, 2, "k")) && lines[6].contains(&(3, 7, "f")), "{:?}", lines[6]);
    }
}
