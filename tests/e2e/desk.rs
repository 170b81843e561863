use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
};

use tempfile::TempDir;

use crate::{poll, wd::Window};

/// A desktop of a test's own: display, session bus, window manager, WebDriver and home folder. All of it ends
/// with the value, also when the test fails.
pub struct Desk {
    processes: Vec<Child>,
    home: TempDir,
    display: String,
    bus: String,
    driver: u16,
}

impl Desk {
    /// Starts everything but the app.
    pub fn start() -> Desk {
        let home = tempfile::tempdir().unwrap();
        let run = home.path().join("run");
        fs::create_dir(&run).unwrap();
        // GLib refuses a runtime folder that others can read.
        fs::set_permissions(&run, fs::Permissions::from_mode(0o700)).unwrap();
        let mut desk =
            Desk { processes: Vec::new(), home, display: String::new(), bus: String::new(), driver: 0 };

        // The server takes a free display, and writes its number to file descriptor 1.
        let mut server = Command::new("Xvfb");
        server.args(["-displayfd", "1", "-screen", "0", "1400x1000x24", "-nolisten", "tcp"]);
        desk.display = format!(":{}", desk.spawn_and_read_line(&mut server));
        let mut bus = Command::new("dbus-daemon");
        bus.args(["--session", "--nofork", "--print-address=1"]);
        bus.arg(format!("--address=unix:dir={}", run.display()));
        desk.bus = desk.spawn_and_read_line(&mut bus);
        desk.spawn(Command::new("openbox").stdout(Stdio::null()).stderr(Stdio::null()));

        desk.driver = free_port();
        let log = File::create(desk.home.path().join("app.log")).unwrap();
        let mut driver = Command::new("WebKitWebDriver");
        driver.arg(format!("--port={}", desk.driver)).stdout(Stdio::null()).stderr(log);
        desk.spawn(&mut driver);
        poll(|| TcpStream::connect(("127.0.0.1", desk.driver)).ok()).expect("a WebDriver that listens");
        desk
    }

    /// The home folder that the app sees.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Opens the app's window under the control of the driver.
    pub fn open(&self, arguments: &[&str]) -> Window {
        let arguments = [&["--automation"], arguments].concat();
        Window::open(&format!("http://127.0.0.1:{}", self.driver), binary(), &arguments)
            .unwrap_or_else(|error| panic!("the window did not open: {error}\n{}", self.log()))
    }

    /// Starts the app by itself.
    pub fn start_app(&mut self, arguments: &[&str]) -> u32 {
        self.spawn(Command::new(binary()).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()))
    }

    /// What the app wrote to standard error.
    pub fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("app.log")).unwrap_or_default()
    }

    fn spawn_and_read_line(&mut self, command: &mut Command) -> String {
        self.spawn(command.stdout(Stdio::piped()).stderr(Stdio::null()));
        let output = self.processes.last_mut().and_then(|child| child.stdout.as_mut()).unwrap();
        let mut line = String::new();
        BufReader::new(output.by_ref()).read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn spawn(&mut self, command: &mut Command) -> u32 {
        let home = self.home.path();
        let xdg = |name: &str| -> PathBuf { home.join(name) };
        command
            .env("HOME", home)
            .env("XDG_RUNTIME_DIR", xdg("run"))
            .env("XDG_DATA_HOME", xdg("data"))
            .env("XDG_CONFIG_HOME", xdg("config"))
            .env("XDG_CACHE_HOME", xdg("cache"))
            .env("DISPLAY", &self.display)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus)
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            // There is neither an accessibility bus nor a settings daemon. WebKit's renderer is left as it is:
            // without its GPU buffers the driver's screenshots never come.
            .env("NO_AT_BRIDGE", "1")
            .env("GSETTINGS_BACKEND", "memory")
            .stdin(Stdio::null());
        let child = command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", command.get_program()));
        let id = child.id();
        self.processes.push(child);
        id
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // The display goes last, so that nothing is left without one while it still works.
        for process in self.processes.iter_mut().rev() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// A port that is free now, and that no other test of this process was given: the system may offer one
/// again before its driver listens. That another process takes it meanwhile is unlikely enough.
fn free_port() -> u16 {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    std::iter::repeat_with(free).find(|port| given.insert(*port)).unwrap()
}

fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_heph")
}
