// The least that rustc needs to compile a file of src/arch for a target whose standard library is not installed. The
// test puts the path in and appends one function per barrier.
#![no_core]
#![feature(no_core, lang_items, rustc_attrs, decl_macro, intrinsics, adt_const_params, freeze_impls, auto_traits, repr_simd)]
#![crate_type = "lib"]
#![allow(internal_features, dead_code)]
extern crate self as core;

#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "copy"]
pub trait Copy {}
impl Copy for u64 {}
impl Copy for i64 {}
impl Copy for [i64; 2] {}
impl Copy for [u64; 2] {}
impl<T> Copy for *mut T {}
impl<T> Copy for *const T {}
#[lang = "freeze"]
pub unsafe auto trait Freeze {}
#[lang = "structural_peq"]
pub trait StructuralPartialEq {}
#[lang = "const_param_ty"]
pub trait ConstParamTy_: StructuralPartialEq {}

pub mod arch {
    #[rustc_builtin_macro]
    pub macro asm() {}

    pub mod aarch64 {
        #[repr(simd)]
        #[allow(non_camel_case_types)]
        pub struct uint64x2_t([u64; 2]);
        impl crate::Copy for uint64x2_t {}
    }

    pub mod x86_64 {
        #[repr(simd)]
        #[allow(non_camel_case_types)]
        pub struct __m128i([i64; 2]);
        impl crate::Copy for __m128i {}
    }
}

// The parts of `core::sync::atomic::fence`, for the architectures without stable inline assembly.
pub mod sync {
    pub mod atomic {
        pub enum Ordering {
            Release,
            Acquire,
            SeqCst,
        }

        pub enum AtomicOrdering {
            Relaxed = 0,
            Release = 1,
            Acquire = 2,
            AcqRel = 3,
            SeqCst = 4,
        }
        impl crate::StructuralPartialEq for AtomicOrdering {}
        impl crate::ConstParamTy_ for AtomicOrdering {}

        #[rustc_intrinsic]
        pub unsafe fn atomic_fence<const ORD: AtomicOrdering>();

        #[inline(always)]
        pub fn fence(order: Ordering) {
            // SAFETY: a fence accesses no memory.
            unsafe {
                match order {
                    Ordering::Release => atomic_fence::<{ AtomicOrdering::Release }>(),
                    Ordering::Acquire => atomic_fence::<{ AtomicOrdering::Acquire }>(),
                    Ordering::SeqCst => atomic_fence::<{ AtomicOrdering::SeqCst }>(),
                }
            }
        }
    }
}

// s390x asks here whether PCI instructions are in use; the table has the case in which they are.
pub mod mio {
    pub fn pci_instructions() -> bool {
        true
    }
}
