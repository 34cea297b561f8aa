//! Numbers in CBOR: which of a double's spellings is the shortest, and half precision, which the
//! language does not have.

/// A double in its shortest form that loses nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shortest {
    Half(u16),
    Single(u32),
    Double(u64),
}

/// The shortest form of a finite double.
pub(super) fn shortest(value: f64) -> Shortest {
    #[expect(clippy::cast_possible_truncation, reason = "kept only if it loses nothing")]
    let single = value as f32;
    if f64::from(single).to_bits() != value.to_bits() {
        return Shortest::Double(value.to_bits());
    }
    match half_of(single) {
        Some(half) => Shortest::Half(half),
        None => Shortest::Single(single.to_bits()),
    }
}

/// The half of a finite single, if there is one that loses nothing.
fn half_of(single: f32) -> Option<u16> {
    let bits = single.to_bits();
    let sign = u16::try_from(bits >> 16).ok()? & 0x8000;
    let exponent = i32::try_from((bits >> 23) & 0xff).ok()? - 127;
    let fraction = bits & 0x7f_ffff;
    let magnitude = match exponent {
        // Zero; a single's own subnormals are far below a half's.
        -127 => (fraction == 0).then_some(0),
        -24..=-15 => {
            // Subnormal halves: the leading one becomes explicit and moves right.
            let shift = u32::try_from(-exponent - 1).ok()?;
            let whole = fraction | 0x80_0000;
            (whole.trailing_zeros() >= shift).then(|| whole >> shift)
        }
        -14..=15 => (fraction.trailing_zeros() >= 13).then(|| {
            let biased = u32::try_from(exponent + 15).unwrap_or_default();
            biased << 10 | fraction >> 13
        }),
        _ => None,
    }?;
    u16::try_from(magnitude).ok().map(|magnitude| sign | magnitude)
}

pub(super) fn from_half(half: u16) -> f64 {
    let exponent = i32::from((half >> 10) & 0x1f);
    let fraction = f64::from(half & 0x3ff);
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    };
    if half & 0x8000 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_half_comes_back() {
        for half in 0..=u16::MAX {
            let value = from_half(half);
            if value.is_finite() {
                assert_eq!(shortest(value), Shortest::Half(half), "{half:#x} {value}");
            }
        }
    }
}
