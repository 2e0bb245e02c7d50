fn main() {
    warpfold_build::embed("../kernels");
}
