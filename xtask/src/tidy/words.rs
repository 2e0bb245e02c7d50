//! Words that earlier versions coined, although the field has terms: `STYLE.md`.

/// Refused words in lower case, and what to write instead.
const COINED: [(&str, &str); 16] = [
    ("meeting", "synchronisation point, or barrier"),
    ("meetings", "synchronisation points, or barriers"),
    ("ticket", "arrival counter"),
    ("tickets", "arrival counters"),
    ("twin", "baseline, variant, or reference kernel"),
    ("twins", "baselines, variants, or reference kernels"),
    ("judge", "check"),
    ("judges", "checks"),
    ("anew", "again"),
    ("under way", "in flight"),
    ("of nothing", "for empty input"),
    ("says otherwise", "the default"),
    ("said otherwise", "the default"),
    (
        "whole reduction",
        "single-pass reduction, or whole-array reduction",
    ),
    (
        "whole reductions",
        "single-pass reductions, or whole-array reductions",
    ),
    ("single passes", "single-pass reductions"),
];

/// The coined words in a line of code or prose, and what to write instead.
pub fn coined(line: &str) -> Vec<(&'static str, &'static str)> {
    let words = format!(" {} ", words(line).join(" "));
    let is_there = |(word, _): &&(&str, &str)| words.contains(&format!(" {word} "));
    COINED.iter().filter(is_there).copied().collect()
}

/// The words of a line in lower case. Names in snake case or camel case are split.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for c in line.chars() {
        if !c.is_alphabetic() || (c.is_uppercase() && before_is_lower) {
            words.push(String::new());
        }
        before_is_lower = c.is_lowercase();
        if c.is_alphabetic() {
            let word = words.last_mut().expect("the list is never empty");
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_prose_are_split_into_words() {
        let split = |line| words(line).join(" ");
        assert_eq!(
            split("fn take_ArrivalCounter2(x: &X)"),
            "fn take arrival counter x x"
        );
        assert_eq!(split("// It's under  way."), "it s under way");
    }

    #[test]
    fn coined_words_are_found_with_their_replacement() {
        assert_eq!(coined("let nextTicket = 1;")[0].1, "arrival counter");
        assert_eq!(
            coined("/// All copies that are under way.")[0].0,
            "under way"
        );
        assert_eq!(coined("struct Meetings;").len(), 1);
        assert!(coined("ticketing, a twinned judgement").is_empty());
    }
}
