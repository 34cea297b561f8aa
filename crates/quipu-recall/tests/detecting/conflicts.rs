//! Pairs that cannot both be right, as agents write them, by what differs.

/// Kind, older, newer.
pub(crate) const CONFLICTS: &[(&str, &str, &str)] = &[
    ("number", "The cache TTL is 60 seconds.", "The cache TTL is 5 minutes."),
    (
        "number",
        "The European market grew by 23% in 2025.",
        "The European market grew by 14% in 2025.",
    ),
    (
        "number",
        "The payments service listens on port 8080.",
        "The payments service listens on port 9090.",
    ),
    ("number", "The nightly backup takes about 40 minutes.", "The nightly backup takes 3 hours."),
    (
        "number",
        "Our contract with Acme costs $12,000 a year.",
        "Our contract with Acme costs $18,000 a year.",
    ),
    ("number", "The cluster has three nodes.", "The cluster has five nodes."),
    ("number", "The upload limit is 10 MB.", "The upload limit is 2 GB."),
    (
        "number",
        "p99 latency of the search API is below 200 ms.",
        "p99 latency of the search API is 450 ms.",
    ),
    ("number", "The retry policy allows at most 3 retries.", "The retry policy allows 7 retries."),
    ("number", "The team has at least 12 engineers.", "The team has 8 engineers."),
    (
        "number",
        "The model was trained on 4.2 million documents.",
        "The model was trained on 900,000 documents.",
    ),
    (
        "number",
        "Between 10 and 20 customers asked for the export.",
        "45 customers asked for the export.",
    ),
    ("number", "Test coverage of the parser is 91%.", "Test coverage of the parser is 67 percent."),
    ("date", "The launch is scheduled for March 3.", "The launch is scheduled for April 10."),
    ("date", "The certificate expires on 2026-03-01.", "The certificate expires on 2026-09-01."),
    ("date", "The code freeze starts on Monday.", "The code freeze starts on Thursday."),
    (
        "date",
        "The design review will take place at 10:30.",
        "The design review will take place at 14:00.",
    ),
    ("date", "The company was founded in 1998.", "The company was founded in 2004."),
    ("date", "The release ships in Q3 2026.", "The release ships in Q4 2026."),
    (
        "denial",
        "The payments service supports refunds in Europe.",
        "The payments service does not support refunds in Europe.",
    ),
    (
        "denial",
        "The archive is open to the public on Sundays.",
        "The archive is not open to the public on Sundays.",
    ),
    ("denial", "The API requires authentication.", "The API doesn't require authentication."),
    (
        "denial",
        "There is a rate limit on the search endpoint.",
        "There is no rate limit on the search endpoint.",
    ),
    (
        "denial",
        "The migration deletes the old table.",
        "The migration never deletes the old table.",
    ),
    ("denial", "Alice approved the budget.", "Alice has not approved the budget."),
    (
        "denial",
        "The importer can read compressed files.",
        "The importer cannot read compressed files.",
    ),
    (
        "denial",
        "The vendor has signed the agreement.",
        "The vendor hasn't signed the agreement yet.",
    ),
    ("denial", "The scheduler retries failed jobs.", "The scheduler does not retry failed jobs."),
    (
        "denial",
        "The worker failed to reconnect after the restart.",
        "The worker reconnected after the restart.",
    ),
    (
        "denial",
        "We store card numbers in the database.",
        "We do not store card numbers in the database.",
    ),
    (
        "opposite",
        "Feature flag dark-mode is enabled in the app.",
        "Feature flag dark-mode is disabled in the app.",
    ),
    (
        "opposite",
        "The integration tests passed on the main branch.",
        "The integration tests failed on the main branch.",
    ),
    (
        "opposite",
        "The replication between both sites is synchronous.",
        "The replication between both sites is asynchronous.",
    ),
    (
        "opposite",
        "Memory use of the indexer increased after the upgrade.",
        "Memory use of the indexer decreased after the upgrade.",
    ),
    (
        "opposite",
        "The email field is required in the signup form.",
        "The email field is optional in the signup form.",
    ),
    (
        "opposite",
        "The new parser is faster than the old parser.",
        "The new parser is slower than the old parser.",
    ),
    (
        "opposite",
        "The customer data is encrypted at rest.",
        "The customer data is unencrypted at rest.",
    ),
    (
        "opposite",
        "The repository of the client is public.",
        "The repository of the client is private.",
    ),
    (
        "opposite",
        "The proposal of team Blue was accepted.",
        "The proposal of team Blue was rejected.",
    ),
    ("opposite", "The upstream endpoint is available.", "The upstream endpoint is unavailable."),
    (
        "opposite",
        "Deployments to the cluster run automatically.",
        "Deployments to the cluster run manually.",
    ),
    (
        "opposite",
        "The order of the results is deterministic.",
        "The order of the results is nondeterministic.",
    ),
    ("name", "The primary database is PostgreSQL.", "The primary database is MySQL."),
    (
        "name",
        "The owner of the billing module is Alice.",
        "The owner of the billing module is Bob.",
    ),
    ("name", "We decided to host the service on Azure.", "We decided to host the service on AWS."),
    (
        "name",
        "The default language of the app is German.",
        "The default language of the app is French.",
    ),
    ("name", "The project lead is Maria Silva.", "The project lead is John Carter."),
    ("name", "The root cause of the outage was DNS.", "The root cause of the outage was Kafka."),
    (
        "quantifier",
        "All customers received the notification email.",
        "None of the customers received the notification email.",
    ),
    (
        "quantifier",
        "The gateway always validates the token.",
        "The gateway never validates the token.",
    ),
    ("quantifier", "Nobody reviewed the pull request.", "Someone reviewed the pull request."),
    (
        "never",
        "I have never used Kubernetes for deployments.",
        "Yesterday I used Kubernetes for the deployments of the shop.",
    ),
    (
        "never",
        "I've never written any unit tests for the parser.",
        "I have written unit tests for the parser and they pass.",
    ),
    (
        "never",
        "We have never contacted the supplier about prices.",
        "We contacted the supplier about prices last week.",
    ),
    (
        "never",
        "I finished the security training in May.",
        "I have never finished any security training.",
    ),
];
