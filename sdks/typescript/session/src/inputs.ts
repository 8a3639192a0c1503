import type { InputReceipt, SessionInput } from "./types.js";

/** Applies a change of an input's delivery state to the list of inputs that wait for their turn. */
export function applyReceipt(
  inputs: readonly SessionInput[],
  receipt: InputReceipt,
  time: string,
): readonly SessionInput[] {
  const known = inputs.find(({ id }) => id === receipt.inputId);
  switch (receipt.state) {
    case "accepted": {
      const accepted = known === undefined ? acceptedInput(receipt, time) : undefined;
      return accepted === undefined ? inputs : [...inputs, accepted];
    }
    case "edited": {
      const { message } = receipt;
      if (known === undefined || message == null) return inputs;
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
      return inputs; // A newer server may send other states.
  }
}

function acceptedInput(receipt: InputReceipt, time: string): SessionInput | undefined {
  const { inputId: id, turnId, author, message } = receipt;
  if (turnId == null) return undefined;
  return {
    id,
    turnId,
    author,
    message: message ?? "",
    // The event does not carry attachments; a snapshot does.
    attachments: [],
    state: "accepted",
    acceptedAt: time,
  };
}
