//! A real browser, without a window: Chromium, driven by the Chrome DevTools Protocol over two pipes.
//!
//! Nothing is installed: `SEQCON_CHROMIUM` names the program, else it is looked for under its usual names; where
//! there is none, that is said, and the caller skips its test (`SEQCON_REQUIRE_CHROMIUM=1` makes that a failure).
//! Every wait has a limit. The browser has a profile of its own in a temporary directory, and is ended with the
//! value.

use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take. Generous: machines that run tests are busy.
const LIMIT: Duration = Duration::from_secs(120);
/// Until what was scrolled or drawn is where the mouse will find it.
pub const FRAMES: &str = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";
const USUAL_NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// One browser at a time: each takes a few hundred megabytes.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A browser with one page.
pub struct Browser {
    child: Child,
    commands: File,
    messages: Receiver<Value>,
    /// What the page has told without being asked.
    events: Vec<Value>,
    session: Option<String>,
    last_id: u64,
    directory: TempDir,
    _turn: MutexGuard<'static, ()>,
}

/// The browser's program, if there is one.
fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("SEQCON_CHROMIUM") {
        return Some(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH")?;
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    USUAL_NAMES.iter().flat_map(|name| directories.iter().map(move |d| d.join(name))).find(|file| file.is_file())
}

impl Browser {
    /// Starts a browser; if there is none, says so, visibly, and the caller skips its test.
    pub fn start() -> Option<Browser> {
        let Some(program) = program() else {
            let required = std::env::var_os("SEQCON_REQUIRE_CHROMIUM").is_some_and(|value| value != "0");
            assert!(!required, "SEQCON_REQUIRE_CHROMIUM is set, and there is no Chromium");
            eprintln!("SKIPPED: no Chromium ({}; SEQCON_CHROMIUM names another)", USUAL_NAMES.join(", "));
            return None;
        };
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = tempfile::tempdir().expect("a temporary directory");
        let [to, from] = ["to-browser", "from-browser"].map(|name| directory.path().join(name));
        let made = Command::new("mkfifo").args([&to, &from]).status().expect("mkfifo can be run");
        assert!(made.success(), "mkfifo: {made}");
        // Opened for reading and writing, so that opening does not wait for the other side.
        let open = |path: &Path| File::options().read(true).write(true).open(path).expect("the pipe can be opened");
        let (commands, answers) = (open(&to), open(&from));
        let log = File::create(directory.path().join("log")).expect("a log");
        let child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<"$TO_BROWSER" 4>"$FROM_BROWSER""#])
            .arg(&program)
            // The page is ours, and a test may be run by root, for whom there is no sandbox.
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-extensions",
            ])
            .args(["--force-prefers-reduced-motion", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", directory.path().join("profile").display()))
            .arg("about:blank")
            .env("TO_BROWSER", &to)
            .env("FROM_BROWSER", &from)
            .env("HOME", directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            // A group of its own: all its processes can be ended.
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let mut browser = Browser {
            child,
            commands,
            messages: read_messages(answers),
            events: Vec::new(),
            session: None,
            last_id: 0,
            directory,
            _turn: turn,
        };
        browser.attach();
        Some(browser)
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attached = self.call("Target.attachToTarget", &json!({ "targetId": target["targetId"], "flatten": true }));
        self.session = Some(attached["sessionId"].as_str().expect("a session").to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
        self.resize(1500, 1150);
    }

    /// Sends a command and waits for its answer.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message).expect("JSON");
        bytes.push(0);
        self.commands.write_all(&bytes).expect("the browser takes commands");
        let deadline = Instant::now() + LIMIT;
        loop {
            let message = self.next_message(deadline, method);
            if message["id"] == json!(id) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn next_message(&mut self, deadline: Instant, what: &str) -> Value {
        loop {
            let left = deadline.saturating_duration_since(Instant::now()).min(Duration::from_secs(1));
            match self.messages.recv_timeout(left) {
                Ok(message) => return message,
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(error) => panic!("no answer to {what} in {LIMIT:?} ({error}); {}", self.log()),
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                panic!("the browser has ended ({status}) before it answered {what}; {}", self.log());
            }
        }
    }

    fn log(&self) -> String {
        let log = fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        format!("its last words:\n{}", lines[lines.len().saturating_sub(30)..].join("\n"))
    }

    /// The size of the window.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// What the system is said to prefer: `light` or `dark`.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }, { "name": "prefers-reduced-motion", "value": "reduce" }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Loads a file, as someone does who opens it with a double click.
    pub fn open(&mut self, path: &Path, fragment: &str) {
        let path = fs::canonicalize(path).expect("the file exists");
        let url = format!("file://{}{fragment}", path.display());
        self.call("Page.navigate", &json!({ "url": url }));
        self.wait_until(
            "document.readyState === 'complete' && window.seqconReport !== undefined",
            "the report is drawn",
        );
    }

    /// The value of an expression.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", &asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn wait_until(&mut self, expression: &str, what: &str) {
        let deadline = Instant::now() + LIMIT;
        while self.evaluate(expression) != json!(true) {
            if Instant::now() > deadline {
                panic!("waited {LIMIT:?} in vain until {what}; {:?}; {}", self.problems(), self.log());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Moves the mouse there, presses and releases its button.
    pub fn click_at(&mut self, x: f64, y: f64) {
        for (kind, count) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 1)] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": count });
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Clicks on the element that a selector finds.
    pub fn click(&mut self, selector: &str) {
        let place = self.evaluate(&format!(
            "(async () => {{ const e = document.querySelector({}); e.scrollIntoView({{block: 'center'}}); await {FRAMES}; const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()",
            json!(selector)
        ));
        self.click_at(place[0].as_f64().expect("x"), place[1].as_f64().expect("y"));
        self.evaluate(FRAMES);
    }

    /// Presses a key: a character, or the name of one that writes nothing.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        let down = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        self.call("Input.dispatchKeyEvent", &json!({ "type": down, "key": key, "text": text }));
        self.call("Input.dispatchKeyEvent", &json!({ "type": "keyUp", "key": key }));
    }

    /// Keeps a picture of what is seen.
    pub fn screenshot(&mut self, path: &Path) {
        let picture = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        let bytes = from_base64(picture["data"].as_str().expect("a picture"));
        fs::create_dir_all(path.parent().expect("in a directory")).expect("the directory can be made");
        fs::write(path, bytes).expect("the picture can be written");
    }

    /// Exceptions, errors and warnings so far.
    pub fn problems(&self) -> Vec<String> {
        let is_bad = |level: &Value| level == "error" || level == "warning";
        let problem = |event: &&Value| {
            let parameters = &event["params"];
            match event["method"].as_str() {
                Some("Runtime.exceptionThrown") => true,
                Some("Runtime.consoleAPICalled") => is_bad(&parameters["type"]) || parameters["type"] == "assert",
                Some("Log.entryAdded") => is_bad(&parameters["entry"]["level"]),
                Some("Page.javascriptDialogOpening") => true,
                _ => false,
            }
        };
        self.events.iter().filter(problem).map(ToString::to_string).collect()
    }

    /// The addresses of everything that was asked for.
    pub fn requests(&self) -> Vec<String> {
        let requests = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        requests.map(|event| event["params"]["request"]["url"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The whole group; then nothing is left to wait for.
        let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.child.id())]).status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Messages end with NUL.
fn read_messages(answers: File) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut answers = BufReader::new(answers);
        let mut message = Vec::new();
        while answers.read_until(0, &mut message).is_ok_and(|length| length > 0) {
            let value = serde_json::from_slice(&message[..message.len() - 1]).expect("the browser speaks JSON");
            if sender.send(value).is_err() {
                return;
            }
            message.clear();
        }
    });
    receiver
}

fn from_base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        other => panic!("{other} in base64"),
    };
    let digits: Vec<u32> = text.bytes().filter(|&byte| byte != b'=').map(value).collect();
    let group = |group: &[u32]| {
        let bits = group.iter().chain([0; 3].iter()).take(4).fold(0, |bits, digit| bits << 6 | digit);
        bits.to_be_bytes()[1..group.len()].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}
