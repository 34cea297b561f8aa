//! Other people's MCP clients against ours: the official Python and TypeScript clients, the inspector and
//! the conformance package, over the standard streams and over `/mcp`, in both generations of the protocol.

mod conformance;
mod directory;
mod inspector;
mod installed;
mod python;
mod restart;
mod typescript;
mod ways;
