//! How large a page of a list may be: by the bytes of its entries as they are sent, not only by their number. What no
//! longer fits is for the next page. One entry that is larger than a page comes alone.

use std::io::{self, Write};

use serde::Serialize;

use crate::limits::PAGE_BYTES_MAX;

/// What is left of a page.
#[derive(Debug, Clone, Copy)]
pub struct PageRoom {
    left: usize,
    is_empty: bool,
}

impl Default for PageRoom {
    fn default() -> Self {
        Self { left: PAGE_BYTES_MAX, is_empty: true }
    }
}

impl PageRoom {
    /// Makes room for an entry. False where it does not fit any more; the first one always does.
    #[must_use]
    pub fn takes(&mut self, entry: &impl Serialize) -> bool {
        let mut count = Count(0);
        // A count takes everything, and what cannot be written as JSON takes no room.
        serde_json::to_writer(&mut count, entry).ok();
        let fits = self.is_empty || count.0 <= self.left;
        if fits {
            self.left = self.left.saturating_sub(count.0);
            self.is_empty = false;
        }
        fits
    }
}

/// Counts bytes and keeps none.
struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_takes_so_many_bytes_and_one_entry_that_is_larger() {
        let third = "x".repeat(PAGE_BYTES_MAX / 3);
        let mut room = PageRoom::default();
        assert!(room.takes(&third) && room.takes(&third));
        assert!(!room.takes(&third), "quotes take room too");
        assert!(room.takes(&"short"), "what is small enough still fits");
        let larger = "x".repeat(PAGE_BYTES_MAX + 1);
        let mut room = PageRoom::default();
        assert!(room.takes(&larger));
        assert!(!room.takes(&"short"));
    }
}
