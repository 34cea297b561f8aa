//! Numbers in decimal as the C2SP formats write them: digits alone, no leading zero.

/// The number that `text` spells, or nothing if it is not the one spelling of a number.
pub(super) fn parse(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let padded = text.len() > 1 && text.starts_with('0');
    if plain && !padded { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_number_in_its_one_spelling_only() {
        for number in [0, 1, 10, u64::MAX] {
            assert_eq!(parse(&number.to_string()), Some(number));
        }
        for text in ["", "00", "01", "+1", "-1", " 1", "1 ", "1_0", "0x1", "18446744073709551616"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
