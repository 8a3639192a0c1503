"use client";

export { type Approvals, type ApprovalsOptions, useApprovals } from "./approvals.js";
export type { Followed } from "./followed.js";
export { type ObservationClient, type Observed, useObservation } from "./observation.js";
export { type LiveSession, useSession } from "./session.js";
