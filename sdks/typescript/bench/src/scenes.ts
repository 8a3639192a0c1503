import type { Stage } from "./stage.ts";

/** Has a client be in the middle of something. */
export type Scene = (stage: Stage) => Promise<void>;

const UPDATES = 1_000_000;
const REQUESTS = 50;

/** The agent does nothing. */
export const idle: Scene = async ({ client }) => {
  await client.newSession({ directory: "/" });
};

/** The agent says as much as it can. */
export const flood: Scene = async (stage) => {
  await stage.begin(`/chunks ${UPDATES}`);
  await stage.seen(1_000);
};

/** The agent says as much as it can, and somebody does not read on. */
export const unread: Scene = async (stage) => {
  void stage.client.events().next();
  await stage.begin(`/chunks ${UPDATES}`);
  await stage.seen(100);
};

/** The agent does not end its turn. */
export const hanging: Scene = async (stage) => {
  await stage.begin("/hang");
  await stage.pending(1);
};

/** The agent is busy for a minute, and does not answer what it is asked meanwhile. */
export const busy: Scene = async (stage) => {
  await stage.begin("/drip 1 60000");
  await stage.pending(1);
  for (let count = 1; count < REQUESTS; count += 1) stage.leave(stage.client.newSession({ directory: "/" }));
  await stage.pending(REQUESTS);
};

/** Nothing reaches the server any more, and nobody is told. */
export const frozen: Scene = async (stage) => {
  await hanging(stage);
  stage.network.swallow(true);
  stage.network.freeze();
};
