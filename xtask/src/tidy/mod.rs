//! The house rules as code. One file per rule, each with tests that show it can fail.
//! Exceptions live in `xtask/tidy.toml` and `xtask/deps.toml`, each with its reason.

mod banned_words;
mod built_from;
mod crate_edges;
mod cycles;
mod decided_by_text;
mod dependency_budgets;
mod dependency_page;
mod duplicates;
mod error_pages;
mod file_length;
mod file_names;
mod finding;
mod large_files;
mod licences;
mod manifests;
mod map;
mod markdown_links;
mod metadata;
mod mod_files;
mod opening_doc;
mod operation_matrix;
mod paths;
mod plain_words;
#[cfg(test)]
mod planted;
mod product_code;
mod pure_core;
mod room_cycles;
mod rooms;
mod rules;
mod source;
mod src_entries;
mod tables;
mod test_hygiene;
mod tree;

pub(crate) use rules::run;
