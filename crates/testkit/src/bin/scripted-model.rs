//! `scripted-model --port N [--scenario FILE]`: the scripted model, for people who try agents by hand.

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;
use testkit::model::{ModelOptions, Scenario};

/// A model that does what the prompt says, for real agents on this machine
#[derive(Parser)]
struct Args {
    /// The port to listen on; 0 for any free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// A TOML file of answers to prompts that are no scripts
    #[arg(long)]
    scenario: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match serve(Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(args: Args) -> Result<(), Box<dyn std::error::Error>> {
    let mut options = ModelOptions::default().port(args.port);
    if let Some(path) = args.scenario {
        options = options.scenario(Scenario::parse(&std::fs::read_to_string(path)?)?);
    }
    let model = options.start().await?;
    println!("listening on {}", model.url());
    tokio::signal::ctrl_c().await?;
    Ok(())
}
