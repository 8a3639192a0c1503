use super::*;

#[track_caller]
fn check(line: &str, expected: &[&str]) {
    let found: Option<Vec<_>> =
        program_words(line).map(|words| words.into_iter().map(|word| word.unwrap_or("=")).collect());
    assert_eq!(found.as_deref(), Some(expected), "{line:?}");
}

#[test]
fn plain_lines_have_programs() {
    check("ls", &["ls"]);
    check("  make -j  8 ", &["make"]);
    check("ls -la X; id; whoami", &["ls", "id", "whoami"]);
    check("cd a && make || echo \"it failed\" | tee log &", &["cd", "make", "echo", "tee"]);
    check("git commit -m 'a; b' --author=\"$USER <x>\"", &["git"]);
    check("A=1 B=2 make", &["make"]);
    check("A=1; make\n\necho done\n", &["=", "make", "echo"]);
    check("make all 2>&1 >/dev/null | tail -5", &["make", "tail"]);
    check("ls>/dev/null;id", &["ls", "id"]);
    check("sleep 1 & wait", &["sleep", "wait"]);
    check("find . -name '*.rs' -exec wc -l {} +", &["find"]);
    check("echo a &&\n\n echo b", &["echo", "echo"]);
    check("./build.sh", &["./build.sh"]);
    check("echo it#s $HOME $1 $?", &["echo"]);
}

/// Constructs that hide a program, and lines that no shell accepts.
#[rustfmt::skip]
const DOUBTFUL: &[&str] = &[
    "", "  \n", ";", "ls ;; id", "ls; ; id", "ls &&", "| ls", "ls |& id", "ls &> x", "ls & & id", "\"ls\"",
    "l's'", "\\ls", "ls \\", "$LS", "l$x", "`ls`", "echo `ls`", "echo $(ls)", "echo \"$(ls)\"", "echo ${A}",
    "A=$B ls", "A=\"b c\" ls", "A='b c' ls", "A=b\\ c ls", "A=(b c) ls", "A+=b ls", "(ls)", "{ ls; }", "! ls",
    "[ -f x ]", "if ls; then id; fi", "for i in a; do ls; done", "while ls; do id; done", "f() { ls; }",
    "time ls", "ls # x", "# x", "cat <<EOF\nx\nEOF", "cat <<<x", "<<<x cat", "ls > x", ">x ls", "2>&1 ls",
    "2>/dev/null ls", "cat < x", "ls >/dev/nullx", "ls >&x", "ls > $x", "echo 'x", "echo \"x", "echo $",
    "echo $'x'", "echo $\"x\"", "~/ls", "l*", "mysql:-px", "alias ls=rm", "PATH=/tmp ls",
    "export PATH=/tmp; ls", "env LD_PRELOAD=x ls", "ls\r", "lś", "echo ś", "\u{a0}ls", "a=b=c d=e f'",
    "echo a\0b", "1=2 ls", "=b ls",
];

#[test]
fn doubtful_lines_have_none() {
    for line in DOUBTFUL {
        assert_eq!(program_words(line), None, "{line:?}");
    }
    assert_eq!(program_words(&format!("echo {}", "x".repeat(LINE_BYTES_MAX))), None);
}
