import type { Stage } from "./stage.ts";

/** Brings a client into a state in which it is then closed. */
export type Scene = (stage: Stage) => Promise<void>;

const UPDATES = 1_000_000;
const REQUESTS = 50;

/** The agent does nothing. */
export const idle: Scene = async ({ client }) => {
  await client.newSession({ directory: "/" });
};

/** The agent sends updates as fast as it can. */
export const flood: Scene = async (stage) => {
  await stage.startTurn(`/chunks ${UPDATES}`);
  await stage.waitForEvents(1_000);
};

/** The agent sends updates as fast as it can, and one reader pauses. */
export const unread: Scene = async (stage) => {
  void stage.client.events().next();
  await stage.startTurn(`/chunks ${UPDATES}`);
  await stage.waitForEvents(100);
};

/** The agent does not end its turn. */
export const hanging: Scene = async (stage) => {
  await stage.startTurn("/hang");
  await stage.waitForRequests(1);
};

/** The agent is busy for a minute, and does not answer other requests meanwhile. */
export const busy: Scene = async (stage) => {
  await stage.startTurn("/drip 1 60000");
  await stage.waitForRequests(1);
  for (let count = 1; count < REQUESTS; count += 1)
    stage.keepOpen(stage.client.newSession({ directory: "/" }));
  await stage.waitForRequests(REQUESTS);
};

/** The network drops everything without closing connections. */
export const frozen: Scene = async (stage) => {
  await hanging(stage);
  stage.network.swallow(true);
  stage.network.freeze();
};
