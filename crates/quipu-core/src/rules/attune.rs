//! ATTUNE (spec 3.4): who may ask for it, and who may look on behalf of another. What is answered is a reading.

use quipu_wire::akashik::AttunePayload;

use super::Refusal;
use crate::message::Message;

pub const AUTHORITY: u8 = 2;

/// The authority of the key that may look on an agent's behalf without leaving a trace. An agent's own key
/// is below it: what an agent was shown is not its own to hide.
pub const PREVIEW_AUTHORITY: u8 = 8;

/// Checks that whoever asks for a preview may have one.
pub fn may_preview(message: &Message, payload: &AttunePayload) -> Result<(), Refusal> {
    let (authority, needed) = (message.authority, PREVIEW_AUTHORITY);
    if payload.scope.preview && authority < needed {
        let agent = message.agent.clone();
        return Err(Refusal::InsufficientAuthority { agent, authority, needed });
    }
    Ok(())
}
