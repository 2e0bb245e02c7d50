//! warpfold-bench
mod data;
mod machine;
mod peers;
mod report;
mod timing;
fn main() {}
