// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import Testing

@Suite("fwd call") struct CallCommandTests {
  /// Runs `fwd call` with the words of a shell command.
  private func call(_ words: String) throws -> ToolRun {
    try ToolRun.shell("\"$FWD\" call \(words)")
  }

  @Test(arguments: [
    ("libm.so.6 cos dd 0", "1.0"),
    ("libm.so.6 'double pow(double, double)' 2 10", "1024.0"),
    ("libm.so.6 'float floorf(float)' -1.5", "-2.0"),
    ("libm.so.6 'long double sqrtl(long double)' 2.25", "1.5"),
    ("libc.so.6 'int abs(int)' -7", "7"),
    ("libc.so.6 'long labs(long)' -0x10", "16"),
    ("libc.so.6 'size_t strlen(const char *)' 'four'", "4"),
    ("libc.so.6 'char *strchr(const char *, int)' 'key=value' \"'='\"", "\"=value\""),
    ("libc.so.6 'char *strchr(const char *, int)' 'key' 61", "null"),
    ("libc.so.6 'int toupper(int)' \"'a'\"", "65"),
    ("libc.so.6 'div_t div(int, int)' 7 2", "{3, 1}"),
    ("libc.so.6 'double strtod(const char *, char **)' 2.5e3 null", "2500.0"),
    ("- 'int isalpha(int)' 0x41", "1024"),
    ("libc.so.6 'int memcmp(const void *, const void *, size_t)' null null 0", "0"),
    ("libc.so.6 'size_t strlen(const char *)' '\"null\"'", "4"),
  ])
  func `functions of the C library`(words: String, result: String) throws {
    let run = try call(words)
    #expect(run.errorText == "")
    #expect(run.output == result + "\n")
    #expect(run.status == 0)
  }

  /// Ten functions of the C library. The results are those of the same calls in this program.
  @Test(arguments: [
    ("'int abs(int)' -7", "\(abs(Int32(-7)))"),
    ("'size_t strlen(const char *)' 'ten functions'", unsafe "\(strlen("ten functions"))"),
    ("'int toupper(int)' \"'x'\"", "\(toupper(0x78))"),
    (
      "'long strtol(const char *, char **, int)' '\"-7fff\"' null 16",
      unsafe "\(strtol("-7fff", nil, 16))"
    ),
    ("'double strtod(const char *, char **)' '\"0x1p-3\"' null", unsafe "\(strtod("0x1p-3", nil))"),
    ("'double atof(const char *)' '\"1e-7\"'", unsafe "\(atof("1e-7"))"),
    ("'int strcmp(const char *, const char *)' same same", unsafe "\(strcmp("same", "same"))"),
    ("'size_t strspn(const char *, const char *)' abcxyz cba", unsafe "\(strspn("abcxyz", "cba"))"),
    ("'double difftime(time_t, time_t)' 1000 1", "\(difftime(1000, 1))"),
    ("'ldiv_t ldiv(long, long)' -17 5", "{\(ldiv(-17, 5).quot), \(ldiv(-17, 5).rem)}"),
  ])
  func `ten functions by their declarations`(words: String, result: String) throws {
    let run = try call("libc.so.6 \(words)")
    #expect(run.errorText == "")
    #expect(run.output == result + "\n")
    #expect(run.status == 0)
  }

  @Test func `arrays that a function changes`() throws {
    let run = try call("libm.so.6 'double modf(double, double *)' 2.75 '[0]'")
    #expect(run.output == "0.75\nparameter 2: [2.0]\n")
    let two = try call("libm.so.6 'double frexp(double, int *)' 8 '[0]'")
    #expect(two.output == "0.5\nparameter 2: [4]\n")
  }

  @Test func `room for a function to write a string`() throws {
    let run = try call(
      "libc.so.6 'int snprintf(char *, size_t, const char *, ...)' '[0, 0, 0, 0]' 4 %d 42")
    #expect(run.output == "2\nparameter 1: [52, 50, 0, 0]\n")
  }

  @Test func `a declaration that needs others`() throws {
    let run = try call("libc.so.6 'typedef int number; int twice(int); number abs(number)' -4")
    #expect(run.output == "4\n")
    let named = try call("libc.so.6 abs 'int labs2(long); int abs(int); int other(void)' -5")
    #expect(named.output == "5\n")
    let aligned = try call(
      "libc.so.6 'struct A { char a; int b __attribute__((aligned(64))); }; int memcmp(const struct A *, "
        + "const struct A *, unsigned long)' '[{1, 2}]' '[{1, 2}]' 128")
    #expect(aligned.errorText.contains("conflicting types for 'memcmp'"))
  }

  @Test func `structs as arguments`() throws {
    // struct tm is a struct of nine ints, a long and a string.
    let run = try call(
      "libc.so.6 'time_t timegm(struct tm *)' '[{1, 2, 3, 4, 5, 99, 0, 0, 0, 0, null}]'")
    #expect(run.output.hasPrefix("928465321\nparameter 1: [{1, 2, 3, 4, 5, 99, 5, 154, 0, 0, "))
    let complex = try call("libm.so.6 cabs djd '{3, 4}'")
    #expect(complex.output == "5.0\n")
  }

  // MARK: - Structs by value

  /// A C library with functions that take and return structs.
  private static let structs = """
    struct pair { int count; double weight; };
    struct nested { struct pair inner; struct { float x, y; } point; char mark; };
    double weigh(struct pair pair) { return pair.count * pair.weight; }
    struct pair twice(struct pair pair) {
      return (struct pair){2 * pair.count, 2 * pair.weight};
    }
    double sum(int first, struct nested value, double last) {
      return first + value.inner.count + value.inner.weight + value.point.x + value.point.y
        + value.mark + last;
    }
    struct nested moved(struct nested value, struct pair by) {
      value.inner = by;
      value.point.x += 1;
      value.mark++;
      return value;
    }
    """

  private static let pair = "struct pair { int count; double weight; };"
  private static let nested =
    "\(pair) struct nested { struct pair inner; struct { float x, y; } point; char mark; };"

  @Test(arguments: [
    ("'\(pair) double weigh(struct pair)' '{1,2.5}'", "2.5"),
    ("weigh 'd{pair=id}' '{-3, 0.5}'", "-1.5"),
    ("'\(pair) struct pair twice(struct pair)' '{1,2.5}'", "{2, 5.0}"),
    ("twice '{pair=id}{pair=id}' '{ 4 , 1e2 }'", "{8, 200.0}"),
    (
      "'\(nested) double sum(int, struct nested, double)' 100 '{{1,2.5}, {0.25, 0.5}, 7}' 1000",
      "1111.25"
    ),
    (
      "'\(nested) struct nested moved(struct nested, struct pair)' '{{1,2.5},{0.25,0.5},7}' '{3,4}'",
      "{{3, 4.0}, {1.25, 0.5}, 8}"
    ),
    ("sum 'di{nested={pair=id}{?=ff}c}d' 0 '{{0,0},{1,2},3}' 0", "6.0"),
  ])
  func `structs by value`(words: String, result: String) throws {
    let tree = try TemporaryTree()
    let source = tree.path + "/structs.c"
    try Self.structs.write(toFile: source, atomically: true, encoding: .utf8)
    let built = try ToolRun.shell(
      "gcc -shared -fPIC -Werror '\(source)' -o '\(tree.path)/structs.so'")
    try #require(built.status == 0, "\(built.errorText)")
    let run = try call("'\(tree.path)/structs.so' \(words)")
    #expect(run.errorText == "")
    #expect(run.output == result + "\n")
    #expect(run.status == 0)
  }

  // MARK: - Numbers

  @Test(arguments: [
    ("libm.so.6 fabs dd -inf", "inf"), ("libm.so.6 fabs dd Infinity", "inf"),
    ("libm.so.6 floor dd nan", "nan"), ("libm.so.6 fabsf ff -inf", "inf"),
    ("libm.so.6 fabs dd 1e308", "1e+308"), ("libm.so.6 fabs dd 1e-400", "0.0"),
  ])
  func `infinity, and numbers close to the limits`(words: String, result: String) throws {
    let run = try call(words)
    #expect(run.errorText == "")
    #expect(run.output == result + "\n")
  }

  @Test(arguments: [
    ("libm.so.6 cos dd 1e999", "\"1e999\" is out of the range of Double (d); infinity is inf"),
    ("libm.so.6 cos dd -1e999", "\"-1e999\" is out of the range of Double (d)"),
    ("libm.so.6 cos dd 0x1p1024", "\"0x1p1024\" is out of the range of Double (d)"),
    ("libm.so.6 cosf ff 1e39", "\"1e39\" is out of the range of Float (f)"),
    ("libm.so.6 cabs djd '{0, 1e999}'", "\"1e999\" is out of the range of Double (d)"),
    ("libc.so.6 'int printf(const char *, ...)' %g 1e999", "is out of the range of Double (d)"),
  ])
  func `numbers that are too large`(words: String, reason: String) throws {
    let run = try call(words)
    #expect(run.errorText.contains(reason), "\(run.errorText)")
    #expect(run.output == "")
    #expect(run.status == 65)
  }

  @Test func `variadic functions`() throws {
    let run = try call(
      "libc.so.6 'int printf(const char *, ...)' '\"%s %d %g %ld\\n\"' a -3 2.5 5000000000")
    #expect(run.output == "a -3 2.5 5000000000\n20\n")
    let typed = try call("libc.so.6 printf 'i*...fc' '\"%g %d\\n\"' 0.5 7")
    #expect(typed.output == "0.5 7\n6\n")
    #expect(try call("libc.so.6 'int printf(const char *, ...)' '\"\\n\"'").output == "\n1\n")
    let others = try call(
      "libc.so.6 'int printf(const char *, ...)' '\"%x %c %d\\n\"' 0xff \"'a'\" true")
    #expect(others.output == "ff a 1\n7\n")
    let escaped = try call("libc.so.6 'int printf(const char *, ...)' '\"\\x41\\101\\t|\\n\"'")
    #expect(escaped.output == "AA\t|\n5\n")
  }

  @Test func `functions without a result`() throws {
    #expect(try call("- 'void free(void *)' null").output == "")
    #expect(try call("- 'int getpid(void)'").status == 0)
  }

  @Test func `errno`() throws {
    let run = try call("--errno libc.so.6 'int chdir(const char *)' /no/such/directory")
    #expect(run.output == "-1\nerrno: 2 (No such file or directory)\n")
  }

  @Test(arguments: [
    ("libno-such.so f v", 69, "the library \"libno-such.so\" was not loaded"),
    ("libm.so.6 no_such_function v", 69, "undefined symbol: no_such_function"),
    ("libc.so.6 environ v", 69, "a variable, not a function"),
    ("libc.so.6 abs ii 0x-5", 65, "expected Int32 (i), got \"0x-5\""),
    ("libc.so.6 strlen 'Q*' '\"a\\0b\"'", 65, "a C string has no NUL inside"),
    ("libc.so.6 strlen 'Q*' '\"\\q\"'", 65, "is no character of ASCII"),
    ("libc.so.6 strlen 'Q*' \"$(printf '\\377')\"", 65, "expected UTF-8"),
    ("libc.so.6 abs ii \"$(printf '[%.0s' $(seq 5000))\"", 65, "nested deeper than 128"),
    ("libc.so.6 free 'v^[2000000000000000000c]' '[[],[],[],[],[],[]]'", 65, "more than 1 GB"),
    ("'' abs ii 1", 69, "the name of a library is empty"),
    ("libm.so.6 cos dd", 65, "cos \"dd\" takes 1 argument, got 0"),
    ("libm.so.6 cos 1", 65, "expected the types of cos behind its name"),
    ("libm.so.6 cos dd 1 2", 65, "takes 1 argument, got 2"),
    ("libm.so.6 cos dd one", 65, "parameter 1 of cos \"dd\": expected Double (d), got \"one\""),
    ("libc.so.6 abs ii 2147483648", 65, "expected Int32 (i), got \"2147483648\""),
    ("libc.so.6 abs ii 1.5", 65, "expected Int32 (i), got \"1.5\""),
    ("libc.so.6 abs ii ''", 65, "expected Int32 (i), got \"\""),
    ("libc.so.6 free v^v 0x1234", 65, "expected null, got \"0x1234\""),
    ("libc.so.6 f 'v{P=ii}' '{1}'", 65, "expected 2 members of struct P, got 1"),
    ("libc.so.6 f 'v{P=ii}' '{1, 2'", 65, "expected ',' or '}'"),
    ("libc.so.6 f 'v{P=ii}' '{1, 2} 3'", 65, "behind the closing bracket"),
    ("libc.so.6 'int f(struct { unsigned a : 3; int b; } *)' '[{1, 2}]'", 65, "has no name"),
    ("libc.so.6 f 'v{P=ii}' 5", 65, "expected {Int32, Int32}, got \"5\""),
    ("libc.so.6 abs '{' 5", 65, "method signature \"{\""),
    ("libc.so.6 'int abs(int' 5", 65, "expected ')'"),
    ("libc.so.6 'int abs(long)' 5", 65, "conflicting types for 'abs'"),
    ("libc.so.6 'int (*)(int)' 5", 65, "is a type"),
    ("libc.so.6", 64, "Give a symbol"),
    ("libc.so.6 abs", 64, "Give a symbol"),
  ])
  func `what is wrong`(words: String, status: Int, reason: String) throws {
    let run = try call(words)
    #expect(run.errorText.contains(reason), "\(run.errorText)")
    #expect(run.output == "")
    #expect(run.status == Int32(status))
    #expect(!run.wasSignaled)
  }
}
