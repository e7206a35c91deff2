import Forwarding

enum Download {
  static let received = Method("received:of:", ((Int64, Int64) -> Void).self)
  static let shouldRetry = Method("shouldRetry:", ((Int32) -> Bool).self)
}

let proxy = try DynamicProxy {
  $0.required(Download.received)
  $0.optional(Download.shouldRetry, result: .any, default: false)
}

final class ProgressBar: Sendable {
  func show(_ percent: Int64) { print("\(percent) %") }
}

let bar = ProgressBar()
try proxy.subscribe(bar) {
  $0.on(Download.received) { bar, bytes, total in
    bar.show(bytes * 100 / total)
  }
}

let log = try proxy.subscribe {
  $0.on(Download.received) { bytes, total in
    print("received \(bytes) of \(total) bytes")
  }
  $0.on(Download.shouldRetry) { attempt in attempt < 3 }
}

try proxy.send(Download.received, 512, 2048)
let retry = try proxy.send(Download.shouldRetry, 1)
print("retry: \(retry)")
