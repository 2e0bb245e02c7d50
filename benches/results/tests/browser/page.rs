//! A page that is open in the browser, and what was heard of it.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use headless_chrome::Tab;
use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::protocol::cdp::{Input, Log, Network, Runtime};
use libtest_mimic::Failed;
use serde::de::DeserializeOwned;

use crate::chromium::Chromium;

/// Functions that are called in the page.
const SCRIPT: &str = include_str!("look.js");

/// Written to the console last, to know that all before it was heard.
const END: &str = "warpfold: the end";

/// An open page.
pub struct Page {
    tab: Arc<Tab>,
    heard: Arc<Mutex<Heard>>,
}

#[derive(Default)]
struct Heard {
    faults: Vec<String>,
    /// How often [`END`] was heard.
    ends: usize,
}

impl Page {
    /// Opens a page and waits until it is loaded.
    pub fn open(chromium: &Chromium, html: &str) -> Result<Self, Failed> {
        let file = chromium.profile.path().join("report.html");
        std::fs::write(&file, html)?;
        let url = format!("file://{}", file.display());
        let tab = chromium.browser.new_tab()?;
        tab.enable_runtime()?;
        tab.enable_log()?;
        tab.call_method(Network::Enable {
            max_total_buffer_size: None,
            max_resource_buffer_size: None,
            max_post_data_size: None,
            report_direct_socket_traffic: None,
            enable_durable_messages: None,
        })?;
        let heard = Arc::new(Mutex::new(Heard::default()));
        let (ours, to) = (url.clone(), Arc::clone(&heard));
        tab.add_event_listener(Arc::new(move |event: &Event| {
            to.lock().unwrap().hear(event, &ours);
        }))?;
        tab.navigate_to(&url)?.wait_until_navigated()?;
        let page = Self { tab, heard };
        // An error here is the script's below: it is ours, not the page's.
        page.tab.evaluate(SCRIPT, false)?;
        Ok(page)
    }

    /// The value of an expression.
    pub fn ask<T: DeserializeOwned>(&self, expression: &str) -> Result<T, Failed> {
        let expression = format!("(async () => JSON.stringify(await ({expression})))()");
        let answer = self.tab.evaluate(&expression, true)?;
        let Some(serde_json::Value::String(json)) = answer.value else {
            return Err(format!("{expression}: {:?}", answer.description).into());
        };
        serde_json::from_str(&json).map_err(|error| format!("{expression}: {error}: {json}").into())
    }

    /// Presses the mouse there.
    pub fn click(&self, (x, y): (f64, f64)) -> Result<(), Failed> {
        for kind in [
            Input::DispatchMouseEventTypeOption::MousePressed,
            Input::DispatchMouseEventTypeOption::MouseReleased,
        ] {
            self.tab.call_method(Input::DispatchMouseEvent {
                Type: kind,
                x,
                y,
                button: Some(Input::MouseButton::Left),
                buttons: Some(1),
                click_count: Some(1),
                ..mouse()
            })?;
        }
        Ok(())
    }

    /// Presses a key: `Enter`, `Tab`, ` `.
    pub fn press(&self, key: &str) -> Result<(), Failed> {
        self.tab.press_key(key)?;
        Ok(())
    }

    /// What the browser said against the page so far.
    pub fn faults(&self) -> Result<Vec<String>, Failed> {
        // What the page does a little later counts too.
        let _: bool = self.ask("later()")?;
        let ends = self.heard.lock().unwrap().ends;
        let _: bool = self.ask(&format!("(console.debug({END:?}), true)"))?;
        let start = Instant::now();
        while self.heard.lock().unwrap().ends == ends {
            if start.elapsed() > Duration::from_secs(20) {
                return Err("the browser does not say what is on the console".into());
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(self.heard.lock().unwrap().faults.clone())
    }
}

impl Heard {
    fn hear(&mut self, event: &Event, ours: &str) {
        match event {
            Event::RuntimeExceptionThrown(event) => {
                let details = &event.params.exception_details;
                let thrown = details
                    .exception
                    .as_ref()
                    .and_then(|e| e.description.clone());
                let line = details.line_number + 1;
                let thrown = thrown.unwrap_or_else(|| details.text.clone());
                self.faults
                    .push(format!("exception: {thrown} (line {line})"));
            }
            Event::RuntimeConsoleAPICalled(event) => {
                use Runtime::ConsoleAPICalledEventTypeOption::{Assert, Error, Warning};
                let words = event.params.args.iter().map(|arg| match &arg.value {
                    Some(serde_json::Value::String(text)) => text.clone(),
                    Some(value) => value.to_string(),
                    None => arg.description.clone().unwrap_or_default(),
                });
                let text = words.collect::<Vec<_>>().join(" ");
                match event.params.Type {
                    ref kind @ (Assert | Error | Warning) => {
                        self.faults.push(format!("console: {kind:?}: {text}"));
                    }
                    _ if text == END => self.ends += 1,
                    _ => {}
                }
            }
            Event::LogEntryAdded(event) => {
                use Log::LogEntryLevel::{Error, Warning};
                let entry = &event.params.entry;
                if let kind @ (Error | Warning) = &entry.level {
                    self.faults.push(format!("log: {kind:?}: {}", entry.text));
                }
            }
            Event::NetworkRequestWillBeSent(event) => {
                let url = &event.params.request.url;
                if url != ours && !url.starts_with("data:") {
                    self.faults.push(format!("request: {url}"));
                }
            }
            Event::NetworkWebSocketCreated(event) => {
                self.faults.push(format!("request: {}", event.params.url));
            }
            _ => {}
        }
    }
}

/// Nothing pressed, anywhere.
fn mouse() -> Input::DispatchMouseEvent {
    Input::DispatchMouseEvent {
        Type: Input::DispatchMouseEventTypeOption::MouseMoved,
        x: 0.0,
        y: 0.0,
        modifiers: None,
        timestamp: None,
        button: None,
        buttons: None,
        click_count: None,
        force: None,
        tangential_pressure: None,
        tilt_x: None,
        tilt_y: None,
        twist: None,
        delta_x: None,
        delta_y: None,
        pointer_Type: None,
    }
}
