export { approvalsAnswered } from "./approvals.js";
export { toUIMessages } from "./history.js";
export { SessionChatTransport, type SessionChatTransportOptions } from "./transport.js";
