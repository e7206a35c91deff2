// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The C interface of Forwarding. C programs include this header and no other.
///
/// # What the library does
///
/// - It reads **type encodings**: strings that describe C types, such as `i` for `int` or `{Point=dd}` for a struct of
///   two doubles. `fwd_type_layout` gives the size and the alignment of a type.
/// - A **signature** is a result type and argument types, read from one string: `v@:di` is a function that returns
///   nothing and takes a receiver (`@`), a selector (`:`), a double and an int. With a signature a program calls
///   functions whose types it learns at run time (`fwd_call`), and makes function pointers (`fwd_closure_create`).
/// - A **selector** is the interned name of a method. A **protocol** is a set of methods, each with a signature.
/// - A **proxy** adopts protocols and has **subscribers**. A program forwards an invocation to the proxy
///   (`fwd_forward`), and the proxy calls each subscriber that implements the method: a **fan-out** of one
///   **delivery** for each subscriber.
///
/// # A complete example
///
///     #include <forwarding.h>
///     #include <stdio.h>
///
///     typedef struct account {
///       const char *owner;
///       double total;
///     } account;
///
///     // Implements "paid:by:" for accounts. The context of the subscription comes first.
///     static void paid(account *self, fwd_selector selector, double amount, int payer) {
///       (void)selector;
///       self->total += amount;
///       printf("%s got %.2f from %d\n", self->owner, amount, payer);
///     }
///
///     int main(void) {
///       static const fwd_requirement requirements[] = {{"paid:by:", "v@:di", true}};
///       static const fwd_method methods[] = {{"paid:by:", "v^v:di", (void (*)(void))paid}};
///       account alice = {"Alice", 0}, bob = {"Bob", 0};
///       const fwd_protocol *payments;
///       fwd_proxy *proxy;
///       fwd_error error;
///       if (fwd_protocol_register("Payments", requirements, 1, &payments, &error) != FWD_OK ||
///           fwd_proxy_create(&payments, 1, NULL, &proxy, &error) != FWD_OK ||
///           fwd_proxy_subscribe(proxy, &alice, methods, 1, NULL, NULL, NULL, &error) != FWD_OK ||
///           fwd_proxy_subscribe(proxy, &bob, methods, 1, NULL, NULL, NULL, &error) != FWD_OK) {
///         fprintf(stderr, "%s\n", error.message);
///         return 1;
///       }
///       struct {
///         double amount;
///         int payer;
///       } frame = {2.5, 7};
///       fwd_status status = fwd_forward(proxy, fwd_selector_register("paid:by:"), &frame, sizeof frame, NULL, 0);
///       fwd_proxy_release(proxy);
///       return status == FWD_OK ? 0 : 1;
///     }
///
/// # Rules that hold for every function
///
/// - **Threads.** Every function may be called from any thread, unless its comment says otherwise. The library holds no
///   lock while it calls a subscriber, a handler, a visitor or a notifier, so these may call the library again.
/// - **Errors.** A function that can fail returns a `fwd_status`. On failure it has changed nothing: outputs are not
///   written, references are not counted, notifiers are not called. `fwd_error_message` then says, on the same thread,
///   what was given, what was expected and where. A function with a parameter `error` fills it too, unless it is NULL.
/// - **NULL.** A parameter marked `FWD_NULLABLE` may be NULL: either NULL has a meaning, which the comment gives, or
///   the function returns `FWD_NULL_ARGUMENT`. A pointer marked `FWD_NONNULL` is never NULL.
/// - **Lifetime.** An object that a `..._create` function makes is released by `..._release` if there is a
///   `..._retain`, and otherwise destroyed by `..._destroy`. Strings and arrays that a program passes are copied,
///   unless the comment says otherwise.
/// - **Calls that must return.** Subscribers, handlers, visitors, notifiers, and the functions that a batch or a change runs
///   must return normally, on the thread that called them. Leaving them by `longjmp`, by a C++ exception or by `pthread_exit`
///   is undefined behavior.
/// - **Signal handlers.** No function is async-signal-safe.
/// - **Stack.** On x86-64 a nested forward takes at most 700 bytes of stack for methods of up to six arguments.
///   Arguments on the stack, large struct results, and in the first three levels arguments in more than eight registers take
///   more. A thread that forwards should have a stack of 64 KB, a fiber
///   128 KB. `FWD_NESTED_TOO_DEEP` ends a recursion before the stack is used up.
/// - **fork(2).** The library works in a child, but the Swift runtime, which it uses, is not reset there: forward once before
///   the program has threads.
///
/// The page *Limits* of the documentation has the details of calls that must return, signal handlers, the stack and fork.
///
/// # Versions
///
/// - `FWD_VERSION` is the version of this header, `fwd_version` that of the library. Before 1.0, a minor version may
///   change functions.
/// - Structs of options begin with their size, which their `..._INIT` macro sets. Structs in arrays do not: the program gives
///   the distance of two elements, of `fwd_method_options` in `fwd_proxy_options`, of `fwd_callback` as an argument. Later
///   versions add members at the end only. A library that is older than the program refuses members that it does not
///   know, unless they are zero (`FWD_WRONG_VERSION`). A library that is newer treats missing members as zero.
/// - Structs that the library fills for a visitor begin with their size, too (`fwd_method_info`, `fwd_subscriber_info`).
///   Later versions add members at the end only.
/// - All other structs keep their members for good.
/// - `fwd_call` is compiled into programs and reads a part of the library's memory. A program that was compiled for
///   another form of that part (`FWD_INLINE_ABI`) does not load: the linker or the loader misses a symbol whose name
///   has the number.

#ifndef FORWARDING_H
#define FORWARDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Compilers

// Nullability is clang's. Other compilers see plain pointers.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#define FWD_NONNULL _Nonnull
#define FWD_NULLABLE _Nullable
#else
#define FWD_NONNULL
#define FWD_NULLABLE
#endif

// Marks what a shared library exports. The library itself is compiled with -fvisibility=hidden.
#if defined(__GNUC__)
#define FWD_API __attribute__((visibility("default")))
#else
#define FWD_API
#endif

// Marks a function that GCC and clang compile into programs. The library has it too, for other compilers and for
// languages that load the library at run time. Define FWD_NO_INLINE before the header to use the library's.
#if !defined(__GNUC__) || defined(FWD_NO_INLINE)
#define FWD_IS_INLINE 0
#define FWD_INLINE
#else
#define FWD_IS_INLINE 1
#if defined(__GNUC_GNU_INLINE__) && !defined(__cplusplus)
#define FWD_INLINE extern __inline__ __attribute__((always_inline))
#else
#define FWD_INLINE __inline__ __attribute__((always_inline))
#endif
// Control-flow integrity knows the functions of the program only. The jumps are the library's.
#if defined(__clang__)
#define FWD_JUMPS __attribute__((no_sanitize("cfi-icall", "kcfi")))
#else
#define FWD_JUMPS
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

// MARK: Version

/// The version of this header.
#define FWD_VERSION_MAJOR 0
#define FWD_VERSION_MINOR 1
#define FWD_VERSION_PATCH 0

/// The version as one number, 1,000,000 for each major, 1,000 for each minor version: `#if FWD_VERSION >= 2001000`.
#define FWD_VERSION (FWD_VERSION_MAJOR * 1000000 + FWD_VERSION_MINOR * 1000 + FWD_VERSION_PATCH)

/// The number of the form in which `fwd_call` reads a signature. It changes when `fwd_call_head`, the values of
/// `fwd_call_result` or the convention of `fwd_call_jump` change.
#define FWD_INLINE_ABI 2

/// Returns the version of the library that the program runs with, as `FWD_VERSION` has it.
FWD_API uint32_t fwd_version(void);

/// Returns the version of the library as text, such as "0.1.0". The text is valid for the life of the process.
FWD_API const char *FWD_NONNULL fwd_version_string(void);

// MARK: Status and errors

/// What went wrong. Values 1 to 4 concern type encodings.
typedef enum fwd_status {
  FWD_OK = 0,
  /// The text is not a type encoding.
  FWD_MALFORMED = 1,
  /// The text is a type encoding, but it lacks something that a call needs to know.
  FWD_UNSUPPORTED = 2,
  /// A size, a count or the length of a text exceeds its limit.
  FWD_OVERFLOW = 3,
  /// Types are nested deeper than `FWD_DEPTH_LIMIT`.
  FWD_TOO_DEEP = 4,
  /// A pointer is NULL, or a name is empty, where a value is needed.
  FWD_NULL_ARGUMENT = 5,
  /// A number is outside of its range: an index past the end, or an enumerator that does not exist.
  FWD_OUT_OF_RANGE = 6,
  /// A buffer or a struct does not have the expected size.
  FWD_WRONG_SIZE = 7,
  /// The type of a value is not the one that the signature gives.
  FWD_TYPE_MISMATCH = 8,
  /// An allocation failed.
  FWD_NO_MEMORY = 9,
  /// The system refused memory for a function pointer made at run time.
  FWD_NO_EXECUTABLE_MEMORY = 10,
  /// The first argument of a method's signature is not a pointer, so the method has no receiver.
  FWD_NO_RECEIVER = 11,
  /// No protocol of the proxy declares the selector.
  FWD_UNKNOWN_SELECTOR = 12,
  /// No live subscriber implements the method, and its result has no default.
  FWD_NO_RESPONDER = 13,
  /// A subscriber was called but could not take its arguments or give its result.
  FWD_DELIVERY_FAILED = 14,
  /// The methods of a subscriber lack a required one.
  FWD_MISSING_METHOD = 15,
  /// Two encodings of one selector disagree.
  FWD_SIGNATURE_MISMATCH = 16,
  /// A name is registered already, for something else.
  FWD_CONFLICT = 17,
  /// The proxy has no such subscription or interception. It has ended, or it is another proxy's.
  FWD_NOT_SUBSCRIBED = 18,
  /// The subscriber is subscribed already.
  FWD_DUPLICATE = 19,
  /// The subscription would make a proxy forward to itself.
  FWD_CYCLE = 20,
  /// The object has been deallocated, or the last reference to the proxy has been released: see `fwd_proxy_release`. Or a
  /// function pointer was called after its owner had died or its table had been destroyed.
  FWD_DEAD = 21,
  /// A stated layout does not fit the type, or the encoding has no such type.
  FWD_WRONG_LAYOUT = 22,
  /// The program was compiled for a later version and asks for something that this library does not know.
  FWD_WRONG_VERSION = 23,
  /// Invocations are forwarded inside of one another, and the thread's stack is nearly used up.
  FWD_NESTED_TOO_DEEP = 24,
  /// The function is not allowed at this point. An interceptor that does not go around the invocation has called
  /// `fwd_invocation_proceed`, for example.
  FWD_NOT_ALLOWED = 25,
} fwd_status;

/// Why a function failed. The program provides the memory, which the library fills on failure only.
typedef struct fwd_error {
  fwd_status status;
  /// The byte offset of the fault in the encoding, or the index of the offending argument, else 0.
  size_t offset;
  /// What was given, what was expected and where: printable text that ends with a NUL. A message about an encoding has
  /// three lines: the fault, the encoding, and a caret under the byte.
  char message[256];
} fwd_error;

/// Returns the message of the last failure on the calling thread, or "" if there was none. It is valid until the next
/// failing call on this thread.
FWD_API const char *FWD_NONNULL fwd_error_message(void);

/// Returns the name of a status, such as "FWD_MALFORMED", or "FWD_?" for a number that is no status. The name is valid
/// for the life of the process.
FWD_API const char *FWD_NONNULL fwd_status_name(fwd_status status);

// MARK: Limits

/// The depth of nested types. Deeper ones are `FWD_TOO_DEEP`.
#define FWD_DEPTH_LIMIT 128
/// The bytes of an encoding. Longer ones are `FWD_OVERFLOW`.
#define FWD_ENCODING_LENGTH_LIMIT 1048576
/// The arguments of a signature, the receiver included. More are `FWD_OVERFLOW`.
#define FWD_ARGUMENT_LIMIT 255
/// The bytes of all arguments of a signature together, and the bytes of its result: a call copies them to the stack.
/// More are `FWD_OVERFLOW`.
#define FWD_BY_VALUE_LIMIT 65536
/// The stated layouts for one encoding. More are `FWD_OVERFLOW`.
#define FWD_STATED_LIMIT 255

// MARK: Types

/// The size, the alignment and the offset of a type, in bytes.
typedef struct fwd_layout {
  size_t size;
  size_t alignment;
  /// For an argument, its offset in the argument frame. `FWD_NO_OFFSET` for the receiver and the selector, which are
  /// not in the frame. Otherwise 0.
  size_t offset;
} fwd_layout;

#define FWD_NO_OFFSET SIZE_MAX

/// Gives the size and the alignment of a type.
///
/// `encoding` has `length` bytes and describes one type; NULL is malformed. `*layout` receives what the C compiler
/// would say. `void` and the empty struct have size 0 and alignment 1.
///
/// Returns `FWD_MALFORMED`, `FWD_UNSUPPORTED`, `FWD_OVERFLOW` or `FWD_TOO_DEEP` for an encoding that has no layout.
/// O(n) in the length.
FWD_API fwd_status fwd_type_layout(const char *FWD_NULLABLE encoding, size_t length, fwd_layout *FWD_NULLABLE layout,
                                   fwd_error *FWD_NULLABLE error);

// MARK: Stated layouts

/// Where a member of a stated struct begins: `offset` bytes and `bit_offset` bits from the beginning of the struct.
typedef struct fwd_stated_member {
  /// The result of `offsetof`. 0 for members of unions.
  size_t offset;
  /// The bit of a bit-field, for which there is no `offsetof`. With `offset` 0 it may count from the beginning of the
  /// struct. Otherwise 0.
  size_t bit_offset;
} fwd_stated_member;

/// The layout of a struct or union that its encoding does not carry, because the type is packed, aligned by an
/// attribute, has bit-fields, or is known by name only. It says what `sizeof`, `_Alignof` and `offsetof` say, and holds
/// for every type of that name in the encoding.
///
/// Nothing is guessed. `members` may be NULL if the members lie one after the other and fill `size` bytes (`{P=ci}` of
/// 5 bytes is packed), or if they lie where the compiler puts members without attributes. Otherwise, and for bit-fields
/// (except those of GNU encodings, which give their positions), `members` is needed.
///
/// A signature that passes the type by value may need more, and says so when it is made. Never passed by value are:
///
/// - types aligned to more than 16 bytes;
/// - structs known by name only (spell their members), except large ones: over 16 bytes on x86-64, over 64 on AArch64,
///   and there without SIMD vectors;
/// - types that compilers pass differently: small structs with `_Atomic` members, with unnamed bit-fields, with
///   bit-fields over 64 bits, or with a struct at an offset that its own alignment forbids;
/// - any stated type on other processors than these two.
///
/// The library trusts that bit-fields have names and are not of 128-bit types, where the encoding does not show it.
typedef struct fwd_stated_layout {
  /// The name in the encoding: `P` of `{P=ci}`. It is not empty and not `?`.
  const char *FWD_NULLABLE name;
  /// A multiple of `alignment`, and at least as large as the members need.
  size_t size;
  /// A power of two.
  size_t alignment;
  /// One for each member in the encoding, in order, or NULL if they are not stated.
  const fwd_stated_member *FWD_NULLABLE members;
  size_t member_count;
  /// The largest alignment among the members, with their own attributes and without the struct's, or 0 if not stated.
  /// AArch64 needs it for an argument of up to 16 bytes, or of up to four floating-point numbers, that is aligned to
  /// 16: it is 16 if a member is (`_Alignas(16) long a`), and less if only the whole struct is.
  size_t member_alignment;
} fwd_stated_layout;

/// Gives the size and the alignment of a type with stated layouts.
///
/// Works as `fwd_type_layout`. `stated` has the layouts of `count` structs or unions in the encoding; it may be NULL if
/// `count` is 0.
///
/// Returns also `FWD_WRONG_LAYOUT`: for a size or an offset that leaves no room for the members, an alignment that is
/// no power of two, a name stated twice, or a name that is not in the encoding.
FWD_API fwd_status fwd_type_layout_stating(const char *FWD_NULLABLE encoding, size_t length,
                                           const fwd_stated_layout *FWD_NULLABLE stated, size_t count,
                                           fwd_layout *FWD_NULLABLE layout, fwd_error *FWD_NULLABLE error);

// MARK: Signatures

/// A result type and argument types, with everything that a call of such a function needs. Immutable, and counted by
/// reference.
typedef struct fwd_signature fwd_signature;

/// Makes a signature.
///
/// `encoding` has `length` bytes: the result type, then the argument types. Digits after a type (stack offsets and
/// frame sizes, as compilers write them) are skipped. `*signature` receives one reference, to be released with
/// `fwd_signature_release`. The same text may give the same object again.
///
/// `...` after an argument separates the arguments that a variadic function names from those that only the call gives:
/// `i*...id` is a call of `int f(const char *, ...)` with an int and a double. The latter are promoted as in C: `f` is
/// passed as a double, and an integer narrower than int as an int; the caller's bytes are still those of `f`. No closure
/// has such a signature.
///
/// Returns the failures of `fwd_type_layout`, and `FWD_UNSUPPORTED` or `FWD_OVERFLOW` for types that C cannot pass by
/// value or that exceed a limit. O(n) in the length.
FWD_API fwd_status fwd_signature_create(const char *FWD_NULLABLE encoding, size_t length,
                                        fwd_signature *FWD_NULLABLE *FWD_NULLABLE signature,
                                        fwd_error *FWD_NULLABLE error);

/// Makes a signature with stated layouts.
///
/// Works as `fwd_signature_create`. `stated` has the layouts of `count` structs or unions in the encoding; it may be
/// NULL if `count` is 0. Two signatures of one text differ if the layouts of their types do.
///
/// Returns also the failures of `fwd_type_layout_stating`.
FWD_API fwd_status fwd_signature_create_stating(const char *FWD_NULLABLE encoding, size_t length,
                                                const fwd_stated_layout *FWD_NULLABLE stated, size_t count,
                                                fwd_signature *FWD_NULLABLE *FWD_NULLABLE signature,
                                                fwd_error *FWD_NULLABLE error);

/// Adds a reference and returns the signature. NULL gives NULL.
FWD_API fwd_signature *FWD_NULLABLE fwd_signature_retain(fwd_signature *FWD_NULLABLE signature);

/// Releases a reference. The last one frees the signature. NULL is ignored.
FWD_API void fwd_signature_release(fwd_signature *FWD_NULLABLE signature);

/// Returns the number of arguments, the receiver and the selector included; 0 for NULL.
FWD_API size_t fwd_signature_argument_count(const fwd_signature *FWD_NULLABLE signature);

/// Writes the layout of an argument to `*layout`, with its offset in the argument frame.
///
/// `index` counts from 0, the receiver and the selector included. Returns `FWD_OUT_OF_RANGE` if there is no such
/// argument.
FWD_API fwd_status fwd_signature_argument(const fwd_signature *FWD_NULLABLE signature, size_t index,
                                          fwd_layout *FWD_NULLABLE layout);

/// Writes the layout of the result to `*layout`. The size is 0 for `void`.
FWD_API fwd_status fwd_signature_result(const fwd_signature *FWD_NULLABLE signature,
                                        fwd_layout *FWD_NULLABLE layout);

/// Returns the size of the argument frame; 0 for NULL.
///
/// The argument frame is a C struct of the arguments in order, without the receiver and the selector. The receiver is
/// the first argument if that is a pointer; the selector is the argument of type `:` after it. A signature whose first
/// argument is no pointer has no receiver, and all its arguments are in the frame.
FWD_API size_t fwd_signature_frame_size(const fwd_signature *FWD_NULLABLE signature);

// MARK: Calls

/// Calls a function whose signature is known at run time only.
///
/// `function` is called as the C compiler would call it. `arguments` has the address of each argument in order, the
/// receiver and the selector included. It is not modified. The address of an argument without bytes may be NULL.
/// `result` receives exactly the bytes of the result; it may be NULL if there are none or they are not wanted. The
/// signature must live until the function returns, and the function must have it.
///
/// Returns `FWD_NULL_ARGUMENT`, and calls nothing, if the signature, the function or the address of an argument is
/// NULL. It has no other failures. O(1) for the usual signatures, and O(n) in the bytes of the arguments.
FWD_API FWD_INLINE fwd_status fwd_call(const fwd_signature *FWD_NULLABLE signature,
                                       void (*FWD_NULLABLE function)(void),
                                       void *FWD_NONNULL const *FWD_NULLABLE arguments, void *FWD_NULLABLE result);

/// Does what `fwd_call` does, but is not inline. Use it where the inline code of `fwd_call` would make the program too
/// large. `fwd_call` uses it if the signature has no jump, and while libffi makes all calls.
FWD_API fwd_status fwd_call_any(const fwd_signature *FWD_NULLABLE signature, void (*FWD_NULLABLE function)(void),
                                void *FWD_NONNULL const *FWD_NULLABLE arguments, void *FWD_NULLABLE result);

/// Routes every call and every new closure through libffi, or stops doing so. By default the library uses its own call
/// plans, if it has them for the processor. Use it to find out whether a fault lies in the call plans.
/// `FWD_CALL=libffi` in the environment does the same from the beginning.
FWD_API void fwd_use_libffi(bool forced);

// MARK: Parts of fwd_call

// The declarations of this section are for the inline definition of `fwd_call`, and for nothing else. A change of
// them needs a new FWD_INLINE_ABI.

/// The first member of every signature.
typedef struct fwd_call_head fwd_call_head;

/// The contents of the first integer register and of the first vector register for results.
typedef struct fwd_call_returned {
  uint64_t integer;
  double vector;
} fwd_call_returned;

/// Loads the registers and jumps to the function, which returns to the caller of the jump. If the function has arguments on
/// the stack, it pushes these and calls the function instead.
///
/// If an argument has no address, the jump calls nothing: it sets `*status`, which must be `FWD_OK` before, and what it returns
/// has no meaning. `result` is used for results in memory only. If it is NULL for one, the library provides the memory.
typedef fwd_call_returned (*fwd_call_jump)(const fwd_call_head *FWD_NONNULL head, void *FWD_NULLABLE result,
                                           void *FWD_NONNULL const *FWD_NULLABLE arguments,
                                           fwd_status *FWD_NONNULL status,
                                           void (*FWD_NONNULL function)(void));

/// Which bytes of the registers are the result. The order is that of the tests in `fwd_call`.
typedef enum fwd_call_result {
  /// There is no result, or it is in memory.
  FWD_CALL_NOTHING = 0,
  /// An integer of 8, 4 or 1 bytes.
  FWD_CALL_INTEGER_8 = 1,
  FWD_CALL_INTEGER_4 = 2,
  FWD_CALL_INTEGER_1 = 3,
  FWD_CALL_DOUBLE = 4,
  /// 16 bytes, 8 in each register.
  FWD_CALL_INTEGER_VECTOR = 5,
  FWD_CALL_VECTOR_INTEGER = 6,
  /// Any other. `fwd_call_store` stores it.
  FWD_CALL_OTHER = 7
} fwd_call_result;

struct fwd_call_head {
  /// The address of a pointer to the jump. The pointer is NULL if the signature has no jump, and while `fwd_use_libffi`
  /// routes calls through libffi.
  const fwd_call_jump FWD_NULLABLE *FWD_NONNULL jump;
  /// The result that `fwd_call` stores.
  fwd_call_result result;
};

/// Stores a result of any kind from registers.
FWD_API void fwd_call_store(const fwd_call_head *FWD_NONNULL head, fwd_call_returned returned,
                            void *FWD_NONNULL result);

// Makes the name of a variable from FWD_INLINE_ABI. The library defines only the variable that has its own ABI number.
#define FWD_JOIN_NAME(name, number) name##number
#define FWD_NUMBERED(name, number) FWD_JOIN_NAME(name, number)
#define FWD_INLINE_ABI_SYMBOL FWD_NUMBERED(fwd_inline_abi_, FWD_INLINE_ABI)

/// Exists if the library and this header have the same form of `fwd_call`. Its value has no meaning.
FWD_API extern const unsigned char FWD_INLINE_ABI_SYMBOL;

#if FWD_IS_INLINE
// Leaves a call to the library. Also refers to the variable of FWD_INLINE_ABI, so that a program does not load with a
// library of another form: the loader resolves references to variables before the program runs, but may resolve those
// to functions at the first call. Not on the fast path.
#define FWD_CALL_SLOWLY(signature, function, arguments, result)  \
  do {                                                           \
    __asm__("" : : "r"(&FWD_INLINE_ABI_SYMBOL));                 \
    return fwd_call_any(signature, function, arguments, result); \
  } while (0)

#if defined(__clang__)
#pragma clang diagnostic push
// Clang cannot tell that null pointers have been tested for.
#pragma clang diagnostic ignored "-Wnullable-to-nonnull-conversion"
#endif
FWD_INLINE FWD_JUMPS fwd_status fwd_call(const fwd_signature *FWD_NULLABLE signature,
                                         void (*FWD_NULLABLE function)(void),
                                         void *FWD_NONNULL const *FWD_NULLABLE arguments,
                                         void *FWD_NULLABLE result) {
  // Inline, so that there is one call between the program and the function instead of two.
#ifdef __cplusplus
  const fwd_call_head *head = static_cast<const fwd_call_head *>(static_cast<const void *>(signature));
#else
  const fwd_call_head *head = (const fwd_call_head *)signature;
#endif
  fwd_status status = FWD_OK;
  fwd_call_jump jump;
  fwd_call_returned returned;
  // Separate tests: compilers make slower code from a combined one.
  if (__builtin_expect(!signature, 0)) FWD_CALL_SLOWLY(signature, function, arguments, result);
  if (__builtin_expect(!function, 0)) FWD_CALL_SLOWLY(signature, function, arguments, result);
  // Relaxed: a call at the same time as `fwd_use_libffi` may go either way.
  jump = __atomic_load_n(head->jump, __ATOMIC_RELAXED);
  if (__builtin_expect(!jump, 0)) FWD_CALL_SLOWLY(signature, function, arguments, result);
  returned = jump(head, result, arguments, &status, function);
  if (!result) return status;
  if (__builtin_expect(status != FWD_OK, 0)) return status;
  // Hides the size of the result from the compiler, which would warn of overflows in stores that are never made.
  __asm__("" : "+r"(result));
  // `<=` instead of `==`: compilers turn tests for equality into a jump table, which is slower.
  if (head->result <= FWD_CALL_NOTHING) return FWD_OK;
  if (head->result <= FWD_CALL_INTEGER_8) {
    __builtin_memcpy(result, &returned.integer, 8);
  } else if (head->result <= FWD_CALL_INTEGER_4) {
    uint32_t low = returned.integer & UINT32_MAX;
    __builtin_memcpy(result, &low, 4);
  } else if (head->result <= FWD_CALL_INTEGER_1) {
    uint8_t low = returned.integer & UINT8_MAX;
    __builtin_memcpy(result, &low, 1);
  } else if (head->result <= FWD_CALL_DOUBLE) {
    __builtin_memcpy(result, &returned.vector, 8);
  } else if (head->result <= FWD_CALL_INTEGER_VECTOR) {
    __builtin_memcpy(result, &returned, 16);
  } else if (head->result <= FWD_CALL_VECTOR_INTEGER) {
    uint64_t halves[2];
    __builtin_memcpy(&halves[0], &returned.vector, 8);
    halves[1] = returned.integer;
    __builtin_memcpy(result, halves, 16);
  } else {
    fwd_call_store(head, returned, result);
  }
  return FWD_OK;
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#undef FWD_CALL_SLOWLY
#endif

// MARK: Closures

/// A C function pointer made at run time.
typedef struct fwd_closure fwd_closure;

/// Receives the calls of a closure.
///
/// `arguments` has the address of each argument, aligned for its type; the addresses are valid during the call.
/// `result` has room for the result, filled with zeros. It is not NULL, even if there is no result. The handler runs on
/// the thread that called the closure.
typedef void (*fwd_closure_handler)(void *FWD_NULLABLE context, void *FWD_NONNULL const *FWD_NONNULL arguments,
                                    void *FWD_NONNULL result);

/// Makes a function pointer that calls a handler.
///
/// The function pointer has the type that `signature` describes; the closure retains the signature. The handler gets
/// `context`, which must stay valid until the closure is destroyed and its running calls have returned. `*closure`
/// receives the closure, to be ended with `fwd_closure_destroy`.
///
/// Returns `FWD_NO_MEMORY`, `FWD_NO_EXECUTABLE_MEMORY` if the system refuses memory that is executable and writable, or
/// `FWD_UNSUPPORTED` for the signature of a variadic function.
///
/// On x86-64 the library contains function pointers that need no such memory. The closures of most signatures share 608.
/// Those with few arguments share others first: 256 without a result, and 64 to 384 with one. Those with a result in memory
/// or `long double` share 64 to 128. Later closures need it, and so do all closures on other processors.
FWD_API fwd_status fwd_closure_create(const fwd_signature *FWD_NULLABLE signature,
                                      fwd_closure_handler FWD_NULLABLE handler, void *FWD_NULLABLE context,
                                      fwd_closure *FWD_NULLABLE *FWD_NULLABLE closure,
                                      fwd_error *FWD_NULLABLE error);

/// Returns the function pointer of a closure; NULL for NULL. Cast it to its type to call it. It is valid until
/// `fwd_closure_destroy`.
FWD_API void (*FWD_NULLABLE fwd_closure_function(const fwd_closure *FWD_NULLABLE closure))(void);

/// Destroys a closure. NULL is ignored. A closure may be destroyed inside its own call: the memory that running calls
/// need is freed when the last of them has returned.
FWD_API void fwd_closure_destroy(fwd_closure *FWD_NULLABLE closure);

// MARK: Selectors

/// The interned name of a method. Equal names give equal pointers, for the life of the process.
typedef const struct fwd_selector_record *fwd_selector;

/// Returns the selector of a name, which it interns if it is new.
///
/// Returns NULL, with a message in `fwd_error_message`, if the name is NULL, empty or longer than 65,535 bytes, or if
/// memory is short. O(n) in the length.
FWD_API fwd_selector FWD_NULLABLE fwd_selector_register(const char *FWD_NULLABLE name);

/// Returns the selector of a name that is interned already, else NULL. Use it for names from outside, since an interned
/// name is never freed. O(n) in the length.
FWD_API fwd_selector FWD_NULLABLE fwd_selector_find(const char *FWD_NULLABLE name);

/// Returns the name of a selector, valid for the life of the process; "" for NULL.
FWD_API const char *FWD_NONNULL fwd_selector_name(fwd_selector FWD_NULLABLE selector);

// MARK: Protocols

/// A named set of methods. Registered protocols live as long as the process.
typedef struct fwd_protocol fwd_protocol;

/// One method of a protocol.
typedef struct fwd_requirement {
  const char *FWD_NULLABLE selector;
  /// The signature. Its first argument is the receiver, usually `@`.
  const char *FWD_NULLABLE encoding;
  /// Whether a subscriber must implement the method.
  bool required;
} fwd_requirement;

/// Registers a protocol of `count` methods under a name.
///
/// `*protocol` receives the protocol; `protocol` may be NULL. Registering the same methods under the same name again
/// gives the first protocol.
///
/// Returns `FWD_CONFLICT` if the name has other methods already or a selector occurs twice, `FWD_NO_RECEIVER` if an
/// encoding has no receiver, and the failures of `fwd_signature_create` for an encoding.
FWD_API fwd_status fwd_protocol_register(const char *FWD_NULLABLE name,
                                         const fwd_requirement *FWD_NULLABLE requirements, size_t count,
                                         const fwd_protocol *FWD_NULLABLE *FWD_NULLABLE protocol,
                                         fwd_error *FWD_NULLABLE error);

/// Registers a protocol with stated layouts.
///
/// Works as `fwd_protocol_register`. `stated` has the layouts of `stated_count` structs or unions in the encodings; it
/// may be NULL if `stated_count` is 0. The encodings of the functions that implement the methods are read with the same
/// layouts.
///
/// Returns also `FWD_WRONG_LAYOUT` for a name that no encoding has, and the failures of `fwd_signature_create_stating`.
FWD_API fwd_status fwd_protocol_register_stating(const char *FWD_NULLABLE name,
                                                 const fwd_requirement *FWD_NULLABLE requirements, size_t count,
                                                 const fwd_stated_layout *FWD_NULLABLE stated, size_t stated_count,
                                                 const fwd_protocol *FWD_NULLABLE *FWD_NULLABLE protocol,
                                                 fwd_error *FWD_NULLABLE error);

/// Returns the protocol that C or Swift code has registered under a name, else NULL.
FWD_API const fwd_protocol *FWD_NULLABLE fwd_protocol_find(const char *FWD_NULLABLE name);

// MARK: Proxies

/// Forwards invocations to its subscribers. Counted by reference.
typedef struct fwd_proxy fwd_proxy;

/// Which subscribers a fan-out calls, and which result it gives. A responder is a live subscriber that implements the
/// method.
typedef enum fwd_result_policy {
  /// For a method with a result as `FWD_RESULT_FIRST`. For a void method, all responders are called, in order.
  FWD_RESULT_DEFAULT = 0,
  /// Only the first responder is called.
  FWD_RESULT_FIRST = 1,
  /// All responders are called, and the first result is given.
  FWD_RESULT_ALL_FIRST = 2,
  /// All responders are called, and the last result is given.
  FWD_RESULT_ALL_LAST = 3,
  /// For numbers and pointers. Responders are called until one gives a result that is not zero. The last result is
  /// given.
  FWD_RESULT_UNTIL_NONZERO = 4,
  /// For `B`. Responders are called until one says true. The result is false if none does.
  FWD_RESULT_ANY = 5,
  /// For `B`. Responders are called until one says false. The result is true if none does.
  FWD_RESULT_ALL = 6,
  /// For void methods. Responders are called in order until one calls `fwd_mark_handled`.
  FWD_RESULT_UNTIL_HANDLED = 7,
} fwd_result_policy;

/// Options of one method of a proxy. Arrays of it have the stride that `fwd_proxy_options.method_size` gives. Members
/// that are zero have their default.
typedef struct fwd_method_options {
  const char *FWD_NULLABLE selector;
  fwd_result_policy policy;
  /// The result if no subscriber gives one, or NULL for none. It is copied, and must not be an object. A `bool` is 0 or 1.
  const void *FWD_NULLABLE default_result;
  size_t default_result_size;
  /// The failure result: that of each delivery that fails, or NULL for none. The policy treats it as if the subscriber had
  /// returned it, and the caller of a function pointer gets it whenever the forwarding fails. A `fwd_callback` can state
  /// another one for the calls through it. Use it for hooks whose zero means "allowed". It is copied, and must not be an
  /// object.
  const void *FWD_NULLABLE failure_result;
  size_t failure_result_size;
} fwd_method_options;

/// Bits of `fwd_proxy_options.flags`.
typedef enum fwd_proxy_flags {
  /// Forwarding a selector that no protocol declares does nothing and gives a result of zeros. Without the flag it is
  /// `FWD_UNKNOWN_SELECTOR`.
  FWD_PROXY_IGNORES_UNKNOWN_SELECTORS = 1,
  /// Methods of a subscriber that no protocol of the proxy declares are never called, and a subscriber may have no
  /// methods. Without the flag such subscribers are refused, with `FWD_UNKNOWN_SELECTOR` or `FWD_MISSING_METHOD`.
  FWD_PROXY_IGNORES_UNKNOWN_FUNCTIONS = 2,
} fwd_proxy_flags;

/// Options of a proxy. Begin with `FWD_PROXY_OPTIONS_INIT`, or set both sizes by hand. Other members that are zero have
/// their default.
typedef struct fwd_proxy_options {
  /// `sizeof(fwd_proxy_options)`.
  size_t size;
  /// `sizeof(fwd_method_options)`: the distance of two elements of `methods`.
  size_t method_size;
  /// Options of single methods, or NULL.
  const fwd_method_options *FWD_NULLABLE methods;
  size_t method_count;
  /// Bits of `fwd_proxy_flags`.
  uint64_t flags;
  /// Called for each delivery and each interceptor that fails, and for each failed call of a function pointer of
  /// `fwd_proxy_function` or of a callback table, whose caller gets no status. Runs on the thread of the fan-out, or of
  /// `fwd_mailbox_drain`. The error is valid during the call. NULL: the library writes a line to standard error,
  /// once if the same error occurs several times in a row.
  void (*FWD_NULLABLE on_error)(void *FWD_NULLABLE context, fwd_selector FWD_NULLABLE selector,
                                const fwd_error *FWD_NONNULL error);
  /// Passed to `on_error`. It must stay valid as long as the proxy and until `destroy` of each subscription with a mailbox has
  /// been called, and for the life of the process if a callback table of the proxy is made.
  void *FWD_NULLABLE on_error_context;
} fwd_proxy_options;

/// Options with the right sizes and every default: `fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;`
#define FWD_PROXY_OPTIONS_INIT {sizeof(fwd_proxy_options), sizeof(fwd_method_options), NULL, 0, 0, NULL, NULL}

/// Makes a proxy that adopts `count` protocols.
///
/// `options` may be NULL for the defaults. `*proxy` receives one reference, to be released with `fwd_proxy_release`.
///
/// Returns `FWD_CONFLICT` if two protocols declare a method differently or two options are of one method,
/// `FWD_UNKNOWN_SELECTOR` for options of a method that no protocol declares, `FWD_OUT_OF_RANGE` for a policy that does
/// not exist, `FWD_TYPE_MISMATCH` for a policy or a default result that does not fit the result of its method, and
/// `FWD_WRONG_SIZE` or `FWD_WRONG_VERSION` for options with a wrong size or with members that this library does not
/// know. Names must be UTF-8, and are equal if their bytes are. O(m) in the number of methods.
FWD_API fwd_status fwd_proxy_create(const fwd_protocol *FWD_NULLABLE const *FWD_NULLABLE protocols, size_t count,
                                    const fwd_proxy_options *FWD_NULLABLE options,
                                    fwd_proxy *FWD_NULLABLE *FWD_NULLABLE proxy, fwd_error *FWD_NULLABLE error);

/// Adds a reference and returns the proxy. NULL gives NULL.
FWD_API fwd_proxy *FWD_NULLABLE fwd_proxy_retain(fwd_proxy *FWD_NULLABLE proxy);

/// Releases a reference. NULL is ignored.
///
/// The last release ends all subscriptions and interceptions, calls their destroy notifiers, then frees the proxy. Messages
/// that wait in a mailbox are delivered later, and then the notifiers of these subscriptions are called: neither may use the
/// proxy. A notifier that runs inside the last release may still pass the proxy to the functions of this header, on the same
/// thread, until it returns. Those that subscribe, unsubscribe, move, block, unblock, intercept, end an interception,
/// forward, collect, begin a batch or make a function pointer give `FWD_DEAD` and do nothing.
/// `fwd_proxy_subscriber_count` gives 0, `fwd_proxy_responds` false, and `fwd_proxy_signature` the signature; no
/// subscriber is visited. `fwd_proxy_retain` and `fwd_proxy_release` do nothing: the proxy cannot be kept alive.
FWD_API void fwd_proxy_release(fwd_proxy *FWD_NULLABLE proxy);

/// Returns the signature that the protocols of the proxy declare for a selector, or NULL if none does. It is valid as
/// long as the proxy. O(1).
FWD_API const fwd_signature *FWD_NULLABLE fwd_proxy_signature(const fwd_proxy *FWD_NULLABLE proxy,
                                                              fwd_selector FWD_NULLABLE selector);

/// One method of a proxy.
typedef struct fwd_method_info {
  /// The size of the struct that the library knows.
  size_t size;
  fwd_selector FWD_NONNULL selector;
  /// Valid as long as the proxy.
  const fwd_signature *FWD_NONNULL signature;
  /// Whether a subscriber must implement the method.
  bool required;
} fwd_method_info;

/// Receives one method of a proxy. `method` is valid during the call. Returns whether to go on.
typedef bool (*fwd_method_visitor)(void *FWD_NULLABLE context, const fwd_method_info *FWD_NONNULL method);

/// Calls a visitor with each method that the protocols of a proxy declare, in the order of the protocols.
///
/// The visitor gets `context`. It may call any function, also `fwd_proxy_release` for the last reference of the
/// program: the proxy lives until the call returns. Returns `FWD_DEAD` if the proxy is being released. O(m) in the number
/// of methods.
FWD_API fwd_status fwd_proxy_visit_methods(fwd_proxy *FWD_NULLABLE proxy, fwd_method_visitor FWD_NULLABLE visit,
                                           void *FWD_NULLABLE context);

// MARK: Subscribing

/// Identifies one subscription. The numbers of all proxies differ, and none is used twice. 0 is no subscription.
typedef uint64_t fwd_subscription;

/// One method of a subscriber.
typedef struct fwd_method {
  const char *FWD_NULLABLE selector;
  /// The signature of `function`. It agrees with the protocol's, but the receiver may be any pointer, such as `^v`.
  const char *FWD_NULLABLE encoding;
  /// Gets the context of the subscription as its first argument, and the selector as its second if the signature has
  /// one.
  void (*FWD_NULLABLE function)(void);
} fwd_method;

/// The kind of a position in the order of delivery.
typedef enum fwd_position_kind {
  /// Behind all subscriptions of priority 0 or higher: the order of subscription.
  FWD_POSITION_LAST = 0,
  /// Before all others.
  FWD_POSITION_FIRST = 1,
  /// Directly before the subscription `anchor`.
  FWD_POSITION_BEFORE = 2,
  /// Directly after the subscription `anchor`.
  FWD_POSITION_AFTER = 3,
  /// Before the subscriber that has the index `index` now. The number of subscribers is the end.
  FWD_POSITION_INDEX = 4,
  /// Behind all subscriptions of the priority `priority` or a higher one. Other kinds of positions give priority 0.
  FWD_POSITION_PRIORITY = 5,
} fwd_position_kind;

/// A position in the order of delivery. Zeros are the last position.
typedef struct fwd_position {
  fwd_position_kind kind;
  /// For `FWD_POSITION_PRIORITY`.
  int32_t priority;
  /// For `FWD_POSITION_INDEX`.
  size_t index;
  /// For `FWD_POSITION_BEFORE` and `FWD_POSITION_AFTER`.
  fwd_subscription anchor;
} fwd_position;

/// A mailbox delivers calls later, on the thread that drains it.
///
/// A library calls back on a thread of its own, but the program's objects may be used on the thread of its event loop
/// only. A subscription with a mailbox (`fwd_subscribe_options`) is not called by the thread that forwards. The arguments
/// are copied to a *message*: C strings with their characters; objects are retained. `fwd_mailbox_drain`, on the loop,
/// calls the subscribers.
///
///     static void wake(void *context) {
///       uint64_t one = 1;
///       (void)!write(*(int *)context, &one, sizeof one);      // an eventfd that the loop watches
///     }
///
///     fwd_mailbox_create(wake, &descriptor, NULL, &mailbox, &error);
///     fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
///     options.mailbox = mailbox;
///     fwd_proxy_subscribe(proxy, view, methods, 1, NULL, &options, NULL, &error);
///
///     // when the descriptor is readable:
///     fwd_mailbox_drain(mailbox, 1000);
///
/// Messages are delivered in the order in which they were put into the mailbox, across all of its subscriptions. So each
/// thread's invocations are delivered in its order.
///
/// After `fwd_proxy_unsubscribe` on the draining thread nothing more is delivered. From another thread at most the delivery
/// that is under way is made. Messages of a proxy that has been released are delivered, and so are those of a subscription
/// whose `times` are used up.
///
/// `destroy` of `fwd_proxy_subscribe` is called once, when the subscription has ended and the mailbox has no message of it any
/// more: by `fwd_mailbox_drain`, by the last `fwd_mailbox_release`, or, if the mailbox is empty, by the call that ended the
/// subscription. It is never called inside of a delivery of the mailbox.
///
/// After fork(2) both processes have the messages, and each delivers them. If another thread was draining the mailbox, the
/// child cannot drain it, since the draining thread does not exist in the child. Let the child make a mailbox of its own.
///
/// A subscription with a mailbox gives no result. It is not a responder of a method with a result, so such a method is
/// refused unless its policy calls all responders.
typedef struct fwd_mailbox fwd_mailbox;

/// What happens to a new message when the limit of waiting messages is reached. Each subscription counts its own.
typedef enum fwd_overflow {
  /// There is no limit.
  FWD_OVERFLOW_UNBOUNDED = 0,
  /// The oldest waiting message is dropped. With the limit 1, only the latest message waits.
  FWD_OVERFLOW_DROP_OLDEST = 1,
  /// The new message is dropped.
  FWD_OVERFLOW_DROP_NEWEST = 2,
  /// The thread that forwards waits until there is room. Inside of `fwd_mailbox_drain` of this mailbox it does not wait: its
  /// message exceeds the limit. A loop must not forward to its own full mailbox outside of a drain: it would wait for itself
  /// for ever.
  FWD_OVERFLOW_BLOCK = 3,
} fwd_overflow;

/// Options of a subscription with a mailbox, as bits.
typedef enum fwd_mailbox_flags {
  /// Pointer arguments are copied as they are. What they point to must stay valid until the delivery. Without this flag,
  /// a subscription to a method with a pointer argument that is not a C string is refused. C strings are copied with their
  /// characters all the same.
  FWD_MAILBOX_KEEPS_POINTERS = 1,
} fwd_mailbox_flags;

/// Creates a mailbox.
///
/// `notify` is called with `context` when the first message has been put into the idle mailbox, on the thread that
/// forwards, under no lock. It arranges that `fwd_mailbox_drain` will be called. It is called again only when a drain
/// has left messages, or after the mailbox was idle again. It may drain the mailbox itself, with the limit 0: with any other
/// limit `notify` and the drain would call each other recursively. `destroy`, which may be NULL, is called with `context` when
/// the last reference has been released. `*mailbox` receives a reference, to be released by `fwd_mailbox_release`.
FWD_API fwd_status fwd_mailbox_create(void (*FWD_NULLABLE notify)(void *FWD_NULLABLE context), void *FWD_NULLABLE context,
                                      void (*FWD_NULLABLE destroy)(void *FWD_NULLABLE context),
                                      fwd_mailbox *FWD_NULLABLE *FWD_NULLABLE mailbox, fwd_error *FWD_NULLABLE error);

/// Adds a reference, and returns the mailbox. NULL gives NULL.
FWD_API fwd_mailbox *FWD_NULLABLE fwd_mailbox_retain(fwd_mailbox *FWD_NULLABLE mailbox);

/// Releases a reference. Subscriptions have references of their own. The last one drops the messages that are left.
FWD_API void fwd_mailbox_release(fwd_mailbox *FWD_NULLABLE mailbox);

/// Delivers up to `limit` messages on this thread. 0 means until none is left, also if threads keep forwarding. Returns the
/// number of delivered messages. To skip 64 dropped messages counts as one delivery, but not in the result. If messages are
/// left, `notify` is called before it returns, so that other work of the loop gets its turn.
///
/// Returns 0, and delivers nothing, while another thread drains the mailbox, or inside of a delivery of it. NULL is
/// ignored. Subscribers must return: if a thread ends inside of a delivery, its drain never ends.
FWD_API size_t fwd_mailbox_drain(fwd_mailbox *FWD_NULLABLE mailbox, size_t limit);

/// Options of a subscription. Begin with `FWD_SUBSCRIBE_OPTIONS_INIT`, or set the size by hand. Other members that are
/// zero have their default.
typedef struct fwd_subscribe_options {
  /// `sizeof(fwd_subscribe_options)`.
  size_t size;
  /// The last position by default.
  fwd_position position;
  /// The number of deliveries after which the subscription ends, or 0 for no limit. There are never more, even if
  /// several threads forward at the same time. A delivery that fails counts, and so does one whose handler answers
  /// `FWD_NO_RESPONDER`. With a mailbox it is the number of messages, dropped ones included.
  size_t times;
  /// If it is not NULL, the deliveries of the subscription are made later, by `fwd_mailbox_drain`. The subscription
  /// retains the mailbox.
  fwd_mailbox *FWD_NULLABLE mailbox;
  /// What happens to a new message when `mailbox_limit` messages of the subscription wait. The limit is at least 1; 0 for
  /// FWD_OVERFLOW_UNBOUNDED.
  fwd_overflow overflow;
  /// `fwd_mailbox_flags`.
  uint32_t mailbox_flags;
  size_t mailbox_limit;
} fwd_subscribe_options;

/// Options with the right size and every default: `fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;`
#define FWD_SUBSCRIBE_OPTIONS_INIT \
  {sizeof(fwd_subscribe_options), {FWD_POSITION_LAST, 0, 0, 0}, 0, 0, FWD_OVERFLOW_UNBOUNDED, 0, 0}

/// Subscribes `count` functions to a proxy.
///
/// The functions get `context` as their first argument. One context may have several subscriptions. Neither a
/// fan-out under way nor a batch calls the new subscription. `*subscription` receives the subscription; `subscription`
/// may be NULL, and so may `options`.
///
/// `context` must stay valid until `destroy` is called with it. That happens once, when the subscription has ended and
/// no fan-out reads it any more: in the call that ended it, or in the last fan-out, batch or query of the proxy that
/// began before, on its thread. `destroy` may be NULL. On failure it is not called.
///
/// Returns
///
/// - `FWD_MISSING_METHOD` if a required method is missing;
/// - `FWD_UNKNOWN_SELECTOR` for a method that no protocol declares, and `FWD_MISSING_METHOD` if `count` is 0, unless
///   the proxy has `FWD_PROXY_IGNORES_UNKNOWN_FUNCTIONS`;
/// - `FWD_SIGNATURE_MISMATCH` if an encoding is not the protocol's, and `FWD_CONFLICT` for a selector that occurs
///   twice;
/// - `FWD_NOT_SUBSCRIBED` for a position beside a subscription that the proxy does not have, and `FWD_OUT_OF_RANGE` for
///   an index past the end;
/// - `FWD_WRONG_SIZE` or `FWD_WRONG_VERSION` for the options;
/// - with a mailbox `FWD_NOT_ALLOWED` for a method whose delivery cannot be made later, and `FWD_OUT_OF_RANGE` for a limit
///   that does not fit the overflow rule. `FWD_NULL_ARGUMENT` for a rule without a mailbox.
///
/// O(m) in the number of methods. In the number of subscribers, amortised O(1) for the last position of a proxy without
/// priorities; O(n) for an index, since each subscriber is checked for having died; otherwise amortised O(log n).
FWD_API fwd_status fwd_proxy_subscribe(fwd_proxy *FWD_NULLABLE proxy, void *FWD_NULLABLE context,
                                       const fwd_method *FWD_NULLABLE methods, size_t count,
                                       void (*FWD_NULLABLE destroy)(void *FWD_NULLABLE context),
                                       const fwd_subscribe_options *FWD_NULLABLE options,
                                       fwd_subscription *FWD_NULLABLE subscription, fwd_error *FWD_NULLABLE error);

/// Makes the deliveries of one method of a subscriber: for subscribers that may fail, and for bindings of other
/// languages.
///
/// `context` is that of the subscription. `arguments` has the address of each argument of the signature, the receiver
/// and the selector included, aligned for its type. The addresses are valid during the call. The handler must not change the
/// arguments, since the subscribers behind it may get the same bytes. `result` has room for the result, filled with zeros. It
/// is not NULL, even if there is no result. The handler runs on the thread that forwards, or for a subscription with a mailbox
/// on the thread that drains.
///
/// Returns whether the delivery has succeeded. After false, the bytes of the result have no meaning: the failure result (see
/// `fwd_method_options`) stands for them, and the error goes to the proxy's `on_error`. The handler may fill `*error` before
/// it returns false:
///
/// - `message` says what has failed. Without one the library writes one.
/// - `status` is `FWD_DELIVERY_FAILED`, which is also what the proxy reports, whatever the handler sets. There is one
///   exception: with `FWD_NO_RESPONDER` the delivery has not failed. The fan-out continues as if the subscriber did not
///   implement the method.
typedef bool (*fwd_delivery_handler)(void *FWD_NULLABLE context, fwd_selector FWD_NONNULL selector,
                                     void *FWD_NONNULL const *FWD_NONNULL arguments, void *FWD_NONNULL result,
                                     fwd_error *FWD_NONNULL error);

/// One method of a subscriber that is called through a handler.
typedef struct fwd_handled_method {
  const char *FWD_NULLABLE selector;
  /// The signature that the handler expects. It agrees with the protocol's, but the receiver may be any pointer. NULL
  /// for the signature that the protocol declares.
  const char *FWD_NULLABLE encoding;
  fwd_delivery_handler FWD_NULLABLE handler;
} fwd_handled_method;

/// Subscribes `count` handlers to a proxy.
///
/// Works as `fwd_proxy_subscribe`, with handlers in place of functions of each signature: one C function can make the
/// deliveries of all methods, and a delivery can fail.
FWD_API fwd_status fwd_proxy_subscribe_handlers(fwd_proxy *FWD_NULLABLE proxy, void *FWD_NULLABLE context,
                                                const fwd_handled_method *FWD_NULLABLE methods, size_t count,
                                                void (*FWD_NULLABLE destroy)(void *FWD_NULLABLE context),
                                                const fwd_subscribe_options *FWD_NULLABLE options,
                                                fwd_subscription *FWD_NULLABLE subscription,
                                                fwd_error *FWD_NULLABLE error);

/// Ends a subscription.
///
/// A fan-out under way does not call it any more, unless another thread is about to at this moment. `destroy` follows,
/// as `fwd_proxy_subscribe` says. Returns `FWD_NOT_SUBSCRIBED` if the subscription has ended. Amortised O(1).
FWD_API fwd_status fwd_proxy_unsubscribe(fwd_proxy *FWD_NULLABLE proxy, fwd_subscription subscription);

/// Makes several changes of the subscriptions take effect at once.
///
/// Calls `body` once with `context`. What it does on this thread to the subscriptions of this proxy, by
/// `fwd_proxy_subscribe`, `fwd_proxy_subscribe_handlers`, `fwd_proxy_unsubscribe` and `fwd_proxy_move`, takes effect in one
/// step when it has returned `FWD_OK`. Each fan-out delivers to the subscribers from before, or to those from after. A
/// fan-out under way goes on with those from before, and so does a batch until it ends; `destroy` of a subscription that has
/// ended follows after that. Until `body` has returned, the proxy is as before, also for forwards of `body` itself. What
/// other threads do, and what `body` does to other proxies or to blocks, takes effect at once. A change inside of another
/// one of the same proxy and thread becomes part of it.
///
/// If `body` returns another status, nothing takes effect, and the function returns that status, with the message of the
/// thread's last error if that has the same status. If a change fails, nothing takes effect either: `FWD_NOT_SUBSCRIBED` or
/// `FWD_OUT_OF_RANGE` for a position, which is looked up when `body` has returned, or `FWD_NO_MEMORY`. The subscriptions
/// that `body` has made have ended then, and `destroy` is called for each. O(n) in the number of subscribers, plus the cost
/// of each change.
FWD_API fwd_status fwd_proxy_change(fwd_proxy *FWD_NULLABLE proxy,
                                    fwd_status (*FWD_NULLABLE body)(void *FWD_NULLABLE context),
                                    void *FWD_NULLABLE context, fwd_error *FWD_NULLABLE error);

/// Moves a subscription to another position.
///
/// A fan-out under way keeps the old order. An anchor that is the subscription itself leaves it where it is. Returns
/// `FWD_NOT_SUBSCRIBED` if the subscription or the anchor has ended, and `FWD_OUT_OF_RANGE` for an index past the end.
/// Amortised O(log n) in the number of subscribers, or O(n) for an index, since each subscriber is checked for having
/// died.
FWD_API fwd_status fwd_proxy_move(fwd_proxy *FWD_NULLABLE proxy, fwd_subscription subscription,
                                  const fwd_position *FWD_NULLABLE position, fwd_error *FWD_NULLABLE error);

/// Blocks a subscription: it is skipped until it has been unblocked as often as it has been blocked.
///
/// A blocked subscription keeps its position and its context. It is counted as a subscriber, but not as a responder. A
/// fan-out under way does not call it any more, unless another thread is about to at this moment. Returns
/// `FWD_NOT_SUBSCRIBED` if it has ended, or begins with a `fwd_proxy_change` that has not returned. O(1), or O(m) in the
/// number of methods if the subscription is the last one with its table of functions that is not blocked.
FWD_API fwd_status fwd_proxy_block(fwd_proxy *FWD_NULLABLE proxy, fwd_subscription subscription);

/// Undoes `fwd_proxy_block` once. Returns `FWD_NOT_SUBSCRIBED` if the subscription has ended, and `FWD_OUT_OF_RANGE` if
/// it is not blocked. Costs as much as `fwd_proxy_block`.
FWD_API fwd_status fwd_proxy_unblock(fwd_proxy *FWD_NULLABLE proxy, fwd_subscription subscription);

/// Returns the number of live subscribers; 0 for NULL. O(n), since an object that dies does not tell the proxy.
FWD_API size_t fwd_proxy_subscriber_count(fwd_proxy *FWD_NULLABLE proxy);

/// Returns whether an invocation of the method would get a response: a live subscriber implements the method and is not
/// blocked, an interceptor responds, or the forward target that Swift code has set responds. An interceptor responds if it
/// is around or instead of the delivery, or if the method is void. Subscriptions that began after a batch count, although
/// the batch does not call them. Subscribers that are proxies are asked in turn, as deep as the stack has room. An
/// invocation takes more of the stack, so it may still fail with `FWD_NESTED_TOO_DEEP`. Returns false for NULL. O(1) if no
/// subscription has the method, else O(n) until the first live one.
FWD_API bool fwd_proxy_responds(fwd_proxy *FWD_NULLABLE proxy, fwd_selector FWD_NULLABLE selector);

/// Writes what an invocation of the method would do now, in lines for people: which subscribers it would call, in which
/// order, which it would skip and why, and what the result would be without a response.
///
/// `text` has room for `size` bytes, and receives as much as fits, with a NUL at its end. It may be NULL if `size` is 0.
/// Calls no subscriber. Returns the length of the whole text, without the NUL; 0 for NULL, and if the proxy is being
/// released. A later version may use other words. O(n) in the number of subscribers.
FWD_API size_t fwd_proxy_explain(fwd_proxy *FWD_NULLABLE proxy, fwd_selector FWD_NULLABLE selector,
                                 char *FWD_NULLABLE text, size_t size);

/// One live subscription of a proxy.
typedef struct fwd_subscriber_info {
  /// The size of the struct that the library knows.
  size_t size;
  fwd_subscription subscription;
  /// The context of a subscription from C. NULL for an object.
  void *FWD_NULLABLE context;
  /// The Swift object, which lives during the call of the visitor. NULL for a subscription from C.
  void *FWD_NULLABLE object;
  /// Whether `fwd_proxy_block` holds the subscription back.
  bool is_blocked;
} fwd_subscriber_info;

/// Receives one subscription of a proxy. `subscriber` is valid during the call. Returns whether to go on.
typedef bool (*fwd_subscriber_visitor)(void *FWD_NULLABLE context, const fwd_subscriber_info *FWD_NONNULL subscriber);

/// Calls a visitor with each live subscription of a proxy, in the order of delivery.
///
/// The visitor gets `context`. It may call any function: subscriptions that end meanwhile are not visited any more, and
/// subscriptions that begin meanwhile are not visited. The context of a subscription is not destroyed while it is
/// visited. The proxy lives until the call returns. Has no failures but `FWD_NULL_ARGUMENT`. O(n) in the number of
/// subscribers, without a lock.
FWD_API fwd_status fwd_proxy_visit_subscribers(fwd_proxy *FWD_NULLABLE proxy, fwd_subscriber_visitor FWD_NULLABLE visit,
                                               void *FWD_NULLABLE context);

// MARK: Forwarding

/// Forwards an invocation whose arguments are in a frame.
///
/// `frame` has the arguments as a C struct in order, without the receiver and the selector: `frame_size` bytes, as
/// `fwd_signature_frame_size` says. They must not change during the call. A frame needs no alignment, but an unaligned one is
/// copied. `result` has room for exactly the bytes of the result (`result_size`); pass NULL and 0 if the result is not wanted.
/// An object in the result is retained for the caller.
///
/// The caller needs a reference to the proxy until the call returns. A subscriber may release it by `fwd_proxy_release`, on
/// the same thread: then the proxy lives until the call returns. Another thread must not release it. If a Swift program has
/// made the proxy and no C program has a reference to it, the call keeps the proxy itself.
///
/// Subscribers that join during the fan-out are not called; subscribers that leave are not called any more. Forwarding inside
/// a fan-out is allowed. Inside of `fwd_batch_run`, the batch's subscribers are called, and not the current ones.
///
/// Returns `FWD_UNKNOWN_SELECTOR`, `FWD_WRONG_SIZE`, `FWD_NESTED_TOO_DEEP`, and `FWD_NO_MEMORY`. For a method that has no
/// default result: `FWD_NO_RESPONDER` if nobody responds, the method has a result, and its policy is neither
/// `FWD_RESULT_ANY` nor `FWD_RESULT_ALL`; and the first failure, mostly `FWD_DELIVERY_FAILED`, if subscribers were called,
/// all of them failed, and the method has no `failure_result`. O(n) in the number of subscribers.
///
/// Takes a lock only if subscribers join, leave or have died meanwhile, or to make an array of the method's responders after
/// many subscribers have been asked for the method in vain. A subscription with a mailbox takes the mailbox's lock,
/// allocates memory for messages at times, and waits if its overflow rule says so. Otherwise memory is allocated only for
/// that array, results over 64 bytes, unaligned frames, interceptors, failures, the first call of each method in a batch,
/// and at the first use on a thread.
FWD_API fwd_status fwd_forward(fwd_proxy *FWD_NULLABLE proxy, fwd_selector FWD_NULLABLE selector,
                               const void *FWD_NULLABLE frame, size_t frame_size, void *FWD_NULLABLE result,
                               size_t result_size);

/// Forwards an invocation whose arguments are behind pointers.
///
/// Works as `fwd_forward`. `arguments` has the address of each of the `count` arguments, without the receiver and the
/// selector. If one of them is not aligned for its type, all are copied to memory that is allocated. Returns also
/// `FWD_OUT_OF_RANGE` for another number of arguments than the method has.
FWD_API fwd_status fwd_forward_arguments(fwd_proxy *FWD_NULLABLE proxy, fwd_selector FWD_NULLABLE selector,
                                         void *FWD_NONNULL const *FWD_NULLABLE arguments, size_t count,
                                         void *FWD_NULLABLE result, size_t result_size);

/// Forwards an invocation by the name of its method.
///
/// Works as `fwd_forward`, but slower: the name is hashed and looked up at each call. An unknown name is not interned,
/// so names may come from outside.
FWD_API fwd_status fwd_forward_named(fwd_proxy *FWD_NULLABLE proxy, const char *FWD_NULLABLE selector,
                                     const void *FWD_NULLABLE frame, size_t frame_size, void *FWD_NULLABLE result,
                                     size_t result_size);

/// Receives one result of `fwd_collect`. Returns whether to go on.
///
/// `subscription` is the one whose subscriber gave the result, or 0 for the result of an interceptor. `result` points
/// to the bytes of the result, aligned for its type, or is NULL for a void method. It is valid during the call; so is
/// an object in it.
typedef bool (*fwd_result_visitor)(void *FWD_NULLABLE context, fwd_subscription subscription,
                                   const void *FWD_NULLABLE result);

/// Forwards an invocation to all responders and gives each result to a visitor.
///
/// Works as `fwd_forward`, but not by the result policy of the method: responders are called in order until the
/// visitor, which gets `context`, returns false. The visitor runs between two deliveries and may call any function.
///
/// The failure of a delivery goes to the proxy's `on_error`. Its result is the method's `failure_result`; without one
/// the delivery has no result. If nobody responds, the visitor is not called and the status is `FWD_OK`. Returns
/// `FWD_UNKNOWN_SELECTOR` and `FWD_WRONG_SIZE` as `fwd_forward` does. O(n) in the number of subscribers.
FWD_API fwd_status fwd_collect(fwd_proxy *FWD_NULLABLE proxy, fwd_selector FWD_NULLABLE selector,
                               const void *FWD_NULLABLE frame, size_t frame_size,
                               fwd_result_visitor FWD_NULLABLE visit, void *FWD_NULLABLE context);

/// Tells the fan-out that runs on this thread that the invocation has been handled, for methods with the policy
/// `FWD_RESULT_UNTIL_HANDLED`. Does nothing outside a fan-out.
FWD_API void fwd_mark_handled(void);

/// Returns the proxy that calls a subscriber's function on this thread, that of the innermost fan-out. It is valid during
/// the call of the function. Returns NULL outside of a fan-out, in an interceptor, in a delivery of a mailbox, in a forward
/// target that gets what no subscriber handles, and if another thread has released the proxy meanwhile. O(1).
FWD_API fwd_proxy *FWD_NULLABLE fwd_current_proxy(void);

// MARK: Intercepting

/// An invocation on its way through an interceptor. It is valid until the interceptor returns, on the interceptor's
/// thread.
typedef struct fwd_invocation fwd_invocation;

/// The point at which an interceptor is called.
typedef enum fwd_interception_point {
  /// Before the delivery. The interceptor sees the arguments.
  FWD_INTERCEPT_BEFORE = 0,
  /// After a delivery without an error, even if nobody responded. The interceptor sees the arguments and the result.
  FWD_INTERCEPT_AFTER = 1,
  /// Instead of the subscribers. The interceptor sets the result, which is zeros if it does not. A method has one such
  /// interceptor at most.
  FWD_INTERCEPT_INSTEAD = 2,
  /// Around the delivery. The interceptor may change arguments, makes the delivery by `fwd_invocation_proceed` (once,
  /// several times or never), and may change the result.
  FWD_INTERCEPT_AROUND = 3,
  /// Blocks the method until the interception ends: no interceptor, subscriber or forward target is called. The result
  /// is that of a method without a responder. No function is given for this point.
  FWD_INTERCEPT_BLOCK = 4,
} fwd_interception_point;

/// Intercepts one invocation. Returns `FWD_OK` or a failure.
///
/// The effect of a failure depends on the point:
///
/// - Before and after: the failure goes to the proxy's `on_error`. The invocation continues.
/// - Around: the invocation fails. If the interceptor returns the failure of `fwd_invocation_proceed`, the invocation
///   fails with that status, and otherwise with `FWD_DELIVERY_FAILED`.
/// - Instead: the result is the failure result, see `fwd_method_options`. Without one the invocation fails with
///   `FWD_DELIVERY_FAILED`.
///
/// If an interceptor around the delivery neither proceeds nor sets a result, the invocation gets the method's default
/// result. Without one it fails with `FWD_NO_RESPONDER`, unless the method is void.
typedef fwd_status (*fwd_interceptor)(void *FWD_NULLABLE context, fwd_invocation *FWD_NONNULL invocation);

/// Identifies one interception. None is used twice. 0 is no interception.
typedef uint64_t fwd_interception;

/// Intercepts every invocation of a method of a proxy, from C or from Swift.
///
/// At one invocation the interceptors before the delivery run first, then those around it, each inside of those that
/// were registered earlier, then the one instead of the subscribers or the subscribers themselves, and last those after
/// the delivery; interceptors of one point run in order of registration. `*interception` receives the interception;
/// `interception` may be NULL.
///
/// The interceptor runs on the thread that forwards, on several threads at the same time if several forward. `context`
/// must stay valid until `destroy` is called with it. That happens once, when the interception has ended and no
/// invocation uses it any more: in the call that ended it, in the last of these invocations, or with the proxy.
/// `destroy` may be NULL. On failure it is not called.
///
/// For `FWD_INTERCEPT_BLOCK`, `interceptor` must be NULL, and `selector` may be: then all methods of the proxy are
/// blocked. `destroy` is called as for the other points.
///
/// Returns `FWD_UNKNOWN_SELECTOR`, `FWD_OUT_OF_RANGE` for a point that does not exist, `FWD_NOT_ALLOWED` for a blocked
/// method with an interceptor, and `FWD_DUPLICATE` for a second interceptor instead of the subscribers. O(k) in the
/// number of interceptions of the method; O(m) in the number of methods to block all of them.
FWD_API fwd_status fwd_proxy_intercept(fwd_proxy *FWD_NULLABLE proxy, fwd_selector FWD_NULLABLE selector,
                                       fwd_interception_point point, fwd_interceptor FWD_NULLABLE interceptor,
                                       void *FWD_NULLABLE context,
                                       void (*FWD_NULLABLE destroy)(void *FWD_NULLABLE context),
                                       fwd_interception *FWD_NULLABLE interception, fwd_error *FWD_NULLABLE error);

/// Ends an interception.
///
/// An invocation under way does not call the interceptor any more, unless another thread is about to at this moment. An
/// interceptor may end its own interception. Returns `FWD_NOT_SUBSCRIBED` if it has ended or is another proxy's. O(k)
/// in the number of interceptions of the proxy.
FWD_API fwd_status fwd_proxy_end_interception(fwd_proxy *FWD_NULLABLE proxy, fwd_interception interception);

/// Returns the selector of an invocation; NULL for NULL.
FWD_API fwd_selector FWD_NULLABLE fwd_invocation_selector(const fwd_invocation *FWD_NULLABLE invocation);

/// Returns the signature of an invocation, valid as long as the proxy; NULL for NULL.
FWD_API const fwd_signature *FWD_NULLABLE fwd_invocation_signature(const fwd_invocation *FWD_NULLABLE invocation);

/// Returns the address of an argument, valid until the interceptor returns.
///
/// `index` counts from 0, the receiver and the selector included, as for `fwd_signature_argument`, which gives the
/// size. The receiver is a null pointer, since each delivery has its own. The bytes are a copy, and show what
/// `fwd_invocation_set_argument` sets. Returns NULL, with a message in `fwd_error_message`, if there is no such
/// argument.
FWD_API const void *FWD_NULLABLE fwd_invocation_argument(const fwd_invocation *FWD_NULLABLE invocation, size_t index);

/// Replaces an argument for the deliveries of `fwd_invocation_proceed`.
///
/// `bytes` has the `size` bytes of a value of the argument's type, which are copied. Pointers and objects in them must
/// stay valid until the interceptor returns. Returns `FWD_NOT_ALLOWED` except around a delivery, `FWD_OUT_OF_RANGE` for
/// an index that is not the signature's or is that of the receiver or the selector, and `FWD_WRONG_SIZE`.
FWD_API fwd_status fwd_invocation_set_argument(fwd_invocation *FWD_NULLABLE invocation, size_t index,
                                               const void *FWD_NULLABLE bytes, size_t size);

/// Delivers the invocation, with the arguments that it has now: to the interceptors that were registered later, and at
/// last to the subscribers. The invocation then has the result.
///
/// In an invocation of `fwd_collect` each result goes to the visitor instead. Returns `FWD_NOT_ALLOWED` except around a
/// delivery, and the failures of `fwd_forward`. After a failure the invocation has the result that it had before.
FWD_API fwd_status fwd_invocation_proceed(fwd_invocation *FWD_NULLABLE invocation);

/// Returns the address of the result, valid until the result is set again or the interceptor returns. Returns NULL if
/// there is no result (yet), or if it has no bytes.
FWD_API const void *FWD_NULLABLE fwd_invocation_result(const fwd_invocation *FWD_NULLABLE invocation);

/// Sets the result of the invocation.
///
/// `bytes` has the `size` bytes of a value of the result's type, which are copied. An object in them is retained.
/// Returns `FWD_NOT_ALLOWED` before and after a delivery, and `FWD_WRONG_SIZE`.
FWD_API fwd_status fwd_invocation_set_result(fwd_invocation *FWD_NULLABLE invocation, const void *FWD_NULLABLE bytes,
                                             size_t size);

// MARK: Batches

/// The subscribers of one moment, retained for many invocations. Each fan-out retains and releases every weakly held
/// object; a batch does so once. Use it when an event loop finds many events at once, or around a call of a library that
/// calls back often.
typedef struct fwd_batch fwd_batch;

/// Begins a batch.
///
/// The batch has the subscribers that are alive now, and retains the proxy. Subscribers that are objects stay alive
/// until it ends. `*batch` receives it, to be ended with `fwd_batch_end`. Until then the memory of
/// subscriptions that end is not freed. Returns `FWD_NO_MEMORY`. O(n) in the number of subscribers.
FWD_API fwd_status fwd_batch_begin(fwd_proxy *FWD_NULLABLE proxy, fwd_batch *FWD_NULLABLE *FWD_NULLABLE batch,
                                   fwd_error *FWD_NULLABLE error);

/// Forwards an invocation to the subscribers of a batch, on any thread.
///
/// Works as `fwd_forward`. A subscription that ends or is blocked is not called any more. A subscription that
/// `fwd_proxy_change` ends is called until the batch ends. A subscription that begins after the batch is not called. The
/// batch must not end during the call. If a subscriber forwards inside of its delivery, the proxy's current subscribers are
/// called. Use `fwd_batch_run` to keep such calls in the batch.
FWD_API fwd_status fwd_batch_forward(fwd_batch *FWD_NULLABLE batch, fwd_selector FWD_NULLABLE selector,
                                     const void *FWD_NULLABLE frame, size_t frame_size, void *FWD_NULLABLE result,
                                     size_t result_size);

/// Calls a function, and sends what it forwards through the batch's proxy to the batch's subscribers.
///
/// Calls `body` once with `context`, on this thread. Until `body` returns, every forward of this thread through the proxy
/// goes to the batch: by the functions of this header, by the proxy's function pointers and callback tables, by another
/// proxy that it is subscribed to, and inside of deliveries. The same subscriptions are called as by `fwd_batch_forward`.
/// Other threads are not affected, and may run the same batch. Runs may be nested: the innermost batch of a proxy counts.
///
/// The first invocation of a method in a batch takes O(n) in the number of the batch's subscribers. Later ones take O(n) in
/// the number of those that implement the method.
///
/// The batch must not end before `body` has returned. Returns `FWD_NULL_ARGUMENT` if `batch` or `body` is NULL, else
/// `FWD_OK`.
FWD_API fwd_status fwd_batch_run(fwd_batch *FWD_NULLABLE batch, void (*FWD_NULLABLE body)(void *FWD_NULLABLE context),
                                 void *FWD_NULLABLE context);

/// Ends a batch, on any thread. NULL is ignored. Objects that only the batch retains deinitialise here, and notifiers
/// of subscriptions that have ended may run here. In a forked child, a batch that another thread began must be neither
/// used nor ended.
FWD_API void fwd_batch_end(fwd_batch *FWD_NULLABLE batch);

// MARK: Function pointers

/// Where the callback of a C library has its context pointer. The function has the arguments of the method after the
/// receiver and the selector. The context pointer stands among them, and is ignored. For a method `v@:id`:
typedef enum fwd_function_form {
  /// No context: `void (*)(int, double)`.
  FWD_FUNCTION_ARGUMENTS = 0,
  /// The context comes first: `void (*)(void *, int, double)`.
  FWD_FUNCTION_CONTEXT_FIRST = 1,
  /// The context comes last: `void (*)(int, double, void *)`.
  FWD_FUNCTION_CONTEXT_LAST = -1,
} fwd_function_form;

/// The form of a function with the context at an index among all its arguments, counted from 0:
/// `FWD_FUNCTION_CONTEXT_AT(1)` is `void (*)(int, void *, double)`. The index must not be negative: for the
/// index -1 the macro gives `FWD_FUNCTION_ARGUMENTS`.
#define FWD_FUNCTION_CONTEXT_AT(index) ((index) + 1)

/// Makes a C function pointer that forwards a method to a proxy, for an interface that takes a callback.
///
/// `*closure` receives the closure: get the pointer with `fwd_closure_function`, and end it with `fwd_closure_destroy`.
/// The closure retains the proxy. A call returns the result of the forwarding, which is the method's `default_result`
/// if nobody responds. If the forwarding fails, the call returns the method's `failure_result`, or zeros if it has
/// none, and the failure goes to the proxy's `on_error`.
///
/// `form` is one of `fwd_function_form`, or `FWD_FUNCTION_CONTEXT_AT(index)`. Returns `FWD_UNKNOWN_SELECTOR`,
/// `FWD_OUT_OF_RANGE` for a form that does not exist or an index past the end, and the failures of `fwd_closure_create`.
FWD_API fwd_status fwd_proxy_function(fwd_proxy *FWD_NULLABLE proxy, fwd_selector FWD_NULLABLE selector,
                                      int form, fwd_closure *FWD_NULLABLE *FWD_NULLABLE closure,
                                      fwd_error *FWD_NULLABLE error);

// MARK: Structs of callbacks

/// A struct of C function pointers that forward to a proxy, such as a library's table of callbacks.
typedef struct fwd_callback_table fwd_callback_table;

/// Bits of `fwd_callback.flags`.
typedef enum fwd_callback_flags {
  /// The member is NULL while no subscriber implements the method: see `fwd_callback_table_create`.
  FWD_CALLBACK_NULL_IF_UNIMPLEMENTED = 1,
} fwd_callback_flags;

/// One member of a struct of callbacks. Arrays of it have the stride that `fwd_callback_table_create` gets. Members that
/// are zero have their default.
typedef struct fwd_callback {
  /// The result of `offsetof`. A multiple of the size of a pointer.
  size_t offset;
  /// The method that the member forwards.
  const char *FWD_NULLABLE selector;
  /// One of `fwd_function_form`, or `FWD_FUNCTION_CONTEXT_AT(index)`.
  int form;
  /// The signature of the member, with the context, such as `i^vid`. It is compared with the function's. NULL is not
  /// compared.
  const char *FWD_NULLABLE encoding;
  /// Bits of `fwd_callback_flags`.
  uint64_t flags;
  /// The failure result of calls through the member: see `fwd_method_options`. NULL for the method's. It is copied, and must
  /// not be an object.
  const void *FWD_NULLABLE failure_result;
  size_t failure_result_size;
} fwd_callback;

/// Makes a struct of callbacks.
///
/// The struct has `size` bytes, which are copied from `preset`, or are zeros if that is NULL. Each of the `count`
/// callbacks gives one member a function that forwards a method. `callback_size` is `sizeof(fwd_callback)`: the distance of
/// two elements of `callbacks`. Set other members through `fwd_callback_table_struct`. `*table` receives the table, to be
/// ended with `fwd_callback_table_destroy`. The table retains the proxy.
///
/// The functions and the struct may be used for the life of the process. After `fwd_callback_table_destroy` a call
/// returns the callback's `failure_result`, else the method's `failure_result`, else its `default_result`, else zeros, and
/// `on_error` of the proxy gets `FWD_DEAD`. So `on_error_context` must stay valid for the life of the process. A function
/// that has ended takes less than 300 bytes, and is not used again. So make few tables, for objects that live long;
/// `fwd_proxy_function` makes functions whose memory is used again.
///
/// A member with `FWD_CALLBACK_NULL_IF_UNIMPLEMENTED` is set when the first subscriber that implements the method joins,
/// before the function that subscribes returns. It becomes NULL when the last one has left or is blocked. The death of an
/// object is noticed by a later change, or by a fan-out that meets it. A member is stored atomically with release ordering,
/// by the thread of the change, so the library may read it at any time, on any thread. A thread that has read the function
/// may still call it.
///
/// Returns, and makes nothing,
///
/// - `FWD_UNKNOWN_SELECTOR`, and `FWD_OUT_OF_RANGE` for a form that does not exist, for flags that do not exist, or for a
///   member that is not within the struct;
/// - `FWD_TYPE_MISMATCH` for an offset that is not aligned, or a failure result of another size than the method's result;
/// - `FWD_CONFLICT` for members that overlap;
/// - `FWD_SIGNATURE_MISMATCH` for an encoding that is not the function's;
/// - if there are callbacks, `FWD_WRONG_SIZE` for a `callback_size` that no version has, and `FWD_WRONG_VERSION` for callbacks
///   with members that this library does not know;
/// - the failures of `fwd_signature_create` and `fwd_closure_create`.
///
/// O(k^2) in the number of callbacks.
FWD_API fwd_status fwd_callback_table_create(fwd_proxy *FWD_NULLABLE proxy, const void *FWD_NULLABLE preset, size_t size,
                                             const fwd_callback *FWD_NULLABLE callbacks, size_t count,
                                             size_t callback_size,
                                             fwd_callback_table *FWD_NULLABLE *FWD_NULLABLE table,
                                             fwd_error *FWD_NULLABLE error);

/// Returns the struct, aligned for any type and valid for the life of the process; NULL for NULL.
FWD_API void *FWD_NULLABLE fwd_callback_table_struct(const fwd_callback_table *FWD_NULLABLE table);

/// Ends a table. NULL is ignored. A table may be ended inside a call of one of its functions: a call that has begun to
/// forward is completed, unless the table had the last reference to the proxy. Then the subscriber that is being called is
/// the last one. Members that are NULL without a subscriber become NULL.
FWD_API void fwd_callback_table_destroy(fwd_callback_table *FWD_NULLABLE table);

#ifdef __cplusplus
}
#endif

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
