//! Files and arguments of the programs that the daemon runs: `SandboxFusion`'s and Piston's.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::daemon::Daemon;

fn daemon() -> Daemon {
    let config = "[[reward]]\nname = 'correct'\nverifier = 'exact'\n";
    Daemon::start(&[("main", config)], &["--set", "serve.run_programs=true"])
}

fn run_code(daemon: &Daemon, request: &Value) -> Value {
    let answer = daemon.post("/run_code", request);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// Runs a program with files, and asks for some afterwards.
fn with_files(daemon: &Daemon, language: &str, code: &str, files: &[(&str, &str)]) -> Value {
    let files: Value = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), json!(STANDARD.encode(text))))
        .collect();
    let fetch = json!(["out.txt", "d/more.bin", "/tmp/far.txt", "none.txt", "d"]);
    let request = json!({
        "code": code, "language": language, "stdin": "in", "files": files, "fetch_files": fetch,
    });
    run_code(daemon, &request)
}

fn fetched(reply: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| {
        String::from_utf8(STANDARD.decode(value.as_str().unwrap()).unwrap()).unwrap()
    };
    let files = reply["files"].as_object().unwrap();
    files.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

const PYTHON: &str = r#"
import csv, json, os, pathlib, helper
from pkg.inner import x
print(open("a.csv").read().split(), open("/a.csv", "rb").read(3), pathlib.Path("d/b.json").read_text())
print([row["n"] for row in csv.DictReader(open("a.csv"))], json.load(open("d/b.json")), helper.f(x))
print(sorted(os.listdir(".")), os.listdir("d"), os.path.exists("a.csv"), os.path.isdir("d"), os.path.exists("none"))
print(os.path.getsize("a.csv"), os.getcwd(), __name__, os.path.exists(__file__), input())
with open("out.txt", "w") as out:
    print("first", file=out)
with open("out.txt", "a", encoding="utf-8") as out:
    out.write("sécond")
print(repr(open("out.txt").read()))
pathlib.Path("d/more.bin").write_bytes(b"bytes")
with open("d/more.bin", "r+b") as file:
    file.seek(2)
    file.write(b"TE")
os.makedirs("x/y/z")
pathlib.Path("x/y/z/new.py").write_text("value = 7")
import x.y.z.new
os.rename("x/y/z/new.py", "x/old.py")
os.remove("x/old.py")
print(x.y.z.new.value, [(folder, sorted(names)) for folder, _, names in os.walk("x")])
open("/tmp/far.txt", "w").write("far")
for wrong in (lambda: open("none"), lambda: open("d"), lambda: os.rmdir("d"), lambda: open("a.csv", "x"), lambda: os.mkdir("a.csv/e")):
    try:
        wrong()
    except OSError as error:
        print(type(error).__name__, end=" ")
"#;

#[test]
fn a_python_program_of_sandbox_fusion_has_files() {
    let daemon = daemon();
    let files = [
        ("a.csv", "n,m\n1,2\n3,4\n"),
        ("d/b.json", "[1]"),
        ("helper.py", "def f(x):\n    return x + 1\n"),
        ("pkg/inner.py", "x = 5"),
    ];
    let reply = with_files(&daemon, "python", PYTHON, &files);
    let run = &reply["run_result"];
    let expected = "['n,m', '1,2', '3,4'] b'n,m' [1]\n['1', '3'] [1] 6\n\
                    ['a.csv', 'd', 'helper.py', 'pkg'] ['b.json'] True True False\n12 / __main__ True in\n\
                    'first\\nsécond'\n7 [('x', []), ('x/y', []), ('x/y/z', [])]\n\
                    FileNotFoundError IsADirectoryError OSError FileExistsError NotADirectoryError ";
    assert_eq!((&run["stdout"], &run["stderr"]), (&json!(expected), &json!("")), "{run}");
    assert_eq!(reply["status"], "Success", "{run}");
    let expected = [("/tmp/far.txt", "far"), ("d/more.bin", "byTEs"), ("out.txt", "first\nsécond")];
    assert_eq!(fetched(&reply), pairs(&expected));
}

#[test]
fn what_was_written_comes_back_however_the_program_ends() {
    let daemon = daemon();
    let write = "out = open('out.txt', 'w')\nout.write('kept')\n";
    for (end, code) in [
        ("", json!(0)),
        ("raise ValueError('no')", json!(1)),
        ("import sys\nsys.exit(3)", json!(3)),
        ("import atexit\natexit.register(lambda: print('bye'))", json!(0)),
        // A component says no more of its end than that it is a bad one.
        ("out.close()\nimport os\nos._exit(4)", json!(1)),
        ("out.flush()\nwhile True: pass", Value::Null),
        ("out.close()\nimport threading\nthreading.Thread(target=lambda: 1 / 0).start()", json!(0)),
        ("print('{\"files\": {}}', '\\0' * 99)", json!(0)),
    ] {
        let request = json!({
            "code": format!("{write}{end}"), "language": "python", "run_timeout": 1,
            "fetch_files": ["out.txt"],
        });
        let reply = run_code(&daemon, &request);
        assert_eq!(reply["run_result"]["return_code"], code, "{end}: {reply}");
        assert_eq!(fetched(&reply), pairs(&[("out.txt", "kept")]), "{end}: {reply}");
    }
    let write = "require('fs').writeFileSync('out.txt', 'kept');\n";
    for (end, code) in
        [("", 0), ("throw new Error('no')", 1), ("process.exit(3)", 3), ("Promise.reject(1)", 1)]
    {
        let reply = with_files(&daemon, "nodejs", &format!("{write}{end}"), &[]);
        assert_eq!(reply["run_result"]["return_code"], code, "{end}: {reply}");
        assert_eq!(fetched(&reply), pairs(&[("out.txt", "kept")]), "{end}: {reply}");
    }
}

const JAVASCRIPT: &str = r"
const fs = require('fs'), path = require('path');
console.log(fs.readFileSync('a.csv', 'utf8').split('\n'), fs.readFileSync('/a.csv').subarray(0, 3).toString());
console.log(fs.readdirSync('.'), fs.readdirSync('d'), fs.existsSync('a.csv'), fs.existsSync('none'), require('./d/b'));
console.log(fs.statSync('a.csv').size, fs.statSync('d').isDirectory(), __filename, path.basename(process.argv[1]));
fs.writeFileSync('out.txt', 'first\n');
fs.appendFileSync('out.txt', 'sécond');
console.log(fs.readFileSync('out.txt', 'utf8'));
fs.mkdirSync('x/y', { recursive: true });
fs.writeFileSync('x/y/m.js', 'exports.seven = 7; exports.who = __dirname;');
console.log(require('./x/y/m'), fs.readdirSync('x', { recursive: true }));
fs.rmSync('x', { recursive: true });
const fd = fs.openSync('d/more.bin', 'w+');
fs.writeSync(fd, 'bytes');
fs.writeSync(fd, Buffer.from('TE'), 0, 2, 2);
const back = Buffer.alloc(3);
console.log(fs.readSync(fd, back, 0, 3, 1), back.toString());
fs.closeSync(fd);
for (const wrong of [() => fs.readFileSync('none'), () => fs.readFileSync('d'), () => fs.rmdirSync('d'), () => fs.mkdirSync('d')]) {
  try { wrong(); } catch (error) { console.log(error.code, error.message); }
}
(async () => {
  await fs.promises.writeFile('/tmp/far.txt', await fs.promises.readFile('out.txt', 'utf8'));
  const stream = fs.createWriteStream('/tmp/far.txt', { flags: 'a' });
  stream.write('!');
  stream.end(() => fs.createReadStream('/tmp/far.txt', 'utf8').on('data', (text) => console.log(text.length)));
})();
";

#[test]
fn a_javascript_program_of_sandbox_fusion_has_files() {
    let daemon = daemon();
    let files = [("a.csv", "n,m\n1,2"), ("d/b.json", "{\"c\": [1]}")];
    let reply = with_files(&daemon, "nodejs", JAVASCRIPT, &files);
    let run = &reply["run_result"];
    let expected = "[ 'n,m', '1,2' ] n,m\n[ 'a.csv', 'd' ] [ 'b.json' ] true false { c: [ 1 ] }\n\
                    7 true /main.js main.js\nfirst\nsécond\n{ seven: 7, who: '/x/y' } [ 'y', 'y/m.js' ]\n3 yTE\n\
                    ENOENT ENOENT: no such file or directory, open 'none'\n\
                    EISDIR EISDIR: illegal operation on a directory, read\n\
                    ENOTEMPTY ENOTEMPTY: directory not empty, rmdir 'd'\n\
                    EEXIST EEXIST: file already exists, mkdir 'd'\n13\n";
    assert_eq!(run["stdout"], expected, "{run}");
    assert_eq!(reply["status"], "Success", "{run}");
    let expected =
        [("/tmp/far.txt", "first\nsécond!"), ("d/more.bin", "byTEs"), ("out.txt", "first\nsécond")];
    assert_eq!(fetched(&reply), pairs(&expected));

    let code =
        "import { f, y } from './m.mjs';\nimport old from './old.js';\nconsole.log(f(old.x), y);";
    let files = [
        ("m.mjs", "import { y } from './n.mjs';\nexport const f = (x) => x + 1;\nexport { y };"),
        ("n.mjs", "export const y = import.meta.url;"),
        ("old.js", "exports.x = 1;"),
    ];
    let reply = with_files(&daemon, "nodejs", code, &files);
    assert_eq!(reply["run_result"]["stdout"], "2 file:///n.mjs\n", "{reply}");
}

#[test]
fn no_file_of_the_machine_or_of_another_request_is_there() {
    let daemon = daemon();
    let found = "import os\nprint([path for path in ('/etc/passwd', '/proc', '../../etc', 'Cargo.toml', '/out.txt', '/dev/stdin')\
                 if os.path.exists(path)], os.listdir('/'), os.listdir('..'), os.listdir('/tmp'))\nopen('out.txt', 'w').write('x')\n\
                 try:\n    os.symlink('/etc', 'link')\nexcept OSError as error:\n    print(type(error).__name__)";
    for _ in 0..2 {
        let reply = with_files(&daemon, "python", found, &[]);
        assert_eq!(reply["run_result"]["stdout"], "[] [] [] []\nOSError\n", "{reply}");
    }
    // A file whose content is null is none, and a name of the program's own is free for another.
    let request = json!({
        "code": "import os\nprint(os.listdir('.'), open('main.py').read(), os.path.basename(__file__))",
        "language": "python", "files": { "a": null, "main.py": "bWluZQ==" }, "fetch_files": null,
    });
    let reply = run_code(&daemon, &request);
    assert_eq!(reply["run_result"]["stdout"], "['main.py'] mine _main.py\n", "{reply}");
}

#[test]
fn files_are_bounded() {
    let daemon = daemon();
    let code = "part = bytes(1 << 20)\nwith open('out', 'wb', buffering=0) as out:\n    try:\n        while True:\n\
                \x20           out.write(part)\n    except OSError as error:\n        print(type(error).__name__, out.tell() >> 20)";
    let request = json!({ "code": code, "language": "python", "fetch_files": ["out", "./out"] });
    let answer = run_code(&daemon, &request);
    assert_eq!(answer["status"], "SandboxError");
    assert!(answer["message"].as_str().unwrap().contains("too large"), "{}", answer["message"]);
    let request = json!({ "code": code, "language": "python" });
    let run = &run_code(&daemon, &request)["run_result"];
    assert_eq!(run["stdout"], "OSError 31\n", "{run}");
    let code = "import os\nopened = []\ntry:\n    while True:\n        opened.append(os.open('/', os.O_RDONLY))\n\
                except OSError:\n    print(len(opened) > 500)";
    let run = &run_code(&daemon, &json!({ "code": code, "language": "python" }))["run_result"];
    assert_eq!(run["stdout"], "True\n", "{run}");
}

#[test]
fn a_program_of_piston_has_arguments() {
    let daemon = daemon();
    let execute = |language: &str, name: &str, code: &str| {
        let request = json!({
            "language": language, "version": "*", "args": ["--flag", "ü 'x'", ""],
            "files": [{ "name": name, "content": code }, { "name": "d/a.txt", "content": "text" }],
        });
        let answer = daemon.post("/api/v2/execute", &request);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["run"].clone()
    };
    let code = "import sys, argparse\nprint(sys.argv, open('d/a.txt').read(), open(__file__).read()[:6])\n\
                parser = argparse.ArgumentParser()\nparser.add_argument('--flag', nargs=2)\nprint(parser.parse_args().flag)";
    let run = execute("python", "src/main.py", code);
    let expected = "['src/main.py', '--flag', \"ü 'x'\", ''] text import\n[\"ü 'x'\", '']\n";
    assert_eq!(run["stdout"], expected, "{run}");
    let run = execute(
        "javascript",
        "index.js",
        "console.log(process.argv.slice(1), require.main === module)",
    );
    assert_eq!(run["stdout"], "[ '/index.js', '--flag', \"ü 'x'\", '' ] true\n", "{run}");
}

#[cfg(feature = "c")]
const C: &str = r#"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char text[32] = {0}, line[8] = {0};
    FILE *in = fopen("a.csv", "r");
    fread(text, 1, sizeof text - 1, in);
    fclose(in);
    fgets(line, sizeof line, stdin);
    printf("%d %s %s", argc, line, text);
    struct stat about;
    printf("%d %d %d\n", stat("d", &about), S_ISDIR(about.st_mode) != 0, access("none", F_OK));
    FILE *out = fopen("out.txt", "w");
    fprintf(out, "first\n");
    fclose(out);
    out = fopen("out.txt", "a");
    fputs("second", out);
    fclose(out);
    FILE *both = fopen("d/more.bin", "w+b");
    fputs("bytes", both);
    fseek(both, 2, SEEK_SET);
    fputs("TE", both);
    rewind(both);
    fgets(text, sizeof text, both);
    fclose(both);
    puts(text);
    int names = 0;
    DIR *here = opendir(".");
    while (readdir(here)) names++;
    closedir(here);
    mkdir("x", 0777);
    rename("out.txt", "x/moved");
    rename("x/moved", "out.txt");
    printf("%d %d %d\n", names >= 3, rmdir("x"), unlink("a.csv"));
    out = fopen("/tmp/far.txt", "w");
    fputs("far", out);
    fclose(out);
    printf("%s %s\n", fopen("none", "r") ? "there" : strerror(errno), fopen("/etc/passwd", "r") ? "there" : "none");
}
"#;

#[cfg(feature = "c")]
const CPP: &str = r#"
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

int main() {
    std::string word, text, name;
    std::cin >> word;
    std::ifstream in("a.csv");
    while (in >> name) text += name + ";";
    std::cout << word << " " << text << " " << std::ifstream("d/b.json").good() << std::ifstream("none").good() << "\n";
    std::ofstream("out.txt") << "first\n";
    std::ofstream("out.txt", std::ios::app) << "second";
    std::fstream more("d/more.bin", std::ios::in | std::ios::out | std::ios::binary | std::ios::trunc);
    more << "bytes";
    more.seekp(2);
    more << "TE";
    more.close();
    std::ifstream back("out.txt", std::ios::ate);
    std::cout << std::remove("a.csv") << back.tellg() << "\n";
    std::ofstream("/tmp/far.txt") << "far";
}
"#;

#[cfg(feature = "c")]
#[test]
fn programs_of_c_and_cpp_have_files() {
    let daemon = daemon();
    for (language, code, expected) in [
        ("c", C, "1 in n,m\n1,2\n0 1 -1\nbyTEs\n1 0 0\nNo such file or directory none\n"),
        ("cpp", CPP, "in n,m;1,2; 10\n012\n"),
    ] {
        let files = [("a.csv", "n,m\n1,2\n"), ("d/b.json", "[1]")];
        let reply = with_files(&daemon, language, code, &files);
        let run = &reply["run_result"];
        assert_eq!((&run["stdout"], &run["stderr"]), (&json!(expected), &json!("")), "{reply}");
        assert_eq!(reply["status"], "Success", "{reply}");
        let expected =
            [("/tmp/far.txt", "far"), ("d/more.bin", "byTEs"), ("out.txt", "first\nsecond")];
        assert_eq!(fetched(&reply), pairs(&expected), "{language}");
    }
}

#[cfg(feature = "c")]
#[test]
fn programs_of_c_have_the_arguments_of_piston() {
    let daemon = daemon();
    let code = "#include <stdio.h>\nint main(int argc, char **argv) {\n    for (int at = 1; at < argc; at++) \
                printf(\"[%s]\", argv[at]);\n    return argc;\n}";
    for (language, version) in [("c", "*"), ("c++", "*")] {
        let request = json!({
            "language": language, "version": version, "args": ["a", "", "b c"],
            "files": [{ "content": code }],
        });
        let answer = daemon.post("/api/v2/execute", &request);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let run = &answer.json()["run"];
        assert_eq!((&run["stdout"], &run["code"]), (&json!("[a][][b c]"), &json!(4)), "{run}");
    }
}
