//! A new repository from files.

use std::{fs, path::Path};

use git2::{Repository, RepositoryInitOptions, Signature};

use crate::error::{At, GitError};

/// Makes a repository at `root`, a folder that must not exist, with these files in its first commit
/// on `main`. No template, hook or setting of the user's goes into it.
///
/// # Errors
/// Where the folder exists or cannot be written.
pub fn create_repository(root: &Path, files: &[(&Path, &[u8])]) -> Result<(), GitError> {
    if let Some(parent) = root.parent() {
        fs::create_dir_all(parent).at("make", parent)?;
    }
    fs::create_dir(root).at("make", root)?;
    for (path, bytes) in files {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).at("make", folder)?;
        }
        fs::write(&path, bytes).at("write", &path)?;
    }
    let mut options = RepositoryInitOptions::new();
    let repo =
        Repository::init_opts(root, options.initial_head("main").external_template(false).no_reinit(true))?;
    let mut index = repo.index()?;
    for (path, _) in files {
        index.add_path(path)?;
    }
    index.write()?;
    let tree = repo.find_tree(index.write_tree()?)?;
    let author = Signature::now("Heph", "heph@localhost")?;
    repo.commit(Some("HEAD"), &author, &author, "First commit", &tree, &[])?;
    Ok(())
}
