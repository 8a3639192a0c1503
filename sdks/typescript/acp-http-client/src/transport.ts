/**
 * The parts of the transport that know nothing of agents, for other packages that talk to the same servers. They
 * are no promise to anybody else: versions may change them.
 */
export { onAbort, unlessAborted } from "./abort.js";
export { Backoff } from "./backoff.js";
export { type Ask, type Body, Endpoint } from "./endpoint.js";
export { ConnectionError, ProtocolError } from "./errors.js";
export { type EndpointOptions, type Patience, patienceOf, type ReconnectOptions } from "./options.js";
export { type Problem, ProblemError } from "./problem.js";
export { Queue } from "./queue.js";
export { read, type Subscription } from "./subscription.js";
export { now, sleep, Watchdog } from "./time.js";
