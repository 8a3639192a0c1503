/** The most of a refusal that is read; what is longer is no problem document. */
const PROBLEM_BYTES_MAX = 256 << 10;

/** The most of an answer that is no problem document that is shown. */
const EXCERPT_CHARS_MAX = 500;

/** A problem document (RFC 9457), with whatever else the server put into it. */
export interface Problem {
  /** What went wrong, for programs. */
  readonly type: string;
  /** What went wrong, for people; the same for every problem of this type. */
  readonly title: string;
  /** The HTTP status. */
  readonly status: number;
  /** What went wrong this time. */
  readonly detail?: string;
  /** Where it went wrong. */
  readonly instance?: string;
  readonly [member: string]: unknown;
}

/** The server refused a request, and says why. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  /** The whole document. */
  readonly problem: Problem;
  /** When to come again, if the server says. */
  readonly retryAfterMs: number | undefined;
  /** Whether the server wrote a problem document; a gateway in between writes none. */
  readonly documented: boolean;

  constructor(problem: Problem, more: { retryAfterMs?: number | undefined; documented?: boolean } = {}) {
    super(problem.detail === undefined ? problem.title : `${problem.title}: ${problem.detail}`);
    this.problem = problem;
    this.retryAfterMs = more.retryAfterMs;
    this.documented = more.documented ?? true;
  }

  /** What went wrong, for programs: a URI, `about:blank` if there is no more to say than the status. */
  get type(): string {
    return this.problem.type;
  }

  /** What went wrong, for people; the same for every problem of this type. */
  get title(): string {
    return this.problem.title;
  }

  /** The HTTP status. */
  get status(): number {
    return this.problem.status;
  }

  /** What went wrong this time. */
  get detail(): string | undefined {
    return this.problem.detail;
  }
}

/** What an answer says that is no success. Its body is read. */
export async function problemOf(response: Response): Promise<ProblemError> {
  const body = await textOf(response);
  const document = parsed(body);
  const { status } = response;
  const retryAfterMs = retryAfter(response.headers.get("retry-after"));
  if (document === undefined) {
    const title = response.statusText || `The server answered with ${status}`;
    const excerpt = body.trim().slice(0, EXCERPT_CHARS_MAX);
    const problem = { type: "about:blank", title, status, ...(excerpt === "" ? {} : { detail: excerpt }) };
    return new ProblemError(problem, { retryAfterMs, documented: false });
  }
  const { type = "about:blank", title = `The server answered with ${status}` } = document;
  return new ProblemError({ ...document, type, title, status }, { retryAfterMs });
}

function parsed(body: string): Partial<Problem> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { type, title } = value as Record<string, unknown>;
  return typeof type === "string" || typeof title === "string" ? (value as Partial<Problem>) : undefined;
}

/** The body, as far as it is worth reading. */
async function textOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  try {
    while (bytes < PROBLEM_BYTES_MAX) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.length;
      text += decoder.decode(value, { stream: true });
    }
    await reader.cancel();
  } catch {
    // The status is worth more than the rest of a body that was cut.
  }
  return text;
}

/** `Retry-After` as whole seconds; as a date it is not used by servers of this protocol. */
function retryAfter(value: string | null): number | undefined {
  return value !== null && /^\d{1,6}$/.test(value) ? Number(value) * 1000 : undefined;
}
