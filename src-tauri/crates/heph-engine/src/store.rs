//! Decisions, in SQLite: sessions, turns, messages, and the log of each turn's inputs.
//!
//! Contents are in git; what was said and decided is here. A turn is not stored as a state but as the
//! inputs that made it, so that replaying the log gives the state back to the last verdict. Everything
//! that one input brings about is written in one transaction, before it is shown as done.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use heph_agent::{Entry, Response};
use heph_core::{rationale::EditNote, turn};
use heph_wire::{Message, ModelSettings};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use serde::{Serialize, de::DeserializeOwned};

use crate::settings::Gate;

/// Grows with each change of the tables; a file of a later version is refused.
const SCHEMA_VERSION: i64 = 2;

/// What makes a file of version 1 one of version 2: a turn's opening was the text of its prompt, and now says
/// what it is.
const FROM_1: &str = "UPDATE turn SET opening = json_object('Prompt', opening)";

/// How long a lock of another program on the file (a backup, say) is waited for.
const LOCK_LIMIT: Duration = Duration::from_secs(2);

const SCHEMA: &str = "
CREATE TABLE repo (
    id TEXT PRIMARY KEY, root BLOB NOT NULL UNIQUE, opened_at INTEGER NOT NULL, agreed TEXT
) STRICT;
CREATE TABLE session (
    id TEXT PRIMARY KEY, repo TEXT NOT NULL REFERENCES repo(id), title TEXT NOT NULL, model TEXT,
    draft TEXT NOT NULL, untold TEXT, changed_at INTEGER NOT NULL
) STRICT;
CREATE TABLE turn (
    session TEXT NOT NULL REFERENCES session(id), number INTEGER NOT NULL, opening TEXT NOT NULL,
    settings TEXT NOT NULL, gates TEXT NOT NULL, ending TEXT, PRIMARY KEY (session, number)
) STRICT;
CREATE TABLE input (
    session TEXT NOT NULL, turn INTEGER NOT NULL, seq INTEGER NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (session, turn, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE note (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, turn INTEGER NOT NULL,
    round INTEGER NOT NULL, json TEXT NOT NULL
) STRICT;
CREATE TABLE message (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, json TEXT NOT NULL
) STRICT;
CREATE TABLE told (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, speaker TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
CREATE INDEX note_of_round ON note (session, turn, round);
CREATE INDEX message_of_session ON message (session);
CREATE INDEX told_of_session ON told (session);
";

/// Why the store could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite failed.
    #[error("the database failed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A row does not hold what this version writes.
    #[error("the database holds something that this version cannot read: {0}")]
    Json(#[from] serde_json::Error),
    /// A newer version of Heph has written the file.
    #[error("the database was written by a newer Heph (format {0}); update Heph to open it")]
    Newer(i64),
}

/// The database.
pub struct Store {
    db: Connection,
}

/// A session's row.
#[derive(Clone, Debug)]
pub struct SessionRow {
    /// Its name.
    pub id: String,
    /// Its repository.
    pub repo: String,
    /// The first words of its first prompt.
    pub title: String,
    /// Its model, where it has one of its own.
    pub model: Option<ModelSettings>,
    /// The composer's text.
    pub draft: String,
    /// What the model reads before the next prompt.
    pub untold: Option<String>,
    /// Seconds since 1970 of the latest event.
    pub changed_at: i64,
}

/// A turn's row.
#[derive(Clone, Debug)]
pub struct TurnRow {
    /// Its number in the session, from 1.
    pub number: u32,
    /// What opened it.
    pub opening: turn::Opening,
    /// What held for it.
    pub settings: turn::Settings,
    /// Its gates, as the user's tree defined them at its start.
    pub gates: Vec<Gate>,
    /// How it ended; `None` while it is open.
    pub ending: Option<turn::Ending>,
}

/// Who said something to whom, in a session's conversation as the model knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// Heph, for the user.
    User,
    /// The model.
    Model,
}

/// Everything that one input brings about.
#[derive(Default)]
pub struct Change<'a> {
    /// The input itself, for the log of this turn.
    pub input: Option<&'a turn::Input>,
    /// Entries of the conversation.
    pub messages: Vec<Message>,
    /// What was said.
    pub told: Vec<(Speaker, String)>,
    /// Edits of the round, with their reasons.
    pub notes: Vec<(u32, EditNote)>,
    /// What becomes of what the model is to read before the next prompt.
    pub untold: Untold,
    /// The turn's ending.
    pub ending: Option<turn::Ending>,
}

/// What becomes of what the model was not told yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Untold {
    /// It stays.
    #[default]
    Kept,
    /// It is told now.
    Told,
    /// This is to be told.
    Left(String),
}

impl Store {
    /// Opens the database, and makes it where there is none.
    ///
    /// # Errors
    /// Where the file cannot be opened, or was written by a newer version.
    pub fn open(file: &Path) -> Result<Store, StoreError> {
        let db = Connection::open(file)?;
        db.busy_timeout(LOCK_LIMIT)?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        // A verdict that was shown as given survives a power failure too.
        db.pragma_update(None, "synchronous", "FULL")?;
        db.pragma_update(None, "foreign_keys", true)?;
        let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
        match version {
            0 => {
                let schema = format!("BEGIN; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;");
                db.execute_batch(&schema)?;
            }
            1 => db.execute_batch(&format!("BEGIN; {FROM_1}; PRAGMA user_version = 2; COMMIT;"))?,
            SCHEMA_VERSION => {}
            newer => return Err(StoreError::Newer(newer)),
        }
        Ok(Store { db })
    }

    /// Notes that a repository was opened now.
    pub fn open_repo(&self, id: &str, root: &Path, now: i64) -> Result<(), StoreError> {
        self.db.execute(
            "INSERT INTO repo (id, root, opened_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (id) DO UPDATE SET opened_at = excluded.opened_at",
            params![id, root.as_os_str().as_encoded_bytes(), now],
        )?;
        Ok(())
    }

    /// Repositories opened before, the latest first.
    pub fn repos(&self) -> Result<Vec<(String, PathBuf)>, StoreError> {
        let mut query = self.db.prepare("SELECT id, root FROM repo ORDER BY opened_at DESC, id")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, path_of(row.get(1)?))))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The digest that the user agreed to.
    pub fn agreed(&self, repo: &str) -> Result<Option<String>, StoreError> {
        let mut query = self.db.prepare_cached("SELECT agreed FROM repo WHERE id = ?1")?;
        Ok(query.query_row([repo], |row| row.get(0)).optional()?.flatten())
    }

    /// Notes that the user agreed to `digest`.
    pub fn agree(&self, repo: &str, digest: &str) -> Result<(), StoreError> {
        self.db.execute("UPDATE repo SET agreed = ?2 WHERE id = ?1", [repo, digest])?;
        Ok(())
    }

    /// A name that nothing else has: 64 random bits, as hex.
    pub fn new_name(&self) -> Result<String, StoreError> {
        Ok(self.db.query_row("SELECT lower(hex(randomblob(8)))", [], |row| row.get(0))?)
    }

    /// Takes back a session that has had no turn.
    pub fn forget_session(&self, id: &str) -> Result<(), StoreError> {
        self.db.execute("DELETE FROM session WHERE id = ?1", [id])?;
        Ok(())
    }

    /// Adds a session and gives it a name of its own.
    pub fn new_session(
        &self,
        repo: &str,
        model: Option<&ModelSettings>,
        now: i64,
    ) -> Result<SessionRow, StoreError> {
        let id = self.new_name()?;
        self.db.execute(
            "INSERT INTO session (id, repo, title, model, draft, changed_at) VALUES (?1, ?2, '', ?3, '', ?4)",
            params![id, repo, model.map(to_json).transpose()?, now],
        )?;
        let (title, draft, model) = (String::new(), String::new(), model.cloned());
        Ok(SessionRow { id, repo: repo.into(), title, model, draft, untold: None, changed_at: now })
    }

    /// A session.
    pub fn session(&self, id: &str) -> Result<Option<SessionRow>, StoreError> {
        let columns = "SELECT id, repo, title, model, draft, untold, changed_at FROM session WHERE id = ?1";
        let mut query = self.db.prepare_cached(columns)?;
        let mut rows = query.query([id])?;
        rows.next()?.map(session_row).transpose()
    }

    /// The sessions of a repository, the latest first.
    pub fn sessions(&self, repo: &str) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT id FROM session WHERE repo = ?1 ORDER BY changed_at DESC, rowid DESC";
        let mut query = self.db.prepare(sql)?;
        let rows = query.query_map([repo], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The sessions of a repository that nothing has happened in since `before` (seconds since 1970), whose
    /// latest turn has ended and set nothing aside.
    pub fn unused_since(&self, repo: &str, before: i64) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT id FROM session WHERE repo = ?1 AND changed_at < ?2";
        let mut query = self.db.prepare(sql)?;
        let ids =
            query.query_map(params![repo, before], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
        let mut unused = Vec::new();
        for id in ids {
            let needed = self
                .latest_turn(&id)?
                .is_some_and(|turn| turn.ending.is_none_or(|ending| !ending.set_aside.is_empty()));
            if !needed {
                unused.push(id);
            }
        }
        Ok(unused)
    }

    /// Keeps the composer's text.
    pub fn keep_draft(&self, session: &str, draft: &str) -> Result<(), StoreError> {
        self.db.execute("UPDATE session SET draft = ?2 WHERE id = ?1", [session, draft])?;
        Ok(())
    }

    /// The session's latest turn.
    pub fn latest_turn(&self, session: &str) -> Result<Option<TurnRow>, StoreError> {
        let mut query = self.db.prepare_cached(
            "SELECT number, opening, settings, gates, ending FROM turn WHERE session = ?1 ORDER BY number DESC LIMIT 1",
        )?;
        let mut rows = query.query([session])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        Ok(Some(TurnRow {
            number: row.get(0)?,
            opening: from_json(&row.get::<_, String>(1)?)?,
            settings: from_json(&row.get::<_, String>(2)?)?,
            gates: from_json(&row.get::<_, String>(3)?)?,
            ending: row.get::<_, Option<String>>(4)?.as_deref().map(from_json).transpose()?,
        }))
    }

    /// How a turn ended; `None` where there is no such turn, or it is open.
    pub fn ending(&self, session: &str, turn: u32) -> Result<Option<turn::Ending>, StoreError> {
        let sql = "SELECT ending FROM turn WHERE session = ?1 AND number = ?2";
        let mut query = self.db.prepare_cached(sql)?;
        let ending: Option<String> =
            query.query_row(params![session, turn], |row| row.get(0)).optional()?.flatten();
        ending.as_deref().map(from_json).transpose()
    }

    /// The inputs of a turn, in order.
    pub fn inputs(&self, session: &str, turn: u32) -> Result<Vec<turn::Input>, StoreError> {
        let sql = "SELECT json FROM input WHERE session = ?1 AND turn = ?2 ORDER BY seq";
        self.read_json(sql, params![session, turn])
    }

    /// The edits of a turn's rounds from `round` on, in order.
    pub fn notes(&self, session: &str, turn: u32, round: u32) -> Result<Vec<EditNote>, StoreError> {
        let sql = "SELECT json FROM note WHERE session = ?1 AND turn = ?2 AND round >= ?3 ORDER BY seq";
        self.read_json(sql, params![session, turn, round])
    }

    /// The conversation, oldest first.
    pub fn messages(&self, session: &str) -> Result<Vec<Message>, StoreError> {
        self.read_json("SELECT json FROM message WHERE session = ?1 ORDER BY seq", [session])
    }

    /// What was said between Heph and the model, oldest first: the history of a model made anew.
    pub fn told(&self, session: &str) -> Result<Vec<Entry>, StoreError> {
        let mut query = self.db.prepare("SELECT speaker, text FROM told WHERE session = ?1 ORDER BY seq")?;
        let rows = query.query_map([session], |row| {
            let text = row.get(1)?;
            Ok(match row.get::<_, String>(0)?.as_str() {
                "model" => Entry::Model(Response { text, calls: Vec::new() }),
                _ => Entry::User(text),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Opens a turn: takes over the draft, and names an unnamed session.
    pub fn open_turn(
        &mut self,
        session: &SessionRow,
        turn: &TurnRow,
        message: &Message,
    ) -> Result<(), StoreError> {
        let transaction = self.db.transaction()?;
        transaction.execute(
            "INSERT INTO turn (session, number, opening, settings, gates) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                session.id,
                turn.number,
                to_json(&turn.opening)?,
                to_json(&turn.settings)?,
                to_json(&turn.gates)?
            ],
        )?;
        transaction.execute(
            "UPDATE session SET title = ?2, draft = '', changed_at = ?3 WHERE id = ?1",
            params![session.id, session.title, session.changed_at],
        )?;
        add_message(&transaction, &session.id, message)?;
        Ok(transaction.commit()?)
    }

    /// Writes everything that one input of a turn brings about.
    pub fn record(
        &mut self,
        session: &str,
        turn: u32,
        now: i64,
        change: &Change<'_>,
    ) -> Result<(), StoreError> {
        let transaction = self.db.transaction()?;
        if let Some(input) = change.input {
            transaction
                .prepare_cached(
                    "INSERT INTO input (session, turn, seq, json) VALUES (?1, ?2,
                     (SELECT COALESCE(MAX(seq), 0) + 1 FROM input WHERE session = ?1 AND turn = ?2), ?3)",
                )?
                .execute(params![session, turn, to_json(input)?])?;
        }
        for message in &change.messages {
            add_message(&transaction, session, message)?;
        }
        for (speaker, text) in &change.told {
            let speaker = match speaker {
                Speaker::User => "user",
                Speaker::Model => "model",
            };
            let sql = "INSERT INTO told (session, speaker, text) VALUES (?1, ?2, ?3)";
            transaction.execute(sql, [session, speaker, text])?;
        }
        for (round, note) in &change.notes {
            let sql = "INSERT INTO note (session, turn, round, json) VALUES (?1, ?2, ?3, ?4)";
            transaction.execute(sql, params![session, turn, round, to_json(note)?])?;
        }
        let untold = match &change.untold {
            Untold::Kept => None,
            Untold::Told => Some(None),
            Untold::Left(message) => Some(Some(message)),
        };
        if let Some(untold) = untold {
            transaction.execute("UPDATE session SET untold = ?2 WHERE id = ?1", params![session, untold])?;
        }
        if let Some(ending) = &change.ending {
            let sql = "UPDATE turn SET ending = ?3 WHERE session = ?1 AND number = ?2";
            transaction.execute(sql, params![session, turn, to_json(ending)?])?;
        }
        transaction
            .prepare_cached("UPDATE session SET changed_at = ?2 WHERE id = ?1")?
            .execute(params![session, now])?;
        Ok(transaction.commit()?)
    }

    fn read_json<T: DeserializeOwned>(
        &self,
        sql: &str,
        of: impl rusqlite::Params,
    ) -> Result<Vec<T>, StoreError> {
        let mut query = self.db.prepare_cached(sql)?;
        let mut rows = query.query(of)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(from_json(&row.get::<_, String>(0)?)?);
        }
        Ok(found)
    }
}

fn add_message(transaction: &Transaction<'_>, session: &str, message: &Message) -> Result<(), StoreError> {
    let sql = "INSERT INTO message (session, json) VALUES (?1, ?2)";
    transaction.execute(sql, params![session, to_json(message)?])?;
    Ok(())
}

fn session_row(row: &Row<'_>) -> Result<SessionRow, StoreError> {
    Ok(SessionRow {
        id: row.get(0)?,
        repo: row.get(1)?,
        title: row.get(2)?,
        model: row.get::<_, Option<String>>(3)?.as_deref().map(from_json).transpose()?,
        draft: row.get(4)?,
        untold: row.get(5)?,
        changed_at: row.get(6)?,
    })
}

fn path_of(bytes: Vec<u8>) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt as _;
        std::ffi::OsString::from_vec(bytes).into()
    }
    #[cfg(not(unix))]
    {
        String::from_utf8_lossy(&bytes).into_owned().into()
    }
}

fn to_json(value: &impl Serialize) -> Result<String, StoreError> {
    Ok(serde_json::to_string(value)?)
}

fn from_json<T: DeserializeOwned>(json: &str) -> Result<T, StoreError> {
    Ok(serde_json::from_str(json)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_an_earlier_version_keeps_its_turns() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("heph.db");
        let mut store = Store::open(&file).unwrap();
        store.open_repo("r", folder.path(), 0).unwrap();
        let session = store.new_session("r", None, 0).unwrap();
        let prompt = "say \"it\" and {\"Prompt\": 1}";
        let opening = turn::Opening::Prompt(prompt.into());
        let row =
            TurnRow { number: 1, opening, settings: Default::default(), gates: Vec::new(), ending: None };
        store.open_turn(&session, &row, &Message::Prompt { turn: 1, text: prompt.into() }).unwrap();
        store.db.execute("UPDATE turn SET opening = ?1", [prompt]).unwrap();
        store.db.pragma_update(None, "user_version", 1).unwrap();
        drop(store);
        let store = Store::open(&file).unwrap();
        assert_eq!(
            store.latest_turn(&session.id).unwrap().unwrap().opening,
            turn::Opening::Prompt(prompt.into())
        );
        drop(store);
        Store::open(&file).unwrap();
        Connection::open(&file).unwrap().pragma_update(None, "user_version", 3).unwrap();
        assert!(matches!(Store::open(&file), Err(StoreError::Newer(3))));
    }
}
