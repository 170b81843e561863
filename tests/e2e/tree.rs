use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// All files of a working folder, git's own left out, as bytes by path.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree(BTreeMap<PathBuf, Vec<u8>>);

impl Tree {
    /// What is on disk now.
    pub fn read(root: &Path) -> Tree {
        let mut files = BTreeMap::new();
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    if !path.ends_with(".git") {
                        folders.push(path);
                    }
                } else {
                    let bytes = fs::read(&path).unwrap();
                    files.insert(path.strip_prefix(root).unwrap().to_path_buf(), bytes);
                }
            }
        }
        Tree(files)
    }

    /// Takes in every hunk of a review that has the verdict *accept*, as its rows show it.
    pub fn accept(&mut self, review: &Value) {
        for file in review["files"].as_array().unwrap() {
            let path = PathBuf::from(file["path"].as_str().unwrap());
            // From the last hunk to the first, so that line numbers still hold.
            for hunk in file["hunks"].as_array().unwrap().iter().rev() {
                if hunk["verdict"] == "accept" {
                    let text = String::from_utf8(self.0.remove(&path).unwrap_or_default()).unwrap();
                    let changed = accepted(&text, hunk);
                    if file["change"] != "deleted" {
                        self.0.insert(path.clone(), changed.into_bytes());
                    }
                }
            }
        }
    }
}

/// A text with one hunk taken in.
fn accepted(text: &str, hunk: &Value) -> String {
    let line = |side: &Value| side.as_u64().unwrap() as usize;
    let (first, last) = (line(&hunk["old"][0]), line(&hunk["old"][1]));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut changed: String = lines[..first.max(1) - 1].concat();
    for row in hunk["rows"].as_array().unwrap().iter().filter(|row| row["kind"] != "-") {
        changed.push_str(row["text"].as_str().unwrap());
        if row["no_newline"] != true {
            changed.push('\n');
        }
    }
    changed + &lines[last..].concat()
}
