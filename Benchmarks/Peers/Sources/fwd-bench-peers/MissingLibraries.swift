// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CPeers

/// What was not installed when this was compiled.
enum MissingLibraries {
  /// One line for each library.
  static var notes: [String] {
    let libraries = unsafe [
      ("GLib", peer_glib_generic(), nil),
      ("Boost", peer_signals2(), nil),
      ("Qt", peer_qt(), nil),
      ("sigslot", peer_sigslot_tracked(), "sigslot/include/sigslot/signal.hpp"),
      ("nod", peer_nod(), "nod/include/nod/nod.hpp"),
      ("nano-signal-slot", peer_nano_tracked(), "nano-signal-slot/nano_signal_slot.hpp"),
    ]
    return unsafe libraries.compactMap { name, library, header in
      guard unsafe library == nil else { return nil }
      let note = "\(name) is missing: the table is without it."
      return header.map { "\(note) $FWD_BENCH_HEADERS/\($0) was not found." } ?? note
    }
  }

  /// For the program's help.
  static let help = """
    Rows of libraries that were missing when this was compiled are left out. Those of sigslot, nod
    and nano-signal-slot need the environment variable FWD_BENCH_HEADERS, when scripts/bench runs:
    the path of a directory with the sources of one, two or all of them, so that it contains

      sigslot/include/sigslot/signal.hpp     https://github.com/palacaze/sigslot
      nod/include/nod/nod.hpp                https://github.com/fr00b0/nod
      nano-signal-slot/nano_signal_slot.hpp  https://github.com/NoAvailableAlias/nano-signal-slot
    """
}
