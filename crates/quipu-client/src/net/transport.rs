//! The two ways to a Field: over HTTP, or by a function call to one inside this process. Nothing above
//! knows which it is.

use std::io;

use http_body_util::{BodyExt as _, combinators::UnsyncBoxBody};
use hyper::{Request, Response, body::Bytes};

#[cfg(feature = "embedded")]
use crate::{
    error::ClientError,
    net::{embedded::Inside, nodes::Nodes},
};

pub(crate) type StreamBody = UnsyncBoxBody<Bytes, io::Error>;

#[derive(Debug)]
pub(crate) enum Transport {
    /// A server, or several.
    Http(Nodes),
    #[cfg(feature = "embedded")]
    Inside(Inside),
}

impl Transport {
    /// What errors call it.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Http(http) => http.url(),
            #[cfg(feature = "embedded")]
            Self::Inside(_) => "the Field inside this process",
        }
    }

    /// Whether the next call may go to another node than the last.
    pub(crate) const fn may_move(&self) -> bool {
        match self {
            Self::Http(http) => http.are_several(),
            #[cfg(feature = "embedded")]
            Self::Inside(_) => false,
        }
    }

    /// Whether the other side may go and come back.
    pub(crate) const fn is_remote(&self) -> bool {
        match self {
            Self::Http(_) => true,
            #[cfg(feature = "embedded")]
            Self::Inside(_) => false,
        }
    }

    /// Whether there will be no answer any more.
    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Http(_) => false,
            #[cfg(feature = "embedded")]
            Self::Inside(inside) => inside.is_closed(),
        }
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn exchange(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<Bytes>, ClientError> {
        match self {
            Self::Http(http) => http.exchange(request).await,
            #[cfg(feature = "embedded")]
            Self::Inside(inside) => inside.exchange(request).await,
        }
    }

    /// Sends a request whose answer goes on.
    pub(crate) async fn stream(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<StreamBody>, ClientError> {
        match self {
            Self::Http(http) => {
                let answer = http.stream(request).await?;
                Ok(answer.map(|body| body.map_err(io::Error::other).boxed_unsync()))
            }
            #[cfg(feature = "embedded")]
            Self::Inside(inside) => Ok(inside.stream(request).await),
        }
    }

    /// Ends what runs in this process.
    #[cfg_attr(
        not(feature = "embedded"),
        expect(clippy::unused_async, reason = "only a Field inside the process is waited for")
    )]
    pub(crate) async fn close(&self) {
        match self {
            Self::Http(_) => {}
            #[cfg(feature = "embedded")]
            Self::Inside(inside) => inside.close().await,
        }
    }
}
