use std::path::Path;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::{PATIENCE, poll};

/// The key under which WebDriver hands out elements (W3C WebDriver, 12.1).
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A window of the app, driven over WebDriver.
pub struct Window {
    url: String,
    agent: ureq::Agent,
}

/// An element of the page.
pub struct Element<'a> {
    window: &'a Window,
    id: String,
}

impl Window {
    /// Lets the driver at `driver` start the app and takes hold of its window.
    ///
    /// # Errors
    /// What the driver answered.
    pub fn open(driver: &str, binary: &str, arguments: &[&str]) -> Result<Window, String> {
        let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE));
        let agent: ureq::Agent = config.build().into();
        let mut window = Window { url: driver.to_owned(), agent };
        let capabilities = json!({"webkitgtk:browserOptions": {"binary": binary, "args": arguments}});
        let session = window.post("/session", json!({"capabilities": {"alwaysMatch": capabilities}}))?;
        let id = session["sessionId"].as_str().ok_or_else(|| format!("no session: {session}"))?;
        window.url = format!("{driver}/session/{id}");
        Ok(window)
    }

    fn get(&self, path: &str) -> Result<Value, String> {
        self.answer(self.agent.get(format!("{}{path}", self.url)).call())
    }

    fn post(&self, path: &str, body: Value) -> Result<Value, String> {
        self.answer(self.agent.post(format!("{}{path}", self.url)).send_json(body))
    }

    fn answer(&self, answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<Value, String> {
        // A screenshot is larger than what is read without a limit of one's own.
        let mut answer = answer.map_err(|error| error.to_string())?;
        let body = answer.body_mut().with_config().limit(64 << 20).read_json::<Value>();
        match body.map_err(|error| error.to_string())?["value"].take() {
            error if error["error"].is_string() => Err(error.to_string()),
            value => Ok(value),
        }
    }

    /// The elements that match now.
    pub fn all(&self, css: &str) -> Vec<Element<'_>> {
        let found = self.post("/elements", json!({"using": "css selector", "value": css}));
        let element = |found: &Value| Some(Element { window: self, id: found[ELEMENT].as_str()?.to_owned() });
        found.unwrap_or_default().as_array().into_iter().flatten().filter_map(element).collect()
    }

    /// The first element that matches, when there is one.
    pub fn find(&self, css: &str) -> Element<'_> {
        self.wait(css, || self.all(css).into_iter().next())
    }

    /// Waits until `ready` gives something; what the page says is part of the failure if it never does.
    pub fn wait<T>(&self, what: &str, ready: impl FnMut() -> Option<T>) -> T {
        poll(ready).unwrap_or_else(|| {
            let page = self.run("return document.body.innerText", json!([]));
            panic!("{what} did not come; the page says:\n{}", page.as_str().unwrap_or_default())
        })
    }

    /// Runs a script in the page and gives what it returns.
    pub fn run(&self, script: &str, arguments: Value) -> Value {
        self.post("/execute/sync", json!({"script": script, "args": arguments})).expect("a script runs")
    }

    /// Asks the engine as the page does.
    pub fn call(&self, method: &str, params: Value) -> Value {
        let script = "const [method, params, done] = arguments;
            window.__TAURI_INTERNALS__.invoke('call', { method, params })
                .then((result) => done({ result }), (error) => done({ error }))";
        let answer = self.post("/execute/async", json!({"script": script, "args": [method, params]}));
        let mut answer = answer.expect("the page answers");
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].take()
    }

    /// Makes the window's content so many pixels large.
    pub fn resize(&self, (width, height): (u32, u32)) {
        let has_size = || self.run("return [innerWidth, innerHeight]", json!([])) == json!([width, height]);
        // The driver answers when the size changes, so it must not be asked for the one that is there.
        if !has_size() {
            self.post("/window/rect", json!({"width": width, "height": height})).expect("a window to resize");
            self.wait("the new size", || has_size().then_some(()));
        }
    }

    /// Writes a picture of the window's content, once what was last asked of the page is painted.
    pub fn screenshot(&self, file: &Path) {
        let painted = "const done = arguments[0];
            const ends = (animation) => animation.effect.getComputedTiming().iterations !== Infinity;
            Promise.all(document.getAnimations().filter(ends).map((animation) => animation.finished.catch(() => {})))
                .then(() => document.fonts.ready)
                .then(() => requestAnimationFrame(() => requestAnimationFrame(() => done())))";
        self.post("/execute/async", json!({"script": painted, "args": []})).expect("a painted page");
        let picture = self.get("/screenshot").expect("a screenshot");
        std::fs::write(file, BASE64_STANDARD.decode(picture.as_str().unwrap()).unwrap()).unwrap();
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // Ends the app; the driver ends with the desk, and the app with it, if this fails.
        let _ = self.agent.delete(&self.url).call();
    }
}

impl Element<'_> {
    fn path(&self, rest: &str) -> String {
        format!("/element/{}/{rest}", self.id)
    }

    /// The first element inside this one that matches, when there is one.
    pub fn find(&self, css: &str) -> Self {
        let find = || {
            let found =
                self.window.post(&self.path("element"), json!({"using": "css selector", "value": css}));
            Some(Element { window: self.window, id: found.ok()?[ELEMENT].as_str()?.to_owned() })
        };
        self.window.wait(css, find)
    }

    /// Clicks it, once it can be clicked.
    pub fn click(&self) {
        self.window.wait("a click", || self.try_click().then_some(()));
    }

    /// Clicks it if it is there, in view and not covered; whether it did.
    pub fn try_click(&self) -> bool {
        self.window.post(&self.path("click"), json!({})).is_ok()
    }

    /// Types into it. WebKit's driver drops line breaks.
    pub fn enter(&self, text: &str) {
        self.window.post(&self.path("value"), json!({"text": text})).expect("an element to type into");
    }

    /// The text that is seen of it. Asked as a property, because WebKit's driver itself takes a text that may
    /// be cut short (`text-overflow`) for hidden.
    pub fn text(&self) -> String {
        self.property("innerText").as_str().unwrap_or_default().to_owned()
    }

    /// A property of it, as the page's scripts see it.
    pub fn property(&self, name: &str) -> Value {
        self.window.get(&self.path(&format!("property/{name}"))).unwrap_or_default()
    }
}
