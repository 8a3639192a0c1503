/**
 * Transport parts that know nothing about agents, for the other `@tombolo` packages. They are not a public API: any
 * version may change them.
 */
export { onAbort, unlessAborted } from "./abort.js";
export { Backoff } from "./backoff.js";
export { Endpoint, type HttpRequest, type RequestBody } from "./endpoint.js";
export { ConnectionError, ProtocolError } from "./errors.js";
export { type EventStreamOptions, readEventStream } from "./event-stream.js";
export {
  type EndpointOptions,
  type ReconnectOptions,
  type ReconnectPolicy,
  reconnectPolicy,
} from "./options.js";
export { type Problem, ProblemError } from "./problem.js";
export { Queue } from "./queue.js";
export { randomId } from "./random-id.js";
export { now, sleep, Watchdog } from "./time.js";
export { isTransient } from "./transient.js";
