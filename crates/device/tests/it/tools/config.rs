//! The owner's `tools.toml`.

use std::{fs, os::unix::fs::PermissionsExt};

use device::{
    Roots,
    tools::{Config, ConfigError, Servers, Shelf},
};

use super::support::{config, script, variables, written};

fn read(toml: &str, mode: u32) -> Result<Config, ConfigError> {
    let directory = written(toml);
    let path = directory.path().join("tools.toml");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    Config::read(&path)
}

const SERVER: &str = "[mcp.s]\ncommand = [\"s\"]\ntools = [\"t\"]\n";

/// What holds secrets is read only if nobody else can.
#[test]
fn secrets_are_read_from_a_private_file_only() {
    let secret = format!("{SERVER}env = {{ TOKEN = \"hunter2\" }}\n");
    assert!(matches!(read(&secret, 0o644), Err(ConfigError::Readable(_))));
    assert!(matches!(read(&secret, 0o640), Err(ConfigError::Readable(_))));
    let header = "[mcp.s]\nurl = \"https://localhost/mcp\"\ntools = [\"t\"]\nheaders = { Authorization = \"hunter2\" }\n";
    assert!(matches!(read(header, 0o604), Err(ConfigError::Readable(_))));
    for toml in [secret.as_str(), header] {
        let config = read(toml, 0o600).unwrap();
        assert!(!format!("{config:?}").contains("hunter2"), "{config:?}");
    }
    // Without secrets others may read it, but never change it: it says what is run.
    assert!(read(SERVER, 0o644).is_ok());
    assert!(matches!(read(SERVER, 0o664), Err(ConfigError::Writable(_))));
}

/// What is wrong is told with its line, but not what is there.
#[test]
fn what_is_wrong_is_told_without_what_is_there() {
    let wrong = format!("{SERVER}[mcp.s.env]\nTOKEN = \"hunter2\nX = 3\n");
    let error = read(&wrong, 0o600).unwrap_err().to_string();
    assert!(error.contains("line 5") && !error.contains("hunter2"), "{error}");
    let error = read(&format!("{SERVER}nonsense = 1\n"), 0o600).unwrap_err().to_string();
    assert!(error.contains("nonsense"), "{error}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let both = "[mcp.s]\ncommand = [\"s\"]\nurl = \"http://localhost\"\ntools = [\"t\"]\n";
    let no_command = "[[tool]]\nname = \"a\"\ndescription = \"\"\ncommand = []\ninput_schema = {}\n";
    let no_schema = "[[tool]]\nname = \"a\"\ndescription = \"\"\ncommand = [\"a\"]\n";
    for senseless in [
        both,
        "[mcp.s]\ntools = [\"t\"]\n",
        "[mcp.s]\ncommand = [\"s\"]\ntools = []\n",
        no_command,
        no_schema,
    ] {
        assert!(matches!(read(senseless, 0o600), Err(ConfigError::Senseless { .. })), "{senseless}");
    }
    let put = |toml: &str| {
        let directory = written(toml);
        let shelf = Shelf::default();
        shelf.put_commands(&config(&directory), &variables(), &Roots::default())
    };
    let refused = |toml: &str| matches!(put(toml), Err(ConfigError::Senseless { .. }));
    assert!(refused(&script("a", "true", "cwd = \"nowhere\"")), "a root that there is not");
    let elsewhere =
        script("a", "true", "").replace("{ type = \"object\" }", "{ \"$ref\" = \"https://x/y\" }");
    assert!(refused(&elsewhere), "a remote reference");
    assert!(put(&script("a", "true", "")).is_ok());
}

#[test]
fn a_schema_can_be_in_a_file() {
    let toml = script("a", "true", "")
        .replace("input_schema = { type = \"object\" }", "input_schema_file = \"a.json\"");
    let directory = written(&toml);
    fs::write(directory.path().join("a.json"), "{\"type\":\"object\",\"required\":[\"x\"]}").unwrap();
    let shelf = Shelf::default();
    shelf.put_commands(&config(&directory), &variables(), &Roots::default()).unwrap();
    assert_eq!(shelf.descriptors()[0].input_schema["required"][0], "x");
}

/// relay-88: a clash of names is resolved by a prefix or refused, whatever comes up first.
#[test]
fn a_clash_of_names_is_never_silent() {
    let check = |toml: &str| {
        let directory = written(toml);
        let servers = Servers::new(&config(&directory), &variables(), &Shelf::default())?;
        Ok::<Vec<String>, ConfigError>(servers.names().into_iter().map(Into::into).collect())
    };
    let two = "[mcp.one]\ncommand = [\"s\"]\ntools = [\"find\", \"a.b/c\"]\n[mcp.two]\ncommand = [\"s\"]\ntools = [\"find\", { name = \"x\", as = \"y\" }]\n";
    assert_eq!(check(two).unwrap(), ["one_find", "a_b_c", "two_find", "y"]);
    let with_command = format!("{}{}", script("t", "true", ""), SERVER);
    assert_eq!(check(&with_command).unwrap(), ["s_t"]);
    let twice = [script("t", "true", ""), script("t", "true", "")].concat();
    assert!(matches!(check(&twice), Err(ConfigError::Senseless { .. })));
    let still = format!("{}{}{}", script("t", "true", ""), script("s_t", "true", ""), SERVER);
    assert!(matches!(check(&still), Err(ConfigError::Senseless { .. })));
    let long = SERVER.replace("\"t\"", &format!("{:?}", "t".repeat(65)));
    assert!(matches!(check(&long), Err(ConfigError::Senseless { .. })));
}
