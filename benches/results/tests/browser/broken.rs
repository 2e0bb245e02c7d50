//! Pages that are broken on purpose.

/// A way to break a page.
pub struct Breakage {
    /// In a few words.
    pub name: &'static str,
    /// What is said of such a page, among other things.
    pub fault: &'static str,
    /// The page, broken.
    pub of: fn(&str) -> String,
}

/// All of them.
pub const ALL: &[Breakage] = &[
    Breakage {
        name: "an error in a script",
        fault: "exception: ReferenceError: nothing is not defined",
        of: |page| with(page, "<script>nothing();</script>"),
    },
    Breakage {
        name: "an error when the mouse is pressed",
        fault: "exception: ReferenceError: late is not defined",
        of: |page| {
            with(
                page,
                "<script>addEventListener('click', () => late());</script>",
            )
        },
    },
    Breakage {
        name: "a promise that nobody waits for",
        fault: "exception: Error: not kept",
        of: |page| {
            with(
                page,
                "<script>Promise.reject(new Error('not kept'));</script>",
            )
        },
    },
    Breakage {
        name: "a warning on the console",
        fault: "console: Warning: beware",
        of: |page| with(page, "<script>console.warn('beware');</script>"),
    },
    Breakage {
        name: "what its own policy forbids",
        fault: "log: Error: ",
        of: |page| with(page, "<img alt='' src='http://127.0.0.1:9/a.png'>"),
    },
    Breakage {
        name: "a request of the network",
        fault: "request: http://127.0.0.1:9/a.png",
        of: |page| lawless(&with(page, "<img alt='' src='http://127.0.0.1:9/a.png'>")),
    },
    Breakage {
        name: "a file beside it",
        fault: "/style.css",
        of: |page| lawless(&with(page, "<link rel='stylesheet' href='style.css'>")),
    },
    Breakage {
        name: "a missing point",
        fault: "shows",
        of: |page| page.replacen("class=\"point\"", "class=\"none\"", 1),
    },
    Breakage {
        name: "no points at all",
        fault: "shows no points",
        of: |page| page.replace("class=\"point\"", "class=\"none\""),
    },
    Breakage {
        name: "a point of another value",
        fault: "shows other points than it lists",
        of: |page| page.replacen("data-y=\"", "data-y=\"1", 1),
    },
    Breakage {
        name: "a point in the wrong place",
        fault: "points are misplaced",
        of: |page| changed(page, "<circle class=\"point\"", " cy=\"", "4"),
    },
    Breakage {
        name: "a point outside of its picture",
        fault: "1 points are not seen",
        of: |page| changed(page, "<circle class=\"point\"", " cx=\"", "90000"),
    },
    Breakage {
        name: "no list of points",
        fault: "the page lists no points",
        of: |page| page.replace("id=\"points\"", "id=\"dots\""),
    },
    Breakage {
        name: "a hidden figure",
        fault: "is not seen",
        of: |page| with(page, "<style>figure { display: none }</style>"),
    },
    Breakage {
        name: "tables that do not sort",
        fault: "by a click: aria-sort is",
        of: |page| match page.rsplit_once("<script>") {
            Some((before, script)) => {
                let after = script
                    .split_once("</script>")
                    .map_or("", |(_, after)| after);
                format!("{before}{after}")
            }
            None => page.into(),
        },
    },
    Breakage {
        name: "tables that sort by the mouse alone",
        fault: "by Enter: aria-sort is",
        of: |page| {
            let deaf = "addEventListener('keydown', (event) => event.preventDefault(), true)";
            with(page, &format!("<script>{deaf};</script>"))
        },
    },
    Breakage {
        name: "tables that are sorted wrongly",
        fault: "by a click: the column is not ascending",
        of: |page| with(page, &after_a_click("body.append(body.rows[0])")),
    },
    Breakage {
        name: "tables that lose a row",
        fault: "by a click: the rows are others",
        of: |page| with(page, &after_a_click("body.rows[0].remove()")),
    },
    Breakage {
        name: "buttons under something else",
        fault: "something covers the first head",
        of: |page| {
            with(
                page,
                "<div style='position: fixed; inset: 0; z-index: 9'></div>",
            )
        },
    },
    Breakage {
        name: "heads that are no buttons",
        fault: "heads are buttons",
        of: |page| page.replace("<button", "<b").replace("</button", "</b"),
    },
];

/// `html` at the end of the page.
fn with(page: &str, html: &str) -> String {
    page.replace("</body>", &format!("{html}</body>"))
}

/// Without the policy that forbids requests.
fn lawless(page: &str) -> String {
    page.replace("http-equiv=\"Content-Security-Policy\"", "name=\"policy\"")
}

/// The value of the first attribute after `tag`.
fn changed(page: &str, tag: &str, attribute: &str, value: &str) -> String {
    let change = || {
        let (before, rest) = page.split_once(tag)?;
        let (between, rest) = rest.split_once(attribute)?;
        let (_, after) = rest.split_once('"')?;
        Some(format!("{before}{tag}{between}{attribute}{value}\"{after}"))
    };
    change().unwrap_or_else(|| page.into())
}

/// A script that does something to a table after it was sorted.
fn after_a_click(what: &str) -> String {
    format!(
        "<script>addEventListener('click', (event) => {{\
           const body = event.target.closest('table')?.tBodies[0];\
           if (body) {what};\
         }});</script>"
    )
}
