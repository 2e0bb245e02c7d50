def sub(p, pairs):
    s=open(p).read()
    for a,b in pairs:
        assert a in s,(p,a)
        s=s.replace(a,b,1)
    open(p,'w').write(s)
sub('simulation/mutants/build/main.rs',[
('use table::{KEYED,','use table::{COPY, KEYED,'),
('''    let keyed = source.path.starts_with(KEYED);
''','''    if source.path == COPY {
        let mut text = String::from("Programs::Copies(&[");
        for kernel in kernels {
            for size in copy::SIZES {
                let _ = write!(text, "entry!(copy {module}, \\"{kernel}_{size}\\"), ");
            }
        }
        return text + "])";
    }
    let keyed = source.path.starts_with(KEYED);
'''),
])
sub('simulation/mutants/build/copy.rs',[
('''/// The folder that has the tables''','''/// The sizes of elements whose copies are launched: the words of a byte are the most different.
pub const SIZES: [&str; 2] = ["b8", "b32"];

/// The folder that has the tables'''),
])
sub('simulation/mutants/build/table.rs',[
('mod ceiling;\n','mod ceiling;\nmod copies;\n'),
('''/// A seeded bug: the file with''','''/// The file of the kernels that have the copies' entries.
pub const COPY: &str = "copy.rs";

/// A seeded bug: the file with'''),
('    textbook::LAST_BLOCK,\n','    copies::SOURCE,\n    textbook::LAST_BLOCK,\n'),
])
sub('simulation/mutants/src/lib.rs',[
('''    /// A textbook kernel, by its name.''','''    /// The same of the copies.
    Copies(&'static [Option<(&'static str, Function)>]),
    /// A textbook kernel, by its name.'''),
('''    ($entries:path, $name:literal) => {''','''    (copy $copy:ident, $name:literal) => {
        entry!(copies::$copy::entry::copy::ENTRIES, $name)
    };
    ($entries:path, $name:literal) => {'''),
])
sub('simulation/mutants/tests/mutants/main.rs',[
('mod attempt;\n','mod attempt;\nmod copies;\n'),
('        Programs::Textbook(name, kernel) =>','        Programs::Copies(entries) => copies::search(entries, mode),\n        Programs::Textbook(name, kernel) =>'),
])
