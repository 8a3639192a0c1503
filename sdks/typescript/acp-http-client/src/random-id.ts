/** A unique id of 128 random bits. `crypto.randomUUID` does not exist on pages that were loaded without TLS. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
