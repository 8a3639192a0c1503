use std::{collections::BTreeMap, os::unix::fs::symlink};

use super::*;
use crate::Home;

/// `work/` is lent; what else there is is beside it.
struct Place {
    directory: tempfile::TempDir,
    tools: tools::Config,
}

/// Where what decides what the device does is: none is not said.
#[derive(Default)]
struct Files<'a> {
    program: Option<&'a str>,
    config: Option<&'a str>,
    token: Option<&'a str>,
    unit: Option<&'a str>,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["work/below", "home", "elsewhere"] {
            fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        for name in ["work/file", "work/below/file", "elsewhere/file"] {
            fs::write(directory.path().join(name), "{}").unwrap();
        }
        Self { directory, tools: tools::Config::default() }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.directory.path().join(below)
    }

    /// Reads what is said of tools in a file of this name.
    fn with_tools(mut self, name: &str, text: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).unwrap();
        self.tools = tools::Config::read(&self.path(name)).unwrap();
        self
    }

    /// Whether `work` can be lent to be read, and to be changed; otherwise what it holds.
    fn lent(&self, files: &Files<'_>) -> [Option<&'static str>; 2] {
        let path = |name: Option<&str>| name.map(|name| self.path(name));
        let (program, config, token) = (path(files.program), path(files.config), path(files.token));
        let unit = path(files.unit);
        let home = Home::of(&self.path("home"), &"laptop".parse().unwrap());
        let surroundings = Surroundings {
            home: &home,
            config: config.as_deref(),
            token: token.as_deref(),
            unit: unit.as_deref(),
            program: program.as_deref().unwrap_or(Path::new("/usr/bin/env")),
            environment: BTreeMap::new(),
        };
        let file = self.tools.directory.join("tools.toml");
        let tools = self.tools.directory.is_absolute().then_some((file.as_path(), &self.tools));
        ["ro", "rw"].map(|mode| {
            let text = format!("main={}:{mode}", self.path("work").display());
            let places = crate::Places { base: Path::new("/"), home: None };
            let root = LentRoot::parse(&text, places).unwrap();
            match apart(&[root], &surroundings, tools) {
                Ok(()) => None,
                Err(BuildError::Holds { what, .. }) => Some(what),
                Err(other) => panic!("{other}"),
            }
        })
    }
}

/// relay-128, relay-175: what is run at the next start is not for others to change, nor the token for them to read.
#[test]
fn what_decides_what_a_device_does_is_not_lent() {
    let place = Place::new();
    // Outside they look as if they were inside, and the other way round.
    symlink(place.path("elsewhere/file"), place.path("work/out")).unwrap();
    symlink(place.path("elsewhere"), place.path("work/away")).unwrap();
    symlink("../work/below/file", place.path("elsewhere/in")).unwrap();
    symlink("in", place.path("elsewhere/in-two-steps")).unwrap();
    let (token, config) = (Some("the device token"), Some("the device's configuration file"));
    let (program, unit) = (Some("this program"), Some("the systemd unit that starts the device"));
    for (name, is_in, is_passed) in [
        ("elsewhere/file", false, false),
        ("work/../elsewhere/file", false, false),
        ("workshop", false, false),
        ("work/file", true, true),
        ("work/below/file", true, true),
        ("work/not-there-yet", true, true),
        ("elsewhere/in", true, true),
        ("elsewhere/in-two-steps", true, true),
        ("work/out", false, true),
        ("work/away/file", false, true),
    ] {
        let name = Some(name);
        let may = |what, is: bool| if is { what } else { None };
        let expected = [may(token, is_in), may(token, is_passed)];
        assert_eq!(place.lent(&Files { token: name, ..Files::default() }), expected, "{name:?}");
        let expected = [None, may(config, is_passed)];
        assert_eq!(place.lent(&Files { config: name, ..Files::default() }), expected, "{name:?}");
        let expected = [None, may(unit, is_passed)];
        assert_eq!(place.lent(&Files { unit: name, ..Files::default() }), expected, "{name:?}");
        let expected = [None, may(program, is_passed)];
        assert_eq!(place.lent(&Files { program: name, ..Files::default() }), expected, "{name:?}");
    }
}

/// The same of tools: who can write what they are made of runs what they like, without a sandbox.
#[test]
fn what_tools_are_made_of_is_not_lent() {
    let tool = |command: &str, schema: &str| {
        format!("[[tool]]\nname = \"t\"\ndescription = \"t\"\ncommand = [{command}]\n{schema}\n")
    };
    let inline = "input_schema = { type = \"object\" }";
    let server = |more: &str| format!("[mcp.s]\ntools = [\"t\"]\n{more}\n");
    let list = Some("the tools file");
    for (file, text, expected) in [
        ("elsewhere/tools.toml", tool("\"cat\"", inline), [None, None]),
        ("work/tools.toml", tool("\"cat\"", inline), [None, list]),
        ("work/tools.toml", server("command = [\"x\"]\nenv = { KEY = \"secret\" }"), [list, list]),
        ("elsewhere/tools.toml", server("command = [\"x\"]\nenv = { KEY = \"secret\" }"), [None, None]),
        ("work/tools.toml", server("url = \"http://x\"\nheaders = { KEY = \"secret\" }"), [list, list]),
        ("elsewhere/tools.toml", tool("\"../work/file\"", inline), [None, Some("a tool's program")]),
        ("elsewhere/tools.toml", server("command = [\"../work/file\"]"), [None, Some("a tool's program")]),
        (
            "elsewhere/tools.toml",
            tool("\"cat\"", "input_schema_file = \"../work/file\""),
            [None, Some("a tool's schema")],
        ),
    ] {
        let place = Place::new().with_tools(file, &text);
        assert_eq!(place.lent(&Files::default()), expected, "{file} {text}");
    }
}

/// Whoever can read the device's files can be the device; who can write them can undo its record.
#[test]
fn the_files_of_devices_are_not_lent() {
    let place = Place::new();
    let home = Home::of(&place.path("home"), &"laptop".parse().unwrap());
    home.create().unwrap();
    symlink(place.path("home/device"), place.path("elsewhere/link")).unwrap();
    for (directory, is_refused) in [
        ("", true),
        ("home", true),
        ("home/device", true),
        ("home/device/laptop", true),
        ("elsewhere/link", true),
        ("elsewhere", false),
        ("work", false),
    ] {
        let surroundings = Surroundings {
            home: &home,
            config: None,
            token: None,
            unit: None,
            program: Path::new("/usr/bin/env"),
            environment: BTreeMap::new(),
        };
        let text = format!("main={}", place.path(directory).display());
        let root = LentRoot::parse(&text, crate::Places { base: Path::new("/"), home: None }).unwrap();
        let refused = apart(&[root], &surroundings, None).map_err(|error| error.to_string());
        match refused {
            Ok(()) => assert!(!is_refused, "{directory}"),
            Err(why) => assert!(
                is_refused && why.contains("lend another directory, or move the file out of it"),
                "{directory}: {why}"
            ),
        }
    }
}
