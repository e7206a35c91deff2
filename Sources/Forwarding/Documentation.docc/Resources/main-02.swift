import Forwarding

enum Download {
  static let received = Method("received:of:", ((Int64, Int64) -> Void).self)
  static let shouldRetry = Method("shouldRetry:", ((Int32) -> Bool).self)
}

let proxy = try DynamicProxy {
  $0.required(Download.received)
  $0.optional(Download.shouldRetry, result: .any, default: false)
}
