// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A Qt object with a signal. scripts/bench runs moc, which generates moc_qt_emitter.inc from it.

#ifndef QT_EMITTER_H
#define QT_EMITTER_H

#include <QObject>

class emitter : public QObject {
  Q_OBJECT

 Q_SIGNALS:
  void notify(qint64 count, double scale);
};

#endif
