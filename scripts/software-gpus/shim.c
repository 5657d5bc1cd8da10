// What stands under the name libvulkan.so.1 beside one software driver: it pulls in the driver (libvulkan_lvp.so) and
// its libraries, and supplies what the driver asks for and does not find. Built by ../software-gpus.sh.
#include <features.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// The one entry point that Dawn looks up in libvulkan.so.1. The driver answers it itself: no Vulkan loader in between.
typedef void (*proc)(void);
proc vk_icdGetInstanceProcAddr(void *instance, const char *name);
proc vkGetInstanceProcAddr(void *instance, const char *name) { return vk_icdGetInstanceProcAddr(instance, name); }

// A driver built for a newer C library asks for these by their newer names; they differ in reading "0b101" only.
#if !__GLIBC_PREREQ(2, 38)
long __isoc23_strtol(const char *s, char **end, int base) { return strtol(s, end, base); }
unsigned long __isoc23_strtoul(const char *s, char **end, int base) { return strtoul(s, end, base); }
long long __isoc23_strtoll(const char *s, char **end, int base) { return strtoll(s, end, base); }
unsigned long long __isoc23_strtoull(const char *s, char **end, int base) { return strtoull(s, end, base); }
int __isoc23_sscanf(const char *s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsscanf(s, format, args);
  va_end(args);
  return n;
}
#endif

// Functions (and a few structures, of which only the address is taken) of libraries that nothing here calls: windows,
// displays, LLVM's command line tools.
static void unavailable(const char *name) {
  fprintf(stderr, "lavapipe: %s was called, but scripts/software-gpus.sh leaves its library out\n", name);
  abort();
}
#define STUB(name) void name(void) { unavailable(#name); }
#include "stubs.h"
