/** How much of an error response is read. Nothing longer is a problem document. */
const PROBLEM_BYTES_MAX = 256 << 10;

/** How much of an error response that is not a problem document becomes the `detail` of the error. */
const EXCERPT_CHARS_MAX = 500;

/** A problem document (RFC 9457), with any extension members of the server. */
export interface Problem {
  /** URI of the problem type. */
  readonly type: string;
  /** Summary of the problem type. */
  readonly title: string;
  /** The HTTP status. */
  readonly status: number;
  /** Explanation of this occurrence. */
  readonly detail?: string;
  /** URI of this occurrence. */
  readonly instance?: string;
  readonly [member: string]: unknown;
}

/** The server answered a request with an error status. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  /** The whole document. */
  readonly problem: Problem;
  /** The `Retry-After` header, if there is one. */
  readonly retryAfterMs: number | undefined;
  /** Whether the response was a problem document. One of a gateway in between usually is not. */
  readonly documented: boolean;

  constructor(problem: Problem, more: { retryAfterMs?: number | undefined; documented?: boolean } = {}) {
    super(problem.detail === undefined ? problem.title : `${problem.title}: ${problem.detail}`);
    this.problem = problem;
    this.retryAfterMs = more.retryAfterMs;
    this.documented = more.documented ?? true;
  }

  /** URI of the problem type; `about:blank` if the status says everything. */
  get type(): string {
    return this.problem.type;
  }

  /** Summary of the problem type. */
  get title(): string {
    return this.problem.title;
  }

  /** The HTTP status. */
  get status(): number {
    return this.problem.status;
  }

  /** Explanation of this occurrence. */
  get detail(): string | undefined {
    return this.problem.detail;
  }
}

/** Reads the body of an error response. */
export async function readProblem(response: Response): Promise<ProblemError> {
  const body = await readText(response);
  const document = parseProblem(body);
  const { status } = response;
  const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"));
  if (document === undefined) {
    const title = response.statusText || `The server answered with status ${status}`;
    const excerpt = body.trim().slice(0, EXCERPT_CHARS_MAX);
    const problem = { type: "about:blank", title, status, ...(excerpt === "" ? {} : { detail: excerpt }) };
    return new ProblemError(problem, { retryAfterMs, documented: false });
  }
  const { type = "about:blank", title = `The server answered with status ${status}` } = document;
  return new ProblemError({ ...document, type, title, status }, { retryAfterMs });
}

function parseProblem(body: string): Partial<Problem> | undefined {
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

/** Reads the body up to the limit. */
async function readText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    while (bytes < PROBLEM_BYTES_MAX) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.length;
      text += decoder.decode(value, { stream: true });
    }
    await reader.cancel();
  } catch {
    // The connection broke. The status is more useful to the caller than a `ConnectionError`.
  }
  return text;
}

/** Parses a `Retry-After` header in seconds. Our servers never send a date. */
function parseRetryAfter(value: string | null): number | undefined {
  return value !== null && /^\d{1,6}$/.test(value) ? Number(value) * 1000 : undefined;
}
