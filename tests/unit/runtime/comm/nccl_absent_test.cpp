#include <gtest/gtest.h>

namespace {

TEST(NcclConformance, IsNotInThisBuild) {
  GTEST_SKIP() << "built without the headers of CUDA and NCCL: the NCCL communicator is not there";
}

}  // namespace
