import type { UIMessageChunk } from "ai";

type TextKind = "text" | "reasoning";

/** Converts growing texts to chunks. One text is open at a time, as the AI SDK does not support interleaved texts. */
export class TextChunks {
  /** The part of each text that was sent. */
  readonly #sent = new Map<string, string>();
  #open: { readonly key: string; readonly id: string; readonly kind: TextKind } | undefined;
  #count = 0;

  /** Chunks for what is new in a text. */
  *update(key: string, kind: TextKind, text: string): Generator<UIMessageChunk> {
    const sent = this.#sent.get(key) ?? "";
    // Chunks cannot be taken back: if the text was replaced rather than extended, the new one is sent as a whole.
    const added = text.startsWith(sent) ? text.slice(sent.length) : sent.startsWith(text) ? "" : text;
    if (added === "") return;
    this.#sent.set(key, text);
    if (this.#open?.key !== key) yield* this.#start(key, kind);
    const id = this.#open?.id ?? key;
    yield kind === "text"
      ? { type: "text-delta", id, delta: added }
      : { type: "reasoning-delta", id, delta: added };
  }

  /** Ends the open text, if there is one. */
  *end(): Generator<UIMessageChunk> {
    if (this.#open === undefined) return;
    const { id, kind } = this.#open;
    this.#open = undefined;
    yield kind === "text" ? { type: "text-end", id } : { type: "reasoning-end", id };
  }

  *#start(key: string, kind: TextKind): Generator<UIMessageChunk> {
    yield* this.end();
    this.#count += 1;
    const id = `${key}:${this.#count}`;
    this.#open = { key, id, kind };
    yield kind === "text" ? { type: "text-start", id } : { type: "reasoning-start", id };
  }
}
