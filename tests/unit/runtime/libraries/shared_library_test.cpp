#include "runtime/libraries/shared_library.h"

#include <cstdlib>

#include <gmock/gmock.h>

namespace stagewright {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const LibraryName kMissing{.title = "the device runtime",
                           .file = "libnobody-has-this.so.7",
                           .variable = "STAGEWRIGHT_TEST_LIBRARY",
                           .package = "Device Tools 7"};

TEST(SharedLibrary, SaysWhatIsMissingAndWhatToDo) {
  const Result<SharedLibrary> library = SharedLibrary::open(kMissing);
  ASSERT_FALSE(library.has_value());
  EXPECT_EQ(library.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(library.error().message,
              AllOf(HasSubstr("the device runtime is missing (libnobody-has-this.so.7"),
                    HasSubstr("install Device Tools 7 or name its file in "
                              "STAGEWRIGHT_TEST_LIBRARY")));
}

TEST(SharedLibrary, TakesTheFileThatTheEnvironmentNamesAndAGivenPathBeforeThat) {
  ::setenv("STAGEWRIGHT_TEST_LIBRARY", "libm.so.6", 1);
  const Result<SharedLibrary> from_environment = SharedLibrary::open(kMissing);
  const Result<SharedLibrary> given = SharedLibrary::open(kMissing, "libc.so.6");
  ::unsetenv("STAGEWRIGHT_TEST_LIBRARY");
  ASSERT_TRUE(from_environment.has_value());
  EXPECT_EQ(from_environment->file(), "libm.so.6");
  ASSERT_TRUE(given.has_value());
  EXPECT_EQ(given->file(), "libc.so.6");
}

TEST(SharedLibrary, FindsEntriesAndNamesOneThatIsNotThere) {
  const Result<SharedLibrary> library = SharedLibrary::open(kMissing, "libm.so.6");
  ASSERT_TRUE(library.has_value());
  const Result<void*> cosine = library->entry("cos");
  ASSERT_TRUE(cosine.has_value());
  EXPECT_EQ(reinterpret_cast<double (*)(double)>(*cosine)(0.0), 1.0);
  const Result<void*> missing = library->entry("cosplay");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().to_string(),
              HasSubstr("libm.so.6: the device runtime has no entry cosplay: another version"));
}

}  // namespace
}  // namespace stagewright
