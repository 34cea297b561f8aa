//! The macro that turns the suite into tests. A new behaviour is listed here, and every engine runs it.

/// Makes a module of tests, one for each behaviour, from a type that implements
/// [`EngineFactory`](crate::conformance::EngineFactory) and `Default`.
#[macro_export]
macro_rules! engine_suite {
    ($module:ident, $factory:ty) => {
        $crate::engine_suite!(@behaviours $module, $factory,
            reads_back_what_was_appended,
            refuses_an_append_to_another_head,
            refuses_an_invalid_batch_whole,
            keeps_fields_independent,
            lets_one_of_many_appenders_win,
            refuses_appends_to_a_sealed_field,
            keeps_a_body_of_a_mebibyte,
            finds_everything_after_reopening,
            honours_start_and_limit,
            names_an_unknown_field,
            wakes_a_follower,
            says_its_head_while_it_is_written,
            gives_up_following_after_the_timeout,
            verifies_from_any_head,
            goes_on_after_a_release,
            erases_bodies_and_still_verifies,
            erases_twice_without_effect,
            erases_a_body_of_a_mebibyte,
            erases_in_a_sealed_field,
            keeps_erasures_after_reopening,
            lets_one_of_many_engines_win,
            follows_what_another_engine_appends,
            shows_erasures_and_seals_to_others,
            lets_whoever_has_the_turn_append_next,
            hands_the_turn_on_with_the_head,
            lets_others_append_once_a_turn_is_given_back,
            receives_a_copy_that_nobody_else_writes_to,
            receives_nothing_where_a_field_is_in_use,
            goes_on_with_a_copy_after_reopening,
            opens_a_copy_for_engines_that_saw_it_sealed,
            replaces_a_note_of_the_expected_version,
            lets_one_of_many_writers_of_a_note_win,
        );
    };
    (@behaviours $module:ident, $factory:ty, $($behaviour:ident,)+) => {
        mod $module {
            $(
                #[test]
                fn $behaviour() {
                    $crate::conformance::$behaviour(&<$factory>::default());
                }
            )+
        }
    };
}

#[cfg(test)]
mod tests {
    crate::engine_suite!(memory, crate::conformance::MemoryFactory);
    crate::engine_suite!(sqlite, crate::conformance::SqliteFactory);
}
