//! The one place that draws randomness: ids of messages, and how long to wait before the next attempt.

pub(crate) fn message_id() -> String {
    let bytes: [u8; 16] = random();
    let mut id = String::from("msg-");
    for byte in bytes {
        id.push_str(&format!("{byte:02x}"));
    }
    id
}

/// A number from 0.0 up to 1.0.
pub(crate) fn share() -> f64 {
    f64::from(u32::from_le_bytes(random())) / f64::from(u32::MAX)
}

#[expect(clippy::disallowed_methods, reason = "this is where the client draws randomness")]
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_ids_are_the_same_and_a_share_is_a_share() {
        let ids: std::collections::BTreeSet<String> = (0..1000).map(|_| message_id()).collect();
        assert_eq!(ids.len(), 1000);
        assert!((0..1000).all(|_| (0.0..=1.0).contains(&share())));
    }
}
