//! What a client may send by mistake or by malice. Every case is refused in the protocol's own shape
//! with the field named, or ignored with a warning; afterwards the server answers and the log holds.

mod envelopes;
mod http;
mod json;
mod payloads;
mod victim;
