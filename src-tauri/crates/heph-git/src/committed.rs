//! What the user has committed, to review their tree against.

use git2::{ErrorCode, ObjectType, Oid, Tree, TreeWalkMode, TreeWalkResult};
use heph_core::id::TreeId;

use crate::{error::GitError, objects::Objects, private::PrivateRepo};

/// As git's trees mark a submodule.
const SUBMODULE: i32 = 0o160000;

impl PrivateRepo {
    /// Whether `rev` (HEAD where there is none) names something with files.
    ///
    /// # Errors
    /// [`GitError::NoRevision`] where it does not.
    pub fn check_revision(&self, rev: Option<&str>) -> Result<(), GitError> {
        self.committed_id(rev).map(|_| ())
    }

    /// The tree of `rev` (HEAD where there is none), with the submodules' files as `snapshot` has them: they
    /// are no part of what the commit says.
    ///
    /// # Errors
    /// [`GitError::NoRevision`] where `rev` names nothing with files.
    pub fn committed(&self, rev: Option<&str>, snapshot: &TreeId) -> Result<TreeId, GitError> {
        let objects = self.objects()?;
        let Some(id) = self.committed_id(rev)? else { return objects.write_tree(&[], None, |_| Ok(())) };
        let committed = objects.repo.find_tree(id)?;
        let submodules = submodules(&committed)?;
        if submodules.is_empty() {
            return Ok(TreeId(id.to_string()));
        }
        let mut files = objects.files(&committed)?;
        let is_below = |path: &[u8]| {
            submodules
                .iter()
                .any(|module| path.strip_prefix(&module[..]).is_some_and(|rest| rest.starts_with(b"/")))
        };
        let theirs = objects.files(&objects.tree(snapshot)?)?;
        files.extend(theirs.into_iter().filter(|file| is_below(&file.path)));
        files.sort_by(|one, other| one.path.cmp(&other.path));
        objects.write_tree(&files, Some(&committed), |file| keep(&objects, file.id))
    }

    /// The tree that `rev` names; `None` for a HEAD without a commit.
    fn committed_id(&self, rev: Option<&str>) -> Result<Option<Oid>, GitError> {
        let git = self.user().git()?;
        let named = match git.revparse_single(rev.unwrap_or("HEAD")) {
            Ok(named) => named,
            Err(e) if rev.is_none() && matches!(e.code(), ErrorCode::NotFound | ErrorCode::UnbornBranch) => {
                return Ok(None);
            }
            Err(_) => return Err(GitError::NoRevision(rev.unwrap_or("HEAD").to_owned())),
        };
        let tree = named.peel(ObjectType::Tree);
        tree.map(|tree| Some(tree.id())).map_err(|_| GitError::NoRevision(rev.unwrap_or("HEAD").to_owned()))
    }
}

fn keep(objects: &Objects, id: Oid) -> Result<(), GitError> {
    objects.keep(id).map(|_| ())
}

fn submodules(tree: &Tree<'_>) -> Result<Vec<Vec<u8>>, GitError> {
    let mut found = Vec::new();
    tree.walk(TreeWalkMode::PreOrder, |above, entry| {
        if entry.filemode() == SUBMODULE {
            found.push([above.as_bytes(), entry.name_bytes()].concat());
        }
        TreeWalkResult::Ok
    })?;
    Ok(found)
}
