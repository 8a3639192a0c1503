"use client";

export { type Approvals, type ApprovalsOptions, useApprovals } from "./approvals.js";
export type { LiveState } from "./live-state.js";
export { type LiveObservation, type ObservationClient, useObservation } from "./observation.js";
export { type LiveSession, useSession } from "./session.js";
