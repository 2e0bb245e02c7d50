//! Corrections of LLVM's PTX text.

/// Reduces debug information to line numbers.
///
/// LLVM marks a module with any debug information by `.target sm_90, debug`, and ptxas then compiles it
/// without optimisation. Profilers need only the `.file` and `.loc` lines, which ptxas accepts with
/// optimisation (`-lineinfo`). So this removes the mark and the DWARF sections.
pub(crate) fn keep_lines_only(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut in_dwarf = false;
    for line in ptx.lines() {
        if line.trim_start().starts_with(".section") && line.contains(".debug_") {
            in_dwarf = true;
        }
        if in_dwarf {
            in_dwarf = line.trim() != "}";
            continue;
        }
        let line = if line.starts_with(".target") {
            line.strip_suffix(", debug").unwrap_or(line)
        } else {
            line
        };
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// The same code with the header of another architecture and PTX ISA; 78 is PTX 7.8.
pub(crate) fn under_header(ptx: &str, isa: u32, arch: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.split_inclusive('\n') {
        match line.split_whitespace().next() {
            Some(".version") => text += &format!(".version {}.{}\n", isa / 10, isa % 10),
            Some(".target") => text += &format!(".target {arch}\n"),
            _ => text += line,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{keep_lines_only, under_header};

    #[test]
    fn only_the_header_is_another() {
        let ptx = "//\n.version 6.3\n.target sm_75\n.address_size 64\n\tret;";
        let expected = "//\n.version 7.0\n.target sm_80\n.address_size 64\n\tret;";
        assert_eq!(under_header(ptx, 70, "sm_80"), expected);
    }

    #[test]
    fn the_debug_mark_and_the_dwarf_go_and_the_lines_stay() {
        let ptx = "\
.version 7.8
.target sm_90, debug
.visible .entry k()
{
\t.loc 1 40 5
\tret;
}
\t.file 1 \"kernels/src/lib.rs\"
\t.section .debug_abbrev
\t{
.b8 1
\t}
\t.section .debug_info
\t{
.b32 2
\t}
";
        assert_eq!(
            keep_lines_only(ptx),
            "\
.version 7.8
.target sm_90
.visible .entry k()
{
\t.loc 1 40 5
\tret;
}
\t.file 1 \"kernels/src/lib.rs\"
"
        );
    }
}
