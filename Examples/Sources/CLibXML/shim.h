// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Without ICU's headers, which differ from those that Foundation has brought along. They are for the last members of a
// struct of converters, which the example does not use.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED

#include <libxml/parser.h>
