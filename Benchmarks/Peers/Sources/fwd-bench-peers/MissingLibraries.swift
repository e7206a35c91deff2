// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CPeers

/// What was not installed when this was compiled.
enum MissingLibraries {
  /// One line for each library: what to do to have its rows.
  static var notes: [String] {
    let libraries = unsafe [
      ("GLib", peer_glib_generic() != nil, package("libglib2.0-dev")),
      ("GNUstep", peer_gnustep() != nil, package("libgnustep-base-dev and gobjc")),
      ("Boost", peer_signals2() != nil, package("libboost-dev")),
      ("Qt", peer_qt() != nil, package("qtbase5-dev")),
      ("SQLite", peer_sqlite_is_installed(), package("libsqlite3-dev")),
      ("sigslot", peer_sigslot_tracked() != nil, header("sigslot/include/sigslot/signal.hpp")),
      ("nod", peer_nod() != nil, header("nod/include/nod/nod.hpp")),
      (
        "nano-signal-slot", peer_nano_tracked() != nil,
        header("nano-signal-slot/nano_signal_slot.hpp")
      ),
    ]
    return libraries.filter { !$0.1 }.map { name, _, remedy in
      "\(name) is missing, and its rows are left out. \(remedy)"
    }
  }

  private static func package(_ name: String) -> String {
    "Install it (on Debian the package \(name)) and run scripts/bench."
  }

  private static func header(_ path: String) -> String {
    "Run scripts/bench with FWD_BENCH_HEADERS, see --help: it looks for \(path)."
  }

  /// For the program's help.
  static let help = """
    Rows of libraries that were missing when this was compiled are left out. For those of sigslot,
    nod and nano-signal-slot, run scripts/bench with the environment variable FWD_BENCH_HEADERS: the
    path of a directory with the sources of one, two or all of them, so that it contains

      sigslot/include/sigslot/signal.hpp     https://github.com/palacaze/sigslot
      nod/include/nod/nod.hpp                https://github.com/fr00b0/nod
      nano-signal-slot/nano_signal_slot.hpp  https://github.com/NoAvailableAlias/nano-signal-slot
    """
}
