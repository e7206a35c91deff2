// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Empty: this target only brings the flags of the compiler and the linker. Sources that use the library include its
// headers if they are installed.
