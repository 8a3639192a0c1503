use super::*;

fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn of_file(text: &str, pairs: &[(&str, &str)]) -> NpmConfig {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(".npmrc"), text).unwrap();
    NpmConfig::of_files(&UserEnvironment {
        variables: variables(pairs),
        home: Some(home.path().to_path_buf()),
        project: None,
    })
}

/// daemon-7: the registry's address comes from the user's npm configuration.
#[test]
fn the_registry_is_that_of_the_users_file() {
    let text =
        "; a remark\n# another\n registry = \"https://one.example/npm/\"\n@a:registry=https://two.example\n";
    let config = of_file(text, &[]);
    assert_eq!(config.registry("x").unwrap(), "https://one.example/npm");
    assert_eq!(config.registry("@a/x").unwrap(), "https://two.example");
    assert_eq!(config.registry("@b/x").unwrap(), "https://one.example/npm");
}

#[test]
fn the_environment_is_stronger_than_a_file_in_either_spelling() {
    for name in ["npm_config_registry", "NPM_CONFIG_REGISTRY", "npm_config_REGISTRY"] {
        let config = of_file("registry=https://file.example", &[(name, "https://variable.example/")]);
        assert_eq!(config.registry("x").unwrap(), "https://variable.example", "{name}");
    }
    let config = of_file("registry=https://file.example", &[("npm_config_registry", "")]);
    assert_eq!(config.registry("x").unwrap(), "https://file.example", "an empty variable is none");
}

#[test]
fn another_users_file_can_be_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rc");
    std::fs::write(&file, "registry=https://named.example").unwrap();
    let config =
        of_file("registry=https://home.example", &[("NPM_CONFIG_USERCONFIG", file.to_str().unwrap())]);
    assert_eq!(config.registry("x").unwrap(), "https://named.example");
}

#[test]
fn the_project_is_stronger_than_the_user() {
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(home.path().join(".npmrc"), "registry=https://user.example\ncafile=/ca.pem").unwrap();
    std::fs::write(project.path().join(".npmrc"), "registry=https://project.example").unwrap();
    let config = NpmConfig::of_files(&UserEnvironment {
        variables: BTreeMap::new(),
        home: Some(home.path().into()),
        project: Some(project.path().into()),
    });
    assert_eq!(config.registry("x").unwrap(), "https://project.example");
    assert_eq!(config.certificates(), Some("/ca.pem".into()));
}

#[test]
fn variables_in_a_file_are_filled_in() {
    let text =
        "registry=https://${HOST}/npm\n//${HOST}/npm/:_authToken=${TOKEN}\n@a:registry=${GONE?}${GONE}";
    let config = of_file(text, &[("HOST", "h.example"), ("TOKEN", "secret")]);
    assert_eq!(config.registry("x").unwrap(), "https://h.example/npm");
    assert_eq!(config.authorization("https://h.example/npm/x").unwrap(), "Bearer secret");
    assert_eq!(config.get("@a:registry"), Some("${GONE}"));
}

#[test]
fn a_secret_is_shown_only_to_the_server_that_it_is_for() {
    let text = "//h.example/a/:_authToken=one\n//h.example/:_auth=two\n//p.example:8080/:username=u\n//p.example:8080/:_password=cGFzcw==\n";
    let config = of_file(text, &[]);
    let check = |url: &str, expected: Option<&str>| {
        assert_eq!(config.authorization(url).as_deref(), expected, "{url}");
    };
    check("https://h.example/a/x/-/x-1.tgz", Some("Bearer one"));
    check("https://h.example/a", Some("Bearer one"));
    check("https://h.example/ab/x", Some("Basic two"));
    check("https://h.example/", Some("Basic two"));
    check("https://p.example:8080/x", Some("Basic dTpwYXNz"));
    check("https://p.example/x", None);
    check("https://other.example/a/x", None);
    check("https://h.example.evil.example/a/x", None);
}

#[test]
fn without_a_registry_it_says_so() {
    assert_eq!(of_file("cafile=/x", &[]).registry("x"), Err(ConfigError::NoRegistry));
    assert_eq!(of_file("registry=ftp://x", &[]).registry("x"), Err(ConfigError::NotAnAddress));
}
