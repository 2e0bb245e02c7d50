//! The table of LLVM's C functions, with LLVM's names, types and numbers (`llvm-c/*.h` of LLVM 22).

#![allow(non_snake_case)]

use libloading::Library;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::Path;

macro_rules! opaque {
    ($($name:ident = $tag:ident),* $(,)?) => {
        $(
            #[derive(Clone, Copy)]
            pub(crate) enum $tag {}
            pub(crate) type $name = *mut $tag;
        )*
    };
}

opaque! {
    Context = ContextTag,
    ModuleRef = ModuleTag,
    Value = ValueTag,
    Type = TypeTag,
    BasicBlock = BasicBlockTag,
    Builder = BuilderTag,
    Attribute = AttributeTag,
    Use = UseTag,
    MemoryBuffer = MemoryBufferTag,
    Target = TargetTag,
    MachineRef = MachineTag,
    PassOptions = PassOptionsTag,
    ErrorRef = ErrorTag,
    DiagnosticInfo = DiagnosticInfoTag,
    Metadata = MetadataTag,
    TargetData = TargetDataTag,
}

/// LLVMDiagnosticHandler.
pub(super) type DiagnosticHandler = extern "C" fn(DiagnosticInfo, *mut c_void);

/// LLVMFatalErrorHandler.
pub(super) type FatalErrorHandler = extern "C" fn(*const c_char);

/// Reads a module from bitcode.
pub(super) type Read = unsafe extern "C" fn(Context, MemoryBuffer, *mut ModuleRef) -> c_int;

macro_rules! functions {
    ($($name:ident($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The functions, and the library that contains them.
        pub(super) struct Api {
            $(pub(super) $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            _library: Library,
        }

        impl Api {
            /// Opens the library and looks up every function.
            pub(super) fn load(path: &Path) -> Result<Self, libloading::Error> {
                // SAFETY: LLVM's initialisers access nothing outside the library. The signatures are those of
                // LLVM 22's C interface, which is stable.
                unsafe {
                    let library = Library::new(path)?;
                    Ok(Self {
                        $($name: *library.get(stringify!($name))?,)*
                        _library: library,
                    })
                }
            }
        }
    };
}

functions! {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();

    LLVMInstallFatalErrorHandler(FatalErrorHandler);

    LLVMContextCreate() -> Context;
    LLVMContextDispose(Context);
    LLVMContextSetDiscardValueNames(Context, c_int);
    LLVMContextSetDiagnosticHandler(Context, DiagnosticHandler, *mut c_void);
    LLVMGetDiagInfoSeverity(DiagnosticInfo) -> c_uint;
    LLVMGetDiagInfoDescription(DiagnosticInfo) -> *mut c_char;
    LLVMCreateMemoryBufferWithMemoryRangeCopy(*const c_char, usize, *const c_char) -> MemoryBuffer;
    LLVMGetBitcodeModuleInContext2(Context, MemoryBuffer, *mut ModuleRef) -> c_int;
    LLVMParseBitcodeInContext2(Context, MemoryBuffer, *mut ModuleRef) -> c_int;
    LLVMModuleCreateWithNameInContext(*const c_char, Context) -> ModuleRef;
    LLVMLinkModules2(ModuleRef, ModuleRef) -> c_int;
    LLVMDisposeModule(ModuleRef);
    LLVMDisposeMessage(*mut c_char);
    LLVMPrintModuleToString(ModuleRef) -> *mut c_char;
    LLVMWriteBitcodeToMemoryBuffer(ModuleRef) -> MemoryBuffer;
    LLVMGetModuleInlineAsm(ModuleRef, *mut usize) -> *const c_char;
    LLVMSetModuleInlineAsm2(ModuleRef, *const c_char, usize);
    LLVMGetTarget(ModuleRef) -> *const c_char;

    LLVMGetFirstGlobal(ModuleRef) -> Value;
    LLVMGetNextGlobal(Value) -> Value;
    LLVMGetFirstFunction(ModuleRef) -> Value;
    LLVMGetNextFunction(Value) -> Value;
    LLVMGetNamedFunction(ModuleRef, *const c_char) -> Value;
    LLVMGetFirstBasicBlock(Value) -> BasicBlock;
    LLVMGetNextBasicBlock(BasicBlock) -> BasicBlock;
    LLVMGetFirstInstruction(BasicBlock) -> Value;
    LLVMGetNextInstruction(Value) -> Value;

    LLVMGetValueName2(Value, *mut usize) -> *const c_char;
    LLVMSetValueName2(Value, *const c_char, usize);
    LLVMGetFirstUse(Value) -> Use;
    LLVMGetNextUse(Use) -> Use;
    LLVMGetUser(Use) -> Value;
    LLVMIsAInstruction(Value) -> Value;
    LLVMIsAConstant(Value) -> Value;
    LLVMIsAGlobalValue(Value) -> Value;
    LLVMGetInstructionParent(Value) -> BasicBlock;
    LLVMGetBasicBlockParent(BasicBlock) -> Value;
    LLVMGetNumOperands(Value) -> c_int;
    LLVMGetOperand(Value, c_uint) -> Value;
    LLVMReplaceAllUsesWith(Value, Value);
    LLVMSetOperand(Value, c_uint, Value);
    LLVMTypeOf(Value) -> Type;
    LLVMGetTypeKind(Type) -> c_uint;
    LLVMGetPointerAddressSpace(Type) -> c_uint;
    LLVMPointerTypeInContext(Context, c_uint) -> Type;
    LLVMIsFunctionVarArg(Type) -> c_int;
    LLVMGetModuleDataLayout(ModuleRef) -> TargetData;
    LLVMABISizeOfType(TargetData, Type) -> u64;
    LLVMIsUndef(Value) -> c_int;
    LLVMGetUndef(Type) -> Value;
    LLVMConstAddrSpaceCast(Value, Type) -> Value;

    LLVMAddGlobalInAddressSpace(ModuleRef, Type, *const c_char, c_uint) -> Value;
    LLVMDeleteGlobal(Value);
    LLVMGlobalGetValueType(Value) -> Type;
    LLVMGetInitializer(Value) -> Value;
    LLVMSetInitializer(Value, Value);
    LLVMIsDeclaration(Value) -> c_int;
    LLVMIsThreadLocal(Value) -> c_int;
    LLVMGetSection(Value) -> *const c_char;
    LLVMGetAlignment(Value) -> c_uint;
    LLVMSetAlignment(Value, c_uint);
    LLVMSetLinkage(Value, c_uint);
    LLVMSetVisibility(Value, c_uint);

    LLVMGetFunctionCallConv(Value) -> c_uint;
    LLVMCountParams(Value) -> c_uint;
    LLVMGetParam(Value, c_uint) -> Value;
    LLVMGetInstructionOpcode(Value) -> c_uint;
    LLVMGetCalledValue(Value) -> Value;
    LLVMIsAInlineAsm(Value) -> Value;
    LLVMIsAFunction(Value) -> Value;
    LLVMGetInlineAsmHasSideEffects(Value) -> c_int;
    LLVMGetInlineAsmAsmString(Value, *mut usize) -> *const c_char;

    LLVMGetEnumAttributeKindForName(*const c_char, usize) -> c_uint;
    LLVMCreateEnumAttribute(Context, c_uint, u64) -> Attribute;
    LLVMCreateStringAttribute(Context, *const c_char, c_uint, *const c_char, c_uint) -> Attribute;
    LLVMAddAttributeAtIndex(Value, c_uint, Attribute);
    LLVMRemoveStringAttributeAtIndex(Value, c_uint, *const c_char, c_uint);
    LLVMAddCallSiteAttribute(Value, c_uint, Attribute);

    LLVMCanValueUseFastMathFlags(Value) -> c_int;
    LLVMGetFastMathFlags(Value) -> c_uint;
    LLVMSetFastMathFlags(Value, c_uint);

    LLVMInstructionGetDebugLoc(Value) -> Metadata;
    LLVMInstructionSetDebugLoc(Value, Metadata);
    LLVMDILocationGetLine(Metadata) -> c_uint;
    LLVMDILocationGetScope(Metadata) -> Metadata;
    LLVMDILocationGetInlinedAt(Metadata) -> Metadata;
    LLVMGetSubprogram(Value) -> Metadata;
    LLVMDISubprogramGetLine(Metadata) -> c_uint;
    LLVMDIScopeGetFile(Metadata) -> Metadata;
    LLVMDIFileGetDirectory(Metadata, *mut c_uint) -> *const c_char;
    LLVMDIFileGetFilename(Metadata, *mut c_uint) -> *const c_char;

    LLVMGetOrdering(Value) -> c_uint;
    LLVMSetOrdering(Value, c_uint);
    LLVMGetAtomicSyncScopeID(Value) -> c_uint;

    LLVMCreateBuilderInContext(Context) -> Builder;
    LLVMDisposeBuilder(Builder);
    LLVMPositionBuilderBefore(Builder, Value);
    LLVMBuildAddrSpaceCast(Builder, Value, Type, *const c_char) -> Value;
    LLVMFunctionType(Type, *mut Type, c_uint, c_int) -> Type;
    LLVMAddFunction(ModuleRef, *const c_char, Type) -> Value;
    LLVMDeleteFunction(Value);
    LLVMBuildCall2(Builder, Type, Value, *mut Value, c_uint, *const c_char) -> Value;
    LLVMInstructionEraseFromParent(Value);
    LLVMBuildFenceSyncScope(Builder, c_uint, c_uint, *const c_char) -> Value;

    LLVMGetTargetFromTriple(*const c_char, *mut Target, *mut *mut c_char) -> c_int;
    LLVMCreateTargetMachine(Target, *const c_char, *const c_char, *const c_char, c_uint, c_uint, c_uint) -> MachineRef;
    LLVMDisposeTargetMachine(MachineRef);
    LLVMTargetMachineEmitToMemoryBuffer(MachineRef, ModuleRef, c_uint, *mut *mut c_char, *mut MemoryBuffer) -> c_int;
    LLVMGetBufferStart(MemoryBuffer) -> *const c_void;
    LLVMGetBufferSize(MemoryBuffer) -> usize;
    LLVMDisposeMemoryBuffer(MemoryBuffer);

    LLVMCreatePassBuilderOptions() -> PassOptions;
    LLVMDisposePassBuilderOptions(PassOptions);
    LLVMRunPasses(ModuleRef, *const c_char, MachineRef, PassOptions) -> ErrorRef;
    LLVMGetErrorMessage(ErrorRef) -> *mut c_char;
    LLVMDisposeErrorMessage(*mut c_char);
}

// LLVMLinkage, LLVMVisibility, LLVMCallConv, LLVMTypeKind.
pub(super) const LINKAGE_EXTERNAL: u32 = 0;
pub(super) const LINKAGE_INTERNAL: u32 = 8;
pub(super) const VISIBILITY_DEFAULT: u32 = 0;
pub(super) const CALL_CONV_PTX_KERNEL: u32 = 71;
pub(super) const TYPE_KIND_FP128: u32 = 5;
pub(super) const TYPE_KIND_POINTER: u32 = 12;

/// LLVMAttributeFunctionIndex: an attribute of the function, not of a parameter.
pub(super) const FUNCTION_INDEX: u32 = u32::MAX;

// LLVMCodeGenOptLevel, LLVMRelocMode, LLVMCodeModel, LLVMCodeGenFileType.
pub(super) const CODEGEN_AGGRESSIVE: u32 = 3;
pub(super) const RELOC_DEFAULT: u32 = 0;
pub(super) const CODE_MODEL_DEFAULT: u32 = 0;
pub(super) const FILE_TYPE_ASSEMBLY: u32 = 0;

/// LLVMDSError.
pub(super) const SEVERITY_ERROR: u32 = 0;
