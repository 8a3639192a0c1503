import { useChat } from "@ai-sdk/react";
import { approvalsAnswered, SessionChatTransport } from "@tombolo/ai-sdk";
import type { SandboxAgentClient } from "@tombolo/sandbox-agent";
import { useMemo } from "react";

export function Chat({ client, id }: { readonly client: SandboxAgentClient; readonly id: string }) {
  const transport = useMemo(() => new SessionChatTransport(client), [client]);
  const chat = useChat({ id, transport, resume: true, sendAutomaticallyWhen: approvalsAnswered });
  return (
    <>
      {chat.messages.flatMap(({ id, parts }) =>
        parts.map((part, at) => {
          const key = `${id}/${at}`;
          if (part.type === "text") return <p key={key}>{part.text}</p>;
          if (part.type !== "dynamic-tool") return null;
          if (part.state !== "approval-requested") return <code key={key}>{part.title}</code>;
          const answer = { id: part.approval.id, approved: true };
          return (
            <button key={key} type="button" onClick={() => chat.addToolApprovalResponse(answer)}>
              allow: {part.title}
            </button>
          );
        }),
      )}
      <button type="button" onClick={() => chat.sendMessage({ text: "hello\n/permission" })}>
        say hello
      </button>
    </>
  );
}
