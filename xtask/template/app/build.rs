fn main() {
    // Compiles the kernels to PTX, by the compiler that builds this program.
    warpfold_build::embed("../kernels");
}
