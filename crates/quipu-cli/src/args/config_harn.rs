//! How a server speaks the Harn protocol: the options, and how flag, variable and file come together.

use std::{ops::RangeInclusive, path::PathBuf};

use clap::{Args, builder::BoolishValueParser};
use quipu_server::{HarnOptions, OAuthOptions, ReceiptIssuer, VaultKey};
use serde::Deserialize;

use crate::{
    args::config_models::Secret,
    module_runner::{ModuleLimits, module_host},
    ui::failure::Failure,
};

const VAULT_KEY_VARIABLE: &str = "QUIPU_VAULT_KEY";

/// The most that the content of an Artifact may be allowed: it is one body of the log, and is in memory as such.
const CONTENT_BYTES_LIMIT: usize = 64 * 1024 * 1024;

/// How much memory a module may be given: below it the process itself does not start.
const MODULE_MEMORY_MIB: RangeInclusive<u64> = 128..=65_536;
/// How long a module may be allowed to compute.
const MODULE_SECONDS: RangeInclusive<u64> = 1..=3600;

/// The options as flags and variables, and as keys of `[harn]` in the config file.
#[derive(Debug, Default, Clone, Args, Deserialize)]
#[command(next_help_heading = "Harn protocol")]
#[serde(deny_unknown_fields)]
pub(crate) struct HarnArgs {
    /// Address at which callers reach the server, as the agent card says it [default: the one it listens on]
    #[arg(long, env = "QUIPU_PUBLIC_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// Take OAuth2 access tokens that are signed by one of these public keys: the JWKS of the identity provider.
    /// Read again when it changes
    #[arg(long, env = "QUIPU_OAUTH_JWKS", hide_env_values = true, value_name = "FILE")]
    pub(crate) oauth_jwks: Option<PathBuf>,
    /// The issuer that an access token must name in its `iss`
    #[arg(long, env = "QUIPU_OAUTH_ISSUER", hide_env_values = true, value_name = "ISSUER")]
    pub(crate) oauth_issuer: Option<String>,
    /// The audience that an access token must name in its `aud`
    #[arg(long, env = "QUIPU_OAUTH_AUDIENCE", hide_env_values = true, value_name = "AUDIENCE")]
    pub(crate) oauth_audience: Option<String>,
    /// The id of the issuer that receipts name [default: quipu]
    #[arg(long, env = "QUIPU_RECEIPT_ISSUER_ID", hide_env_values = true, value_name = "ID")]
    pub(crate) receipt_issuer_id: Option<String>,
    /// The issuer's name; also the agent card's [default: Quipu]
    #[arg(long, env = "QUIPU_RECEIPT_ISSUER_NAME", hide_env_values = true, value_name = "NAME")]
    pub(crate) receipt_issuer_name: Option<String>,
    /// The policy that receipts name as the one that Tasks run under [default: none]
    #[arg(long, env = "QUIPU_RECEIPT_POLICY_REF", hide_env_values = true, value_name = "REF")]
    pub(crate) receipt_policy_ref: Option<String>,
    /// Believe the hashes that replays and imports declare, also where they are wrong: for published fixtures
    /// whose hashes are placeholders. What such a receipt says proves nothing
    #[arg(
        long,
        env = "QUIPU_REPLAY_TRUST_DECLARED_HASHES",
        hide_env_values = true,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new()
    )]
    pub(crate) replay_trust_declared_hashes: Option<bool>,
    /// The largest content of an Artifact, in bytes, at most 67108864 [default: 67108864]
    #[arg(long, env = "QUIPU_CONTENT_BYTES_MAX", hide_env_values = true, value_name = "BYTES")]
    pub(crate) content_bytes_max: Option<usize>,
    /// The memory that one running module may have, in MiB [default: 512]
    #[arg(long, env = "QUIPU_MODULE_MEMORY_MIB", hide_env_values = true, value_name = "MIB")]
    pub(crate) module_memory_mib: Option<u64>,
    /// How long one running module may compute, in seconds [default: 30]
    #[arg(long, env = "QUIPU_MODULE_SECONDS", hide_env_values = true, value_name = "SECONDS")]
    pub(crate) module_seconds: Option<u64>,
    /// The key that seals what vaults hold, base64 of 32 bytes. In the file, or as `QUIPU_VAULT_KEY`: a flag
    /// would be seen in the list of processes.
    #[arg(skip)]
    pub(crate) vault_key: Option<Secret>,
}

impl HarnArgs {
    /// What was given here, else what the file says.
    pub(crate) fn or(self, file: Self) -> Self {
        Self {
            public_url: self.public_url.or(file.public_url),
            oauth_jwks: self.oauth_jwks.or(file.oauth_jwks),
            oauth_issuer: self.oauth_issuer.or(file.oauth_issuer),
            oauth_audience: self.oauth_audience.or(file.oauth_audience),
            receipt_issuer_id: self.receipt_issuer_id.or(file.receipt_issuer_id),
            receipt_issuer_name: self.receipt_issuer_name.or(file.receipt_issuer_name),
            receipt_policy_ref: self.receipt_policy_ref.or(file.receipt_policy_ref),
            replay_trust_declared_hashes: self
                .replay_trust_declared_hashes
                .or(file.replay_trust_declared_hashes),
            content_bytes_max: self.content_bytes_max.or(file.content_bytes_max),
            module_memory_mib: self.module_memory_mib.or(file.module_memory_mib),
            module_seconds: self.module_seconds.or(file.module_seconds),
            vault_key: self.vault_key.or(file.vault_key),
        }
    }

    pub(crate) fn options(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<HarnOptions, Failure> {
        Ok(HarnOptions {
            public_url: self.public_url()?,
            issuer: self.issuer()?,
            oauth: self.oauth()?,
            vault_key: self.vault_key(variable)?,
            trust_declared_hashes: self.replay_trust_declared_hashes.unwrap_or(false),
            content_bytes_max: self.content_bytes_max()?,
            modules: module_host(self.module_limits()?),
        })
    }

    fn module_limits(&self) -> Result<ModuleLimits, Failure> {
        let usual = ModuleLimits::default();
        let limits = ModuleLimits {
            memory_mib: self.module_memory_mib.unwrap_or(usual.memory_mib),
            seconds: self.module_seconds.unwrap_or(usual.seconds),
        };
        if !MODULE_MEMORY_MIB.contains(&limits.memory_mib) {
            let (least, most) = (MODULE_MEMORY_MIB.start(), MODULE_MEMORY_MIB.end());
            let given = limits.memory_mib;
            return Err(Failure::new(format!("--module-memory-mib cannot be {given}"))
                .advise(format!("give a number from {least} to {most}")));
        }
        if !MODULE_SECONDS.contains(&limits.seconds) {
            let (least, most) = (MODULE_SECONDS.start(), MODULE_SECONDS.end());
            return Err(Failure::new(format!("--module-seconds cannot be {}", limits.seconds))
                .advise(format!("give a number from {least} to {most}")));
        }
        Ok(limits)
    }

    fn content_bytes_max(&self) -> Result<Option<usize>, Failure> {
        match self.content_bytes_max {
            Some(bytes) if !(1..=CONTENT_BYTES_LIMIT).contains(&bytes) => {
                Err(Failure::new(format!("--content-bytes-max cannot be {bytes}"))
                    .advise(format!("give a number from 1 to {CONTENT_BYTES_LIMIT}")))
            }
            bytes => Ok(bytes),
        }
    }

    fn public_url(&self) -> Result<Option<String>, Failure> {
        match &self.public_url {
            Some(url) if !url.starts_with("http://") && !url.starts_with("https://") => {
                Err(Failure::new("--public-url is no address of the web")
                    .advise("give the whole address, such as https://memory.example"))
            }
            url => Ok(url.clone()),
        }
    }

    /// The key of the vaults: of the variable, else of the file.
    fn vault_key(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<VaultKey>, Failure> {
        let file = || self.vault_key.clone().map(|Secret(key)| key);
        let Some(key) = variable(VAULT_KEY_VARIABLE).or_else(file) else { return Ok(None) };
        key.parse().map(Some).map_err(|error| {
            Failure::new(format!("{VAULT_KEY_VARIABLE} {error}")).advise(
                "make one with `openssl rand -base64 32`, and keep it: without it no vault opens",
            )
        })
    }

    fn issuer(&self) -> Result<ReceiptIssuer, Failure> {
        let usual = ReceiptIssuer::default();
        let issuer = ReceiptIssuer {
            id: self.receipt_issuer_id.clone().unwrap_or(usual.id),
            name: self.receipt_issuer_name.clone().unwrap_or(usual.name),
            policy_ref: self.receipt_policy_ref.clone(),
        };
        let said = [Some(&issuer.id), Some(&issuer.name), issuer.policy_ref.as_ref()];
        if said.into_iter().flatten().any(String::is_empty) {
            return Err(Failure::new(
                "a receipt cannot name its issuer or policy by an empty text",
            )
            .advise("give the --receipt-… option a value, or leave it out"));
        }
        Ok(issuer)
    }

    fn oauth(&self) -> Result<Option<OAuthOptions>, Failure> {
        match (&self.oauth_jwks, &self.oauth_issuer, &self.oauth_audience) {
            (None, None, None) => Ok(None),
            (Some(jwks), Some(issuer), Some(audience))
                if !issuer.is_empty() && !audience.is_empty() =>
            {
                let (jwks, issuer, audience) = (jwks.clone(), issuer.clone(), audience.clone());
                Ok(Some(OAuthOptions { jwks, issuer, audience }))
            }
            _ => Err(Failure::new("access tokens need keys, an issuer and an audience")
                .advise("give --oauth-jwks, --oauth-issuer and --oauth-audience, or none of them")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str) -> Result<HarnOptions, Failure> {
        toml::from_str::<HarnArgs>(file).unwrap().options(|_| None)
    }

    #[test]
    fn without_anything_the_issuer_is_quipu_and_no_tokens_are_taken() {
        let options = read("").unwrap();
        assert_eq!((options.issuer.id.as_str(), options.issuer.name.as_str()), ("quipu", "Quipu"));
        assert_eq!((options.issuer.policy_ref, options.public_url), (None, None));
        assert!(options.oauth.is_none() && options.vault_key.is_none());
    }

    #[test]
    fn access_tokens_need_all_that_they_are_checked_by() {
        let all = "oauth_jwks = 'k'\noauth_issuer = 'i'\noauth_audience = 'a'\n";
        assert_eq!(read(all).unwrap().oauth.unwrap().issuer, "i");
        for part in all.lines().chain(["oauth_jwks='k'\noauth_issuer='i'\noauth_audience=''"]) {
            let failure = read(part).unwrap_err().to_string();
            assert!(failure.contains("--oauth-audience"), "{part}: {failure}");
        }
    }

    #[test]
    fn a_flag_beats_the_file() {
        let file: HarnArgs =
            toml::from_str("receipt_issuer_id = 'file'\nreceipt_policy_ref = 'p'").unwrap();
        let flag = HarnArgs { receipt_issuer_id: Some("flag".to_owned()), ..HarnArgs::default() };
        let issuer = flag.or(file).options(|_| None).unwrap().issuer;
        assert_eq!((issuer.id.as_str(), issuer.policy_ref.as_deref()), ("flag", Some("p")));
        assert!(read("receipt_issuer_id = ''").is_err());
        assert!(read("public_url = 'memory.example'").is_err());
    }

    #[test]
    fn the_largest_content_is_a_number_of_bytes_within_reason() {
        assert_eq!(read("").unwrap().content_bytes_max, None);
        assert_eq!(read("content_bytes_max = 4096").unwrap().content_bytes_max, Some(4096));
        for wrong in ["content_bytes_max = 0", "content_bytes_max = 67108865"] {
            let failure = read(wrong).unwrap_err().to_string();
            assert!(failure.contains("--content-bytes-max"), "{wrong}: {failure}");
        }
    }

    #[test]
    fn the_limits_of_modules_are_numbers_within_reason() {
        for wrong in ["module_memory_mib = 1", "module_seconds = 0", "module_seconds = 3601"] {
            let failure = read(wrong).unwrap_err().to_string();
            assert!(failure.contains("--module-"), "{wrong}: {failure}");
        }
        assert!(read("module_memory_mib = 256\nmodule_seconds = 5").is_ok());
    }

    #[test]
    fn the_key_of_the_vaults_comes_from_the_variable_or_the_file_and_is_not_shown() {
        let key = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";
        let file = toml::from_str::<HarnArgs>(&format!("vault_key = '{key}'")).unwrap();
        let of_file = file.options(|_| None).unwrap();
        assert_eq!(of_file.vault_key, Some(key.parse().unwrap()));
        assert!(!format!("{file:?}{of_file:?}").contains("BwcH"));
        let set = |name: &str| (name == "QUIPU_VAULT_KEY").then(|| "s3cret".to_owned());
        let failure = file.options(set).unwrap_err().to_string();
        assert!(failure.contains("32 bytes") && !failure.contains("s3cret"), "{failure}");
    }
}
