//! A Python process that answers requests: JSON, one value per line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::tool;

/// A running script. Dropping it ends the process.
pub struct Process {
    child: Child,
    requests: ChildStdin,
    responses: BufReader<ChildStdout>,
    /// Deleted when dropped.
    _script: NamedTempFile,
}

impl Process {
    /// Starts the script with these arguments; also returns its first line.
    pub fn start(script: &str, arguments: &[&str]) -> Result<(Self, Value)> {
        let python = tool::find("python3", []).context("there is no python3 on PATH")?;
        let mut file = NamedTempFile::with_suffix(".py")?;
        file.write_all(script.as_bytes())?;
        let mut child = Command::new(python)
            .arg(file.path())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start python3")?;
        let requests = child.stdin.take();
        let responses = child.stdout.take();
        let mut process = Self {
            child,
            requests: requests.context("python3 has no standard input")?,
            responses: BufReader::new(responses.context("python3 has no standard output")?),
            _script: file,
        };
        let hello = process.response()?;
        Ok((process, hello))
    }

    /// Sends a request and waits for its response.
    pub fn request(&mut self, request: &Value) -> Result<Value> {
        writeln!(self.requests, "{request}").context("python3 has exited")?;
        self.response()
    }

    fn response(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.responses
            .read_line(&mut line)
            .context("python3 has exited")?;
        serde_json::from_str(&line)
            .with_context(|| format!("python3 printed {line:?}, which is not JSON"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have exited already; other errors cannot be reported here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
