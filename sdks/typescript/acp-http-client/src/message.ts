/** What names a request, so that its response can be told from others. */
export type JsonRpcId = string | number | null;

/** Wants a response. */
export interface RequestMessage {
  readonly jsonrpc: "2.0";
  readonly id: JsonRpcId;
  readonly method: string;
  readonly params?: unknown;
}

/** Wants no response. */
export interface NotificationMessage {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: unknown;
}

/** How a request went wrong. */
export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Either a result or an error. */
export type Outcome = { readonly result: unknown } | { readonly error: ErrorObject };

/** The response to a request. */
export type ResponseMessage = { readonly jsonrpc: "2.0"; readonly id: JsonRpcId } & Outcome;

/** One JSON-RPC 2.0 message. */
export type Message = RequestMessage | NotificationMessage | ResponseMessage;

/** Whether a message wants a response. */
export function isRequest(message: Message): message is RequestMessage {
  return "method" in message && "id" in message;
}

/** Whether a message is a response. */
export function isResponse(message: Message): message is ResponseMessage {
  return !("method" in message) && "id" in message;
}
