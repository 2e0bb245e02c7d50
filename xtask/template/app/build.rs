fn main() {
    // Compiles the kernels to PTX, with the compiler that builds this program.
    warpfold_build::embed("../kernels");
}
