//! Which sources compile, and how the others are refused.

use super::modules::compiled;
use crate::module::*;

fn entry(expression: &str) -> String {
    format!("pub fn entry(input: any) {{\n  return {expression}\n}}\n")
}

fn refused(source: &str) -> ModuleError {
    Module::compile(source, "entry").unwrap_err()
}

#[test]
fn the_same_source_has_the_same_digest_and_another_has_another() {
    let one = compiled(&entry("1"));
    assert_eq!(one.digest(), compiled(&entry("1")).digest());
    assert_ne!(one.digest(), compiled(&entry("2")).digest());
    assert_eq!(one.entry(), "entry");
}

#[test]
fn what_does_not_compile_is_refused_in_words() {
    for (source, expected) in [
        ("pub fn entry(", "does not compile"),
        ("pub fn entry(input) { return 1 }", "no type annotation"),
        ("pub fn other(input: any) { return 1 }", "entry"),
        ("pub fn entry(input: any) {\n const x: int = \"a\"\n return x\n}", "int"),
        ("", "entry"),
        ("\u{0}\u{1F600}", "does not compile"),
    ] {
        let refused = refused(source).to_string();
        assert!(refused.contains(expected), "{source:?}: {refused}");
    }
}

#[test]
fn a_source_that_is_too_long_is_refused_before_it_is_read() {
    let long = format!("// {}\n{}", "x".repeat(SOURCE_BYTES_MAX), entry("1"));
    assert_eq!(refused(&long), ModuleError::SourceTooLong { bytes: long.len() });
}

#[test]
fn long_rows_are_refused_before_they_overflow_the_compilers_stack() {
    let many = 4_000;
    let rows = [
        vec!["input"; many].join("+"),
        vec!["input"; many].join("\n  + "),
        vec!["input"; many].join(" +\n  "),
        vec!["input"; many].join(" ?? "),
        format!("input{}", ".a".repeat(many)),
        format!("input{}", "\n  .a".repeat(many)),
        format!("input{}", "()".repeat(many)),
        format!("input{}", "[0]".repeat(many)),
        format!("\"${{{}}}\"", vec!["input"; many].join("+")),
        format!("[1, {{a: ({})}}]", vec!["input"; many].join("&&")),
    ];
    for row in rows {
        let refused = refused(&entry(&row));
        assert!(matches!(refused, ModuleError::TooInvolved { line } if line >= 2), "{refused}");
    }
}

#[test]
fn brackets_within_brackets_are_refused_too() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{a: ", "}"), ("\"${", "}\""), ("!", "")] {
        let nested = format!("{}1{}", open.repeat(500), close.repeat(500));
        let refused = refused(&entry(&nested)).to_string();
        assert!(refused.contains("nesting") || refused.contains("hang"), "{open}: {refused}");
    }
}

#[test]
fn a_long_module_of_short_statements_compiles() {
    let statement = "  const a = input.one + input.two * (3 + f(input?.three ?? 4, [5, 6]))\n";
    let mut source = "fn f(a: any, b: list) { return a }\n".to_owned();
    for number in 0..40 {
        let body = statement.replace("const a", "let a").repeat(15);
        source += &format!("fn step_{number}(input: any) {{\n{body}  return a\n}}\n");
    }
    source += &entry("{prompt: \"- one\\n- two. Or three? (four) + five: ${input.x}\", ok: true}");
    assert!(source.len() > 40_000, "{}", source.len());
    compiled(&source);
}

#[test]
fn a_row_up_to_the_limit_compiles() {
    compiled(&entry(&vec!["input"; CHAIN_MAX - 20].join(" ?? ")));
    compiled(&entry(&vec!["1"; CHAIN_MAX - 20].join("+")));
}

#[test]
fn a_key_that_is_twice_in_the_input_is_refused() {
    assert!(read_input(br#"{"a": 1, "a": 2}"#).is_err());
    assert!(read_input(br#"{"a": 1, "b": 2}"#).is_ok());
    assert!(read_input(b"{").is_err());
}

#[test]
fn only_capabilities_that_can_be_recorded_are_granted() {
    let key = || SnapshotKey([1; 32]);
    for name in ["llm", "llm.fly", "tools.mcp_call", "llm.stream", ""] {
        let refused = Policy::new([name], key()).unwrap_err();
        assert!(matches!(refused, ModuleError::NotGrantable(_)), "{name}: {refused}");
    }
    assert!(!format!("{:?}", Policy::new(["llm.call"], key()).unwrap()).contains("1, 1"));
}
