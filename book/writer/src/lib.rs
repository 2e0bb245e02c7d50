//! Writes the generated parts of the book's pages, so that no listing, drawing or figure can age.
//!
//! A part stands between two comments, `<!-- write WHAT -->` and `<!-- end -->`. The command
//! `cargo run -p warpfold-book` writes all parts again; a test compares them. So the pages are complete as they are, on
//! any site that shows Markdown.
//!
//! | WHAT | writes |
//! |---|---|
//! | `item FILE NAME` | a function or a type of a source file that is compiled and tested |
//! | `ptx ENTRY FROM LINES` | PTX of a kernel: lines from the first with the text FROM on; a law compares `book/ptx` with the build |
//! | `sass ENTRY FROM LINES` | machine code of a kernel, as it ran on the H200: lines from the first with the text FROM on |
//! | `drawing NAME` | a picture of a kernel's access, drawn by the simulator |
//! | `finding NAME` | what the simulator says of a wrong kernel |
//! | `bits` | sums of the same floats, in several orders of the threads |
//! | `ranks drawing`, `ranks bits` | which subtrees of tiles several ranks combine; sums of the same floats on several ranks |
//! | `loops` | instructions in the loops of the copies; a law compares `book/sass` with the build |
//! | `copies` | what the simulator counts of copies by accesses of three widths |
//! | `counts KERNEL..` | what the simulator counts of a block of rungs of the ladder |
//! | `figure RECORD ROW COLUMN`, `ratio RECORD ROW ROW COLUMN` | a number of a record's table, or the quotient of two |
//! | `post KERNEL memory` | a figure that a post states |
//! | `minutes PAGE..` | how long it takes to read pages |
//! | `puzzles` | the number of puzzles |
//! | `table NAME ..` | a table of a record's figures |

pub mod directive;
pub mod kernels;
mod listing;
mod loops;
pub mod pages;
mod post;
mod ranks;
mod reading;
pub mod records;
mod simulated;
pub mod site;
mod tables;
