import { useApprovals, useSession } from "@tombolo/react";
import type { SandboxAgentClient } from "@tombolo/sandbox-agent";

export function Session({ client, id }: { readonly client: SandboxAgentClient; readonly id: string }) {
  const { status, state, error, send, retry } = useSession(client, id);
  const approvals = useApprovals(client, { sessionId: id });
  if (status === "broken")
    return (
      <button type="button" onClick={retry}>
        {String(error)}: try again
      </button>
    );
  if (state === undefined) return <p>loading …</p>;
  return (
    <>
      {state.messages.map(({ id, role, parts }) => (
        <p key={id} className={role}>
          {parts.map((part) => ("text" in part ? part.text : part.type)).join(" ")}
        </p>
      ))}
      {approvals.state?.map(({ id, request }) => (
        <button type="button" key={id} onClick={() => approvals.answer(id, { permission: "once" })}>
          {"permission" in request ? request.permission.title : "a question"}
        </button>
      ))}
      <button type="button" onClick={() => send("hello\n/permission")} disabled={status !== "live"}>
        say hello
      </button>
    </>
  );
}
