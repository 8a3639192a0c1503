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
  AgentMessageEvent,
  ControlEvent,
  ExitedEvent,
  GapEvent,
  GoneEvent,
  InstanceEvent,
  UnknownEvent,
  UnparsedEvent,
} from "./events.js";
export type {
  JsonRpcId,
  RpcErrorObject,
  RpcMessage,
  RpcNotification,
  RpcOutcome,
  RpcRequest,
  RpcResponse,
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
