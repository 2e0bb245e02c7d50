//! Drawings of findings and of wrong results, for a terminal.

use cuda_sim::{Access, Bug, Finding, Kind, Space, Thread};
use std::fmt::Write;

/// Words shown on each side of the access.
const AROUND: usize = 3;

/// Two accesses without an order, a load of memory that nobody wrote, an access outside an array, or the lanes of a member
/// mask; empty for other findings.
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
        (Bug::OutOfBounds { what, .. }, ..) => outside(what).unwrap_or_default(),
        (Bug::MaskExited { lane, mask }, ..) => {
            members(*mask, *lane, "has exited and never arrives")
        }
        (Bug::MaskAbsent { lane, mask }, ..) => members(*mask, *lane, "does not exist"),
        (Bug::ShuffleOutside { lane, mask }, ..) => {
            members(*mask, *lane, "is read, but is no member")
        }
        (Bug::MaskWithoutCaller { mask }, Some(thread), _) => {
            members(*mask, thread.lane, "calls, but is no member")
        }
        _ => String::new(),
    }
}

/// The end of the array, for the text `element 48 of an array of 48`.
fn outside(what: &str) -> Option<String> {
    let (index, len) = what
        .strip_prefix("element ")?
        .split_once(" of an array of ")?;
    let (index, len): (u64, u64) = (index.parse().ok()?, len.parse().ok()?);
    let last: Vec<_> = (len.saturating_sub(4)..len)
        .map(|i| format!("{i:>6}"))
        .collect();
    let (end, wide) = (
        if len == 0 {
            "(empty)".to_owned()
        } else {
            last.concat()
        },
        index.to_string(),
    );
    let gap = if index == len { "" } else { " ..." };
    let blank = " ".repeat(2 + 8 + end.len() + 3 + gap.len());
    Some(format!("  elements{end} |{gap} {wide}\n{blank}^ outside\n"))
}

/// The lanes of a member mask, and one that is wrong.
fn members(mask: u32, lane: u32, remark: &str) -> String {
    let row = |mark: &dyn Fn(u32) -> char| -> String { (0..32).map(mark).collect() };
    let tens = row(&|lane| match lane % 10 {
        0 => char::from(b'0' + (lane / 10) as u8),
        _ => ' ',
    });
    let ones = row(&|lane| char::from(b'0' + (lane % 10) as u8));
    let mask = row(&|lane| if mask >> lane & 1 == 1 { '#' } else { '.' });
    let mark = row(&|at| if at == lane { '^' } else { ' ' });
    let mark = mark.trim_end();
    format!(
        "  lane     {tens}\n           {ones}\n  members  {mask}\n           {mark} lane {lane} {remark}\n"
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_array() {
        let text = outside("element 48 of an array of 48").unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "  elements    44    45    46    47 | 48");
        assert_eq!(lines[1].find('^'), lines[0].rfind("48"), "{text}");
        let far = outside("element 9 of an array of 2").unwrap();
        assert!(far.starts_with("  elements     0     1 | ... 9\n"), "{far}");
        assert!(
            outside("element 0 of an array of 0")
                .unwrap()
                .contains("(empty) | 0")
        );
        assert_eq!(outside("4 bytes at byte 9"), None);
    }

    #[test]
    fn the_lanes_of_a_mask() {
        let text = members(0x0000_ffff, 20, "is read");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[2],
            format!("  members  {}{}", "#".repeat(16), ".".repeat(16))
        );
        assert_eq!(lines[3].find('^'), Some(11 + 20));
        assert!(lines[3].ends_with("^ lane 20 is read"), "{text}");
    }

    #[test]
    fn an_outcome_begins_near_the_first_wrong_element() {
        let mut states = vec![State::Right; 320];
        states[100] = State::Wrong;
        states[319] = State::NeverWritten;
        let text = outcome(&states);
        let rows: Vec<_> = text.lines().skip(1).collect();
        assert!(
            rows[0].starts_with("      64  ....")
                && rows[1].ends_with("....x..........................."),
            "{text}"
        );
        assert!(rows.last().unwrap().ends_with('?'), "{text}");
    }
}
