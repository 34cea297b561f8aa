//! What every request to somebody else's server needs: an address taken apart, the certificates that it is checked
//! against, a connection, and an answer that is read up to a limit. Knows nothing of what is asked, of attempts and of
//! time limits; whoever asks has those.

mod address;
mod answer;
mod certificates;
mod connection;

pub type Cause = Box<dyn std::error::Error + Send + Sync>;

pub use address::{AddressError, ServerAddress};
pub use answer::{ReadError, read_at_most};
pub use certificates::{CertificatesError, system_certificates, with_certificates_of};
pub use connection::connect;
