import type {
  CreateSessionRequest,
  MessagePart,
  RelayMethods,
  RelayParams,
  SessionEvent,
  StreamControl,
} from "@tombolo/sandbox-agent";
import { expectTypeOf, test } from "vitest";

// typescript-6: the types are generated; these tests check that they are convenient to use.

test("an event is narrowed by its key", () => {
  const text = (event: SessionEvent): string | undefined => {
    if ("messageDelta" in event) return event.messageDelta.text;
    return "turnEnded" in event ? event.turnEnded.turnId : undefined;
  };
  expectTypeOf(text).returns.toEqualTypeOf<string | undefined>();
});

test("a message part has an id and one type", () => {
  expectTypeOf<Extract<MessagePart, { type: "toolCall" }>>().toExtend<{ id: string; callId: string }>();
  expectTypeOf<Extract<StreamControl, { type: "presence" }>>().toHaveProperty("watchers");
});

test("fields with a default are optional", () => {
  expectTypeOf<{ agent: "mock" }>().toExtend<CreateSessionRequest>();
});

test("every method of the relay has params and a result", () => {
  expectTypeOf<RelayParams<"file.read">>().toHaveProperty("path");
  expectTypeOf<RelayMethods["shell.start"]["asked_by"]>().toEqualTypeOf<"runtime">();
});
