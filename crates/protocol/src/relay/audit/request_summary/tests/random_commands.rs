//! Random command lines with secrets everywhere: none is recorded.

use serde_json::{Value, json};

use super::{super::RequestSummary, summary_of};
use crate::relay::audit::known_programs::{self, KNOWN_PROGRAMS};

const LINES: usize = 100_000;

const SECRET_CHARS_MIN: usize = 4;

/// How many templates, from the first, are plain commands.
const PLAIN_TEMPLATES: usize = 19;

/// Commands; each `@` stands for a secret.
#[rustfmt::skip]
const TEMPLATES: &[&str] = &[
    // Programs and arguments.
    "@", "@ @", "ls @", "curl -H @ -u @:@", "mysql -p@", "mysql:-p@", "/usr/bin/@", "./@", "@/ls", "~/@", "/@/ls",
    "sudo @", "sh -c @", "eval @", ". @", "xargs @", "git commit -m \"@ @\"", "echo 'a; @; b' \"c | @\"", "echo @=@",
    // Assignments in all forms of quoting.
    "A=@ make", "A=\"@ @\" make x", "A='@ @' curl @", "A=@\\ @ make", "A=\"@\\\" @\" make", "A=$'@ @' make",
    "A=$(printf \"@ @\") true", "A=`echo @` true", "A=${B:-@} make", "A=\"${B:-@ @}\" make", "A+=@ make", "A=(@ @) make",
    "A[1]=@ make", "A=@ B=\"@ @\" C=@ make", "A=@", "export A=@", "export A=\"@ @\"", "env A=@ make", "A=\"x y=z @\" true",
    "A=$B@ make", "PATH=@ ls", "\"A=@\" make", "A=@'@ @' make", "A=\"@\n@\" make", "A=\"@", "A='@", "declare -x A=@",
    // Here documents, here strings and redirections.
    "<<<@ cat", "cat <<<@", "cat <<< \"@ @\"", "cat <<EOF\n@\nEOF", "cat <<'EOF'\n@ @\n@\nEOF\nls", "cat <<-X\n\t@\nX",
    "make >@", ">@ make", "make 2> @", "2>@ make", "cat <@", "make >&@", "make &>@", "make >|@", "make <>@", "3<@ 4>@ ls",
    "make 2>&1", "make >/dev/null@", "make 2>&1@",
    // Quotes, escapes, expansions and comments.
    "\"@\"", "'@' x", "ec'@'ho", "\\@", "@\"a b\"", "\"ls @\"", "$@", "${@}", "$'@'", "ls $@", "ls \"$@\"", "ls ~@",
    "echo \"a\\\"; @\"", "echo 'it'\\''s; @'", "echo a\\;@", "echo \\\n@", "# @", "ls # @", "ls #@\n@", "*@", "@?",
    "echo \"@", "echo '@",
    // Substitutions.
    "$(@)", "`@`", "echo $(@ | @)", "echo $((@ + 1))", "cat <(@)", "tee >(@)", "echo \"$(@ \"@\")\"", "echo `@ \\`@\\``",
    // Compound commands.
    "(@)", "(PASS=\"a @\" env)", "{ @; }", "if @; then @; elif @; then @; else @; fi", "for x in @ @; do echo $x; done",
    "for @ in a; do @; done", "while @; do @; done", "until @\ndo @\ndone", "case @ in @) @;; *) @;; esac", "f() { @; }; f",
    "@() { ls; }; @", "function @ { @; }", "! @", "[ @ = @ ]", "[[ @ == @ ]]", "((@))", "time @", "coproc @", "select x in @; do @; done",
    "alias ls=@", "alias x='@ @'; x", "ls; alias @=ls\n@", "trap '@' EXIT", "set -- @ @", "read A <<X\n@\nX",
    // Programs that run other programs, and code in other languages.
    "env -S '@ @'", "env -S\"A=@ make\"", "env -i -S '@'", "ssh host '@ @'", "ssh host \"curl -H @\"", "ssh @@@ ls",
    "xargs -I{} @ {}", "echo @ | xargs -n1 @", "find . -exec @ {} +", "exec @", "command @", "builtin @", "nohup @ &", "nice -n @ ls",
    "timeout 1 @", "docker run -e A=@ x", "kubectl exec p -- @", "git -c http.extraHeader=@ push", "python3 -c '@'",
    "node -e \"@\"", "awk '/@/ {print @}'", "sed s/@/@/", "sh <<'X'\n@\nX", ". <(echo @)", "printf @ | sudo -S ls",
    "curl https://u:@@h/", "mysql --password=@", "PGPASSWORD=@ psql", "aws --secret-key=@ s3 ls", "openssl enc -k @",
    // Pipes of encoded text.
    "echo @ | base64 -d | sh", "base64 -d <<<@ | sh", "base64 -d <<X | sh\n@\nX", "xxd -r -p <<< @", "printf '\\x@'",
    // Arrays, functions and arithmetic.
    "A=([0]=@ [x]=@); ls", "A+=(@)", "declare -A A=([@]=@)", "mapfile A <<<@", "f () (@); f @", "function f() { @; }; f @",
    "let x=@", "echo $[@]", "((x = @)) && ls", "readonly A=@", "typeset A=@", "local A=@; ls", "printf -v A @",
    // Variables as programs, and other expansions.
    "$A @", "\"$A\" @", "${A} @", "A=@; $A", "A=ls; $A @", "${A:+@} x", "${A/@/@} x", "${A#@}", "~@/ls", "{ls,@}", "l{s,@}",
    "$'\\x6cs' @", "$\"@\"", "\"$(<@)\"", "ls $'@\\'@' @",
    // Comments and line continuations.
    "ls; # @", "ls#@", "#@\nls", "ls # '\n@\n'", "ls \\\n @", "l\\\ns @", "A=@\\\n@ ls", "ls \\\n# @", "\\\n@",
    // Blanks that are none, and characters that are not seen.
    "ls\u{a0}@", "\u{a0}@", "ls\u{2003}@", "\u{3000}@ ls", "@\u{200b}ls", "ls\u{2028}@", "ls\u{85}@", "\u{feff}ls @", "ls\r@",
    "ls\r\n@", "ls\u{b}@", "ls\u{c}@", "ls\0@", "l\u{301}s @", "\u{202e}@", "A=\u{a0}@ ls", "ls;\u{a0}@",
    // History, job control and options of the shell.
    "!@", "^@^@", "%@", "ls &>@", "exec 3<>@", "ls >(@)", "set -a; A=@", "hash -p @ ls", "enable -f @ ls", "ulimit @; ls",
];

const SEPARATORS: &[&str] =
    &["; ", ";", " && ", "&&", " || ", "|", " | ", " & ", "&", "\n", " ", "", " |& ", ";;"];

const INSERTED: &[u8] = b" \t\n;&|<>()$`\\\"'=#*?[]{}!~:%^,@+-./aA1";

/// SplitMix64: repeatable, and random enough to combine templates.
struct Random {
    state: u64,
    recorded_anyway: String,
}

impl Random {
    fn new(seed: u64) -> Self {
        let texts = "command_count programs unnamed_count line_bytes argument_count commands: other a shell command Some None";
        Self { state: seed, recorded_anyway: format!("{texts} {}", KNOWN_PROGRAMS.join(" ")) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).unwrap()
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A secret that is not part of a text that is recorded anyway.
    fn secret(&mut self) -> String {
        let alphabets: [&[u8]; 3] = [
            b"abcdefghijklmnopqrstuvwxyz",
            b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
            b"abcdefghijklmnopqrstuvwxyz0123456789_-./+",
        ];
        loop {
            let alphabet = self.pick(&alphabets);
            let length = SECRET_CHARS_MIN + self.below(16);
            let secret: String = (0..length).map(|_| char::from(self.pick(alphabet))).collect();
            if !self.recorded_anyway.contains(&secret) {
                return secret;
            }
        }
    }

    /// A secret of which a part was recorded that is not part of a text that is recorded anyway.
    fn leaked<'a>(&self, secrets: &'a [String], recorded: &str) -> Option<&'a str> {
        // Only what stands between other characters than those of secrets can be a part of one. Most of that is expected.
        let is_secret_char = |char: char| char.is_ascii_alphanumeric() || "_-./+".contains(char);
        let words =
            recorded.split(|char| !is_secret_char(char)).filter(|word| word.len() >= SECRET_CHARS_MIN);
        let unexpected: Vec<_> = words.filter(|word| !self.recorded_anyway.contains(*word)).collect();
        let is_leaked = |secret: &&String| {
            let mut parts =
                (0..=secret.len() - SECRET_CHARS_MIN).map(|start| &secret[start..start + SECRET_CHARS_MIN]);
            parts.any(|part| unexpected.iter().any(|word| word.contains(part)))
        };
        secrets.iter().find(is_leaked).map(String::as_str)
    }

    fn fill(&mut self, template: &str, secrets: &mut Vec<String>) -> String {
        let mut parts = template.split('@');
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let secret = self.secret();
            filled.push_str(&secret);
            filled.push_str(part);
            secrets.push(secret);
        }
        filled
    }

    /// One to four commands, and now and then a stray character in or one missing from them.
    fn line(&mut self, secrets: &mut Vec<String>) -> String {
        let mut line = String::new();
        for index in 0..=self.below(4) {
            if index > 0 {
                line.push_str(self.pick(SEPARATORS));
            }
            // Other templates are seldom certain, so that without more of the plain ones little would be named.
            let templates = if self.below(2) == 0 { &TEMPLATES[..PLAIN_TEMPLATES] } else { TEMPLATES };
            let template = self.pick(templates);
            line.push_str(&self.fill(template, secrets));
        }
        for _ in 0..self.below(3) {
            let at = self.below(line.len() + 1);
            let at = line.floor_char_boundary(at);
            if self.below(2) == 0 {
                line.insert(at, char::from(self.pick(INSERTED)));
            } else if at < line.len() {
                line.remove(at);
            }
        }
        line
    }

    fn params(&mut self, secrets: &mut Vec<String>) -> Value {
        if self.below(8) > 0 {
            return json!({ "command": self.line(secrets) });
        }
        let argv: Vec<String> = (0..=self.below(3)).map(|_| self.line(secrets)).collect();
        json!({ "argv": argv, "env": { "KEY": self.fill("@", secrets) } })
    }
}

/// relay-154: in 100,000 random commands no four characters in a row of any secret are recorded, in whatever place it stands.
#[test]
fn no_secret_of_a_random_command_is_kept() {
    let mut random = Random::new(0x7061_7373);
    let mut named = 0;
    for number in 0..LINES {
        let mut secrets = Vec::new();
        let params = random.params(&mut secrets);
        let summary = summary_of(&params);
        let recorded = format!("{} {:?}", json!(summary), RequestSummary::subject(&summary));
        let leaked = random.leaked(&secrets, &recorded);
        assert_eq!(leaked, None, "{number}: {params} is recorded as {recorded}");
        let programs = summary.get("programs").and_then(Value::as_array).into_iter().flatten();
        for program in programs {
            let program = program.as_str().unwrap();
            assert_eq!(known_programs::find(program), Some(program), "{number}: {params}");
            named += 1;
        }
    }
    assert!(named > LINES / 10, "the templates name only {named} programs, so the test shows little");
}
