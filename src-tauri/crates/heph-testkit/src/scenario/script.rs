//! The lines of a scenario.

/// One statement, with the rows below it.
pub struct Line {
    /// Its number in the file, from 1.
    pub number: usize,
    /// How far it is indented.
    pub indent: usize,
    /// As it stands in the file.
    pub source: String,
    /// Its words, out of their quotes.
    pub words: Vec<String>,
    /// The rows below it.
    pub rows: Vec<Row>,
}

/// One row of a text or a change.
pub struct Row {
    /// `|` for a line of the text, `-` for one that goes, `+` for one that comes.
    pub mark: char,
    /// The line, without an end.
    pub text: String,
}

impl Line {
    /// Its words, to be matched.
    pub fn words(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }

    /// Its rows as a text, without the last line's end. Rows of a change keep their marks.
    pub fn text(&self) -> String {
        let change = self.rows.iter().any(|row| row.mark != '|');
        let line = |row: &Row| match change {
            true => format!("{} {}", row.mark, row.text).trim_end().to_owned(),
            false => row.text.clone(),
        };
        self.rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Fails the scenario before anything is played.
    pub fn refuse(&self, problem: &str) -> ! {
        panic!("line {}: {}: {problem}", self.number, self.source.trim())
    }
}

/// Reads the scenario `name`.
pub fn parse(name: &str, source: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (number, line) in (1..).zip(source.lines()) {
        let start = line.trim_start();
        let indent = line.len() - start.len();
        match start.chars().next() {
            None | Some('#') => {}
            Some(mark @ ('|' | '-' | '+')) => {
                let text = start[1..].strip_prefix(' ').unwrap_or(&start[1..]).to_owned();
                let Some(above) = lines.last_mut() else { panic!("{name}:{number}: a row of no statement") };
                above.rows.push(Row { mark, text });
            }
            Some(_) => {
                let words = words(start).unwrap_or_else(|problem| panic!("{name}:{number}: {problem}"));
                lines.push(Line { number, indent, source: line.to_owned(), words, rows: Vec::new() });
            }
        }
    }
    lines
}

/// The words of a line; a comma after one is decoration.
fn words(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let word;
        (word, rest) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                (word.to_owned(), rest)
            }
        };
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        words.push(word);
    }
    Ok(words)
}

/// A quoted word from after its first quote, and what follows it.
fn unquoted(quoted: &str) -> Result<(String, &str), &'static str> {
    let mut word = String::new();
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return Ok((word, chars.as_str())),
            '\\' => word.push(match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some(c @ ('"' | '\\')) => c,
                _ => return Err("\\n, \\r, \\t, \\\" or \\\\ is expected"),
            }),
            c => word.push(c),
        }
    }
    Err("a quote is not closed")
}
