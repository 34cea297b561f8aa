//! Why an engine over a server cannot be opened.

pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why an engine over a server cannot be opened. No message shows a password.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the log's address cannot be used: {reason}")]
    Address { reason: String },
    #[error("cannot reach the log at {server}")]
    Unreachable {
        server: String,
        #[source]
        source: Cause,
    },
    /// The server answers, but does not guarantee what a log needs.
    #[error("the log at {server} cannot be trusted: {reason}")]
    Unfit { server: String, reason: String, advice: String },
    #[error("the log at {server} has format {found}, this program reads up to {supported}")]
    NewerFormat { server: String, found: u64, supported: u64 },
    #[error("cannot start the threads of the log")]
    Threads(#[source] std::io::Error),
}

impl OpenError {
    #[must_use]
    pub fn advice(&self) -> &str {
        match self {
            Self::Address { .. } => {
                "give --log an address such as postgres://user:password@host/database or nats://host:4222"
            }
            Self::Unreachable { .. } => {
                "check that the server runs, that this machine may reach it, and the name and password in --log"
            }
            Self::Unfit { advice, .. } => advice,
            Self::NewerFormat { .. } => {
                "run the version of quipu that made it, or a newer one; nothing was changed"
            }
            Self::Threads(_) => "the machine lets this user start no more threads: raise its limit",
        }
    }
}
