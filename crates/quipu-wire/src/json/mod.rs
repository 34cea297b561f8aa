//! JSON: read field by field, canonical, and what it holds as text.

pub mod age;
pub mod base64;
pub mod canon;
pub mod page_room;
pub mod reader;
pub mod timestamp;
