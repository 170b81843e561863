use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// So long a test waits for something that must come; only a hang takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running `heph-serve`, and everything it said that was not asked for.
pub struct Client {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    notifications: VecDeque<Value>,
    requests: u64,
}

/// The result of a call, or its error object.
pub type Answer = Result<Value, Value>;

impl Client {
    /// Starts `binary` with its data in `data`, and a config file there. It knows no editor of the user's.
    pub fn start(binary: &str, data: &Path) -> Client {
        Client::start_with_editor(binary, data, "")
    }

    /// The same with this command as the user's editor.
    pub fn start_with_editor(binary: &str, data: &Path, editor: &str) -> Client {
        let mut process = Command::new(binary)
            .arg("--data")
            .arg(data)
            .arg("--config")
            .arg(data.join("config.toml"))
            .env("VISUAL", editor)
            .env_remove("EDITOR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("heph-serve starts");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("its output"));
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
                if send.send(value).is_err() {
                    return;
                }
            }
        });
        Client { process, input, lines, notifications: VecDeque::new(), requests: 0 }
    }

    /// Sends one raw line and returns the next reply.
    pub fn raw(&mut self, line: &str) -> Value {
        let input = self.input.as_mut().expect("standard input is open");
        writeln!(input, "{line}").expect("heph-serve reads");
        loop {
            let value = self.next();
            if value.get("method").is_none() {
                return value;
            }
            self.notifications.push_back(value);
        }
    }

    /// Calls a method.
    pub fn try_call(&mut self, method: &str, params: Value) -> Answer {
        self.requests += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.requests, "method": method, "params": params });
        let reply = self.raw(&request.to_string());
        assert_eq!(reply["id"], json!(self.requests), "{reply}");
        match reply.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(reply["result"].clone()),
        }
    }

    /// Calls a method that must succeed.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The next notification of any kind.
    pub fn notification(&mut self) -> Value {
        self.notifications.pop_front().unwrap_or_else(|| self.next())
    }

    /// The params of the next notification of this kind; those before it are passed over.
    pub fn wait(&mut self, method: &str) -> Value {
        self.wait_for(method, |_| true)
    }

    /// The params of the next notification of this kind that fits.
    pub fn wait_for(&mut self, method: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let notification = self.notification();
            if notification["method"] == method && fits(&notification["params"]) {
                return notification["params"].clone();
            }
        }
    }

    /// Kills the process, as a power failure would.
    pub fn kill(&mut self) {
        self.process.kill().expect("the process was alive");
        self.process.wait().expect("the process is dead");
    }

    /// Closes standard input, and waits until the process has ended by itself.
    pub fn close(&mut self) -> bool {
        self.input = None;
        self.process.wait().expect("the process ends").success()
    }

    /// Waits until something holds that the protocol does not tell.
    pub fn until(&self, what: &str, holds: impl Fn() -> bool) {
        let started = Instant::now();
        while !holds() {
            assert!(started.elapsed() < PATIENCE, "waited too long: {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn next(&self) -> Value {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(value) => value,
            Err(RecvTimeoutError::Timeout) => panic!("heph-serve said nothing for {PATIENCE:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("heph-serve has ended"),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
