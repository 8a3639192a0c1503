/** Id of a JSON-RPC request. */
export type JsonRpcId = string | number | null;

/** A JSON-RPC request, which expects a response. */
export interface RpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: JsonRpcId;
  readonly method: string;
  readonly params?: unknown;
}

/** A JSON-RPC notification, which expects no response. */
export interface RpcNotification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: unknown;
}

/** The error of a JSON-RPC response. */
export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The result or error of a request. */
export type RpcOutcome = { readonly result: unknown } | { readonly error: RpcErrorObject };

/** A JSON-RPC response. */
export type RpcResponse = { readonly jsonrpc: "2.0"; readonly id: JsonRpcId } & RpcOutcome;

/** A JSON-RPC 2.0 message. */
export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

export function isRequest(message: RpcMessage): message is RpcRequest {
  return "method" in message && "id" in message;
}

export function isResponse(message: RpcMessage): message is RpcResponse {
  return !("method" in message) && "id" in message;
}
