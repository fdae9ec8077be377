//! Fences at control states, from the analysis through every report and back into the text.

use crate::support::command::{command_in, stderr, stdout};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Two writes lead to the state where the thread starts, and two reads leave it.
const AUTOMATA: &str = include_str!("../support/junction.txt");

/// The same, but with a beginning.
const PAPER: &str = "program p
vars x y z
procs
process p
regs r s
init start
begin
start : skip ; goto a ;
start : skip ; goto b ;
a : y = 1 ; goto q ;
b : z = 1 ; goto q ;
q : r = x ; goto a ;
q : s = x ; goto b ;
end
process other
regs
init t
begin
t : x = 1 ; goto u ;
end
";

const SLCO: &str = "model m {
  classes C {
    variables Integer x Integer y Integer z
    state machines
    p {
      variables Integer r Integer s
      initial q states a b
      transitions
        q -> a { r := x }
        q -> b { s := x }
        a -> q { y := 1 }
        b -> q { z := 1 }
    }
    other {
      initial t states u
      transitions
        t -> u { x := 1 }
    }
  }
  objects o : C()
}
";

/// A program in a directory of its own.
struct Case {
    directory: TempDir,
    file: String,
}

impl Case {
    fn new(name: &str, text: &str) -> Case {
        let case = Case { directory: TempDir::new().unwrap(), file: name.to_owned() };
        fs::write(case.path(name), text).unwrap();
        case
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs seqcon in the directory.
    #[track_caller]
    fn seqcon(&self, arguments: &[&str], status: i32) -> String {
        let output = command_in(&self.directory, arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", stderr(&output));
        stdout(&output)
    }

    fn analyse(&self, file: &str, more: &[&str]) -> String {
        let analyse = ["analyse", file, "--engine", "persistence", "--mm", "tso"];
        self.seqcon(&[&analyse[..], more].concat(), 0)
    }

    /// Analyses, puts the report's fences into the text, and analyses that.
    #[track_caller]
    fn repaired(&self) -> String {
        let shown = self.analyse(&self.file, &["--json", "report.json", "--verify"]);
        assert!(shown.contains(" fences=1 ") && shown.contains("verified: yes"), "{shown}");
        let verified = self.seqcon(&["verify", &self.file, "--with", "report.json", "--property", "states"], 0);
        assert!(verified.contains("(1 fence and 0 atomic instructions put in)"), "{verified}");
        let fixed = format!("fixed-{}", self.file);
        self.seqcon(&["fix", &self.file, "--with", "report.json", "-o", &fixed], 0);
        let again = self.analyse(&fixed, &["--verify"]);
        assert!(again.contains(" fences=0 ") && !again.contains("violated"), "{again}");
        fs::read_to_string(self.path(&fixed)).unwrap()
    }
}

#[test]
fn automata_get_one_fence_on_a_new_state() {
    for name in ["p.txt", "p.trench"] {
        let text = Case::new(name, AUTOMATA).repaired();
        let expected = AUTOMATA
            .replace("a q write 1 1", "a q_f1 write 1 1")
            .replace("b q write 1 2\n", "b q_f1 write 1 2\ntransition q_f1 q mfence\n");
        assert_eq!(text, expected);
    }
    let text = Case::new("p.txt", PAPER).repaired();
    let expected = PAPER
        .replace("y = 1 ; goto q ", "y = 1 ; goto q_f1 ")
        .replace("z = 1 ; goto q ;\n", "z = 1 ; goto q_f1 ;\nq_f1 : fence ; goto q\n");
    assert_eq!(text, expected);
}

#[test]
fn slco_gets_one_on_each_way_in() {
    let text = Case::new("p.slco", SLCO).repaired();
    assert_eq!(text, SLCO.replace("y := 1 }", "y := 1; fence }").replace("z := 1 }", "z := 1; fence }"));
    // The fix of the SARIF report is the same.
    let case = Case::new("p.slco", SLCO);
    let sarif = case.analyse("p.slco", &["--sarif", "-"]);
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    let message = result["message"]["text"].as_str().unwrap();
    assert!(message.contains("is needed at the state behind p.2 (y := 1)"), "{message}");
    assert_eq!(result["properties"]["position"], "state");
    assert_eq!(result["relatedLocations"][0]["logicalLocations"][0]["fullyQualifiedName"], "p.3");
    let replacements = result["fixes"][0]["artifactChanges"][0]["replacements"].as_array().unwrap();
    let inserted: Vec<&str> = replacements.iter().map(|one| one["insertedContent"]["text"].as_str().unwrap()).collect();
    assert_eq!(inserted, ["; fence", "; fence"]);
}

#[test]
fn every_report_names_the_state() {
    let case = Case::new("p.txt", AUTOMATA);
    let shown = case.analyse("p.txt", &["--out", "."]);
    let expected = "  F0  mfence (plain) at state q, one for all ways into it: p.a-q (transition a q
      write 1 1), line 5, and 1 other lead there
";
    assert!(shown.contains(expected), "{shown}");
    let drawn = "   5 | transition a q write 1 1
  F0 +                         ^ mfence
   6 | transition b q write 1 2
  F0 +                         ^ the same fence
";
    assert!(shown.contains(drawn), "{shown}");
    // But for the one line for scripts.
    assert!(shown.lines().all(|line| line.starts_with("model=") || line.chars().count() <= 80), "{shown}");
    let read = |name: &str| fs::read_to_string(case.path(name)).unwrap();
    assert!(
        read("fences.csv").contains("\np,tso,p,a-q,state,plain,mfence,1,4,p.txt:5:1,yes\n"),
        "{}",
        read("fences.csv")
    );
    let json: serde_json::Value = serde_json::from_str(&read("report.json")).unwrap();
    let fence = &json["results"][0]["fences"][0];
    assert_eq!(
        (&fence["position"], &fence["state"], &fence["point"]),
        (&"state".into(), &"q".into(), &"p.a-q state".into())
    );
    assert!(fence.get("level").is_none());
    assert!(read("report.html").contains("at the state behind"));
    // Both writes lead to the fence, and the fence to both reads.
    let dot = read("aeg.dot");
    let node = dot.lines().find(|line| line.contains("at the state behind p.a-q")).unwrap().split_whitespace().next();
    let node = node.unwrap();
    let po = |from_fence: bool| {
        let edges = dot.lines().filter(|line| line.contains("class=\"po\""));
        let ends = edges.map(|line| line.split_whitespace().collect::<Vec<_>>());
        ends.filter(|words| words[if from_fence { 0 } else { 2 }] == node).count()
    };
    assert_eq!((po(false), po(true)), (2, 2), "{dot}");
}

#[test]
fn reports_are_compared_by_the_state() {
    let case = Case::new("p.txt", AUTOMATA);
    case.analyse("p.txt", &["--json", "one.json"]);
    fs::write(case.path("dear.toml"), "[points]\n\"p.b-q state\" = 3\n").unwrap();
    // Whichever instruction names the state, its weight counts: two fences are cheaper now.
    let shown = case.analyse("p.txt", &["--json", "two.json", "--cost", "dear.toml"]);
    assert!(shown.contains(" fences=2 "), "{shown}");
    let compared = case.seqcon(&["compare", "one.json", "two.json"], 1);
    assert!(compared.contains("at the state behind p.a-q"), "{compared}");
    // At a weight of 2 it is one of the cheapest choices, but not the most readable one.
    fs::write(case.path("dear.toml"), "[points]\n\"p.a-q state\" = 2\n").unwrap();
    let shown = case.analyse("p.txt", &["--cost", "dear.toml"]);
    assert!(shown.contains(" fences=2 "), "{shown}");
}

#[test]
fn a_report_must_fit_the_specification() {
    let case = Case::new("p.txt", AUTOMATA);
    case.analyse("p.txt", &["--json", "report.json"]);
    case.seqcon(&["fix", "p.txt", "--with", "report.json", "--mm", "pso"], 2);
    case.seqcon(&["fix", "p.txt", "--with", "absent.json"], 2);
    case.seqcon(&["fix", "p.txt", "--with", "report.json", "--max-states", "10"], 2);
    let report = fs::read_to_string(case.path("report.json")).unwrap();
    fs::write(case.path("report.json"), report.replace("\"position\": \"state\"", "\"position\": \"here\"")).unwrap();
    case.seqcon(&["fix", "p.txt", "--with", "report.json"], 2);
}
