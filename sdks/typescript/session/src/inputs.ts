import type { Receipt } from "./types/event.js";
import type { SessionInput } from "./types/snapshot.js";

/** What waits for its turn after this was told of something that was sent. */
export function takeReceipt(
  inputs: readonly SessionInput[],
  receipt: Receipt,
  time: string,
): readonly SessionInput[] {
  const known = inputs.find(({ id }) => id === receipt.inputId);
  switch (receipt.state) {
    case "accepted": {
      const accepted = known === undefined ? acceptedOf(receipt, time) : undefined;
      return accepted === undefined ? inputs : [...inputs, accepted];
    }
    case "edited": {
      const { message } = receipt;
      if (known === undefined || message === undefined) return inputs;
      return inputs.map((input) => (input === known ? { ...input, message } : input));
    }
    case "delivered":
    case "consumed":
    case "refused":
    case "withdrawn":
      return inputs.filter((input) => input !== known);
    case "other":
      return inputs;
    default:
      receipt.state satisfies never;
      return inputs; // A newer peer knows more states than we do.
  }
}

function acceptedOf(receipt: Receipt, time: string): SessionInput | undefined {
  const { inputId: id, turnId, author, message } = receipt;
  if (turnId === undefined) return undefined;
  return {
    id,
    turnId,
    author,
    message: message ?? "",
    attachments: [],
    state: "accepted",
    acceptedAt: time,
  };
}
