//! A thread whose stack overflows: an error of that thread, not the end of the program.
//!
//! Below each stack lies a guard page. On Linux on x86-64 the signal that comes of touching it ends
//! the coroutine, and the launch with it. Elsewhere the program ends.

use corosensei::Coroutine;
use corosensei::trap::CoroutineTrapHandler;

use crate::block::Exit;
use crate::lane::Lane;
use crate::stack::Coloured;

/// Tells the lane the bounds of its stack.
#[inline]
pub(crate) fn watch(lane: &Lane, coroutine: &Coroutine<(), (), Exit, Coloured>) {
    lane.stack.set(Some(coroutine.trap_handler()));
}

pub(crate) type Stack = CoroutineTrapHandler<Exit>;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) fn install() {}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use linux::install;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux {
    use std::ffi::c_int;
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::OnceLock;

    use corosensei::trap::TrapHandlerRegs;

    use crate::block::Exit;
    use crate::lane::current;

    /// What the program did with the signal before: Rust's own message of an overflow, most likely.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    /// Handles the signal, once per process.
    pub(crate) fn install() {
        BEFORE.get_or_init(|| {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: zero is a valid `sigaction`, all fields that matter are set, and the handler
            // does nothing that a handler may not. `SA_ONSTACK`: Rust gives each of its threads a
            // stack for signals, which is needed here, as the other one has overflowed.
            unsafe {
                let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                action.sa_sigaction = handle as *const () as usize;
                libc::sigfillset(&mut action.sa_mask);
                // When it fails, `before` stays zero, the default action: what would happen anyhow.
                libc::sigaction(libc::SIGSEGV, &action, before.as_mut_ptr());
                before.assume_init()
            }
        });
    }

    unsafe extern "C" fn handle(
        signal: c_int,
        info: *mut libc::siginfo_t,
        context: *mut libc::ucontext_t,
    ) {
        // SAFETY: the kernel passes both, valid while the handler runs.
        let (address, registers) =
            unsafe { ((*info).si_addr().addr(), &mut (*context).uc_mcontext.gregs) };
        // SAFETY: null, or the lane that the scheduler keeps while it runs.
        let stack = unsafe { current().as_ref() }.and_then(|lane| lane.stack.get());
        let overflowed = stack.filter(|stack| {
            // The guard page counts as part of the stack, and nothing else there faults.
            stack.stack_ptr_in_bounds(address)
                && stack.stack_ptr_in_bounds(registers[libc::REG_RSP as usize] as usize)
        });
        let Some(stack) = overflowed else {
            // Not ours: the instruction runs again, and faults into the handler before.
            let before = BEFORE.get().map_or(ptr::null(), ptr::from_ref);
            // SAFETY: what `install` got from the system.
            unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
            return;
        };
        // SAFETY: the fault is in the coroutine's own guard page, made by code on its stack. The
        // launch ends now, and nothing that the kernel was about to change is used any more.
        let regs = unsafe { stack.setup_trap_handler(|| Exit::Overflowed) };
        let TrapHandlerRegs {
            rip,
            rsp,
            rbp,
            rdi,
            rsi,
        } = regs;
        for (register, value) in [
            (libc::REG_RIP, rip),
            (libc::REG_RSP, rsp),
            (libc::REG_RBP, rbp),
            (libc::REG_RDI, rdi),
            (libc::REG_RSI, rsi),
        ] {
            registers[register as usize] = value as i64;
        }
    }
}
