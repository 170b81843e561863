//! What `gatehouse.toml` holds. Read once at start-up; there is no reload.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

pub struct Config {
    /// Address and port.
    pub listen: String,
    pub token_minutes: u64,
    /// What one has to know to be let in.
    pub door_code: String,
}

impl Config {
    /// Reads the file, or says what is wrong with it.
    pub fn load(path: &Path) -> Result<Config, String> {
        let text = fs::read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let mut fields = parse(&text)?;
        let mut take = |field: &str| {
            let missing = || format!("{}: `{field}` is missing", path.display());
            fields.remove(field).ok_or_else(missing)
        };
        Ok(Config {
            listen: take("listen")?,
            token_minutes: take("token_minutes")?
                .parse()
                .map_err(|_| "`token_minutes` is no number".to_string())?,
            door_code: take("door_code")?,
        })
    }
}

/// The little of TOML that is needed: comments, and lines of `field = value`.
fn parse(text: &str) -> Result<HashMap<String, String>, String> {
    let mut fields = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (field, value) = line
            .split_once('=')
            .ok_or_else(|| format!("line {number}: expected `field = value`"))?;
        let value = value.trim().trim_matches('"');
        fields.insert(field.trim().to_string(), value.to_string());
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_blank_lines_are_passed_over() {
        let fields = parse("# where\nlisten = \"here:80\"\n\n").unwrap();
        assert_eq!(fields["listen"], "here:80");
    }

    #[test]
    fn a_line_without_a_value_is_named() {
        assert!(parse("listen\n").unwrap_err().starts_with("line 1"));
    }
}
