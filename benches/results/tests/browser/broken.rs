//! Pages that are broken on purpose.

/// A way to break a page.
pub struct Breakage {
    /// In a few words.
    pub name: &'static str,
    /// What is said of such a page, among other things.
    pub faults: &'static [&'static str],
    /// The page, broken.
    pub of: fn(&str) -> String,
}

/// All of them. What does not disturb each other is in one page: each has to be loaded.
pub const ALL: &[Breakage] = &[
    Breakage {
        name: "errors and warnings",
        faults: &[
            "exception: ReferenceError: nothing is not defined",
            "exception: Error: not kept",
            "exception: ReferenceError: late is not defined",
            "console: Warning: beware",
            "console: Error: amiss",
            "log: Error: ",
        ],
        of: |page| {
            with(
                page,
                "<script>nothing();</script>\
                 <script>Promise.reject(new Error('not kept'));</script>\
                 <script>addEventListener('click', () => late());</script>\
                 <script>console.warn('beware'); console.error('amiss');</script>\
                 <img alt='forbidden by the policy' src='http://127.0.0.1:9/a.png'>",
            )
        },
    },
    Breakage {
        name: "requests",
        faults: &["request: http://127.0.0.1:9/a.png", "/style.css"],
        of: |page| {
            let lawless = page.replace("http-equiv=\"Content-Security-Policy\"", "name=\"policy\"");
            with(
                &lawless,
                "<img alt='' src='http://127.0.0.1:9/a.png'>\
                 <link rel='stylesheet' href='style.css'>",
            )
        },
    },
    Breakage {
        name: "a missing point, and one of another value",
        faults: &[" shows ", "shows other points than it lists"],
        of: |page| {
            let missing = page.replacen("class=\"point\"", "class=\"none\"", 1);
            match missing.rsplit_once("data-y=\"") {
                Some((before, after)) => format!("{before}data-y=\"1{after}"),
                None => missing,
            }
        },
    },
    Breakage {
        name: "a point in the wrong place",
        faults: &["1 points are not seen", "points are misplaced"],
        of: |page| changed(page, "<circle class=\"point\"", " cx=\"", "90000"),
    },
    Breakage {
        name: "nothing where something should be",
        faults: &[
            "the page lists no points",
            "is not both drawn and listed",
            "is not seen",
            "heads are buttons",
        ],
        of: |page| {
            let page = page.replace("id=\"points\"", "id=\"dots\"");
            let page = page.replace("<button", "<b").replace("</button", "</b");
            with(&page, "<style>figure { display: none }</style>")
        },
    },
    Breakage {
        name: "tables that do not sort",
        faults: &["by a click: aria-sort is", "by a script: aria-sort is"],
        of: |page| match page.rsplit_once("<script>") {
            Some((before, script)) => {
                let after = script.split_once("</script>");
                format!("{before}{}", after.map_or("", |(_, after)| after))
            }
            None => page.into(),
        },
    },
    Breakage {
        name: "tables that sort by the mouse alone",
        faults: &[
            "by Enter: aria-sort is",
            "by the space bar: aria-sort is",
            "Tab does not go",
        ],
        of: |page| {
            let deaf = "(event) => event.preventDefault(), true";
            with(
                page,
                &format!(
                    "<script>addEventListener('keydown', {deaf}); addEventListener('keyup', {deaf});</script>"
                ),
            )
        },
    },
    Breakage {
        name: "tables that are sorted wrongly, and lose a row",
        faults: &[
            "by a click: the column is not ascending",
            "by a click: the rows are others",
        ],
        of: |page| {
            with(
                page,
                "<script>addEventListener('click', (event) => {\
                   const body = event.target.closest('table')?.tBodies[0];\
                   body?.rows[0].remove();\
                   body?.append(body.rows[0]);\
                 });</script>",
            )
        },
    },
    Breakage {
        name: "buttons under something else",
        faults: &["something covers the first head"],
        of: |page| {
            with(
                page,
                "<div style='position: fixed; inset: 0; z-index: 9'></div>",
            )
        },
    },
];

/// `html` at the end of the page.
fn with(page: &str, html: &str) -> String {
    page.replace("</body>", &format!("{html}</body>"))
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
