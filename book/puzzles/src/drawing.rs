//! Drawings of findings and of wrong results, for a terminal.

use cuda_sim::{Access, Bug, Finding, Kind, Space, Thread};
use std::fmt::Write;

/// Words shown on each side of the access.
const AROUND: usize = 3;

/// Two accesses without an order, or a load of memory that nobody wrote; empty for other findings.
pub(crate) fn of(finding: &Finding) -> String {
    match (&finding.bug, finding.thread, finding.other) {
        (
            Bug::Race {
                space,
                access,
                other,
                ..
            },
            Some(thread),
            Some((other_thread, _)),
        ) => accesses(
            *space,
            &[(other_thread, *other), (thread, *access)],
            "nothing orders the two: any of them may be first",
        ),
        (Bug::Uninitialised { space, access, .. }, Some(thread), _) => accesses(
            *space,
            &[(thread, *access)],
            "no thread has stored there before",
        ),
        _ => String::new(),
    }
}

fn accesses(space: Space, accesses: &[(Thread, Access)], remark: &str) -> String {
    let word = |access: &Access| access.address / 4;
    let first = accesses
        .iter()
        .map(|(_, access)| word(access))
        .min()
        .unwrap_or(0);
    let last = accesses
        .iter()
        .map(|(_, access)| (access.address + access.size as usize - 1) / 4)
        .max()
        .unwrap_or(0);
    // Global addresses are long: their distance to the access is enough.
    let origin = match space {
        Space::Shared => 0,
        Space::Global => first.saturating_sub(AROUND),
    };
    let shown = first.saturating_sub(AROUND)..=(last + AROUND).min(first + 16);
    let name = match space {
        Space::Shared => "shared memory, word",
        Space::Global => "global memory, near",
    };
    let mut text = format!("  {name:<30}");
    for at in shown.clone() {
        let _ = match space {
            Space::Shared => write!(text, "{:>5}", at - origin),
            Space::Global => write!(text, "{:>+5}", (at as i64 - first as i64) * 4),
        };
    }
    text.push('\n');
    for (thread, access) in accesses {
        let kind = match access.kind {
            Kind::Load => "loads",
            Kind::Store => "stores",
            Kind::Atomic => "atomic",
        };
        let who = format!(
            "block {} warp {} lane {:<2} {kind}",
            thread.block[0], thread.warp, thread.lane
        );
        let _ = write!(text, "  {who:<30}");
        for at in shown.clone() {
            let end = access.address + access.size as usize;
            let inside = (word(access)..=(end - 1) / 4).contains(&at);
            let _ = write!(text, "{:>5}", if inside { "#" } else { "." });
        }
        text.push('\n');
    }
    text + "  " + remark + "\n"
}

/// What an element of the output holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Right,
    Wrong,
    NeverWritten,
}

/// Rows of [`outcome`].
const ROWS: usize = 8;

/// Which elements of an output are right, 32 in a row.
pub(crate) fn outcome(states: &[State]) -> String {
    let mut text = String::from("  . right   x wrong   ? never stored\n");
    let rows: Vec<&[State]> = states.chunks(32).collect();
    let first_bad = rows
        .iter()
        .position(|row| row.iter().any(|state| *state != State::Right))
        .unwrap_or(0);
    let start = first_bad.saturating_sub(1);
    for (row, states) in rows.iter().enumerate().skip(start).take(ROWS) {
        let marks: String = states
            .iter()
            .map(|state| match state {
                State::Right => '.',
                State::Wrong => 'x',
                State::NeverWritten => '?',
            })
            .collect();
        let _ = writeln!(text, "  {:>6}  {marks}", row * 32);
    }
    let left = rows.len().saturating_sub(start + ROWS);
    if left > 0 {
        let _ = writeln!(text, "  and {left} more rows");
    }
    text
}
