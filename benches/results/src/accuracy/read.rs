//! Reading `accuracy.json`.

use serde_json::Value;

use super::{Accuracy, SCHEMA};

/// Parses the contents of an `accuracy.json`; the error says what is wrong with them.
pub fn parse(json: &str) -> Result<Accuracy, String> {
    let value: Value = serde_json::from_str(json).map_err(|error| format!("not JSON ({error})"))?;
    // The schema is checked first: the error then names it, not the first field that differs.
    match value.get("schema").and_then(Value::as_str) {
        Some(SCHEMA) => serde_json::from_value(value).map_err(|error| error.to_string()),
        Some(other) => Err(format!("its schema is {other}, not {SCHEMA}")),
        None => Err(format!("it does not name the schema {SCHEMA}")),
    }
}
