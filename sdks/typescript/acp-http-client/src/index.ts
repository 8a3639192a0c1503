export { AcpHttpClient } from "./client.js";
export {
  BusyError,
  ClosedError,
  ConnectionError,
  ExitedError,
  GapError,
  GoneError,
  ProtocolError,
  RpcError,
} from "./errors.js";
export type {
  AgentEvent,
  ControlEvent,
  ExitedEvent,
  GapEvent,
  GoneEvent,
  MessageEvent,
  UnknownEvent,
  UnparsedEvent,
} from "./events.js";
export type {
  ErrorObject,
  JsonRpcId,
  Message,
  NotificationMessage,
  Outcome,
  RequestMessage,
  ResponseMessage,
} from "./message.js";
export type {
  AcpHttpClientOptions,
  CloseOptions,
  EndpointOptions,
  EventsOptions,
  InstanceAddress,
  ReconnectOptions,
  RequestOptions,
  SendOptions,
} from "./options.js";
export { type Problem, ProblemError } from "./problem.js";
export type { AcpStream, StreamOptions } from "./stream.js";
