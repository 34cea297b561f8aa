//! Why an engine over a server cannot be opened.

/// A cause of any kind.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why an engine over a server cannot be opened. No message shows a password.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address is not one of a server.
    #[error("the log's address cannot be used: {reason}")]
    Address {
        /// What is wrong with it.
        reason: String,
    },
    /// The server does not answer, or refuses the connection.
    #[error("cannot reach the log at {server}")]
    Unreachable {
        /// The server, without credentials.
        server: String,
        /// The cause.
        #[source]
        source: Cause,
    },
    /// The server answers, but does not guarantee what a log needs.
    #[error("the log at {server} cannot be trusted: {reason}")]
    Unfit {
        /// The server, without credentials.
        server: String,
        /// What is wrong with it.
        reason: String,
        /// What the operator can do.
        advice: String,
    },
    /// A newer version of the program made the tables.
    #[error("the log at {server} has format {found}, this program reads up to {supported}")]
    NewerFormat {
        /// The server, without credentials.
        server: String,
        /// The format it states.
        found: u64,
        /// The newest format that this program knows.
        supported: u64,
    },
    /// The engine's own threads cannot be started.
    #[error("cannot start the threads of the log")]
    Threads(#[source] std::io::Error),
}

impl OpenError {
    /// What the operator can do about it.
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
