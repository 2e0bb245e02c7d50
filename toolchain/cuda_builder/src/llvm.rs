//! The part of LLVM's C interface that the builder uses. It is loaded at run time from the libLLVM of the
//! compiler that wrote the bitcode.
//!
//! `Api` is the raw table of functions. The rest of the crate uses `Module`, a module with its own context. A
//! context belongs to one thread.

mod api;
mod fatal;
mod locations;
pub(crate) mod numbers;
mod panics;
mod stack;
mod uses;

pub(crate) use api::Value;
use api::{Api, Attribute, BasicBlock, Builder};
pub(crate) use fatal::catch;
pub(crate) use locations::Location;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// A libLLVM with the NVPTX back end registered; loaded once and never unloaded.
pub(crate) struct Llvm {
    api: Api,
}

impl Llvm {
    /// The library at `path` with its NVPTX back end registered.
    pub(crate) fn load(path: &Path) -> Result<&'static Self, String> {
        static LOADED: Mutex<Vec<(PathBuf, &'static Llvm)>> = Mutex::new(Vec::new());
        // Registration is not thread-safe, so it runs under the lock.
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&(_, llvm)) = loaded.iter().find(|(p, _)| p == path) {
            return Ok(llvm);
        }
        let api = Api::load(path).map_err(|e| format!("{}: {e}", path.display()))?;
        // SAFETY: registration takes no pointers except the handler, a static function; the lock excludes
        // other threads.
        unsafe {
            (api.LLVMInitializeNVPTXTargetInfo)();
            (api.LLVMInitializeNVPTXTarget)();
            (api.LLVMInitializeNVPTXTargetMC)();
            (api.LLVMInitializeNVPTXAsmPrinter)();
            (api.LLVMInstallFatalErrorHandler)(fatal::handle);
        }
        let llvm: &'static Self = Box::leak(Box::new(Self { api }));
        loaded.push((path.to_owned(), llvm));
        Ok(llvm)
    }

    /// Reads `bitcode`. Names of values are optional, because only people read them and they cost time.
    pub(crate) fn read(&self, bitcode: &[u8], names: bool) -> Result<Module<'_>, String> {
        self.module(bitcode, names, self.api.LLVMParseBitcodeInContext2)
    }

    /// Reads `bitcode` without the bodies of functions, which are most of it. [`Module::without_unused`]
    /// reads those that it needs.
    pub(crate) fn read_lazily(&self, bitcode: &[u8], names: bool) -> Result<Module<'_>, String> {
        self.module(bitcode, names, self.api.LLVMGetBitcodeModuleInContext2)
    }

    fn module(&self, bitcode: &[u8], names: bool, read: api::Read) -> Result<Module<'_>, String> {
        let api = &self.api;
        let errors = Box::new(RefCell::new(Errors {
            llvm: self,
            messages: Vec::new(),
        }));
        // SAFETY: all pointers are valid during the call; the buffer is a copy, which the module owns
        // afterwards. The returned `Module` owns context and module (or they are disposed of on failure). It
        // also owns `errors`, whose address in its box does not change.
        unsafe {
            let context = (api.LLVMContextCreate)();
            (api.LLVMContextSetDiscardValueNames)(context, c_int::from(!names));
            let place = (&raw const *errors).cast_mut().cast();
            (api.LLVMContextSetDiagnosticHandler)(context, collect_error, place);
            let buffer = (api.LLVMCreateMemoryBufferWithMemoryRangeCopy)(
                bitcode.as_ptr().cast(),
                bitcode.len(),
                c"bitcode".as_ptr(),
            );
            let mut module = ptr::null_mut();
            if read(context, buffer, &mut module) != 0 {
                (api.LLVMContextDispose)(context);
                return Err(errors.borrow().messages.join("\n"));
            }
            let builder = (api.LLVMCreateBuilderInContext)(context);
            Ok(Module {
                llvm: self,
                context,
                module,
                builder,
                errors,
            })
        }
    }

    /// Copies and frees a message from LLVM.
    ///
    /// # Safety
    ///
    /// `message` is a string that LLVM allocated, or null.
    unsafe fn take_message(&self, message: *mut c_char) -> String {
        if message.is_null() {
            return "no reason given".to_owned();
        }
        // SAFETY: by contract a C string that LLVM allocated.
        unsafe {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.api.LLVMDisposeMessage)(message);
            text
        }
    }
}

/// A module with its context.
pub(crate) struct Module<'l> {
    llvm: &'l Llvm,
    context: api::Context,
    module: api::ModuleRef,
    builder: Builder,
    errors: Box<RefCell<Errors<'l>>>,
}

/// The errors that LLVM reports while it works on a module. Without them, LLVM would print an error and end
/// the process.
struct Errors<'l> {
    llvm: &'l Llvm,
    messages: Vec<String>,
}

/// Stores an error; warnings and remarks are dropped.
extern "C" fn collect_error(info: api::DiagnosticInfo, errors: *mut c_void) {
    // SAFETY: `errors` is the pointer that `parse` registered; it lives as long as the context that calls
    // this. One thread uses the context, and holds no borrow of `errors` while LLVM runs.
    unsafe {
        let errors = &*errors.cast::<RefCell<Errors<'_>>>();
        let mut errors = errors.borrow_mut();
        let llvm = errors.llvm;
        if (llvm.api.LLVMGetDiagInfoSeverity)(info) == api::SEVERITY_ERROR {
            let text = llvm.take_message((llvm.api.LLVMGetDiagInfoDescription)(info));
            errors.messages.push(text);
        }
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: this value owns all three, and disposes of each once, innermost first.
        unsafe {
            (self.api().LLVMDisposeBuilder)(self.builder);
            (self.api().LLVMDisposeModule)(self.module);
            (self.api().LLVMContextDispose)(self.context);
        }
    }
}

/// Safe wrappers of the C functions. Values stay valid until `delete_global` deletes them.
///
/// Every `Value` must come from this module: the crate has one module in each context, and never stores
/// values of another.
/// never keeps a value of another.
// SAFETY (of all blocks below): the values come from this module and are alive; `self` owns the builder and
// the context.
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all blocks, stated above"
)]
impl Module<'_> {
    fn api(&self) -> &Api {
        &self.llvm.api
    }

    /// Keeps what is visible from outside, and everything that it uses. The rest is never read.
    pub(crate) fn without_unused(mut self) -> Result<Self, String> {
        let api = self.api();
        // The linker moves internal symbols only if they are used. It consumes the old module.
        let (failed, module) = unsafe {
            let new = (api.LLVMModuleCreateWithNameInContext)(c"kernels".as_ptr(), self.context);
            ((api.LLVMLinkModules2)(new, self.module), new)
        };
        self.module = module;
        match failed {
            0 => self.no_errors().map(|()| self),
            _ => Err(self.errors.borrow().messages.join("\n")),
        }
    }

    /// All global variables at this time.
    pub(crate) fn globals(&self) -> Vec<Value> {
        let api = self.api();
        unsafe {
            chain((api.LLVMGetFirstGlobal)(self.module), |v| {
                (api.LLVMGetNextGlobal)(v)
            })
        }
    }

    /// All functions, defined or declared.
    pub(crate) fn functions(&self) -> Vec<Value> {
        let api = self.api();
        unsafe {
            chain((api.LLVMGetFirstFunction)(self.module), |v| {
                (api.LLVMGetNextFunction)(v)
            })
        }
    }

    /// All instructions of `function`.
    pub(crate) fn instructions(&self, function: Value) -> Vec<Value> {
        let api = self.api();
        let blocks: Vec<BasicBlock> = unsafe {
            chain((api.LLVMGetFirstBasicBlock)(function), |b| {
                (api.LLVMGetNextBasicBlock)(b)
            })
        };
        blocks
            .into_iter()
            .flat_map(|b| unsafe {
                chain((api.LLVMGetFirstInstruction)(b), |i| {
                    (api.LLVMGetNextInstruction)(i)
                })
            })
            .collect()
    }

    pub(crate) fn name(&self, value: Value) -> String {
        let mut len = 0;
        unsafe {
            let start = (self.api().LLVMGetValueName2)(value, &mut len);
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), len)).into_owned()
        }
    }

    pub(crate) fn set_name(&self, value: Value, name: &str) {
        unsafe { (self.api().LLVMSetValueName2)(value, name.as_ptr().cast(), name.len()) }
    }

    pub(crate) fn function_named(&self, name: &str) -> Option<Value> {
        let name = c_string(name);
        let found = unsafe { (self.api().LLVMGetNamedFunction)(self.module, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    }

    pub(crate) fn section(&self, global: Value) -> String {
        unsafe {
            let text = (self.api().LLVMGetSection)(global);
            if text.is_null() {
                String::new()
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        }
    }

    pub(crate) fn is_declaration(&self, global: Value) -> bool {
        unsafe { (self.api().LLVMIsDeclaration)(global) != 0 }
    }

    pub(crate) fn is_used(&self, value: Value) -> bool {
        unsafe { !(self.api().LLVMGetFirstUse)(value).is_null() }
    }

    /// Whether a global's initial value is undefined or absent.
    pub(crate) fn is_uninitialised(&self, global: Value) -> bool {
        unsafe {
            let value = (self.api().LLVMGetInitializer)(global);
            value.is_null() || (self.api().LLVMIsUndef)(value) != 0
        }
    }

    /// Replaces the global `old` by a new one in `address_space`. All uses of `old` go through an address
    /// space cast; `old` is deleted.
    pub(crate) fn move_global(
        &self,
        old: Value,
        address_space: u32,
        min_align: u32,
        external: bool,
    ) {
        let api = self.api();
        let name = self.name(old);
        unsafe {
            let ty = (api.LLVMGlobalGetValueType)(old);
            let align = (api.LLVMGetAlignment)(old).max(min_align);
            let c_name = c_string(&name);
            let new =
                (api.LLVMAddGlobalInAddressSpace)(self.module, ty, c_name.as_ptr(), address_space);
            (api.LLVMSetAlignment)(new, align);
            if external {
                (api.LLVMSetLinkage)(new, api::LINKAGE_EXTERNAL);
            } else {
                (api.LLVMSetLinkage)(new, api::LINKAGE_INTERNAL);
                (api.LLVMSetInitializer)(new, (api.LLVMGetUndef)(ty));
            }
            let generic = (api.LLVMPointerTypeInContext)(self.context, 0);
            (api.LLVMReplaceAllUsesWith)(old, (api.LLVMConstAddrSpaceCast)(new, generic));
            (api.LLVMDeleteGlobal)(old);
            // The name is free only after the deletion.
            self.set_name(new, &name);
        }
    }

    pub(crate) fn make_internal(&self, global: Value) {
        unsafe {
            (self.api().LLVMSetVisibility)(global, api::VISIBILITY_DEFAULT);
            (self.api().LLVMSetLinkage)(global, api::LINKAGE_INTERNAL);
        }
    }

    pub(crate) fn is_kernel(&self, function: Value) -> bool {
        unsafe { (self.api().LLVMGetFunctionCallConv)(function) == api::CALL_CONV_PTX_KERNEL }
    }

    /// The pointer parameters of `function` without an address space.
    pub(crate) fn generic_pointer_params(&self, function: Value) -> Vec<Value> {
        let api = self.api();
        unsafe {
            (0..(api.LLVMCountParams)(function))
                .map(|i| (api.LLVMGetParam)(function, i))
                .filter(|&p| {
                    let ty = (api.LLVMTypeOf)(p);
                    (api.LLVMGetTypeKind)(ty) == api::TYPE_KIND_POINTER
                        && (api.LLVMGetPointerAddressSpace)(ty) == 0
                })
                .collect()
        }
    }

    /// Replaces all uses of `param` by a cast to `address_space` and back, at the start of `function`.
    pub(crate) fn cast_param(&self, function: Value, param: Value, address_space: u32) {
        let api = self.api();
        unsafe {
            let entry = (api.LLVMGetFirstBasicBlock)(function);
            (api.LLVMPositionBuilderBefore)(self.builder, (api.LLVMGetFirstInstruction)(entry));
            let there = (api.LLVMPointerTypeInContext)(self.context, address_space);
            let back = (api.LLVMPointerTypeInContext)(self.context, 0);
            let cast = (api.LLVMBuildAddrSpaceCast)(self.builder, param, there, c"".as_ptr());
            let generic = (api.LLVMBuildAddrSpaceCast)(self.builder, cast, back, c"".as_ptr());
            (api.LLVMReplaceAllUsesWith)(param, generic);
            // This also replaced the operand of the cast itself.
            (api.LLVMSetOperand)(cast, 0, param);
        }
    }

    pub(crate) fn opcode(&self, instruction: Value) -> u32 {
        unsafe { (self.api().LLVMGetInstructionOpcode)(instruction) }
    }

    /// The callee of a call.
    pub(crate) fn callee(&self, call: Value) -> Value {
        unsafe { (self.api().LLVMGetCalledValue)(call) }
    }

    /// Whether `callee` is inline assembly that may have side effects.
    pub(crate) fn is_impure_asm(&self, callee: Value) -> bool {
        self.is_asm(callee) && unsafe { (self.api().LLVMGetInlineAsmHasSideEffects)(callee) != 0 }
    }

    /// Whether `callee` is a function, and not an address computed at run time.
    pub(crate) fn is_function(&self, callee: Value) -> bool {
        unsafe { !(self.api().LLVMIsAFunction)(callee).is_null() }
    }

    pub(crate) fn is_asm(&self, callee: Value) -> bool {
        unsafe { !(self.api().LLVMIsAInlineAsm)(callee).is_null() }
    }

    pub(crate) fn enum_attribute(&self, name: &str) -> Attribute {
        unsafe {
            let kind =
                (self.api().LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len());
            (self.api().LLVMCreateEnumAttribute)(self.context, kind, 0)
        }
    }

    pub(crate) fn add_call_attribute(&self, call: Value, attribute: Attribute) {
        unsafe { (self.api().LLVMAddCallSiteAttribute)(call, api::FUNCTION_INDEX, attribute) }
    }

    pub(crate) fn add_attribute(&self, function: Value, attribute: Attribute) {
        unsafe { (self.api().LLVMAddAttributeAtIndex)(function, api::FUNCTION_INDEX, attribute) }
    }

    pub(crate) fn add_string_attribute(&self, function: Value, key: &str, value: &str) {
        unsafe {
            let attribute = (self.api().LLVMCreateStringAttribute)(
                self.context,
                key.as_ptr().cast(),
                key.len() as u32,
                value.as_ptr().cast(),
                value.len() as u32,
            );
            self.add_attribute(function, attribute);
        }
    }

    pub(crate) fn remove_string_attribute(&self, function: Value, key: &str) {
        unsafe {
            (self.api().LLVMRemoveStringAttributeAtIndex)(
                function,
                api::FUNCTION_INDEX,
                key.as_ptr().cast(),
                key.len() as u32,
            )
        }
    }

    /// Adds fast-math flags to an instruction that supports them.
    pub(crate) fn add_fast_math(&self, instruction: Value, flags: u32) {
        let api = self.api();
        unsafe {
            if (api.LLVMCanValueUseFastMathFlags)(instruction) != 0 {
                let old = (api.LLVMGetFastMathFlags)(instruction);
                (api.LLVMSetFastMathFlags)(instruction, old | flags);
            }
        }
    }

    /// The ordering of an atomic read-modify-write.
    pub(crate) fn ordering(&self, instruction: Value) -> u32 {
        unsafe { (self.api().LLVMGetOrdering)(instruction) }
    }

    pub(crate) fn set_ordering(&self, instruction: Value, ordering: u32) {
        unsafe { (self.api().LLVMSetOrdering)(instruction, ordering) }
    }

    /// Inserts a fence with the scope of `instruction`, before or after it.
    pub(crate) fn add_fence(&self, instruction: Value, ordering: u32, after: bool) {
        let api = self.api();
        unsafe {
            let place = if after {
                (api.LLVMGetNextInstruction)(instruction)
            } else {
                instruction
            };
            (api.LLVMPositionBuilderBefore)(self.builder, place);
            let scope = (api.LLVMGetAtomicSyncScopeID)(instruction);
            (api.LLVMBuildFenceSyncScope)(self.builder, ordering, scope, c"".as_ptr());
        }
    }

    pub(crate) fn inline_asm(&self) -> String {
        let mut len = 0;
        unsafe {
            let start = (self.api().LLVMGetModuleInlineAsm)(self.module, &mut len);
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), len)).into_owned()
        }
    }

    pub(crate) fn set_inline_asm(&self, text: &str) {
        unsafe {
            (self.api().LLVMSetModuleInlineAsm2)(self.module, text.as_ptr().cast(), text.len())
        }
    }

    /// The module as LLVM IR text.
    pub(crate) fn to_text(&self) -> String {
        unsafe {
            self.llvm
                .take_message((self.api().LLVMPrintModuleToString)(self.module))
        }
    }

    /// A target machine for `cpu` and `features`, at the highest optimisation level.
    pub(crate) fn target_machine(&self, cpu: &str, features: &str) -> Result<Machine<'_>, String> {
        let api = self.api();
        let (cpu, features) = (c_string(cpu), c_string(features));
        unsafe {
            let triple = (api.LLVMGetTarget)(self.module);
            let mut target = ptr::null_mut();
            let mut message = ptr::null_mut();
            if (api.LLVMGetTargetFromTriple)(triple, &mut target, &mut message) != 0 {
                return Err(self.llvm.take_message(message));
            }
            let machine = (api.LLVMCreateTargetMachine)(
                target,
                triple,
                cpu.as_ptr(),
                features.as_ptr(),
                api::CODEGEN_AGGRESSIVE,
                api::RELOC_DEFAULT,
                api::CODE_MODEL_DEFAULT,
            );
            if machine.is_null() {
                let cpu = cpu.to_string_lossy();
                return Err(format!("LLVM has no target machine for {cpu}"));
            }
            Ok(Machine {
                llvm: self.llvm,
                machine,
            })
        }
    }

    /// Runs a pipeline of passes. The machine is required: without it LLVM would not know that lanes diverge,
    /// and would miscompile warp-wide code.
    pub(crate) fn run_passes(&self, pipeline: &str, machine: &Machine<'_>) -> Result<(), String> {
        let api = self.api();
        let pipeline = c_string(pipeline);
        unsafe {
            let options = (api.LLVMCreatePassBuilderOptions)();
            let error =
                (api.LLVMRunPasses)(self.module, pipeline.as_ptr(), machine.machine, options);
            (api.LLVMDisposePassBuilderOptions)(options);
            if error.is_null() {
                return self.no_errors();
            }
            // Consumes the error.
            let message = (api.LLVMGetErrorMessage)(error);
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (api.LLVMDisposeErrorMessage)(message);
            Err(text)
        }
    }

    /// The errors that LLVM has reported since the module was read.
    fn no_errors(&self) -> Result<(), String> {
        match &self.errors.borrow().messages[..] {
            [] => Ok(()),
            messages => Err(messages.join("\n")),
        }
    }

    /// The module as PTX.
    pub(crate) fn emit_ptx(&self, machine: &Machine<'_>) -> Result<String, String> {
        let api = self.api();
        unsafe {
            let mut message = ptr::null_mut();
            let mut buffer = ptr::null_mut();
            let failed = (api.LLVMTargetMachineEmitToMemoryBuffer)(
                machine.machine,
                self.module,
                api::FILE_TYPE_ASSEMBLY,
                &mut message,
                &mut buffer,
            );
            if failed != 0 {
                return Err(self.llvm.take_message(message));
            }
            let text = String::from_utf8_lossy(&self.take_buffer(buffer)).into_owned();
            self.no_errors().map(|()| text)
        }
    }

    /// The module as bitcode.
    pub(crate) fn to_bitcode(&self) -> Vec<u8> {
        unsafe { self.take_buffer((self.api().LLVMWriteBitcodeToMemoryBuffer)(self.module)) }
    }

    /// Copies and frees a buffer from LLVM.
    ///
    /// # Safety
    ///
    /// `buffer` comes from LLVM and was not freed.
    unsafe fn take_buffer(&self, buffer: api::MemoryBuffer) -> Vec<u8> {
        let api = self.api();
        unsafe {
            let start = (api.LLVMGetBufferStart)(buffer);
            let len = (api.LLVMGetBufferSize)(buffer);
            let bytes = std::slice::from_raw_parts(start.cast(), len).to_vec();
            (api.LLVMDisposeMemoryBuffer)(buffer);
            bytes
        }
    }
}

/// A target machine: the target of optimisation and emission.
pub(crate) struct Machine<'l> {
    llvm: &'l Llvm,
    machine: api::MachineRef,
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        // SAFETY: this value owns the machine and disposes of it once.
        unsafe { (self.llvm.api.LLVMDisposeTargetMachine)(self.machine) }
    }
}

/// The elements of one of LLVM's linked lists.
///
/// # Safety
///
/// `next` may be called on `first` and on what it returns, until it returns null.
unsafe fn chain<T: Copy>(first: *mut T, next: impl Fn(*mut T) -> *mut T) -> Vec<*mut T> {
    std::iter::successors((!first.is_null()).then_some(first), |&v| {
        let v = next(v);
        (!v.is_null()).then_some(v)
    })
    .collect()
}

/// A C string; what follows an embedded NUL is removed.
fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).expect("the text contains no NUL")
}
