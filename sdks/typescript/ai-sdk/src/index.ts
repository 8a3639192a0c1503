export { approvalsAnswered } from "./approvals.js";
export { messagesOf } from "./history.js";
export { SessionChatTransport, type SessionChatTransportOptions } from "./transport.js";
