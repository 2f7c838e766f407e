//! How a command ends.

use crate::error::Error;
use crate::listed::listed;
use crate::memory::DmaFault;

listed! {
    /// Status of a command (Linux `include/linux/mlx5/device.h`, `MLX5_CMD_STAT_*`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Status {
        /// Done.
        Ok = 0x00,
        /// The device failed.
        InternalError = 0x01,
        /// No such command, or not on this device.
        BadOperation = 0x02,
        /// A parameter is out of range, or a reserved bit is set.
        BadParameter = 0x03,
        /// Not in this state of the device.
        BadSystemState = 0x04,
        /// No such object, or not the caller's.
        BadResource = 0x05,
        /// Others refer to the object.
        ResourceBusy = 0x06,
        /// Not yet; the driver tries again. This device says so only where a script asks for it.
        NotReady = 0x07,
        /// A limit is exceeded.
        LimitExceeded = 0x08,
        /// The object is in a state in which this cannot be done.
        BadResourceState = 0x09,
        /// An index is out of range.
        BadIndex = 0x0a,
        /// No objects of this kind are left.
        NoResources = 0x0f,
        /// The input is too short or too long.
        BadInputLength = 0x50,
        /// The output is too short.
        BadOutputLength = 0x51,
        /// The QP is in a state in which this cannot be done.
        BadQpState = 0x10,
    }
}

impl Status {
    /// The status with this number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|status| *status as u8 == number)
    }
}

/// Why a command was refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The kind.
    pub(crate) status: Status,
    /// The reason, for people.
    pub(crate) reason: String,
    /// The syndrome of NVIDIA's firmware, if it has become known.
    pub(crate) known_syndrome: Option<u32>,
}

impl Refusal {
    pub(crate) fn new(status: Status, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into(), known_syndrome: None }
    }

    /// A parameter that NVIDIA's firmware refuses with this syndrome.
    pub(crate) fn known(syndrome: u32, reason: impl Into<String>) -> Self {
        Self { known_syndrome: Some(syndrome), ..Self::parameter(reason) }
    }

    /// A parameter that is out of range.
    pub(crate) fn parameter(reason: impl Into<String>) -> Self {
        Self::new(Status::BadParameter, reason)
    }

    /// An object that is not there, or not the caller's.
    pub(crate) fn resource(reason: impl Into<String>) -> Self {
        Self::new(Status::BadResource, reason)
    }

    /// The number that goes into the mailbox. It is the same for the same reason; numbers in the reason's text do not
    /// count. NVIDIA does not publish the meaning of its firmware's syndromes, so all but a few are the device's own.
    pub(crate) fn syndrome(&self) -> u32 {
        if let Some(known) = self.known_syndrome {
            return known;
        }
        // FNV-1a over the text without its digits; bit 31 is never set by hardware seen so far, and is set here.
        let words = self.reason.bytes().filter(|byte| !byte.is_ascii_digit());
        words.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)) | 1 << 31
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let status = match error {
            Error::NoSuch { .. } => Status::BadResource,
            Error::Busy { .. } => Status::ResourceBusy,
            Error::Exhausted { .. } => Status::NoResources,
            Error::BadTransition { .. } => Status::BadQpState,
            Error::BadQueueTransition { .. } => Status::BadResourceState,
            Error::System { .. } => Status::InternalError,
            _ => Status::BadParameter,
        };
        Self::new(status, error.to_string())
    }
}

impl From<DmaFault> for Refusal {
    fn from(fault: DmaFault) -> Self {
        Self::parameter(fault.to_string())
    }
}
