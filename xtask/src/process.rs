//! Runs other programs, and prints without panicking if the output is closed.

use crate::workspace;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Writes a line to stderr. A closed stderr is no error.
pub fn report(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Writes a command's output to stdout. A closed pipe (`| head`) is no error.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("stdout"),
        _ => Ok(()),
    }
}

/// The cargo that runs xtask, in the workspace's root and with the same target directory, but without the
/// environment variables that `cargo run` has set for xtask.
pub fn cargo() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(workspace::root());
    inherit(&mut command, std::env::vars_os());
    command
}

/// Removes or changes inherited variables that are wrong for cargo in another folder.
fn inherit(command: &mut Command, variables: impl Iterator<Item = (OsString, OsString)>) {
    for (name, value) in variables {
        match name.to_str() {
            Some(name) if describes_a_package(name) => {
                command.env_remove(name);
            }
            // cargo resolves a relative path in its current folder.
            Some("CARGO_TARGET_DIR" | "CARGO_BUILD_TARGET_DIR") => {
                if let Ok(absolute) = std::path::absolute(value) {
                    command.env(name, absolute);
                }
            }
            _ => {}
        }
    }
}

/// Whether a variable describes the package that cargo builds or runs.
fn describes_a_package(name: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "DEP_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || ["CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"].contains(&name)
}

/// The command line as a user types it.
pub fn shown(command: &Command) -> String {
    let mut text = std::path::Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program())
        .to_string_lossy()
        .into_owned();
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}

/// Runs a command with our stdin, stdout and stderr; true for success.
pub fn succeeds(command: &mut Command) -> Result<bool> {
    Ok(status(command)?.success())
}

/// Runs a command with our stdin, stdout and stderr.
pub fn status(command: &mut Command) -> Result<ExitStatus> {
    command
        .status()
        .with_context(|| format!("cannot start `{}`", shown(command)))
}

/// A child's exit code as our own; 1 if a signal ended it.
pub fn forwarded(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(1))
}

/// stdout of a command that must succeed; otherwise the error contains its stderr.
pub fn stdout_of(command: &mut Command) -> Result<String> {
    Ok(output_of(command)?.0)
}

/// stdout and stderr of a command that must succeed; otherwise the error contains its stderr.
pub fn output_of(command: &mut Command) -> Result<(String, String)> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", shown(command)))?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        bail!(
            "`{}` failed ({}):\n{}",
            shown(command),
            output.status,
            stderr.trim_end()
        );
    }
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), stderr))
}

/// Runs a command, kills it after `limit`, and returns its standard output.
pub fn bounded(command: &mut Command, limit: Duration) -> Result<String> {
    let file = || tempfile::tempfile().context("cannot create a temporary file");
    let (mut stdout, mut stderr) = (file()?, file()?);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(stdout.try_clone().context("temporary file")?)
        .stderr(stderr.try_clone().context("temporary file")?)
        .spawn()
        .with_context(|| format!("cannot start `{}`", shown(command)))?;
    let deadline = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            bail!("`{}` took more than {limit:?}", shown(command));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let text = |file: &mut File| -> Result<String> {
        let mut bytes = vec![];
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    if !status.success() {
        bail!(
            "`{}` failed: {}",
            shown(command),
            text(&mut stderr)?.trim_end()
        );
    }
    text(&mut stdout)
}

/// A number of bytes in decimal megabytes.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_hangs_is_killed() {
        let start = Instant::now();
        let error = bounded(Command::new("sleep").arg("30"), Duration::from_millis(100));
        assert!(error.unwrap_err().to_string().contains("took more than"));
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_failing_commands_error_has_its_stderr() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo wrong wheel >&2; exit 3"]);
        let limit = Duration::from_secs(10);
        let error = bounded(&mut command, limit).unwrap_err();
        assert!(error.to_string().contains("wrong wheel"), "{error}");
        let error = output_of(&mut command).unwrap_err();
        assert!(error.to_string().contains("wrong wheel"), "{error}");
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let error = stdout_of(&mut Command::new("no-such-program-here")).unwrap_err();
        assert!(error.to_string().contains("no-such-program-here"));
    }

    #[test]
    fn a_relative_target_directory_becomes_absolute() {
        let mut command = Command::new("cargo");
        let variables = [
            ("CARGO_TARGET_DIR", "out"),
            ("CARGO_BUILD_TARGET_DIR", "/other"),
            ("CARGO_PKG_NAME", "xtask"),
            ("CARGO_HOME", "home"),
        ];
        inherit(
            &mut command,
            variables.map(|(n, v)| (n.into(), v.into())).into_iter(),
        );
        let out = std::env::current_dir().unwrap().join("out");
        let changed = command
            .get_envs()
            .collect::<std::collections::BTreeMap<_, _>>();
        let expected = [
            ("CARGO_TARGET_DIR", Some(out.as_os_str())),
            ("CARGO_BUILD_TARGET_DIR", Some("/other".as_ref())),
            ("CARGO_PKG_NAME", None),
        ];
        assert_eq!(changed, expected.map(|(n, v)| (n.as_ref(), v)).into());
    }

    #[test]
    fn only_variables_of_a_package_are_removed() {
        assert!(describes_a_package("CARGO_PKG_NAME"));
        assert!(describes_a_package("CARGO_MANIFEST_DIR"));
        for kept in [
            "CARGO_HOME",
            "CARGO_TARGET_DIR",
            "CARGO_NET_OFFLINE",
            "RUSTUP_TOOLCHAIN",
        ] {
            assert!(!describes_a_package(kept), "{kept}");
        }
    }
}
