import type {
  CreateSessionRequest,
  MessagePart,
  RelayMethods,
  RelayParams,
  SessionEvent,
  StreamControl,
} from "@tombolo/sandbox-agent";
import { expectTypeOf, test } from "vitest";

// typescript-6: these are made from the documents; what is checked here is that they can be used.

test("an event is told by its key", () => {
  const text = (event: SessionEvent): string | undefined => {
    if ("messageDelta" in event) return event.messageDelta.text;
    return "turnEnded" in event ? event.turnEnded.turnId : undefined;
  };
  expectTypeOf(text).returns.toEqualTypeOf<string | undefined>();
});

test("a part of a message has a name and is of one kind", () => {
  expectTypeOf<Extract<MessagePart, { type: "toolCall" }>>().toExtend<{ id: string; callId: string }>();
  expectTypeOf<Extract<StreamControl, { type: "presence" }>>().toHaveProperty("watchers");
});

test("what has a default may be left out", () => {
  expectTypeOf<{ agent: "mock" }>().toExtend<CreateSessionRequest>();
});

test("every method of the relay has params and a result", () => {
  expectTypeOf<RelayParams<"file.read">>().toHaveProperty("path");
  expectTypeOf<RelayMethods["shell.start"]["asked_by"]>().toEqualTypeOf<"runtime">();
});
