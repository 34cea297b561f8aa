//! Owns how months are called in English and in German, in lower case.

/// Their whole names.
pub(crate) const WHOLE: &[&str] = &[
    "april",
    "august",
    "december",
    "dezember",
    "februar",
    "february",
    "januar",
    "january",
    "jänner",
    "juli",
    "july",
    "juni",
    "june",
    "mai",
    "march",
    "may",
    "märz",
    "november",
    "october",
    "oktober",
    "september",
];

/// Their abbreviations.
pub(crate) const SHORT: &[&str] = &[
    "apr", "aug", "dec", "dez", "feb", "jan", "jul", "jun", "mar", "mär", "nov", "oct", "okt",
    "sep", "sept",
];
