// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The C interface of Forwarding: type layouts, calls and closures from type-encoding strings, and proxies
/// that forward one invocation to many subscribers. It is the only header a C program includes.
///
/// - Every function may be called from any thread. No lock is held while a subscriber, a handler or a
///   destroy notifier runs.
/// - A function that can fail returns a `fwd_status`. `fwd_error_message()` then tells, on the same thread,
///   what was given, what was expected and where; functions that take a `fwd_error *` fill that too. It may
///   be NULL and is touched on failure only.
/// - On failure nothing has changed: outputs are not written, nothing is retained.
/// - NULL where a function needs a value is `FWD_NULL_ARGUMENT` from those that give a status; the text of an
///   encoding at NULL is malformed.

#ifndef FORWARDING_H
#define FORWARDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Nullability is clang's; other compilers see plain pointers.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#define FWD_NONNULL _Nonnull
#define FWD_NULLABLE _Nullable
#else
#define FWD_NONNULL
#define FWD_NULLABLE
#endif

// A function that is compiled into programs, by compilers that can (FWD_NO_INLINE before the header: not at all). The
// library has it, too, for those of others.
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
// The library's jumps are not in a program's tables of functions that may be called.
#if defined(__clang__)
#define FWD_JUMPS __attribute__((no_sanitize("cfi-icall", "kcfi")))
#else
#define FWD_JUMPS
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

// MARK: Status and errors

/// What went wrong. 1 to 4 class what can be wrong with a type encoding; the rest concern calls.
typedef enum fwd_status {
  FWD_OK = 0,
  /// The text is not in the grammar of type encodings.
  FWD_MALFORMED = 1,
  /// The text is well formed, but the encoding cannot express what a call would need to know.
  FWD_UNSUPPORTED = 2,
  /// A size, a count or the text itself exceeds its limit.
  FWD_OVERFLOW = 3,
  /// Types are nested deeper than `FWD_DEPTH_LIMIT`.
  FWD_TOO_DEEP = 4,
  /// NULL, or an empty name, where a value is needed.
  FWD_NULL_ARGUMENT = 5,
  /// An index is past the end.
  FWD_OUT_OF_RANGE = 6,
  /// An argument frame or a result buffer is not of the size that the signature gives.
  FWD_WRONG_SIZE = 7,
  /// A value's type is not the one that the signature gives.
  FWD_TYPE_MISMATCH = 8,
  /// An allocation failed.
  FWD_NO_MEMORY = 9,
  /// The system refused memory for a function pointer made at run time.
  FWD_NO_EXECUTABLE_MEMORY = 10,
  /// The signature's first argument is no pointer, so that it cannot take a receiver.
  FWD_NO_RECEIVER = 11,
  /// No protocol table of the proxy declares the selector.
  FWD_UNKNOWN_SELECTOR = 12,
  /// No live subscriber implements a method whose result has no default.
  FWD_NO_RESPONDER = 13,
  /// A subscriber was called but could not take its arguments or give its result.
  FWD_DELIVERY_FAILED = 14,
  /// A function table lacks a required method.
  FWD_MISSING_METHOD = 15,
  /// Two encodings of one selector disagree.
  FWD_SIGNATURE_MISMATCH = 16,
  /// A name is registered already, and differently.
  FWD_CONFLICT = 17,
  /// The subscription or the anchor is not in the proxy.
  FWD_NOT_SUBSCRIBED = 18,
  /// The subscriber is in the proxy already.
  FWD_DUPLICATE = 19,
  /// The subscription would make a proxy forward to itself.
  FWD_CYCLE = 20,
  /// The object has been deallocated.
  FWD_DEAD = 21,
  /// A stated layout is not one that the type can have, or is of no type of the encoding.
  FWD_WRONG_LAYOUT = 22,
} fwd_status;

/// Why a function failed.
typedef struct fwd_error {
  fwd_status status;
  /// The byte of the encoding that could not be taken, or the index of the offending argument; else 0.
  size_t offset;
  /// What was given, what was expected and where, NUL-terminated, in printable characters. For an encoding
  /// a second and a third line quote it and put a caret under the byte.
  char message[256];
} fwd_error;

/// The message of the last failure on the calling thread, never NULL. Valid until the next failing call on
/// this thread.
const char *FWD_NONNULL fwd_error_message(void);

/// The name of a status, for example "FWD_MALFORMED"; "FWD_?" for a number that is none.
const char *FWD_NONNULL fwd_status_name(fwd_status status);

// MARK: Limits

/// Types nested deeper than this are refused with `FWD_TOO_DEEP`.
#define FWD_DEPTH_LIMIT 128
/// Encodings with more bytes than this are refused with `FWD_OVERFLOW`.
#define FWD_ENCODING_LENGTH_LIMIT 1048576
/// Signatures with more arguments than this, the receiver included, are refused with `FWD_OVERFLOW`.
#define FWD_ARGUMENT_LIMIT 255
/// Signatures whose arguments, or whose result, take more bytes than this are refused with `FWD_OVERFLOW`:
/// they are copied onto the stack.
#define FWD_BY_VALUE_LIMIT 65536
/// More stated layouts for one encoding than this are refused with `FWD_OVERFLOW`.
#define FWD_STATED_LIMIT 255

// MARK: Types

/// Where a type's bytes lie, in bytes.
typedef struct fwd_layout {
  size_t size;
  size_t alignment;
  /// The offset in the argument frame, for an argument that is in it; `FWD_NO_OFFSET` for the receiver and
  /// the selector; else 0.
  size_t offset;
} fwd_layout;

#define FWD_NO_OFFSET SIZE_MAX

/// Gives the size and the alignment of the one type that the `length` bytes at `encoding` describe, as the C
/// compiler has them. `void` and the empty struct have size 0 and alignment 1.
fwd_status fwd_type_layout(const char *FWD_NULLABLE encoding, size_t length,
                           fwd_layout *FWD_NONNULL layout, fwd_error *FWD_NULLABLE error);

// MARK: Layouts that an encoding does not carry

/// Where a member of a stated struct begins: `offset` bytes and `bit_offset` bits from the struct's beginning.
typedef struct fwd_stated_member {
  /// As `offsetof` gives it. 0 for members of unions.
  size_t offset;
  /// Of a bit-field, which has no `offsetof`; with `offset` 0 it may count from the struct's beginning. Else 0.
  size_t bit_offset;
} fwd_stated_member;

/// The layout of a struct or union by name, where its encoding does not carry it: packed, aligned by an
/// attribute, with bit-fields, or known by name only. It says what the C compiler's `sizeof`, `_Alignof` and
/// `offsetof` say, and holds wherever the name stands in the encoding.
///
/// Nothing is guessed. Without `members` these lie one behind the other if they fill `size` bytes so
/// (`{P=ci}` of 5 bytes: packed), else as the compiler puts members without attributes; if neither gives this
/// size and alignment, or if there is a bit-field (but GNU encodings tell the places of these), `members` is
/// needed. What a type lacks to be passed by value, a signature says when it is made. Never passed so are:
///
/// - what is aligned to more than 16 bytes;
/// - a struct known by name only (spell its fields), but for large ones: over 16 bytes on x86-64, over 64 on
///   AArch64, and then without SIMD vectors;
/// - what compilers pass each in their own way: small structs with `_Atomic` members, with unnamed bit-fields,
///   with ones of over 64 bits, or with a struct at an offset that its own alignment forbids.
///
/// On other processors than these two no stated type is passed by value. It is trusted that bit-fields have names
/// and are not of 128-bit types where the encoding does not show it.
typedef struct fwd_stated_layout {
  /// As the encoding has it: `P` of `{P=ci}`. Neither NULL, nor empty, nor `?`.
  const char *FWD_NULLABLE name;
  /// A multiple of `alignment`, at least what the members take.
  size_t size;
  /// A power of two.
  size_t alignment;
  /// One for each member that the encoding has, in order; NULL if they are not stated.
  const fwd_stated_member *FWD_NULLABLE members;
  size_t member_count;
  /// The largest alignment among the members, their own attributes counted and the struct's not; 0 if not
  /// stated. AArch64 asks for it where an argument of up to 16 bytes, or of a few floating numbers, is aligned
  /// to 16: 16 if a member is (`_Alignas(16) long a`), and less if only the whole struct is.
  size_t member_alignment;
} fwd_stated_layout;

/// As `fwd_type_layout`, with the layouts of `count` structs or unions in it, which are copied. Besides its
/// failures there is `FWD_WRONG_LAYOUT`: for a size or an offset that the members do not leave room for, an
/// alignment that is no power of two, a name stated twice, or one that is not in the encoding.
fwd_status fwd_type_layout_stating(const char *FWD_NULLABLE encoding, size_t length,
                                   const fwd_stated_layout *FWD_NULLABLE stated, size_t count,
                                   fwd_layout *FWD_NONNULL layout, fwd_error *FWD_NULLABLE error);

// MARK: Method signatures

/// A result type and argument types, with what it takes to call such a function. Immutable.
typedef struct fwd_signature fwd_signature;

/// Reads a method signature such as `v@:id` (result first; stack offsets and frame sizes are skipped). End
/// it with `fwd_signature_release`. One text read twice may give one object twice.
fwd_status fwd_signature_create(const char *FWD_NULLABLE encoding, size_t length,
                                fwd_signature *FWD_NULLABLE *FWD_NONNULL signature,
                                fwd_error *FWD_NULLABLE error);

/// As `fwd_signature_create`, with the layouts of `count` structs or unions in it, which are copied, and the
/// further failures of `fwd_type_layout_stating`. Two signatures of one text are not equal if their types'
/// layouts are not. `count` 0 is `fwd_signature_create`.
fwd_status fwd_signature_create_stating(const char *FWD_NULLABLE encoding, size_t length,
                                        const fwd_stated_layout *FWD_NULLABLE stated, size_t count,
                                        fwd_signature *FWD_NULLABLE *FWD_NONNULL signature,
                                        fwd_error *FWD_NULLABLE error);

/// Gives up one reference. NULL is ignored.
void fwd_signature_release(fwd_signature *FWD_NULLABLE signature);

/// Adds a reference, to be given up by `fwd_signature_release`.
fwd_signature *FWD_NONNULL fwd_signature_retain(fwd_signature *FWD_NONNULL signature);

/// The number of arguments, the receiver and the selector included; 0 for NULL.
size_t fwd_signature_argument_count(const fwd_signature *FWD_NONNULL signature);

/// Gives the layout of an argument; `offset` is its place in the argument frame, `FWD_NO_OFFSET` for the
/// receiver and the selector. `FWD_OUT_OF_RANGE` past the last.
fwd_status fwd_signature_argument(const fwd_signature *FWD_NONNULL signature, size_t index,
                                  fwd_layout *FWD_NONNULL layout);

/// Gives the layout of the result; size 0 for `void`.
fwd_status fwd_signature_result(const fwd_signature *FWD_NONNULL signature, fwd_layout *FWD_NONNULL layout);

/// The size of the argument frame: that of a C struct of the arguments in order, without the receiver and
/// the selector. A signature whose first argument is no pointer has no receiver: all arguments are in it.
size_t fwd_signature_frame_size(const fwd_signature *FWD_NONNULL signature);

// MARK: Calls and closures

/// The first member of every signature. It is here so that `fwd_call` can be compiled into programs, and for nothing
/// else. Programs are compiled against it, so it is part of the library's binary interface for good: where its members
/// are, what they mean, and what a jump does.
typedef struct fwd_call_head fwd_call_head;

/// What a function leaves in the first integer and in the first vector register, whichever it uses.
typedef struct fwd_call_returned {
  uint64_t integer;
  double vector;
} fwd_call_returned;

/// Loads the registers and leaves for the function, so that it returns to where the jump was called.
///
/// Sets `*is_refused`, which was false, and calls nothing if an argument has no address, or if `result` is NULL and
/// the result is in memory; what it gives then means nothing. `result` is for results in memory only.
typedef fwd_call_returned (*fwd_call_jump)(const fwd_call_head *FWD_NONNULL head,
                                           void (*FWD_NONNULL function)(void),
                                           void *FWD_NONNULL const *FWD_NULLABLE arguments,
                                           bool *FWD_NONNULL is_refused, void *FWD_NULLABLE result);

/// What of the registers is the result: the commonest first.
typedef enum fwd_call_result {
  /// Or it is in memory.
  FWD_CALL_NOTHING = 0,
  /// An integer of as many bytes.
  FWD_CALL_INTEGER_8 = 1,
  FWD_CALL_INTEGER_4 = 2,
  FWD_CALL_INTEGER_1 = 3,
  FWD_CALL_DOUBLE = 4,
  /// 16 bytes, half in each.
  FWD_CALL_INTEGER_VECTOR = 5,
  FWD_CALL_VECTOR_INTEGER = 6,
  /// What `fwd_call_store` knows.
  FWD_CALL_OTHER = 7
} fwd_call_result;

struct fwd_call_head {
  /// Where the jump is found; NULL is found there for signatures that have none, and while `fwd_use_libffi` asks for
  /// libffi.
  const fwd_call_jump FWD_NULLABLE *FWD_NONNULL jump;
  /// What `fwd_call` has to store.
  fwd_call_result result;
};

/// Stores a result of any kind from registers: a part of `fwd_call`.
void fwd_call_store(const fwd_call_head *FWD_NONNULL head, fwd_call_returned returned, void *FWD_NONNULL result);

/// `fwd_call` for programs that want less code at each call, and for what a jump refuses.
fwd_status fwd_call_any(const fwd_signature *FWD_NONNULL signature, void (*FWD_NONNULL function)(void),
                        void *FWD_NONNULL const *FWD_NULLABLE arguments, void *FWD_NULLABLE result);

/// Calls `function`, which must have this signature, with the values that `arguments[0]`,
/// `arguments[1]`, ... point to (the receiver and the selector included), as the C compiler would.
/// `arguments` is not modified. Writes exactly the result's bytes to `result`, which may be NULL if there
/// are none or they are not wanted. The signature must live until the function returns. `FWD_NULL_ARGUMENT`, with
/// nothing called, if the signature, the function or the address of an argument that has bytes is NULL.
FWD_INLINE fwd_status fwd_call(const fwd_signature *FWD_NONNULL signature, void (*FWD_NONNULL function)(void),
                               void *FWD_NONNULL const *FWD_NULLABLE arguments, void *FWD_NULLABLE result);

#if FWD_IS_INLINE
FWD_INLINE FWD_JUMPS fwd_status fwd_call(const fwd_signature *FWD_NONNULL signature,
                                         void (*FWD_NONNULL function)(void),
                                         void *FWD_NONNULL const *FWD_NULLABLE arguments,
                                         void *FWD_NULLABLE result) {
  // Inline, so that there is one call between the program and the function, not two.
#ifdef __cplusplus
  const fwd_call_head *head = static_cast<const fwd_call_head *>(static_cast<const void *>(signature));
#else
  const fwd_call_head *head = (const fwd_call_head *)signature;
#endif
  bool is_refused = false;
  fwd_call_jump jump;
  fwd_call_returned returned;
  // One by one, or compilers make one test of two that costs more.
  if (__builtin_expect(!signature, 0)) return fwd_call_any(signature, function, arguments, result);
  if (__builtin_expect(!function, 0)) return fwd_call_any(signature, function, arguments, result);
  // Relaxed: `fwd_use_libffi` is ordered with nothing.
  jump = __atomic_load_n(head->jump, __ATOMIC_RELAXED);
  if (__builtin_expect(!jump, 0)) return fwd_call_any(signature, function, arguments, result);
  returned = jump(head, function, arguments, &is_refused, result);
  // It says which argument is missing, or has room for a result in memory that is not wanted.
  if (__builtin_expect(is_refused, 0)) return fwd_call_any(signature, function, arguments, result);
  if (!result) return FWD_OK;
  // Compilers may know how large the result is, and take the stores that are not made for overflows.
  __asm__("" : "+r"(result));
  // By comparisons of order: of others compilers make a jump table.
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
#endif

/// Says whether all calls and new closures go through libffi, rather than through the call plans that signatures
/// compile to, so that the two can be told apart. `FWD_CALL=libffi` in the environment does the same.
void fwd_use_libffi(bool forced);

/// A C function pointer made at run time.
typedef struct fwd_closure fwd_closure;

/// Receives the calls of a closure. It returns, on the thread that it was called on: to leave it by longjmp, by a
/// C++ exception or by the end of the thread is not allowed. The same holds for subscribers' functions. The
/// pointers in `arguments` are aligned for their types and valid during
/// the call. `result` has room for the result, zeroed beforehand; it is never NULL.
typedef void (*fwd_closure_handler)(void *FWD_NULLABLE context, void *FWD_NONNULL const *FWD_NONNULL arguments,
                                    void *FWD_NONNULL result);

/// Makes a function pointer of this signature that calls `handler`. The closure retains the signature. End
/// it with `fwd_closure_destroy`. On x86-64 some hundreds need no memory that is executable and writable; beyond
/// them, and elsewhere, it is `FWD_NO_EXECUTABLE_MEMORY` if the system refuses such memory.
fwd_status fwd_closure_create(const fwd_signature *FWD_NONNULL signature, fwd_closure_handler FWD_NONNULL handler,
                              void *FWD_NULLABLE context, fwd_closure *FWD_NULLABLE *FWD_NONNULL closure,
                              fwd_error *FWD_NULLABLE error);

/// The function pointer: cast it to its type and call it. It may be called until `fwd_closure_destroy`.
void (*FWD_NONNULL fwd_closure_function(const fwd_closure *FWD_NONNULL closure))(void);

/// Ends a closure. Allowed inside its own call: what the running calls need is freed after the last of them
/// has returned. NULL is ignored.
void fwd_closure_destroy(fwd_closure *FWD_NULLABLE closure);

// MARK: Selectors

/// An interned method name: equal names give equal pointers, for the life of the process.
typedef const struct fwd_selector_record *fwd_selector;

/// Interns `name`. NULL if it is NULL, empty or longer than 65,535 bytes, or if memory is short.
fwd_selector FWD_NULLABLE fwd_selector_register(const char *FWD_NULLABLE name);

/// Gives the selector of a name that has been registered, else NULL.
fwd_selector FWD_NULLABLE fwd_selector_find(const char *FWD_NULLABLE name);

/// The name, valid for the life of the process. "" for NULL.
const char *FWD_NONNULL fwd_selector_name(fwd_selector FWD_NULLABLE selector);

// MARK: Protocol tables

/// A set of method signatures under a name. Registered protocols live as long as the process.
typedef struct fwd_protocol fwd_protocol;

/// One method of a protocol.
typedef struct fwd_requirement {
  const char *FWD_NULLABLE selector;
  const char *FWD_NULLABLE encoding;
  /// Whether a subscriber without it is refused.
  bool required;
} fwd_requirement;

/// Registers a protocol table by name and gives it in `*protocol` (which may be NULL). The strings are
/// copied. Registering the same table again gives the first one; a different one is `FWD_CONFLICT`.
fwd_status fwd_protocol_register(const char *FWD_NULLABLE name, const fwd_requirement *FWD_NULLABLE requirements,
                                 size_t count, const fwd_protocol *FWD_NULLABLE *FWD_NULLABLE protocol,
                                 fwd_error *FWD_NULLABLE error);

/// Gives the protocol table registered under `name`, from C or from Swift, else NULL.
const fwd_protocol *FWD_NULLABLE fwd_protocol_find(const char *FWD_NULLABLE name);

// MARK: Proxies

/// Forwards invocations to its subscribers. Counted by reference.
typedef struct fwd_proxy fwd_proxy;

/// Who is called, and whose result is given.
typedef enum fwd_result_policy {
  /// A method with a result: only the first responder is called. A void method: all, in order.
  FWD_RESULT_DEFAULT = 0,
  /// Only the first responder is called.
  FWD_RESULT_FIRST = 1,
  /// All are called, and the first result is given.
  FWD_RESULT_ALL_FIRST = 2,
  /// All are called, and the last result is given.
  FWD_RESULT_ALL_LAST = 3,
  /// For numbers and pointers: responders are called until one gives a result with a byte that is not zero; the
  /// last result is given.
  FWD_RESULT_UNTIL_NONZERO = 4,
  /// For `B`: called until one says true. False if none does.
  FWD_RESULT_ANY = 5,
  /// For `B`: called until one says false. True if none does.
  FWD_RESULT_ALL = 6,
  /// For void: called in order until one calls `fwd_mark_handled`.
  FWD_RESULT_UNTIL_HANDLED = 7,
} fwd_result_policy;

/// How a proxy treats one selector.
typedef struct fwd_method_options {
  const char *FWD_NULLABLE selector;
  fwd_result_policy policy;
  /// The result if nobody responds, copied; NULL for none.
  const void *FWD_NULLABLE default_result;
  size_t default_result_size;
} fwd_method_options;

/// What a proxy is created with. Zero is the default of each member.
typedef struct fwd_proxy_options {
  const fwd_method_options *FWD_NULLABLE methods;
  size_t method_count;
  /// Whether an unknown selector is ignored, with the result zero, rather than an error.
  bool ignores_unknown_selectors;
  /// Called with what a fan-out could not do; what it points to is valid during the call.
  void (*FWD_NULLABLE on_error)(void *FWD_NULLABLE context, fwd_selector FWD_NULLABLE selector,
                                const fwd_error *FWD_NONNULL error);
  void *FWD_NULLABLE on_error_context;
} fwd_proxy_options;

/// Creates a proxy that adopts `count` protocol tables, with one reference. `options` may be NULL.
fwd_status fwd_proxy_create(const fwd_protocol *FWD_NONNULL const *FWD_NULLABLE protocols, size_t count,
                            const fwd_proxy_options *FWD_NULLABLE options,
                            fwd_proxy *FWD_NULLABLE *FWD_NULLABLE proxy, fwd_error *FWD_NULLABLE error);

/// Adds a reference.
fwd_proxy *FWD_NONNULL fwd_proxy_retain(fwd_proxy *FWD_NONNULL proxy);

/// Gives up a reference. With the last one the subscribers are given up. NULL is ignored.
void fwd_proxy_release(fwd_proxy *FWD_NULLABLE proxy);

/// One method of a subscriber: a C function of the signature that `encoding` gives. Its first argument is
/// the subscriber's context.
typedef struct fwd_method {
  const char *FWD_NULLABLE selector;
  const char *FWD_NULLABLE encoding;
  void (*FWD_NULLABLE function)(void);
} fwd_method;

/// Names one subscription of one proxy. 0 is none.
typedef uint64_t fwd_subscription;

/// Subscribes the functions in `methods`, which get `context` as their first argument, behind those who are
/// subscribed already. A C context cannot be referenced weakly: it must stay valid until
/// `fwd_proxy_unsubscribe` has returned and no fan-out that was under way runs any more, which is when
/// `destroy`, if given, is called with it, once: on the thread that unsubscribes, or on that of the last
/// fan-out, batch or question of the proxy that had begun before. On failure `destroy` is not called.
/// The array is copied.
fwd_status fwd_proxy_subscribe(fwd_proxy *FWD_NULLABLE proxy, void *FWD_NULLABLE context,
                               const fwd_method *FWD_NULLABLE methods, size_t count,
                               void (*FWD_NULLABLE destroy)(void *FWD_NULLABLE context),
                               fwd_subscription *FWD_NULLABLE subscription, fwd_error *FWD_NULLABLE error);

/// The same as `fwd_proxy_subscribe`, for so many deliveries: with the last one the subscription ends, and
/// `destroy` is called when that one has returned. However many threads forward, there are not more. `times` of 0
/// is `FWD_OUT_OF_RANGE`.
fwd_status fwd_proxy_subscribe_times(fwd_proxy *FWD_NULLABLE proxy, void *FWD_NULLABLE context,
                                     const fwd_method *FWD_NULLABLE methods, size_t count, size_t times,
                                     void (*FWD_NULLABLE destroy)(void *FWD_NULLABLE context),
                                     fwd_subscription *FWD_NULLABLE subscription,
                                     fwd_error *FWD_NULLABLE error);

/// Has a subscription passed over until it has been unblocked as often as it has been blocked. It keeps its place
/// and its context, and is counted, but does not respond meanwhile. A fan-out under way on this thread does not
/// call it any more. `FWD_NOT_SUBSCRIBED` if it has ended. O(1), but O(m) in the number of methods.
fwd_status fwd_proxy_block(fwd_proxy *FWD_NULLABLE proxy, fwd_subscription subscription);

/// Undoes `fwd_proxy_block` once. `FWD_NOT_SUBSCRIBED` if the subscription has ended, `FWD_OUT_OF_RANGE` if it is
/// not blocked.
fwd_status fwd_proxy_unblock(fwd_proxy *FWD_NULLABLE proxy, fwd_subscription subscription);

/// Ends a subscription: a fan-out under way on this thread does not call it any more. O(1), amortised.
fwd_status fwd_proxy_unsubscribe(fwd_proxy *FWD_NULLABLE proxy, fwd_subscription subscription);

/// The number of live subscribers. They are counted each time: O(n).
size_t fwd_proxy_subscriber_count(fwd_proxy *FWD_NONNULL proxy);

/// Whether some live subscriber implements the method. O(1) if no subscription has it, else O(n) to the first
/// that lives.
bool fwd_proxy_responds(fwd_proxy *FWD_NONNULL proxy, fwd_selector FWD_NULLABLE selector);

/// Gives the signature that the proxy's tables declare for the selector, else NULL. Valid as long as the proxy.
const fwd_signature *FWD_NULLABLE fwd_proxy_signature(const fwd_proxy *FWD_NONNULL proxy,
                                                      fwd_selector FWD_NULLABLE selector);

/// Forwards an invocation whose arguments stand in a frame: at natural alignment in order, the receiver and
/// the selector left out, `frame_size` bytes as `fwd_signature_frame_size` gives. `result` has `result_size`
/// bytes: exactly the result's, or NULL and 0 if it is not wanted.
///
/// The proxy is retained meanwhile, so that a subscriber may release it. With that it costs about 39 ns for one
/// subscriber and 13 ns a delivery for many, if they are Swift objects that are held weakly; for C subscribers
/// alone, 11 ns less each. It takes no lock, and allocates nothing for results of up to 64 bytes and frames aligned
/// as their arguments are, unless it meets subscribers that have died or left and takes them out of the list.
fwd_status fwd_forward(fwd_proxy *FWD_NONNULL proxy, fwd_selector FWD_NULLABLE selector,
                       const void *FWD_NULLABLE frame, size_t frame_size,
                       void *FWD_NULLABLE result, size_t result_size);

/// Forwards an invocation whose arguments stand behind pointers: as `fwd_call` takes them, but without the
/// receiver and the selector. `count` says how many there are. It costs as much as `fwd_forward`; if one of them is
/// not aligned for its type, they are copied to memory that is allocated.
fwd_status fwd_forward_arguments(fwd_proxy *FWD_NONNULL proxy, fwd_selector FWD_NULLABLE selector,
                                 void *FWD_NONNULL const *FWD_NULLABLE arguments, size_t count,
                                 void *FWD_NULLABLE result, size_t result_size);

/// The same as `fwd_forward`, with the selector's name, which is not registered if it is unknown. Slower: the name
/// is hashed and looked up at each call, 16 ns for a short one.
fwd_status fwd_forward_named(fwd_proxy *FWD_NONNULL proxy, const char *FWD_NULLABLE selector,
                             const void *FWD_NULLABLE frame, size_t frame_size,
                             void *FWD_NULLABLE result, size_t result_size);

/// The subscribers of a proxy, held to be delivered to many times, as an event loop does that finds
/// many events at once: the price of a weak reference is paid once, and a delivery costs 2 ns rather
/// than 13.
///
/// They are those that live when the batch begins. Who unsubscribes is not called any more; who
/// subscribes later is not called. Objects live until the batch ends at least.
typedef struct fwd_batch fwd_batch;

/// Begins a batch, which retains the proxy. It is used and ended on the thread that began it. End it
/// with `fwd_batch_end`, soon: as long as it runs, memory of changes to the proxy's membership is kept.
fwd_status fwd_batch_begin(fwd_proxy *FWD_NULLABLE proxy,
                           fwd_batch *FWD_NULLABLE *FWD_NULLABLE batch,
                           fwd_error *FWD_NULLABLE error);

/// The same as `fwd_forward`, to the batch's subscribers.
fwd_status fwd_batch_forward(fwd_batch *FWD_NULLABLE batch, fwd_selector FWD_NULLABLE selector,
                             const void *FWD_NULLABLE frame, size_t frame_size,
                             void *FWD_NULLABLE result, size_t result_size);

/// Ends a batch; NULL is ignored. Subscribers that nobody else holds die here.
void fwd_batch_end(fwd_batch *FWD_NULLABLE batch);

/// Tells the fan-out that runs on this thread that the invocation has been handled, for
/// `FWD_RESULT_UNTIL_HANDLED`. Without a fan-out nothing happens.
void fwd_mark_handled(void);

/// How much of a method's signature a function pointer has.
typedef enum fwd_function_form {
  /// Only the arguments: what a C callback without context has. `v@:id` becomes `void (*)(int, double)`.
  FWD_FUNCTION_ARGUMENTS = 0,
  /// The whole signature; the receiver and the selector that the caller passes are ignored.
  FWD_FUNCTION_METHOD = 1,
} fwd_function_form;

/// Makes a C function pointer that forwards `selector` into the proxy, for an API that takes a callback. It
/// retains the proxy, once and not for each call; end it with `fwd_closure_destroy`. A call costs about 28 ns for
/// one subscriber, where `fwd_forward` costs 39. What a call could not do goes to the proxy's
/// `on_error`, and the caller gets the method's default result, else zeroes.
fwd_status fwd_proxy_function(fwd_proxy *FWD_NULLABLE proxy, fwd_selector FWD_NULLABLE selector,
                              fwd_function_form form, fwd_closure *FWD_NULLABLE *FWD_NULLABLE closure,
                              fwd_error *FWD_NULLABLE error);

#ifdef __cplusplus
}
#endif

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
