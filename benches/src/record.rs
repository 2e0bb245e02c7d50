//! A report read back from its JSON.

use std::fs;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use crate::options::BadOption;
use crate::report::{Report, SCHEMA};

/// The report that `warpfold-bench ladder --json FILE` wrote.
pub fn read(file: &Path) -> Result<Report> {
    let name = file.display();
    let json = fs::read_to_string(file)
        .map_err(|error| BadOption::new(format!("cannot read {name}: {error}")))?;
    let report = parse(&json).map_err(|reason| {
        BadOption::new(format!(
            "{name} is no record of the ladder: {reason}; `warpfold-bench ladder --json FILE` writes one"
        ))
    })?;
    Ok(report)
}

/// The error is the reason why this is no report.
fn parse(json: &str) -> Result<Report, String> {
    let value: Value = serde_json::from_str(json).map_err(|error| format!("not JSON ({error})"))?;
    // Another schema is named as such, rather than by the first field that differs.
    match value.get("schema").and_then(Value::as_str) {
        Some(SCHEMA) => serde_json::from_value(value).map_err(|error| error.to_string()),
        Some(other) => Err(format!("its schema is {other}, not {SCHEMA}")),
        None => Err(format!("it does not name the schema {SCHEMA}")),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::report::tests::{report, right, samples};
    use crate::report::{Cuda, Device, Peers};
    use crate::timing::Wrong;

    use super::*;

    pub fn cuda() -> Cuda {
        Cuda {
            name: "A GPU".into(),
            index: 0,
            compute_capability: (9, 0),
            multiprocessors: 132,
            memory_bytes: 1 << 37,
            l2_bytes: 60 << 20,
            clock_khz: 1_980_000,
            memory_clock_khz: 3_201_000,
            memory_bus_bits: 6016,
            driver: "13.0".into(),
            ptx_arch: "sm_90".into(),
            stream: "blocking".into(),
        }
    }

    /// The JSON of `report` and of what it is read back as.
    fn round_trip(report: &Report) -> [Value; 2] {
        let json = serde_json::to_string_pretty(report).unwrap();
        let again = parse(&json).unwrap();
        [report, &again].map(|report| serde_json::to_value(report).unwrap())
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let mut wrong: Vec<_> = [1.0; 10].map(samples).into();
        wrong[1].wrong = Some(Wrong {
            runs: 1,
            of: 4,
            got: -77,
        });
        let mut gpu = right();
        gpu.device = Device::Cuda(cuda());
        gpu.peers = Some(Peers::Built(crate::peers::Built {
            nvcc: "/usr/bin/nvcc".into(),
            nvcc_version: "release 13.0".into(),
            nvcc_flags: vec!["-O3".into()],
            cub_version: "3.0.1".into(),
        }));
        let mut alone = right();
        (alone.peers, alone.ceiling) = (None, None);
        for report in [right(), report(wrong), gpu, alone] {
            let [written, read] = round_trip(&report);
            assert_eq!(written, read);
        }
    }

    #[test]
    fn what_is_no_record_is_refused_with_the_reason() {
        let other = SCHEMA.replace("/1", "/2");
        for (json, reason) in [
            ("", "not JSON"),
            ("{]", "not JSON"),
            ("[]", "does not name the schema"),
            ("{\"a\": 1}", "does not name the schema"),
            (&format!("{{\"schema\": \"{other}\"}}"), other.as_str()),
            (&format!("{{\"schema\": \"{SCHEMA}\"}}"), "missing field"),
        ] {
            let error = parse(json).unwrap_err();
            assert!(error.contains(reason), "{json}: {error}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_bad_option() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("none.json");
        let absent = read(&file).unwrap_err();
        std::fs::write(&file, "{}").unwrap();
        let foreign = read(&file).unwrap_err();
        for (error, reason) in [
            (absent, "cannot read"),
            (foreign, "no record of the ladder"),
        ] {
            assert!(error.is::<BadOption>(), "{error}");
            let text = error.to_string();
            assert!(
                text.contains(reason) && text.contains("none.json"),
                "{text}"
            );
        }
    }
}
