//! General objects: kinds that have no commands of their own.

use core::marker::PhantomData;

use crate::cmd::{
    CreateGeneralObjectIn, EncryptionKeyObj, FlowMeterAsoObj, GeneralObjOutCmdHdr, MatchDefiner, ModifyGeneralObjectIn,
    ModifyHeaderArg, ObjectType, QueryGeneralObjectIn, ReservedQpn,
};
use crate::context::{Context, Object, Under};
use crate::error::Error;
use crate::mailbox::{List, Structure};

/// The body of a kind of general object, behind the header of all kinds.
///
/// # Safety
/// Objects of the kind write to no memory that the body names, for any content of the body: every caller may make and
/// change them.
pub unsafe trait GeneralBody: Structure {
    /// The kind.
    const TYPE: ObjectType;
}

// SAFETY: a key of encryption, which keys of memory name.
unsafe impl GeneralBody for EncryptionKeyObj {
    const TYPE: ObjectType = ObjectType::ENCRYPTION_KEY;
}
// SAFETY: a choice of header fields.
unsafe impl GeneralBody for MatchDefiner {
    const TYPE: ObjectType = ObjectType::MATCH_DEFINER;
}
// SAFETY: bytes for headers.
unsafe impl GeneralBody for ModifyHeaderArg {
    const TYPE: ObjectType = ObjectType::HEADER_MODIFY_ARGUMENT;
}
// SAFETY: numbers.
unsafe impl GeneralBody for ReservedQpn {
    const TYPE: ObjectType = ObjectType::RESERVED_QPN;
}
// SAFETY: meters in the device's own memory.
unsafe impl GeneralBody for FlowMeterAsoObj {
    const TYPE: ObjectType = ObjectType::FLOW_METER_ASO;
}

/// A general object, destroyed when dropped. The caller must keep the objects that its body names (a protection
/// domain). Otherwise the device refuses to destroy those.
#[derive(Debug)]
pub struct GeneralObject<B> {
    object: Object,
    id: u32,
    body: PhantomData<B>,
}

impl<B: GeneralBody> GeneralObject<B> {
    /// Makes an object (CREATE_GENERAL_OBJECT). Checks first whether the device has the kind (`general_obj_types`).
    ///
    /// # Errors
    /// [`Error::Capability`], [`Error::Command`].
    pub fn new(context: &Context, body: &B) -> Result<Self, Error> {
        Self::over(context, body, ())
    }

    /// [Makes](Self::new) an object from a body that names the objects in `under`.
    pub(super) fn over(context: &Context, body: &B, under: impl Under) -> Result<Self, Error> {
        let known = context.general()?.general_obj_types();
        let found = 1_u64.checked_shl(B::TYPE.0.into()).is_some_and(|bit| known & bit != 0);
        crate::support::ask::has("cmd_hca_cap.general_obj_types", found)?;
        let mut inbox = List::<_, B>::new(CreateGeneralObjectIn::new().set_obj_type(B::TYPE));
        inbox.push(body);
        let (object, out) = context.make(&inbox, under)?;
        Ok(Self { object, id: out.obj_id(), body: PhantomData })
    }

    /// The number that identifies it in commands and requests.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The object: for commands, and events.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Queries the body.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<B, Error> {
        let mut inbox = QueryGeneralObjectIn::new();
        inbox.set_obj_type(B::TYPE).set_obj_id(self.id);
        let out = self.object.query_into(&inbox, List::<GeneralObjOutCmdHdr, B>::zeroed(1))?;
        out.iter().next().ok_or(Error::Parts { object: "general object", why: "an answer without it".into() })
    }

    /// Changes the fields of the body that its `modify_field_select` names.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn modify(&self, body: &B) -> Result<(), Error> {
        let mut inbox = List::<_, B>::new(ModifyGeneralObjectIn::new().set_obj_type(B::TYPE).set_obj_id(self.id));
        inbox.push(body);
        self.object.change(&inbox).map(drop)
    }
}
