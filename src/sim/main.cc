#include "sim/ssim.h"

int main(int argc, char** argv) {
    return sluice::run_ssim({argv + 1, argv + argc});
}
