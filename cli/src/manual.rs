//! Shell completions and manual pages.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::failure::Failure;
use crate::options::Cli;

const NAME: &str = "warpfold";

/// A script that completes the command line in `shell`.
pub fn completions(shell: Shell) -> Vec<u8> {
    let mut text = vec![];
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut text);
    text
}

/// The manual page of the program, or of a command, in roff.
pub fn page(command: Option<&str>) -> Result<Vec<u8>, Failure> {
    let mut program = Cli::command();
    program.build();
    let page = match command {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                let names = program.get_subcommands().map(clap::Command::get_name);
                let names: Vec<_> = names.collect();
                let names = names.join(", ");
                let text = format!("there is no command {name:?}; the commands are {names}");
                return Err(Failure::Usage(text));
            }
        },
    };
    let mut text = vec![];
    let man = clap_mangen::Man::new(page).source(concat!("warpfold ", env!("CARGO_PKG_VERSION")));
    man.render(&mut text).map_err(Failure::Output)?;
    Ok(text)
}
