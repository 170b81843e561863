import type { ConstraintView, FileView, GateView, HunkView, Message, ReproposedView, SetAsideView, ToolCall } from "$lib/bindings/wire";
import { countsOf, hunkOf, rowsOf } from "./rows";

/** The recorded repository: a small service whose signing key is in its source. */

export const PROMPT =
  "The JWT secret is hard-coded in `src/auth.rs`. Take it out of the source, and make start-up fail clearly when it is missing. While you are there: a token that cannot be decoded should be a 401, not a panic.";

export const OPENING_WORDS =
  "The secret is a byte literal in `signing_key`, and it is read again on every login. I will look at who calls it and how start-up is wired before I change anything.";

export const MIDDLE_WORDS =
  "Both edits compile. What is left is start-up: `main` should ask for the key before it binds the port, so that a missing secret stops the process instead of the first login.";

export const SUMMARY_1 =
  "The key comes from `JWT_SECRET` in the environment, start-up asks for it before the port is open, and a token that cannot be decoded is an error that the handler turns into a 401.";

export const SUMMARY_2 = `The key now comes from \`gatehouse.toml\`, next to the database password, and \`signing_key\` takes the config instead of looking anywhere itself. Start-up reads the file once and stops with its path and the missing field when there is no secret.

The web client signs the user out on a 401 instead of trying again. I did not touch how keys are rotated.`;

export const TOLD = `The user reviewed round 1. 1 of 3 hunks accepted, 2 rejected.

src/auth.rs
  hunk 1 (lines 23-31): REJECTED
    your rationale: "Read the JWT secret from the environment so the key never
      lands in the binary."
    user: "put it in the config file instead, not the environment"
  hunk 2 (lines 58-70): accepted

src/main.rs
  hunk 1 (lines 10-25): REJECTED
    your rationale: "Ask for the key before the port is open, so that a missing
      secret stops the process instead of the first login."`;

const REJECTED = `
-    let secret = b"hunter2";
-    EncodingKey::from_secret(secret)
+    let secret = std::env::var("JWT_SECRET")
+        .expect("JWT_SECRET must be set");
+    EncodingKey::from_secret(secret.as_bytes())`;

function authRound1(): HunkView[] {
  return [
    hunkOf("auth-1", 1, [23, 23], "fn signing_key", "Read the JWT secret from the environment so the key never lands in the binary.", `
 /// Signs every access token, on all instances.
 pub fn signing_key() -> EncodingKey {
     // TODO: not in the source, please${REJECTED}
 }
 
 /// What an access token carries.`),
    hunkOf("auth-2", 2, [57, 58], "fn decode_claims", "Return an error when a token cannot be decoded, so a bad token is a 401 and not a panic.", `
 
 /// Reads the claims of a token that a client sent.
-pub fn decode_claims(token: &str, key: &DecodingKey) -> Claims {
-    decode::<Claims>(token, key, &Validation::default())
-        .unwrap()
+pub fn decode_claims(token: &str, key: &DecodingKey) -> Result<Claims, AuthError> {
+    let data = decode::<Claims>(token, key, &Validation::default())
+        .map_err(AuthError::Token)?;
+    Ok(data)
         .claims
 }
 
 /// Who may call the admin routes.
 pub fn is_admin(claims: &Claims) -> bool {`),
  ];
}

function mainRound1(): HunkView {
  return hunkOf("main-1", 1, [10, 10], "async fn main", "Ask for the key before the port is open, so that a missing secret stops the process instead of the first login.", `
 #[tokio::main]
 async fn main() -> anyhow::Result<()> {
     tracing_subscriber::fmt::init();
+    // Stop here, before the port is open, if there is no key to sign with.
+    let key = auth::signing_key();
+    let state = AppState { key: Arc::new(key) };
+
     let app = Router::new()
         .route("/login", post(login))
-        .route("/refresh", post(refresh));
+        .route("/refresh", post(refresh))
+        .route("/health", get(health))
+        .layer(TraceLayer::new_for_http())
+        .with_state(state);
 
     let addr = SocketAddr::from(([0, 0, 0, 0], 8080));
     axum::serve(TcpListener::bind(addr).await?, app).await?;`);
}

const CONFIG = `//! What \`gatehouse.toml\` holds. Read once at start-up; there is no reload.

use std::path::Path;

use anyhow::{ensure, Context, Result};
use secrecy::SecretString;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct Config {
    pub database: Database,
    pub jwt: Jwt,
}

#[derive(Debug, Deserialize)]
pub struct Jwt {
    /// At least 32 bytes; \`openssl rand -hex 32\` makes one.
    pub secret: SecretString,
}

impl Config {
    pub fn load(path: &Path) -> Result<Config> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let config: Config = toml::from_str(&text)
            .with_context(|| format!("{} is not what gatehouse reads", path.display()))?;
        ensure!(
            config.jwt.secret.expose().len() >= 32,
            "{}: jwt.secret is shorter than 32 bytes",
            path.display(),
        );
        Ok(config)
    }
}`;

function file(path: string, change: FileView["change"], hunks: HunkView[]): FileView {
  const rows = hunks.flatMap((hunk) => hunk.rows ?? []);
  return { path, change, editable: change !== "deleted" && change !== "binary", counts: countsOf(rows), hunks };
}

export function round1(): FileView[] {
  return [file("src/auth.rs", "modified", authRound1()), file("src/main.rs", "modified", [mainRound1()])];
}

/** What round 1 of the turn left accepted. */
export function accepted(): FileView[] {
  return [file("src/auth.rs", "modified", authRound1().slice(1))];
}

/** Changes without lines, and hunks of which there is something to know. */
export function oddities(): FileView[] {
  const bare = (id: string, number: number, what: string): HunkView => ({
    id, number, what, old: [0, 0], new: [0, 0], header: "", context: "", row_count: 0, split_at: [], changes_your_edit: false,
    counts: { added: 0, removed: 0 }, verdict: null, comments: [],
  });
  const hidden = hunkOf("hidden", 2, [41, 41], "fn may_enter", "Name the two roles that may enter.", `
 fn may_enter(user: &User) -> bool {
-    user.role == "admin"
+    user.role == "admin" || user.role == "\u202eresu\u2066 // checked\u2069\u200b"
 }`);
  const gaps = hunkOf("gaps", 1, [12, 12], "impl Limits", "Take all limits from the config.", `
 impl Limits {
     pub fn of(config: &Config) -> Limits {
-        let per_minute = 60;
+        let per_minute = config.limits.per_minute;
         let window = Duration::from_secs(60);
-        let burst = 10;
+        let burst = config.limits.burst;
         let keys = KeyedStore::new();
-        Limits { per_minute, window, burst, keys }
+        Limits { per_minute, window, burst, keys, strict: config.limits.strict }
     }
 }`);
  const copy = hunkOf("copy", 1, [10, 10], "fn main", "Read the secret from the environment.", `
 fn main() {
+    let secret = std::env::var("JWT_SECRET").expect("JWT_SECRET must be set");
 }`);
  copy.copy_of = { path: "src/auth.rs", round: 1 };
  const again = hunkOf("again", 1, [4, 4], "class Session", undefined, `
 export class Session {
-  retries = 3;
+  retries = 5;
 }`);
  again.changes_your_edit = true;
  again.answers = { round: 1, rows: rowsOf("\n-  retries = 3;\n+  retries = 5;", [5, 5]), comments: ["three is enough"], unchanged: true };
  return [
    { ...file("src/auth/token.rs", "renamed", [bare("rename", 1, "renamed from src/token.rs"), hidden]), old_path: "src/token.rs" },
    { ...file("scripts/release.sh", "mode", [bare("mode", 1, "mode 644 -> 755")]), marked: "runs on your machine", editable: false },
    { ...file("docs/tokens.md", "line_endings", [bare("ends", 1, "line endings")]), editable: false },
    { ...file("assets/logo.png", "binary", [bare("binary", 1, "binary")]) },
    { ...file("latest", "symlink", [bare("symlink", 1, "symlink")]), editable: false },
    { ...file("src/old.rs", "deleted", [bare("deleted", 1, "file deleted")]) },
    file("src/bin/check.rs", "modified", [copy]),
    file("src/limits.rs", "modified", [gaps]),
    file("web/src/session.ts", "modified", [again]),
  ];
}

export function round2(comment: string): FileView[] {
  const auth = hunkOf("auth-3", 1, [23, 23], "fn signing_key", "Take the key from the config file, which already holds the database password, so that nothing is read from the environment.", `
 /// Signs every access token, on all instances.
-pub fn signing_key() -> EncodingKey {
-    // TODO: not in the source, please
-    let secret = b"hunter2";
-    EncodingKey::from_secret(secret)
+pub fn signing_key(config: &Config) -> EncodingKey {
+    let secret = config.jwt.secret.expose();
+    EncodingKey::from_secret(secret.as_bytes())
 }
 
 /// What an access token carries.`);
  auth.answers = { round: 1, rows: rowsOf(REJECTED, [26, 26]), comments: [comment], unchanged: false };
  return [
    file("gatehouse.example.toml", "modified", [
      hunkOf("toml-1", 1, [6, 6], "[database]", "Show where the key goes, with a value that start-up refuses.", `
 password = "change me"
 
+[jwt]
+secret = "change me, 32 bytes or more"
+`),
    ]),
    file("src/auth.rs", "modified", [auth]),
    file("src/config.rs", "added", [
      hunkOf("config-1", 1, [0, 1], "", "Give the secret one place of its own, checked when it is read, so that start-up can name the file and the field that is missing.", CONFIG.split("\n").map((line) => `+${line}`).join("\n")),
    ]),
    file("src/main.rs", "modified", [
      hunkOf("main-2", 1, [10, 10], "async fn main", "Read the config once, before the port is open.", `
 #[tokio::main]
 async fn main() -> anyhow::Result<()> {
     tracing_subscriber::fmt::init();
+    let config = Config::load(Path::new("gatehouse.toml"))?;
+    let key = auth::signing_key(&config);
     let app = Router::new()`),
      hunkOf("main-3", 2, [38, 40], "async fn login", "Hand the key on instead of making it again on every login.", `
     let claims = Claims::for_user(&user);
-    let key = auth::signing_key();
-    let token = encode(&Header::default(), &claims, &key)?;
+    let token = encode(&Header::default(), &claims, &state.key)?;
     Ok(Json(Tokens { access: token }))`),
    ]),
    file("web/src/session.ts", "modified", [
      hunkOf("session-1", 1, [4, 4], "class SignedOut", undefined, `
+/** The server no longer knows this session. */
+export class SignedOut extends Error {}
+
 export interface Session {`),
      hunkOf("session-2", 2, [38, 41], "async function refresh", "A 401 means that the token is no good, so trying again cannot help.", `
 export async function refresh(session: Session): Promise<Session> {
-  const res = await fetch("/refresh", retry(3));
+  const res = await fetch("/refresh", { credentials: "include" });
+  if (res.status === 401) throw new SignedOut();
   return { ...session, ...(await res.json()) };`),
    ]),
  ];
}

export function reproposed(): ReproposedView {
  const hunk = mainRound1();
  return { id: "main-1-again", path: "src/main.rs", what: hunk.what, round: 1, share: 1, rows: hunk.rows ?? [], matched: (hunk.rows ?? []).flatMap((row, index) => (row.kind === "+" ? [index] : [])), askable: true, rationale: hunk.rationale ?? null };
}

/** What was rejected in round 1. */
export function constraints(): ConstraintView[] {
  return [
    { id: "constraint-1", path: "src/auth.rs", round: 1, comments: ["put it in the config file instead, not the environment"], lifted: false },
    { id: "constraint-2", path: "src/main.rs", round: 1, comments: [], lifted: false },
  ];
}

export const SET_ASIDE: SetAsideView = {
  path: "src/lib.rs",
  reason: "You changed this region after the turn began. Your text stands, and the model has read it.",
};

export const BUILD_OUTPUT = `   Compiling gatehouse v0.9.2
error[E0061]: this function takes 0 arguments but 1 argument was supplied
  --> src/main.rs:15:15
   |
15 |     let key = auth::signing_key(&config);
   |               ^^^^^^^^^^^^^^^^^ ------- unexpected argument of type \`&Config\`
   |
note: function defined here
  --> src/auth.rs:24:8
   |
24 | pub fn signing_key() -> EncodingKey {
   |        ^^^^^^^^^^^
error: could not compile \`gatehouse\` (bin "gatehouse") due to 1 previous error`;

export function gates(result: GateView["result"]): GateView[] {
  const seconds = (value: number) => (result === "green" ? value : null);
  return [
    { name: "fmt", result, seconds: seconds(0.4), output: "", put_back: [] },
    { name: "clippy", result, seconds: seconds(6.1), output: "    Checking gatehouse v0.9.2\n    Finished `dev` profile in 6.02s\n", put_back: [] },
    { name: "test", result, seconds: seconds(12.3), output: "running 41 tests\n.........................................\ntest result: ok. 41 passed; 0 failed\n", put_back: [] },
  ];
}

export const COMMANDS = [
  { name: "fmt", run: "cargo fmt --check" },
  { name: "clippy", run: "cargo clippy --all-targets -- -D warnings" },
  { name: "test", run: "cargo test --workspace" },
];

function call(round: number, name: string, target: string, outcome: string, millis: number, edit?: { why: string; added: number; removed: number }): ToolCall {
  return {
    turn: 5, round, name, target, outcome, failed: false, millis, detail: `${outcome}\n`,
    rationale: edit?.why ?? null,
    counts: edit === undefined ? null : { added: edit.added, removed: edit.removed },
  };
}

export function calls(round: number): ToolCall[] {
  return [
    call(round, "search", "signing_key|hunter2", "4 matches in 3 files", 90),
    call(round, "read", "src/auth.rs", "112 lines", 80),
    call(round, "read", "src/main.rs", "41 lines", 70),
    call(round, "edit", "src/auth.rs", "3 lines for 2", 12, { why: "Read the JWT secret from the environment so the key never lands in the binary.", added: 3, removed: 2 }),
    call(round, "edit", "src/auth.rs", "5 lines for 3", 11, { why: "Return an error when a token cannot be decoded, so a bad token is a 401 and not a panic.", added: 5, removed: 3 }),
    call(round, "run", "cargo check --all-targets", "exit 0", 4200),
  ];
}

/** An earlier turn of the session, long ended. */
export function earlierTurn(): Message[] {
  return [
    { kind: "prompt", turn: 4, text: "Add a refresh endpoint" },
    { kind: "model", turn: 4, round: 1, text: "`/refresh` takes the refresh token and gives a new access token." },
    { kind: "reviewed", turn: 4, round: 1, accepted: 4, rejected: 0, undecided: 0, comments: 0, reproposed: 0 },
    {
      kind: "ended", turn: 4, ending: "applied", can_undo: false, rounds: 1, reproposals: 0, set_aside: [],
      applied: [{ path: "src/auth.rs", hunks: 2 }, { path: "src/main.rs", hunks: 2 }],
      message: "Applied 4 hunks in 2 files",
    },
  ];
}
