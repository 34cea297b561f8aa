//! File handles: each connection takes one and each open Field several, and the operating system gives a process only so
//! many. Half of them are left to storage, whoever calls.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::limits::{CONNECTIONS_LEAST, CONNECTIONS_MAX, FILE_HANDLES_MAX};

/// Asks the operating system for as many file handles as it gives. Answers how many there are now.
pub fn raise_file_handles() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.unwrap_or(FILE_HANDLES_MAX).min(FILE_HANDLES_MAX);
    let current = limit.current.unwrap_or(FILE_HANDLES_MAX);
    if current >= wanted {
        return current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum }) {
        Ok(()) => wanted,
        Err(error) => {
            tracing::warn!(%error, current, wanted, "the limit of file handles could not be raised");
            current
        }
    }
}

pub(crate) fn connections_max() -> usize {
    let handles = getrlimit(Resource::Nofile).current.unwrap_or(FILE_HANDLES_MAX);
    connections_with(usize::try_from(handles).unwrap_or(usize::MAX))
}

const fn connections_with(handles: usize) -> usize {
    match handles / 2 {
        few if few < CONNECTIONS_LEAST => CONNECTIONS_LEAST,
        many if many > CONNECTIONS_MAX => CONNECTIONS_MAX,
        half => half,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_handles_are_left_to_storage() {
        assert_eq!(connections_with(1024), 512);
        assert_eq!(connections_with(1 << 20), CONNECTIONS_MAX);
        assert_eq!(connections_with(8), CONNECTIONS_LEAST);
    }
}
