//! Turns the overflow of a thread's stack into an error of that thread.
//!
//! Below each stack lies a guard page. On Linux on x86-64 the handler of the page fault's signal ends the
//! coroutine, and then the launch. On other platforms the program ends.

use corosensei::Coroutine;
use corosensei::trap::CoroutineTrapHandler;

use crate::block::Exit;
use crate::lane::Lane;
use crate::stack::Coloured;

/// Stores the stack's bounds in the lane.
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

    /// The signal's previous handler, most likely Rust's own for stack overflows.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    /// Installs the signal handler, once per process.
    pub(crate) fn install() {
        BEFORE.get_or_init(|| {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: zero is a valid `sigaction`, all relevant fields are set, and the handler is
            // async-signal-safe. `SA_ONSTACK` makes it run on the signal stack of the Rust thread, because
            // the current stack has overflowed.
            unsafe {
                let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                action.sa_sigaction = handle as *const () as usize;
                libc::sigfillset(&mut action.sa_mask);
                // If it fails, `before` stays zero, which is the default action.
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
        // SAFETY: the operating system passes both pointers; they are valid while the handler runs.
        let (address, registers) =
            unsafe { ((*info).si_addr().addr(), &mut (*context).uc_mcontext.gregs) };
        // SAFETY: null, or a lane that the scheduler keeps while it runs.
        let stack = unsafe { current().as_ref() }.and_then(|lane| lane.stack.get());
        let overflowed = stack.filter(|stack| {
            // The guard page counts as part of the stack; no other part of it faults.
            stack.stack_ptr_in_bounds(address)
                && stack.stack_ptr_in_bounds(registers[libc::REG_RSP as usize] as usize)
        });
        let Some(stack) = overflowed else {
            // Not a stack of ours: restores the previous handler, and the instruction faults again.
            let before = BEFORE.get().map_or(ptr::null(), ptr::from_ref);
            // SAFETY: `install` got the action from the system.
            unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
            return;
        };
        // SAFETY: code on the coroutine's stack touched the guard page of that stack. The launch ends now, so
        // no state that the kernel was changing is used again.
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
