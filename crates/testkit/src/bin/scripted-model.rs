//! `scripted-model --port N [--scenario FILE]`: serves the scripted model, to try an agent by hand.

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;
use testkit::model::{Scenario, ScriptedModelOptions};

/// Serve a scripted model to real agents on this machine
#[derive(Parser)]
struct Args {
    /// Listen on this port; 0 picks a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Answer prompts that contain no script from this TOML file
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
    let mut options = ScriptedModelOptions::default().port(args.port);
    if let Some(path) = args.scenario {
        options = options.scenario(Scenario::parse(&std::fs::read_to_string(path)?)?);
    }
    let model = options.start().await?;
    println!("listening on {}", model.url());
    tokio::signal::ctrl_c().await?;
    Ok(())
}
