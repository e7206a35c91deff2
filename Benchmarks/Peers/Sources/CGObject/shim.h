// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Empty: this target is for the compiler's and the linker's flags only. The sources that use the library
// include its headers if they are there.
