//! The Python SDK of `sdk/python`: installed from this checkout into a virtual environment, checked by mypy and
//! ruff, and tested by its own tests against the binary. What the tests look at is theirs to say.

use crate::support::{Python, run};

#[test]
fn the_package_of_this_checkout_is_typed_tidy_and_passes_its_tests() {
    let sdk = Python::of("sdk/python", |sources| vec![format!("{}[test]", sources.display())]);
    let mut install = sdk.pip();
    install.args(["install", "--no-deps", "--no-build-isolation", "--force-reinstall"]);
    run(install.arg(&sdk.sources));
    sdk.check();
}
