import type * as sdk from "@tombolo/sandbox-agent";
import type * as session from "@tombolo/session";
import { expectTypeOf, test } from "vitest";

/** typescript-6: both packages generate their types from the same API documents, so their values are interchangeable. */
test("values of `@tombolo/sandbox-agent` can be passed to this package", () => {
  expectTypeOf<session.SessionSnapshot>().toExtend<sdk.SessionSnapshot>();
  expectTypeOf<sdk.SessionSnapshot>().toExtend<session.SessionSnapshot>();
  expectTypeOf<session.SessionEvent>().toExtend<sdk.SessionEvent>();
  expectTypeOf<sdk.SessionEvent>().toExtend<session.SessionEvent>();
  expectTypeOf<sdk.EventRecord>().toExtend<session.TimedEvent>();
  expectTypeOf<sdk.ObservationFrame>().toExtend<session.ObservationFrame>();
  expectTypeOf<sdk.WaitEvent>().toExtend<session.WaitEvent>();
  expectTypeOf<session.WaitAnswer>().toExtend<sdk.WaitAnswer>();
  expectTypeOf<session.SendMessageRequest>().toExtend<sdk.SendMessageRequest>();
  expectTypeOf<sdk.MessageAccepted>().toExtend<session.MessageAccepted>();
  expectTypeOf<sdk.SandboxAgentClient>().toExtend<session.SessionClient>();
  expectTypeOf<session.Session>().toEqualTypeOf<sdk.Session>();
});
